"""The facts recorded in the tree: comparing with them in words, and recording them anew."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cachetree_report.changes import between
from cachetree_report.choose import unknown_release

SHOWN = 40
"""How many changed paths are listed; the words above them tell the rest."""


def file_name(version: str) -> str:
    """The recorded facts of a release: "transformers_4_51_0.json"."""
    return f"transformers_{version.replace('.', '_')}.json"


def differences(recorded: Any, measured: Any) -> list[str]:
    """What measured facts have that recorded ones have not: in words first, then path by path."""
    changes = between(recorded["facts"], measured["facts"])
    words = [" ".join(part for part in (change.sentence, change.means) if part) for change in changes]
    paths = list(_paths(recorded, measured))
    more = [f"... and {len(paths) - SHOWN} more"] if len(paths) > SHOWN else []
    return words + paths[:SHOWN] + more


def _paths(old: Any, new: Any, at: str = "") -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            was, now = (one.get(key, "(nothing)") for one in (old, new))
            yield from _paths(was, now, f"{at}.{key}" if at else key)
    elif old != new:
        yield f"{at}: recorded {_short(old)}, measured {_short(new)}"


def _short(value: Any) -> str:
    text = value if value == "(nothing)" else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 200 else text[:199] + "…"


def record(files: Sequence[Path], folder: Path, versions: Sequence[str]) -> list[str]:
    """Writes the facts of the releases into `folder`, all of them where `versions` is empty.

    When all are recorded, those of releases that are gone are removed.

    Returns:
        A line for each file that changed.

    Raises:
        ReportError: There are no facts of a release that is named.
    """
    texts = [file.read_text(encoding="utf-8") for file in files]
    measured = {json.loads(text)["transformers"]: text for text in texts}
    for version in versions:
        if version not in measured:
            raise unknown_release(version, list(measured))
    folder.mkdir(exist_ok=True)
    said: list[str] = []
    for version in versions or measured:
        said += _record_one(folder / file_name(version), measured[version])
    return said if versions else said + _remove_stale(folder, {file_name(version) for version in measured})


def _remove_stale(folder: Path, kept: set[str]) -> list[str]:
    said = []
    for stale in sorted(folder.glob("transformers_*.json")):
        if stale.name not in kept:
            stale.unlink()
            said.append(f"{stale.name}: removed, there is no such lock")
    return said


def _record_one(target: Path, text: str) -> list[str]:
    old = target.read_text(encoding="utf-8") if target.exists() else ""
    if old == text:
        return []
    target.write_text(text, encoding="utf-8")
    if not old:
        return [f"{target.name}: new"]
    return [
        f"{target.name}: changed",
        *(f"  {line}" for line in differences(json.loads(old), json.loads(text))),
    ]
