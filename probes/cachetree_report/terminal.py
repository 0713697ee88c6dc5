"""The report in a terminal: colour where there is some, readable where there is none."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cachetree_report.cells import MEANINGS, SYMBOLS, Cell, State
from cachetree_report.columns import Column
from cachetree_report.headline import headline, on_the_public_table
from cachetree_report.page import Bullets, Code, Grid, Page, Prose
from cachetree_report.table import Report, notes, with_cachetree

GAP = 2
STYLES = {
    State.YES: "bold green",
    State.NO: "bold red",
    State.ABSENT: "dim",
    State.ERROR: "bold yellow",
    State.UNKNOWN: "bold yellow",
    State.TEXT: "default",
}


def draw(report: Report, console: Console) -> None:
    """Prints the report, in as many tables as the width needs, without blanks at the line ends."""
    without_blank_ends(console, lambda: _draw(report, console))


def without_blank_ends(console: Console, draws: Callable[[], None]) -> None:
    """Prints what `draws` prints, so that it can be pasted anywhere."""
    with console.capture() as page:
        draws()
    console.file.write(re.sub(r" +((?:\x1b\[[\d;]*m)*)\n", r"\1\n", page.get()))


def _draw(report: Report, console: Console) -> None:
    console.print(Padding(Text(headline(report.cls, report.releases), style="bold"), (0, 1)))
    if promise := with_cachetree(report):
        console.print(Padding(Text(promise), (0, 1)))
    for table in tables(report, console.width):
        console.print()
        console.print(table)
    for paragraph in _below(report):
        console.print()
        console.print(Padding(paragraph, (0, 1)))


def plain_table(report: Report) -> str:
    """Table, legend and what the columns mean, as text of 80 columns without colour."""
    page = io.StringIO()
    console = Console(file=page, width=80, highlight=False, color_system=None)
    parts = [*tables(report, 80), *(Padding(one, (0, 1)) for one in _legends(report))]

    def draws() -> None:
        for index, part in enumerate(parts):
            if index:
                console.print()
            console.print(part)

    without_blank_ends(console, draws)
    return page.getvalue()


def tables(report: Report, width: int) -> list[RenderableType]:
    """The report's rows, in as many tables as the width needs."""
    return [_table(report, groups) for groups in _pages(report, width)]


def draw_page(page: Page, console: Console) -> None:
    """Prints a page of prose, lists, code and grids."""
    without_blank_ends(console, lambda: _draw_page(page, console))


def _draw_page(page: Page, console: Console) -> None:
    console.print(Padding(Text(page.title, style="bold"), (0, 1)))
    for section in page.sections:
        console.print()
        if section.title:
            console.print(Padding(Text(section.title, style="bold cyan"), (0, 1)))
        for block in section.blocks:
            console.print(Padding(_block(block), (0, 1, 0, 3)))


def _block(block: Prose | Bullets | Code | Grid) -> RenderableType:
    match block:
        case Prose(text):
            return Text(text)
        case Code(text):
            return Padding(Text(text, style="cyan"), (1, 0, 1, 1))
        case Bullets(items):
            return _bullets(items)
        case Grid(titles, rows):
            return _grid(titles, rows)


def _bullets(items: Sequence[tuple[str, str]]) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    for what, means in items:
        grid.add_row("•", Text(what))
        if means:
            grid.add_row("", Text(means, style="italic dim"))
    return grid


def _grid(titles: Sequence[str], rows: Sequence[tuple[str, Sequence[Cell]]]) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="not bold")
    table.add_column("", overflow="fold")
    for title in titles:
        table.add_column(title, justify="center", no_wrap=True)
    for name, cells in rows:
        table.add_row(Text(name), *(Text(cell.symbol, style=STYLES[cell.state]) for cell in cells))
    return table


class _Group:
    """Neighbouring columns under one heading, drawn as one strip."""

    def __init__(self, report: Report, indices: Sequence[int]) -> None:
        self.indices = indices
        self.columns = [report.columns[index] for index in indices]
        self.widths = [
            max(len(column.title), *(len(row.cells[index].symbol) for row in report.rows))
            for column, index in zip(self.columns, indices, strict=True)
        ]
        self.width = max(len(self.columns[0].group), sum(self.widths) + len(indices) - 1)

    def heading(self) -> Text:
        titles = [c.title.center(w) for c, w in zip(self.columns, self.widths, strict=True)]
        return Text(f"{self.columns[0].group}\n").append(" ".join(titles), style="not bold")

    def strip(self, cells: Sequence[Cell]) -> Text:
        parts = (
            Text(_place(cells[index], width), style=STYLES[cells[index].state])
            for index, width in zip(self.indices, self.widths, strict=True)
        )
        return Text(" ").join(parts)


def _place(cell: Cell, width: int) -> str:
    return cell.text.ljust(width) if cell.state is State.TEXT else cell.symbol.center(width)


def _pages(report: Report, width: int) -> Iterator[list[_Group]]:
    """The column groups, as many on a page as fit the width beside the releases."""
    room = width - 1 - max(len("transformers"), *(len(row.span) for row in report.rows))
    page: list[_Group] = []
    by_group = groupby(range(len(report.columns)), key=lambda index: report.columns[index].group)
    for group in (_Group(report, list(indices)) for _, indices in by_group):
        if page and sum(one.width + GAP for one in [*page, group]) > room:
            yield page
            page = []
        page.append(group)
    yield page


def _table(report: Report, groups: Sequence[_Group]) -> RenderableType:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, GAP, 0, 0))
    table.add_column(Text("\ntransformers", style="bold"), no_wrap=True)
    for group in groups:
        table.add_column(group.heading(), no_wrap=True)
    widest = max(len("transformers"), *(len(row.span) for row in report.rows))
    table.add_row(*(Text("─" * width, style="dim") for width in (widest, *(g.width for g in groups))))
    for row in report.rows:
        table.add_row(Text(row.span), *(group.strip(row.cells) for group in groups))
    return Padding(table, (0, 0, 0, 1))


def _below(report: Report) -> Iterator[RenderableType]:
    yield from _legends(report)
    if report.cls == "DynamicCache" and (line := on_the_public_table(report.releases)):
        yield Text(line)
    if remarks := notes(report):
        yield Text("\n".join(remarks))


def _legends(report: Report) -> Iterator[RenderableType]:
    yield _legend(report)
    yield _meanings(report.cls, report.columns)


def _legend(report: Report) -> Text:
    occurring = report.states()
    return Text("   ").join(
        Text(symbol, style=STYLES[state]).append(f" {MEANINGS[state]}", style="default not bold")
        for state, symbol in SYMBOLS.items()
        if state in occurring
    )


def _meanings(cls: str, columns: Sequence[Column]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    for title, meaning in dict.fromkeys((column.title, column.meaning) for column in columns):
        grid.add_row(Text(title, style="bold"), meaning.format(cls=cls))
    return grid
