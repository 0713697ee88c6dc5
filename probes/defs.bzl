"""Public macro: probe your own lock.

```starlark
load("@cachetree//probes:defs.bzl", "transformers_facts")
load("@transformers//:defs.bzl", "hub")

transformers_facts(
    name = "facts",
    hub = hub,
)
```

`bazel build :facts` leaves `facts.transformers_4_51_0.json` and so on; `:facts.transformers_4_51_0`
is one of them.
"""

load("@rules_python//python:defs.bzl", "py_binary")
load("//probes/private:release_facts.bzl", "release_facts")

def transformers_facts(name, hub, versions = None, **kwargs):
    """Measures the facts of each release, in cached actions that only its lock and the probes touch.

    What cachetree makes of a release is measured in an action of its own: a change of the shim repeats
    that one alone. `NAME.machine` holds what the measuring cost on this machine.

    Args:
        name: the filegroup of all facts files; the first part of each release's target.
        hub: the struct that `@transformers//:defs.bzl` exports.
        versions: the releases; all of the hub's where None.
        **kwargs: goes to every target, `visibility` for instance.
    """
    facts = []
    for version in hub.versions if versions == None else versions:
        target = "%s.transformers_%s" % (name, version.replace(".", "_"))
        _probe_binary(target + ".probe", [hub.label(version)])
        _probe_binary(target + ".shim_probe", [hub.label(version), Label("//shim")])
        release_facts(
            name = target,
            probe = target + ".probe",
            shim_probe = target + ".shim_probe",
            version = version,
            **kwargs
        )
        facts.append(target)
    native.filegroup(
        name = name,
        srcs = facts,
        **kwargs
    )
    native.filegroup(
        name = name + ".machine",
        srcs = facts,
        output_group = "machine",
        **kwargs
    )

def _probe_binary(name, deps):
    main = Label("//probes/private:probe.py")
    py_binary(
        name = name,
        srcs = [main],
        legacy_create_init = 0,
        main = main,
        tags = ["manual"],
        deps = deps + [Label("//probes/cachetree_probes")],
    )
