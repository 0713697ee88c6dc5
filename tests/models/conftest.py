"""All tests here run with cachetree registered and, unless they ask for them, without gradients."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import pytest
import torch

import cachetree

# torch 2.13 logs with an argument missing when it loads a program whose example inputs are not only tensors,
# and pytest raises for that (torch._export.serde.serialize.deserialize_torch_artifact).
logging.getLogger("torch._export.serde.serialize").setLevel(logging.ERROR)


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    with cachetree.registered(), torch.no_grad():
        yield
