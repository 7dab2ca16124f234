"""`kille games`: what there is."""

import json
from typing import Any

import click
from rich.box import SIMPLE
from rich.table import Table

from kille_env.core.spec import EPISODES, GameSpec, Switch
from kille_env.errors import UnknownGameError, did_you_mean
from kille_env.registry import list_games, spec
from kille_training.console import json_option, report


@click.command(epilog="Example: kille games byteskille")
@click.argument("game", required=False)
@json_option
def games(game: str | None, as_json: bool) -> None:
    """Lists the games: seats, actions, and every rule switch with its values and defaults."""
    if game is not None and game not in list_games():
        raise UnknownGameError(f"there is no game {game!r}. {did_you_mean(game, list_games())}")
    specs = [spec(name) for name in ((game,) if game else list_games())]
    shown = [thing for one in specs for thing in _for_people(one)]
    report({"games": {one.name: _for_programs(one) for one in specs}}, shown, as_json)


def _for_programs(one: GameSpec) -> dict[str, Any]:
    return {
        "title": one.title,
        "version": one.version,
        "players": {
            "min": one.min_players,
            "max": one.max_players,
            "default": one.default_players,
        },
        "actions": list(one.actions),
        "presets": list(one.presets),
        "episodes": list(EPISODES),
        "switches": {
            switch.name: {
                "meaning": switch.meaning,
                "values": list(switch.values) or None,
                "possible": switch.possible(),
                "defaults": {preset: switch.value_for(preset) for preset in one.presets},
                "decision": switch.decision,
            }
            for switch in one.switches
        },
    }


def _for_people(one: GameSpec) -> list[Any]:
    players = f"{one.min_players} to {one.max_players} players, {one.default_players} by default"
    table = Table(title=f"Rule switches of {one.name}", title_justify="left", box=SIMPLE)
    table.add_column("switch", no_wrap=True)
    table.add_column("values")
    for preset in one.presets:
        table.add_column(preset, no_wrap=True)
    table.add_column("what it decides")
    for switch in one.switches:
        defaults = [_word(switch.value_for(preset)) for preset in one.presets]
        table.add_row(switch.name, _values(switch), *defaults, switch.meaning)
    return [
        f"{one.title} ({one.name}): {players}",
        f"Actions: {', '.join(one.actions)}",
        f"Presets: {', '.join(one.presets)}. Episodes: {', '.join(EPISODES)}.",
        table,
        "",
    ]


def _values(switch: Switch) -> str:
    return ", ".join(map(_word, switch.values)) if switch.values else switch.possible()


def _word(value: Any) -> str:
    """A value as it is written on the command line."""
    return value if isinstance(value, str) else json.dumps(value)
