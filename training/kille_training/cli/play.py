"""`kille play`: sit down at a table."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kille_env.registry import Table, spec
from kille_training.cli import command

if TYPE_CHECKING:
    from kille_env.play.policy import Policy
    from kille_env.records import Record
    from kille_training.table.online import Order


@click.command(
    epilog="Example: kille play byteskille --players 5 --opponents uniform --rules episode=deal"
)
@command.game_options
@click.option(
    "--opponents",
    default="rule_of_thumb",
    show_default=True,
    help="Names, run folders or policy files: one for all, or one for each with commas between.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the cards and of the opponents.")
@click.option("--web", is_flag=True, help="Play on a page in the browser, on this machine alone.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the matches to this file.")
@command.json_option
def play(game: str, as_json: bool, **asked: Any) -> None:
    """Play GAME against other players.

    You see only the information of your seat. Type ? for the rules, h for a hint and q to quit.
    """
    # Loading takes seconds: print a line first, and do not echo keys typed meanwhile.
    show_keys = _hide_keys()
    try:
        click.echo(f"{spec(game).title}: setting the table ...", err=as_json)
        _play(game, as_json, show_keys, **asked)
    finally:
        show_keys()


def _play(
    game: str, as_json: bool, show_keys: Callable[[], None], *, num_players: int | None,
    opponents: str, seed: int | None, rules: dict[str, Any], web: bool, out: Path | None,
    trust: bool,
) -> None:  # fmt: skip
    import numpy as np

    from kille_training.table.lineup import one_per_seat, players_named
    from kille_training.table.online import Order

    resolved = spec(game).resolve(rules)
    seats = spec(game).check_players(num_players, resolved)
    command.check_file(out)
    named = one_per_seat([word.strip() for word in opponents.split(",")], seats - 1)
    others = players_named(named, game, seats, resolved, trust=trust)
    fresh = seed is not None
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    order = Order(game, tuple(named), resolved, seed)
    if web:
        order, records = _on_page(order, others, as_json, go_on=not fresh)
        ended = None
    else:
        ended, records = _in_terminal(order, others, as_json, show_keys)
    if out is not None:
        from kille_env.records import write_records

        write_records(records, out)
    matches = [{"returns": r["returns"], "truncated": r["truncated"]} for r in records]
    last = [f"The matches are in {out}."] if out else []
    table = Table.of(order.game, len(order.opponents) + 1, order.rules)
    found = {"table": table.as_dict(), "seed": order.seed, "seat": 0, "matches": matches}
    command.report(found, last, as_json)
    if ended is not None:
        raise ended


def _hide_keys() -> Callable[[], None]:
    """Turn the terminal's echo off; return a function that discards typed keys and restores it."""
    if sys.stdin is None or not sys.stdin.isatty() or sys.platform == "win32":
        return lambda: None
    import termios

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    silent = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
    termios.tcsetattr(terminal, termios.TCSANOW, silent)
    todo = [lambda: termios.tcsetattr(terminal, termios.TCSAFLUSH, before)]
    return lambda: todo.pop()() if todo else None


def _in_terminal(
    order: "Order", others: "list[Policy]", quiet: bool, show_keys: Callable[[], None]
) -> "tuple[BaseException | None, Sequence[Record]]":
    from kille_training.table.sitting import Sitting
    from kille_training.table.terminal import Terminal

    sitting = Sitting(order.game, order.rules, [None, *others], seed=order.seed)

    # With --json the conversation moves to standard error. Keys are discarded before a question
    # stands there, never after: an answer may be typed at once.
    out = sys.stderr if quiet else None
    terminal = Terminal(sitting, sys.stdin.readline, out, before_asking=show_keys)
    return terminal.run(), sitting.records(unfinished=True)


def _on_page(
    order: "Order", others: "list[Policy]", quiet: bool, *, go_on: bool
) -> "tuple[Order, Sequence[Record]]":
    """Serve a table until it is interrupted; return its order, possibly of a stored match."""
    import platformdirs

    from kille_training.table import server

    listening = server.listen()
    address = server.address_of(listening)
    house = server.House(
        platformdirs.user_state_path("kille-env"), f"kille_{listening.getsockname()[1]}"
    )
    link = f"{address}/?token={house.token}"

    def ready() -> None:
        house.set_up(order, others, go_on=go_on)
        playing = house.table.order if house.table is not None else order
        if replace(playing, seed=order.seed) != order:
            title = spec(playing.game).title
            click.echo(f"Your match of {title} continues; --seed begins a new one.", err=quiet)
        click.echo(f"Your table: {link}\nCtrl-C ends the server; the match waits.", err=quiet)
        server.open_browser(link)

    with suppress(KeyboardInterrupt), listening:
        server.Server(server.application(house), ready, house.close).run([listening])
    table = house.last
    return (order, []) if table is None else (table.order, table.records(unfinished=True))
