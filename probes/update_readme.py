"""`bazel run //probes:update_readme`: puts the recorded report into README.md and probes/badge.svg."""

import argparse
import os
import sys
from pathlib import Path

from cachetree_report import badge, readme
from cachetree_report.columns import COLUMNS, DEFAULT
from cachetree_report.releases import ReportError, read, read_yanked
from cachetree_report.table import build

BADGE = "probes/badge.svg"


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="bazel run //probes:update_readme")
    parser.add_argument("--facts", nargs="+", type=Path, required=True)
    parser.add_argument("--yanked", type=Path, required=True)
    options = parser.parse_args()
    root = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if not root:
        print("update_readme: start it with bazel run //probes:update_readme", file=sys.stderr)
        return 2
    try:
        releases = read(options.facts, read_yanked(options.yanked))
        report = build("DynamicCache", [one for one in COLUMNS if one.key in DEFAULT], releases)
        target = Path(root) / "README.md"
        target.write_text(readme.with_report(target.read_text(encoding="utf-8"), report), encoding="utf-8")
        (Path(root) / BADGE).write_text(badge.render(report), encoding="utf-8")
    except (ReportError, OSError) as error:
        print(f"update_readme: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
