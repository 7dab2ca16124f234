"""A server and a browser: the page is tested as people use it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from browser.machine import SCREENS, chromium, serving
from kille_env.errors import KilleError

PATIENCE = 60_000  # milliseconds that a page may take on a machine with much else to do
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def site() -> Iterator[tuple[str, str]]:
    """The address of a server and its token."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        with chromium() as running:
            yield running
    except KilleError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open pages, each in a browser of its own; in none of them an error may be logged."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def listen(said: ConsoleMessage) -> None:
        # A request that was refused is the page's to explain.
        if said.type == "error" and not said.text.startswith("Failed to load resource"):
            errors.append(said.text)

    def open_one(screen: str = "laptop", **options: Any) -> Page:
        across, down = SCREENS[screen]
        context = browser.new_context(
            viewport={"width": across, "height": down},
            has_touch=screen != "laptop",
            bypass_csp=True,  # for what the tests ask the page
            **{"reduced_motion": "reduce", **options},
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", listen)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not errors
