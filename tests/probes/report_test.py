"""The report's sentence, rows, notes and formats, on made-up facts."""

import json
import os
import subprocess
import sys

import pytest
import synthetic
from synthetic import document, registries

from cachetree_report.__main__ import main


@pytest.fixture
def facts(tmp_path):
    """4.48 and 4.49 agree; 4.50.0 registers; 4.56.0 has the helper; in 4.57.0 a probe failed."""
    helper = registries(["DynamicCache"])
    failed = document("4.57.0", helper=helper)
    failed["facts"]["registration"]["at_import"] = synthetic.ERROR
    return synthetic.write(
        tmp_path,
        document("4.48.0"),
        document("4.49.0"),
        document("4.50.0", registered=True),
        document("4.56.0", helper=helper),
        failed,
    )


@pytest.fixture
def yanked(tmp_path):
    file = tmp_path / "yanked.txt"
    file.write_text("4.49.0 bad wheel\n")
    return file


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys, facts, *arguments):
    code, out, _ = run(capsys, "--facts", *facts, "--format", "json", *arguments)
    assert code == 0
    return json.loads(out)


def test_neighbours_that_agree_share_a_row(capsys, facts):
    rows = as_json(capsys, facts)["rows"]
    assert [row["releases"] for row in rows] == [
        ["4.48.0", "4.49.0"],
        ["4.50.0"],
        ["4.56.0"],
        ["4.57.0"],
    ]


def test_cells_say_yes_no_absent_and_error(capsys, facts):
    rows = as_json(capsys, facts)["rows"]
    assert [row["cells"]["at-import"] for row in rows] == [
        {"state": "no"},
        {"state": "yes"},
        {"state": "no"},
        {"state": "error", "detail": "ValueError: made up"},
    ]
    assert [row["cells"]["after-helper"]["state"] for row in rows] == ["absent", "absent", "yes", "yes"]
    assert rows[0]["cells"]["import.trip"] == {
        "state": "no",
        "detail": "not registered: the whole cache is one leaf",
    }
    assert rows[0]["cells"]["cachetree.trip"] == {"state": "yes"}


def test_the_headline_tells_where_to_register(capsys, facts):
    assert as_json(capsys, facts)["headline"] == (
        "Register DynamicCache yourself on 4.48 to 4.49 and 4.56. transformers does it at import on 4.50."
    )


def test_the_table_reads_without_colour(capsys, facts, yanked):
    code, out, err = run(capsys, "--facts", *facts, "--yanked", yanked)
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    rows = [line.split() for line in out.splitlines() if line.startswith(" 4.")]
    assert rows == [
        ["4.48.0", "\N{EN DASH}", "4.49.0*", *"✗·✗✗✗✗✗✓✓✓✓✓"],
        ["4.50.0", *"✓·✓✓✓✓✓✓✓✓✓✓"],
        ["4.56.0", *"✗✓✗✗✗✗✗✓✓✓✓✓"],
        ["4.57.0", *"!✓✗✗✗✗✗✓✓✓✓✓"],
    ]
    assert "✓ yes   ✗ no   · the release has no such thing   ! the probe itself failed" in out
    assert "* 4.49.0 was yanked from the index: bad wheel" in out
    assert "! at-import, from 4.57 on: ValueError: made up" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_public_table_is_explained_only_while_the_facts_say_so(capsys, facts):
    code, out, _ = run(capsys, "--facts", *facts)
    assert "it says yes on every release" in " ".join(out.split())
    changed = json.loads(facts[0].read_text())
    changed["facts"]["classes"]["public_check"]["a class nobody registered"] = False
    facts[0].write_text(json.dumps(changed))
    code, out, _ = run(capsys, "--facts", *facts)
    assert code == 0
    assert "public table (TICO" not in out


def test_markdown_is_a_table(capsys, facts, yanked):
    _, out, _ = run(capsys, "--facts", *facts, "--yanked", yanked, "--format", "markdown")
    lines = [line for line in out.splitlines() if line.startswith("|")]
    assert len(lines) == 6
    assert {line.count("|") for line in lines} == {14}
    assert lines[2].startswith("| 4.48.0 \N{EN DASH} 4.49.0\\* | ")


def test_output_goes_to_the_folder_where_bazel_run_was_typed(capsys, facts, tmp_path, monkeypatch):
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    code, out, _ = run(capsys, "--facts", *facts, "--output", "report.txt")
    assert (code, out) == (0, "")
    text = (tmp_path / "report.txt").read_text()
    assert "4.50.0" in text
    assert not [line for line in text.splitlines() if line != line.rstrip()]


def test_an_output_that_cannot_be_written_is_a_message(capsys, facts, tmp_path):
    code, _, err = run(capsys, "--facts", *facts, "--output", tmp_path / "no" / "where.txt")
    assert code == 2
    assert err.strip().endswith("where.txt: cannot be written: No such file or directory")


