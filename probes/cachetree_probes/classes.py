"""Which cache and layer classes the release has, and what the public table's check says of them."""

from cachetree_probes import _classes
from cachetree_probes._document import Json
from cachetree_probes._errors import Absent
from cachetree_probes._probe import Group, Probe


def cache_names() -> Json:
    """Every cache class of `transformers.cache_utils`."""
    return sorted(_classes.caches())


def layer_names() -> Json:
    """Every layer class of `transformers.cache_utils`."""
    return sorted(_classes.layers())


def aliases() -> Json:
    """Second names: `{"SlidingWindowCache": "StaticCache"}` when both are one class."""
    every = {**_classes.caches(), **_classes.layers()}
    return {name: cls.__name__ for name, cls in every.items() if cls.__name__ != name}


def public_check() -> Json:
    """What `_get_node_type(...) is not None` says of DynamicCache and of a class nobody registered.

    The table of TICO's issue 417 was made with this expression. `_get_node_type` takes an instance
    and answers with its type, so for a class it answers `type`: never None.
    """
    from torch.utils import _pytree

    dynamic_cache = _classes.caches().get("DynamicCache")
    if dynamic_cache is None:
        raise Absent
    unregistered = type("Unregistered", (), {})
    return {
        "DynamicCache": _pytree._get_node_type(dynamic_cache) is not None,
        "a class nobody registered": _pytree._get_node_type(unregistered) is not None,
    }


GROUP = Group(
    "classes",
    (
        Probe("caches", cache_names),
        Probe("layers", layer_names),
        Probe("aliases", aliases),
        Probe("public_check", public_check),
    ),
)
