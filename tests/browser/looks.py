"""What has to hold of a page at every moment, measured by the browser."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

FAULTS = Path(__file__).with_name("looks.js").read_text(encoding="utf-8")


def faults(page: Page) -> list[str]:
    """Returns what is wrong with what is seen."""
    page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished))")
    found: list[Any] = page.evaluate(f"({FAULTS.partition('*/')[2]})()")
    return list(dict.fromkeys(map(str, found)))
