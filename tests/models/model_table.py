"""Writes the tables in README.md from expected.json: `python tests/models/model_table.py`."""

from __future__ import annotations

import fnmatch
from pathlib import Path

from outcomes import Row, numbers, rows

README = Path(__file__).parent / "README.md"
BEGIN = "<!-- model_table.py writes what follows -->\n"
END = "<!-- to here -->\n"

_FIRST = "4.36.0"
_STAGES = {
    "absent": "not there",
    "eager": "cannot, even in eager",
    "export": "cannot be exported",
}


def works(name: str) -> str:
    """On which releases a case works: those that no row covers."""
    spans: list[str] = []
    after: str | None = None
    for first, last in _blocked(name):
        if first != _FIRST:
            spans.append(f"{f'after {after}, ' if after else ''}before {first}")
        if last is None:
            return "; ".join(spans) or "nowhere"
        after = last
    return "; ".join([*spans, f"after {after}" if after else "everywhere"])


def _blocked(name: str) -> list[tuple[str, str | None]]:
    """Ranges of the rows of a case, in order, joined where one minor release follows the other."""
    mine = sorted(
        (row for row in rows() if fnmatch.fnmatch(name, row.test)), key=lambda row: numbers(row.first)
    )
    ranges: list[tuple[str, str | None]] = []
    for row in mine:
        begun, ended = ranges[-1] if ranges else (None, None)
        if begun and ended and _is_next_minor(ended, row.first):
            ranges[-1] = (begun, row.last)
        else:
            ranges.append((row.first, row.last))
    return ranges


def _is_next_minor(last: str, first: str) -> bool:
    major, minor, _ = numbers(last)
    return numbers(first) == (major, minor + 1, 0)


def tables(names: list[str]) -> str:
    """Where each case works, then the rows of expected.json, as Markdown."""
    where = "".join(f"| `{name}` | {works(name)} |\n" for name in names)
    why = "".join(_line(row) for row in rows())
    return (
        f"| case | works |\n| --- | --- |\n{where}\n"
        f"| case | releases | what happens | why |\n| --- | --- | --- | --- |\n{why}"
    )


def _line(row: Row) -> str:
    error = f"{row.exception}: {row.message}".replace("|", r"\|")
    return f"| `{row.test}` | {row.range} | {_STAGES[row.stage]}: `{error}` | {row.reason} |\n"


def written(text: str, names: list[str]) -> str:
    """`text` of the README with the tables as they should be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + tables(names) + END + after


if __name__ == "__main__":
    from model_expected_test import NAMES

    README.write_text(written(README.read_text(encoding="utf-8"), NAMES), encoding="utf-8")
