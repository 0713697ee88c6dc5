"""The report as GitHub-flavoured markdown."""

from collections.abc import Sequence

from cachetree_report.cells import MEANINGS, SYMBOLS, State
from cachetree_report.headline import headline, on_the_public_table
from cachetree_report.page import Bullets, Code, Grid, Page, Prose
from cachetree_report.table import Report, notes, with_cachetree


def render(report: Report) -> str:
    """The whole report: headline, table, legend, notes."""
    lines = [
        summary(report),
        "",
        *table(report),
        "",
        legend(report),
        "",
        *(f"- `{column.key}`: {column.meaning.format(cls=report.cls)}" for column in report.columns),
        *_paragraph(on_the_public_table(report.releases)),
        *(["", *(f"- {escape(note)}" for note in notes(report))] if notes(report) else []),
    ]
    return "\n".join(lines) + "\n"


def summary(report: Report) -> str:
    """The headline in bold, and what cachetree does about it."""
    promise = with_cachetree(report)
    return f"**{headline(report.cls, report.releases)}**" + (f" {promise}" if promise else "")


def render_page(page: Page) -> str:
    """A page of prose, lists, code and grids."""
    lines = [f"# {page.title}"]
    for section in page.sections:
        if section.title:
            lines += ["", f"## {section.title}"]
        for block in section.blocks:
            lines += ["", *_block(block)]
    return "\n".join(lines) + "\n"


def _block(block: Prose | Bullets | Code | Grid) -> list[str]:
    match block:
        case Prose(text):
            return [escape(text)]
        case Code(text):
            return ["```python", *text.splitlines(), "```"]
        case Bullets(items):
            return [f"- {escape(what)}" + (f" *{escape(means)}*" if means else "") for what, means in items]
        case Grid(titles, rows):
            lines = [["", *titles], *([name, *(cell.symbol for cell in cells)] for name, cells in rows)]
            return _aligned(lines, ["-"] + [":-:"] * len(titles))


def table(report: Report) -> list[str]:
    """The table's lines, padded so that the text reads as a table too."""
    heads = [f"{column.group}: {column.title}" for column in report.columns]
    lines = [["transformers", *heads]]
    for row in report.rows:
        lines.append([row.span.replace("*", "\\*"), *(escape(cell.symbol) for cell in row.cells)])
    return _aligned(lines, ["-", *(_rule(report, index) for index in range(len(heads)))])


def legend(report: Report) -> str:
    """The symbols that occur, with their meaning."""
    occurring = report.states()
    return " · ".join(
        f"{symbol} {MEANINGS[state]}" for state, symbol in SYMBOLS.items() if state in occurring
    )


def _rule(report: Report, index: int) -> str:
    return "-" if any(row.cells[index].state is State.TEXT for row in report.rows) else ":-:"


def _aligned(lines: Sequence[Sequence[str]], rules: Sequence[str]) -> list[str]:
    widths = [max(3, *(len(line[index]) for line in lines)) for index in range(len(rules))]
    rule = [
        each.replace("-", "-" * (width - len(each) + 1)) for each, width in zip(rules, widths, strict=True)
    ]
    return [_line(line, widths) for line in (lines[0], rule, *lines[1:])]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"


def escape(text: str) -> str:
    """The text with nothing in it that markdown would take for its own."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def _paragraph(text: str | None) -> list[str]:
    return ["", text] if text else []
