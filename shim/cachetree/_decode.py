"""From leaves and a context back to a cache: attributes are set, nothing of the cache's own code runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from cachetree._follow import live, measure
from cachetree._names import class_named, dtype_named


def decode(cls: type, leaves: Sequence[Any], context: dict[str, Any]) -> Any:
    """A new `cls` with `leaves` in its slots. No constructor is called and no tensor is copied."""
    decoder = _Decoder(leaves, context["aside"])
    return decoder.new(cls, context["state"])


class _Decoder:
    def __init__(self, leaves: Sequence[Any], aside: list[Any]) -> None:
        self.leaves = leaves
        self.aside = aside

    def new(self, cls: Any, state: dict[str, Any]) -> Any:
        made = cls.__new__(cls)
        if isinstance(made, torch.nn.Module):
            _make_module(made)
        for name, saved in state.items():
            if isinstance(saved, dict) and "$derived" in saved:
                value = self._derived(state[saved["$derived"]], state)
            else:
                value = self.value(saved)
            _set(made, name, value)
        return made

    def value(self, saved: Any) -> Any:
        if isinstance(saved, list):
            return [self.value(item) for item in saved]
        if not isinstance(saved, dict):
            return saved
        tag, content = next(iter(saved.items()))
        if tag == "$object":
            return self.new(class_named(content), saved["state"])
        return _DECODERS[tag](self, content)

    def leaf(self, index: int) -> Any:
        return self.leaves[index]

    def follow(self, content: list[Any]) -> Any:
        """The property that a leaf has now. A leaf that is no tensor has none."""
        index, what, slot = content
        leaf = self.leaves[index]
        if isinstance(leaf, torch.Tensor):
            measured = measure(leaf, slot, what)
            if measured is not None:
                return live(measured)
        return 0 if what == "length" else None

    def set_aside(self, index: int) -> Any:
        return self.value(self.aside[index])

    def pairs(self, content: list[list[Any]]) -> dict[Any, Any]:
        return {self.value(key): self.value(value) for key, value in content}

    def _derived(self, number: int, state: dict[str, Any]) -> torch.Tensor:
        keys = self.value(state.get("keys"))
        device = keys.device if isinstance(keys, torch.Tensor) else None
        return _constant(number, torch.long, device)


_BLANK_MODULE = vars(torch.nn.Module())


def _make_module(made: Any) -> None:
    """What `torch.nn.Module.__init__` does; Dynamo replaces that by a function that it cannot trace."""
    for name, value in _BLANK_MODULE.items():
        vars(made)[name] = type(value)() if isinstance(value, (dict, set)) else value


def _set(made: Any, name: str, value: Any) -> None:
    """Sets an attribute past `__setattr__`, in the place where `torch.nn.Module` looks for it."""
    state = vars(made)
    is_module = isinstance(made, torch.nn.Module)
    if is_module and name == "_buffers":
        state[name].update(value)
    elif is_module and isinstance(value, torch.nn.Module):
        state["_modules"][name] = value
    else:
        state[name] = value


def _constant(data: Any, dtype: torch.dtype, device: torch.device | None = None) -> torch.Tensor:
    """A real tensor also under a fake mode: Python code branches on it."""
    if torch.compiler.is_dynamo_compiling():
        return torch.tensor(data, dtype=dtype, device=device)
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    with unset_fake_temporarily():
        return torch.tensor(data, dtype=dtype, device=device)


def _flags(flags: list[bool], dtype: str) -> Any:
    """The tensor again; a tuple for Dynamo, which cannot branch on a tensor."""
    return tuple(flags) if torch.compiler.is_dynamo_compiling() else _constant(flags, dtype_named(dtype))


def _empty(shape: list[int], dtype: str, device: str) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype_named(dtype), device=device)


def _zeros(shape: list[int], dtype: str, device: str) -> torch.Tensor:
    return torch.zeros(shape, dtype=dtype_named(dtype), device=device)


def _stream(name: str) -> Any:
    """Streams are not carried but made anew; on a machine without an accelerator there is none."""
    try:
        return class_named(name)()
    except (RuntimeError, AssertionError):
        return None


_DECODERS: dict[str, Callable[[_Decoder, Any], Any]] = {
    "$leaf": _Decoder.leaf,
    "$follow": _Decoder.follow,
    "$aside": _Decoder.set_aside,
    "$dict": _Decoder.pairs,
    "$tuple": lambda decoder, items: tuple(decoder.value(item) for item in items),
    "$empty": lambda _, content: _empty(*content),
    "$zeros": lambda _, content: _zeros(*content),
    "$flags": lambda _, content: _flags(*content),
    "$float": lambda _, content: float(content),
    "$dtype": lambda _, content: dtype_named(content),
    "$device": lambda _, content: torch.device(content),
    "$size": lambda _, content: torch.Size(content),
    "$class": lambda _, content: class_named(content),
    "$stream": lambda _, content: _stream(content),
}
