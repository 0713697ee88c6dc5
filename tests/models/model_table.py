"""Writes the table in README.md from expected.json: `python tests/models/model_table.py`."""

from __future__ import annotations

from pathlib import Path

from outcomes import Row, rows

README = Path(__file__).parent / "README.md"
BEGIN = "<!-- model_table.py writes what follows -->\n"
END = "<!-- to here -->\n"

_STAGES = {
    "absent": "not there",
    "eager": "cannot, even in eager",
    "export": "cannot be exported",
}


def table() -> str:
    """The rows of expected.json as a Markdown table, in their order."""
    head = "| case | releases | what happens | why |\n| --- | --- | --- | --- |\n"
    return head + "".join(_line(row) for row in rows())


def _line(row: Row) -> str:
    error = f"{row.exception}: {row.message}".replace("|", r"\|")
    return f"| `{row.test}` | {row.range} | {_STAGES[row.stage]}: `{error}` | {row.reason} |\n"


def written(text: str) -> str:
    """`text` of the README with the table as it should be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + table() + END + after


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
