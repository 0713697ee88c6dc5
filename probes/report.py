"""Runs the report as a program: Bazel wants a file that is not part of the package."""

import sys

from cachetree_report.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
