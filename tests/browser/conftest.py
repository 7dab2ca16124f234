"""A server and a browser: the page is tested as people use it."""

import shutil
import threading
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from browser.people import WIDTHS, Server
from kille_training.web.app import House, application
from kille_training.web.serving import address_of, listen, make_server

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    house, up = House(), threading.Event()
    listening = listen(port=0)
    url = address_of(listening, "127.0.0.1")

    async def prepare() -> None:
        pass

    running = make_server(application(house), prepare, up.set, house.close)
    thread = threading.Thread(target=running.run, args=([listening],), daemon=True)
    thread.start()
    assert up.wait(30), "the server did not start"
    yield Server(url, house)
    running.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.fail("no Chromium is found; on Debian: apt-get install chromium", pytrace=False)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens pages, each in a browser of its own; in none of them an error may be logged."""
    contexts, errors = [], []

    def open_one(width: str = "laptop", motion: str = "reduce", **options: object) -> Page:
        across, down = WIDTHS[width]
        context = browser.new_context(
            viewport={"width": across, "height": down},
            has_touch=width == "phone",
            reduced_motion=motion,
            **options,
        )
        contexts.append(context)
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if is_error(said) else None)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not errors


def is_error(said: ConsoleMessage) -> bool:
    """Returns whether a message is an error of the page's, and no request that was refused."""
    return said.type == "error" and not said.text.startswith("Failed to load resource")
