"""A server and a browser, for tests and for pictures."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from kille_env.errors import KilleError
from reference.served import served

SCREENS = {"laptop": (1280, 800), "phone": (390, 844), "flat": (844, 390)}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def serving(keep: Path | None = None, port: int = 0) -> Iterator[tuple[str, str]]:
    """Run a server beside this thread, and yield its address and the token."""
    with served(keep, port) as (address, house):
        yield address, house.token


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield the machine's Chromium, without a window."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise KilleError("no Chromium is found; on Debian, install it: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()
