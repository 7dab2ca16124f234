"""What a page does besides play: it keeps its state, waits at ends, and can be read by all."""

import re
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Dialog, Page, expect

from browser.looks import faults
from browser.machine import SCREENS, serving
from browser.people import click, open_table, phase, phases, press
from kille_env.registry import list_games, spec
from kille_training.table import online
from kille_training.table.sitting import Sitting

OpenPage = Callable[..., Page]
Site = tuple[str, str]
SHOWN = """() => [
    document.querySelector('#question').textContent,
    [...document.querySelectorAll('#choices > *')].map((button) => button.textContent),
    [...document.querySelectorAll('#hand use')].map((card) => card.getAttribute('href')),
]"""
MATCH = {"episode": "match"}


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server at which no match waits; its matches have one seed, by which the person decides."""
    monkeypatch.setattr("kille_training.table.online.secrets.randbits", lambda bits: 1)
    with serving() as address:
        yield address


def test_a_game_is_begun_from_the_start_page(fresh: Site, open_page: OpenPage) -> None:
    page = open_page("phone")
    url, token = fresh
    page.goto(f"{url}/?token={token}")
    page.goto(f"{url}/")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= SCREENS["phone"][0]
    form = page.locator('[data-game="knack"]')
    form.locator("summary").click()
    form.locator("[name=players]").select_option("3")
    form.locator("button").click()
    page.wait_for_url("**/table")
    assert phase(page) == "asked"
    assert page.locator("#seats .seat").count() == 2
    page.locator("header a").click()
    expect(page.locator("a.go")).to_contain_text("Continue: your turn in Knack")
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    page.locator('[data-game="byteskille"] button').click()
    assert asked == ["Your match of Knack is not over. Begin Byteskille, and lose it?"]
    page.locator("a.go").click()
    expect(page.locator("h1")).to_have_text("Knack")


def test_every_game_of_the_start_page_has_a_button_of_its_own_name(
    fresh: Site, open_page: OpenPage
) -> None:
    page = open_page()
    url, token = fresh
    page.goto(f"{url}/?token={token}")
    for game in list_games():
        button = page.get_by_role("button", name=f"Play {spec(game).title}", exact=True)
        expect(button).to_be_visible()
    knack = page.locator('[data-game="knack"]')
    expect(knack).to_contain_text("a match of 4: 4 deals, about 1 minute")


def test_a_result_says_why_on_every_screen(site: Site, open_page: OpenPage) -> None:
    for screen in SCREENS:
        page = open_page(screen)
        open_table(page, site, game="femkortskille", players=4, rules=MATCH)
        assert [*phases(page, click)][-1] == "result"
        expect(page.locator("#hint")).to_contain_text("beat your cuckoo in the last trick")
        assert faults(page) == [] and page.locator(".won").count() == 0
        page.context.close()


def test_a_win_is_celebrated(site: Site, open_page: OpenPage) -> None:
    page = open_page("flat")
    open_table(page, site, game="femkortskille", players=4, rules=MATCH, seed=3)
    assert [*phases(page, click)][-1] == "result"
    expect(page.locator(".won #event")).to_have_text("You win 3.")
    assert faults(page) == []
    page.locator("#choices > *").first.click()
    expect(page.locator(".won")).to_have_count(0)


def test_too_many_cards_to_change_say_how_many_may_go(site: Site, open_page: OpenPage) -> None:
    page = open_page("phone")
    open_table(page, site, game="kungsholmskille", players=4, rules=MATCH)
    for _ in phases(page, click):
        if page.locator("#question").inner_text() == "Change up to 2 cards?":
            break
    for number in range(3):
        page.locator(".hand .card").nth(number).tap()
    expect(page.get_by_role("alert")).to_have_text("At most 2 cards")
    assert faults(page) == []
    page.locator(".hand .card").nth(1).tap()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator("#choices > .go")).to_have_text("Change the mask and 7")


@pytest.mark.parametrize("screen", SCREENS)
def test_plates_without_cards_fill_their_places(
    site: Site, open_page: OpenPage, screen: str
) -> None:
    page = open_page(screen)
    open_table(page, site, game="femkortskille", players=8, rules=MATCH)
    for now in phases(page, click):
        if now == "asked" and page.locator(".crowd .out").count():
            break
    left = "(one) => one.getBoundingClientRect().left"
    offset = f"(seats) => seats.map((seat) => ({left})(seat.lastChild) - ({left})(seat))"
    assert set(page.locator(".crowd .seat").evaluate_all(offset)) == {0}


def test_focus_stays_in_the_game_after_every_choice(site: Site, open_page: OpenPage) -> None:
    page = open_page()
    open_table(page, site, game="kungsholmskille", players=3, rules=MATCH)

    def tab(page: Page) -> None:
        buttons, cards = page.locator("#choices > button"), page.locator(".hand .card:not(.no)")
        (buttons if buttons.count() else cards).first.focus()
        page.keyboard.press("Enter")

    focused = "document.activeElement.closest('#dock, #hand') !== null"
    stops = phases(page, tab)
    next(stops)
    for now in stops:
        assert page.evaluate(focused), now


def test_what_is_seen_is_also_read_out(site: Site, open_page: OpenPage) -> None:
    page = open_page()
    open_table(page, site, game="knack", players=4, rules=MATCH)
    phase(page)
    expect(page.get_by_role("main")).to_have_count(1)
    assert "paragraph: David , deals , 3 cards" in page.locator("#seats").aria_snapshot()
    assert "paragraph: You , to act" in page.locator("#me").aria_snapshot()


def test_trumps_are_plain_to_see(site: Site, open_page: OpenPage) -> None:
    page = open_page("phone")
    open_table(page, site, game="knack", players=4, rules=MATCH)
    phase(page)
    expect(page.locator(".trumps")).to_have_text("trumps ♠")
    assert page.locator(".trumps").evaluate("one => getComputedStyle(one).fontSize") == "16px"


def test_reload_back_and_a_second_tab_show_the_same(site: Site, open_page: OpenPage) -> None:
    page = open_page()
    open_table(page, site, game="byteskille", players=4, rules=MATCH)
    assert phase(page) == "asked"
    shown = page.evaluate(SHOWN)
    page.reload()
    phase(page)
    assert page.evaluate(SHOWN) == shown
    page.goto(f"{site[0]}/")
    page.go_back()
    phase(page)
    assert page.evaluate(SHOWN) == shown
    tab = page.context.new_page()
    tab.goto(f"{site[0]}/table")
    phase(tab)
    assert tab.evaluate(SHOWN) == shown
    tab.locator("#choices > *").first.click()
    page.wait_for_function(
        f"() => document.querySelector('#question').textContent !== {shown[0]!r}"
    )


def test_the_end_of_a_deal_stays_until_it_is_seen(site: Site, open_page: OpenPage) -> None:
    page = open_page()
    open_table(page, site, game="krypkille", players=2, rules=MATCH)
    for now in phases(page, press):
        if now == "end":
            break
    verdict = page.locator("#event").inner_text()
    assert page.locator(".turn, .say").count() == 0
    tab = page.context.new_page()
    tab.goto(f"{site[0]}/")
    expect(tab.locator("a.go")).to_have_text("Continue: a deal has ended in Krypkille")
    page.wait_for_timeout(3000)
    assert page.locator("#event").inner_text() == verdict
    page.reload()
    expect(page.locator("#event")).to_have_text(verdict)
    page.keyboard.press("Enter")
    expect(page.locator("#event")).not_to_have_text(verdict)


SAID = """() => {
    window.said = [];
    const line = document.querySelector('#event');
    const note = () => said.push([line.innerText, performance.now()]);
    new MutationObserver(note).observe(line, {childList: true});
}"""
"""Notes each line in the middle, and when it was written."""


def test_what_decides_a_deal_is_seen_before_its_end(site: Site, open_page: OpenPage) -> None:
    page = open_page()
    open_table(page, site, speed="1", game="byteskille", players=2, rules={"episode": "deal"})
    phase(page)
    page.evaluate(SAID)
    for now in phases(page, press):
        if now == "end":
            break
    *_, act, verdict = dict(page.evaluate("said"))
    assert verdict == page.locator("#event").inner_text()
    assert re.search("(keep|draw|swap)s? ", act), act


def test_no_beat_is_too_short_to_be_read(
    site: Site, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even that somebody is thinking, which is said after a second without news.

    Timers never ring early, so this holds on a busy machine, too.
    """
    page = open_page()
    open_table(page, site, speed="1", game="kungsholmskille", players=3, rules=MATCH)
    phase(page)
    page.evaluate(SAID)
    think, decided = Sitting.think, threading.Event()

    def thinks_long(sitting: Sitting) -> int:
        decided.wait(60)
        return think(sitting)

    monkeypatch.setattr(Sitting, "think", thinks_long)
    press(page)
    page.wait_for_function("said.some(([line]) => line.includes('is thinking'))")
    decided.set()
    while len(page.evaluate("said")) < 6:
        phase(page)
        press(page)
    gaps = [later - earlier for (_, earlier), (_, later) in pairwise(page.evaluate("said"))]
    assert min(gap for gap in gaps if gap > 1) >= 249  # a frame may write its line twice at once


