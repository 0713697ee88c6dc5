"""Finds the machine's Python for the toolchain and for fetching wheels."""

PYTHON_VERSION = "3.11"

_VARIABLE = "CACHETREE_PYTHON"

_DESCRIBE = """\
import json, os, sys
print(json.dumps({
    "executable": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
    "implementation": sys.implementation.name,
    "version": "%d.%d.%d" % sys.version_info[:3],
}))
"""

_HELP = """\
cachetree: no usable Python {version}.
  tried:    {tried}
  found:    {found}
  expected: CPython {version}, the version that the locks are for
  to do:    install Python {version}, or name one: --repo_env={variable}=/path/to/python{version}
"""

def find_python(rctx):
    """Finds CPython 3.11, `$CACHETREE_PYTHON` first, then `python3.11` on PATH.

    Launchers, pyenv shims and virtual environments are followed to the base interpreter.

    Args:
        rctx: the `repository_ctx`.

    Returns:
        A struct of `executable` (an absolute path) and `version` (such as `3.11.7`). Fails with
        what was tried, what was found and what to do.
    """
    command = "python" + PYTHON_VERSION
    named = rctx.os.environ.get(_VARIABLE)
    tried = "%s=%s" % (_VARIABLE, named) if named else "%s is not set; %s on PATH" % (_VARIABLE, command)
    executable = named or rctx.which(command)
    if not executable:
        _fail(tried, "nothing")
    result = rctx.execute([executable, "-I", "-c", _DESCRIBE])
    if result.return_code:
        _fail(tried, "%s does not run: %s" % (executable, result.stderr.strip() or "exit code %d" % result.return_code))
    found = json.decode(result.stdout)
    if found["implementation"] != "cpython" or not found["version"].startswith(PYTHON_VERSION + "."):
        _fail(tried, "%s is %s %s" % (executable, found["implementation"], found["version"]))
    return struct(executable = found["executable"], version = found["version"])

def _fail(tried, found):
    fail(_HELP.format(version = PYTHON_VERSION, tried = tried, found = found, variable = _VARIABLE))
