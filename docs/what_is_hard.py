"""The tables of docs/what_is_hard.md, from stored measurements."""

import json
from pathlib import Path

from blocks import lines_of, table

from kille_agents.catalog import MEASURED
from kille_agents.trained import cards
from kille_env.registry import list_games

DOCS = Path(__file__).parent
PAGE = DOCS / "what_is_hard.md"
RESPONSES, BOARD = (DOCS / "data" / f"{name}.jsonl" for name in ("responses", "leaderboard"))
SEATS = (2, 3, 4)
PLAYERS = ("uniform", "rule_of_thumb", "byteskille/solved")
LONG = (2, 6, 11, 20)  # numbers of seats of the matches shown, if the game allows them


def interval(found: list[float]) -> str:
    """Return "+0.12 ± 0.03"."""
    mean, low, high = found
    return f"{mean:+.3f} ± {(high - low) / 2:.3f}"


def games() -> str:
    """Return players' earnings at the default tables, and a best response's gain."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))["games"]
    responses = {line["game"]: line["gain"] for line in lines_of(RESPONSES)}
    rows = []
    for game in list_games():
        earned = measured[game]["earned"]
        weak = strong = "exact, below"
        if "response" in cards()["games"][game]:
            weak = interval(responses[game])
            strong = interval(cards()["games"][game]["response"]["total"])
        rule = interval(earned["rule_of_thumb"]["uniform"])
        network = interval(earned[f"{game}/trained"]["rule_of_thumb"])
        rows.append((f"[{game}](games/{game}.md)", rule, network, weak, strong))
    head = ("game", "rule of thumb against uniform", "trained against the rule of thumb")
    gains = ("a learned response gains from the rule of thumb", "from the trained player")
    return table((*head, *gains), rows)


def nash_conv() -> str:
    """Return exact NashConv of sampled play in stakes, by number of seats."""
    lines = {(x["name"], x["track"]): x["score"]["mean"] for x in lines_of(BOARD)}
    rows = [
        (f"`{player}`", *(f"{lines[player, f'byteskille-nashconv-{n}']:.4f}" for n in SEATS))
        for player in PLAYERS
    ]
    exact = cards()["games"]["byteskille"]["nash_conv"]["sampled"]
    rows.insert(2, ("`byteskille/trained`", *(f"{exact[str(n)]:.4f}" for n in SEATS)))
    return table(("player", *(f"{n} seats" for n in SEATS)), rows)


def matches() -> str:
    """Return the trained players' earnings in matches against the rule of thumb, by seats."""
    rows = []
    for game in list_games():
        by_seats = cards()["games"][game]["by_table"]["match"]
        cells = (interval(by_seats[str(n)]) if str(n) in by_seats else "" for n in LONG)
        rows.append((f"`{game}`", *cells))
    return table(("game", *(f"{n} seats" for n in LONG)), rows)


BLOCKS = {PAGE: {"games": games, "nash conv": nash_conv, "matches": matches}}
