"""Rows for the table in the browser: from the start of `kille play --web` to the first card."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from playwright.sync_api import Browser, sync_playwright

from kille_env.registry import list_games
from speed.rows import Row, row

WAIT = 120_000  # milliseconds


def bench_web(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Measure the first card of every game in a browser that is open, with no kernel compiled."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for each in list_games():
            spent = [_first_card(browser, each) for _ in range(repeats)]
            yield row(f"{each}: first card on the page, nothing compiled", spent, "s")
        browser.close()


def _first_card(browser: Browser, game: str) -> float:
    """Return the seconds from the start of the process to a card of the person's hand."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = {"KILLE_CACHE_DIR": folder, "XDG_STATE_HOME": folder, "BROWSER": "true"}
        command = [sys.executable, "-m", "kille_training.cli.main", "play", game, "--web"]
        page = browser.new_page()
        start = time.perf_counter()
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=os.environ | environment
        ) as process:
            assert process.stdout is not None
            address = next(line.split()[-1] for line in process.stdout if "http://" in line)
            page.goto(address)
            page.locator("#hand [data-code]").first.wait_for(timeout=WAIT)
            spent = time.perf_counter() - start
            process.send_signal(signal.SIGINT)
        page.close()
    return spent
