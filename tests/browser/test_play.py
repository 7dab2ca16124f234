"""Whole matches are played on the page, and at every stop it can be read: see `looks`."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from browser.looks import faults
from browser.machine import SCREENS
from browser.people import click, open_table, phases, press
from kille_env.registry import list_games, spec

OpenPage = Callable[..., Page]
Site = tuple[str, str]
GATE = {
    ("byteskille", 4, "laptop", "light"), ("byteskille", 20, "phone", "dark"),
    ("kungsholmskille", 4, "flat", "light"), ("krypkille", 2, "phone", "light"),
    ("knack", 11, "laptop", "dark"), ("femkortskille", 4, "flat", "dark"),
}  # fmt: skip
"""One of each in the gate; all of them are slow."""
ALL = [
    pytest.param(*table, marks=() if table in GATE else pytest.mark.slow)
    for game in list_games()
    for seats in sorted({2, 4, spec(game).max_players})
    for screen in SCREENS
    for color in ("light", "dark")
    for table in [(game, seats, screen, color)]
]


@pytest.mark.parametrize(("game", "seats", "screen", "color"), ALL)
def test_every_stop_of_a_match_can_be_read(
    site: Site, open_page: OpenPage, game: str, seats: int, screen: str, color: str
) -> None:
    page = open_page(screen, color_scheme=color)
    rules = {"episode": "match" if seats <= 4 else "deal"}
    open_table(page, site, game=game, players=seats, rules=rules)
    stops, ends = 0, 0
    for now in phases(page, press if screen == "laptop" else click):
        assert faults(page) == [], f"{now}: {page.locator('#event').inner_text()}"
        stops += 1
        if now == "end":
            ends += 1
            assert page.locator("#event").inner_text()
        if now == "asked" and page.locator("#choices > *").count() > 1:
            assert page.locator("#hint").inner_text().startswith("Hint: ")
        if stops == 12 and rules["episode"] == "match":
            break
    else:
        assert page.locator("#strip li").count() == seats
    assert stops > 1 and ends > 0
    found = Axe().run(page).response["violations"]
    serious = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
    assert serious == []
