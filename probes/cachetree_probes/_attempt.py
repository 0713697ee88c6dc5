"""Tries something a user would do: it works, or it fails in a way worth recording."""

from collections.abc import Callable

from cachetree_probes._document import Json
from cachetree_probes._errors import Absent, first_line


class Wrong(Exception):
    """It ran, but gave something else than it should."""


def attempt(action: Callable[[], None]) -> Json:
    """True if `action` returns; `{"fails": "TYPE: FIRST LINE"}` if it raises; None if `Absent`."""
    try:
        action()
    except Absent:
        return None
    except Exception as error:
        return {"fails": first_line(f"{type(error).__name__}: {error}")}
    return True
