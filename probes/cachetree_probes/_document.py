"""The facts document: its version and its text."""

import json
from typing import Any, TypeAlias

Json: TypeAlias = Any

SCHEMA_VERSION = 1
"""Raised when a key of the document is renamed or removed; new keys do not raise it."""

MAX_WIDTH = 100


def dumps(document: Json) -> str:
    """The document as text: sorted keys, one line for what fits on one, a newline at the end.

    The same facts always give the same text, and a changed fact changes few lines.
    """
    return _text(document, "") + "\n"


def _text(value: Json, indent: str) -> str:
    short = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or len(indent) + len(short) <= MAX_WIDTH:
        return short
    deeper = indent + "  "
    if isinstance(value, list):
        items = [_text(item, deeper) for item in value]
        opening, closing = "[", "]"
    else:
        keys = sorted(value)
        items = [f"{json.dumps(key)}: {_text(value[key], deeper)}" for key in keys]
        opening, closing = "{", "}"
    inside = ",\n".join(deeper + item for item in items)
    return f"{opening}\n{inside}\n{indent}{closing}"
