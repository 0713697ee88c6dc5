"""The report as comma-separated values: one line per release, never grouped."""

import csv
import io

from cachetree_report.cells import Cell, State
from cachetree_report.table import Report


def render(report: Report) -> str:
    """A header of column keys, then a line per release; words, not symbols."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(["transformers", "yanked", *(column.key for column in report.columns)])
    for row in report.rows:
        for release in row.releases:
            yanked = "yes" if release.yanked is not None else "no"
            writer.writerow([release.version, yanked, *(_word(cell) for cell in row.cells)])
    return page.getvalue()


def _word(cell: Cell) -> str:
    return cell.text if cell.state is State.TEXT else cell.state.value
