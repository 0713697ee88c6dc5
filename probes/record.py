"""`bazel run //probes:record [-- VERSION...]`: records the measured facts in the tree."""

import argparse
import os
import sys
from pathlib import Path

from cachetree_report.recorded import record
from cachetree_report.releases import ReportError


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="bazel run //probes:record --")
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="such as 4.51.0; all if none is named")
    parser.add_argument("--facts", nargs="+", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args()
    root = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if not root:
        print("record: start it with bazel run //probes:record", file=sys.stderr)
        return 2
    try:
        said = record(options.facts, Path(root) / "probes" / "expected", options.versions)
    except ReportError as error:
        print(f"record: {error}", file=sys.stderr)
        return 2
    print("\n".join(said) or "Nothing changed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
