"""Writes pictures of the table in the browser, in every game and on every screen, for looking at.

make screenshots
make screenshots ARGS="--games knack --colors dark"
make screenshots ARGS=--docs
"""

import argparse
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

sys.path.append(str(Path(__file__).parents[1]))

from browser.machine import SCREENS, chromium, serving
from browser.people import click, open_table, phases
from kille_env.registry import list_games, spec
from kille_training.evaluation.replay import replay_page
from reference.matches import matches

FOLDER = Path("runs/screenshots")
DOCS = {
    "web_table": ("byteskille", "laptop", 1),
    "games/byteskille": ("byteskille", "phone", 2),
    "games/kungsholmskille": ("kungsholmskille", "phone", 5),
    "games/krypkille": ("krypkille", "phone", 3),
    "games/knack": ("knack", "phone", 3),
    "games/femkortskille": ("femkortskille", "phone", 3),
}
"""Pictures that the docs show: game, screen, and at which stop of a match, from 1."""


def main() -> None:
    """Read the arguments and take the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", nargs="+", default=list_games(), choices=list_games())
    parser.add_argument("--colors", nargs="+", default=["light"], choices=["light", "dark"])
    parser.add_argument("--stops", type=int, default=4, help="of each match")
    parser.add_argument("--docs", action="store_true", help="write those of the docs, no others")
    asked = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with serving() as site, chromium() as browser:
        if asked.docs:
            for name, (game, screen, stop) in DOCS.items():
                taken = take(browser, site, game, 4, screen, "light", stop)[-1]
                shrink(taken, Path("docs", f"{name}.png"))
            shrink(take_replay(browser), Path("docs", "replay.png"))
            return
        for color in asked.colors:
            for game in asked.games:
                for seats in sorted({2, 4, spec(game).max_players}):
                    for screen in SCREENS:
                        take(browser, site, game, seats, screen, color, asked.stops)
    print(f"The pictures are in {FOLDER}.")


def shrink(taken: Path, file: Path) -> None:
    """Write a picture with 128 colors, which suffice."""
    Image.open(taken).convert("RGB").quantize(128).save(file, optimize=True)


def take_replay(browser: Browser) -> Path:
    """Take the picture of the page of recorded matches, at its largest mistake."""
    file = FOLDER / "replay.html"
    names = ["Astrid", "Bertil", "Cecilia", "David"]
    played = matches("byteskille", 4, "deal", 12, names, "byteskille/tipsy")
    file.write_bytes(replay_page(played, source="evening.jsonl"))
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(file.absolute().as_uri())
    page.locator(".below li a").first.click()
    page.screenshot(path=FOLDER / "replay.png")
    return FOLDER / "replay.png"


def take(
    browser: Browser, site: tuple[str, str], game: str, seats: int, screen: str, color: str,
    stops: int,
) -> list[Path]:  # fmt: skip
    """Take the pictures of the first stops of a match."""
    across, down = SCREENS[screen]
    context = browser.new_context(
        viewport={"width": across, "height": down}, color_scheme=color, bypass_csp=True,
        has_touch=screen != "laptop", reduced_motion="reduce",
    )  # fmt: skip
    context.set_default_timeout(120_000)  # a game may have to be compiled first
    page, files = context.new_page(), []
    open_table(page, site, game=game, players=seats, rules={"episode": "match"})
    for number, _ in zip(range(stops), phases(page, click), strict=False):
        files.append(FOLDER / f"{game}-{seats}-{screen}-{color}-{number}.png")
        page.screenshot(path=files[-1])
    context.close()
    return files


if __name__ == "__main__":
    main()
