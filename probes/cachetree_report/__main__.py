"""`python -m cachetree_report --facts FILE...`: the report in the format that is asked for."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cachetree_report import choose, csv_format, json_format, markdown
from cachetree_report.releases import Release, ReportError, read, read_yanked
from cachetree_report.table import Report, build

FORMATS: dict[str, Callable[[Report], str]] = {
    "markdown": markdown.render,
    "json": json_format.render,
    "csv": csv_format.render,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Returns:
        The exit code: 0; 1 when some releases have no facts; 2 when there is nothing to report.
    """
    options = _parser().parse_args(arguments)
    try:
        releases = _releases(options)
        _show(_report(options, releases), options)
    except ReportError as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    return 1 if any(release.problem for release in releases) else 0


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
    how = parser.add_argument_group("how to show it")
    how.add_argument("--format", choices=("table", *FORMATS), default="table")
    how.add_argument("--output", type=Path, metavar="FILE", help="write here, not to stdout")
    facts = parser.add_argument_group("where the facts are (Bazel fills these in)")
    facts.add_argument("--facts", nargs="+", type=Path, required=True, metavar="FILE")
    facts.add_argument("--yanked", type=Path, metavar="FILE", help="lines `VERSION REASON`")
    return parser


def _releases(options: argparse.Namespace) -> list[Release]:
    yanked = read_yanked(options.yanked) if options.yanked else {}
    releases = read(options.facts, yanked)
    if all(release.problem for release in releases):
        raise ReportError("\n".join(str(release.problem) for release in releases))
    return choose.releases_in(options.versions, releases) if options.versions else releases


def _report(options: argparse.Namespace, releases: Sequence[Release]) -> Report:
    cls = choose.class_name(options.cls, releases)
    chosen = choose.columns([name for name in options.columns.split(",") if name])
    if options.columns == "default" and options.cls != "DynamicCache":
        chosen = choose.answered(cls, chosen, releases)
    return build(cls, chosen, releases, grouped=not options.all)


def _show(report: Report, options: argparse.Namespace) -> None:
    if options.format == "table":
        _draw(report, options.output)
    elif options.output:
        _write(options.output, FORMATS[options.format](report))
    else:
        sys.stdout.write(FORMATS[options.format](report))


def _draw(report: Report, output: Path | None) -> None:
    from rich.console import Console

    from cachetree_report import terminal

    if output is None:
        terminal.draw(report, Console(highlight=False))
        return
    page = io.StringIO()
    terminal.draw(report, Console(file=page, width=80, highlight=False))
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
