"""From a cache to its leaves and its context. One engine for all layouts; the facts are in `_facts`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import torch

from cachetree import _facts as facts
from cachetree._context import Json, new_context
from cachetree._follow import as_int, measure, repeats, untraced
from cachetree._names import class_name, dtype_name
from cachetree._parts import is_cache, is_part, refuse_quantized, rules_of

Path = tuple[Any, ...]


class Found(NamedTuple):
    """A leaf (or a child node) on its way into the list of children."""

    value: Any
    path: Path
    mark: dict[str, Any]
    """The `{"$leaf": i}` in the state; `i` is filled in when all leaves are known."""

    @property
    def slot(self) -> str:
        """The attribute that holds the leaf: `keys`, `key_cache`, `conv_states` ..."""
        return next(part for part in reversed(self.path) if isinstance(part, str))


def encode(cache: Any) -> tuple[list[Found], dict[str, Any]]:
    """The leaves of a cache with their paths, in canonical order, and its context.

    Raises:
        TypeError: Something in the cache can neither be a leaf nor be written as JSON.
    """
    encoder = _Encoder(cache)
    state = encoder.object_state(cache, ())
    found = sorted(encoder.found, key=_canonical)
    for index, leaf in enumerate(found):
        leaf.mark["$leaf"] = index
    for follower, mark in encoder.followers:
        follower["$follow"][0] = mark["$leaf"]
    return found, new_context(state, encoder.aside)


def _canonical(leaf: Found) -> tuple[int, int, int]:
    """k0 v0 k1 v1 ...: layer by layer; in a layer keys, values, the rest. Counters come after all layers."""
    slot = leaf.slot
    rank = 0 if slot in facts.KEYS else 1 if slot in facts.VALUES else 2
    if slot in facts.COUNTERS:
        return 2, 0, 0
    layer = layer_of(leaf.path)
    return (0, layer, rank) if layer is not None else (1, 0, 0)


def layer_of(path: Path) -> int | None:
    """The layer a leaf belongs to, or None if it belongs to the cache as a whole."""
    if path[0] == "layers":
        return path[1]
    if path[0] in facts.SLOTS:
        return path[1] if len(path) > 1 else 0
    return None


class _Encoder:
    """Walks one cache. `found`, `aside` and `followers` collect what the walk meets."""

    def __init__(self, cache: Any) -> None:
        self.rules = rules_of(type(cache))
        self.found: list[Found] = []
        self.aside: list[Json] = []
        self.followers: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def object_state(self, owner: Any, path: Path) -> dict[str, Json]:
        """The state of the cache itself or of one of its layers."""
        refuse_quantized(owner)
        attributes = _attributes(owner, self.rules.leave_out if not path else frozenset())
        first = len(self.found)
        state: dict[str, Json] = {}
        late: list[str] = []
        growth: list[str] = []
        for name, value in attributes.items():
            is_counter = name in facts.COUNTERS and isinstance(value, torch.Tensor) and _is_static(attributes)
            if name in facts.FOLLOWERS and not is_counter:
                late.append(name)
            elif name == "_buffers" and isinstance(owner, torch.nn.Module):
                state[name] = self._buffers(value, path)
            elif name in facts.GROWTH:
                growth.append(name)
            elif name in facts.DERIVED:
                state[name] = {"$derived": facts.DERIVED[name]}
            elif is_counter and attributes.get(facts.COUNTERS[name]) is None:
                state[name] = {"$zeros": [list(value.shape), dtype_name(value.dtype), str(value.device)]}
            else:
                state[name] = self.value(value, (*path, name), is_slot=name in facts.SLOTS)
        leaves = self.found[first:]
        for name in late:
            state[name] = self._follower(name, attributes[name], leaves, (*path, name))
        for name in growth:
            state[name] = self._put_aside(self._growth(attributes[name], leaves, (*path, name)))
        return state

    def value(self, value: Any, path: Path, is_slot: bool = False) -> Json:
        """Anything that an attribute can hold."""
        if path[-1] in facts.FLAGS and isinstance(value, (torch.Tensor, tuple)):
            return _flags(value)
        if (
            isinstance(value, (list, tuple, dict))
            and type(value) in _CONTAINERS
            and not _is_filler(value, path)
        ):
            return self._container(value, path, is_slot)
        if is_slot and (value is None or _is_placeholder(value)):
            return None if value is None else {"$empty": _tensor_facts(value)}
        if is_slot or path[-1] in facts.CHILDREN or is_cache(value):
            return self._leaf(value, path)
        if isinstance(value, torch.Tensor):
            return self._leaf(value, path)
        if is_part(value):
            return {"$object": class_name(type(value)), "state": self.object_state(value, path)}
        return self._plain(value, path)

    def _container(self, value: Any, path: Path, is_slot: bool) -> Json:
        if isinstance(value, dict):
            keys = sorted(value) if all(type(k) is int for k in value) else list(value)
            return {
                "$dict": [[self._plain(k, path), self.value(value[k], (*path, k), is_slot)] for k in keys]
            }
        items = [self.value(item, (*path, i), is_slot) for i, item in enumerate(value)]
        return items if type(value) is list else {"$tuple": items}

    def _leaf(self, value: Any, path: Path) -> Json:
        mark: dict[str, Any] = {"$leaf": -1}
        self.found.append(Found(value, path, mark))
        return mark

    def _buffers(self, buffers: Any, path: Path) -> Json:
        """Buffers of a static cache are the tensors of its lists under second names (4.45 to 4.49)."""
        marks = {id(leaf.value): leaf.mark for leaf in self.found}
        if torch.compiler.is_dynamo_compiling():  # where a tensor is another object after `+=`
            named = {"_".join(map(str, leaf.path)): leaf.mark for leaf in self.found}
            marks |= {id(buffers[name]): mark for name, mark in named.items() if name in buffers}
        return {
            "$dict": [
                [name, marks.get(id(value)) or self.value(value, (*path, "_buffers", name))]
                for name, value in buffers.items()
            ]
        }

    def _follower(self, name: str, value: Any, leaves: list[Found], path: Path) -> Json:
        uncompared = name in facts.SEEN
        what = facts.FOLLOWERS[name]
        if what == "device" and isinstance(value, str):
            what = "device_name"
        for leaf in leaves if value is not None and not isinstance(value, list) else ():
            if not isinstance(leaf.value, torch.Tensor) or repeats(
                value, measure(leaf.value, leaf.slot, what)
            ):
                follower: dict[str, Any] = {"$follow": [-1, what, leaf.slot]}
                self.followers.append((follower, leaf.mark))
                return self._put_aside(follower) if uncompared else follower
        return self._put_aside(_counts(value)) if uncompared else self._plain(untraced(value), path)

    def _growth(self, value: Any, leaves: list[Found], path: Path) -> Json:
        """How layers to come are made; arguments that repeat a property of the leaves follow them."""
        if not isinstance(value, dict):
            return self.value(value, path)
        arguments: list[list[Json]] = []
        for name, argument in value.items():
            inside = (*path, name)
            follows = name in facts.FOLLOWERS
            saved = (
                self._follower(name, argument, leaves, inside) if follows else self.value(argument, inside)
            )
            arguments.append([name, saved])
        return {"$dict": arguments}

    def _put_aside(self, count: Json) -> Json:
        self.aside.append(count)
        return {"$aside": len(self.aside) - 1}

    def _plain(self, value: Any, path: Path) -> Json:
        """Values without leaves: JSON's own, and the few others that caches hold, tagged."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, torch.SymInt):
            return as_int(value)
        if isinstance(value, torch.dtype):
            return {"$dtype": dtype_name(value)}
        if isinstance(value, torch.device):
            return {"$device": str(value)}
        if isinstance(value, torch.Size):
            return {"$size": [as_int(size) for size in value]}
        if isinstance(value, type):
            return {"$class": class_name(value)}
        if isinstance(value, torch.Stream):
            return {"$stream": class_name(type(value))}
        raise TypeError(self._refusal(value, path))

    def _refusal(self, value: Any, path: Path) -> str:
        where = "".join(f"[{part!r}]" if isinstance(part, int) else f".{part}" for part in path)
        return (
            f"cachetree cannot flatten a {self.rules.cls.__name__}: its attribute {where} holds a "
            f"{type(value).__module__}.{type(value).__qualname__}, which is neither a tensor nor plain data, "
            "and leaving it out would lose it. Remove it, or say that it may be left out: "
            f"cachetree.register_class({self.rules.cls.__name__}, leave_out=({str(path[0])!r},))."
        )


