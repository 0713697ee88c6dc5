"""Attributes that repeat a property of a leaf (dtype, device, a size) follow it when the leaf changes."""

from __future__ import annotations

from typing import Any

import torch

from cachetree._facts import AXES


def measure(leaf: torch.Tensor, slot: str, what: str) -> Any:
    """The property `what` of a leaf of `slot`, or None if such a leaf has none."""
    if what == "dtype":
        return leaf.dtype
    if what == "device":
        return leaf.device
    if what == "device_name":
        return str(leaf.device)
    axis = AXES.get(slot, {}).get(what)
    return untraced(leaf.shape[axis]) if axis is not None and leaf.dim() >= -axis else None


def untraced(size: Any) -> Any:
    """A size as Python's own code would see it: `torch.jit.trace` makes a tensor of every size."""
    if not isinstance(size, torch.Tensor):
        return size
    jit: Any = torch._C
    tracing = jit._get_tracing_state()
    jit._set_tracing_state(None)
    try:
        return int(size)
    finally:
        jit._set_tracing_state(tracing)


def repeats(value: Any, measured: Any) -> bool:
    """Is `value` what was measured? Symbolic sizes count as the example's, so that no guard is added."""
    if not isinstance(measured, (int, torch.SymInt)):
        return value == measured
    value = untraced(value)
    return isinstance(value, (int, torch.SymInt)) and _same_size(value, measured)


def _same_size(a: int | torch.SymInt, b: int | torch.SymInt) -> bool:
    ours, theirs = as_int(a), as_int(b)
    if ours is not None and theirs is not None:
        return ours == theirs
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    return statically_known_true(a == b)


def as_int(size: Any) -> int | None:
    """A size as a number: of a symbolic one the value of the traced example, None if it has none."""
    size = untraced(size)
    if isinstance(size, torch.SymInt):
        return size.node.hint if isinstance(size.node.hint, int) else None
    return int(size)


def live(size: Any) -> Any:
    """A size to set on a rebuilt cache: symbolic only while a program is traced that can compute with it."""
    if not isinstance(size, torch.SymInt) or torch.compiler.is_dynamo_compiling():
        return size
    from torch.fx.experimental.proxy_tensor import get_proxy_mode

    return size if get_proxy_mode() is not None else as_int(size)
