"""The public face: names, weight, and that importing does nothing."""

import inspect
import subprocess
import sys
from pathlib import Path

import cachetree

NAMES = [
    *["Status", "__version__", "dynamic_cache", "dynamic_shapes", "pairs", "register", "register_class"],
    *["register_dynamic_cache", "register_encoder_decoder_cache", "register_static_cache", "registered"],
    *["static_cache", "status", "unregister"],
]

IMPORT = """
import sys, time
before = set(sys.modules)
start = time.perf_counter()
import cachetree
print(time.perf_counter() - start)
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new & {"torch", "transformers", "optree"}))
"""


def test_the_public_names_are_these() -> None:
    assert cachetree.__all__ == NAMES
    assert {name for name in vars(cachetree) if not name.startswith("_")} == set(NAMES) - {"__version__"}


def test_every_public_function_is_documented_and_typed() -> None:
    for name in NAMES[2:]:
        function = getattr(cachetree, name)
        assert inspect.getdoc(function), name
        assert "return" in function.__annotations__, name


def test_importing_takes_milliseconds_and_imports_neither_torch_nor_transformers() -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(Path(cachetree.__file__).parents[1])!r}); " + IMPORT.strip()
    )
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True)
    seconds, modules = done.stdout.splitlines()
    assert modules == ""
    assert float(seconds) < 0.5, "milliseconds; half a second is for a machine under load"


def test_the_package_is_marked_as_typed() -> None:
    assert (Path(cachetree.__file__).parent / "py.typed").is_file()
