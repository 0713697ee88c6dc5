"""Fixtures: machines to run `bazelw` on."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without any Bazel, and without apt."""
    return Machine(tmp_path)


@pytest.fixture
def debian(machine: Machine) -> Iterator[Machine]:
    """A Debian machine without Bazel; no test may leave anything in its temporary folder."""
    machine.install_debian()
    yield machine
    assert os.listdir(machine.environment["TMPDIR"]) == []
