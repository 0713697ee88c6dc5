"""A page of prose, lists, code and small grids, before it is drawn in a terminal or as markdown."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cachetree_report.cells import Cell


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """Sentences, each with a remark that may be empty."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Lines of Python."""

    text: str


@dataclass(frozen=True)
class Grid:
    """Rows of cells under titles; the first column names the row."""

    titles: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: Sequence[Prose | Bullets | Code | Grid]


@dataclass(frozen=True)
class Page:
    """A whole page.

    Attributes:
        title: The sentence on top.
        sections: The rest.
        data: The same for programs.
    """

    title: str
    sections: Sequence[Section]
    data: Any = field(default=None)
