"""The context of a flattened cache: plain JSON, of which only the structure counts for equality."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

import torch

Json: TypeAlias = "dict[str, Any] | list[Any] | str | int | float | bool | None"

FORMAT = 1
"""Version of the layout below, written into every saved program."""


class Context(dict[str, Any]):
    """All that is needed beside the leaves to rebuild a cache, as plain JSON.

    It is a `dict`, so `json.dumps` takes it as it is:

    - `state`: the attributes of the cache, with `{"$leaf": i}` where leaf `i` belongs;
    - `aside`: what `{"$aside": i}` in the state stands for. It is carried and restored, but two contexts are
      equal when their states are: the number of tokens seen changes at every step, and a program traced
      for one step could not be called at the next if it counted (`torch.export` compares the specs).
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return is_context(other) and self["state"] == other["state"]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return hash(frozenset(self["state"]))


def new_context(state: dict[str, Json], aside: list[Json]) -> dict[str, Any]:
    """A context. Dynamo, which traces flattening in strict export, can keep a plain dict only."""
    if torch.compiler.is_dynamo_compiling():
        return {"state": state, "aside": aside}
    return Context(state=state, aside=aside)


def is_context(value: object) -> TypeGuard[dict[str, Any]]:
    """Is it a context of ours, a plain one included?"""
    return isinstance(value, dict) and set(value) == {"state", "aside"}


def to_json(context: dict[str, Any]) -> Json:
    """What `torch.utils._pytree.treespec_dumps` writes for a context."""
    return {"cachetree": FORMAT, **context}


def from_json(saved: Any) -> Context:
    """The context that `to_json` wrote.

    Raises:
        ValueError: The saved context comes from another registration, or from another format.
    """
    if not isinstance(saved, dict) or saved.get("cachetree") != FORMAT:
        raise ValueError(
            f"This tree spec was not written by cachetree (format {FORMAT}), but holds {saved!r:.80}. "
            "Load it under the registration that wrote it: leave `cachetree.registered()`, or call "
            "`cachetree.unregister()` first."
        )
    return Context(state=saved["state"], aside=saved["aside"])
