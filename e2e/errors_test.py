"""What people see when something is wrong with their workspace: each message, from a real Bazel.

    python3.11 e2e/errors_test.py

Makes a workspace in a temporary folder that depends on this checkout, breaks one thing at a time and reads
what `bazelw` prints. Only the standard library is used; .ci/run runs it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]

MODULE = """\
module(name = "broken")
bazel_dep(name = "cachetree")
local_path_override(module_name = "cachetree", path = "{checkout}")
bazel_dep(name = "rules_python", version = "2.3.2")
python = use_extension("@cachetree//:extensions.bzl", "python")
use_repo(python, "python_3_11")
register_toolchains("@python_3_11//:all")
hubs = use_extension("@cachetree//:extensions.bzl", "hubs")
{tags}
use_repo(hubs, {repositories})
"""

HASH = "--hash=sha256:" + 64 * "0"


class Workspace:
    def __init__(self) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="cachetree-errors-"))
        self.folder = self.scratch / "workspace"
        self.folder.mkdir()
        (self.folder / "BUILD.bazel").write_text('exports_files(glob(["*.txt"], allow_empty = True))\n')
        (self.folder / ".bazelrc").write_text("common --noenable_workspace\ncommon --lockfile_mode=off\n")

    def bazel(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(CHECKOUT / "bazelw"), f"--output_base={self.scratch / 'output'}", *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def build(self, label: str, tags: str, *options: str, repository: str = "hub", **files: str) -> str:
        """Builds `label` with the extension's `tags`; returns what Bazel said, which must have failed."""
        for name, text in files.items():
            (self.folder / f"{name}.txt").write_text(text)
        (self.folder / "MODULE.bazel").write_text(
            MODULE.format(checkout=CHECKOUT, tags=tags, repositories=f'"{repository}"')
        )
        result = self.bazel("build", "--noshow_progress", "--color=no", *options, label)
        if result.returncode == 0:
            raise AssertionError(f"the build of {label} passed")
        return result.stderr

    def close(self) -> None:
        self.bazel("shutdown")
        subprocess.run(["chmod", "-R", "u+w", str(self.scratch)], check=False)
        shutil.rmtree(self.scratch)


class ErrorsTest(unittest.TestCase):
    workspace: Workspace

    @classmethod
    def setUpClass(cls) -> None:
        cls.workspace = Workspace()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.workspace.close()

    def lock(self, text: str, label: str = "@hub//six") -> str:
        """What building from a lock with this text says."""
        return self.workspace.build(label, 'hubs.lock(name = "hub", lock = "//:lock.txt")', lock=text)

    def test_malformed_line(self) -> None:
        said = self.lock(f"six==1.17.0 {HASH}\ntorch>=2\n")
        self.assertIn(
            "//:lock.txt:2: not a pinned requirement\n  found:    torch>=2\n  expected: NAME==VERSION", said
        )

    def test_requirement_without_hash(self) -> None:
        self.assertIn("//:lock.txt:1: six==1.17.0 has no hash\n", self.lock("six==1.17.0\n"))

    def test_wrong_hash(self) -> None:
        said = self.lock(f"six==1.17.0 {HASH}\n")
        self.assertIn(
            "cachetree: six 1.17.0, locked in @@//:lock.txt: "
            "the file that the index gave is not the locked one.\n  expected: one of ",
            said,
        )
        self.assertIn("  found:    sha256:", said)

    def test_no_such_version(self) -> None:
        self.assertIn(
            "cachetree: six 999.0, locked in @@//:lock.txt: no wheel of six==999.0 for ",
            self.lock(f"six==999.0 {HASH}\n"),
        )

    def test_release_without_lock(self) -> None:
        said = self.workspace.build("@hub//:all", 'hubs.transformers(name = "hub", versions = ["9.9.9"])')
        self.assertIn("cachetree has no lock for transformers 9.9.9.\n  expected: one of 4.36.2, ", said)

    def test_lock_of_another_release(self) -> None:
        said = self.workspace.build(
            "@hub//:all",
            'hubs.transformers(name = "hub", locks = ["//:transformers_4_51_0.txt"])',
            transformers_4_51_0=f"transformers==4.51.1 {HASH}\n",
        )
        self.assertIn(
            "//:transformers_4_51_0.txt pins transformers==4.51.1.\n  expected: transformers==4.51.0", said
        )

    def test_two_locks_for_one_release(self) -> None:
        said = self.workspace.build(
            "@hub//:all",
            'hubs.transformers(name = "hub", versions = ["5.0.0"], locks = ["//:transformers_5_0_0.txt"])',
            transformers_5_0_0=f"transformers==5.0.0 {HASH}\n",
        )
        self.assertIn("two locks for transformers 5.0.0: ", said)

    def test_wrong_python(self) -> None:
        said = self.workspace.build(
            "@python_3_11//:runtime",
            'hubs.lock(name = "hub", lock = "//:lock.txt")',
            f"--repo_env=CACHETREE_PYTHON={shutil.which('false')}",
            lock=f"six==1.17.0 {HASH}\n",
        )
        self.assertIn("cachetree: no usable Python 3.11.\n  tried:    CACHETREE_PYTHON=", said)
        self.assertIn("  to do:    install Python 3.11, or name one: --repo_env=CACHETREE_PYTHON=", said)


if __name__ == "__main__":
    os.environ.pop("BUILD_WORKSPACE_DIRECTORY", None)
    unittest.main(verbosity=2, argv=sys.argv)
