"""`kille players`: list and describe the players."""

from dataclasses import asdict
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

import click

from kille_env.errors import PolicyError
from kille_env.registry import list_games, spec
from kille_env.words.text import columns
from kille_training.cli import command

AGAINST = ("rule_of_thumb", "uniform")


@click.command(epilog="Example: kille players byteskille")
@click.argument("player", required=False, metavar="[GAME|PLAYER]")
@click.option("--game", help="The game; needed for the baselines, which play every game.")
@command.json_option
def players(player: str | None, game: str | None, as_json: bool) -> None:
    """List the players of a game or of all games with their earnings, or describe one.

    PLAYER is a name in the list.
    """
    from kille_agents.catalog import describe_player

    if game is not None:
        spec(game)  # says which there are
    if player is None or player in list_games():
        if player is not None and game not in (None, player):
            raise PolicyError(f"{player} is a game, and --game says {game}; name one of them")
        chosen = player or game
        _list([chosen] if chosen else list(list_games()), as_json)
        return
    if game is None and player in ("uniform", "rule_of_thumb"):
        raise PolicyError(
            f"{player} plays every game; say which: kille players {player} --game ..."
        )
    about = describe_player(player, game)
    command.report({"player": asdict(about)}, about.lines(), as_json)


def _list(games: list[str], as_json: bool) -> None:
    """Print the players of some games."""
    from kille_agents.catalog import describe_player, players_of
    from kille_agents.population import ROSTER

    described: dict[str, list[dict[str, Any]]] = {}
    shown: list[Any] = []
    for game in games:
        described[game] = [
            asdict(describe_player(name, game))
            | {"split": ROSTER[name].split if name in ROSTER else None}
            for name in players_of(game)
        ]
        shown += [spec(game).title, *_lines(game, described[game]), ""]
    shown.append("Units per deal at the default table; kille players PLAYER --game GAME says more.")
    command.report({"games": described}, shown, as_json)


def _lines(game: str, described: list[dict[str, Any]]) -> list[str]:
    """Return a line per player of a game, with a wrapped description at the end."""
    from kille_agents.catalog import measured_lines

    rows = [("player", "split", *(f"against {other}" for other in AGAINST))]
    for about in described:
        earned = measured_lines(about["name"], game)
        rows.append((about["name"], about["split"] or "", *(earned.get(o, "") for o in AGAINST)))
    lines = columns(rows, indent="")
    indent = max(map(len, lines)) + 2
    width = max(get_terminal_size((command.WIDTH_WITHOUT_TERMINAL, 0)).columns, indent + 30)
    return [
        line
        for begun, what in zip(
            lines, ["what it does", *(a["what"] for a in described)], strict=True
        )
        for line in wrap(
            begun.ljust(indent) + what,
            width,
            subsequent_indent=" " * indent,
            break_on_hyphens=False,
        )
    ]
