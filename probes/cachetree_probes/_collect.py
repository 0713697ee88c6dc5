"""Runs the groups of probes and puts the document together."""

from collections.abc import Iterable, Sequence
from importlib import import_module

from cachetree_probes import cost
from cachetree_probes._document import SCHEMA_VERSION, Json
from cachetree_probes._isolated import isolated
from cachetree_probes._probe import Group

_MODULES = ("classes", "registration", "layout", "signatures", "capabilities")
IMPORT_TIMEOUT = 300.0


def group_names() -> tuple[str, ...]:
    """The groups of facts, in the order in which they are measured."""
    return _MODULES


def collect(only: Iterable[str] = _MODULES, with_machine: bool = True) -> Json:
    """Measures the installed transformers.

    Every probe runs in a process of its own, forked after one import of torch and transformers, so
    the calling process imports and registers nothing. A probe that fails is recorded as
    `{"error": {"type": ..., "message": ...}}`; what the release does not have is None.

    Args:
        only: Which facts: names from `group_names()`, or dotted paths under "facts" such as
            "capabilities.cachetree".
        with_machine: Whether to add "machine", which holds times and differs at every run.

    Returns:
        The document that `facts.schema.json` describes.

    Raises:
        ValueError: A path names nothing.
    """
    groups = _select(tuple(only))
    timeout = IMPORT_TIMEOUT + sum(group.timeout for group in groups)
    settings = [part.name for group in groups if group.name == "capabilities" for part in group.parts]
    machine = cost.machine(_imported(settings)) if with_machine else None
    return isolated(lambda: _document(groups, settings, machine), timeout)


def _imported(settings: Sequence[str]) -> list[str]:
    """Modules whose import is timed: cachetree alone where only its facts are asked for."""
    ours = ["cachetree"] if "cachetree" in settings else []
    return ours if settings == ours else ["torch", "transformers.cache_utils", *ours]


def _select(paths: tuple[str, ...]) -> list[Group]:
    every = [import_module(f"cachetree_probes.{name}").GROUP for name in _MODULES]
    for path in paths:
        if not any(group.only((path,)) for group in every):
            raise ValueError(f"no facts are called {path!r}; the groups are {', '.join(_MODULES)}")
    return [found for group in every if (found := group.only(paths))]


def _document(groups: Sequence[Group], settings: Sequence[str], machine: Json) -> Json:
    import torch
    import transformers
    import transformers.cache_utils  # imported once here, then forked

    torch.set_num_threads(1)
    document = {
        "schema": SCHEMA_VERSION,
        "transformers": transformers.__version__,
        "torch": torch.__version__.split("+")[0],
        "facts": {group.name: group.run() for group in groups},
    }
    if machine is not None:
        timed = cost.GROUP.only(tuple(f"{cost.GROUP.name}.{name}" for name in settings))
        document["machine"] = {**machine, cost.GROUP.name: timed.run() if timed else {}}
    return document
