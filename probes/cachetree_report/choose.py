"""Turns the names a user gives into columns, classes and releases; helps with unknown ones."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from textwrap import fill

from cachetree_report.capabilities import CAPABILITIES, SETTINGS
from cachetree_report.cells import State
from cachetree_report.columns import COLUMNS, DEFAULT, Column, classes_of
from cachetree_report.releases import Release, ReportError, order


def unknown(what: str, name: str, names: Iterable[str]) -> ReportError:
    """An error that names the nearest of the names there are, and lists them.

    Names with a dot are made of two others, so the list leaves them out.
    """
    folded = {each.lower(): each for each in names}
    near = get_close_matches(name.lower(), list(folded), n=1, cutoff=0.5)
    listed = [each for each in folded.values() if "." not in each]
    return _unknown(what, name, listed, folded[near[0]] if near else None)


def unknown_release(asked: str, versions: Sequence[str]) -> ReportError:
    """The same for releases, where the nearest is the nearest in number."""
    wanted = _numbers(asked)
    near = min(versions, key=lambda one: [abs(a - b) for a, b in zip(_numbers(one), wanted, strict=True)])
    return _unknown("release", asked, versions, near if any(wanted) else None)


def _unknown(what: str, name: str, every: Sequence[str], near: str | None) -> ReportError:
    hint = f" Did you mean {near}?" if near else ""
    there_are = fill(", ".join(every), 78, initial_indent="  ", subsequent_indent="  ")
    return ReportError(f"no {what} is called {name}.{hint}\nThere are:\n{there_are}")


def _numbers(version: str) -> list[int]:
    return [int(part) for part in (*re.findall(r"\d+", version), "0", "0", "0")[:3]]


def column_names() -> dict[str, tuple[str, ...]]:
    """What `--columns` takes, and the columns that each name stands for."""
    names: dict[str, tuple[str, ...]] = {column.key: (column.key,) for column in COLUMNS}
    for ability in CAPABILITIES:
        names[ability.key] = tuple(f"{setting.key}.{ability.key}" for setting in SETTINGS)
    for setting in SETTINGS:
        names[setting.key] = tuple(f"{setting.key}.{ability.key}" for ability in CAPABILITIES)
    names["default"] = DEFAULT
    names["all"] = tuple(column.key for column in COLUMNS)
    return names


def columns(asked: Sequence[str], cls: str, releases: Sequence[Release]) -> list[Column]:
    """The columns of the names, in the report's order, each once.

    A name of many columns leaves out those that no release answers for this class.

    Raises:
        ReportError: A name stands for nothing.
    """
    names = column_names()
    for name in asked:
        if name not in names:
            hint = "A way of registering and a capability make one too, such as cachetree.save."
            raise ReportError(f"{unknown('column', name, names)}\n{hint}")
    wanted = {key for name in asked for key in names[name]}
    there = {column.key for column in answered(cls, COLUMNS, releases)} | set(asked)
    return [column for column in COLUMNS if column.key in wanted & there]


def answered(cls: str, chosen: Sequence[Column], releases: Sequence[Release]) -> list[Column]:
    """The columns that some release answers for this class."""
    empty = (State.UNKNOWN, State.ABSENT)
    facts = [release.document["facts"] for release in releases if release.document]
    return [column for column in chosen if any(column.answer(one, cls).state not in empty for one in facts)]


def class_name(asked: str, releases: Sequence[Release]) -> str:
    """The class, checked against those that some release has.

    Raises:
        ReportError: No release has it.
    """
    names = sorted({name for one in releases if one.document for name in classes_of(one.document["facts"])})
    if names and asked not in names:
        raise unknown("cache class", asked, names)
    return asked


def releases_in(asked: str, releases: Sequence[Release]) -> list[Release]:
    """The releases of a range "4.50:4.57", open at either end, or of one version or prefix.

    An end takes in whole minor versions: "4.50:4.57" ends with the last 4.57.

    Raises:
        ReportError: Nothing lies in the range.
    """
    start, colon, end = asked.partition(":")
    if not colon:
        end = start
    chosen = [
        release
        for release in releases
        if (not start or order(release.version) >= order(start) or _is_in(release.version, start))
        and (not end or order(release.version) <= order(end) or _is_in(release.version, end))
    ]
    if not chosen:
        raise unknown_release(asked, [release.version for release in releases])
    return chosen


def one_release(asked: str, releases: Sequence[Release]) -> Release:
    """The release of exactly this version.

    Raises:
        ReportError: It is not among the releases, or has no facts.
    """
    found = [release for release in releases if release.version == asked]
    if not found:
        raise unknown_release(asked, [release.version for release in releases])
    if found[0].problem:
        raise ReportError(f"transformers {asked} has no facts: {found[0].problem}")
    return found[0]


def _is_in(version: str, prefix: str) -> bool:
    return version == prefix or version.startswith(prefix + ".")
