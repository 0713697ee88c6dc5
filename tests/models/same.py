"""Comparing what a program gives with what eager gives."""

from __future__ import annotations

from typing import Any

import torch
import torch.utils._pytree as pytree


def assert_same(got: Any, wanted: Any) -> None:
    """The same tree of the same numbers, up to rounding."""
    leaves, spec = pytree.tree_flatten(got)
    wanted_leaves, wanted_spec = pytree.tree_flatten(wanted)
    assert spec == wanted_spec
    for leaf, wanted_leaf in zip(leaves, wanted_leaves, strict=True):
        torch.testing.assert_close(leaf, wanted_leaf, atol=1e-5, rtol=1e-4)
