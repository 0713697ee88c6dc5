"""What a registration makes of a cache as a pytree."""

from typing import Any

from cachetree_probes import _caches
from cachetree_probes._attempt import Wrong, attempt
from cachetree_probes._document import Json


def measure(kind: str) -> Json:
    """Everything about a filled cache of this class as a pytree.

    Only the order of leaves where the class is not registered: ["cache"], one leaf.

    Raises:
        Absent: The release does not have the class.
    """
    cache = _caches.filled(kind)
    if not is_registered(type(cache)):
        return {"leaf_order": leaf_order(cache)}
    found = {
        "leaf_order": leaf_order(cache),
        "leaf_names": leaf_names(cache),
        "round_trip": attempt(lambda: round_trip(cache)),
        "spec_json": attempt(lambda: spec_json(cache)),
        "tree_map": attempt(lambda: tree_map(cache)),
        "empty": attempt(lambda: round_trip(_caches.new(kind))),
    }
    if kind == "DynamicCache":
        found["layers_kept"] = attempt(layers_kept)
        found["windows_kept"] = attempt(windows_kept)
    return found


def leaf_order(cache: Any) -> Json:
    """Such as ["k0", "v0", "k1", "v1"]; ["cache"] when the whole cache is one leaf."""
    from torch.utils import _pytree

    leaves = _pytree.tree_leaves(cache)
    return ["cache"] if _is_one_leaf(leaves, cache) else _caches.slot_names(cache, leaves)


def leaf_names(cache: Any) -> Json:
    """The key path of each leaf, as `torch.export` names its inputs."""
    from torch.utils import _pytree

    return [_pytree.keystr(path) for path, _ in _pytree.tree_flatten_with_path(cache)[0]]


def round_trip(cache: Any) -> None:
    """Flattening and back gives an equal cache that knows its length.

    Raises:
        Wrong: It gives something else.
    """
    again = _there_and_back(cache)
    if found := _caches.difference(again, cache):
        raise Wrong(found)
    if kind_of(again) != kind_of(cache):
        raise Wrong(f"layers {kind_of(cache)} came back as {kind_of(again)}")
    before, after = (_length(each) for each in (cache, again))
    if before != after:
        raise Wrong(f"get_seq_length() was {before} and came back as {after}")


def spec_json(cache: Any) -> None:
    """The treespec survives JSON, which `torch.export.save` needs."""
    from torch.utils import _pytree

    leaves, spec = _flatten(cache)
    again = _pytree.treespec_loads(_pytree.treespec_dumps(spec))
    if again != spec:
        raise Wrong("the spec that came back differs")
    if found := _caches.difference(_pytree.tree_unflatten(leaves, again), cache):
        raise Wrong(found)


def tree_map(cache: Any) -> None:
    """Any object may stand where a tensor was, as `dynamic_shapes` and `vmap` need it."""
    from torch.utils import _pytree

    leaves, spec = _flatten(cache)
    for stand_in in (None, 0, "text"):
        held = _pytree.tree_unflatten([stand_in] * len(leaves), spec)
        slots = [value for _, value in _caches.named_tensors(held)]
        if any(value is not stand_in for value in slots):
            raise Wrong(f"{stand_in!r} does not stay where a tensor was")


def layers_kept() -> None:
    """A cache of a sliding and a full layer keeps both kinds of layer."""
    cache = _caches.sliding()
    again = _there_and_back(cache)
    if kind_of(again) != kind_of(cache):
        raise Wrong(f"layers {kind_of(cache)} came back as {kind_of(again)}")


def windows_kept() -> None:
    """A sliding layer keeps its window and the number of tokens it has seen."""
    cache = _caches.sliding()
    again = _there_and_back(cache)
    for name in ("sliding_window", "cumulative_length"):
        before = getattr(cache.layers[0], name, None)
        after = getattr(again.layers[0], name, None)
        if before != after:
            raise Wrong(f"{name} was {before} and came back as {after}")


def kind_of(cache: Any) -> list[str]:
    """The types of a cache's layers; none in the list layout."""
    return [type(layer).__name__ for layer in getattr(cache, "layers", [])]


def _length(cache: Any) -> int | None:
    """The HybridCache of 4.42 to 4.44 answers None."""
    length = cache.get_seq_length()
    return None if length is None else int(length)


def _there_and_back(cache: Any) -> Any:
    from torch.utils import _pytree

    return _pytree.tree_unflatten(*_flatten(cache))


def _flatten(cache: Any) -> tuple[list[Any], Any]:
    from torch.utils import _pytree

    return _pytree.tree_flatten(cache)


def is_registered(cls: type) -> bool:
    """Whether the class is a pytree node at this moment."""
    from torch.utils import _pytree

    return cls in _pytree.SUPPORTED_NODES


def _is_one_leaf(leaves: list[Any], cache: Any) -> bool:
    return len(leaves) == 1 and leaves[0] is cache
