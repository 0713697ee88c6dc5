"""The report before it is drawn: rows of releases that agree, columns of answers, notes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from cachetree_report.cells import Cell, State
from cachetree_report.columns import Column
from cachetree_report.releases import Release, in_words, span


@dataclass(frozen=True)
class Row:
    """Neighbouring releases that agree in every column, and what they agree on."""

    releases: tuple[Release, ...]
    cells: tuple[Cell, ...]

    @property
    def span(self) -> str:
        """First and last version, with a * when one of the releases was yanked."""
        mark = "*" if any(release.yanked is not None for release in self.releases) else ""
        return span([release.version for release in self.releases]) + mark


@dataclass(frozen=True)
class Report:
    """Everything a format needs."""

    cls: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    releases: tuple[Release, ...]

    @property
    def torch(self) -> str:
        """The torch versions that the facts were measured with."""
        return ", ".join(sorted({r.document["torch"] for r in self.releases if r.document}))

    def states(self) -> set[State]:
        """The kinds of cell that occur."""
        return {cell.state for row in self.rows for cell in row.cells}


def build(cls: str, columns: Sequence[Column], releases: Sequence[Release], grouped: bool = True) -> Report:
    """Answers every column for every release and groups the neighbours that agree."""
    answered = [Row((release,), _cells(cls, columns, release)) for release in releases]
    rows = _group(answered) if grouped else answered
    return Report(cls, tuple(columns), tuple(rows), tuple(releases))


def _cells(cls: str, columns: Sequence[Column], release: Release) -> tuple[Cell, ...]:
    if release.problem:
        return tuple(Cell(State.ERROR, detail=release.problem) for _ in columns)
    return tuple(column.answer(release.document["facts"], cls) for column in columns)


def _group(rows: Sequence[Row]) -> list[Row]:
    return [
        Row(tuple(release for row in same for release in row.releases), same[0].cells)
        for same in (
            list(group) for _, group in groupby(rows, key=lambda row: [cell.agrees_on for cell in row.cells])
        )
    ]


def with_cachetree(report: Report) -> str | None:
    """On which releases all that is shown works with cachetree, in words; None if nothing is shown."""
    shown = [index for index, one in enumerate(report.columns) if one.key.startswith("cachetree.")]
    rows = [row for row in report.rows if any(row.cells[index].state is not State.ABSENT for index in shown)]
    if not shown or not rows:
        return None
    versions = [release.version for row in rows for release in row.releases]
    works = [
        all(row.cells[index].state in (State.YES, State.ABSENT, State.UNKNOWN) for index in shown)
        for row in rows
        for _ in row.releases
    ]
    return f"With cachetree.register(), all that is asked here works {in_words(versions, works)}."


def notes(report: Report) -> list[str]:
    """What the cells cannot say: withdrawn releases, failed probes, unusable files."""
    return [
        *(
            f"* {release.version} was yanked from the index: {release.yanked}"
            for release in report.releases
            if release.yanked is not None
        ),
        *(
            f"! {release.version} has no facts: {release.problem}"
            for release in report.releases
            if release.problem
        ),
        *_failures(report),
    ]


def _failures(report: Report) -> list[str]:
    found: dict[tuple[str, str], list[bool]] = {}
    versions = [release.version for release in report.releases]
    for row in report.rows:
        for column, cell in zip(report.columns, row.cells, strict=True):
            if cell.state is State.ERROR and not row.releases[0].problem:
                chosen = found.setdefault((column.key, cell.detail), [False] * len(versions))
                for release in row.releases:
                    chosen[versions.index(release.version)] = True
    return [
        f"! {column}, {in_words(versions, chosen)}: {detail}" for (column, detail), chosen in found.items()
    ]
