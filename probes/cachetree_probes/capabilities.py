"""What works with each way of registering: as a pytree, and under `torch.export`."""

import warnings
from functools import partial

from cachetree_probes import _caches, behaviour, exporting
from cachetree_probes._probe import Group, Probe
from cachetree_probes._settings import SETTINGS


def _warm() -> None:
    """Imports what every part needs; none of it registers a cache."""
    from transformers import LlamaForCausalLM  # noqa: F401

    _caches.import_configs()
    warnings.simplefilter("ignore")


def _of_class(kind: str, setting: str) -> Group:
    pytree = Probe("pytree", partial(behaviour.measure, kind))
    # An unregistered cache is tried once, with nothing called: elsewhere it would fail in the same way.
    measure = exporting.measure if setting == "import" else exporting.measure_if_registered
    modules = exporting.MODULES if kind in exporting.KINDS else ()
    exports = (Probe(f"export_{name}", partial(measure, kind, name)) for name in modules)
    return Group(kind, (pytree, *exports))


def _of_setting(name: str) -> Group:
    return Group(name, tuple(_of_class(kind, name) for kind in _caches.KINDS), SETTINGS[name])


GROUP = Group("capabilities", tuple(_of_setting(name) for name in SETTINGS), _warm)
