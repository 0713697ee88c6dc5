"""What one cell of the report says."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class State(Enum):
    """The kinds of cell; each value is the word that programs see."""

    YES = "yes"
    NO = "no"
    ABSENT = "absent"
    ERROR = "error"
    TEXT = "text"
    UNKNOWN = "unknown"


SYMBOLS = {
    State.YES: "✓",
    State.NO: "✗",
    State.ABSENT: "·",
    State.ERROR: "!",
    State.UNKNOWN: "?",
}

MEANINGS = {
    State.YES: "yes",
    State.NO: "no",
    State.ABSENT: "the release has no such thing",
    State.ERROR: "the probe itself failed, see the notes",
    State.UNKNOWN: "not measured",
}


@dataclass(frozen=True)
class Cell:
    """One answer about one release.

    Attributes:
        state: What kind of answer.
        text: The answer itself, for `State.TEXT`.
        detail: More words, such as an exception; neighbours that differ only here still agree.
    """

    state: State
    text: str = ""
    detail: str = ""

    @property
    def symbol(self) -> str:
        """What the tables show."""
        return SYMBOLS.get(self.state, self.text)

    @property
    def agrees_on(self) -> tuple[State, str]:
        """Neighbouring releases share a row when these are equal in every column."""
        return self.state, self.text


def yes_or_no(truth: bool, detail: str = "") -> Cell:
    return Cell(State.YES if truth else State.NO, detail=detail)


def error_of(value: Any) -> str | None:
    """Says "ValueError: text" if the value is a recorded error, else None."""
    if isinstance(value, Mapping) and set(value) == {"error"}:
        error = value["error"]
        return f"{error['type']}: {error['message']}".rstrip(": ")
    return None


_MISSING = object()


def look(facts: Mapping[str, Any], *keys: str) -> Any:
    """The fact at nested keys. A recorded error or null met on the way is the answer."""
    value: Any = facts
    for key in keys:
        if value is None or error_of(value):
            return value
        value = value.get(key, _MISSING) if isinstance(value, Mapping) else _MISSING
    return value


def is_missing(value: Any) -> bool:
    """Whether `look` found no such key."""
    return value is _MISSING


def not_an_answer(value: Any) -> Cell | None:
    """The cell of a fact that is missing, null or an error; None for any other."""
    if value is _MISSING:
        return Cell(State.UNKNOWN)
    if value is None:
        return Cell(State.ABSENT)
    if error := error_of(value):
        return Cell(State.ERROR, detail=error)
    return None
