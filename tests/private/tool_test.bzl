"""Macro: a pytest target that needs no transformers release."""

load("@rules_python//python:defs.bzl", "py_test")

def tool_test(name, srcs, deps = [], args = [], **kwargs):
    """Runs pytest files with the tools' lock.

    Args:
        name: the target's name.
        srcs: the test files.
        deps: what they import, beside pytest.
        args: arguments for pytest.
        **kwargs: goes to `py_test`.
    """
    main = Label(":tool_test_main.py")
    py_test(
        name = name,
        size = kwargs.pop("size", "small"),
        srcs = srcs + [main],
        args = ["$(rootpath %s)" % src for src in srcs if src.endswith("_test.py")] + args,
        legacy_create_init = 0,
        main = main,
        deps = deps + ["@cachetree_tools//pytest_bazel"],
        **kwargs
    )
