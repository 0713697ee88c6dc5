"""Who registers which cache class as a pytree node, and when."""

import importlib.util
from collections.abc import Callable

from cachetree_probes import _classes, _settings
from cachetree_probes._document import Json
from cachetree_probes._probe import Group, Probe


def registered_now() -> Json:
    """The cache and layer classes that each registry knows at this moment.

    Returns:
        Registry name to sorted class names; None for optree where it is not installed.
    """
    from torch.fx import _pytree as fx_pytree
    from torch.utils import _pytree

    return {
        "torch.utils._pytree": _names(lambda cls: cls in _pytree.SUPPORTED_NODES),
        "torch.fx._pytree": _names(lambda cls: cls in fx_pytree.SUPPORTED_NODES),
        "optree": _registered_in_optree(),
    }


def after(step: Callable[[], object]) -> Callable[[], Json]:
    """What is registered once `step` has been taken in a fresh process."""

    def measure() -> Json:
        step()
        return registered_now()

    return measure


def _names(registered: Callable[[type], bool]) -> list[str]:
    every = {**_classes.caches(), **_classes.layers()}
    return sorted(name for name, cls in every.items() if registered(cls))


def _registered_in_optree() -> list[str] | None:
    if importlib.util.find_spec("optree") is None:
        return None
    import optree
    import torch.utils._cxx_pytree  # noqa: F401  (hands over what waits for optree)

    lookup = optree.register_pytree_node.get  # pyright: ignore[reportFunctionMemberAccess]
    return _names(lambda cls: lookup(cls, namespace="torch") is not None)


GROUP = Group(
    "registration",
    (
        Probe("at_import", registered_now),
        Probe("after_executorch_import", after(_settings.executorch_module)),
        Probe("after_executorch_helper", after(_settings.executorch_helper)),
        Probe("after_exporters_import", after(_settings.exporters_import)),
        Probe("after_exporters", after(_settings.exporters)),
        Probe("after_cachetree", after(_settings.cachetree)),
    ),
)
