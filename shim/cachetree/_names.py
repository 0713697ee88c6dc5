"""Classes, dtypes and devices as strings, and back."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator

import torch

_known: dict[str, type] = {}


def class_name(cls: type) -> str:
    """`module.qualname` of a class; `class_named` finds it again in this process."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    _known[name] = cls
    return name


def class_named(name: str) -> type:
    """The class that `class_name` named, here or in the process that saved a program.

    Only transformers' own modules are imported for it: a saved program must not run code of its choice.

    Raises:
        LookupError: No loaded module has the class.
    """
    cls = _known.get(name) or next(_loaded(name), None)
    if cls is None:
        raise LookupError(
            f"The class {name} is not known in this process. Import the module that defines it before "
            "you load or rebuild this cache."
        )
    return cls


def _loaded(name: str) -> Iterator[type]:
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        module_name = ".".join(parts[:cut])
        if parts[0] == "transformers" and module_name not in sys.modules:
            try:
                importlib.import_module(module_name)
            except ImportError:
                continue
        found = sys.modules.get(module_name)
        for part in parts[cut:]:
            found = vars(found).get(part) if found is not None else None
        if isinstance(found, type):
            yield found


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def dtype_named(name: str) -> torch.dtype:
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"{name!r} is no torch dtype")
    return found
