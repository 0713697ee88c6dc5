"""Repository rules: a hub of one lock, and the hub of hubs."""

_WHEELS_BUILD = """\
load("@rules_python//python:defs.bzl", "py_library")

package(default_visibility = ["//visibility:public"])

exports_files(["lock.json"])

# Everything in the lock.
py_library(
    name = "all_requirements",
    data = ["lock.json"],
    deps = [
{deps}
    ],
)
"""

_PACKAGE_BUILD = """\
load("@rules_python//python:defs.bzl", "py_library")

package(default_visibility = ["//visibility:public"])

# {title}, with what it requires according to the lock.
py_library(
    name = "{name}",
    deps = [
{deps}
    ],
)

alias(
    name = "pkg",
    actual = ":{name}",
)
"""

_REQUIREMENTS_BZL = '''\
"""The requirements of {title}."""

_NAMES = {names}

all_requirements = [str(Label("//" + name)) for name in _NAMES]

def requirement(name):
    """The label of one requirement.

    Args:
        name: the distribution's name, in any spelling that pip takes.

    Returns:
        The label, as a string.
    """
    normalized = name.lower().replace("-", "_").replace(".", "_")
    if normalized not in _NAMES:
        fail("{title} has no requirement %r.\\n  expected: one of %s" % (name, ", ".join(_NAMES)))
    return str(Label("//" + normalized))
'''

def _hub_impl(rctx):
    wheels = rctx.attr.wheels
    rctx.file("BUILD.bazel", _WHEELS_BUILD.format(deps = _labels(wheels.values())))
    rctx.file("lock.json", json.encode_indent(rctx.attr.versions, indent = "  ") + "\n")
    rctx.file("requirements.bzl", _REQUIREMENTS_BZL.format(title = rctx.attr.title, names = _starlark(sorted(wheels))))
    for name, needs in rctx.attr.closures.items():
        rctx.file(name + "/BUILD.bazel", _PACKAGE_BUILD.format(
            deps = _labels([wheels[need] for need in needs]),
            name = name,
            title = "%s %s" % (name, rctx.attr.versions[name]),
        ))

def _labels(repositories):
    return "\n".join(['        "@%s//:pkg",' % repository for repository in repositories])

def _starlark(value):
    return json.encode_indent(value, indent = "    ")

hub = repository_rule(
    implementation = _hub_impl,
    doc = "A hub of one lock: `//NAME` and `//NAME:pkg` for each requirement, `//:all_requirements`, `requirements.bzl`.",
    attrs = {
        "closures": attr.string_list_dict(doc = "Requirement to itself and all that it requires."),
        "title": attr.string(mandatory = True, doc = "What the hub is called in messages."),
        "versions": attr.string_dict(doc = "Requirement to its locked version."),
        "wheels": attr.string_dict(doc = "Requirement to the repository of its wheel."),
    },
)

_DEFS_BZL = '''\
"""The hubs of transformers releases, in release order."""

_HUBS = {hubs}

_PACKAGES = {packages}

def _label(version, package = "all_requirements"):
    """The label of a package of one release's lock.

    Args:
        version: a transformers release, such as `4.51.0`.
        package: a distribution's name; without it, everything in the lock.

    Returns:
        The label, as a string.
    """
    if version not in _HUBS:
        fail("@{name} has no transformers %s.\\n  expected: one of %s" % (version, ", ".join(_HUBS)))
    if package == "all_requirements" or package == "lock.json":
        return str(Label("@" + _HUBS[version] + "//:" + package))
    normalized = package.lower().replace("-", "_").replace(".", "_")
    if normalized not in _PACKAGES[version]:
        fail("the lock of transformers %s has no %s.\\n  expected: one of %s" % (
            version,
            package,
            ", ".join(_PACKAGES[version]),
        ))
    return str(Label("@" + _HUBS[version] + "//" + normalized))

hub = struct(
    # What cachetree's macros take: `versions` (list, in release order), `yanked` (dict of version to
    # reason) and `label(version, package)`.
    versions = list(_HUBS),
    yanked = {yanked},
    label = _label,
)
'''

def _hub_of_hubs_impl(rctx):
    rctx.file("BUILD.bazel")
    rctx.file("defs.bzl", _DEFS_BZL.format(
        name = rctx.attr.hub_name,
        hubs = _starlark(rctx.attr.hubs),
        packages = _starlark(rctx.attr.packages),
        yanked = _starlark(rctx.attr.yanked),
    ))

hub_of_hubs = repository_rule(
    implementation = _hub_of_hubs_impl,
    doc = "`defs.bzl` with `hub`: the versions, and the label of any package of any of them.",
    attrs = {
        "hub_name": attr.string(mandatory = True, doc = "The apparent name; for messages."),
        "hubs": attr.string_dict(doc = "Release to the repository of its hub, in release order."),
        "packages": attr.string_list_dict(doc = "Release to the names in its lock."),
        "yanked": attr.string_dict(doc = "Release to why the index withdrew it."),
    },
)

def _lock_index_impl(rctx):
    rctx.file("BUILD.bazel", "exports_files([\"index.json\"])\n")
    rctx.file("index.json", json.encode(rctx.attr.locks))

lock_index = repository_rule(
    implementation = _lock_index_impl,
    doc = "`index.json`: which locks pin a requirement; wheels read it for their messages.",
    attrs = {"locks": attr.string_list_dict(doc = "Requirement, as a line for pip, to labels of locks.")},
)
