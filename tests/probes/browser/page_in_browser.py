"""The HTML report in a real, headless Chromium: filters, keyboard, details, diff, dark and narrow.

It needs Playwright and a Chromium, which the hubs do not hold, so Bazel does not run it:

    python -m pytest tests/probes/browser/page_in_browser.py

`$CHROMIUM` names the browser; otherwise `chromium` on PATH is taken. `$SCREENSHOTS` names a folder for
pictures of the page: light, dark and narrow.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright  # pyright: ignore[reportMissingImports]

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[2] / "probes")]

import synthetic  # noqa: E402
from synthetic import document, registries  # noqa: E402

from cachetree_report.__main__ import main  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """4.48 and 4.49 agree; 4.50 registers itself; 4.56 has the helper and was yanked."""
    folder = tmp_path_factory.mktemp("report")
    files = synthetic.write(
        folder,
        document("4.48.0"),
        document("4.49.0"),
        document("4.50.0", registered=True),
        document("4.56.0", helper=registries(["DynamicCache"])),
    )
    yanked = folder / "yanked.txt"
    yanked.write_text("4.56.0 bad wheel\n")
    target = folder / "report.html"
    told = ["--facts", *files, "--yanked", yanked, "--format", "html", "--output", target]
    assert main([str(one) for one in told]) == 0
    return target


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.fail("no chromium on PATH; install it, or name one in $CHROMIUM")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


@pytest.fixture
def open_page(browser, report):
    """Opens the report offline in a window of its own; the test fails on any error or request."""
    contexts, faults = [], []

    def opened(**options):
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or faults.append(request.url))
        page.goto(report.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def rows(page):
    return page.locator("#map tbody th").all_inner_texts()


def cell(page, name):
    return page.get_by_label(name, exact=True)


def test_it_opens_on_the_headline_and_grouped_rows(open_page):
    page = open_page()
    assert page.locator("#headline").inner_text() == (
        "Register DynamicCache yourself on 4.48 to 4.49 and from 4.56 on."
        " transformers does it at import on 4.50."
    )
    assert rows(page) == ["4.48.0 \N{EN DASH} 4.49.0", "4.50.0", "4.56.0*"]
    assert page.locator("#yanked").inner_text() == "* 4.56.0 was yanked from the index: bad wheel"


def test_a_row_per_release_on_demand(open_page):
    page = open_page()
    page.get_by_label("one row for releases that agree").uncheck()
    assert rows(page) == ["4.48.0", "4.49.0", "4.50.0", "4.56.0*"]


def test_filters_choose_class_columns_and_capabilities(open_page):
    page = open_page()
    heads = page.locator("#map thead tr:last-child th")
    assert heads.all_inner_texts()[:4] == ["import", "helper", "trip", "spec"]
    page.locator("#groups").get_by_label("registered").uncheck()
    page.locator("#groups").get_by_label("nothing called").uncheck()
    page.locator("#abilities").get_by_label("spec").uncheck()
    page.locator("#abilities").get_by_label("llama", exact=True).check()
    assert heads.all_inner_texts() == ["trip", "exp", "dyn", "save", "llama"]
    page.get_by_label("Cache class").select_option("StaticCache")
    assert page.locator("#headline").inner_text().startswith("Register StaticCache yourself: ")


def test_a_click_shows_the_exception(open_page):
    page = open_page()
    cell(page, "4.48.0 \N{EN DASH} 4.49.0, nothing called, trip: no").click()
    detail = page.get_by_label("Details of the chosen cell")
    assert detail.locator("h2").inner_text() == "4.48.0 \N{EN DASH} 4.49.0: no"
    assert detail.locator("code").all_inner_texts() == ["not registered: the whole cache is one leaf"]


def test_the_keyboard_is_enough(open_page):
    page = open_page()
    first = cell(page, "4.48.0 \N{EN DASH} 4.49.0, registered, import: no")
    first.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "4.50.0, nothing called, trip: yes"
    page.keyboard.press("Enter")
    assert page.locator("#detail h2").inner_text() == "4.50.0: yes"
    page.keyboard.press("Home")
    assert (
        page.evaluate("document.activeElement.getAttribute('aria-label')")
        == "4.50.0, registered, import: yes"
    )
    assert page.locator("#map td[tabindex='0']").count() == 1


def test_a_screen_reader_hears_every_cell(open_page):
    page = open_page()
    assert page.locator("#map").get_attribute("role") == "grid"
    assert page.locator("#map caption").inner_text() == "DynamicCache: releases against capabilities"
    assert page.locator("#map td:not([aria-label])").count() == 0
    assert page.locator("#detail").get_attribute("aria-live") == "polite"
    unnamed = "[...document.querySelectorAll('select,input')].filter(e => !e.labels.length).length"
    assert page.evaluate(unnamed) == 0


def test_two_releases_can_be_compared(open_page):
    page = open_page()
    page.get_by_label("from", exact=True).select_option("4.49.0")
    page.get_by_label("to", exact=True).select_option("4.50.0")
    said = page.locator("#diff").inner_text()
    assert "4.49.0 and 4.50.0 side by side" in said
    assert "DynamicCache, registered: import no \N{RIGHTWARDS ARROW} yes" in said
    assert "DynamicCache: registered as a pytree at import now." in said
    page.get_by_label("to", exact=True).select_option("4.49.0")
    assert "Every capability is the same in both." in page.locator("#diff").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(open_page, scheme):
    page = open_page(color_scheme=scheme)
    for selector in ("body", "td.y", "td.n", "thead th", ".quiet"):
        assert page.evaluate(CONTRAST, selector) >= 4.5, f"{selector} in {scheme}"
    picture(page, scheme)


def test_a_narrow_window_scrolls_the_table_and_nothing_else(open_page):
    page = open_page(viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("(e => e.scrollWidth > e.clientWidth)(document.querySelector('.scroll'))")
    picture(page, "narrow")


def picture(page, name):
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


CONTRAST = """
(selector) => {
  const light = (rgb) => {
    const [r, g, b] = rgb.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const element = document.querySelector(selector);
  let behind = element;
  while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)" && behind.parentElement) {
    behind = behind.parentElement;
  }
  const [a, b] = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor].map(light);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
"""
