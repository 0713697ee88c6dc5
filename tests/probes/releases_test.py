"""Reading facts files, ordering releases, naming ranges."""

import pytest
import synthetic

from cachetree_report.releases import ReportError, in_words, order, read, read_yanked, span


def test_releases_sort_by_number_and_pre_releases_come_first():
    versions = ["5.0.0", "4.9.0", "5.0.0rc1", "4.36.2", "4.100.0"]
    assert sorted(versions, key=order) == ["4.9.0", "4.36.2", "4.100.0", "5.0.0rc1", "5.0.0"]


def test_span_of_one_and_of_many():
    assert span(["4.51.0"]) == "4.51.0"
    assert span(["4.50.0", "4.51.0", "4.53.3"]) == "4.50.0 \N{EN DASH} 4.53.3"


VERSIONS = ["4.49.0", "4.50.0", "4.50.1", "4.51.0"]


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ([0, 0, 0, 0], "on no release"),
        ([1, 1, 1, 1], "on every release"),
        ([1, 0, 0, 0], "on 4.49"),
        ([1, 1, 1, 0], "on 4.49 to 4.50"),
        ([1, 1, 0, 0], "on 4.49 to 4.50.0"),
        ([0, 0, 1, 1], "from 4.50.1 on"),
        ([1, 0, 0, 1], "on 4.49 and from 4.51 on"),
        ([1, 0, 1, 0], "on 4.49 and 4.50.1"),
    ],
)
def test_ranges_in_words(chosen, words):
    assert in_words(VERSIONS, [bool(one) for one in chosen]) == words


def test_files_are_read_in_order_of_release_and_yanked_ones_marked(tmp_path):
    files = synthetic.write(tmp_path, synthetic.document("4.52.0"), synthetic.document("4.6.0"))
    releases = read(files, {"4.52.0": "broken"})
    assert [(one.version, one.yanked) for one in releases] == [
        ("4.6.0", None),
        ("4.52.0", "broken"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not a facts file: Expecting property name enclosed in double quotes"),
        ("[]", 'is not a facts file: expected an object with "facts"'),
        ('{"facts": {}, "schema": 99}', 'is not a facts file: expected "schema": 1, found 99'),
        ('{"facts": {}, "schema": 1}', 'is not a facts file: expected "transformers" to be a'),
    ],
)
def test_a_broken_file_is_a_release_without_facts(tmp_path, text, reason):
    file = tmp_path / "facts.transformers_4_51_0.json"
    file.write_text(text)
    [release] = read([file], {})
    assert release.version == "4.51.0"
    assert str(release.problem).startswith(f"facts.transformers_4_51_0.json: {reason}")


def test_a_missing_file_is_a_release_without_facts(tmp_path):
    [release] = read([tmp_path / "facts.transformers_4_51_0.json"], {})
    assert release.problem == ("facts.transformers_4_51_0.json: cannot be read: No such file or directory")


def test_a_broken_file_whose_name_tells_nothing_is_an_error(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text("{")
    with pytest.raises(ReportError, match=r"mine\.json: is not a facts file"):
        read([file], {})


def test_two_files_of_one_release_are_an_error(tmp_path):
    [first] = synthetic.write(tmp_path, synthetic.document("4.51.0"))
    second = tmp_path / "again.json"
    second.write_text(first.read_text())
    with pytest.raises(ReportError, match=r"again\.json hold facts of transformers 4\.51\.0"):
        read([first, second], {})


def test_no_files_is_an_error():
    with pytest.raises(ReportError, match="give some with --facts FILE"):
        read([], {})


def test_yanked_lines(tmp_path):
    file = tmp_path / "yanked.txt"
    file.write_text("# why\n4.52.0 bad wheel\n\n4.57.0 <none given>\n4.58.0\n")
    assert read_yanked(file) == {
        "4.52.0": "bad wheel",
        "4.57.0": "no reason given",
        "4.58.0": "no reason given",
    }
    file.write_text("4.52.0 fine\nwhatever it is\n")
    with pytest.raises(ReportError, match=r"yanked\.txt, line 2: expected a version and a reason"):
        read_yanked(file)
