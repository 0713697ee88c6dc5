"""Module extension `python`: declares `@python_3_11`."""

load(":find_python.bzl", "PYTHON_VERSION")
load(":local_python.bzl", "local_python")

def _python_impl(mctx):
    local_python(name = "python_" + PYTHON_VERSION.replace(".", "_"))
    return mctx.extension_metadata(reproducible = True)

python = module_extension(
    implementation = _python_impl,
    doc = """A Python 3.11 toolchain from the machine: `$CACHETREE_PYTHON`, else `python3.11` on PATH.

Register it with `register_toolchains("@python_3_11//:all")`.""",
)
