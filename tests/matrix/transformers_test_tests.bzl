"""Analysis tests of transformers_test: identical targets for each release, tagged, in one suite."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("//tests/private:transformers_test.bzl", "release_name", "transformers_test")

def _tags_test_impl(ctx):
    env = analysistest.begin(ctx)
    tags = analysistest.target_under_test(env)[_TagsInfo].tags
    for tag in ["block-network", "transformers", ctx.attr.release, ctx.attr.minor]:
        asserts.true(env, tag in tags, "no tag %s in %s" % (tag, tags))
    return analysistest.end(env)

_TagsInfo = provider("The tags of a target.", fields = ["tags"])

def _tags_aspect_impl(_, ctx):
    return [_TagsInfo(tags = ctx.rule.attr.tags)]

_tags_aspect = aspect(implementation = _tags_aspect_impl)

_tags_test = analysistest.make(
    _tags_test_impl,
    attrs = {
        "minor": attr.string(),
        "release": attr.string(),
    },
    extra_target_under_test_aspects = [_tags_aspect],
)

def _names_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, "transformers_4_51_0", release_name("4.51.0"))
    return unittest.end(env)

_names_test = unittest.make(_names_test_impl)

def transformers_test_test_suite(name, hub):
    """The tests of transformers_test.

    Args:
        name: the suite.
        hub: the hub of hubs.
    """
    unittest.suite(name + ".names", _names_test)
    version = hub.versions[0]
    transformers_test(
        name = name + ".subject_test",
        srcs = ["subject_test.py"],
        hub = hub,
        tags = ["manual"],
        versions = [version],
    )
    _tags_test(
        name = name + ".tags",
        minor = release_name(version).rpartition("_")[0],
        release = release_name(version),
        target_under_test = ":%s.subject_test.%s" % (name, release_name(version)),
    )
    native.test_suite(
        name = name,
        tests = [
            name + ".names",
            name + ".tags",
        ],
    )
