"""Pages that tell what changed: between two releases, and all along."""

from collections.abc import Sequence
from typing import Any

from cachetree_report.change import Change, Weight
from cachetree_report.changes import between, history
from cachetree_report.page import Bullets, Page, Prose, Section
from cachetree_report.releases import Release

TITLES = {
    Weight.REGISTRATION: "Who registers caches",
    Weight.ABILITY: "What works",
    Weight.LEAVES: "Order of leaves",
    Weight.LAYOUT: "Layout",
    Weight.CLASSES: "Classes",
    Weight.CALLS: "Calls",
    Weight.DETAIL: "Details",
}


def diff_page(older: Release, newer: Release) -> Page:
    """What changed from one release to another, under headings, most important first."""
    changes = between(older.document["facts"], newer.document["facts"])
    return Page(
        f"transformers' caches from {older.version} to {newer.version}",
        _by_weight(changes) if changes else [Section("", [Prose("Nothing that the probes see changed.")])],
        {"from": older.version, "to": newer.version, "changes": [_data(change) for change in changes]},
    )


def history_page(releases: Sequence[Release]) -> Page:
    """The change log of transformers' caches over the releases, newest first."""
    steps = history(releases)
    return Page(
        "Change log of transformers' caches",
        [
            Section(f"{newer.version} (after {older.version})", [_bullets(changes)])
            for older, newer, changes in steps
        ],
        [
            {"from": older.version, "to": newer.version, "changes": [_data(change) for change in changes]}
            for older, newer, changes in steps
        ],
    )


def _by_weight(changes: Sequence[Change]) -> list[Section]:
    return [
        Section(title, [_bullets([change for change in changes if change.weight is weight])])
        for weight, title in TITLES.items()
        if any(change.weight is weight for change in changes)
    ]


def _bullets(changes: Sequence[Change]) -> Bullets:
    return Bullets([(change.sentence, change.means) for change in changes])


def _data(change: Change) -> dict[str, Any]:
    return {
        "kind": change.weight.name.lower(),
        "of": change.of,
        "what": change.what,
        "means": change.means,
    }
