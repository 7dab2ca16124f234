"""Writes pictures of every report, of small examples, for looking at.

make screenshots-reports
make screenshots-reports ARGS="--only tournament --colors dark"
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser

sys.path.append(str(Path(__file__).parents[1]))

import kille_training as kt
from browser.machine import SCREENS, chromium
from kille_training.evaluation.replay import replay_page
from reference.matches import matches

FOLDER = Path("runs/screenshots")
NAMES = ["Astrid", "Bertil", "Cecilia"]
RUN = """
name: example
table: {game: byteskille, num_players: 3, episode: deal}
learner: {decisions: 65536, num_tables: 128, n_steps: 16, batch_size: 1024, n_epochs: 2}
measure: {every: 16384, deals: 200, final_deals: 1000, exact: true}
"""
ENTRANTS = {
    "uniform play": "uniform",
    "the rule of thumb": "rule_of_thumb",
    "tipsy": "byteskille/tipsy",
    "an entrant with a long name": "byteskille/stone",
}


def training(folder: Path) -> Path:
    """Train for seconds, and return the report of the run."""
    settings = folder / "example.yaml"
    settings.write_text(RUN)
    return kt.train(settings, out=folder).report


def tournament(folder: Path) -> Path:
    """Play a tournament, and return its page."""
    return kt.play_tournament(ENTRANTS, "byteskille", num_players=3, deals=200, out=folder).report


def replay(folder: Path) -> Path:
    """Records matches, and returns the page that shows them."""
    page = folder / "replay.html"
    played = matches("byteskille", 3, "deal", 12, NAMES, "byteskille/tipsy")
    page.write_bytes(replay_page(played, source="evening.jsonl"))
    return page


MAKERS: dict[str, Callable[[Path], Path]] = {
    made.__name__: made for made in (training, tournament, replay)
}


def main() -> None:
    """Read the arguments, makes the examples and take the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=list(MAKERS), choices=list(MAKERS))
    parser.add_argument("--colors", nargs="+", default=["light", "dark"], choices=["light", "dark"])
    asked = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        for name in asked.only:
            folder = Path(place) / f"{name}-example"
            folder.mkdir()
            page = MAKERS[name](folder)
            for colors in asked.colors:
                take(browser, page, f"report-{name}", colors)
    print(f"The pictures are in {FOLDER}.")


def take(browser: Browser, file: Path, name: str, colors: str) -> None:
    """Take the whole page at every width, and say where it is wider than the screen."""
    for width, (across, down) in SCREENS.items():
        context = browser.new_context(
            viewport={"width": across, "height": down}, color_scheme=colors
        )
        page = context.new_page()
        page.goto(file.absolute().as_uri())
        page.screenshot(path=FOLDER / f"{name}-{width}-{colors}.png", full_page=True)
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > across:
            print(f"{name} at {across} px is {wide} px wide")
        context.close()


if __name__ == "__main__":
    main()
