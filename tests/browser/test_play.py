"""Whole matches are played on the page, by clicking and by keyboard, at both widths."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from browser.machine import WIDTHS
from browser.people import click_choice, open_table, play, press_choice
from kille_env.registry import list_games

OpenPage = Callable[..., Page]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("game", list_games())
def test_matches_are_played_by_clicking_and_by_keyboard(
    url: str, open_page: OpenPage, game: str, width: str
) -> None:
    page = open_page(width)
    open_table(page, url, game=game, players=3, seed=4)
    clicks = play(page, click_choice)
    page.locator("#again").click()
    page.wait_for_selector("#again", state="detached")
    presses = play(page, press_choice)
    assert clicks + presses > 1
    assert page.locator("#results tbody tr").count() == 3
