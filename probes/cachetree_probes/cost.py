"""What importing and flattening cost on this machine. Not part of the facts: it differs every time."""

import importlib
import importlib.util
import platform
import time
from collections.abc import Callable, Iterable
from functools import partial

from cachetree_probes import _caches
from cachetree_probes._document import Json
from cachetree_probes._errors import Absent
from cachetree_probes._isolated import isolated
from cachetree_probes._probe import Group, Probe
from cachetree_probes._settings import SETTINGS

LAYERS = 32
REPEATS = 50


def machine(modules: Iterable[str]) -> Json:
    """The interpreter, the platform, and seconds to import the modules; none may be imported yet."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system().lower()}-{platform.machine()}",
        "import_seconds": isolated(lambda: import_seconds(modules), 300),
    }


def import_seconds(modules: Iterable[str]) -> Json:
    """Seconds to import the modules that are installed, one after the other."""
    there = [name for name in modules if importlib.util.find_spec(name.split(".")[0])]
    return {name: round(_seconds(partial(importlib.import_module, name)), 3) for name in there}


def flatten_microseconds(register: Callable[[], None]) -> Json:
    """Microseconds to flatten a filled cache of 32 layers, and to build it again; best of 50.

    Raises:
        Absent: Nothing registers the cache.
    """
    from torch.utils import _pytree

    register()
    cache = _caches.filled("DynamicCache", layers=LAYERS)
    leaves, spec = _pytree.tree_flatten(cache)
    if len(leaves) == 1:
        raise Absent
    return {
        "flatten": _best(lambda: _pytree.tree_flatten(cache)),
        "unflatten": _best(lambda: _pytree.tree_unflatten(leaves, spec)),
    }


def _best(action: Callable[[], object]) -> int:
    return round(1e6 * min(_seconds(action) for _ in range(REPEATS)))


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


GROUP = Group(
    "flatten_microseconds",
    tuple(Probe(name, partial(flatten_microseconds, call)) for name, call in SETTINGS.items()),
)
