"""The columns of the report: what each asks, and how the facts answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cachetree_report.capabilities import CAPABILITIES, SETTINGS, Capability, Setting
from cachetree_report.cells import Cell, State, error_of, is_missing, look, not_an_answer, yes_or_no

Facts = Mapping[str, Any]
Answer = Callable[[Facts, str], Cell]
REGISTRY = "torch.utils._pytree"


@dataclass(frozen=True)
class Column:
    """One question.

    Attributes:
        key: Its name for `--columns` and for programs.
        group: The heading it stands under.
        title: A word or two.
        meaning: What a "yes" says. `{cls}` is the cache class.
        answer: From the facts of a release and the class's name to a cell.
    """

    key: str
    group: str
    title: str
    meaning: str
    answer: Answer


def classes_of(facts: Facts) -> list[str]:
    """The cache and layer classes that a release has."""
    found = [look(facts, "classes", kind) for kind in ("caches", "layers")]
    return [name for names in found if isinstance(names, list) for name in names]


def registered(moment: str, registry: str = REGISTRY) -> Answer:
    """Whether the class is a node of a registry at a moment that the probes measured."""

    def answer(facts: Facts, cls: str) -> Cell:
        names = look(facts, "registration", moment, registry)
        if classes_of(facts) and cls not in classes_of(facts):
            return Cell(State.ABSENT)
        return not_an_answer(names) or yes_or_no(cls in names)

    return answer


def outcome(setting: Setting, capability: Capability) -> Answer:
    """Whether the class can do something once the setting's call was made."""

    def answer(facts: Facts, cls: str) -> Cell:
        if capability.needs and cls != "DynamicCache":
            return Cell(State.UNKNOWN)
        if capability.needs and look(facts, "layout", "has", capability.needs) is False:
            return Cell(State.ABSENT)
        found = look(facts, "capabilities", setting.key, cls, *capability.fact)
        order = look(facts, "capabilities", setting.key, cls, "pytree", "leaf_order")
        if order == ["cache"] and (found is None or is_missing(found)):
            return Cell(State.NO, detail="not registered: the whole cache is one leaf")
        if isinstance(found, Mapping) and set(found) == {"fails"}:
            return Cell(State.NO, detail=found["fails"])
        return not_an_answer(found) or yes_or_no(found is True)

    return answer


def layout(facts: Facts, cls: str) -> Cell:
    """Where the class keeps its tensors."""
    kind = look(facts, "layout", cls, "kind")
    return not_an_answer(kind) or Cell(State.TEXT, str(kind))


def tensors_come(facts: Facts, cls: str) -> Cell:
    """Whether a new cache holds no tensors yet."""
    when = look(facts, "layout", cls, "tensors_come")
    return not_an_answer(when) or Cell(State.TEXT, "yes" if when == "with the first update" else "no")


def is_module(facts: Facts, cls: str) -> Cell:
    """Whether the class derives from `torch.nn.Module`."""
    bases = look(facts, "signatures", "bases", cls)
    if is_missing(bases):
        return Cell(State.ABSENT)
    return not_an_answer(bases) or Cell(State.TEXT, "yes" if "Module" in bases else "no")


def leaf_order(*settings: str) -> Answer:
    """The leaves of two layers, by the first of the settings that registers the class."""

    def answer(facts: Facts, cls: str) -> Cell:
        seen: Any = None
        for setting in settings:
            seen = look(facts, "capabilities", setting, cls, "pytree", "leaf_order")
            if isinstance(seen, list) and seen != ["cache"]:
                return Cell(State.TEXT, " ".join(seen))
        return Cell(State.ERROR, detail=error_of(seen) or "") if error_of(seen) else Cell(State.ABSENT)

    return answer


def public_check(facts: Facts, cls: str) -> Cell:
    """What the public table's expression says; it was asked of DynamicCache only."""
    said = look(facts, "classes", "public_check", cls)
    return not_an_answer(said) or yes_or_no(said)


CACHE = (
    Column("layout", "cache", "layout", "where the tensors are: in lists or in layer objects", layout),
    Column("lazy", "cache", "lazy", "a new cache holds no tensors before its first update", tensors_come),
    Column("module", "cache", "module", "{cls} is a torch.nn.Module", is_module),
    Column(
        "leaf-order",
        "cache",
        "leaf order",
        "how transformers' own registration orders the leaves of two layers",
        leaf_order("import", "helper", "exporters"),
    ),
)

REGISTERED = (
    Column(
        "at-import",
        "registered",
        "import",
        "{cls} is a pytree node once transformers is imported",
        registered("at_import"),
    ),
    Column(
        "after-executorch",
        "registered",
        "exec",
        "... once transformers.integrations.executorch is imported too",
        registered("after_executorch_import"),
    ),
    Column(
        "after-helper",
        "registered",
        "helper",
        "... once register_dynamic_cache_export_support() is called",
        registered("after_executorch_helper"),
    ),
    Column(
        "after-exporters",
        "registered",
        "exporters",
        "... once register_cache_pytrees_for_model() is called",
        registered("after_exporters"),
    ),
    Column(
        "fx",
        "registered",
        "fx",
        "{cls} has a torch.fx._pytree spec once transformers is imported",
        registered("at_import", "torch.fx._pytree"),
    ),
    Column(
        "optree",
        "registered",
        "optree",
        "{cls} is a node of optree's registry once transformers is imported",
        registered("at_import", "optree"),
    ),
)

PUBLIC = (
    Column("public-check", "public table", "check", "what the public table's check says", public_check),
)


def _abilities(setting: Setting) -> tuple[Column, ...]:
    return tuple(
        Column(f"{setting.key}.{one.key}", setting.title, one.title, one.meaning, outcome(setting, one))
        for one in CAPABILITIES
    )


COLUMNS = (*CACHE, *REGISTERED, *(c for setting in SETTINGS for c in _abilities(setting)), *PUBLIC)

DEFAULT = (
    "at-import",
    "after-helper",
    *(
        f"{setting}.{ability}"
        for setting in ("import", "cachetree")
        for ability in ("trip", "spec", "export", "dynamic", "save")
    ),
)
