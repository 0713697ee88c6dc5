"""`python -m cachetree_probes.merge FILE... --output FILE`: one document of facts measured apart.

Bazel measures what a release does by itself and what cachetree makes of it in two actions, so that a
change of cachetree repeats only the second.
"""

import argparse
import json
from pathlib import Path

from cachetree_probes._document import Json, dumps


def merged(first: Json, second: Json) -> Json:
    """Both documents in one; where both say something, the second holds."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return second
    both = {key: merged(first[key], second[key]) for key in first.keys() & second.keys()}
    return {**first, **second, **both}


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m cachetree_probes.merge")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    document: Json = {}
    for file in options.files:
        document = merged(document, json.loads(file.read_text(encoding="utf-8")))
    options.output.write_text(dumps(document), encoding="utf-8")


if __name__ == "__main__":
    main()
