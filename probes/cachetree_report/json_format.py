"""The report for programs."""

import json
from typing import Any

from cachetree_report.cells import Cell
from cachetree_report.headline import headline
from cachetree_report.page import Page
from cachetree_report.table import Report, Row, notes

FORMAT_VERSION = 1


def render(report: Report) -> str:
    """Rows as objects; a cell's "state" is one of the words of `cells.State`."""
    return json.dumps(_document(report), indent=2, ensure_ascii=False) + "\n"


def render_page(page: Page) -> str:
    """What a page tells, as data."""
    return json.dumps(page.data, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def _document(report: Report) -> dict[str, Any]:
    return {
        "version": FORMAT_VERSION,
        "class": report.cls,
        "torch": report.torch,
        "headline": headline(report.cls, report.releases),
        "columns": [
            {
                "key": column.key,
                "group": column.group,
                "title": column.title,
                "meaning": column.meaning.format(cls=report.cls),
            }
            for column in report.columns
        ],
        "rows": [_row(report, row) for row in report.rows],
        "yanked": {r.version: r.yanked for r in report.releases if r.yanked is not None},
        "notes": notes(report),
    }


def _row(report: Report, row: Row) -> dict[str, Any]:
    return {
        "releases": [release.version for release in row.releases],
        "cells": {column.key: _cell(cell) for column, cell in zip(report.columns, row.cells, strict=True)},
    }


def _cell(cell: Cell) -> dict[str, str]:
    said = {"state": cell.state.value, "text": cell.text, "detail": cell.detail}
    return {key: value for key, value in said.items() if value}
