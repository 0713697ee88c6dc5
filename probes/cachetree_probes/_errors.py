"""Turns an exception into a fact: its type and the first line of its message."""

import re
import sys

from cachetree_probes._document import Json

MAX_LENGTH = 160


class Absent(Exception):
    """The release does not have the thing a probe asks about. Recorded as null."""


def as_fact(error: BaseException) -> Json:
    """`{"error": {"type": ..., "message": ...}}`, the same on every machine."""
    return error_fact(type(error).__name__, str(error))


def error_fact(kind: str, message: str) -> Json:
    return {"error": {"type": kind, "message": first_line(message)}}


def first_line(message: str) -> str:
    """The first line that says something, without paths and addresses of this machine."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    line = lines[0] if lines else ""
    for prefix in {sys.prefix, sys.base_prefix}:
        line = line.replace(prefix, "…")
    line = re.sub(r"(/[\w.+~@-]+)+/(?=site-packages/)", "…/", line)
    line = re.sub(r"0x[0-9a-f]{6,}", "0x…", line)
    return line if len(line) <= MAX_LENGTH else line[: MAX_LENGTH - 1] + "…"
