"""What to look at when two releases are compared. Each watcher yields the changes of one kind."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cachetree_report.capabilities import CAPABILITIES, SETTINGS, Setting
from cachetree_report.cells import State, error_of, look
from cachetree_report.change import Change, Weight
from cachetree_report.columns import REGISTRY, Facts, classes_of, outcome

CLASSES = ("DynamicCache", "StaticCache", "EncoderDecoderCache", "SlidingWindowCache", "HybridCache")

CALLS = {
    "after_executorch_helper": "register_dynamic_cache_export_support()",
    "after_exporters": "register_cache_pytrees_for_model()",
}


def registration(before: Facts, after: Facts) -> Iterator[Change]:
    """Classes that transformers began or ceased to register at import."""
    old, new = (_names(facts, "at_import") for facts in (before, after))
    for name in sorted(new - old):
        yield Change(
            Weight.REGISTRATION,
            name,
            "registered as a pytree at import now.",
            "A registration of your own raises ValueError, unless it looks first.",
        )
    for name in sorted(old - new):
        yield Change(
            Weight.REGISTRATION,
            name,
            "no longer registered as a pytree at import.",
            "It is one leaf again, and torch.export refuses it until something registers it.",
        )


def helpers(before: Facts, after: Facts) -> Iterator[Change]:
    """Functions of transformers that register caches, and came or went."""
    for moment, call in CALLS.items():
        old, new = (look(facts, "registration", moment) for facts in (before, after))
        if old is None and isinstance(new, Mapping):
            classes = ", ".join(sorted(_names(after, moment)))
            yield Change(Weight.REGISTRATION, call, "new.", f"It registers {classes or 'nothing'}.")
        if isinstance(old, Mapping) and new is None:
            yield Change(Weight.REGISTRATION, call, "gone.", "Code that calls it fails.")


def abilities(before: Facts, after: Facts) -> Iterator[Change]:
    """What works or ceased to work, with each way of registering."""
    for setting in SETTINGS:
        for cls in CLASSES:
            yield from _abilities(setting, cls, before, after)


def _abilities(setting: Setting, cls: str, before: Facts, after: Facts) -> Iterator[Change]:
    gained, lost, reasons = [], [], []
    for ability in CAPABILITIES:
        old, new = (outcome(setting, ability)(facts, cls) for facts in (before, after))
        if old.state is State.NO and new.state is State.YES:
            gained.append(ability.key)
        if old.state is State.YES and new.state in (State.NO, State.ERROR):
            lost.append(ability.key)
            reasons.append(new.detail)
    if lost:
        yield Change(Weight.ABILITY, cls, f"with {setting.title}, loses {', '.join(lost)}.", reasons[0])
    if gained:
        yield Change(Weight.ABILITY, cls, f"with {setting.title}, gains {', '.join(gained)}.")


def leaves(before: Facts, after: Facts) -> Iterator[Change]:
    """The order of the leaves, with each way of registering."""
    for setting in SETTINGS:
        for cls in CLASSES:
            path = ("capabilities", setting.key, cls, "pytree", "leaf_order")
            old, new = (look(facts, *path) for facts in (before, after))
            if _is_order(old) and _is_order(new) and old != new:
                yield Change(
                    Weight.LEAVES,
                    cls,
                    f"with {setting.title}, its leaves are {' '.join(new)}; they were {' '.join(old)}.",
                    "Inputs and outputs of an exported program change their order.",
                )


def layout(before: Facts, after: Facts) -> Iterator[Change]:
    """Where a cache keeps its tensors, and when they come into being."""
    for cls in CLASSES:
        for was, now in _texts(before, after, "layout", cls, "kind"):
            yield Change(
                Weight.LAYOUT,
                cls,
                f"keeps its tensors in {now}, no longer in {was}.",
                "Code that reads them out of the cache has to follow.",
            )
        for was, now in _texts(before, after, "layout", cls, "tensors_come"):
            is_lazy = now != "when constructed"
            yield Change(
                Weight.LAYOUT,
                cls,
                f"its tensors come {now}, no longer {was}.",
                "A new cache has no leaves to export." if is_lazy else "",
            )


def bases(before: Facts, after: Facts) -> Iterator[Change]:
    """Whether caches are modules."""
    old, new = (look(facts, "signatures", "is_module") for facts in (before, after))
    if old is False and new is True:
        means = "Unregistered, it may be exported as a constant, with the numbers of the traced example."
        yield Change(Weight.LAYOUT, "Cache", "a torch.nn.Module now.", means)
    if old is True and new is False:
        yield Change(Weight.LAYOUT, "Cache", "no longer a torch.nn.Module.")


def classes(before: Facts, after: Facts) -> Iterator[Change]:
    """Classes that came, went, or became another name of a class."""
    old, new = set(classes_of(before)), set(classes_of(after))
    if new - old:
        yield Change(Weight.CLASSES, "New classes", ", ".join(sorted(new - old)) + ".")
    if old - new:
        yield Change(Weight.CLASSES, "Classes gone", ", ".join(sorted(old - new)) + ".")
    was, now = (look(facts, "classes", "aliases") for facts in (before, after))
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for name in sorted(now.keys() - was.keys()):
            yield Change(Weight.CLASSES, name, f"only another name of {now[name]}.")


def calls(before: Facts, after: Facts) -> Iterator[Change]:
    """Constructors and methods whose arguments changed."""
    for cls in CLASSES:
        old, new = (look(facts, "signatures", "calls", cls) for facts in (before, after))
        if not _is_plain(old) or not _is_plain(new):
            continue
        for name in sorted(old.keys() | new.keys()):
            shown = "constructor" if name == "__init__" else name
            if name not in old:
                yield Change(Weight.CALLS, cls, f"{shown}{_bare(new[name])} is new.")
            elif name not in new:
                yield Change(Weight.CALLS, cls, f"{shown}{_bare(old[name])} is gone.")
            elif old[name] != new[name]:
                yield Change(Weight.CALLS, cls, f"{shown}{_bare(new[name])}; was {_bare(old[name])}.")


def attributes(before: Facts, after: Facts) -> Iterator[Change]:
    """Attributes of a filled cache and of its layers."""
    for cls in CLASSES:
        old, new = (look(facts, "layout", cls, "filled") for facts in (before, after))
        for where, one, other in _parts(old, new):
            gone, come = sorted(one.keys() - other.keys()), sorted(other.keys() - one.keys())
            if come:
                yield Change(Weight.DETAIL, cls, f"{where} has {', '.join(come)}.")
            if gone:
                yield Change(Weight.DETAIL, cls, f"{where} has no {', '.join(gone)} any more.")
        for was, now in _texts(before, after, "layout", cls, "length_of_filled", "type"):
            yield Change(Weight.DETAIL, cls, f"get_seq_length() answers with {now}, no longer with {was}.")


def warned(before: Facts, after: Facts) -> Iterator[Change]:
    """New warnings of constructors and updates."""
    for cls in CLASSES:
        old, new = (look(facts, "signatures", "warns", cls) for facts in (before, after))
        if isinstance(old, list) and isinstance(new, list):
            for line in sorted(set(new) - set(old)):
                yield Change(Weight.DETAIL, cls, f"warns: {line}")


WATCHERS: tuple[Callable[[Facts, Facts], Iterator[Change]], ...] = (
    registration,
    helpers,
    abilities,
    leaves,
    layout,
    bases,
    classes,
    calls,
    attributes,
    warned,
)


def _texts(before: Facts, after: Facts, *path: str) -> Iterator[tuple[str, str]]:
    """The text that a fact was and is, if both releases have it and it differs."""
    was, now = (look(facts, *path) for facts in (before, after))
    if isinstance(was, str) and isinstance(now, str) and was != now:
        yield was, now


def _parts(old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """The cache and its first layer, as both releases describe them."""
    if not _is_plain(old) or not _is_plain(new):
        return
    yield "it", old, new
    layers = [one.get("layers") or [None] for one in (old, new)]
    if _is_plain(layers[0][0]) and _is_plain(layers[1][0]):
        yield "its first layer", layers[0][0], layers[1][0]


def _names(facts: Facts, moment: str) -> set[str]:
    found = look(facts, "registration", moment, REGISTRY)
    return set(found) if isinstance(found, list) else set()


def _is_order(order: Any) -> bool:
    return isinstance(order, list) and order != ["cache"]


def _is_plain(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value) and not error_of(value)


def _bare(signature: str) -> str:
    return signature.replace("(self, ", "(").replace("(self)", "()")
