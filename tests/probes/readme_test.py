"""README.md and the badge show the recorded facts."""

from pathlib import Path

import pytest

from cachetree_report import badge, readme
from cachetree_report.columns import COLUMNS, DEFAULT
from cachetree_report.releases import read, read_yanked
from cachetree_report.table import build

FIX = "out of date; run: bazel run //probes:update_readme"


@pytest.fixture(scope="module")
def report():
    columns = [column for column in COLUMNS if column.key in DEFAULT]
    files = sorted(Path("probes/expected").glob("*.json"))
    return build("DynamicCache", columns, read(files, read_yanked(Path("probes/yanked.txt"))))


def test_the_readme_shows_the_recorded_report(report):
    text = Path("README.md").read_text(encoding="utf-8")
    assert text == readme.with_report(text, report), f"README.md is {FIX}"


def test_the_badge_shows_the_recorded_report(report):
    assert Path("probes/badge.svg").read_text(encoding="utf-8") == badge.render(report), f"badge.svg is {FIX}"
