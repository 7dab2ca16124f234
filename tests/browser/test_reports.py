"""Reports on a phone: what comes first is short, and only the crosstable scrolls sideways."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from browser import reports
from browser.looks import hardships
from browser.machine import SCREENS

OpenPage = Callable[..., Page]
SCREENFULS = 6
ROWS = """() => [...document.querySelectorAll('table.rows tr')]
    .filter((row) => row.offsetHeight > 120).map((row) => row.textContent)"""
WIDE = """() => [...document.querySelectorAll('body *')]
    .filter((one) => !one.closest('.cross-scroll, pre, svg'))
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow if name == "training" else ())
    for name in reports.MAKERS
])  # fmt: skip
def test_a_report_fits_a_phone(name: str, open_page: OpenPage, tmp_path: Path) -> None:
    file = reports.MAKERS[name](tmp_path)
    for color in ("light", "dark"):
        page = open_page("phone", color_scheme=color)
        page.goto(file.absolute().as_uri())
        if name != "replay":
            assert len(page.locator(".verdict:visible").inner_text().split()) <= 20
            picture = page.locator("figure:visible").first.bounding_box()
            assert picture and picture["y"] < SCREENS["phone"][1] / 2
        tall = page.evaluate("document.documentElement.scrollHeight")
        assert tall <= SCREENFULS * SCREENS["phone"][1]
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert (page.evaluate(WIDE), page.evaluate(ROWS)) == ([], [])
        assert page.evaluate("document.documentElement.scrollWidth") <= SCREENS["phone"][0]
        assert hardships(page) == []
