"""What a cache looks like inside: where its tensors are, and when they come into being."""

from functools import partial
from typing import Any

from cachetree_probes import _caches, _classes
from cachetree_probes._attempt import attempt
from cachetree_probes._document import Json
from cachetree_probes._probe import Group, Probe


def measure(kind: str) -> Json:
    """A new and a filled cache of this class.

    Raises:
        Absent: The release does not have the class.
    """
    new, filled = _caches.new(kind), _caches.filled(kind)
    return {
        "kind": kind_of(filled),
        "new": describe(new),
        "filled": describe(filled),
        "tensors_come": "when constructed" if _holds_tensors(new) else "with the first update",
        "length_of_new": length(new),
        "length_of_filled": length(filled),
    }


def sliding() -> Json:
    """A DynamicCache of a sliding and a full layer, shown more tokens than its window."""
    cache = _caches.sliding()
    return {"filled": describe(cache), "length_of_filled": length(cache)}


def has_layers() -> Json:
    """Whether the two layer classes of a DynamicCache exist."""
    return {name: name in _classes.layers() for name in ("DynamicLayer", "DynamicSlidingWindowLayer")}


def kind_of(cache: Any) -> str:
    """The layout: "lists" (`key_cache`, `value_cache`), "layers", "tensors", or "caches" within."""
    if hasattr(cache, "self_attention_cache"):
        return "caches"
    if isinstance(getattr(cache, "layers", None), list):
        return "layers"
    return "lists" if isinstance(cache.key_cache, list) else "tensors"


def length(cache: Any) -> Json:
    """The type of `get_seq_length()`, and its value; or how it fails."""
    found: dict[str, Any] = {}

    def ask() -> None:
        answer = cache.get_seq_length()
        found.update(type=type(answer).__name__, value=None if answer is None else int(answer))

    outcome = attempt(ask)
    return found if outcome is True else outcome


def describe(thing: Any, depth: int = 3) -> Json:
    """Attributes by name; a tensor is its type and shape, such as "float32[1, 2, 3, 4]"."""
    import torch

    if isinstance(thing, torch.Tensor):
        return f"{str(thing.dtype).removeprefix('torch.')}{list(thing.shape)}"
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, (list, tuple)):
        return [describe(one, depth) for one in thing]
    if isinstance(thing, dict):
        return {str(key): describe(value, depth) for key, value in thing.items()}
    if depth == 0 or not _is_of_a_cache(thing):
        return type(thing).__name__
    return {"type": type(thing).__name__} | {
        name: describe(value, depth - 1) for name, value in vars(thing).items() if _is_own(name)
    }


def _is_of_a_cache(thing: Any) -> bool:
    return type(thing).__name__.endswith(("Cache", "Layer"))


def _is_own(name: str) -> bool:
    """Not one of the fields that every `torch.nn.Module` has."""
    import torch

    return name not in vars(torch.nn.Module()) and name != "_buffers"


def _holds_tensors(cache: Any) -> bool:
    import torch

    return any(isinstance(value, torch.Tensor) for _, value in _caches.named_tensors(cache))


GROUP = Group(
    "layout",
    (
        *(Probe(kind, partial(measure, kind)) for kind in _caches.KINDS),
        Probe("sliding DynamicCache", sliding),
        Probe("has", has_layers),
    ),
    _caches.import_configs,
)
