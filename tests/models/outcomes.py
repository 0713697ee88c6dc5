"""What each release's models do when they are exported: as they should, or with a recorded error.

`expected.json` holds the errors, one row for each test and range of releases:

    test       the case, or a pattern for several ("gemma2-*")
    first      the first release with the error
    last       the last one, or null where the newest release still has it
    stage      "absent": the release does not have the model or the cache; "eager": its model cannot take this
               cache even without an export; "export": its code cannot be exported
    exception  the name of the exception's type
    message    a part of its text
    reason     why

A row does not excuse: the error must come, just so, and a case that works in spite of a row fails.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import transformers

FILE = Path(__file__).parent / "expected.json"


class Row(NamedTuple):
    """An error that is expected on a range of releases."""

    test: str
    first: str
    last: str | None
    stage: str
    exception: str
    message: str
    reason: str

    def covers(self, test: str, release: str) -> bool:
        begun = numbers(self.first) <= numbers(release)
        ended = self.last is not None and numbers(self.last) < numbers(release)
        return fnmatch.fnmatch(test, self.test) and begun and not ended

    @property
    def range(self) -> str:
        return f"{self.first} to {self.last}" if self.last else f"since {self.first}"


def numbers(release: str) -> tuple[int, ...]:
    """4.51.0 as (4, 51, 0), so that releases compare in their order."""
    return tuple(int(part) for part in release.split(".")[:3])


def rows() -> list[Row]:
    """All rows, in the order of the file."""
    return [Row(**row) for row in json.loads(FILE.read_text(encoding="utf-8"))]


def expected(test: str, stage: str) -> Row | None:
    """The error that `test` is to meet at `stage` on the installed release, if any."""
    found = [row for row in rows() if row.covers(test, transformers.__version__)]
    assert len(found) < 2, f"{FILE.name}: {len(found)} rows of {test} cover {transformers.__version__}"
    return next((row for row in found if row.stage == stage), None)


@contextmanager
def outcome(test: str, stage: str) -> Iterator[Row | None]:
    """Demands that the block works, or raises exactly what is recorded.

    Yields:
        The row that is expected to come true, or None.
    """
    row = expected(test, stage)
    if row is None:
        yield None
        return
    try:
        yield row
    except Exception as error:
        assert (row.exception, row.message) == (type(error).__name__, _part(str(error), row.message))
    else:
        pytest.fail(
            f"{test} works on transformers {transformers.__version__}.\n"
            f"  expected: {row.exception}: {row.message} ({row.range})\n"
            f"  to do:    narrow or remove that row of {FILE.name}"
        )


def _part(text: str, message: str) -> str:
    """`message` if it is in `text`, else as much of `text` as a reader of the failure needs."""
    flat = " ".join(text.split())
    return message if message in flat else flat[:400]
