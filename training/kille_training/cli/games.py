"""`kille games`: the games and their rules."""

import json
from typing import Any

import click

from kille_env.core.spec import DEFAULT_EPISODE, EPISODES, GameSpec, Switch
from kille_env.registry import describe_rules, list_games, spec
from kille_env.words.text import columns
from kille_training.cli.command import json_option, report, rules_option


@click.command(epilog="Example: kille games byteskille --manual --rules gok_call=off")
@click.argument("game", required=False)
@click.option("--manual", is_flag=True, help="Explain how to play GAME under the given rules.")
@rules_option
@json_option
def games(game: str | None, manual: bool, rules: dict[str, Any], as_json: bool) -> None:
    """List the games, one per line; with GAME, show its seats, actions, and every rule switch."""
    if manual:
        _explain(game, rules, as_json)
        return
    if rules:
        raise click.UsageError("--rules needs --manual")
    specs = [spec(name) for name in (list_games() if game is None else (game,))]
    shown = _overview(specs) if game is None else _details(specs[0])
    report({"games": {one.name: _for_programs(one) for one in specs}}, shown, as_json)


def _explain(game: str | None, rules: dict[str, Any], as_json: bool) -> None:
    """Print the manual of a game."""
    if game is None:
        raise click.UsageError("--manual needs a game: kille games GAME --manual")
    text = describe_rules(game, rules)
    report({"game": game, "manual": text}, text.splitlines(), as_json)


def _overview(specs: list[GameSpec]) -> list[str]:
    """Return one line per game."""
    head = ("game", "title", "players", "presets", "switches")
    rows = [
        (
            one.name,
            one.title,
            f"{one.min_players} to {one.max_players}",
            ", ".join(one.presets),
            str(len(one.switches)),
        )
        for one in specs
    ]
    return [
        *columns([head, *rows], indent=""),
        "",
        "Details of one: kille games NAME; its rules: kille games NAME --manual",
    ]


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


def _details(one: GameSpec) -> list[str]:
    """Return facts and switches of a game, two lines per switch."""
    heads = [("switch", *one.presets, "possible")]
    rows = [
        (s.name, *(_word(s.value_for(preset)) for preset in one.presets), _values(s))
        for s in one.switches
    ]
    head, *lines = columns([*heads, *rows])
    explained = [(line, f"      {s.meaning}") for line, s in zip(lines, one.switches, strict=True)]
    return [
        str(one),
        f"episodes  {', '.join(EPISODES)}, {DEFAULT_EPISODE} by default",
        "",
        "Rule switches: value in each preset, and possible values:",
        "",
        head,
        *(line for pair in explained for line in pair),
        "",
    ]


def _values(switch: Switch) -> str:
    return ", ".join(map(_word, switch.values)) if switch.values else switch.possible()


def _word(value: Any) -> str:
    """Return a value in the syntax of the command line."""
    return value if isinstance(value, str) else json.dumps(value)
