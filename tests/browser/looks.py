"""What has to hold of a page at every moment, measured by the browser."""

from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

FAULTS = Path(__file__).with_name("looks.js").read_text(encoding="utf-8")


def still(page: Page) -> None:
    """Wait until nothing moves."""
    page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished))")


def faults(page: Page) -> list[str]:
    """Return what is wrong with what is seen."""
    still(page)
    found: list[Any] = page.evaluate(f"({FAULTS.partition('*/')[2]})()")
    return list(dict.fromkeys(map(str, found)))


def hardships(page: Page) -> list[str]:
    """Return what axe-core finds serious for people who cannot see or point well."""
    still(page)
    found = Axe().run(page).response["violations"]
    return [one["id"] for one in found if one["impact"] in ("serious", "critical")]
