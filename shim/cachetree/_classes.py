"""Which classes are caches: found by looking at what this transformers has, never from a list of releases."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from cachetree._facts import SLOTS
from cachetree._parts import is_part_class

_MODELS = "transformers.models."
_MAMBA = "transformers.models.mamba.modeling_mamba"


def cache_classes() -> list[type]:
    """Every cache class of transformers, and every subclass of one that is defined by now.

    - all subclasses of `transformers.cache_utils.Cache`, the user's included, wherever they are defined;
    - `MambaCache`, which is no subclass, in `cache_utils` (4.43 to 4.53) or beside its model
      (4.39 to 4.42, and 4.54 to 5.4);
    - the caches of their own that models bring with them (Jamba, Mamba2 ...), if their module is loaded.
    """
    from transformers import cache_utils

    load_mamba()
    # vars(), not getattr(): cache_utils.__getattr__ makes a new MambaCache at every access in 4.54 and 4.55
    found = dict.fromkeys(_family(cache_utils.Cache))
    for module_name, module in list(sys.modules.items()):
        if module is not None and (module is cache_utils or module_name.startswith(_MODELS)):
            for cls in _own_caches(module_name, vars(module)):
                found.update(dict.fromkeys(_family(cls)))
    return list(found)


def _family(cls: type) -> Iterator[type]:
    yield cls
    for subclass in type.__subclasses__(cls):
        yield from _family(subclass)


def _own_caches(module_name: str, names: dict[str, object]) -> Iterator[type]:
    """Classes that a module defines and that are key/value or state caches by what they keep or can do."""
    for name, cls in list(names.items()):
        if not isinstance(cls, type) or not name.endswith("Cache") or cls.__module__ != module_name:
            continue
        if _keeps_states(cls) and not is_part_class(cls):
            yield cls


def _keeps_states(cls: type) -> bool:
    methods = {name for base in cls.__mro__ for name in vars(base)}
    constructors = [vars(base).get("__init__") for base in cls.__mro__]
    set_there = {name for init in constructors for name in getattr(init, "__code__", _NO_CODE).co_names}
    return {"update", "get_seq_length"} <= methods or bool(SLOTS & set_there)


_NO_CODE = (lambda: None).__code__


def load_mamba() -> None:
    """Imports the home of MambaCache if that is beside its model; looks into the source before it does."""
    from transformers import cache_utils

    if "MambaCache" in vars(cache_utils) or _MAMBA in sys.modules:
        return
    try:
        spec = importlib.util.find_spec(_MAMBA)
        if spec is not None and spec.origin and "class MambaCache" in Path(spec.origin).read_text("utf-8"):
            importlib.import_module(_MAMBA)
    except (ImportError, OSError, RuntimeError):
        return
