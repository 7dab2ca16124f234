"""Solves deals and matches of Byteskille and writes docs/solutions.md with its pictures.

    python docs/solutions.py           solve what is missing, then write (`make solutions`)
    python docs/solutions.py --solve   the same, but solve everything again

The solutions are kept in runs/solutions and reused. The output is the same to the byte on every
machine, except for the tables of seconds.
"""

import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from blocks import filled, table, write
from small_tables import BLOCKS as SMALL

from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.games.byteskille.rules import Event, Phase
from kille_env.registry import spec
from kille_training.labels import position_names
from kille_training.solving.byteskille.match_solving import (
    match_length,
    match_nash_conv,
    match_strategy_of,
)
from kille_training.solving.byteskille.matches import Match, MatchStrategy, build_match
from kille_training.solving.grow import build_deal
from kille_training.solving.pictures import REACHED, convergence, curves_of, swap_heat_map, swaps_of
from kille_training.solving.policies import strategy_of
from kille_training.solving.solution import Solution
from kille_training.solving.solve import solve
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.text import choice_text
from kille_training.solving.trees.values import NashConv, infoset_reach
from speed.rows import machine

DOCS = Path(__file__).parent
PAGE, PICTURES = DOCS / "solutions.md", DOCS / "solutions"
RUNS = Path("runs") / "solutions"
PRESETS, SEATS = ("svensk", "wikipedia"), (2, 3, 4)
CASES = [(preset, seats) for preset in PRESETS for seats in SEATS]
MATCHES = [("svensk", 2), ("svensk", 3), ("none", 3), ("wikipedia", 2)]
MATCH_RULES = {
    "svensk": {"preset": "svensk"},
    "none": {"preset": "svensk", "reentry": "none"},
    "wikipedia": {"preset": "wikipedia"},
}
CALLED = {"svensk": "`svensk`", "none": "`svensk`, `reentry: none`", "wikipedia": "`wikipedia`"}


@cache
def solved(preset: str, seats: int) -> Solution:
    """Return the solution of a deal; solves it if it is missing."""
    print(f"{preset}, {seats} seats", file=sys.stderr)
    return solve(num_players=seats, rules=preset, out=RUNS / f"{preset}-{seats}")


@cache
def deal(preset: str, seats: int) -> DealStages:
    """Return the trees of a deal."""
    return build_deal(seats, spec("byteskille").resolve(preset))


def first_strategy(preset: str, seats: int) -> np.ndarray:
    """Return the strategy of a deal's first hand, [S]."""
    return strategy_of(solved(preset, seats).policy, deal(preset, seats).stages[0])


def sizes() -> str:
    """The table of sizes."""
    head = ("preset", "seats", "deals", "hands", "nodes", "ends", "information sets", "memory")
    rows = []
    for preset, seats in CASES:
        first = deal(preset, seats).stages[0]
        by_seat = " + ".join(f"{number:,}" for number in first.information_sets)
        rows.append(
            (
                f"`{preset}`",
                str(seats),
                f"{first.num_deals:,}",
                str(len(deal(preset, seats).stages)),
                f"{first.num_nodes:,}",
                f"{len(first.tree.chance):,}",
                f"{by_seat} = {first.tree.num_infosets:,}",
                f"{first.tree.nbytes / 1e6:,.1f} MB",
            )
        )
    return table(head, rows)


def values() -> str:
    """The table of what each seat earns, and how precisely that is known."""
    head = ("preset", "seats", "NashConv", "forehand", "second", "third", "fourth", "iterations")
    rows = []
    for preset, seats in CASES:
        found = solved(preset, seats)
        earned = [f"{value:+.6f}" for value in found.value] + [""] * (4 - seats)
        total = f"{found.nash_conv:.1e}"
        rows.append((f"`{preset}`", str(seats), total, *earned, f"{found.iterations:,}"))
    return table(head, rows)


def seconds() -> str:
    """The table of seconds."""
    rows = [
        (f"`{preset}`", str(seats), f"{solved(preset, seats).seconds:,.1f}")
        for preset, seats in CASES
    ]
    about = machine()
    where = f"{about['cpu']}, Python {about['python']}, numpy {about['numpy']}"
    return f"{table(('preset', 'seats', 'seconds'), rows)}\n\nOn {where}, numba on one core."


def first_turns(strategy: np.ndarray, stage: Stage) -> list[tuple[str, str, str]]:
    """Return seat, situation and choice by card where every seat before has stood."""
    chances, reach = stage.by_action(strategy), infoset_reach(stage.tree, strategy)
    names, turns = position_names(stage.num_players), []
    for seat, name in enumerate(names):
        choices = {}
        for number in np.flatnonzero((stage.seats == seat) & (reach > REACHED)):
            position = stage.positions[number]
            events = position["events"][: int(position["num_events"]), 0].tolist()
            if events == [Event.STAND] * seat and position["phase"] != Phase.GOK:
                kind, copy = divmod(int(position["hand"][seat]), 2)
                high = kind == Kind.KI and int(position["high"]) >> copy & 1
                choices[kind, high] = choice_text(
                    chances[number], spec("byteskille").actions.__getitem__
                )
        runs: list[tuple[list[str], str]] = []
        for (kind, high), choice in sorted(choices.items()):
            is_kille, card = kind == Kind.KI, KILLE_PACK.name(2 * kind)
            if runs and runs[-1][1] == choice and not is_kille:
                runs[-1][0].append(card)
            else:
                runs.append(
                    ([f"kille ({'high' if high else 'low'})" if is_kille else card], choice)
                )
        said = (f"{' to '.join(dict.fromkeys((c[0], c[-1])))}: {choice}" for c, choice in runs)
        situation = ", ".join(f"{other} stood" for other in names[:seat]) or "nothing has happened"
        turns.append((name, situation, "; ".join(said)))
    return turns


