"""Repository rule: a Python toolchain made of the machine's own CPython 3.11."""

load(":find_python.bzl", "PYTHON_VERSION", "find_python")

_BUILD = """\
load("@rules_python//python:defs.bzl", "py_runtime", "py_runtime_pair")
{loads}
package(default_visibility = ["//visibility:public"])

py_runtime(
    name = "runtime",
    files = ["venv/pyvenv.cfg"],
    interpreter = "venv/bin/python{minor}",
    python_version = "PY3",
    stub_shebang = "#!{executable}",
{runtime})

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtime_pair",
    toolchain_type = "@rules_python//python:toolchain_type",
)
{toolchains}"""

# rules_python 2.x reads the version and wants an exec-tools toolchain: without one it downloads an interpreter.
_MODERN_LOADS = """\
load("@rules_python//python:py_exec_tools_toolchain.bzl", "py_exec_tools_toolchain")
"""

_MODERN_RUNTIME = """\
    implementation_name = "cpython",
    interpreter_version_info = {{
        "major": "{0}",
        "minor": "{1}",
        "micro": "{2}",
    }},
"""

_MODERN_TOOLCHAINS = """
py_exec_tools_toolchain(
    name = "exec_tools",
    precompiler = "@rules_python//tools/precompiler:precompiler",
)

toolchain(
    name = "exec_tools_toolchain",
    toolchain = ":exec_tools",
    toolchain_type = "@rules_python//python:exec_tools_toolchain_type",
)
"""

def _local_python_impl(rctx):
    python = find_python(rctx)

    # A venv of two files hides the interpreter's own site-packages: nothing but the lock can be imported.
    # Its text names the full version, so another micro release is another action key.
    rctx.symlink(python.executable, "venv/bin/python" + PYTHON_VERSION)
    rctx.file("venv/pyvenv.cfg", "home = {home}\ninclude-system-site-packages = false\nversion = {version}\n".format(
        home = python.executable.rpartition("/")[0],
        version = python.version,
    ))
    modern = rctx.path(Label("@rules_python//:BUILD.bazel")).dirname.get_child("python").get_child("features.bzl").exists
    rctx.file("BUILD.bazel", _BUILD.format(
        executable = python.executable,
        minor = PYTHON_VERSION,
        loads = _MODERN_LOADS if modern else "",
        runtime = _MODERN_RUNTIME.format(*python.version.split(".")) if modern else "",
        toolchains = _MODERN_TOOLCHAINS if modern else "",
    ))

local_python = repository_rule(
    implementation = _local_python_impl,
    doc = "A Python 3.11 toolchain made of the machine's own interpreter, with its site-packages switched off.",
    environ = ["CACHETREE_PYTHON", "PATH"],
    configure = True,
    local = True,
)
