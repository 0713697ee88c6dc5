"""The HTML file holds everything itself, and says what the facts say."""

import json
import re

import pytest
import synthetic
from synthetic import document

from cachetree_report.__main__ import main


@pytest.fixture
def page(tmp_path):
    strange = document("4.51.0")
    broken = {"fails": "ValueError: </script><b>"}
    strange["facts"]["capabilities"]["import"]["DynamicCache"]["pytree"]["round_trip"] = broken
    files = synthetic.write(tmp_path, document("4.50.0", registered=True), strange)
    target = tmp_path / "report.html"
    assert main(["--facts", *map(str, files), "--format", "html", "--output", str(target)]) == 0
    return target.read_text(encoding="utf-8")


def embedded(page):
    return json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[0])


def test_the_page_loads_nothing_from_elsewhere(page):
    assert re.findall(r"""(?:src|href)=["'](?!#)""", page) == []
    assert "url(" not in page
    assert "@import" not in page


def test_an_exception_cannot_end_the_script(page):
    assert "</script><b>" not in page
    assert "ValueError: </script><b>" in embedded(page)["details"]


def test_cells_are_letters_by_class_and_column(page):
    data = embedded(page)
    assert [release["version"] for release in data["releases"]] == ["4.50.0", "4.51.0"]
    letters, details = data["cells"]["DynamicCache"]["import.trip"]
    assert letters == "yn"
    assert details[0] == -1
    assert data["details"][details[1]] == "ValueError: </script><b>"


def test_the_page_opens_on_the_reports_class(page):
    assert embedded(page)["class"] == "DynamicCache"
    assert embedded(page)["headlines"]["DynamicCache"] == (
        "Register DynamicCache yourself from 4.51 on. transformers does it at import on 4.50."
    )
