"""Recording facts in the tree and comparing with them; the README's section and the badge."""

import copy
import json
import xml.etree.ElementTree as ElementTree

import pytest
import synthetic
from synthetic import document

from cachetree_report import badge, readme
from cachetree_report.columns import COLUMNS, DEFAULT
from cachetree_report.recorded import differences, record
from cachetree_report.releases import ReportError, read
from cachetree_report.table import build


def test_equal_facts_do_not_differ():
    assert differences(document("4.51.0"), document("4.51.0")) == []


def test_differences_are_words_and_then_paths():
    recorded = document("4.51.0")
    measured = copy.deepcopy(recorded)
    measured["facts"]["classes"]["layers"] = ["DynamicLayer"]
    del measured["facts"]["registration"]["after_executorch_helper"]
    assert differences(recorded, measured) == [
        "New classes: DynamicLayer.",
        'facts.classes.layers: recorded [], measured ["DynamicLayer"]',
        "facts.registration.after_executorch_helper: recorded null, measured (nothing)",
    ]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "measured").mkdir()
    return synthetic.write(tmp_path / "measured", document("4.50.0"), document("4.51.0"))


def test_recording_writes_changes_and_removes_what_has_no_lock(files, tmp_path):
    folder = tmp_path / "expected"
    assert record(files, folder, []) == ["transformers_4_50_0.json: new", "transformers_4_51_0.json: new"]
    assert record(files, folder, []) == []
    assert (folder / "transformers_4_50_0.json").read_text() == files[0].read_text()
    (folder / "transformers_4_50_0.json").write_text(json.dumps(document("4.50.0", registered=True)))
    (folder / "transformers_4_1_0.json").write_text("{}")
    said = record(files, folder, [])
    assert said[:2] == [
        "transformers_4_50_0.json: changed",
        "  DynamicCache: no longer registered as a pytree at import. It is one leaf again, and"
        " torch.export refuses it until something registers it.",
    ]
    assert said[-1] == "transformers_4_1_0.json: removed, there is no such lock"
    assert sorted(file.name for file in folder.iterdir()) == [
        "transformers_4_50_0.json",
        "transformers_4_51_0.json",
    ]


def test_recording_one_release_leaves_the_others(files, tmp_path):
    folder = tmp_path / "expected"
    assert record(files, folder, ["4.51.0"]) == ["transformers_4_51_0.json: new"]
    assert [file.name for file in folder.iterdir()] == ["transformers_4_51_0.json"]


def test_recording_an_unknown_release_is_an_error(files, tmp_path):
    with pytest.raises(ReportError, match=r"no release is called 4\.51\.9\. Did you mean 4\.51\.0\?"):
        record(files, tmp_path / "expected", ["4.51.9"])


@pytest.fixture
def report(files):
    columns = [column for column in COLUMNS if column.key in DEFAULT]
    return build("DynamicCache", columns, read(files, {"4.50.0": "bad wheel"}))


def test_the_report_goes_between_the_readmes_markers(report):
    text = f"# Title\n\n{readme.BEGIN}\nold\n{readme.END}\nmore\n"
    once = readme.with_report(text, report)
    assert once.startswith(f"# Title\n\n{readme.BEGIN}\n\n**Register DynamicCache yourself: ")
    assert once.endswith(f"{readme.END}\nmore\n")
    assert "old" not in once
    assert "- \\* 4.50.0 was yanked from the index: bad wheel" in once
    assert readme.with_report(once, report) == once


@pytest.mark.parametrize("text", ["", readme.BEGIN, readme.END + readme.BEGIN, readme.BEGIN * 2 + readme.END])
def test_a_readme_without_its_markers_is_an_error(report, text):
    with pytest.raises(ReportError, match=r"README\.md: expected one line <!-- report -->"):
        readme.with_report(text, report)


def test_the_badge_is_an_svg_with_a_bar_per_release(report):
    root = ElementTree.fromstring(badge.render(report))
    space = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{space}title") == (
        "DynamicCache of transformers as a pytree that exports, 2 releases: 0 by themselves, 2 with cachetree"
    )
    fills = [rect.get("fill") for rect in root.iter(f"{space}rect")]
    assert (fills.count(badge.RED), fills.count(badge.GREEN)) == (2, 2)
