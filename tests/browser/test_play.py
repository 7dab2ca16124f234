"""Every phase of every game, and whole matches: at every stop the page can be read, see `looks`."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.looks import faults, hardships
from browser.machine import SCREENS, serving
from browser.people import click, open_table, phase, phases, press, signed
from browser.positions import POSITIONS, keep
from kille_env.registry import list_games, spec

OpenPage = Callable[..., Page]
Site = tuple[str, str]
COLORS = ("light", "dark")
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
    for color in COLORS
    for table in [(game, seats, screen, color)]
]
PHASES = [
    pytest.param(*at, marks=() if at == ("byteskille", "BUYIN", 20) else pytest.mark.slow)
    for at in POSITIONS
]


def read(page: Page) -> None:
    """Check what holds at every stop of a match, for everybody."""
    assert faults(page) == [], page.locator("#event").inner_text()
    assert hardships(page) == []


@pytest.mark.parametrize(("game", "where", "seats"), PHASES)
def test_every_phase_can_be_read(
    open_page: OpenPage, tmp_path: Path, game: str, where: str, seats: int
) -> None:
    keep(tmp_path, game, where, seats)
    with serving(tmp_path) as (url, token):
        for screen in SCREENS:
            for color in COLORS:
                page = open_page(screen, color_scheme=color)
                page.goto(f"{url}/?token={token}")
                page.goto(f"{url}/table")
                assert phase(page) == "asked"
                expect(page.locator("#hint")).to_contain_text("Hint: ")
                read(page)
                page.context.close()


@pytest.mark.parametrize(("game", "seats", "screen", "color"), ALL)
def test_every_stop_of_a_match_can_be_read(
    site: Site, open_page: OpenPage, game: str, seats: int, screen: str, color: str
) -> None:
    page = open_page(screen, color_scheme=color)
    rules = {"episode": "match" if seats <= 4 else "deal"}
    open_table(page, site, game=game, players=seats, rules=rules)
    kinds: list[str] = []
    for now in phases(page, press if screen == "laptop" else click):
        if now in kinds:
            assert faults(page) == [], f"{now}: {page.locator('#event').inner_text()}"
        else:
            read(page)
        kinds.append(now)
        if now == "end":
            assert page.locator("#event").inner_text()
        if now == "asked" and page.locator("#choices > *").count() > 1:
            assert page.locator("#hint").inner_text().startswith("Hint: ")
        if len(kinds) == 12 and rules["episode"] == "match":
            break
    else:
        won = page.locator("#strip li span:first-of-type").all_inner_texts()
        assert len(won) == seats
        if "/" not in won[0]:  # of points nobody has won any
            assert won == sorted(won, key=signed, reverse=True)
    assert "end" in kinds


@pytest.mark.parametrize("game", [
    pytest.param(game, marks=() if game == "knack" else pytest.mark.slow) for game in list_games()
])  # fmt: skip
def test_keys_alone_play_a_match(site: Site, open_page: OpenPage, game: str) -> None:
    page = open_page()
    open_table(page, site, game=game, players=3, rules={"episode": "match"}, opponents=["uniform"])
    kinds = list(phases(page, press))
    assert kinds[-1] == "result" and kinds.count("end") >= 1
    assert page.locator("#strip li").count() == 3
    page.keyboard.press("Enter")
    expect(page.locator("#strip.results")).to_have_count(0)
    assert phase(page) in ("asked", "end")
