"""What people do on the pages: open a table, choose, play to the end."""

from typing import Any

from playwright.sync_api import Page

NEWS = """() => !document.querySelector('#page').hasAttribute('aria-busy') && (
    document.querySelector('#choices button') || document.querySelector('#again')
)"""
ORDER = """async (order) => {
    const page = document.getElementById('page');
    const answer = await fetch('/tables', {
        method: 'POST',
        headers: {'Content-Type': 'application/json', 'X-Kille-Token': page.dataset.token},
        body: JSON.stringify(order),
    });
    return answer.json();
}"""


def open_table(page: Page, url: str, **order: Any) -> str:
    """Opens a table in the order's words, goes there and returns its address."""
    page.goto(url)
    said = page.evaluate(ORDER, {"practice": not order.get("people"), **order})
    assert "id" in said, said
    address = f"{url}/tables/{said['id']}"
    page.goto(address)
    return address


def wait_for_news(page: Page) -> bool:
    """Waits until the person is asked, and returns False where the match is over."""
    page.wait_for_function(NEWS)
    return page.locator("#again").count() == 0


def click_choice(page: Page) -> None:
    """Makes a choice with the pointer: on a card where that is possible."""
    card = page.locator(".kt-pickable").first
    confirm = page.locator("#choices .choice-group:has(.toggle) button.main")
    if card.count() == 0:
        page.locator("#choices button").first.click()
        return
    card.click()
    if confirm.count():
        confirm.click()
    elif page.locator("#choices button.fits").count():
        page.locator("#choices button.fits").first.click()


def press_choice(page: Page) -> None:
    """Makes a choice with the keyboard."""
    toggles = page.locator("#choices .toggle").count()
    page.keyboard.press("1")
    if toggles:
        page.keyboard.press("Enter")


def play(page: Page, choose: Any, most: int = 400) -> int:
    """Plays until the match is over, and returns how many decisions that took."""
    for decisions in range(most):
        if not wait_for_news(page):
            return decisions
        choose(page)
    raise AssertionError(f"the match was not over after {most} decisions")
