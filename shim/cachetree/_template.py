"""A cache whose slots hold something else than tensors remembers its context.

`tree_map(lambda t: None, cache)` empties the slots, vmap fills a spec with ints: what is left says neither
which slots had a leaf nor what the layers' own `dtype` was. Such a cache is a template, good for nothing but
being flattened again, and it must give the spec it came from.
"""

from __future__ import annotations

from typing import Any

import torch

from cachetree._encode import Path
from cachetree._parts import is_cache

_MEMORY = "_cachetree_context"


def holds_fillers(children: list[Any]) -> bool:
    """Is anything among the children that a real cache would not hold?"""
    return not all(isinstance(child, torch.Tensor) or is_cache(child) for child in children)


def remember(cache: Any, context: dict[str, Any]) -> None:
    vars(cache)[_MEMORY] = context


def remembered(cache: Any) -> tuple[list[Any], dict[str, Any], list[Path]] | None:
    """Children, context and paths of a template; None for a cache of tensors."""
    context = vars(cache).get(_MEMORY)
    if context is None:
        return None
    slots: dict[int, tuple[Path, Any]] = {}
    try:
        _visit(context["state"], cache, (), slots)
    except (AttributeError, LookupError, TypeError):
        return None  # changed since: it speaks for itself
    children = [slots[index][1] for index in range(len(slots))]
    if not holds_fillers(children):
        return None
    return children, context, [slots[index][0] for index in range(len(slots))]


def _visit(saved: Any, value: Any, path: Path, slots: dict[int, tuple[Path, Any]]) -> None:
    """Walks state and cache in step and collects what is in the slots."""
    if isinstance(saved, list):
        _visit_all(enumerate(saved), value, path, slots)
    elif not isinstance(saved, dict):
        return
    elif "$leaf" in saved:
        slots.setdefault(saved["$leaf"], (path, value))
    elif "$dict" in saved:
        _visit_all(((key, inner) for key, inner in saved["$dict"]), value, path, slots)
    elif "$tuple" in saved:
        _visit_all(enumerate(saved["$tuple"]), value, path, slots)
    elif "$object" in saved:
        _visit(saved["state"], value, path, slots)
    elif not any(tag.startswith("$") for tag in saved):
        for name, inner in saved.items():
            held = vars(value)[name] if name == "_buffers" else getattr(value, name)
            _visit(inner, held, (*path, name), slots)


def _visit_all(items: Any, value: Any, path: Path, slots: dict[int, tuple[Path, Any]]) -> None:
    for key, inner in items:
        if isinstance(inner, (dict, list)):
            _visit(inner, value[key], (*path, key), slots)
