"""What kinds of objects there are: caches, the parts they are made of, and those that cannot be flattened."""

from __future__ import annotations

from typing import Any, NamedTuple

_PARTS = ("CacheLayerMixin", "LinearAttentionCacheLayerMixin", "DummyLayer", "CacheProcessor")


class Rules(NamedTuple):
    """What a user said about a class with `register_class`."""

    cls: type
    leave_out: frozenset[str] = frozenset()


_rules: dict[type, Rules] = {}


def set_rules(cls: type, leave_out: frozenset[str]) -> None:
    _rules[cls] = Rules(cls, leave_out)


def forget_rules(cls: type) -> None:
    _rules.pop(cls, None)


def rules_of(cls: type) -> Rules:
    return _rules.get(cls) or Rules(cls)


def is_cache(value: Any) -> bool:
    """Is it a cache, and so a node of the tree by itself (inside an EncoderDecoderCache)?"""
    return isinstance(value, _bases(("Cache",)))


def is_part(value: Any) -> bool:
    """Is it an object that a cache owns: a layer, or the offloading processor of 4.54 and 4.55?"""
    return isinstance(value, _bases(_PARTS))


def is_part_class(cls: type) -> bool:
    """Is it a class of layers (some are called `...Cache`: DeepseekV4HCACache)?"""
    return issubclass(cls, _bases(_PARTS))


def refuse_quantized(owner: Any) -> None:
    """A quantized store is packed by a backend; the tensors beside it are only the latest tokens.

    Raises:
        TypeError: `owner` is a quantized cache, layer or processor.
    """
    if hasattr(type(owner), "_quantize"):
        raise TypeError(
            f"cachetree cannot flatten a {type(owner).__name__}: its tokens are in a packed quantized store, "
            "and a tree of its tensors would lose them silently. Give the program a DynamicCache or a "
            "StaticCache, or keep this cache out of its inputs and outputs."
        )


_bases_found: dict[tuple[str, ...], tuple[type, ...]] = {}


def _bases(names: tuple[str, ...]) -> tuple[type, ...]:
    """The classes of cache_utils by these names. A dict: Dynamo warns about `functools.cache`."""
    if names not in _bases_found:
        from transformers import cache_utils

        found = (vars(cache_utils).get(name) for name in names)
        _bases_found[names] = tuple(cls for cls in found if isinstance(cls, type))
    return _bases_found[names]
