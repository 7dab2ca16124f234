"""What a page does besides play: it keeps its state, hides cards, helps, and can be read by all."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route

from browser.machine import WIDTHS
from browser.people import (
    click_choice,
    open_table,
    play,
    press_choice,
    wait_for_news,
)
from kille_env.records import read_records, replay

OpenPage = Callable[..., Page]
DEAL = {"episode": "deal"}
SHOWN = """() => [
    document.querySelector('#question').textContent,
    [...document.querySelectorAll('#choices button')].map(button => button.textContent),
    [...document.querySelectorAll('#table use')].map(card => card.getAttribute('href')),
]"""
HAND = re.compile(r'data-key="hand (\d+) \d+"[^>]*>(?:<g[^>]*>)*<use href="#card-(\w+)"')


def serious_faults(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {node['html'][:200]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_keeps_anybody_from_using_the_pages(
    url: str, open_page: OpenPage, width: str, colours: str
) -> None:
    page = open_page(width, color_scheme=colours)
    page.goto(url)
    assert serious_faults(page) == []
    open_table(page, url, game="krypkille", players=4, seed=1, rules=DEAL)
    wait_for_news(page)
    page.keyboard.press("h")
    page.wait_for_selector("#hints table")
    assert serious_faults(page) == []
    play(page, press_choice)
    assert serious_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width][0]


def test_a_table_is_opened_with_the_form(url: str, open_page: OpenPage) -> None:
    page = open_page("phone")
    page.goto(url)
    page.get_by_label("Game").select_option("krypkille")
    page.get_by_label("Players at the table").select_option("5")
    page.get_by_label("Your name").fill("Anna")
    page.get_by_role("button", name="Open the table").click()
    wait_for_news(page)
    assert page.locator(".person").count() == 5
    assert "Anna" in page.locator("#people").inner_text()


def test_a_reload_in_the_middle_changes_nothing(url: str, open_page: OpenPage) -> None:
    page = open_page()
    open_table(page, url, game="femkortskille", players=3, seed=2, rules=DEAL)
    for _ in range(3):
        assert wait_for_news(page)
        click_choice(page)
    assert wait_for_news(page)
    shown = page.evaluate(SHOWN)
    page.reload()
    assert wait_for_news(page)
    assert page.evaluate(SHOWN) == shown


def test_two_people_play_and_neither_is_sent_the_cards_of_the_other(
    url: str, open_page: OpenPage
) -> None:
    pages = [open_page("laptop"), open_page("phone")]
    order = {"game": "kungsholmskille", "players": 3, "people": 1, "rules": DEAL}
    address = open_table(pages[0], url, **order)
    pages[1].goto(address)
    pages[1].get_by_label("Your name").fill("Britta")
    pages[1].get_by_role("button", name=re.compile("Sit here")).click()
    pages[0].get_by_text("Britta").first.wait_for()
    own, others = set[str](), set[str]()
    for _ in range(400):
        for page in pages:
            page.wait_for_function("() => document.querySelector('#table svg') !== null")
        if any(page.locator("#again").count() for page in pages):
            break
        for page in pages:
            for mine, card in cards_in_hands(page):
                (own if mine else others).add(card)
            if page.locator("#choices button").count():
                click_choice(page)
                page.wait_for_function("() => !document.querySelector('#page[aria-busy]')")
    else:
        raise AssertionError("the match was not over")
    assert all(page.wait_for_selector("#again") for page in pages)
    assert others == {"back"}
    assert "back" not in own
    assert len(own) > 1


def cards_in_hands(page: Page) -> list[tuple[bool, str]]:
    """Returns the cards in hands, whether they are the reader's own and which they are.

    They stand in the page, or in what the server gives it. There are none once all are played, and
    nobody's are hidden when the match is over.
    """
    content = page.content()
    said = page.evaluate("fetch(`${location.pathname}/state`).then(answer => answer.json())")
    texts = [] if said["over"] else [content, *(frame["wide"] for frame in said["frames"])]
    cards = [pair for text in texts for pair in HAND.findall(text)]
    return [(int(seat) in said["you"], card) for seat, card in cards]


def test_a_hint_and_a_decision_that_is_taken_back(url: str, open_page: OpenPage) -> None:
    page = open_page()
    open_table(page, url, game="krypkille", players=3, seed=3, rules=DEAL)
    assert wait_for_news(page)
    shown = page.evaluate(SHOWN)
    page.keyboard.press("h")
    page.wait_for_selector("#hints table")
    assert "%" in page.locator("#hints").inner_text()
    press_choice(page)
    assert wait_for_news(page)
    page.keyboard.press("u")
    page.wait_for_function("() => document.querySelector('#undo').disabled")
    assert wait_for_news(page)
    assert page.evaluate(SHOWN) == shown


def test_what_the_server_refuses_is_said_and_nothing_is_lost(url: str, open_page: OpenPage) -> None:
    page = open_page()
    down = True
    # Before the page is there: one that is open may ask a little longer without being stopped.
    page.route("**/act", lambda route: route.abort() if down else route.continue_())
    open_table(page, url, game="byteskille", players=3, seed=3, rules=DEAL)
    assert wait_for_news(page)
    page.keyboard.press("1")
    page.wait_for_selector("#trouble:not(:empty)")
    assert "does not answer" in page.locator("#trouble").inner_text()
    down = False
    assert play(page, press_choice) > 0


def test_a_connection_that_is_lost_comes_back(url: str, open_page: OpenPage) -> None:
    page = open_page()
    streams = []

    def cut(route: Route) -> None:
        streams.append(route)
        route.abort() if len(streams) < 3 else route.continue_()

    page.route("**/events*", cut)
    open_table(page, url, game="byteskille", players=3, seed=3)
    page.get_by_text("The connection is lost").wait_for()
    assert wait_for_news(page)
    page.wait_for_selector("#trouble:empty", state="attached")
    assert len(streams) == 3


def test_every_frame_is_animated_in_time_and_can_be_stepped(url: str, open_page: OpenPage) -> None:
    page = open_page(reduced_motion="no-preference")
    open_table(page, url, game="krypkille", players=4, seed=1, rules=DEAL)
    assert wait_for_news(page)
    page.get_by_label("Step by step").check()
    click_choice(page)
    page.wait_for_selector("#step:not([hidden])")
    assert page.locator("#choices button").count() == 0
    lines = page.locator("#log li").count()
    page.locator("h1").click()
    page.keyboard.press("s")
    page.wait_for_function(f"() => document.querySelectorAll('#log li').length > {lines}")
    page.keyboard.press("Escape")
    page.wait_for_selector("#choices button, #again")


def test_the_record_of_a_match_is_downloaded_and_holds(
    url: str, open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page()
    open_table(page, url, game="knack", players=3, seed=5, rules=DEAL)
    play(page, press_choice)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the record").click()
    path = tmp_path / "matches.jsonl"
    download.value.save_as(path)
    (record,) = read_records(path)
    assert replay(record).differences == []
