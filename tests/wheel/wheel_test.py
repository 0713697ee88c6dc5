"""The wheel holds the library and nothing else, and imports without torch."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

WHEEL = Path(os.environ["WHEEL"]).resolve()


def test_content() -> None:
    names = zipfile.ZipFile(WHEEL).namelist()
    assert {name.partition("/")[0] for name in names} == {"cachetree", "cachetree-0.1.0.dist-info"}
    assert "cachetree/py.typed" in names
    assert sorted(name for name in names if name.endswith(".py")) == sorted(
        str(path.relative_to("shim")) for path in Path("shim").glob("cachetree/**/*.py")
    )


def test_metadata() -> None:
    metadata = zipfile.ZipFile(WHEEL).read("cachetree-0.1.0.dist-info/METADATA").decode()
    assert "\nName: cachetree\nVersion: 0.1.0\n" in metadata
    assert "Requires-Dist" not in metadata


def test_it_imports_alone() -> None:
    program = "import cachetree, sys; assert 'torch' not in sys.modules; print(cachetree.__version__)"
    result = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(WHEEL)!r}); {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == "0.1.0\n"
