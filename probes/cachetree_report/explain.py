"""A page that tells all about one release, and what to write in your code."""

from collections.abc import Iterator, Mapping
from typing import Any

from cachetree_report.capabilities import CAPABILITIES, SETTINGS, Capability, Setting
from cachetree_report.cells import Cell, State, error_of, look
from cachetree_report.columns import REGISTRY, Facts, classes_of, outcome, registered
from cachetree_report.page import Bullets, Code, Grid, Page, Prose, Section
from cachetree_report.releases import Release
from cachetree_report.watchers import CLASSES

EXPORTED = ("DynamicCache", "StaticCache")

HELPER_CODE = """\
from transformers.integrations.executorch import (
    register_dynamic_cache_export_support,
)

register_dynamic_cache_export_support()"""

EXPORTERS_CODE = """\
from transformers.exporters.exporter_dynamo import (
    register_cache_pytrees_for_model,
)

register_cache_pytrees_for_model(model)"""

CACHETREE_CODE = """\
import cachetree

cachetree.register()

shapes = cachetree.dynamic_shapes(cache, length=torch.export.Dim.DYNAMIC)
program = torch.export.export(
    model, (tokens, cache), dynamic_shapes=({}, shapes)
)"""

CODE = {"helper": HELPER_CODE, "exporters": EXPORTERS_CODE, "cachetree": CACHETREE_CODE}


def explain_page(release: Release) -> Page:
    """All about one release that has facts; what it costs, where the facts say what machine it was."""
    facts = release.document["facts"]
    sections = [
        Section("In your code", list(_code(facts))),
        Section("What works", list(_works(facts))),
        Section("Why not", _bullets(_reasons(facts))),
        Section("Inside", _bullets(list(_inside(facts)))),
        Section("Classes", [Prose(", ".join(classes_of(facts)))]),
        *_cost(release.document.get("machine")),
    ]
    sections = [section for section in sections if section.blocks]
    return Page(_title(release), sections, {"version": release.version, "yanked": release.yanked, **facts})


def _bullets(items: list[tuple[str, str]]) -> list[Bullets]:
    return [Bullets(items)] if items else []


def _cost(machine: Any) -> Iterator[Section]:
    if not isinstance(machine, Mapping):
        return
    seconds, times = look(machine, "import_seconds"), look(machine, "flatten_microseconds")
    lines = []
    if isinstance(seconds, Mapping) and not error_of(seconds):
        listed = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
        lines.append((f"Imports, one after the other: {listed}.", ""))
    for setting in SETTINGS:
        took = look(times, setting.key) if isinstance(times, Mapping) else None
        if isinstance(took, Mapping) and not error_of(took):
            what = f"{setting.call or setting.title}: flattening a DynamicCache of 32 layers takes"
            lines.append((f"{what} {took['flatten']} µs, building it again {took['unflatten']} µs.", ""))
    if lines:
        where = f"What it costs (on {machine.get('platform')}, Python {machine.get('python')})"
        yield Section(where, [Bullets(lines)])


def _title(release: Release) -> str:
    facts = release.document["facts"]
    by_itself = registered("at_import")(facts, "DynamicCache").state is State.YES
    yanked = f" It was yanked from the index: {release.yanked}." if release.yanked is not None else ""
    return (
        f"transformers {release.version} {'registers' if by_itself else 'does not register'}"
        f" DynamicCache as a pytree when it is imported.{yanked}"
    )


def _code(facts: Facts) -> Iterator[Prose | Code]:
    for setting in reversed(SETTINGS):
        names = _registered(facts, setting)
        if names and setting.call:
            yield Code(CODE[setting.key])
            yield Prose(f"{setting.call} registers {_counted(facts, names)}. {_verdict(facts, setting)}")
    if names := _registered(facts, SETTINGS[0]):
        by_itself = f"With nothing called, {_counted(facts, names)} is registered."
        yield Prose(f"{by_itself} {_verdict(facts, SETTINGS[0])}")


def _counted(facts: Facts, names: list[str]) -> str:
    every = look(facts, "classes", "caches")
    if isinstance(every, list) and len(names) > 2 and set(every) <= set(names):
        return f"all {len(every)} cache classes"
    return ", ".join(names)


def _registered(facts: Facts, setting: Setting) -> list[str]:
    moments = {
        "import": "at_import",
        "helper": "after_executorch_helper",
        "exporters": "after_exporters",
        "cachetree": "after_cachetree",
    }
    names = look(facts, "registration", moments[setting.key], REGISTRY)
    return names if isinstance(names, list) else []


def _verdict(facts: Facts, setting: Setting) -> str:
    """What does not work with a DynamicCache."""
    answers = {one.key: outcome(setting, one)(facts, "DynamicCache").state for one in CAPABILITIES}
    failing = [key for key, state in answers.items() if state in (State.NO, State.ERROR)]
    if failing:
        return f"A DynamicCache still fails at: {', '.join(failing)}."
    return "A DynamicCache can then do everything below."


def _works(facts: Facts) -> Iterator[Prose | Grid | Bullets]:
    asked: list[Capability] = []
    for cls in EXPORTED:
        shown = [one for one in CAPABILITIES if any(_known(facts, each, one, cls) for each in SETTINGS)]
        asked += [one for one in shown if one not in asked]
        rows = [
            (setting.short, [outcome(setting, one)(facts, cls) for one in shown])
            for setting in SETTINGS
            if any(_known(facts, setting, one, cls) for one in shown)
        ]
        if rows:
            yield Prose(f"{cls}:")
            yield Grid([one.title for one in shown], rows)
    yield Bullets([(f"{one.title}: {one.meaning}", "") for one in asked])


def _known(facts: Facts, setting: Setting, ability: Capability, cls: str) -> bool:
    cell: Cell = outcome(setting, ability)(facts, cls)
    return cell.state not in (State.ABSENT, State.UNKNOWN)


def _reasons(facts: Facts) -> list[tuple[str, str]]:
    found: dict[tuple[str, str, str], list[str]] = {}
    for cls in EXPORTED:
        for setting in SETTINGS:
            for ability in CAPABILITIES:
                cell = outcome(setting, ability)(facts, cls)
                if cell.detail:
                    found.setdefault((cls, setting.title, cell.detail), []).append(ability.title)
    return [
        (f"{cls}, {title}: {', '.join(abilities)}", detail)
        for (cls, title, detail), abilities in found.items()
    ]


def _inside(facts: Facts) -> Iterator[tuple[str, str]]:
    for cls in CLASSES:
        inside, calls = look(facts, "layout", cls), look(facts, "signatures", "calls", cls)
        if not isinstance(inside, Mapping) or "kind" not in inside or not isinstance(calls, Mapping):
            continue
        length = inside["length_of_filled"]
        answers = f"; get_seq_length() answers with {length['type']}" if "type" in length else ""
        shown = f"{cls}{calls['__init__'].replace('(self, ', '(').replace('(self)', '()')}"
        yield shown, f"tensors in {inside['kind']}, they come {inside['tensors_come']}{answers}."
