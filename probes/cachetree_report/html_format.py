"""The report as one self-contained HTML file: a heat map of releases against capabilities."""

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from cachetree_report.capabilities import CAPABILITIES
from cachetree_report.cells import MEANINGS, SYMBOLS, Cell, State
from cachetree_report.changes import history
from cachetree_report.columns import COLUMNS, Column, classes_of
from cachetree_report.headline import headline, on_the_public_table
from cachetree_report.releases import Release
from cachetree_report.table import Report
from cachetree_report.watchers import CLASSES

HERE = Path(__file__).parent
LETTERS = {state: state.value[0] if state is not State.ABSENT else "-" for state in State}
"""One letter per cell: y, n, -, e, t, u."""


def render(report: Report) -> str:
    """The file's text. It opens on the report's class and columns, and holds all the others."""
    from jinja2 import Environment

    template = Environment(autoescape=True).from_string(_read("page.html.j2"))
    return template.render(
        title="KV caches of transformers, release by release",
        headline=headline(report.cls, report.releases),
        public_table=_with_code(on_the_public_table(report.releases) or ""),
        style=_read("page.css"),
        script=_read("page.js"),
        data=_embedded(_data(report)),
        torch=report.torch,
        count=len(report.releases),
    )


def _with_code(text: str) -> str:
    """HTML of a text in which `backticks` mark code."""
    return re.sub(r"`(.+?)`", r"<code>\1</code>", escape(text, quote=False))


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _embedded(data: Any) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _data(report: Report) -> dict[str, Any]:
    details: dict[str, int] = {}
    names = class_names(report.releases)
    return {
        "releases": [
            {"version": one.version, "yanked": one.yanked, "problem": one.problem} for one in report.releases
        ],
        "columns": [_column(column) for column in COLUMNS],
        "shown": [column.key for column in report.columns],
        "class": report.cls,
        "headlines": {name: headline(name, report.releases) for name in names},
        "cells": {name: _cells(name, report.releases, details) for name in names},
        "details": list(details),
        "symbols": {LETTERS[state]: symbol for state, symbol in SYMBOLS.items()},
        "meanings": {LETTERS[state]: meaning for state, meaning in MEANINGS.items()},
        "changes": _changes(report.releases),
    }


def class_names(releases: Sequence[Release]) -> list[str]:
    """Every class that some release has; those whose behaviour is measured first."""
    every = {name for one in releases if one.document for name in classes_of(one.document["facts"])}
    return [name for name in CLASSES if name in every] + sorted(every - set(CLASSES))


def _column(column: Column) -> dict[str, str]:
    ability = column.key.partition(".")[2]
    is_ability = ability in {one.key for one in CAPABILITIES}
    return {
        "key": column.key,
        "group": column.group,
        "title": column.title,
        "meaning": column.meaning,
        "ability": ability if is_ability else "",
    }


def _cells(name: str, releases: Sequence[Release], details: dict[str, int]) -> dict[str, Any]:
    """Column key to [a letter per release, and the number of each release's detail or -1]."""
    found: dict[str, Any] = {}
    for column in COLUMNS:
        cells = [_cell(column, name, release) for release in releases]
        if all(cell.state in (State.UNKNOWN, State.ABSENT) for cell in cells):
            continue
        notes = [cell.text or cell.detail for cell in cells]
        numbers = [details.setdefault(note, len(details)) if note else -1 for note in notes]
        found[column.key] = ["".join(LETTERS[cell.state] for cell in cells), numbers]
    return found


def _cell(column: Column, name: str, release: Release) -> Cell:
    if release.problem:
        return Cell(State.ERROR, detail=release.problem)
    return column.answer(release.document["facts"], name)


def _changes(releases: Sequence[Release]) -> dict[str, list[list[str]]]:
    """Release to what changed with it: sentence and meaning."""
    return {
        newer.version: [[change.sentence, change.means] for change in changes]
        for _, newer, changes in history(releases)
    }
