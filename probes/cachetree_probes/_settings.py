"""The ways of registering that are compared: what a user calls before flattening a cache."""

import importlib
import importlib.util
import inspect
from collections.abc import Callable

from cachetree_probes import _caches
from cachetree_probes._errors import Absent

EXECUTORCH = "transformers.integrations.executorch"
HELPER = "register_dynamic_cache_export_support"
EXPORTERS = "transformers.exporters"


def nothing() -> None:
    """What importing transformers does, and no more."""


def executorch_module():
    """`transformers.integrations.executorch`, since 4.45.0.

    Raises:
        Absent: The release has no such module.
    """
    return _module(EXECUTORCH)


def executorch_helper() -> None:
    """Calls its `register_dynamic_cache_export_support()`, since 4.56.0.

    Raises:
        Absent: The release has no such function.
    """
    _function(executorch_module(), HELPER)()


def exporters() -> None:
    """Calls `register_cache_pytrees_for_model(model)` of `transformers.exporters`, since 5.13.0.

    Raises:
        Absent: The release has no such function.
    """
    _module(EXPORTERS)
    dynamo = _module(f"{EXPORTERS}.exporter_dynamo")
    register = _function(dynamo, "register_cache_pytrees_for_model")
    register(_caches.llama())


def exporters_import() -> None:
    """Imports `transformers.exporters` and its dynamo exporter, and calls nothing.

    Raises:
        Absent: The release has no such package.
    """
    _module(EXPORTERS)
    _module(f"{EXPORTERS}.exporter_dynamo")


def cachetree() -> None:
    """Calls `cachetree.register()`.

    Raises:
        Absent: cachetree is not installed.
    """
    _function(_module("cachetree"), "register")()


SETTINGS: dict[str, Callable[[], None]] = {
    "import": nothing,
    "helper": executorch_helper,
    "exporters": exporters,
    "cachetree": cachetree,
}


def _module(name: str):
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise Absent
    return importlib.import_module(name)


def _function(module: object, name: str) -> Callable[..., object]:
    function = getattr(module, name, None)
    if not inspect.isroutine(function):
        raise Absent
    return function
