"""Repository rule: one wheel, fetched by pip, unpacked and byte-compiled once."""

load("//python/private:find_python.bzl", "find_python")

_BUILD = """\
load("@rules_python//python:defs.bzl", "py_library")

# One directory is one runfiles entry. Bazel does not look inside it: tree.sha256 stands for its content.
py_library(
    name = "pkg",
    data = [
        "site-packages",
        "tree.sha256",
    ],
    imports = ["site-packages"],
    visibility = ["//visibility:public"],
)
"""

def _wheel_impl(rctx):
    python = find_python(rctx)
    script = rctx.path(rctx.attr._script)
    rctx.file("requirement.txt", rctx.attr.requirement + "\n")
    _step(rctx, python, script, "fetching", "fetch")
    _step(rctx, python, script, "unpacking", "unpack")
    rctx.delete("wheel")
    rctx.file("BUILD.bazel", _BUILD)

def _step(rctx, python, script, doing, command):
    rctx.report_progress("%s %s" % (doing, rctx.attr.title))
    result = rctx.execute(
        [python.executable, "-s", script, command],
        environment = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": ""},
        timeout = 3600,
    )
    if result.return_code:
        fail("cachetree: %s, locked in %s: %s" % (rctx.attr.title, _locks(rctx), result.stderr.strip()))

def _locks(rctx):
    """The locks that pin the wheel. Looked up on failure only: one more lock must not refetch a wheel."""
    locks = json.decode(rctx.read(rctx.attr.lock_index))[rctx.attr.requirement]
    return ", ".join(locks[:3] + (["and %d more" % (len(locks) - 3)] if len(locks) > 3 else []))

wheel = repository_rule(
    implementation = _wheel_impl,
    doc = """One wheel as a `py_library` (`//:pkg`) over one directory.

pip fetches it with the user's own configuration, refuses any file whose hash the lock does not list, and builds nothing.""",
    attrs = {
        "lock_index": attr.label(mandatory = True, doc = "JSON: requirement to the locks that pin it."),
        "requirement": attr.string(mandatory = True, doc = "One line for pip: `NAME==VERSION --hash=sha256:...`."),
        "title": attr.string(mandatory = True, doc = "`NAME VERSION`; for progress and messages."),
        "_script": attr.label(default = ":wheel.py", allow_single_file = True),
    },
)
