"""The context of a flattened cache: plain JSON, of which only the structure counts for equality."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = "dict[str, Any] | list[Any] | str | int | float | bool | None"

FORMAT = 1
"""Version of the layout below, written into every saved program."""


class Context(dict[str, Any]):
    """All that is needed beside the leaves to rebuild a cache, as plain JSON.

    It is a `dict`, so `json.dumps` takes it as it is:

    - `state`: the attributes of the cache, with `{"$leaf": i}` where leaf `i` belongs;
    - `seen`: how many tokens were seen, for layers that no longer hold them all.

    Two contexts are equal when their states are. `seen` changes at every step, so a program traced
    for one step could not be called at the next if it counted (`torch.export` compares the specs).
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self["state"] == other["state"]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return hash(frozenset(self["state"]))


def to_json(context: Context) -> Json:
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
    return Context(state=saved["state"], seen=saved["seen"])
