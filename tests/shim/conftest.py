"""All tests here run with cachetree registered, unless a file overrides the fixture."""

import logging
from collections.abc import Iterator

import pytest

import cachetree

# torch 2.13 warns, with a broken format string, that the example inputs of a saved program hold a cache.
logging.disable(logging.WARNING)


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    with cachetree.registered():
        yield
