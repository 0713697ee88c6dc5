"""`bazel run //probes:live_report`: measures what is not cached yet, and shows rows as they come."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from cachetree_report.live import watch
from cachetree_report.releases import ReportError, read_yanked


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="bazel run //probes:live_report")
    parser.add_argument("--targets", nargs="+", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--yanked", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    root = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if not root:
        print("live_report: start it with bazel run //probes:live_report", file=sys.stderr)
        return 2
    try:
        yanked = read_yanked(options.yanked)
    except ReportError as error:
        print(f"live_report: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder, "events.json")
        os.chdir(root)
        build = ["./bazelw", "build", "--keep_going", f"--build_event_json_file={events}", *options.targets]
        return watch(build, events, len(options.targets), yanked, Console(highlight=False))


if __name__ == "__main__":
    sys.exit(main())
