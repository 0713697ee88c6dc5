"""In every target: it runs on the release of its name, with nothing but that release's lock.

It runs last, so that what the tests before it imported is seen too.
"""

import importlib.metadata
import json
import os
import re
import socket
import sys
import sysconfig
from pathlib import Path

import pytest
import torch
import transformers

RUNFILES = Path(os.environ["TEST_SRCDIR"])
LOCK = json.loads((RUNFILES / os.environ["CACHETREE_LOCK"]).read_text(encoding="utf-8"))


def test_transformers_is_the_release_in_the_label() -> None:
    assert transformers.__version__ == os.environ["CACHETREE_RELEASE"] == LOCK["transformers"]
    assert os.environ["TEST_TARGET"].endswith("_" + transformers.__version__.replace(".", "_"))


def test_torch_is_the_locks() -> None:
    assert torch.__version__.partition("+")[0] == LOCK["torch"]
    assert torch.version.cuda is None


def test_visible_distributions_are_the_locks() -> None:
    visible = {
        re.sub(r"[-_.]+", "_", found.name).lower(): found.version.partition("+")[0]
        for found in importlib.metadata.distributions()
    }
    assert {name: LOCK.get(name, "not in the lock") for name in visible} == visible


def test_modules_come_from_the_library_the_workspace_or_the_lock() -> None:
    allowed = [
        RUNFILES,
        *(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")),
    ]
    files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
    strangers = {
        name: file
        for name, file in files.items()
        # Some modules of torch are made at run time, with a file that is none.
        if isinstance(file, str) and Path(file).is_absolute() and Path(file).exists()
        if not any(Path(file).is_relative_to(folder) for folder in allowed)
    }
    assert strangers == {}


def test_there_is_no_network() -> None:
    with pytest.raises(OSError), socket.create_connection(("192.0.2.1", 80), timeout=2):
        pass
