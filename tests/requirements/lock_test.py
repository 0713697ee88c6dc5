"""The command that makes locks, with pip-compile played by a function."""

import subprocess
import sys
from pathlib import Path

import lock
import pytest

DIGEST = "sha256:" + 64 * "a"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A requirements/ folder without locks; pip-compile writes what it would: pins with hashes."""
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(tmp_path))
    requirements = tmp_path / "requirements"
    (requirements / "locks").mkdir(parents=True)
    (requirements / "template.in").write_text("transformers=={version}\ntorch==2.13.0\n")
    (requirements / "tools.in").write_text("pip-tools\n")
    (requirements / "torch.txt").write_text(f"torch==2.13.0 \\\n    --hash={DIGEST}\n")
    monkeypatch.setattr(lock, "pip_compile", pip_compile)
    return requirements


def pip_compile(source: Path, output: Path, *options: str) -> subprocess.CompletedProcess[str]:
    asked, known = source.read_text(), output.read_text()
    if "9.9.9" in asked:
        return subprocess.CompletedProcess(
            [], 1, "", "ERROR: No matching distribution found for transformers==9.9.9"
        )
    pins = [line for line in asked.splitlines() if line.startswith("transformers")]
    body = "".join(f"{pin} \\\n    --hash={DIGEST}\n" for pin in pins) + known.partition("# known\n")[2]
    output.write_text(known[: known.index("\n    --hash")] + f"\n    --hash={DIGEST}\n" + body)
    warning = (
        "WARNING: The candidate selected is a yanked version: 'transformers' candidate\n"
        "Reason for being yanked: broken\n"
    )
    return subprocess.CompletedProcess([], 0, "", warning if "4.52.0" in asked else "")


def test_makes_a_lock(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lock.main(["4.51.0"]) == 0
    assert (folder / "locks/transformers_4_51_0.txt").read_text() == (
        "# Made by pip-tools: bazel run //requirements:lock -- 4.51.0\n"
        f"torch==2.13.0 \\\n    --hash={DIGEST}\n"
        f"transformers==4.51.0 \\\n    --hash={DIGEST}\n"
    )
    assert capsys.readouterr().out.startswith("4.51.0: 2 requirements (")


def test_says_that_a_release_was_yanked(folder: Path) -> None:
    assert lock.main(["4.52.0"]) == 0
    assert (folder / "locks/transformers_4_52_0.txt").read_text().splitlines()[1] == "# yanked: broken"


@pytest.mark.parametrize(
    ("said", "reason"), [("broken", "broken"), ("<none given>", "no reason given"), ("", "no reason given")]
)
def test_why_a_release_was_yanked(
    said: str, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stderr = f"WARNING: ... a yanked version: 'transformers' ...\nReason for being yanked: {said}\n"
    result = subprocess.CompletedProcess([], 0, "", stderr)
    monkeypatch.setattr(lock, "pip_compile", lambda *_: result)
    assert lock.compile_lock(tmp_path / "in", tmp_path / "out") == reason


def test_goes_on_after_a_failure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = folder / "locks/transformers_9_9_9.txt"
    old.write_text("the old lock\n")
    assert lock.main(["9.9.9", "4.51.0"]) == 1
    assert (folder / "locks/transformers_4_51_0.txt").is_file()
    assert old.read_text() == "the old lock\n"
    assert capsys.readouterr().err == (
        "9.9.9: FAILED: pip-compile: ERROR: No matching distribution found for transformers==9.9.9\n"
        "1 of 2 failed: 9.9.9\n"
    )


def test_takes_over_what_the_nearest_lock_knows(folder: Path) -> None:
    for version in ("4.36.2", "4.50.0", "5.0.0"):
        path = folder / f"locks/transformers_{version.replace('.', '_')}.txt"
        path.write_text(f"# of {version}\ntransformers=={version} \\\n    --hash={DIGEST}\n")
    assert lock.known_pins(folder / "locks/transformers_4_51_0.txt", "4.51.0") == "# of 4.50.0\n"
    assert lock.known_pins(folder / "locks/transformers_4_36_2.txt", "4.36.2").startswith(
        "# of 4.36.2\ntransformers"
    )
    assert lock.known_pins(folder / "tools.txt", "tools") == ""


def test_linux_resolves_the_cpu_build_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert (
        lock.with_cpu_torch("a==1\ntorch==2.13.0 \\\ntorchvision==1\n")
        == "a==1\ntorch==2.13.0+cpu \\\ntorchvision==1\n"
    )
    monkeypatch.setattr(sys, "platform", "darwin")
    assert lock.with_cpu_torch("torch==2.13.0\n") == "torch==2.13.0\n"


def test_asks_the_cpu_index_when_pip_has_no_cpu_build(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []

    def run(source: Path, output: Path, *options: str) -> subprocess.CompletedProcess[str]:
        asked.append(options)
        return subprocess.CompletedProcess(
            [], int(not options), "", "No matching distribution found for torch==2.13.0+cpu"
        )

    monkeypatch.setattr(lock, "pip_compile", run)
    assert lock.compile_lock(tmp_path / "in", tmp_path / "out") is None
    assert asked == [(), ("--extra-index-url", lock.TORCH_CPU_INDEX)]


@pytest.mark.parametrize("target", ["4.51", "latest", "4.51.0rc1"])
def test_refuses_what_is_no_release(target: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lock.main([target]) == 2
    assert capsys.readouterr().err == (
        f"cachetree: not a release: {target}.\n  expected: numbers such as 4.51.0, or tools\n"
    )
