"""What changed between two releases, in words, most important first."""

from collections.abc import Sequence
from itertools import pairwise

from cachetree_report.change import Change, Weight
from cachetree_report.columns import Facts
from cachetree_report.releases import Release
from cachetree_report.watchers import WATCHERS


def between(before: Facts, after: Facts) -> list[Change]:
    """Everything that differs, most important first; classes with the same change share a line."""
    same: dict[tuple[Weight, str, str], list[str]] = {}
    for watch in WATCHERS:
        for change in watch(before, after):
            same.setdefault((change.weight, change.what, change.means), []).append(change.of)
    merged = [Change(weight, ", ".join(of), what, means) for (weight, what, means), of in same.items()]
    return sorted(merged, key=lambda change: change.weight)


def history(releases: Sequence[Release]) -> list[tuple[Release, Release, list[Change]]]:
    """(older, newer, changes) for each release that differs from the one before it, newest first."""
    measured = [release for release in releases if release.document]
    steps = [
        (older, newer, between(older.document["facts"], newer.document["facts"]))
        for older, newer in pairwise(measured)
    ]
    return [step for step in reversed(steps) if step[2]]