def test_a_broken_file_keeps_its_row_and_fails_the_run(capsys, facts):
    facts[1].write_text("{")
    code, out, _ = run(capsys, "--facts", *facts)
    assert code == 1
    assert [*["4.49.0"], *"!" * 12] in [line.split() for line in out.splitlines()]
    assert "! 4.49.0 has no facts: facts.transformers_4_49_0.json: is not a facts" in out


def test_only_broken_files_are_a_message(capsys, tmp_path):
    code, out, err = run(capsys, "--facts", tmp_path / "facts.transformers_4_51_0.json")
    assert (code, out) == (2, "")
    assert err == ("report: facts.transformers_4_51_0.json: cannot be read: No such file or directory\n")


def test_importing_the_report_does_not_import_torch():
    command = "import sys, cachetree_report.__main__; sys.exit('torch' in sys.modules)"
    path = os.pathsep.join(sys.path)
    subprocess.run([sys.executable, "-c", command], env={"PYTHONPATH": path}, check=True)


def test_static_cache_is_chosen_by_class(capsys, facts):
    chosen = as_json(capsys, facts, "--class", "StaticCache")
    assert chosen["headline"] == (
        "Register StaticCache yourself: transformers does it at import on no release."
    )
    assert [column["key"] for column in chosen["columns"]] == ["at-import", "after-helper"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--class", "StaticCash"], "no cache class is called StaticCash. Did you mean StaticCache?"),
        (["--columns", "expotr"], "no column is called expotr. Did you mean export?"),
        (["--versions", "4.51.7"], "no release is called 4.51.7. Did you mean 4.50.0?"),
        (["--versions", "9:"], "no release is called 9:. Did you mean 4."),
    ],
)
def test_unknown_names_get_the_nearest_and_the_list(capsys, facts, arguments, message):
    code, out, err = run(capsys, "--facts", *facts, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"report: {message}")
    assert "There are:\n  " in err


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ("4.49:4.56", ["4.49.0", "4.50.0", "4.56.0"]),
        ("4.56:", ["4.56.0", "4.57.0"]),
        (":4.48", ["4.48.0"]),
        ("4.50", ["4.50.0"]),
        ("4.48.0:4.49.0", ["4.48.0", "4.49.0"]),
    ],
)
def test_ranges_of_versions(capsys, facts, asked, chosen):
    rows = as_json(capsys, facts, "--versions", asked, "--all")["rows"]
    assert [row["releases"] for row in rows] == [[version] for version in chosen]


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        ("layout", ["layout"]),
        ("helper.save,layout", ["layout", "helper.save"]),
        ("save", ["import.save", "helper.save", "cachetree.save"]),
    ],
)
def test_columns_are_chosen_by_name(capsys, facts, asked, keys):
    columns = as_json(capsys, facts, "--columns", asked)["columns"]
    assert [column["key"] for column in columns] == keys


def test_every_column_fits_80_characters_when_all_are_shown(capsys, facts):
    _, out, _ = run(capsys, "--facts", *facts, "--columns", "all", "--all")
    assert max(map(len, out.splitlines())) <= 80
    assert out.count("transformers' helper") == 1


def test_csv_has_a_line_per_release(capsys, facts, yanked):
    asked = ("--columns", "at-import,layout", "--format", "csv", "--yanked", yanked)
    _, out, _ = run(capsys, "--facts", *facts, *asked)
    assert out.splitlines() == [
        "transformers,yanked,layout,at-import",
        "4.48.0,no,lists,no",
        "4.49.0,yes,lists,no",
        "4.50.0,no,lists,yes",
        "4.56.0,no,lists,no",
        "4.57.0,no,lists,error",
    ]


def test_sliding_layers_are_asked_only_where_there_are_some(capsys, facts):
    old, new = (json.loads(facts[index].read_text()) for index in (0, 3))
    old["facts"]["layout"]["has"] = {"DynamicSlidingWindowLayer": False}
    new["facts"]["layout"]["has"] = {"DynamicSlidingWindowLayer": True}
    new["facts"]["capabilities"]["helper"]["DynamicCache"]["pytree"]["layers_kept"] = {"fails": "Wrong: no"}
    for file, changed in zip((facts[0], facts[3]), (old, new), strict=True):
        file.write_text(json.dumps(changed))
    rows = as_json(capsys, facts, "--columns", "helper.kinds", "--all")["rows"]
    assert rows[0]["cells"]["helper.kinds"] == {"state": "absent"}
    assert rows[3]["cells"]["helper.kinds"] == {"state": "no", "detail": "Wrong: no"}


def test_what_cachetree_gives_is_summed_up(capsys, facts):
    _, out, _ = run(capsys, "--facts", *facts)
    assert "With cachetree.register(), all that is asked here works on every release." in out
    failing = json.loads(facts[0].read_text())
    failing["facts"]["capabilities"]["cachetree"]["DynamicCache"]["export_cache"]["save"] = {"fails": "no"}
    facts[0].write_text(json.dumps(failing))
    _, out, _ = run(capsys, "--facts", *facts, "--format", "markdown")
    assert "all that is asked here works from 4.49 on." in out
    _, out, _ = run(capsys, "--facts", *facts, "--columns", "layout")
    assert "cachetree" not in out
