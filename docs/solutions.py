"""Solves deals and matches of Byteskille and writes docs/solutions.md and docs/solutions/.

    python docs/solutions.py           solve what is not solved, then write (`make solutions`)
    python docs/solutions.py --solve   the same, but solve everything anew

The solutions lie in runs/solutions; what is there already is only read. All that is written is the
same to the byte wherever it is made, but for the tables of seconds.
"""

import re
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from kille_agents.tabular import load_tabular, load_tabular_match
from kille_env.registry import spec
from kille_training.cli.jobs import solve_folder
from kille_training.cli.speed import machine
from kille_training.reports.plots import convergence, swap_heat_map
from kille_training.solving.byteskille.deals import DealStages, build_deal
from kille_training.solving.byteskille.match_policies import match_strategy_of
from kille_training.solving.byteskille.match_text import buying_text, match_text, states_text
from kille_training.solving.byteskille.matches import (
    Match,
    MatchNashConv,
    MatchStrategy,
    build_match,
    match_nash_conv,
)
from kille_training.solving.byteskille.policies import strategy_of
from kille_training.solving.byteskille.solution import Folder, Solved, SolveSettings
from kille_training.solving.byteskille.text import first_turns, swaps_of

DOCS = Path(__file__).parent
PAGE, PARTS = DOCS / "solutions.md", DOCS / "solutions"
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
MEMORY = 4 * 2**30


def settings(preset: str, seats: int) -> SolveSettings:
    """Returns what is solved."""
    return SolveSettings.of(seats, spec("byteskille").resolve(preset, episode="deal"))


def folder(preset: str, seats: int) -> Folder:
    """Returns where its solution lies."""
    return Folder(RUNS / f"{preset}-{seats}")


@cache
def solved(preset: str, seats: int) -> Solved:
    """Returns a solution; makes it if there is none."""
    print(f"{preset}, {seats} seats", file=sys.stderr)
    return solve_folder(folder(preset, seats), settings(preset, seats), memory_limit=MEMORY)


@cache
def deal(preset: str, seats: int) -> DealStages:
    """Returns the trees of a deal."""
    return build_deal(seats, settings(preset, seats).resolve())


def sizes() -> str:
    """The table of sizes."""
    head = ("preset", "seats", "deals", "hands", "nodes", "leaves", "information sets", "memory")
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
                f"{first.tree.num_nodes:,}",
                f"{len(first.tree.payoff):,}",
                f"{by_seat} = {first.tree.num_infosets:,}",
                f"{first.tree.nbytes / 1e6:,.1f} MB",
            )
        )
    return table(head, rows)


def values() -> str:
    """What each seat earns, and how exactly that is known."""
    head = ("preset", "seats", "NashConv", "forehand", "second", "third", "fourth", "iterations")
    rows = []
    for preset, seats in CASES:
        found = solved(preset, seats)
        earned = [f"{value:+.6f}" for value in found.value] + [""] * (4 - seats)
        total = f"{found.nash_conv:.1e}"
        rows.append((f"`{preset}`", str(seats), total, *earned, f"{found.iterations:,}"))
    return table(head, rows)


def seconds() -> str:
    """How long it took."""
    rows = [
        (f"`{preset}`", str(seats), f"{solved(preset, seats).seconds:,.1f}")
        for preset, seats in CASES
    ]
    about = machine()
    where = f"{about['cpu']}, Python {about['python']}, numpy {about['numpy']}"
    return f"{table(('preset', 'seats', 'seconds'), rows)}\n\nOn {where}, numba on one core."


def strategies() -> str:
    """What every seat does when everybody before it has stood."""
    head = ("preset", "seats", "seat", "what it has seen", "what it does")
    rows = []
    for preset, seats in CASES:
        solved(preset, seats)
        rules = settings(preset, seats).resolve()
        player = load_tabular(folder(preset, seats).policy, "byteskille", seats, rules)
        link = f"[{seats}](solutions/{preset}-{seats}.md)"
        stage = deal(preset, seats).stages[0]
        for name, situation, choice in first_turns(strategy_of(player, stage), stage):
            rows.append((f"`{preset}`", link, name, situation, choice))
    return table(head, rows)


def match_settings(rules: str, seats: int) -> SolveSettings:
    """Returns what match is solved."""
    resolved = spec("byteskille").resolve({**MATCH_RULES[rules], "episode": "match"})
    return SolveSettings.of(seats, resolved)


def match_folder(rules: str, seats: int) -> Folder:
    """Returns where the solution of a match lies."""
    return Folder(RUNS / f"match-{rules}-{seats}")


@cache
def solved_match(rules: str, seats: int) -> Solved:
    """Returns the solution of a match; makes it if there is none."""
    print(f"match, {rules}, {seats} seats", file=sys.stderr)
    how = match_settings(rules, seats)
    return solve_folder(match_folder(rules, seats), how, memory_limit=MEMORY)


@cache
def match_of(rules: str, seats: int) -> tuple[Match, MatchStrategy, MatchNashConv]:
    """Returns a match, what the written player does in it, and how good that is."""
    solved_match(rules, seats)
    resolved = match_settings(rules, seats).resolve()
    match = build_match(seats, resolved)
    player = load_tabular_match(match_folder(rules, seats).policy, "byteskille", seats, resolved)
    strategy = match_strategy_of(player, match)
    return match, strategy, match_nash_conv(match, strategy)


