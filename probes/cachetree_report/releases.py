"""Reads facts files, puts releases in order, and names ranges of them."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

SCHEMA_VERSION = 1
NO_REASON = "<none given>"
"""What pip says of a release that was yanked without a reason."""

_IN_FILE_NAME = re.compile(r"transformers_(\d+)_(\d+)_(\w+?)(?:\.\w+)?$")


class ReportError(Exception):
    """Something the user has to put right. Its text says what was found and what to do."""


@dataclass(frozen=True)
class Release:
    """What is known of one release.

    Attributes:
        version: Such as "4.51.0".
        document: Its facts document; empty when the file could not be used.
        yanked: Why the index withdrew it; None if it did not.
        problem: Why there are no facts; None if there are.
    """

    version: str
    document: dict[str, Any]
    yanked: str | None = None
    problem: str | None = None


def order(version: str) -> tuple[tuple[int, str], ...]:
    """A sort key: 4.9.0 before 4.36.0, 5.0.0rc1 before 5.0.0."""
    parts = re.findall(r"\d+|[a-z]+", version)
    return (*((int(part), "") if part.isdigit() else (-1, part) for part in parts), (0, ""))


def minor(version: str) -> str:
    """The release's minor version: "4.51" for "4.51.0"."""
    return ".".join(version.split(".")[:2])


def read(files: Iterable[Path], yanked: dict[str, str]) -> list[Release]:
    """The releases that the files speak of, in order of release.

    A file that is missing or broken gives a release with a `problem`.

    Raises:
        ReportError: No file was given, two files speak of one release, or a broken file's name does
            not even tell which release it was for.
    """
    releases: dict[str, Release] = {}
    source: dict[str, Path] = {}
    for file in files:
        release = _read_one(file, yanked)
        if release.version in source:
            raise ReportError(
                f"both {source[release.version]} and {file} hold facts of transformers"
                f" {release.version}; give one of them"
            )
        releases[release.version] = release
        source[release.version] = file
    if not releases:
        raise ReportError("no facts files; give some with --facts FILE...")
    return [releases[version] for version in sorted(releases, key=order)]


def with_machines(releases: Iterable[Release], files: Iterable[Path]) -> list[Release]:
    """The releases, with "machine" from files `NAME.machine.json` that stand beside facts.

    Raises:
        ReportError: A file cannot be read.
    """
    machines = {}
    for file in files:
        match = _IN_FILE_NAME.search(file.name.removesuffix(".machine.json"))
        try:
            machines[".".join(match.groups()) if match else ""] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ReportError(f"{file}: cannot be read: {error}") from None
    return [
        replace(one, document={**one.document, "machine": machines[one.version]})
        if one.document and one.version in machines
        else one
        for one in releases
    ]


def _read_one(file: Path, yanked: dict[str, str]) -> Release:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        version = _check(document)
    except OSError as error:
        return _without_facts(file, f"cannot be read: {error.strerror}", yanked)
    except (ValueError, KeyError) as error:
        return _without_facts(file, f"is not a facts file: {error}", yanked)
    return Release(version, document, yanked.get(version))


def _check(document: Any) -> str:
    if not isinstance(document, dict) or not isinstance(document.get("facts"), dict):
        raise ValueError('expected an object with "facts"')
    if document.get("schema") != SCHEMA_VERSION:
        raise ValueError(
            f'expected "schema": {SCHEMA_VERSION}, found {document.get("schema")!r};'
            " make it anew with python -m cachetree_probes"
        )
    if not isinstance(document.get("transformers"), str):
        raise ValueError('expected "transformers" to be a version')
    return document["transformers"]


def _without_facts(file: Path, reason: str, yanked: dict[str, str]) -> Release:
    match = _IN_FILE_NAME.search(file.stem)
    if not match:
        raise ReportError(f"{file}: {reason}")
    version = ".".join(match.groups())
    return Release(version, {}, yanked.get(version), f"{file.name}: {reason}")


def read_yanked(file: Path) -> dict[str, str]:
    """Version to reason, from lines `VERSION REASON`; `#` starts a comment.

    Raises:
        ReportError: The file cannot be read, or a line has no version.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ReportError(f"{file}: cannot be read: {error.strerror}") from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        text = line.split("#", 1)[0].strip()
        if not text:
            continue
        version, _, reason = text.partition(" ")
        if not re.fullmatch(r"\d+(\.\w+)+", version):
            raise ReportError(f"{file}, line {number}: expected a version and a reason, found {text!r}")
        found[version] = "no reason given" if reason.strip() in ("", NO_REASON) else reason.strip()
    return found


def span(versions: Sequence[str]) -> str:
    """First and last version, or one version alone."""
    return versions[0] if len(versions) == 1 else f"{versions[0]} \N{EN DASH} {versions[-1]}"


def runs(versions: Sequence[str], chosen: Sequence[bool]) -> list[tuple[int, int]]:
    """First and last index of each unbroken run of chosen releases."""
    found: list[tuple[int, int]] = []
    for index, is_chosen in enumerate(chosen[: len(versions)]):
        if not is_chosen:
            continue
        if found and found[-1][1] == index - 1:
            found[-1] = (found[-1][0], index)
        else:
            found.append((index, index))
    return found


def in_words(versions: Sequence[str], chosen: Sequence[bool]) -> str:
    """Names the chosen releases: "on 4.36 to 4.49 and from 4.56 on".

    A run is named by minor versions where it holds whole ones, else by exact versions. "from
    ... on" is for a run that reaches the newest measured release.
    """
    found = runs(versions, chosen)
    if not found:
        return "on no release"
    if found == [(0, len(versions) - 1)]:
        return "on every release"
    words = _join([_run_in_words(versions, chosen, first, last) for first, last in found])
    return words if words.startswith("from") else f"on {words}"


def _run_in_words(versions: Sequence[str], chosen: Sequence[bool], first: int, last: int) -> str:
    whole = {minor(v) for v in versions} - {
        minor(v) for v, is_chosen in zip(versions, chosen, strict=True) if not is_chosen
    }
    start, end = (
        minor(versions[index]) if minor(versions[index]) in whole else versions[index]
        for index in (first, last)
    )
    if last == len(versions) - 1:
        return f"from {start} on"
    return start if start == end else f"{start} to {end}"


def _join(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
