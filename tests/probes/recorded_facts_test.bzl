"""Macro: compares the measured facts of each release with the recorded ones."""

load("//tests/private:tool_test.bzl", "tool_test")

def recorded_facts_test(name, hub):
    """Makes `NAME.transformers_4_51_0` and so on, and the suite `NAME`.

    Args:
        name: the suite, and the first part of each target's name.
        hub: the struct that `@transformers//:defs.bzl` exports.
    """
    targets = []
    schema = "//probes/cachetree_probes:facts.schema.json"
    for version in hub.versions:
        release = "transformers_" + version.replace(".", "_")
        facts = "//probes:facts." + release
        targets.append("%s.%s" % (name, release))
        tool_test(
            name = targets[-1],
            srcs = ["recorded_facts_test.py"],
            data = [
                facts,
                schema,
                "//probes:expected",
            ],
            env = {
                "CACHETREE_FACTS": "$(rootpath %s)" % facts,
                "CACHETREE_RELEASE": version,
                "CACHETREE_SCHEMA": "$(rootpath %s)" % schema,
            },
            tags = [
                "transformers",
                release,
                release.rpartition("_")[0],
            ],
            deps = [
                "//probes/cachetree_report",
                "@cachetree_tools//jsonschema",
            ],
        )
    native.test_suite(
        name = name,
        tags = ["manual"],
        tests = targets,
    )
