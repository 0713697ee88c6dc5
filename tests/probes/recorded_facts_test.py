"""One release does what its recorded facts say, and the facts follow their schema."""

import json
import os
from pathlib import Path

import jsonschema
import pytest

from cachetree_report.recorded import differences, file_name

RELEASE = os.environ["CACHETREE_RELEASE"]
FACTS = Path(os.environ["CACHETREE_FACTS"])
SCHEMA = Path(os.environ["CACHETREE_SCHEMA"])
RECORD = f"bazel run //probes:record -- {RELEASE}"


@pytest.fixture(scope="module")
def measured():
    return json.loads(FACTS.read_text(encoding="utf-8"))


def test_the_facts_are_of_this_release(measured):
    assert measured["transformers"] == RELEASE


def test_the_facts_follow_their_schema(measured):
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    faults = jsonschema.Draft202012Validator(schema).iter_errors(measured)
    assert [f"{fault.json_path}: {fault.message}" for fault in faults] == []


def test_the_facts_are_as_recorded(measured):
    file = Path("probes/expected") / file_name(RELEASE)
    if not file.exists():
        pytest.fail(f"transformers {RELEASE} has no recorded facts; record them: {RECORD}")
    found = differences(json.loads(file.read_text(encoding="utf-8")), measured)
    if found:
        listed = "\n  ".join(found)
        pytest.fail(
            f"transformers {RELEASE} does not do what {file} says:\n  {listed}\nif that is right: {RECORD}",
            pytrace=False,
        )