def match_sizes() -> str:
    """The table of the matches' sizes."""
    head = ("rules", "seats", "states", "kinds of hands", "nodes", "information sets")
    rows = []
    for rules, seats in MATCHES:
        match, _, _ = match_of(rules, seats)
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
    """What each seat earns in a match."""
    head = ("rules", "seats", "NashConv", "of the pot", "forehand", "second", "third", "hands")
    rows = []
    for rules, seats in MATCHES:
        match, _, found = match_of(rules, seats)
        earned = [f"{value:+.4f}" for value in found.values] + [""] * (3 - seats)
        beyond = "part of the game" if match.capped else _chance(found.beyond_cap)
        share = f"{found.share:.0e}"
        hands = f"{found.hands:.2f}"
        rows.append(
            (CALLED[rules], str(seats), f"{found.total:.0e}", share, *earned, hands, beyond)
        )
    return table((*head, "reaches the cap"), rows)


def _chance(chance: float) -> str:
    return f"{chance:.0e}" if chance > 1e-100 else "less than 1e-100"


def match_seconds() -> str:
    """How long the matches took."""
    rows = [
        (CALLED[rules], str(seats), f"{solved_match(rules, seats).seconds:,.1f}")
        for rules, seats in MATCHES
    ]
    return table(("rules", "seats", "seconds"), rows)


def match_states() -> str:
    """The states of the largest match."""
    match, _, found = match_of("svensk", 3)
    return "\n".join(states_text(match, found))


def match_buying() -> str:
    """Who buys in again in it."""
    return "\n".join(buying_text(*match_of("svensk", 3)))


def match_turns() -> str:
    """What the first hand of a match and a single deal have every seat do."""
    head = ("seats", "seat", "what it has seen", "in a single deal", "in the first hand of a match")
    rows = []
    for seats in (2, 3):
        solved("svensk", seats)
        rules = settings("svensk", seats).resolve()
        player = load_tabular(folder("svensk", seats).policy, "byteskille", seats, rules)
        stage = deal("svensk", seats).stages[0]
        match, strategy, _ = match_of("svensk", seats)
        first = match.hands[match.states[0].hand].stage
        alone = first_turns(strategy_of(player, stage), stage)
        link = f"[{seats}](solutions/match-svensk-{seats}.md)"
        for (name, seen, choice), (_, _, other) in zip(
            alone, first_turns(strategy.hands[0], first), strict=True
        ):
            rows.append((link, name, seen, choice, other))
    return table(head, rows)


BLOCKS: dict[str, Callable[[], str]] = {
    "sizes": sizes,
    "values": values,
    "seconds": seconds,
    "strategies": strategies,
    "match-sizes": match_sizes,
    "match-values": match_worth,
    "match-seconds": match_seconds,
    "match-states": match_states,
    "match-buying": match_buying,
    "match-turns": match_turns,
}


def parts() -> dict[str, str]:
    """Returns the files of docs/solutions by name."""
    found = {}
    for preset, seats in CASES:
        solved(preset, seats)
        place = folder(preset, seats)
        found[f"{preset}-{seats}.md"] = (place.path / "strategy.md").read_text(encoding="utf-8")
    for rules, seats in MATCHES:
        match, strategy, measured = match_of(rules, seats)
        found[f"match-{rules}-{seats}.md"] = match_text(match, strategy, measured)
    first = match_of("svensk", 3)
    stage = first[0].hands[first[0].states[0].hand].stage
    found["match-swaps-3.svg"] = swap_heat_map(swaps_of(first[1].hands[0], stage)) + "\n"
    for seats in SEATS:
        resolved = settings("svensk", seats).resolve()
        player = load_tabular(folder("svensk", seats).policy, "byteskille", seats, resolved)
        stage = deal("svensk", seats).stages[0]
        swaps = swaps_of(strategy_of(player, stage), stage)
        found[f"swaps-{seats}.svg"] = swap_heat_map(swaps) + "\n"
    found["convergence.svg"] = convergence({f"{seats} seats": curve(seats) for seats in SEATS})
    return found


def curve(seats: int) -> tuple[list[int], list[float]]:
    """Returns iterations and NashConv of the hand that was solved first."""
    rows = folder("svensk", seats).progress.read()
    mine = [row for row in rows if row["granted"] == rows[0]["granted"]]
    return [int(row["iteration"]) for row in mine], [float(row["nash_conv"]) for row in mine]


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Returns a Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main(anew: bool) -> None:
    """Writes the page and its parts."""
    if anew and RUNS.exists():
        shutil.rmtree(RUNS)

    def block(match: re.Match[str]) -> str:
        return f"<!-- begin {match[1]} -->\n\n{BLOCKS[match[1]]()}\n\n<!-- end {match[1]} -->"

    text = PAGE.read_text(encoding="utf-8")
    text = re.sub(r"<!-- begin ([\w-]+) -->.*?<!-- end \1 -->", block, text, flags=re.DOTALL)
    PARTS.mkdir(exist_ok=True)
    for name, content in parts().items():
        (PARTS / name).write_text(content, encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE} and {PARTS}: written")


if __name__ == "__main__":
    main("--solve" in sys.argv[1:])
