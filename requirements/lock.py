"""Makes lock files with pip-tools: `bazel run //requirements:lock -- 4.51.0 5.0.0`.

Each lock is the closure of template.in for one transformers release, with a hash for every
requirement. Versions and hashes that other locks already hold are taken over where they fit, so
locks share wheels and a new release takes seconds. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

# Where PyTorch publishes its CPU wheels for Linux; asked only when pip's own sources lack them.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"

TOOLS = "tools"


class LockError(Exception):
    """Why a lock could not be made, for people."""


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    folder = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")) / "requirements"
    if not (folder / "template.in").is_file():
        print(
            f"cachetree: no template.in in {folder}.\n  to do:    bazel run //requirements:lock",
            file=sys.stderr,
        )
        return 2
    wrong = [target for target in options.targets if target != TOOLS and not is_release(target)]
    if wrong:
        print(
            f"cachetree: not a release: {', '.join(wrong)}.\n  expected: numbers such as 4.51.0, or {TOOLS}",
            file=sys.stderr,
        )
        return 2
    return lock_all(folder, list(dict.fromkeys(options.targets)), options.jobs, options.upgrade)


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="bazel run //requirements:lock --", description=(__doc__ or "").partition("\n")[0]
    )
    result.add_argument(
        "targets",
        nargs="+",
        metavar="VERSION",
        help=f"releases such as 4.51.0, or {TOOLS} for tools.txt",
    )
    result.add_argument(
        "--upgrade",
        action="store_true",
        help="take the newest of everything instead of what locks hold already",
    )
    result.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="locks made at a time (default: one per core)",
    )
    return result


def is_release(text: str) -> bool:
    return re.fullmatch(r"\d+\.\d+\.\d+", text) is not None


def lock_all(folder: Path, targets: list[str], jobs: int, upgrade: bool) -> int:
    """Makes the locks of `targets`, going on after a failure; returns the exit code."""
    failures = []
    # The first lock alone: the others take over its versions and hashes.
    for batch in (targets[:1], targets[1:]):
        with ThreadPoolExecutor(jobs) as pool:
            started = time.monotonic()
            running = {pool.submit(lock, folder, target, upgrade): target for target in batch}
            for future in as_completed(running):
                target, error = running[future], future.exception()
                seconds = time.monotonic() - started
                if error is None:
                    print(f"{target}: {future.result()} requirements ({seconds:.0f} s)", flush=True)
                elif isinstance(error, LockError | OSError):
                    failures.append(target)
                    print(f"{target}: FAILED: {error}", file=sys.stderr, flush=True)
                else:
                    raise error
    if failures:
        print(f"{len(failures)} of {len(targets)} failed: {' '.join(failures)}", file=sys.stderr)
    return 1 if failures else 0


def lock(folder: Path, target: str, upgrade: bool = False) -> int:
    """Makes one lock and returns how many requirements it holds.

    Raises:
        LockError: pip-compile failed; the old lock, if any, is left as it was.
    """
    if target == TOOLS:
        path, text = folder / "tools.txt", (folder / "tools.in").read_text(encoding="utf-8")
    else:
        path = folder / "locks" / f"transformers_{target.replace('.', '_')}.txt"
        text = (folder / "template.in").read_text(encoding="utf-8").replace("{version}", target)
    torch = (folder / "torch.txt").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="cachetree-lock-") as scratch:
        source, output = Path(scratch, "requirements.in"), Path(scratch, "requirements.txt")
        source.write_text(with_cpu_torch(text), encoding="utf-8")
        # pip-compile prefers the versions, and keeps the hashes, of the file that it overwrites.
        known = "" if upgrade else known_pins(path, target)
        output.write_text(with_cpu_torch(torch) + without_torch(known), encoding="utf-8")
        yanked = compile_lock(source, output)
        body = re.sub(r"(?m)^torch==([^+\s]+)\+cpu", r"torch==\1", output.read_text(encoding="utf-8"))
    header = f"# Made by pip-tools: bazel run //requirements:lock -- {target}\n"
    if yanked:
        header += f"# yanked: {yanked}\n"
    replace(path, header + body)
    return len(re.findall(r"(?m)^\S+==", body))


def with_cpu_torch(text: str) -> str:
    """On Linux, names the CPU build: the plain version there is a CUDA build with its own closure."""
    return re.sub(r"(?m)^(torch==[^+\s]+)", r"\1+cpu", text) if sys.platform == "linux" else text


def without_torch(lock_text: str) -> str:
    return re.sub(r"(?m)^torch==(?:.*\\\n)*.*\n", "", lock_text)


def known_pins(path: Path, target: str) -> str:
    """The lock itself if there is one, else that of the nearest release."""
    if path.is_file():
        return path.read_text(encoding="utf-8")
    if target == TOOLS:
        return ""
    nearest = min(releases(path.parent), key=lambda other: distance(other, target), default=None)
    if nearest is None:
        return ""
    text = (path.parent / f"transformers_{nearest.replace('.', '_')}.txt").read_text(encoding="utf-8")
    return re.sub(r"(?m)^transformers==(?:.*\\\n)*.*\n", "", text)


def releases(locks: Path) -> Iterator[str]:
    for path in locks.glob("transformers_*.txt"):
        yield path.stem.removeprefix("transformers_").replace("_", ".")


def distance(one: str, other: str) -> tuple[int, ...]:
    pairs = zip(one.split("."), other.split("."), strict=False)
    return tuple(abs(int(left) - int(right)) for left, right in pairs)


def compile_lock(source: Path, output: Path) -> str | None:
    """Runs pip-compile; returns why the index withdrew the release, if it did."""
    result = pip_compile(source, output)
    if result.returncode and "torch==" in result.stderr:
        result = pip_compile(source, output, "--extra-index-url", TORCH_CPU_INDEX)
    if result.returncode:
        raise LockError(f"pip-compile: {last_error(result.stderr)}")
    found = re.search(
        r"yanked version: 'transformers'.*?Reason for being yanked: ([^\n]*)", result.stderr, re.S
    )
    if found is None:
        return None
    reason = found.group(1).strip()
    return "no reason given" if reason in ("", "<none given>") else reason


def pip_compile(source: Path, output: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "piptools",
        "compile",
        "--generate-hashes",
        "--allow-unsafe",
        "--strip-extras",
    ]
    command += [
        "--no-header",
        "--no-emit-index-url",
        "--no-emit-find-links",
        "--no-emit-trusted-host",
    ]
    command += ["--no-emit-options", "--newline=lf", "--pip-args=--only-binary=:all:"]
    command += [*options, "--output-file", output.name, source.name]
    return subprocess.run(
        command,
        cwd=source.parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=False,
    )


def last_error(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "ERROR" in line or "Error" in line]
    return "\n  ".join((errors or lines or ["no message"])[-4:])


def replace(path: Path, text: str) -> None:
    """Writes `path` in one step: whoever reads it sees the old lock or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


if __name__ == "__main__":
    sys.exit(main())
