"""Every lock in the tree: full, hashed, of the release in its name, with the CPU wheels of torch."""

import re
from pathlib import Path

import pytest

REQUIREMENTS = Path("requirements")
LOCKS = sorted(REQUIREMENTS.glob("locks/transformers_*.txt"))
TORCH = re.sub(r"(?m)^#.*\n", "", (REQUIREMENTS / "torch.txt").read_text(encoding="utf-8"))


def test_there_are_locks() -> None:
    assert LOCKS


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_lock(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    version = path.stem.removeprefix("transformers_").replace("_", ".")
    assert text.startswith(f"# Made by pip-tools: bazel run //requirements:lock -- {version}\n")
    assert re.findall(r"(?m)^transformers==(\S+)", text) == [version]
    assert TORCH in text
    assert "://" not in text and "--index" not in text and "--find-links" not in text
    names = re.findall(r"(?m)^([\w.-]+)==", text)
    assert names == sorted(set(names), key=lambda name: (name in ("setuptools", "pip"), name))
    for name in template():
        assert name in names
    for entry in re.findall(r"(?m)^[\w.-]+==\S+((?: \\\n +--hash=sha256:[0-9a-f]{64})*)$", text):
        assert entry, f"a requirement without hash in {path}"


def template() -> list[str]:
    text = (REQUIREMENTS / "template.in").read_text(encoding="utf-8")
    return re.findall(r"(?m)^([\w-]+)", text)
