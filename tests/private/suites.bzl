"""Macro: the suites of //tests."""

load(":public_table.bzl", "PUBLIC_TABLE")
load(":transformers_test.bzl", "release_name")

def release_suites(name, hub, tests):
    """Declares a suite of all releases, of each release and minor version, and of the public table.

    Args:
        name: the suite of all releases.
        hub: the struct that `@transformers//:defs.bzl` exports.
        tests: labels of tests that have a target `TEST.transformers_X_Y_Z` for each release.
    """
    minors = {}
    for version in hub.versions:
        release = release_name(version)
        minors.setdefault(release.rpartition("_")[0], []).append(release)
        native.test_suite(
            name = release,
            tests = ["%s.%s" % (test, release) for test in tests],
        )
    for minor, releases in minors.items():
        native.test_suite(
            name = minor,
            tests = releases,
        )
    native.test_suite(
        name = name,
        tests = list(minors),
    )
    missing = [version for version in PUBLIC_TABLE if version not in hub.versions]
    if missing:
        fail("the public table's releases have no lock: %s.\n  to do:    bazel run //requirements:lock -- %s" % (", ".join(missing), " ".join(missing)))
    native.test_suite(
        name = "public_table",
        tests = [release_name(version) for version in PUBLIC_TABLE],
    )
