"""How the cache classes are called: arguments, base classes, deprecations."""

import inspect
import logging
import warnings
from functools import partial
from typing import Any

from cachetree_probes import _caches, _classes
from cachetree_probes._document import Json
from cachetree_probes._errors import first_line
from cachetree_probes._probe import Group, Probe

METHODS = (
    "__init__",
    "update",
    "get_seq_length",
    "get_max_cache_shape",
    "get_mask_sizes",
    "reorder_cache",
    "crop",
    "reset",
    "batch_repeat_interleave",
    "batch_select_indices",
    "batch_split",
    "from_legacy_cache",
    "to_legacy_cache",
)


def calls(kind: str) -> Json:
    """Method name to its arguments, such as "(self, max_length)"; missing methods are left out.

    Raises:
        Absent: The release does not have the class.
    """
    cls = _caches.cache_class(kind)
    methods = {name: getattr(cls, name, None) for name in METHODS}
    return {name: arguments(method) for name, method in methods.items() if callable(method)}


def arguments(method: Any) -> str:
    """The arguments without annotations, which differ more than the calls do."""
    signature = inspect.signature(method)
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def bases() -> Json:
    """Cache and layer class to the names of what it derives from, nearest first."""
    every = {**_classes.caches(), **_classes.layers()}
    return {
        name: [base.__name__ for base in cls.__mro__[1:-1] if base.__name__ != "Generic"]
        for name, cls in every.items()
    }


def is_module() -> Json:
    """Whether `Cache` is a `torch.nn.Module`: then an unregistered cache is exported as a constant."""
    import torch

    return issubclass(_caches.cache_class("Cache"), torch.nn.Module)


def deprecations(kind: str) -> Json:
    """What constructing and filling a cache of this class warns of: first lines, sorted.

    Raises:
        Absent: The release does not have the class.
    """
    handler = _Listener()
    logger = logging.getLogger("transformers")
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _caches.filled(kind)
    return sorted({first_line(str(each.message)) for each in caught} | handler.lines)


class _Listener(logging.Handler):
    """Keeps the first lines of what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.add(first_line(record.getMessage()))


GROUP = Group(
    "signatures",
    (
        Group("calls", tuple(Probe(kind, partial(calls, kind)) for kind in _caches.KINDS)),
        Group("warns", tuple(Probe(kind, partial(deprecations, kind)) for kind in _caches.KINDS)),
        Probe("bases", bases),
        Probe("is_module", is_module),
    ),
    _caches.import_configs,
)
