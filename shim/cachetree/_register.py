"""Registering and withdrawing: which classes, in which order, and what to put back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch.utils._pytree as pytree

from cachetree import _registry as registry
from cachetree._classes import cache_classes
from cachetree._names import class_name
from cachetree._parts import forget_rules, set_rules
from cachetree._status import Status

_replaced: dict[type, registry.Entry] = {}
"""What was there before us, for each class that is registered by us."""


def register_all(replace_native: bool) -> list[type]:
    """Registers every cache class. Returns those that were not registered by cachetree before."""
    return register_classes(cache_classes(), replace_native)


def register_classes(classes: Iterable[type], replace_native: bool = True) -> list[type]:
    """Registers `classes`, all or none of them. Returns those that cachetree had not registered before."""
    new: list[type] = []
    with pytree._NODE_REGISTRY_LOCK:
        try:
            for cls in classes:
                if _register_one(cls, replace_native):
                    new.append(cls)
        except BaseException:
            withdraw(new)
            raise
    return new


def _register_one(cls: type, replace_native: bool) -> bool:
    if registry.is_ours(cls):
        if not registry.fx_is_ours(cls):  # somebody wrote a flatten spec since
            registry.put_fx(cls)
        return False
    if cls in pytree.SUPPORTED_NODES and not replace_native:
        return False
    name = class_name(cls)
    entry = registry.read(cls, name)
    try:
        registry.put(cls, name)
    except BaseException:
        registry.restore(cls, entry)
        raise
    fresh = cls not in _replaced
    _replaced[cls] = _replaced.get(cls, entry)
    return fresh


def withdraw(classes: Iterable[type]) -> None:
    """Puts back what was there before cachetree, last registered first.

    A class that another library has registered over us since stays as that library left it.
    """
    with pytree._NODE_REGISTRY_LOCK:
        for cls in reversed(list(classes)):
            entry = _replaced.pop(cls, None)
            forget_rules(cls)
            if entry is not None and registry.is_ours(cls):
                registry.restore(cls, entry)
            elif entry is not None:
                registry.clear_ours(cls)


def withdraw_all() -> None:
    withdraw(_replaced)


def register_class(cls: type, leave_out: Iterable[str], replace_native: bool) -> None:
    """Registers one class with its rules."""
    if not isinstance(cls, type):
        raise TypeError(f"register_class needs a class, got {cls!r}")
    names = frozenset(leave_out)
    register_classes([cls], replace_native)
    if registry.is_ours(cls):
        set_rules(cls, names)


@contextmanager
def registered(replace_native: bool) -> Iterator[None]:
    """Registers for the length of a block."""
    new = register_all(replace_native)
    try:
        yield
    finally:
        withdraw(new)


def status(cls: type) -> Status:
    """Who registered `cls`, and whom that replaced."""
    entry = _replaced.get(cls)
    replaced = (
        registry.origin(entry.node.flatten_fn) if entry is not None and entry.node is not None else None
    )
    return Status(**registry.owners(cls), replaced=replaced)
