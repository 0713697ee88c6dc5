"""The main of every release's test: runs pytest under Bazel on nothing but the release's lock.

Arguments are test files, as paths in the runfiles, and options for pytest. pytest-bazel adds the XML
report, `--test_filter` as -k, and sharding.
"""

import os
import sys
import sysconfig
from pathlib import Path

RUNFILES = os.environ["TEST_SRCDIR"]


def main() -> int:
    sys.path[:] = [path for path in sys.path if is_ours(path)]
    # Child processes find what this one finds.
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path.startswith(RUNFILES))
    os.environ["HOME"] = os.environ["TEST_TMPDIR"]

    import pytest
    from pytest_bazel.main import main as run_pytest

    ran = RanTests()
    code = run_pytest(
        [resolve(argument) for argument in sys.argv[1:]] + ["-ra", "--rootdir", RUNFILES],
        pytest_main=lambda arguments: pytest.main(arguments, plugins=[ran]),
    )
    if code == 0 and not ran.count:
        print(f"cachetree: {os.environ['TEST_TARGET']} ran no test.", file=sys.stderr)
        print(
            "  expected: at least one test of its own that is neither skipped nor filtered out",
            file=sys.stderr,
        )
        return 1
    return code


class RanTests:
    """pytest plugin: counts the tests that ran, apart from the checks that every target has."""

    count = 0

    def pytest_runtest_logreport(self, report) -> None:
        ours = report.location[0].endswith("release_test.py")
        if report.when == "call" and not report.skipped and not ours:
            self.count += 1


def is_ours(path: str) -> bool:
    """Whether an entry of sys.path is in the runfiles or the standard library.

    Python puts the real folder of this script first, where files lie that the target does not list.
    """
    return path.startswith((RUNFILES, *standard_library())) or path.endswith(".zip")


def standard_library() -> tuple[str, ...]:
    paths = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    return tuple(os.path.realpath(path) for path in paths if path)


def resolve(argument: str) -> str:
    """A runfiles path as a path of the file system; anything else as it is."""
    for base in (Path.cwd(), Path(RUNFILES)):
        if not argument.startswith("-") and (base / argument).is_file():
            return str(base / argument)
    return argument


if __name__ == "__main__":
    sys.exit(main())
