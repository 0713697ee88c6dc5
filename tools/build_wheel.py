"""Builds a wheel with hatchling, reproducibly: `build_wheel PYPROJECT OUTPUT` in a Bazel action."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    pyproject, output = Path(sys.argv[1]), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch, "project")
        # The sources in the sandbox are links, and hatchling writes beside them.
        shutil.copytree(pyproject.parent, project)
        result = subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", scratch],
            cwd=project,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "SOURCE_DATE_EPOCH": "315532800"},
            capture_output=True,
            text=True,
            check=False,
        )
        wheels = list(Path(scratch).glob("*.whl"))
        if result.returncode or [wheel.name for wheel in wheels] != [output.name]:
            found = ", ".join(wheel.name for wheel in wheels) or "none"
            print(f"{pyproject}: expected {output.name}, found {found}\n{result.stderr}", file=sys.stderr)
            return 1
        shutil.copyfile(wheels[0], output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
