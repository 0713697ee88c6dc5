"""What changed between two releases, in words; and the page about one release."""

import copy
import json

import pytest
import synthetic
from synthetic import document, registries

from cachetree_report.__main__ import main
from cachetree_report.changes import between

HELPED = registries(["DynamicCache"])


def changed(before, **paths):
    """The sentences and meanings of what differs once facts at "a__b__c" are set."""
    after = copy.deepcopy(before)
    for path, value in paths.items():
        *parents, last = path.split("__")
        inner = after["facts"]
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = value
    return [(one.sentence, one.means) for one in between(before["facts"], after["facts"])]


def test_the_same_facts_have_no_changes():
    facts = document("4.51.0")["facts"]
    assert between(facts, facts) == []


def test_registration_comes_first_and_says_what_it_means():
    before, after = document("4.55.4", registered=True), document("4.56.0", helper=HELPED)
    found = [(one.sentence, one.means) for one in between(before["facts"], after["facts"])]
    assert found == [
        (
            "DynamicCache: no longer registered as a pytree at import.",
            "It is one leaf again, and torch.export refuses it until something registers it.",
        ),
        ("register_dynamic_cache_export_support(): new.", "It registers DynamicCache."),
        (
            "DynamicCache: with nothing called, loses trip, spec, map, empty, export, dynamic, save, llama,"
            " llama-dynamic, llama-save.",
            "not registered: the whole cache is one leaf",
        ),
    ]


@pytest.mark.parametrize(
    ("paths", "sentence"),
    [
        (
            {"layout__DynamicCache__kind": "layers"},
            "DynamicCache: keeps its tensors in layers, no longer in lists.",
        ),
        ({"classes__layers": ["DynamicLayer"]}, "New classes: DynamicLayer."),
        ({"classes__caches": ["Cache", "DynamicCache"]}, "Classes gone: StaticCache."),
        ({"classes__aliases": {"A": "StaticCache"}}, "A: only another name of StaticCache."),
        ({"signatures__is_module": True}, "Cache: a torch.nn.Module now."),
        (
            {"signatures__calls__StaticCache": {"__init__": "(self, config)"}},
            "StaticCache: constructor(config); was ().",
        ),
        (
            {"signatures__calls__StaticCache": {"__init__": "(self)", "crop": "(self, n)"}},
            "StaticCache: crop(n) is new.",
        ),
        ({"signatures__warns__StaticCache": ["old!"]}, "StaticCache: warns: old!"),
        (
            {"capabilities__cachetree__DynamicCache__pytree__leaf_order": ["k0", "v0", "k1", "v1"]},
            "DynamicCache: with cachetree, its leaves are k0 v0 k1 v1; they were k0 k1 v0 v1.",
        ),
    ],
)
def test_each_kind_of_change_has_its_sentence(paths, sentence):
    before = document("4.51.0")
    before["facts"]["signatures"] = {
        "is_module": False,
        "calls": {"StaticCache": {"__init__": "(self)"}},
        "warns": {"StaticCache": []},
    }
    assert [what for what, _ in changed(before, **paths)] == [sentence]


def test_classes_with_the_same_change_share_a_line():
    before = document("4.51.0")
    old, new = {"crop": "(self)"}, {"crop": "(self, n)"}
    before["facts"]["signatures"] = {"calls": {"StaticCache": old, "HybridCache": old}}
    found = changed(before, signatures__calls={"StaticCache": new, "HybridCache": new})
    assert found == [("StaticCache, HybridCache: crop(n); was ().", "")]


@pytest.fixture
def facts(tmp_path):
    return synthetic.write(
        tmp_path,
        document("4.49.0"),
        document("4.50.0", registered=True),
        document("4.50.1", registered=True),
        document("4.56.0", helper=HELPED),
    )


def run(capsys, facts, *arguments):
    code = main(["--facts", *map(str, facts), *arguments])
    return code, *capsys.readouterr()


def test_diff_in_a_terminal_is_under_headings(capsys, facts):
    code, out, _ = run(capsys, facts, "--diff", "4.49.0", "4.50.0")
    assert code == 0
    lines = [line.strip() for line in out.splitlines() if line.strip()]
    assert lines[:5] == [
        "transformers' caches from 4.49.0 to 4.50.0",
        "Who registers caches",
        "• DynamicCache: registered as a pytree at import now.",
        "A registration of your own raises ValueError, unless it looks first.",
        "What works",
    ]
    assert max(map(len, out.splitlines())) <= 80


def test_diff_of_equal_releases_says_so(capsys, facts):
    _, out, _ = run(capsys, facts, "--diff", "4.50.0", "4.50.1", "--format", "markdown")
    assert out == ("# transformers' caches from 4.50.0 to 4.50.1\n\nNothing that the probes see changed.\n")


def test_changes_are_newest_first_and_leave_out_quiet_releases(capsys, facts):
    _, out, _ = run(capsys, facts, "--changes", "--format", "json")
    assert [(step["from"], step["to"]) for step in json.loads(out)] == [
        ("4.50.1", "4.56.0"),
        ("4.49.0", "4.50.0"),
    ]


def test_explain_tells_what_to_write(capsys, facts):
    _, out, _ = run(capsys, facts, "--explain", "4.56.0", "--format", "markdown")
    assert out.startswith(
        "# transformers 4.56.0 does not register DynamicCache as a pytree when it is imported.\n"
    )
    assert "```python\nimport cachetree\n\ncachetree.register()\n" in out
    assert "```python\nfrom transformers.integrations.executorch import" in out


def test_explain_of_an_unknown_release_names_the_nearest(capsys, facts):
    code, out, err = run(capsys, facts, "--explain", "4.55.9")
    assert (code, out) == (2, "")
    assert err.startswith("report: no release is called 4.55.9. Did you mean 4.56.0?")


def test_pages_have_no_csv(capsys, facts):
    code, _, err = run(capsys, facts, "--changes", "--format", "csv")
    assert (code, err) == (2, "report: this is not shown as csv; use table, markdown, json\n")


def test_explain_shows_both_classes_and_why_not(capsys, facts):
    _, out, _ = run(capsys, facts, "--explain", "4.49.0")
    lines = [line.strip() for line in out.splitlines()]
    assert "nothing called  ✗    ✗    ✗    ✗    ✗   ✗   ✗     ✗     ✗     ✗" in lines
    assert "cachetree       ✓    ✓    ✓    ✓    ✓   ✓   ✓     ✓     ✓     ✓" in lines
    assert "not registered: the whole cache is one leaf" in lines
    assert "helper" not in out.split("What works")[1].split("•")[0]
    assert max(map(len, out.splitlines())) <= 80


def test_explain_tells_the_cost_where_it_was_measured(capsys, facts, tmp_path):
    machine = tmp_path / "facts.transformers_4_50_0.machine.json"
    machine.write_text(
        json.dumps(
            {
                "platform": "linux-x86_64",
                "python": "3.11.7",
                "import_seconds": {"torch": 2.0},
                "flatten_microseconds": {"import": {"flatten": 22, "unflatten": 17}, "helper": None},
            }
        )
    )
    _, out, _ = run(capsys, facts, "--machine", str(machine), "--explain", "4.50.0", "--format", "markdown")
    assert out.endswith(
        "## What it costs (on linux-x86_64, Python 3.11.7)\n\n"
        "- Imports, one after the other: torch 2.00 s.\n"
        "- nothing called: flattening a DynamicCache of 32 layers takes 22 µs, building it again 17 µs.\n"
    )
