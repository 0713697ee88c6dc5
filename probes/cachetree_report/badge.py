"""A badge-sized SVG: one bar per release, above without and below with cachetree."""

from xml.sax.saxutils import escape

from cachetree_report.capabilities import SETTINGS, Setting
from cachetree_report.cells import State
from cachetree_report.columns import COLUMNS, DEFAULT
from cachetree_report.releases import Release
from cachetree_report.table import Report

HEIGHT, LABEL, COUNT = 20, 144, 44
GREEN, AMBER, RED = "#2da44e", "#d4a72c", "#cf222e"


def render(report: Report) -> str:
    """The SVG's text, about the report's class and the default capabilities."""
    releases = [release for release in report.releases if release.document]
    bar = 6 if len(releases) <= 40 else 2
    strip = bar * len(releases)
    rows = [[_share(report.cls, one, setting) for one in releases] for setting in (SETTINGS[0], SETTINGS[-1])]
    good = sum(share == 1 for share in rows[1])
    title = (
        f"{report.cls} of transformers as a pytree that exports, {len(releases)} releases:"
        f" {sum(share == 1 for share in rows[0])} by themselves, {good} with cachetree"
    )
    bars = "".join(
        f'<rect x="{LABEL + bar * index}" y="{y}" width="{bar}" height="10" fill="{_colour(share)}"/>'
        for y, row in zip((0, 10), rows, strict=True)
        for index, share in enumerate(row)
    )
    width = LABEL + strip + COUNT
    size = f'width="{width}" height="{HEIGHT}"'
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">
<title>{escape(title)}</title>
<clipPath id="r"><rect {size} rx="3"/></clipPath>
<g clip-path="url(#r)">
<rect {size} fill="#24292f"/>
{bars}
</g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="7" y="14">{escape(report.cls)} exports</text>
<text x="{LABEL + strip + COUNT / 2}" y="14" text-anchor="middle">{good}/{len(releases)}</text>
</g>
</svg>
"""


def _share(cls: str, release: Release, setting: Setting) -> float:
    """The share of the default capabilities that work."""
    wanted = [one for one in COLUMNS if one.key in DEFAULT and one.key.startswith(f"{setting.key}.")]
    works = [one.answer(release.document["facts"], cls).state is State.YES for one in wanted]
    return sum(works) / len(works)


def _colour(share: float) -> str:
    if share == 1:
        return GREEN
    return AMBER if share else RED
