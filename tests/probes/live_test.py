"""Rows come while a build is running. The build is a script that writes Bazel's build events."""

import io
import sys

import pytest
import synthetic
from rich.console import Console
from synthetic import document

from cachetree_report.live import finished_files, watch

BUILD = """
import json, sys, time
events, *facts = sys.argv[1:]
with open(events, "w") as file:
    for number, fact in enumerate(facts):
        file.write(json.dumps({
            "id": {"namedSet": {"id": str(number)}},
            "namedSetOfFiles": {"files": [{"uri": "file://" + fact}, {"name": "no uri"}]},
        }) + "\\n")
        file.write(json.dumps({
            "id": {"targetCompleted": {"label": "//probes:facts"}},
            "completed": {"success": True, "outputGroup": [{"fileSets": [{"id": str(number)}]}]},
        }) + "\\n")
        file.flush()
        time.sleep(0.7)
    file.write('{"id": {"half a li')
sys.exit("one target failed")
"""


@pytest.fixture
def build(tmp_path):
    """A build of two releases, the second of which comes later; it fails in the end."""
    files = synthetic.write(tmp_path, document("4.49.0"), document("4.50.0", registered=True))
    return [sys.executable, "-c", BUILD, str(tmp_path / "events.json"), *map(str, files)]


def test_rows_come_one_by_one_and_the_failure_is_told(build, tmp_path):
    page = io.StringIO()
    console = Console(file=page, width=80, force_terminal=True, color_system=None)
    assert watch(build, tmp_path / "events.json", 3, {}, console) == 1
    said = page.getvalue()
    assert said.index("0 of 3 releases") < said.index("1 of 3 releases") < said.index("2 of 3 releases")
    assert said.index("4.49.0") < said.index("1 of 3 releases")
    final = said[said.rindex("Register DynamicCache yourself on 4.49") :]
    assert "one target failed" in final


def test_events_are_read_while_they_are_written(tmp_path):
    events = tmp_path / "events.json"
    assert finished_files(events) == []
    events.write_text('{"id": {"targetCompleted": {}}, "completed": {}}\n{"id": {"na')
    assert finished_files(events) == []