def test_a_cold_start_can_be_read(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, sit_down = threading.Event(), online.Sitting
    monkeypatch.setattr(online, "Sitting", lambda *a, **k: compiled.wait() and sit_down(*a, **k))
    page = open_page("phone")
    with serving() as site:
        open_table(page, site, game="knack", players=4)
        expect(page.locator("#event")).to_contain_text("Setting the table …")
        assert faults(page) == []
        page.locator("#rules").click()
        expect(page.locator("#sheet")).to_contain_text("The dealer pays for each trick.")
        page.keyboard.press("Escape")
        compiled.set()
        assert phase(page) == "asked"


def test_a_lost_connection_is_said_and_mended(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page()
    with serving(tmp_path) as site:
        open_table(page, site, game="byteskille", players=4, rules=MATCH)
        phase(page)
        shown = page.evaluate(SHOWN)
    expect(page.locator("#hint")).to_contain_text("Connection lost. Your seat is kept.")
    with serving(tmp_path, int(site[0].rpartition(":")[2])):
        expect(page.locator("body")).not_to_have_class(re.compile("lost"))
        phase(page)
        assert page.evaluate(SHOWN) == shown


def test_a_first_match_begins_with_its_rules_and_a_reload_keeps_the_log(
    fresh: Site, open_page: OpenPage
) -> None:
    page = open_page("phone")
    open_table(page, fresh, game="kungsholmskille", players=4, rules={**MATCH, "deals": 3})
    phase(page)
    expect(page.locator("#event")).to_contain_text("keep a low one. Show it: if it is the lowest")
    press(page)
    expect(page.locator("#event .about")).to_have_count(0)
    ends = 0
    for now in phases(page, press):
        ends += now == "end"
        if now == "asked" and ends == 2:
            break
    log = page.evaluate("document.querySelector('#log').textContent")
    assert "With you: Bertil, Cecilia and David (Steady, a rule of thumb)." in log
    page.reload()
    phase(page)
    assert page.evaluate("document.querySelector('#log').textContent") == log
    expect(page.locator(".about")).to_have_count(0)


def test_what_plays_is_told_where_it_is_chosen(fresh: Site, open_page: OpenPage) -> None:
    page = open_page("phone")
    url, token = fresh
    page.goto(f"{url}/?token={token}")
    form = page.locator('[data-game="knack"]')
    form.locator("summary").click()
    form.locator("[name=opponents]").select_option("knack/any_trump")
    expect(form.locator(".what")).to_have_text("joins with any trump")


@pytest.mark.parametrize("screen", SCREENS)
def test_the_rules_are_one_click_away(site: Site, open_page: OpenPage, screen: str) -> None:
    page = open_page(screen)
    open_table(page, site, game="femkortskille", players=4)
    page.locator("#rules").click()
    expect(page.locator("#sheet")).to_be_visible()
    assert page.evaluate("document.querySelector('#sheet').scrollTop") == 0
    page.locator("#sheet summary").click()
    page.locator("#sheet").evaluate("sheet => sheet.scrollTo(0, sheet.scrollHeight)")
    exit_ = page.get_by_role("button", name="Back to the table")
    box = exit_.bounding_box()
    assert box and 0 <= box["y"] < SCREENS[screen][1] - box["height"]
    text = page.locator("#sheet").inner_text()
    assert not re.search(r"\b([TJQKA6-9][CDHS]|L\d+)\b|\*|_|human|units|seat \d", text)
    page.keyboard.press("Escape")
    if screen != "laptop":
        page.locator("#more").click()
        expect(page.locator("#speed")).to_be_visible()
        expect(page.locator("#standings")).to_contain_text("You −1 · Bertil −1 · ")
        page.keyboard.press("Escape")
    phase(page)
    assert faults(page) == []
