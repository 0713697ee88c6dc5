"""The tree of dimensions that `torch.export` wants beside a cache."""

from __future__ import annotations

from typing import Any

import torch

from cachetree import _facts as facts
from cachetree._encode import Found, encode


def dynamic_shapes(cache: Any, batch: Any, length: Any, cross_length: Any) -> list[Any]:
    lengths = {facts.CHILDREN[1]: length if cross_length is None else cross_length}
    return [
        dynamic_shapes(leaf.value, batch, lengths.get(leaf.slot, length), None)
        if leaf.slot in facts.CHILDREN
        else _dimensions(cache, leaf, batch, length)
        for leaf in encode(cache)[0]
    ]


def _dimensions(cache: Any, leaf: Found, batch: Any, length: Any) -> dict[int, Any]:
    axes = facts.AXES.get(leaf.slot, {})
    if not isinstance(leaf.value, torch.Tensor):
        return {}
    rank = leaf.value.dim()
    wanted = {"batch": batch, "length": length if _grows(cache, leaf) else None}
    return {axes[what] % rank: dim for what, dim in wanted.items() if dim is not None and what in axes}


def _grows(cache: Any, leaf: Found) -> bool:
    """Does the layer get longer with every token?"""
    owner = cache.layers[leaf.path[1]] if leaf.path[0] == "layers" else cache
    if "max_cache_len" in vars(owner):  # not hasattr: a property of every cache from 4.54 to 4.57
        return False
    window = getattr(owner, "sliding_window", None)
    return not isinstance(window, int) or leaf.value.shape[-2] < window - 1
