"""The report in the README, between two markers."""

from cachetree_report import markdown, terminal
from cachetree_report.headline import on_the_public_table
from cachetree_report.releases import ReportError
from cachetree_report.table import Report, notes

BEGIN = "<!-- report -->"
END = "<!-- /report -->"


def with_report(text: str, report: Report) -> str:
    """The README's text with this report between its markers.

    Raises:
        ReportError: A marker is missing, twice there, or they stand in the wrong order.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ReportError(f"README.md: expected one line {BEGIN} and after it one line {END}")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{section(report)}\n{END}{rest.split(END)[1]}"


def section(report: Report) -> str:
    """Headline, the terminal's table with its legend, and remarks: what a README has room for."""
    parts = [
        markdown.summary(report),
        f"```text\n{terminal.plain_table(report)}```",
        "\n".join(f"- {markdown.escape(note)}" for note in notes(report)),
        on_the_public_table(report.releases) or "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
