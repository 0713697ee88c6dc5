"""A page that tells all about one release, and what to write in your code."""

from collections.abc import Iterator, Mapping
from typing import Any

from cachetree_report.capabilities import CAPABILITIES, SETTINGS, Setting
from cachetree_report.cells import Cell, State, look
from cachetree_report.columns import REGISTRY, Facts, classes_of, outcome, registered
from cachetree_report.page import Bullets, Code, Grid, Page, Prose, Section
from cachetree_report.releases import Release
from cachetree_report.watchers import CLASSES

EXPORTED = ("DynamicCache", "StaticCache")

HELPER_CODE = """\
from transformers.integrations.executorch import register_dynamic_cache_export_support

register_dynamic_cache_export_support()"""

EXPORTERS_CODE = """\
from transformers.exporters.exporter_dynamo import register_cache_pytrees_for_model

register_cache_pytrees_for_model(model)"""

CACHETREE_CODE = """\
import cachetree

cachetree.register()"""

CODE = {"helper": HELPER_CODE, "exporters": EXPORTERS_CODE, "cachetree": CACHETREE_CODE}


def explain_page(release: Release) -> Page:
    """All about one release that has facts."""
    facts = release.document["facts"]
    sections = [
        Section("In your code", list(_code(facts))),
        Section("What works", list(_works(facts))),
        Section("Why not", [Bullets(_reasons(facts))]),
        Section("Inside", [Bullets(list(_inside(facts)))]),
        Section("Classes", [Prose(", ".join(classes_of(facts)))]),
    ]
    return Page(_title(release), sections, {"version": release.version, "yanked": release.yanked, **facts})


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
            yield Prose(f"registers {', '.join(names)}. {_verdict(facts, setting)}")
    if _registered(facts, SETTINGS[0]):
        yield Prose(f"With nothing called: {_verdict(facts, SETTINGS[0])}")


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
        return f"A DynamicCache then fails at: {', '.join(failing)}."
    return "Everything below works with a DynamicCache then."


def _works(facts: Facts) -> Iterator[Prose | Grid]:
    for cls in EXPORTED:
        if cls not in classes_of(facts):
            continue
        shown = [one for one in CAPABILITIES if any(_known(facts, each, one, cls) for each in SETTINGS)]
        rows = [
            (setting.call or setting.title, [outcome(setting, one)(facts, cls) for one in shown])
            for setting in SETTINGS
            if any(_known(facts, setting, one, cls) for one in shown)
        ]
        yield Prose(f"{cls}:")
        yield Grid([one.title for one in shown], rows)


def _known(facts: Facts, setting: Setting, ability: Any, cls: str) -> bool:
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
