"""Fetches one wheel with pip and unpacks it: the two steps of the repository rule in wheel.bzl.

Runs on the machine's Python, in the repository's folder, with nothing but the standard library and pip:

    wheel.py fetch    requirement.txt -> wheel/*.whl
    wheel.py unpack   wheel/*.whl     -> site-packages/, tree.sha256
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import os
import py_compile
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

# Where PyTorch publishes its CPU wheels for Linux; asked only when pip's own sources lack them.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"

TRIES = 3
PAUSE = 5.0  # seconds, times the number of tries so far


class WheelError(Exception):
    """What went wrong and what to do, for people."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["fetch", "unpack"])
    options = parser.parse_args()
    try:
        if options.command == "fetch":
            fetch(Path("requirement.txt").read_text(encoding="utf-8").strip(), Path("wheel"))
        else:
            unpack(Path("wheel"), Path("site-packages"))
    except (WheelError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def fetch(requirement: str, into: Path) -> None:
    """Downloads the wheel of `requirement` (`NAME==VERSION --hash=...`) into the folder `into`.

    A requirement whose marker excludes this machine leaves the folder empty.

    Raises:
        WheelError: no file fits, its hash is not in the lock, or the index does not answer.
    """
    into.mkdir(exist_ok=True)
    if not re.match(r"torch==[^+ ]+ ", requirement) or sys.platform != "linux":
        return download(requirement, into)
    # On Linux the plain version is a CUDA build of half a gigabyte: ask for the CPU build by its name.
    requirement = requirement.replace(" ", "+cpu ", 1)
    try:
        download(requirement, into)
    except WheelError:
        download(requirement, into, "--extra-index-url", TORCH_CPU_INDEX)


def download(requirement: str, into: Path, *options: str) -> None:
    """Runs `pip download`, trying again when the index fails, and explains what it says."""
    pinned = into / "pinned.txt"
    pinned.write_text(requirement + "\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
    ]
    command += [
        "--require-hashes",
        "--no-input",
        "--progress-bar=off",
        "--dest",
        str(into),
        *options,
    ]
    try:
        for tries_left in reversed(range(TRIES)):
            result = subprocess.run(
                [*command, "--requirement", str(pinned)],
                capture_output=True,
                text=True,
                check=False,
            )
            if result.returncode == 0:
                return
            if not tries_left or not is_transient(result.stderr):
                raise WheelError(explain(requirement, result.stderr))
            time.sleep(PAUSE * (TRIES - tries_left))
    finally:
        pinned.unlink()


def is_transient(stderr: str) -> bool:
    """Whether pip's words tell of a network that may be back in a moment."""
    return bool(
        re.search(
            r"ConnectionError|ReadTimeout|ConnectTimeout|ProtocolError|Connection (broken|reset)|"
            r"Max retries exceeded|Temporary failure|HTTP error 5\d\d|5\d\d Server Error|IncompleteRead",
            stderr,
        )
    )


def explain(requirement: str, stderr: str) -> str:
    """Turns pip's words into what was expected, what was found and what to do."""
    pin, *hashes = requirement.split(" --hash=")
    if "No module named pip" in stderr:
        return (
            f"{sys.executable} has no pip, which fetches the wheels.\n"
            f"  to do:    {sys.executable} -m ensurepip, or install your system's python3-pip"
        )
    if "DO NOT MATCH THE HASHES" in stderr or "do not match the hashes" in stderr.lower():
        found = re.findall(r"Got\s+([0-9a-f]{64})", stderr)
        return (
            f"the file that the index gave is not the locked one.\n"
            f"  expected: one of {', '.join(hashes)}\n"
            f"  found:    {', '.join('sha256:' + digest for digest in found) or 'another hash'}\n"
            f"  to do:    if the index is right, remake the lock: bazel run //requirements:lock"
        )
    if "No matching distribution" in stderr:
        tags = f"{sys.implementation.cache_tag} on {sys.platform} {os.uname().machine}"
        return (
            f"no wheel of {pin} for {tags}.\n"
            f"  expected: a wheel on pip's own indexes or find-links (source packages are never built)\n"
            f"  found:    none; see `pip config list` and `pip download --only-binary=:all: {pin}`\n"
            f"  to do:    add an index that has one, or lock a version that has one"
        )
    return f"pip could not fetch {pin}.\n  found:    {' '.join(stderr.split())[-2000:]}"


def unpack(folder: Path, site: Path) -> None:
    """Unpacks the wheel in `folder` into `site`, byte-compiles it, and makes it read-only.

    `tree.sha256` beside `site` gets the digest of every path and every byte.

    Raises:
        WheelError: the wheel is damaged, or a path in it would leave `site`.
    """
    site.mkdir()
    for wheel in sorted(folder.glob("*.whl")):
        extract(wheel, site)
    # Unchecked-hash byte code holds no time stamp: the same wheel gives the same tree everywhere.
    compileall.compile_dir(
        site,
        quiet=2,
        workers=os.cpu_count() or 1,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        stripdir=str(site),
        legacy=False,
    )
    Path("tree.sha256").write_text(tree_digest(site) + "\n", encoding="utf-8")
    make_read_only(site)


def extract(wheel: Path, site: Path) -> None:
    """Unpacks one wheel as an installer would: `*.data/purelib` and `platlib` move up, scripts stay out."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for info in archive.infolist():
                path = installed_path(wheel, info.filename)
                if path is None or info.is_dir():
                    continue
                target = site / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(info) as source, target.open("wb") as sink:
                    while chunk := source.read(1 << 20):
                        sink.write(chunk)
                if info.external_attr >> 16 & 0o111:
                    target.chmod(0o755)
    except (zipfile.BadZipFile, EOFError) as error:
        raise WheelError(f"{wheel.name} is damaged: {error}\n  to do:    fetch it again") from None


def installed_path(wheel: Path, name: str) -> PurePosixPath | None:
    """Where the member `name` of a wheel belongs below site-packages; None if it does not.

    Raises:
        WheelError: the path is absolute or has a `..`.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or re.match(r"[A-Za-z]:", name):
        raise WheelError(
            f"{wheel.name} holds a path that leaves its folder.\n"
            f"  expected: paths below site-packages\n"
            f"  found:    {name}\n"
            f"  to do:    do not use this wheel; tell whoever published it"
        )
    if not path.parts or not path.parts[0].endswith(".data"):
        return path
    kind, rest = path.parts[1:2], path.parts[2:]
    if kind in (("purelib",), ("platlib",)) and rest:
        return PurePosixPath(*rest)
    # Programs such as ruff keep their executable in scripts/: it is of use, but not on any path.
    return PurePosixPath("bin", *rest) if kind == ("scripts",) and rest else None


def tree_digest(root: Path) -> str:
    """The sha256 over every relative path and content below `root`, in sorted order."""
    digest = hashlib.sha256()
    for path in files(root):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return digest.hexdigest()


def make_read_only(root: Path) -> None:
    for path in files(root):
        path.chmod(path.stat().st_mode & ~0o222)


def files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            yield Path(folder, name)


if __name__ == "__main__":
    sys.exit(main())
