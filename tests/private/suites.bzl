"""Macro: the suites of //tests, found by the tags that transformers_test gives."""

load(":public_table.bzl", "PUBLIC_TABLE")
load(":transformers_test.bzl", "release_name")

def release_suites(name, hub):
    """Declares a suite of all releases, of each release and minor version, and of the public table.

    Each holds the tests of this package and of the packages below that have a suite of the same name.

    Args:
        name: the suite of all releases.
        hub: the struct that `@transformers//:defs.bzl` exports.
    """
    native.test_suite(
        name = name,
        tags = ["transformers"],
    )
    releases = [release_name(version) for version in hub.versions]
    minors = {release.rpartition("_")[0]: None for release in releases}
    for tag in releases + list(minors):
        native.test_suite(
            name = tag,
            tags = [tag],
        )
    missing = [version for version in PUBLIC_TABLE if version not in hub.versions]
    if missing:
        fail("the public table's releases have no lock: %s.\n  to do:    bazel run //requirements:lock -- %s" % (", ".join(missing), " ".join(missing)))
    native.test_suite(
        name = "public_table",
        tests = [release_name(version) for version in PUBLIC_TABLE],
    )
