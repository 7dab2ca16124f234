"""`kille play GAME --web`: a table on a page, served until it is interrupted."""

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from kille_env.errors import ConfigError, RulesError
from kille_training.cli.options import F

if TYPE_CHECKING:
    from kille_env.records import Record


def page_options(command: F) -> F:
    """Adds `--web` and what goes with it, which the command receives as `**page`."""
    for option in (
        click.option("--no-browser", is_flag=True, help="With --web: do not open the page."),
        click.option(
            "--port", type=click.IntRange(0, 65535), help="With --web: the port; 0 is any."
        ),
        click.option(
            "--host",
            help="With --web: let other machines in, at this address of yours (0.0.0.0 for all); "
            "they need the link that is printed.",
        ),
        click.option(
            "--practice", is_flag=True, help="With --web: take decisions back, ask for hints."
        ),
        click.option(
            "--people",
            type=click.IntRange(min=0),
            help="With --web: further seats left free for people who join.",
        ),
        click.option("--web", is_flag=True, help="Play on a page in the browser."),
    ):
        command = option(command)
    return command


def wants_page(page: dict[str, Any]) -> bool:
    """Returns whether to play on a page.

    Raises:
        ConfigError: An option is given that only a page has.
    """
    for name, value in page.items():
        if value is not None and value is not False and not page["web"]:
            raise ConfigError(f"--{name.replace('_', '-')} is for a page; add --web")
    return page["web"]


def seats_named(words: str, num_players: int, most: int) -> tuple[int, ...]:
    """Returns the seats that a person names, "0" or "0,2".

    Args:
        words: What they wrote.
        num_players: Seats of the table.
        most: How many they may name.

    Raises:
        RulesError: There is no such seat, or they are too many.
    """
    seats = tuple(int(word) if word.strip().isdecimal() else -1 for word in words.split(","))
    if len(seats) > most:
        raise RulesError(f"your seats are {words!r}; several are for --web, expected one")
    for seat in seats:
        if not 0 <= seat < num_players or seats.count(seat) > 1:
            raise RulesError(f"your seat is {words}, expected one from 0 to {num_players - 1}")
    return seats


def play_on_page(
    page: dict[str, Any], name: str, *, trust: bool, quiet: bool, **wanted: Any
) -> list["Record"]:
    """Serves a table until it is interrupted.

    Args:
        page: The options of `page_options`.
        name: What the person is called.
        trust: Whether model files that can run code may be loaded.
        quiet: Whether standard output is kept for the result.
        **wanted: The table, as `order_for` takes it.

    Returns:
        The matches that were played at this table, the one that was left in the middle as well.

    Raises:
        KilleError: The port is in use, or the table cannot be made.
    """
    from kille_training.people.names import check_name
    from kille_training.web import serving
    from kille_training.web.app import House, application
    from kille_training.web.guard import own_names
    from kille_training.web.orders import order_for

    order = order_for(people=page["people"] or 0, practice=page["practice"], **wanted)
    name = check_name(name)
    host = page["host"] or serving.LOOPBACK
    server = serving.listen(host, serving.PORT if page["port"] is None else page["port"])
    address = serving.address_of(server, host)
    join = None if serving.is_loopback(host) else secrets.token_urlsafe(24)
    house = House(join, cookie=f"kille_{server.getsockname()[1]}")
    links: list[str] = []

    async def prepare() -> None:
        house.first = await house.hall.make(order, trust=trust)
        links.append(f"{address}/?ticket={house.issue(house.first, name)}")

    def say(line: str) -> None:
        click.echo(line, err=quiet)

    def ready() -> None:
        say(f"Your table: {links[0]}")
        if join is not None:
            say(f"Link for others, who need no more to come in: {address}/?join={join}")
        elif order.people:
            say(f"Another browser on this machine takes a free seat at {address}")
        say("Ctrl-C ends the server.")
        if not page["no_browser"]:
            serving.open_browser(links[0])

    names = () if join is None else (host, *own_names())
    with suppress(KeyboardInterrupt):  # the way to end it
        serving.serve(
            application(house, names), server, prepare=prepare, ready=ready, close=house.hall.close
        )
    return [] if house.first is None else house.first.records(unfinished=True)
