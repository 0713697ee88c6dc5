"""Macro: one pytest target per transformers release, and a suite of them all."""

load("@rules_python//python:defs.bzl", "py_test")

# What a release's test finds in its environment, whatever the machine has set.
_ENV = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
}

def transformers_test(
        name,
        srcs,
        hub,
        versions = None,
        deps = [],
        data = [],
        args = [],
        env = {},
        tags = [],
        **kwargs):
    """Runs the same pytest files on each release of transformers.

    For `NAME` and 4.51.0 it makes the `py_test` `NAME.transformers_4_51_0`, which links everything in
    that release's lock, with the tags `transformers`, `transformers_4_51_0` and `transformers_4_51`;
    and the `test_suite` `NAME` of them all. Each target also checks that it runs on the release of its
    name, with nothing but its lock, offline. A target that ran none of your tests fails.

    Args:
        name: the name of the suite, and the first part of each target's.
        srcs: Python files. Those called `*_test.py` or `test_*.py` hold the tests.
        hub: the struct that `@transformers//:defs.bzl` exports.
        versions: the releases; all of the hub's where None.
        deps: what the tests import beside the lock, such as `@cachetree//shim`.
        data: files that the tests read.
        args: arguments for pytest.
        env: environment of the tests.
        tags: further tags.
        **kwargs: goes to `py_test`, `size` or `python_version` for instance.
    """
    main = Label(":pytest_main.py")
    checks = Label(":release_test.py")
    tests = [src for src in srcs if _is_test(src)]
    if not tests:
        fail("transformers_test %s: no test in srcs.\n  expected: a file called *_test.py or test_*.py\n  found:    %s" % (name, ", ".join(srcs)))
    targets = []
    for version in hub.versions if versions == None else versions:
        lock = hub.label(version, "lock.json")
        release = release_name(version)
        target = "%s.%s" % (name, release)
        targets.append(target)
        py_test(
            name = target,
            srcs = srcs + [main, checks],
            args = ["$(rootpath %s)" % src for src in tests] + ["$(rlocationpath %s)" % checks] + args,
            data = data + [lock],
            env = _ENV | {
                "CACHETREE_LOCK": "$(rlocationpath %s)" % lock,
                "CACHETREE_RELEASE": version,
            } | env,
            legacy_create_init = 0,
            main = main,
            tags = tags + ["block-network", "transformers", release, release.rpartition("_")[0]],
            deps = deps + [hub.label(version)],
            **kwargs
        )
    native.test_suite(
        name = name,
        tests = targets,
        tags = ["manual"],
    )

def release_name(version):
    """How targets, tags and suites call a release.

    Args:
        version: such as `4.51.0`.

    Returns:
        `transformers_4_51_0`.
    """
    return "transformers_" + version.replace(".", "_")

def _is_test(src):
    file = src.rpartition("/")[2].rpartition(":")[2]
    return file.endswith("_test.py") or (file.startswith("test_") and file.endswith(".py"))
