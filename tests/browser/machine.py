"""A server and a browser, for tests and for pictures."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from kille_env.errors import KilleError
from kille_training.web.app import House, application
from kille_training.web.serving import address_of, listen, make_server

WIDTHS = {"laptop": (1280, 720), "phone": (390, 844)}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def serving() -> Iterator[str]:
    """Runs a server beside this thread, and yields its address."""
    house, up = House(), threading.Event()
    listening = listen(port=0)

    async def prepare() -> None:
        """Prepares nothing."""

    server = make_server(application(house), prepare, up.set, house.hall.close)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    if not up.wait(30):
        raise KilleError("the server did not start within 30 s; the log above says why")
    yield address_of(listening, "127.0.0.1")
    server.should_exit = True
    thread.join(10)
    listening.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yields the machine's Chromium, without a window.

    Raises:
        KilleError: There is none.
    """
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise KilleError("no Chromium is found; on Debian, install it: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()
