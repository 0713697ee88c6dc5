"""Checks the code: `bazel run //tools:lint`, or `-- --fix` to mend what can be mended.

ruff, basedpyright and shellcheck come from the tools' lock, buildifier from tools/buildifier's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

BUILDIFIER = Path("tools/buildifier/node_modules/@bazel/buildifier")


class LintError(Exception):
    """A check that cannot run, and what to do."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="bazel run //tools:lint --", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--fix", action="store_true", help="mend what can be mended")
    options = parser.parse_args()
    os.chdir(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    failed = [name for name, check in CHECKS.items() if not passes(name, check, options.fix)]
    print(f"lint: {len(CHECKS) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def passes(name: str, check: Callable[[bool], list[list[str]]], fix: bool) -> bool:
    print(f"lint: {name}", flush=True)
    try:
        codes = [subprocess.run(command, check=False).returncode for command in check(fix)]
    except LintError as error:
        print(f"lint: {error}", file=sys.stderr)
        return False
    return not any(codes)


def ruff(fix: bool) -> list[list[str]]:
    command = tool("ruff")
    return [
        [command, "check", "--quiet", *(["--fix"] if fix else [])],
        [command, "format", "--quiet", *([] if fix else ["--check", "--diff"])],
    ]


def pyright(_: bool) -> list[list[str]]:
    """Types, against the newest release: its lock is on this program's path."""
    settings = Path(tempfile.mkdtemp(prefix="cachetree-lint-"), "pyrightconfig.json")
    site_packages = [path for path in sys.path if path.endswith("site-packages")]
    root = Path.cwd()
    settings.write_text(
        json.dumps(
            {
                "include": [
                    str(root / folder) for folder in ("shim", "probes", "requirements", "tests", "tools")
                ],
                "exclude": ["**/node_modules", "**/__pycache__"],
                "extraPaths": [*map(str, import_roots(root)), *site_packages],
                "pythonVersion": "3.11",
                "typeCheckingMode": "standard",
            }
        ),
        encoding="utf-8",
    )
    return [[sys.executable, "-m", "basedpyright", "--project", str(settings)]]


def import_roots(root: Path) -> list[Path]:
    """The folders that BUILD files put on the path of what is tested."""
    folders = ["shim", "probes", "requirements", "requirements/private", "tools", "tools/bazelw"]
    return [root / folder for folder in folders] + sorted(
        path for path in root.glob("tests/*") if path.is_dir()
    )


def shellcheck(_: bool) -> list[list[str]]:
    scripts = ["bazelw", ".ci/run", *sources(".sh")]
    return [[tool("shellcheck"), "--external-sources", *scripts]]


def buildifier(fix: bool) -> list[list[str]]:
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    program = BUILDIFIER / f"buildifier-{platform.system().lower()}_{machine}"
    if not program.is_file():
        raise LintError("no buildifier.\n  to do:    npm ci --prefix tools/buildifier")
    options = ["-mode=fix", "-lint=fix"] if fix else ["-mode=diff", "-lint=warn"]
    # The public files at the root re-export what lies in the houses' private/.
    options.append("-warnings=-bzl-visibility")
    return [[str(program), *options, *sources(".bzl", ".bazel")]]


def sources(*endings: str) -> list[str]:
    """Our own files with one of these endings."""
    found = []
    for folder, folders, names in os.walk("."):
        folders[:] = [name for name in folders if not name.startswith(("bazel-", "node_modules", ".git"))]
        found += [f"{folder}/{name}" for name in names if name.endswith(endings)]
    return sorted(found)


def tool(name: str) -> str:
    """The program that a wheel of the tools' lock holds."""
    for folder in sys.path:
        program = Path(folder, "bin", name)
        if program.is_file():
            return str(program)
    raise LintError(f"no {name} in the tools' lock.\n  to do:    bazel run //requirements:lock -- tools")


CHECKS = {"ruff": ruff, "pyright": pyright, "shellcheck": shellcheck, "buildifier": buildifier}

if __name__ == "__main__":
    sys.exit(main())
