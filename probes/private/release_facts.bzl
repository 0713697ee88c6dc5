"""Rules: the facts of one release as cached actions, and a small file for the report."""

# What depends on cachetree, measured apart so that its changes repeat nothing else.
_OF_CACHETREE = ["capabilities.cachetree", "registration.after_cachetree"]

def _probe(ctx, probe, name, only):
    """Runs a probe binary; returns the facts and what differs at every run."""
    facts = ctx.actions.declare_file("%s.%s.json" % (ctx.label.name, name))
    machine = ctx.actions.declare_file("%s.%s.machine.json" % (ctx.label.name, name))
    arguments = ctx.actions.args()
    arguments.add("--output", facts)
    arguments.add("--machine", machine)
    arguments.add_all(only, before_each = "--only")
    ctx.actions.run(
        executable = probe,
        arguments = [arguments],
        outputs = [facts, machine],
        env = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
        execution_requirements = {"block-network": "1"},
        mnemonic = "CacheProbe",
        progress_message = "Probing transformers %s, %s" % (ctx.attr.version, name),
    )
    return facts, machine

def _merge(ctx, files, output):
    ctx.actions.run(
        executable = ctx.executable._merge,
        arguments = [file.path for file in files] + ["--output", output.path],
        inputs = files,
        outputs = [output],
        mnemonic = "CacheFacts",
        progress_message = "Putting together %{output}",
    )

def _release_facts_impl(ctx):
    facts = ctx.actions.declare_file(ctx.label.name + ".json")
    machine = ctx.actions.declare_file(ctx.label.name + ".machine.json")
    native_facts, native_machine = _probe(ctx, ctx.executable.probe, "native", [])
    shim_facts, shim_machine = _probe(ctx, ctx.executable.shim_probe, "cachetree", _OF_CACHETREE)
    _merge(ctx, [native_facts, shim_facts], facts)
    _merge(ctx, [native_machine, shim_machine], machine)
    return [
        DefaultInfo(files = depset([facts])),
        OutputGroupInfo(machine = depset([machine])),
    ]

release_facts = rule(
    implementation = _release_facts_impl,
    doc = "Runs the probes on one release: `NAME.json` holds its facts, `NAME.machine.json` what they cost here.",
    attrs = {
        "probe": attr.label(
            mandatory = True,
            cfg = "exec",
            doc = "A `py_binary` of the probes, linked with the release's lock.",
            executable = True,
        ),
        "shim_probe": attr.label(
            mandatory = True,
            cfg = "exec",
            doc = "The same, linked with cachetree too.",
            executable = True,
        ),
        "version": attr.string(mandatory = True, doc = "The release, for messages."),
        "_merge": attr.label(
            default = ":merge",
            cfg = "exec",
            executable = True,
        ),
    },
)

def _yanked_impl(ctx):
    lines = ["%s %s\n" % item for item in ctx.attr.yanked.items()]
    output = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.write(output, "".join(lines))
    return [DefaultInfo(files = depset([output]))]

yanked_releases = rule(
    implementation = _yanked_impl,
    doc = "Writes the hub's yanked releases for the report: lines `VERSION REASON`.",
    attrs = {"yanked": attr.string_dict(doc = "Release to reason.")},
)
