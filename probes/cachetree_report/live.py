"""The report while Bazel is still measuring: rows appear as their facts come."""

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlparse

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.text import Text

from cachetree_report import choose, terminal
from cachetree_report.releases import Release, read
from cachetree_report.table import Report, build

PAUSE = 0.5
Yanked: TypeAlias = dict[str, str]


def watch(command: Sequence[str], events: Path, expected: int, yanked: Yanked, console: Console) -> int:
    """Runs a `bazel build` of facts and draws the report from what is there, until it ends.

    Args:
        command: The build, which writes its build events as JSON lines into `events`.
        events: A file that does not exist yet.
        expected: How many releases there will be.
        yanked: Version to reason.
        console: Where to draw.

    Returns:
        Bazel's exit code.
    """
    with tempfile.TemporaryFile("w+") as said:
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        with Live(console=console, auto_refresh=False, transient=True) as live:
            while running.poll() is None:
                live.update(_picture(finished_files(events), expected, yanked), refresh=True)
                time.sleep(PAUSE)
        releases = _releases(finished_files(events), yanked)
        if releases:
            terminal.draw(_report(releases), console)
        if running.returncode:
            said.seek(0)
            console.print(Text(said.read().strip(), style="dim"))
        return running.returncode


def finished_files(events: Path) -> list[Path]:
    """The facts files of the targets that are complete, from Bazel's build events so far."""
    sets: dict[str, list[Path]] = {}
    found: list[Path] = []
    for event in _events(events):
        name = event["id"].get("namedSet", {}).get("id")
        if name is not None:
            files = event["namedSetOfFiles"].get("files", [])
            sets[name] = [Path(unquote(urlparse(file["uri"]).path)) for file in files if "uri" in file]
        completed = event.get("completed", {})
        if "targetCompleted" in event["id"] and completed.get("success"):
            groups = completed.get("outputGroup", [])
            chosen = [part["id"] for group in groups for part in group.get("fileSets", [])]
            found += [file for name in chosen for file in sets.get(name, [])]
    return [file for file in found if file.suffix == ".json"]


def _events(file: Path) -> Iterator[dict[str, Any]]:
    """Every event that has been written to its end."""
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                return


def _picture(files: Sequence[Path], expected: int, yanked: Yanked) -> Group:
    progress = Text(
        f"{len(files)} of {expected} releases measured; the others are on their way …", style="dim"
    )
    releases = _releases(files, yanked)
    if not releases:
        return Group(Padding(progress, (0, 1)))
    report = _report(releases)
    return Group(*terminal.tables(report, 80), Padding(progress, (1, 1)))


def _releases(files: Sequence[Path], yanked: Yanked) -> list[Release]:
    return read(files, yanked) if files else []


def _report(releases: Sequence[Release]) -> Report:
    cls = "DynamicCache"
    return build(cls, choose.columns(["default"], cls, releases), releases)
