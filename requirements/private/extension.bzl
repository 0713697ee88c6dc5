"""Module extension `hubs`: one repository per distinct wheel, one hub per lock, hubs of hubs."""

load(":hub.bzl", "hub", "hub_of_hubs", "lock_index")
load(":lock_file.bzl", "lock_version", "parse_lock")
load(":releases.bzl", "check_hub", "check_release", "closures", "hub_name", "release_key", "requirement_line", "wheel_name")
load(":wheel.bzl", "wheel")

_LOCKS = "//requirements/locks:"

def _hubs_impl(mctx):
    locks = {}  # repository of a hub -> struct(label, lock)
    owners = {}  # name of a tag -> module that has it
    for module in mctx.modules:
        for tag in module.tags.lock + module.tags.transformers:
            if tag.name in owners:
                fail("the modules %s and %s both make a hub called %s.\n  to do:    give one of them another name" % (
                    owners[tag.name],
                    module.name,
                    tag.name,
                ))
            owners[tag.name] = module.name
        for tag in module.tags.lock:
            _add_lock(mctx, locks, tag.name, tag.lock)
        for tag in module.tags.transformers:
            _add_releases(mctx, locks, tag)
    _declare_hubs(locks)
    return mctx.extension_metadata(reproducible = True)

def _add_lock(mctx, locks, name, label):
    """Reads the lock of the hub `name` into `locks`, and returns it."""
    if name in locks and locks[name].label != label:
        fail("two locks for the hub %s: %s and %s.\n  to do:    keep one" % (name, locks[name].label, label))
    lock = parse_lock(str(label), mctx.read(label))
    if lock.error:
        fail(lock.error)
    locks[name] = struct(label = label, lock = lock)
    return lock

def _add_releases(mctx, locks, tag):
    """Adds the locks that a `transformers` tag asks for, and declares its hub of hubs."""
    labels = _release_locks(mctx, tag)
    added = {}
    for version, label in labels.items():
        added[version] = _add_lock(mctx, locks, hub_name(version), label)
        error = check_release(str(label), version, added[version])
        if error:
            fail(error)
    hub_of_hubs(
        name = tag.name,
        hub_name = tag.name,
        hubs = {version: hub_name(version) for version in labels},
        packages = {version: sorted(lock.requirements) for version, lock in added.items()},
        yanked = {version: lock.yanked for version, lock in added.items() if lock.yanked},
    )

def _release_locks(mctx, tag):
    """Version to label of each lock that a `transformers` tag asks for, in release order."""
    asked = [(lock_version(label.name.rpartition("/")[2]), label) for label in tag.locks]
    for version, label in asked:
        if not version:
            fail("%s is not called like the lock of a release.\n  expected: transformers_X_Y_Z.txt" % label)
    if tag.versions or not tag.locks:
        asked += _shipped_locks(mctx, tag.versions)
    error = check_hub(tag.name, [(version, str(label)) for version, label in asked])
    if error:
        fail(error)
    return {version: label for version, label in sorted(asked, key = lambda item: release_key(item[0]))}

def _shipped_locks(mctx, versions):
    """(version, label) of the locks in requirements/locks; of all of them where `versions` is empty."""
    folder = mctx.path(Label(_LOCKS + "BUILD.bazel")).dirname
    shipped = {}
    for path in folder.readdir():
        if lock_version(path.basename):
            shipped[lock_version(path.basename)] = Label(_LOCKS + path.basename)
    for version in versions:
        if version not in shipped:
            fail("cachetree has no lock for transformers %s.\n  expected: one of %s\n  to do:    lock it yourself and pass hubs.transformers(locks = [\"//:%s.txt\"])" % (
                version,
                ", ".join(sorted(shipped, key = release_key)),
                hub_name(version),
            ))
    return [(version, shipped[version]) for version in versions or shipped]

def _declare_hubs(locks):
    """One repository per distinct wheel over all locks, and one hub per lock that points at them."""
    wheels = {}  # repository -> requirement
    pinned_by = {}  # line for pip -> locks
    for name, added in locks.items():
        requirements = added.lock.requirements
        for requirement in requirements.values():
            wheels[wheel_name(requirement)] = requirement
            pinned_by.setdefault(requirement_line(requirement), []).append(str(added.label))
        hub(
            name = name,
            title = name,
            closures = closures(requirements),
            versions = {requirement.name: requirement.version for requirement in requirements.values()},
            wheels = {requirement.name: wheel_name(requirement) for requirement in requirements.values()},
        )
    lock_index(
        name = "lock_index",
        locks = pinned_by,
    )
    for name, requirement in wheels.items():
        wheel(
            name = name,
            lock_index = "@lock_index//:index.json",
            requirement = requirement_line(requirement),
            title = "%s %s" % (requirement.name, requirement.version),
        )

_lock = tag_class(
    doc = "A hub of one lock file.",
    attrs = {
        "lock": attr.label(mandatory = True, doc = "What `pip-compile --generate-hashes` wrote."),
        "name": attr.string(mandatory = True, doc = "The hub's repository: `@NAME//PACKAGE`."),
    },
)

_transformers = tag_class(
    doc = """Hubs of transformers releases: `@transformers_4_51_0//PACKAGE` for each, and one hub of hubs.

Load the hub of hubs from its `defs.bzl`: `load("@transformers//:defs.bzl", "hub")`.""",
    attrs = {
        "locks": attr.label_list(doc = "Locks of your own, called `transformers_X_Y_Z.txt`."),
        "name": attr.string(default = "transformers", doc = "The repository of the hub of hubs."),
        "versions": attr.string_list(doc = "Releases to take from cachetree's own locks; all of them where neither this nor `locks` is given."),
    },
)

hubs = module_extension(
    implementation = _hubs_impl,
    doc = "pip hubs from locks. A wheel that several locks pin is one repository, fetched when a target needs it.",
    tag_classes = {
        "lock": _lock,
        "transformers": _transformers,
    },
)
