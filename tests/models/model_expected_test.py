"""Each row of expected.json names cases that exist, no two rows speak of the same, the README tells them."""

from __future__ import annotations

import fnmatch
from itertools import combinations

import model_export_test
import model_program_test
from model_table import README, written
from outcomes import Row, numbers, rows

NAMES = [*model_export_test.CASES, model_program_test.OWN_MASKS]


def test_rows_name_cases() -> None:
    assert [row.test for row in rows() if not fnmatch.filter(NAMES, row.test)] == []


def test_rows_do_not_overlap() -> None:
    assert [(a, b) for a, b in combinations(rows(), 2) if _meet(a, b)] == []


def _meet(a: Row, b: Row) -> bool:
    shared = set(fnmatch.filter(NAMES, a.test)) & set(fnmatch.filter(NAMES, b.test))
    first, last = max(numbers(a.first), numbers(b.first)), [numbers(row.last) for row in (a, b) if row.last]
    return bool(shared) and all(first <= end for end in last)


def test_stages_are_known() -> None:
    assert {row.stage for row in rows()} <= {"absent", "eager", "export"}


def test_readme_tells_them() -> None:
    text = README.read_text(encoding="utf-8")
    assert written(text, NAMES) == text, (
        "README.md is behind expected.json: run `python tests/models/model_table.py`"
    )
