"""Fetching and unpacking one wheel: what comes out, and every message for what goes wrong."""

import hashlib
import os
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest
import wheel

FILES = {
    "toy/__init__.py": "ANSWER = 42\n",
    "toy-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n",
    "toy-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "toy-1.0.dist-info/RECORD": "",
}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that is all pip can see; the working folder is an empty one beside it."""
    folder = tmp_path / "index"
    folder.mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def make_wheel(folder: Path, name: str = "toy-1.0-py3-none-any.whl", **more: str) -> str:
    """Writes a wheel and returns its hash as a lock has it."""
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in (FILES | more).items():
            archive.writestr(member, text)
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


def test_fetch_takes_the_wheel_with_the_locked_hash(index: Path) -> None:
    digest = make_wheel(index)
    wheel.fetch(f"toy==1.0 --hash={digest}", Path("wheel"))
    assert os.listdir("wheel") == ["toy-1.0-py3-none-any.whl"]


def test_wrong_hash(index: Path) -> None:
    found = make_wheel(index)
    expected = "sha256:" + 64 * "0"
    with pytest.raises(wheel.WheelError) as raised:
        wheel.fetch(f"toy==1.0 --hash={expected}", Path("wheel"))
    assert str(raised.value) == (
        "the file that the index gave is not the locked one.\n"
        f"  expected: one of {expected}\n"
        f"  found:    {found}\n"
        "  to do:    if the index is right, remake the lock: bazel run //requirements:lock"
    )
    assert os.listdir("wheel") == []


def test_no_wheel_for_this_platform(index: Path) -> None:
    digest = make_wheel(index, "toy-1.0-cp27-cp27m-win32.whl")
    with pytest.raises(wheel.WheelError, match=r"^no wheel of toy==1.0 for cpython-311 on linux .*"):
        wheel.fetch(f"toy==1.0 --hash={digest}", Path("wheel"))


def test_source_packages_are_never_built(index: Path) -> None:
    (index / "toy-1.0.tar.gz").write_bytes(b"not even opened")
    with pytest.raises(wheel.WheelError, match=r"source packages are never built"):
        wheel.fetch("toy==1.0 --hash=sha256:" + 64 * "0", Path("wheel"))


def test_a_marker_that_excludes_this_machine_gives_no_wheel(index: Path) -> None:
    digest = make_wheel(index)
    wheel.fetch(f'toy==1.0 ; sys_platform == "win32" --hash={digest}', Path("wheel"))
    wheel.unpack(Path("wheel"), Path("site-packages"))
    assert os.listdir("wheel") == os.listdir("site-packages") == []


@pytest.mark.parametrize("found_by", ["pip", "cpu index"])
def test_torch_is_the_cpu_build(found_by: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def pip(requirement: str, into: Path, *options: str) -> None:
        asked.append((requirement, *options))
        if found_by == "cpu index" and not options:
            raise wheel.WheelError("no wheel")

    monkeypatch.setattr(wheel, "download", pip)
    wheel.fetch("torch==2.13.0 --hash=sha256:0", tmp_path / "wheel")
    first = ("torch==2.13.0+cpu --hash=sha256:0",)
    second = (*first, "--extra-index-url", wheel.TORCH_CPU_INDEX)
    assert asked == ([first] if found_by == "pip" else [first, second])


@pytest.mark.parametrize(("stderr", "runs"), [("ReadTimeoutError: read timed out", 3), ("disk full", 1)])
def test_only_a_failing_network_is_tried_again(
    stderr: str, runs: int, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 1, "", stderr)

    monkeypatch.setattr(wheel, "PAUSE", 0.0)
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(wheel.WheelError) as raised:
        wheel.fetch("toy==1.0 --hash=sha256:0", Path("wheel"))
    assert str(raised.value) == f"pip could not fetch toy==1.0.\n  found:    {stderr}"
    assert len(commands) == runs


def test_python_without_pip() -> None:
    message = wheel.explain("toy==1.0 --hash=sha256:0", "/usr/bin/python3: No module named pip")
    assert "has no pip, which fetches the wheels.\n  to do:    " in message


def unpacked(index: Path, **more: str) -> Path:
    wheel.fetch(f"toy==1.0 --hash={make_wheel(index, **more)}", Path("wheel"))
    wheel.unpack(Path("wheel"), Path("site-packages"))
    return Path("site-packages")


def test_unpack_compiles_and_makes_read_only(index: Path) -> None:
    site = unpacked(index)
    code = site / "toy/__pycache__/__init__.cpython-311.pyc"
    # PEP 552: flags 0b01 is a hash-based file that is never checked against its source.
    assert int.from_bytes(code.read_bytes()[4:8], "little") == 0b01
    assert stat.S_IMODE((site / "toy/__init__.py").stat().st_mode) & 0o222 == 0
    assert stat.S_IMODE(code.stat().st_mode) & 0o222 == 0


def test_the_same_wheel_gives_the_same_tree(index: Path) -> None:
    unpacked(index)
    first = Path("tree.sha256").read_text()
    assert len(first) == 65
    wheel.unpack(Path("wheel"), Path("again"))
    # The digest is of relative paths and content: another folder, another time, the same digest.
    assert Path("tree.sha256").read_text() == first


def test_a_changed_byte_changes_the_digest(index: Path) -> None:
    site = unpacked(index)
    before = wheel.tree_digest(site)
    (site / "toy/__init__.py").chmod(0o644)
    (site / "toy/__init__.py").write_text("ANSWER = 43\n")
    assert wheel.tree_digest(site) != before


def test_data_folders_go_where_an_installer_puts_them(index: Path) -> None:
    data = "toy-1.0.data"
    site = unpacked(
        index,
        **{
            f"{data}/purelib/toy/more.py": "",
            f"{data}/platlib/toy/native.py": "",
            f"{data}/scripts/toy": "#!python\n",
            f"{data}/headers/toy.h": "",
        },
    )
    assert (site / "toy/more.py").is_file()
    assert (site / "toy/native.py").is_file()
    assert (site / "bin/toy").is_file()
    assert not list(site.glob("**/toy.h"))


@pytest.mark.parametrize(
    "name", ["../escaped.py", "/escaped.py", "toy/../../escaped.py", "toy\\..\\x.py", "C:/x.py"]
)
def test_no_path_leaves_the_folder(name: str, index: Path) -> None:
    path = index / "toy-1.0-py3-none-any.whl"
    make_wheel(index, **{name: "print('gotcha')\n"})
    Path("wheel").mkdir()
    path.rename("wheel/toy-1.0-py3-none-any.whl")
    with pytest.raises(wheel.WheelError) as raised:
        wheel.unpack(Path("wheel"), Path("site-packages"))
    assert f"  found:    {name}\n" in str(raised.value)
    assert not list(index.parent.glob("**/escaped.py"))


def test_damaged_wheel(tmp_path: Path) -> None:
    (tmp_path / "toy-1.0-py3-none-any.whl").write_bytes(b"PK not really")
    with pytest.raises(wheel.WheelError, match=r"^toy-1.0-py3-none-any.whl is damaged: "):
        wheel.unpack(tmp_path, tmp_path / "site-packages")
