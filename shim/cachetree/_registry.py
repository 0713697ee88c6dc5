"""The registries of tree nodes, written and put back as one.

- `torch.utils._pytree`: `SUPPORTED_NODES` and the two tables of serialized names;
- `torch.fx._pytree`: how the inputs of a program are flattened;
- optree (behind `torch.utils._cxx_pytree`): either the class is registered there, or it waits in a queue
  that is worked off when `torch.utils._cxx_pytree` is imported.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, NamedTuple

import torch.fx._pytree as fx_pytree
import torch.utils._pytree as pytree

from cachetree._context import from_json, to_json
from cachetree._flatten import flatten, flatten_by_spec, flatten_with_keys, matches_spec, unflatten

_NAMESPACE = "torch"


class Entry(NamedTuple):
    """What the registries hold for one class; None where they hold nothing."""

    node: Any
    serialized: Any
    fx_flatten: Any
    fx_match: Any
    optree: Any
    queued: list[tuple[int, Any]]
    """Positions and arguments in the queue for optree."""
    names: dict[str, type | None]
    """To which class the serialized names in question belong (two classes may have one name)."""


def read(cls: type, name: str) -> Entry:
    """What the registries hold for `cls`, and for the serialized `name` it is going to have."""
    serialized = pytree.SUPPORTED_SERIALIZED_TYPES.get(cls)
    names = {name, serialized.serialized_type_name} if serialized else {name}
    return Entry(
        node=pytree.SUPPORTED_NODES.get(cls),
        serialized=serialized,
        fx_flatten=fx_pytree.SUPPORTED_NODES.get(cls),
        fx_match=fx_pytree.SUPPORTED_NODES_EXACT_MATCH.get(cls),
        optree=_in_optree(cls),
        queued=[(i, item) for i, item in enumerate(_queue()) if item[0][0] is cls],
        names={name: pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE.get(name) for name in names},
    )


def put(cls: type, name: str) -> None:
    """Registers `cls` with cachetree's functions in all registries, in place of what is there."""
    clear(cls)
    pytree.register_pytree_node(
        cls,
        flatten,
        functools.partial(unflatten, cls),
        serialized_type_name=name,
        to_dumpable_context=to_json,
        from_dumpable_context=from_json,
        flatten_with_keys_fn=flatten_with_keys,  # pyright: ignore[reportArgumentType]
    )
    put_fx(cls)


def put_fx(cls: type) -> None:
    """Registers `cls` in `torch.fx._pytree`, in place of what is there."""
    fx_pytree.register_pytree_flatten_spec(cls, flatten_by_spec, matches_spec)


def clear(cls: type) -> None:
    """Removes `cls` from all registries."""
    pytree.SUPPORTED_NODES.pop(cls, None)
    serialized = pytree.SUPPORTED_SERIALIZED_TYPES.pop(cls, None)
    names = pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE
    if serialized and names.get(serialized.serialized_type_name) is cls:
        del names[serialized.serialized_type_name]
    fx_pytree.SUPPORTED_NODES.pop(cls, None)
    fx_pytree.SUPPORTED_NODES_EXACT_MATCH.pop(cls, None)
    queue = _queue()
    queue[:] = [item for item in queue if item[0][0] is not cls]
    if _in_optree(cls):
        import optree

        optree.unregister_pytree_node(cls, namespace=_NAMESPACE)


def clear_ours(cls: type) -> None:
    """Removes what is still cachetree's of a class that somebody else has registered since."""
    if fx_is_ours(cls):
        del fx_pytree.SUPPORTED_NODES[cls]
        fx_pytree.SUPPORTED_NODES_EXACT_MATCH.pop(cls, None)
    queue = _queue()
    queue[:] = [item for item in queue if item[0][:2] != (cls, flatten)]
    entry = _in_optree(cls)
    if entry is not None and entry.flatten_func is flatten:
        import optree

        optree.unregister_pytree_node(cls, namespace=_NAMESPACE)


def restore(cls: type, entry: Entry) -> None:
    """Puts back what `read` saw, also if optree's queue was worked off since."""
    clear(cls)
    if entry.node is not None:
        pytree.SUPPORTED_NODES[cls] = entry.node
    if entry.serialized is not None:
        pytree.SUPPORTED_SERIALIZED_TYPES[cls] = entry.serialized
    if entry.fx_flatten is not None:
        fx_pytree.SUPPORTED_NODES[cls] = entry.fx_flatten
        fx_pytree.SUPPORTED_NODES_EXACT_MATCH[cls] = entry.fx_match
    for name, owner in entry.names.items():
        if owner is not None:
            pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = owner
    _restore_optree(cls, entry)


def _restore_optree(cls: type, entry: Entry) -> None:
    if entry.optree is not None:
        import optree

        optree.register_pytree_node(
            cls,
            entry.optree.flatten_func,
            entry.optree.unflatten_func,
            path_entry_type=entry.optree.path_entry_type,
            namespace=_NAMESPACE,
        )
    for position, (args, kwargs) in entry.queued:
        if pytree._cxx_pytree_imported:
            from torch.utils import _cxx_pytree

            _cxx_pytree._private_register_pytree_node(*args, **kwargs)
        else:
            _queue().insert(position, (args, kwargs))


def is_ours(cls: type) -> bool:
    """Whether flattening `cls` runs cachetree, in Python's registry."""
    node = pytree.SUPPORTED_NODES.get(cls)
    return node is not None and node.flatten_fn is flatten


def fx_is_ours(cls: type) -> bool:
    """Whether flattening `cls` as an input of a program runs cachetree."""
    return fx_pytree.SUPPORTED_NODES.get(cls) is flatten_by_spec


def owners(cls: type) -> dict[str, str | None]:
    """Per registry the module whose function flattens `cls`: `cachetree` for ours, None for nobody's."""
    node = pytree.SUPPORTED_NODES.get(cls)
    entry = _in_optree(cls)
    queued = next((args[1] for args, _ in _queue() if args[0] is cls), None)
    return {
        "pytree": origin(node.flatten_fn if node else None),
        "fx": origin(fx_pytree.SUPPORTED_NODES.get(cls)),
        "optree": origin(entry.flatten_func if entry else queued),
    }


def origin(function: Any) -> str | None:
    """The module a function comes from; `cachetree` for all of our own."""
    if function is None:
        return None
    module: str = getattr(function, "__module__", None) or type(function).__module__
    return "cachetree" if module.split(".")[0] == "cachetree" else module


def _queue() -> list[Any]:
    return pytree._cxx_pytree_pending_imports


def _in_optree(cls: type) -> Any:
    """optree's own entry for `cls`, or None."""
    optree = sys.modules.get("optree")
    if optree is None:
        return None
    entry = optree.register_pytree_node.get(cls, namespace=_NAMESPACE)
    return entry if entry is not None and entry.namespace == _NAMESPACE else None