def strategies() -> str:
    """The table of what every seat does when all seats before it have stood."""
    head = ("preset", "seats", "seat", "what has happened", "what it does")
    rows = []
    for preset, seats in CASES:
        stage = deal(preset, seats).stages[0]
        for name, situation, choice in first_turns(first_strategy(preset, seats), stage):
            rows.append((f"`{preset}`", str(seats), name, situation, choice))
    return table(head, rows)


@cache
def solved_match(rules: str, seats: int) -> Solution:
    """Return the solution of a match; solves it if it is missing."""
    print(f"match, {rules}, {seats} seats", file=sys.stderr)
    folder = RUNS / f"match-{rules}-{seats}"
    return solve(num_players=seats, rules=MATCH_RULES[rules], episode="match", out=folder)


@cache
def match_of(rules: str, seats: int) -> tuple[MatchStrategy, Match, NashConv]:
    """Return what the written policy does in a match, the match, and its NashConv."""
    match = build_match(seats, MATCH_RULES[rules])
    strategy = match_strategy_of(solved_match(rules, seats).policy, match)
    return strategy, match, match_nash_conv(strategy, match)


def match_sizes() -> str:
    """The table of the matches' sizes."""
    head = ("rules", "seats", "states", "kinds of hands", "nodes", "information sets")
    rows = []
    for rules, seats in MATCHES:
        _, match, _ = match_of(rules, seats)
        by_seat = " + ".join(f"{number:,}" for number in match.information_sets)
        rows.append(
            (
                CALLED[rules],
                str(seats),
                f"{len(match.states):,}",
                str(len(match.hands)),
                f"{match.num_nodes:,}",
                f"{by_seat} = {sum(match.information_sets):,}",
            )
        )
    return table(head, rows)


def match_worth() -> str:
    """The table of what each seat earns in a match."""
    head = ("rules", "seats", "NashConv", "of the pot", "forehand", "second", "third", "hands")
    rows = []
    for rules, seats in MATCHES:
        strategy, match, found = match_of(rules, seats)
        hands, beyond = match_length(strategy, match)
        earned = [f"{value:+.4f}" for value in found.values] + [""] * (3 - seats)
        cap = "part of the game" if match.capped else _chance(beyond)
        nash_conv = f"{found.total:.0e}", f"{found.total / match.pot:.0e}"
        rows.append((CALLED[rules], str(seats), *nash_conv, *earned, f"{hands:.2f}", cap))
    return table((*head, "reaches the cap"), rows)


def _chance(chance: float) -> str:
    return f"{chance:.0e}" if chance > 1e-100 else "less than 1e-100"


def match_seconds() -> str:
    """The table of seconds of the matches."""
    rows = [
        (CALLED[rules], str(seats), f"{solved_match(rules, seats).seconds:,.1f}")
        for rules, seats in MATCHES
    ]
    return table(("rules", "seats", "seconds"), rows)


BLOCKS: dict[str, Callable[[], str]] = {
    "sizes": sizes,
    **SMALL,
    "values": values,
    "seconds": seconds,
    "strategies": strategies,
    "match-sizes": match_sizes,
    "match-values": match_worth,
    "match-seconds": match_seconds,
}


def pictures() -> dict[Path, str]:
    """Return the pictures in docs/solutions."""
    found = {}
    strategy, match, _ = match_of("svensk", 3)
    swaps = swaps_of(strategy.hands[0], match.first_stage)
    found[PICTURES / "match-swaps-3.svg"] = swap_heat_map(swaps) + "\n"
    for seats in SEATS:
        stage = deal("svensk", seats).stages[0]
        swaps = swaps_of(first_strategy("svensk", seats), stage)
        found[PICTURES / f"swaps-{seats}.svg"] = swap_heat_map(swaps) + "\n"
    found[PICTURES / "convergence.svg"] = convergence(
        {f"{seats} seats": curve(seats) for seats in SEATS}
    )
    return found


def curve(seats: int) -> tuple[list[int], list[float]]:
    """Return iterations and NashConv of the hand that was solved first."""
    return next(iter(curves_of(solved("svensk", seats).progress, hands=2).values()))


def main(again: bool) -> int:
    """Write the page and its pictures."""
    if again and RUNS.exists():
        shutil.rmtree(RUNS)
    PICTURES.mkdir(exist_ok=True)
    page = filled(PAGE, BLOCKS, whole=False)  # certificates/make.py fills its own block
    return write({PAGE: page, **pictures()}, check=False)


if __name__ == "__main__":
    sys.exit(main("--solve" in sys.argv[1:]))