_CONTAINERS = (list, tuple, dict)


def _attributes(owner: Any, leave_out: Iterable[str]) -> dict[str, Any]:
    """The attributes to carry. Of a `torch.nn.Module` its own machinery only where it holds something."""
    attributes = {name: value for name, value in vars(owner).items() if name not in leave_out}
    attributes.pop("_cachetree_context", None)
    if isinstance(owner, torch.nn.Module):
        for name in _MACHINERY:
            if name not in facts.MODULE_MACHINERY and not attributes.get(name):
                attributes.pop(name, None)
        if attributes.get("training") is True:
            del attributes["training"]
        for name in ("_buffers", "_parameters", "_modules"):
            if not attributes.get(name):
                attributes.pop(name, None)
        attributes.update(attributes.pop("_modules", {}))
        if "_buffers" in attributes:  # last, when the tensors they repeat are known
            attributes["_buffers"] = attributes.pop("_buffers")
    return attributes


_MACHINERY = frozenset(vars(torch.nn.Module()))


def _is_static(attributes: dict[str, Any]) -> bool:
    """Does a static layer count its tokens here? Elsewhere a count is a number, even if a tracer holds it."""
    return "max_cache_len" in attributes


def _is_filler(value: Any, path: Path) -> bool:
    """A dict or tuple where a tensor belongs: `{2: Dim}` or a shape that somebody mapped into the slot."""
    at_tensor = path[-1] in ("keys", "values") or (len(path) == 2 and path[0] in facts.KEYS | facts.VALUES)
    return at_tensor and value != []


def _is_placeholder(value: Any) -> bool:
    """Of a skipped layer (`[]` in 4.46 to 4.50, an empty tensor in 4.51 to 4.53), or of one made ready
    ahead of time. Real keys have four axes even when they hold no token.
    """
    if not isinstance(value, torch.Tensor) or value.dim() > 2:
        return False
    return all(type(size) is int for size in value.shape) and 0 in value.shape


def _tensor_facts(value: Any) -> Json:
    return [list(value.shape), dtype_name(value.dtype), str(value.device)]


def _flags(value: torch.Tensor | tuple[bool, ...]) -> Json:
    if isinstance(value, tuple):  # see `_decode`: what Dynamo has in place of the tensor
        return {"$flags": [list(value), "bool"]}
    return {"$flags": [value.tolist(), dtype_name(value.dtype)]}


def _counts(value: Any) -> Json:
    """Numbers of tokens. One that only the traced program knows is 0: nobody has seen a token yet."""
    return [as_int(item) or 0 for item in value] if isinstance(value, list) else as_int(value) or 0
