"""The main of every release's target: which runs pass, which fail, and why."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = Path("tests/private/pytest_main.py").resolve()

PASSES = "def test_one(): pass\ndef test_two(): pass\n"
SKIPS = "import pytest\n@pytest.mark.skip\ndef test_one(): pass\n"
FAILS = "def test_one(): assert 1 == 2\n"
EMPTY = "def helper(): pass\n"

RAN_NONE = (
    "cachetree: //tests:x_test.transformers_4_51_0 ran no test.\n"
    "  expected: at least one test of its own that is neither skipped nor filtered out\n"
)


def run(folder: Path, text: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs the main as Bazel would, on one file of tests and a stand-in for the release's checks."""
    (folder / "tmp").mkdir()
    (folder / "x_test.py").write_text(text)
    (folder / "release_test.py").write_text("def test_release(): pass\n")
    environment = {
        "BAZEL_TEST": "1",
        "PATH": os.environ["PATH"],
        # A wheel's folder is below the runfiles: so is everything that this test may import.
        "PYTHONPATH": os.environ["PYTHONPATH"],
        "TEST_SRCDIR": os.environ["TEST_SRCDIR"],
        "TEST_TARGET": "//tests:x_test.transformers_4_51_0",
        "TEST_TMPDIR": str(folder / "tmp"),
        "XML_OUTPUT_FILE": str(folder / "test.xml"),
    }
    return subprocess.run(
        [sys.executable, str(MAIN), str(folder / "x_test.py"), str(folder / "release_test.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment | env,
    )


def test_passes_and_reports_single_tests(tmp_path: Path) -> None:
    assert run(tmp_path, PASSES).returncode == 0
    report = (tmp_path / "test.xml").read_text()
    assert report.count("<testcase ") == 3
    assert 'name="test_one"' in report and 'name="test_two"' in report


def test_a_filter_reaches_pytest(tmp_path: Path) -> None:
    result = run(tmp_path, PASSES, TESTBRIDGE_TEST_ONLY="two or release")
    assert result.returncode == 0
    report = (tmp_path / "test.xml").read_text()
    assert 'name="test_two"' in report and 'name="test_one"' not in report


def test_fails_when_a_test_fails(tmp_path: Path) -> None:
    assert run(tmp_path, FAILS).returncode == 1


@pytest.mark.parametrize("text", [SKIPS, EMPTY])
def test_fails_when_no_test_ran(text: str, tmp_path: Path) -> None:
    result = run(tmp_path, text)
    assert result.returncode == 1
    assert result.stderr.endswith(RAN_NONE)


def test_fails_when_the_filter_leaves_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, PASSES, TESTBRIDGE_TEST_ONLY="nothing_is_called_this")
    assert result.returncode == 1
    assert result.stderr.endswith(RAN_NONE)


def test_fails_when_a_file_cannot_be_imported(tmp_path: Path) -> None:
    assert run(tmp_path, "import no_such_module\n").returncode == 2


def test_children_find_what_the_test_finds(tmp_path: Path) -> None:
    child = (
        "import subprocess, sys\n"
        "def test_child(): subprocess.run([sys.executable, '-c', 'import pytest'], check=True)\n"
    )
    assert run(tmp_path, child).returncode == 0


def test_files_beside_the_main_are_out_of_reach(tmp_path: Path) -> None:
    outside = "import sys\ndef test_path(): assert not [p for p in sys.path if p.endswith('tests/private')]\n"
    assert run(tmp_path, outside).returncode == 0
