"""`python -m cachetree_report --facts FILE...`: the report in the format that is asked for."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cachetree_report import badge, choose, csv_format, html_format, json_format, markdown
from cachetree_report.change_pages import diff_page, history_page
from cachetree_report.explain import explain_page
from cachetree_report.page import Page
from cachetree_report.releases import Release, ReportError, read, read_yanked, with_machines
from cachetree_report.table import Report, build

PAGE_FORMATS: dict[str, Callable[[Page], str]] = {
    "markdown": markdown.render_page,
    "json": json_format.render_page,
}

FORMATS: dict[str, Callable[[Report], str]] = {
    "markdown": markdown.render,
    "json": json_format.render,
    "csv": csv_format.render,
    "html": html_format.render,
    "svg": badge.render,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Returns:
        The exit code: 0; 1 when some releases have no facts; 2 when there is nothing to report.
    """
    options = _parser().parse_args(arguments)
    try:
        releases = _releases(options)
        page = _page(options, releases)
        _show(options, page) if page else _show(options, _report(options, releases))
    except ReportError as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    return 1 if any(release.problem for release in releases) else 0


def _page(options: argparse.Namespace, releases: Sequence[Release]) -> Page | None:
    """The page that was asked for in place of the table."""
    if options.diff:
        return diff_page(*(choose.one_release(version, releases) for version in options.diff))
    if options.explain:
        return explain_page(choose.one_release(options.explain, releases))
    return history_page(releases) if options.changes else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="report", description="What each transformers release does with its KV caches."
    )
    show = parser.add_argument_group("what to show")
    show.add_argument("--class", dest="cls", default="DynamicCache", metavar="NAME", help="the cache class")
    show.add_argument(
        "--columns",
        default="default",
        metavar="NAME,...",
        help="columns, or names of many: a capability (save), a setting (cachetree), all",
    )
    show.add_argument("--versions", metavar="FROM:TO", help="such as 4.50:4.57, 5: or 4.56")
    show.add_argument("--all", action="store_true", help="a row per release, even where they agree")
    pages = show.add_mutually_exclusive_group()
    pages.add_argument("--diff", nargs=2, metavar=("A", "B"), help="what changed between two releases")
    pages.add_argument("--changes", action="store_true", help="what changed at every release")
    pages.add_argument("--explain", metavar="VERSION", help="all about one release")
    how = parser.add_argument_group("how to show it")
    how.add_argument("--format", choices=("table", *FORMATS), default="table")
    how.add_argument("--output", type=Path, metavar="FILE", help="write here, not to stdout")
    facts = parser.add_argument_group("where the facts are (Bazel fills these in)")
    facts.add_argument("--facts", nargs="+", type=Path, required=True, metavar="FILE")
    facts.add_argument("--machine", nargs="*", type=Path, default=[], metavar="FILE", help="what they cost")
    facts.add_argument("--yanked", type=Path, metavar="FILE", help="lines `VERSION REASON`")
    return parser


def _releases(options: argparse.Namespace) -> list[Release]:
    yanked = read_yanked(options.yanked) if options.yanked else {}
    releases = with_machines(read(options.facts, yanked), options.machine)
    if all(release.problem for release in releases):
        raise ReportError("\n".join(str(release.problem) for release in releases))
    return choose.releases_in(options.versions, releases) if options.versions else releases


def _report(options: argparse.Namespace, releases: Sequence[Release]) -> Report:
    cls = choose.class_name(options.cls, releases)
    chosen = choose.columns([name for name in options.columns.split(",") if name], cls, releases)
    return build(cls, chosen, releases, grouped=not options.all)


def _show(options: argparse.Namespace, shown: Report | Page) -> None:
    if options.format == "table":
        _draw(shown, options.output)
        return
    text = _rendered(options.format, shown)
    if options.output:
        _write(options.output, text)
    else:
        sys.stdout.write(text)


def _rendered(form: str, shown: Report | Page) -> str:
    if not isinstance(shown, Page):
        return FORMATS[form](shown)
    if form not in PAGE_FORMATS:
        raise ReportError(f"this is not shown as {form}; use table, {', '.join(PAGE_FORMATS)}")
    return PAGE_FORMATS[form](shown)


def _draw(shown: Report | Page, output: Path | None) -> None:
    from rich.console import Console

    from cachetree_report import terminal

    page = io.StringIO()
    console = Console(file=page, width=80, highlight=False) if output else Console(highlight=False)
    if isinstance(shown, Page):
        terminal.draw_page(shown, console)
    else:
        terminal.draw(shown, console)
    if output:
        _write(output, page.getvalue())


def _write(output: Path, text: str) -> None:
    """Writes where the user stands: `bazel run` starts programs elsewhere."""
    target = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "")) / output
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ReportError(f"{output}: cannot be written: {error.strerror}") from None


if __name__ == "__main__":
    sys.exit(main())
