"""The tables of docs/what_is_hard.md, from stored measurements."""

import json
from pathlib import Path
from typing import Any

import benchmark
from blocks import table

from kille_agents.catalog import MEASURED
from kille_agents.trained import cards
from kille_env.registry import list_games, spec

DOCS = Path(__file__).parent
PAGE = DOCS / "what_is_hard.md"
EXACT = ("byteskille-2", "byteskille-3", "byteskille-4")
PLAYERS = ("uniform", "rule_of_thumb", "byteskille/solved")
LONG = (2, 6, 11, 20)
"""Numbers of seats of the matches shown, if the game allows them."""


def player_at(grid: str, player: str, at: str) -> dict[str, Any]:
    """Return the last measurement of a player at a table of the benchmark."""
    known = benchmark.results(grid).players
    (found,) = (x for x in known if (x["name"], x["table"]) == (player, at))
    return found


def interval(found: list[float]) -> str:
    """Return "+0.12 ± 0.03"."""
    mean, low, high = found
    return f"{mean:+.3f} ± {(high - low) / 2:.3f}"


def games() -> str:
    """Return players' earnings at the default tables, and a best response's gain."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))["games"]
    rows = []
    for game in list_games():
        seats, earned = spec(game).default_players, measured[game]["earned"]
        weak = strong = "exact, below"
        if "response" in cards()["games"][game]:
            measures = player_at("games", "rule_of_thumb", f"{game}-{seats}")
            weak = interval(measures["response"])
            strong = interval(cards()["games"][game]["response"]["total"])
        rule = interval(earned["rule_of_thumb"]["uniform"])
        network = interval(earned[f"{game}/trained"]["rule_of_thumb"])
        rows.append((f"[{game}](games/{game}.md)", rule, network, weak, strong))
    head = ("game", "rule of thumb against uniform", "trained against the rule of thumb")
    gains = ("a learned response gains from the rule of thumb", "from the trained player")
    return table((*head, *gains), rows)


def nash_conv() -> str:
    """Return exact NashConv of sampled play in stakes, by number of seats."""
    exact = cards()["games"]["byteskille"]["nash_conv"]["sampled"]
    rows = [
        (f"`{player}`", *(f"{_stakes(player_at('exact', player, at)):.4f}" for at in EXACT))
        for player in PLAYERS
    ]
    rows.insert(2, ("`byteskille/trained`", *(f"{exact[at[-1]]:.4f}" for at in EXACT)))
    return table(("player", *(f"{at[-1]} seats" for at in EXACT)), rows)


def _stakes(point: dict[str, Any]) -> float:
    return float(point["points"][-1]["sampled"])


def matches() -> str:
    """Return the trained players' earnings in matches against the rule of thumb, by seats."""
    rows = []
    for game in list_games():
        by_seats = cards()["games"][game]["by_table"]["match"]
        cells = (interval(by_seats[str(n)]) if str(n) in by_seats else "" for n in LONG)
        rows.append((f"`{game}`", *cells))
    return table(("game", *(f"{n} seats" for n in LONG)), rows)


BLOCKS = {PAGE: {"games": games, "nash conv": nash_conv, "matches": matches}}
