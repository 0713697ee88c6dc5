"""`python -m cachetree_probes`: prints the facts about the installed transformers as JSON."""

import argparse
import importlib.util
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cachetree_probes._collect import collect, group_names
from cachetree_probes._document import Json, dumps


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Returns:
        The exit code: 0, or 2 when nothing can be measured here.
    """
    options = _parser().parse_args(arguments)
    missing = [name for name in ("torch", "transformers") if not importlib.util.find_spec(name)]
    if missing or not hasattr(os, "fork"):
        reason = f"{' and '.join(missing)} is not installed" if missing else "there is no os.fork"
        print(f"cachetree_probes: {reason} here ({sys.executable})", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="cachetree_probes.") as scratch:
        _leave_no_trace(scratch)
        document = _collect(options.only)
    if options.machine:
        options.machine.write_text(dumps(document.pop("machine")), encoding="utf-8")
    if options.output:
        options.output.write_text(dumps(document), encoding="utf-8")
    else:
        sys.stdout.write(dumps(document))
    return 0


def _collect(only: Sequence[str] | None) -> Json:
    try:
        document = collect(only) if only else collect()
    except ValueError as error:
        sys.exit(f"cachetree_probes: {error}")
    if set(document) == {"error"}:
        error = document["error"]
        sys.exit(f"cachetree_probes: nothing could be measured: {error['type']}: {error['message']}")
    return document


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m cachetree_probes",
        description="Measure what the installed transformers does with its KV caches.",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write here, not to stdout")
    parser.add_argument(
        "--machine",
        type=Path,
        metavar="FILE",
        help="write what differs at every run (times, the interpreter) here; the rest is reproducible",
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="FACTS",
        help=f"measure these facts only: {', '.join(group_names())}, or a path such as"
        " capabilities.cachetree; may be given again",
    )
    return parser


def _leave_no_trace(scratch: str) -> None:
    """Sends every cache of torch and transformers to `scratch`, and keeps them off the network."""
    os.environ.update(
        HF_HOME=scratch,
        HF_HUB_OFFLINE="1",
        TORCHINDUCTOR_CACHE_DIR=scratch,
        TRANSFORMERS_VERBOSITY="error",
    )
    os.environ.pop("TRANSFORMERS_CACHE", None)


if __name__ == "__main__":
    sys.exit(main())
