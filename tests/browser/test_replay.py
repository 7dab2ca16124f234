"""The page of recorded matches, stepped through as people do."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.looks import hardships
from kille_env.registry import list_games, load_game
from kille_training.evaluation.replay import replay_page
from reference.matches import matches


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """The page of single deals that are solved."""
    path = tmp_path_factory.mktemp("replay") / "deals.html"
    path.write_bytes(replay_page(matches("byteskille", 3, "deal", 6), source="deals.jsonl"))
    return path


def opened(open_page, path: Path, width="laptop", at=""):
    page = open_page(width)
    page.goto(f"file://{path}{at}")
    expect(page.locator("body.ready")).to_be_attached()
    return page


@pytest.mark.parametrize("width", ["laptop", "phone"])
def test_keys_and_buttons_step_through_it(solved, open_page, width):
    page = opened(open_page, solved, width)
    place = page.locator("#position")
    page.keyboard.press("ArrowRight")
    expect(place).to_have_value("1")
    page.click("#forward")
    expect(place).to_have_value("2")
    page.keyboard.press("ArrowLeft")
    expect(place).to_have_value("1")
    page.keyboard.press("End")
    expect(place).to_have_value(place.get_attribute("max") or "")
    page.select_option("#deals", "1")
    expect(page.locator("#decision")).to_be_visible()
    page.keyboard.press("Home")
    expect(place).to_have_value("0")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_mistake_leads_to_its_moment(solved, open_page):
    page = opened(open_page, solved)
    link = page.locator(".below li a").first
    loss = re.search(r"([\d.]+) units more", page.locator(".below li").first.inner_text())
    link.click()
    assert loss
    expect(page.locator("#loss")).to_have_text(f"This choice costs {loss[1]} units.")
    again = opened(open_page, solved, at=page.url.partition(".html")[2])
    expect(again.locator("#loss")).to_have_text(f"This choice costs {loss[1]} units.")


@pytest.mark.parametrize(("game", "seats"), [("femkortskille", 4), ("femkortskille", 6)])
def test_plates_on_a_phone_are_as_wide_as_their_places(game, seats, tmp_path, open_page):
    path = tmp_path / "match.html"
    path.write_bytes(replay_page(matches(game, seats, "deal", 1), source="m.jsonl"))
    page = opened(open_page, path, "phone")
    wide = page.locator("#seats .seat").evaluate_all(
        "(seats) => seats.map((one) => one.offsetWidth - one.lastChild.offsetWidth)"
    )
    assert wide == [0] * (seats - 1)


def test_names_of_strangers_run_nothing(tmp_path, open_page):
    evil = ["<img src=x onerror=document.title=1>", "</script><script>document.title=1</script>"]
    path = tmp_path / "evil.html"
    path.write_bytes(replay_page(matches("byteskille", 2, "deal", 1, evil), source="<b>x"))
    page = opened(open_page, path)
    page.keyboard.press("ArrowRight")
    assert page.title() == "Byteskille: <b>x"
    assert evil[0] in page.locator("#felt").inner_text()


@pytest.mark.parametrize("width", ["laptop", "phone"])
@pytest.mark.parametrize("game", list_games())
def test_every_game_is_shown_without_a_fault(game, width, tmp_path, open_page):
    path = tmp_path / "match.html"
    seats = load_game(game).spec.default_players
    path.write_bytes(replay_page(matches(game, seats, "match", 1), source="match.jsonl"))
    page = opened(open_page, path, width)
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#felt .plate").first).to_be_visible()
    wide = page.locator("#strip .card").evaluate_all("cards => cards.map((one) => one.offsetWidth)")
    assert min(wide, default=40) >= 40
    assert hardships(page) == []
