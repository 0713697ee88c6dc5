"""The main of tests that need no transformers release: pytest under Bazel."""

import os
import sys

from pytest_bazel.main import main

if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    sys.exit(main([*sys.argv[1:], "-ra"]))
