"""Writes pictures of the web table, in every game at 2, 4 and the most seats, for looking at.

The page of recorded matches is among them.

make screenshots
make screenshots ARGS="--games knack --colours dark"
make screenshots ARGS=--docs
"""

import argparse
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, expect

sys.path.append(str(Path(__file__).parents[1]))

from browser.machine import WIDTHS, chromium, serving
from browser.matches import matches
from browser.people import open_table, press_choice, wait_for_news
from kille_env.registry import list_games, spec
from kille_training.reports.replay import replay_page

FOLDER = Path("runs/screenshots")
NAME = "Ingeborg"
DOCS = {
    "replay-laptop-light": "replay",
    "byteskille-4-laptop-light": "web_table",
    "byteskille-4-phone-dark": "web_phone",
}
"""Pictures that the docs show, and what they are called there."""


def main() -> None:
    """Reads the arguments and takes the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", nargs="+", default=list_games(), choices=list_games())
    parser.add_argument("--colours", nargs="+", default=["light"], choices=["light", "dark"])
    parser.add_argument("--decisions", type=int, default=2, help="played before the picture")
    parser.add_argument("--docs", action="store_true", help="write those of the docs, no others")
    asked = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with serving() as url, chromium() as browser:
        if asked.docs:
            take_docs(browser, url)
            return
        for colours in asked.colours:
            take_lobby(browser, url, colours)
            take_replay(browser, colours)
            for game in asked.games:
                for seats in sorted({2, 4, spec(game).max_players}):
                    take_table(browser, url, colours, game, seats, asked.decisions)
    print(f"The pictures are in {FOLDER}.")


def take_docs(browser: Browser, url: str) -> None:
    """Takes the pictures of the docs and writes them there, with 128 colours, which suffice."""
    take_replay(browser, "light")
    for colours in ("light", "dark"):
        take_table(browser, url, colours, "byteskille", 4, decisions=2, calls=False)
    for taken, name in DOCS.items():
        picture = Image.open(FOLDER / f"{taken}.png").convert("RGB")
        picture.quantize(128).save(Path("docs", f"{name}.png"), optimize=True)


def take_lobby(browser: Browser, url: str, colours: str) -> None:
    """Takes the pictures of the list of tables."""
    for width, (across, down) in WIDTHS.items():
        context = browser.new_context(
            viewport={"width": across, "height": down}, color_scheme=colours
        )
        page = context.new_page()
        open_table(page, url, game="byteskille", players=4, people=1, name=NAME)
        page.goto(url)
        page.screenshot(path=FOLDER / f"lobby-{width}-{colours}.png")
        context.close()


def take_replay(browser: Browser, colours: str) -> None:
    """Takes the pictures of the page of recorded matches, at its largest mistake."""
    file = FOLDER / "replay.html"
    names = ["Astrid", "Bertil", "Cecilia", "David"]
    played = [*matches("byteskille", 4, "deal", 12, names, "byteskille/tipsy")]
    file.write_bytes(replay_page(played, source="evening.jsonl"))
    for width, (across, _) in WIDTHS.items():
        context = browser.new_context(
            viewport={"width": across, "height": 900}, color_scheme=colours
        )
        page = context.new_page()
        page.goto(file.absolute().as_uri())
        page.locator(".below li a").first.click()
        page.screenshot(path=FOLDER / f"replay-{width}-{colours}.png", full_page=True)
        context.close()


def take_table(
    browser: Browser,
    url: str,
    colours: str,
    game: str,
    seats: int,
    decisions: int,
    calls: bool = True,
) -> None:
    """Takes the pictures of a table after some decisions, while calls are read or afterwards."""
    for width, (across, down) in WIDTHS.items():
        context = browser.new_context(
            viewport={"width": across, "height": down},
            color_scheme=colours,
            has_touch=width == "phone",
            reduced_motion="reduce",
        )
        page = context.new_page()
        open_table(page, url, game=game, players=seats, seed=1, name=NAME)
        for _ in range(decisions):
            if wait_for_news(page):
                press_choice(page)
        wait_for_news(page)
        if not calls:
            expect(page.locator(".kt-bubble")).to_have_count(0)
        page.screenshot(path=FOLDER / f"{game}-{seats}-{width}-{colours}.png")
        context.close()


if __name__ == "__main__":
    main()
