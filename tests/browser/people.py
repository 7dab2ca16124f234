"""What people do on the pages: open a table, choose, go on, play to the end."""

from collections.abc import Callable, Iterator
from typing import Any

from playwright.sync_api import Page

ORDER = """async ([order, speed]) => {
    localStorage.setItem('speed', speed);
    const answer = await fetch('/new', {
        method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(order),
    });
    if (!answer.ok) throw new Error(await answer.text());
}"""
ASKED = """() => document.querySelector('#choices > :is(button, a)') !== null
    || document.querySelector('.hand [aria-pressed]') !== null"""


def open_table(page: Page, site: tuple[str, str], speed: str = "0", **order: Any) -> None:
    """Open a table in the order's words, and go there."""
    url, token = site
    page.goto(f"{url}/?token={token}")
    page.goto(f"{url}/")
    page.evaluate(ORDER, [{"seed": 1, **order}, speed])
    page.goto(f"{url}/table")


def phase(page: Page) -> str:
    """Wait until something can be done, and return what: "asked", "end", "out" or "result"."""
    page.wait_for_function(ASKED)
    if page.locator("#strip.results").count():
        return "result"
    question = page.locator("#question").inner_text()
    return "out" if question.startswith("You are out") else "asked" if question else "end"


def click(page: Page) -> None:
    """Make the first choice with the pointer, or a finger: with a card where that is possible."""
    button = page.locator("#choices > :is(button, a)")
    if button.count() == 0:
        card = page.locator(".hand .card:not(.no)").first
        if page.evaluate("navigator.maxTouchPoints > 0"):
            card.tap()  # raises the card
            button = page.locator("#choices > .go")
        else:
            return card.click()
    return button.first.click()


def press(page: Page) -> None:
    """Make a choice with the keyboard alone."""
    if page.locator("#choices > .go").count():
        page.keyboard.press("Enter")
    elif page.locator(".hand [aria-pressed]").count() == 0:
        page.keyboard.press("1")
    else:
        for key in "12345":  # a card that may not be played stays where it is
            page.keyboard.press(key)
            if page.locator(".hand .up").count():
                page.keyboard.press("Enter")
                return


def phases(page: Page, choose: Callable[[Page], None], most: int = 400) -> Iterator[str]:
    """Play until the match is over; yields at every stop, before anything is chosen."""
    for _ in range(most):
        now = phase(page)
        yield now
        if now == "result":
            return
        before = page.evaluate("document.body.innerText")
        choose(page)
        page.wait_for_function("(before) => document.body.innerText !== before", arg=before)
    raise AssertionError(f"the match was not over after {most} stops")


def signed(text: str) -> float:
    """Return an amount as a page writes it: "+6", "−0.67"."""
    return float(text.replace("−", "-"))
