"""The functions that the registries get: flatten, flatten with keys, unflatten, flatten by a spec."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch.utils._pytree import GetAttrKey, TreeSpec

from cachetree import _facts as facts
from cachetree._context import is_context
from cachetree._decode import decode
from cachetree._encode import Path, encode, layer_of
from cachetree._template import holds_fillers, remember, remembered


def flatten(cache: Any) -> tuple[list[Any], dict[str, Any]]:
    """The children of a cache as a plain list, and its context.

    A plain list, so that `dynamic_shapes` may be made of lists alone (they often come from JSON).
    """
    children, context, _ = _flatten(cache)
    return children, context


def flatten_with_keys(cache: Any) -> tuple[list[tuple[SlotKey, Any]], dict[str, Any]]:
    """As `flatten`, with a key for each child."""
    children, context, paths = _flatten(cache)
    keys = [SlotKey(_key_name(path)) for path in paths]
    return list(zip(keys, children, strict=True)), context


def _flatten(cache: Any) -> tuple[list[Any], dict[str, Any], list[Path]]:
    template = remembered(cache)
    if template is not None:
        return template
    found, context = encode(cache)
    return [leaf.value for leaf in found], context, [leaf.path for leaf in found]


def unflatten(cls: type, children: Iterable[Any], context: dict[str, Any]) -> Any:
    """A `cls` around `children`, which may be anything: tensors, None, ints, dicts of dimensions.

    Raises:
        ValueError: The context comes from another registration.
    """
    if not is_context(context):
        raise ValueError(
            f"This tree spec of {cls.__name__} was made by another registration, before cachetree's. "
            "Flatten the cache again."
        )
    leaves = list(children)
    cache = decode(cls, leaves, context)
    if holds_fillers(leaves):
        remember(cache, context)
    return cache


def flatten_by_spec(cache: Any, spec: TreeSpec) -> list[Any]:
    """What `torch.fx` calls for the inputs of a program: the children, if they are what the program takes.

    Raises:
        ValueError: The cache has another structure than the spec.
    """
    children, context = flatten(cache)
    if context != spec.context or len(children) != len(spec.children()):
        raise ValueError(
            f"This program takes a {spec.type.__name__} with other layers than the one given. "
            f"Traced: {spec.context}. Given: {context}."
        )
    return children


def matches_spec(cache: Any, spec: TreeSpec) -> bool:
    """Whether `flatten_by_spec` accepts the cache."""
    children, context = flatten(cache)
    return context == spec.context and len(children) == len(spec.children())


class SlotKey(GetAttrKey):
    """The key of a child: `keys_0`, `values_0`, `conv_states_1` ..., the same on every layout.

    The name is an identifier, since torch.export and torch.onnx name graph inputs after it.
    """

    __slots__ = ()

    def get(self, obj: Any) -> Any:
        """The child of `obj` that this key names."""
        for key, child in flatten_with_keys(obj)[0]:
            if key == self:
                return child
        raise AttributeError(f"{type(obj).__name__} has no leaf {self.name}")


_SHORT = {**dict.fromkeys(facts.KEYS, "keys"), **dict.fromkeys(facts.VALUES, "values")}


def _key_name(path: Path) -> str:
    """`layers.1.keys` and `key_cache.1` are both `keys_1`; what belongs to no layer is named in full."""
    layer = layer_of(path)
    if layer is None:
        return "_".join(str(part) for part in path)
    if path[0] == "layers":
        slot, rest = path[2], path[3:]
    else:
        slot, rest = path[0], path[2:]
    rest = () if rest == (0,) else rest  # a layer with one state
    return "_".join(str(part) for part in (_SHORT.get(slot, slot), layer, *rest))
