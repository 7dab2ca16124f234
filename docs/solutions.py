"""Solve the tables of docs/solutions.md, and write the page with its pictures.

    python docs/solutions.py                  solve missing tables of Byteskille, then write
    python docs/solutions.py --small [NAME]   solve small tables anew, all or those with NAME
    python docs/solutions.py --certificates   solve the certified tables anew

Solutions are in runs/solutions. A small table is solved in its own process, to measure its memory;
its line is in docs/data/small_tables.jsonl. Learning curves are those of `python
benchmarks/small_curves.py`. All results except seconds and memory are the same on every machine.
"""

import gzip
import json
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from blocks import filled, lines_of, table, write
from certificates.check import check
from learning import Runs, draw, middle, results
from matplotlib.figure import Figure

import kille_training as kt
from kille_agents.greedy import PLAYS
from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.games.byteskille.rules import Event, Phase
from kille_env.registry import Table, spec
from kille_training.labels import position_names
from kille_training.pages.page import SERIES
from kille_training.pages.plots import STYLE, as_svg
from kille_training.solving.byteskille.match_solving import (
    match_length,
    match_nash_conv,
    match_strategy_of,
)
from kille_training.solving.byteskille.matches import Match, MatchStrategy, build_match
from kille_training.solving.grow import build_deal
from kille_training.solving.pictures import REACHED, convergence, curves_of, swap_heat_map, swaps_of
from kille_training.solving.policies import nash_conv_of, strategy_of
from kille_training.solving.size import TreeTooLargeError, check_deal, count_ends
from kille_training.solving.solution import Solution
from kille_training.solving.solve import solve
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.text import SURE, choice_text
from kille_training.solving.trees.values import (
    NashConv,
    greedy,
    infoset_reach,
    nash_conv,
    uniform,
)

DOCS = Path(__file__).parent
PAGE, PICTURES, CERTIFICATES = DOCS / "solutions.md", DOCS / "solutions", DOCS / "certificates"
DATA, RUNS = DOCS / "data" / "small_tables.jsonl", Path("runs") / "solutions"
PRESETS, SEATS = ("svensk", "wikipedia"), (2, 3, 4)
CASES = [(preset, seats) for preset in PRESETS for seats in SEATS]
MATCHES = [("svensk", 2), ("svensk", 3), ("none", 3), ("wikipedia", 2)]
MATCH_RULES = {
    "svensk": {"preset": "svensk"},
    "none": {"preset": "svensk", "reentry": "none"},
    "wikipedia": {"preset": "wikipedia"},
}
CALLED = {"svensk": "`svensk`", "none": "`svensk`, `reentry: none`", "wikipedia": "`wikipedia`"}
GAMES = ("krypkille", "kungsholmskille", "femkortskille", "knack")
SMALL = [
    (game, preset, seats)
    for game in GAMES
    for preset in ("tiny", "small", "medium")
    if preset in spec(game).presets
    for seats in (2, 3)
]
MOST, VISITS = 3000, 4e10
"""Maximum iterations, and visits of terminal nodes by a seat: some minutes."""
TARGETS = {2: 1e-4, 3: 1e-3}
"""Target NashConv, by number of seats."""
MEMORY = 8.0
"""Memory limit of a tree in GiB."""
CERTIFIED: dict[str, tuple[str, int, Any]] = {
    "byteskille-2": ("byteskille", 2, {"fraga": "off"}),
    "byteskille-wikipedia-2": ("byteskille", 2, "wikipedia"),
    "byteskille-3": ("byteskille", 3, "wikipedia"),
    "krypkille-2": ("krypkille", 2, {"preset": "tiny", "pack": "BL+L4+L8+KI"}),
    "kungsholmskille-2": ("kungsholmskille", 2, {"preset": "tiny", "pack": "BL+L8+KI"}),
    "femkortskille-2": ("femkortskille", 2, {"preset": "tiny", "pack": "BL+L8+KI"}),
    "knack-2": ("knack", 2, {"pack": "QH+KH+AH+JS+QS+KS+AS"}),
}
"""Game, seats and rules of each certified table, by the name of its files."""


@cache
def solved(preset: str, seats: int) -> Solution:
    """Return the stored solution of a deal, or solve it."""
    print(f"{preset}, {seats} seats", file=sys.stderr)
    return solve(num_players=seats, rules=preset, out=RUNS / f"{preset}-{seats}")


@cache
def deal(preset: str, seats: int) -> DealStages:
    """Return the trees of a deal."""
    return build_deal(seats, spec("byteskille").resolve(preset))


def deals() -> str:
    """Return the table of deals: sizes, values and NashConv."""
    head = ("preset", "seats", "deals", "ends", "information sets", "NashConv", "forehand",
            "second", "third", "fourth", "iterations")  # fmt: skip
    rows = []
    for preset, seats in CASES:
        found, first = solved(preset, seats), deal(preset, seats).stages[0]
        earned = [f"{value:+.6f}" for value in found.value] + [""] * (4 - seats)
        size = f"{first.num_deals:,}", f"{len(first.tree.chance):,}", f"{first.tree.num_infosets:,}"
        cells = (*size, f"{found.nash_conv:.1e}", *earned, f"{found.iterations:,}")
        rows.append((f"`{preset}`", str(seats), *cells))
    return table(head, rows)


def first_turns(strategy: np.ndarray, stage: Stage) -> list[tuple[str, str]]:
    """Return seat and choice by card where every seat before has stood."""
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
        turns.append((name, "; ".join(said)))
    return turns


def strategies() -> str:
    """Return the table of each seat's choices after all seats before it have stood."""
    head = ("preset", "seats", "seat", "what it does")
    rows = []
    for preset, seats in CASES:
        stage = deal(preset, seats).stages[0]
        strategy = strategy_of(solved(preset, seats).policy, stage)
        turns = first_turns(strategy, stage)
        rows += [(f"`{preset}`", str(seats), name, choice) for name, choice in turns]
    return table(head, rows)


@cache
def solved_match(rules: str, seats: int) -> Solution:
    """Return the stored solution of a match, or solve it."""
    print(f"match, {rules}, {seats} seats", file=sys.stderr)
    folder = RUNS / f"match-{rules}-{seats}"
    return solve(num_players=seats, rules=MATCH_RULES[rules], episode="match", out=folder)


@cache
def match_of(rules: str, seats: int) -> tuple[MatchStrategy, Match, NashConv]:
    """Return the strategy of the stored policy in a match, the match, and NashConv."""
    match = build_match(seats, MATCH_RULES[rules])
    strategy = match_strategy_of(solved_match(rules, seats).policy, match)
    return strategy, match, match_nash_conv(strategy, match)


def matches() -> str:
    """Return the table of whole matches: sizes, values and NashConv."""
    head = ("rules", "seats", "states", "information sets", "NashConv", "of the pot", "forehand",
            "second", "third", "hands", "reaches the cap")  # fmt: skip
    rows = []
    for rules, seats in MATCHES:
        strategy, match, found = match_of(rules, seats)
        hands, beyond = match_length(strategy, match)
        earned = [f"{value:+.4f}" for value in found.values] + [""] * (3 - seats)
        cap = f"{beyond:.0e}" if beyond > 1e-100 else "less than 1e-100"
        cells = (
            f"{len(match.states):,}", f"{sum(match.information_sets):,}",
            f"{found.total:.0e}", f"{found.total / match.pot:.0e}", *earned, f"{hands:.2f}",
            "part of the game" if match.capped else cap,
        )  # fmt: skip
        rows.append((CALLED[rules], str(seats), *cells))
    return table(head, rows)


def measure(game: str, preset: str, seats: int) -> dict:
    """Solve a table; return its costs and results."""
    rules = spec(game).resolve(preset)
    began = time.perf_counter()
    found = solve(
        game,
        seats,
        rules=rules,
        target=TARGETS[seats],
        iterations=min(MOST, int(VISITS / (seats * count_ends(seats, rules)))),
        memory=MEMORY,
        out=RUNS / f"{game}-{preset}-{seats}",
    )
    seconds = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    assert found.first_hand is not None, "its folder in runs/solutions holds it: delete that first"
    strategy, stage = found.first_hand
    reach = infoset_reach(stage.tree, strategy)
    mixed = np.maximum.reduceat(strategy, stage.tree.first[:-1]) < SURE
    random = defaultdict[str, float](float)
    for number in np.flatnonzero(mixed):
        random[_choice(game, stage.masks[number])] += float(reach[number])
    often = sorted(random, key=lambda choice: -random[choice])
    return {
        "game": game, "preset": preset, "seats": seats,
        "deals": found.deals, "ends": len(stage.tree.chance), "sets": sum(found.information_sets),
        "uniform": nash_conv(stage.tree, uniform(stage.tree)).total,
        "reached": found.progress[-1].nash_conv,
        "written": nash_conv_of((strategy,), DealStages((stage,))).total,
        "greedy": nash_conv(stage.tree, greedy(stage.tree, strategy)).total,
        "mixed": float(reach[mixed].sum() / reach.sum()),
        "choices": {choice: random[choice] / reach.sum() for choice in often},
        "value": found.value, "iterations": found.iterations,
        "seconds": round(seconds), "memory": round(memory, 1),
    }  # fmt: skip


def _choice(game: str, mask: np.ndarray) -> str:
    """Return a choice by the verbs of its actions: "knock or fold", "play"."""
    actions = spec(game).actions
    verbs = (actions[action].split()[0] for action in np.flatnonzero(mask))
    return " or ".join(dict.fromkeys(verbs))


def small() -> str:
    """Return the table of sizes and values."""
    head = (
        "game", "rules", "seats", "deals", "ends", "information sets", "forehand", "second",
        "third", "iterations", "seconds", "GiB",
    )  # fmt: skip
    rows = []
    for line in read().values():
        values = [f"{value:+.5f}" for value in line["value"]]
        rows.append(
            (
                *_named(line), f"{line['deals']:,}", f"{line['ends']:,}", f"{line['sets']:,}",
                *values, *[""] * (3 - len(values)), f"{line['iterations']:,}",
                f"{line['seconds']:,}", f"{line['memory']:.1f}",
            )
        )  # fmt: skip
    return table(head, rows)


def mixing() -> str:
    """Return the table of the value of mixing."""
    head = (
        "game", "rules", "seats", "NashConv of uniform play", "of the solution", "made greedy",
        "random decisions",
    )  # fmt: skip
    rows = []
    for line in read().values():
        rows.append(
            (
                *_named(line), f"{line['uniform']:.2f}", f"{line['written']:.1e}",
                f"{line['greedy']:.2g}", f"{100 * line['mixed']:.0f}%",
            )
        )  # fmt: skip
    return table(head, rows)


def learned() -> str:
    """Return the table of a learner's results at the tables with two seats."""
    head = (
        "game", "rules", "uniform", "rule of thumb", "learner, greedy", "learner, sampled",
        "solution", "decisions", "seeds",
    )  # fmt: skip
    rows = []
    for line, runs in _runs():
        last = [points[-1] for points in runs.points]
        ends = [middle((sum(point[play]) for point in last), ".2f") for play in PLAYS]
        known = [f"{value:.2f}" for value in runs.baselines.iloc[0].values()]
        decisions = f"{last[0]['decisions']:,}"
        rows.append((*_named(line)[:2], *known, *ends, _solution(line), decisions, str(len(runs))))
    return table(head, rows)


def small_curves() -> str:
    """Plot NashConv over decisions."""
    known = [*_runs()]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.6, 2.6 * ((len(known) + 1) // 2)), layout="constrained")
        panels = figure.subplots((len(known) + 1) // 2, 2, squeeze=False).ravel()
        for axes, (line, runs) in zip(panels, known, strict=False):
            for play, color in zip(PLAYS, SERIES, strict=False):
                draw(axes, runs, play, color, play)
            for (name, value), dashes in zip(
                runs.baselines.iloc[0].items(), (":", "--"), strict=True
            ):
                label = name.replace("_", " ")
                axes.axhline(value, color="#8a8a8a", linestyle=dashes, label=label)
            title, rules, _ = _named(line)
            axes.set_title(
                f"{title} {rules.strip('`')}, solution {_solution(line)}", loc="left", fontsize=9
            )
            axes.set_ylim(bottom=0)
        for axes in panels[::2]:
            axes.set_ylabel("NashConv, units per deal")
        for axes in panels[-2:]:
            axes.set_xlabel("decisions, thousands")
        panels[0].legend(fontsize=8)
        return as_svg(figure) + "\n"


def _runs() -> Iterator[tuple[dict, Runs]]:
    """Yield the tables with learning curves, in the order of `SMALL`, and the runs."""
    known = results("small_curves")
    for game, preset, seats in SMALL:
        runs = known[(known.game == game) & (known.preset == preset)]
        if seats == 2 and len(runs):
            yield {"game": game, "preset": preset, "seats": seats}, runs


def _solution(line: dict) -> str:
    return f"{read()[_name(line['game'], line['preset'], line['seats'])]['written']:.0e}"


def _named(line: dict) -> tuple[str, str, str]:
    return spec(line["game"]).title, f"`{line['preset']}`", str(line["seats"])


def read() -> dict[str, dict]:
    """Return the existing lines by name, in the order of `SMALL`."""
    known = {_name(line["game"], line["preset"], line["seats"]): line for line in lines_of(DATA)}
    return {_name(*each): known[_name(*each)] for each in SMALL if _name(*each) in known}


def _name(game: str, preset: str, seats: int) -> str:
    return f"{game}-{preset}-{seats}"


def certify(name: str) -> None:
    """Solve a table and write its two files."""
    game, seats, rules = CERTIFIED[name]
    solution = kt.solve(game, seats, rules=rules, target=1e-6, method="pcfr+")
    exported = kt.export_efg(game, seats, CERTIFICATES / f"{name}.efg", rules=rules)
    exported.write_policy(solution.policy)
    if seats > 2:  # every node has its information state
        numbers = list(map(str, range(exported.efg.tree.num_infosets)))
        replace(exported.efg, names=numbers).write(exported.path)
    packed = gzip.compress(exported.path.read_bytes(), mtime=0)
    (CERTIFICATES / f"{name}.efg.gz").write_bytes(packed)
    exported.path.unlink()


def certificates() -> str:
    """Return the table of the certificates."""
    head = ("files", "table", "forehand", "second", "third", "could gain", "NashConv")
    rows = []
    for name, (game, seats, rules) in CERTIFIED.items():
        values, best = check(
            str(CERTIFICATES / f"{name}.efg.gz"), str(CERTIFICATES / f"{name}.policy")
        )
        gains = [most - value for most, value in zip(best, values, strict=True)]
        rows.append(
            (
                f"`{name}`", str(Table.of(game, seats, rules=rules)), *map(_fraction, values),
                *[""] * (3 - seats), ", ".join(map(_fraction, gains)), _fraction(sum(gains)),
            )
        )  # fmt: skip
    return table(head, rows)


def _fraction(value: Any) -> str:
    """Return a fraction as text, rounded if it is long."""
    text = str(value)
    return text if len(text) <= 16 else f"{float(value):.9g}"


BLOCKS = {
    "deals": deals,
    "strategies": strategies,
    "matches": matches,
    "small": small,
    "mixing": mixing,
    "learned": learned,
    "certificates": certificates,
}


def pictures() -> dict[Path, str]:
    """Return the pictures in docs/solutions."""
    strategy, match, _ = match_of("svensk", 3)
    swaps = {"match-swaps-3": swaps_of(strategy.hands[0], match.first_stage)}
    curves = {}
    for seats in SEATS:
        swaps[f"swaps-{seats}"] = swaps_of(
            strategy_of(solved("svensk", seats).policy, deal("svensk", seats).stages[0]),
            deal("svensk", seats).stages[0],
        )
        steps = curves_of(solved("svensk", seats).progress, hands=2)
        curves[f"{seats} seats"] = next(iter(steps.values()))  # the first solved hand
    found = {PICTURES / f"{name}.svg": swap_heat_map(each) + "\n" for name, each in swaps.items()}
    small = {PICTURES / "small-curves.svg": small_curves()}
    return found | small | {PICTURES / "convergence.svg": convergence(curves)}


def main(what: str = "", part: str = "", *more: str) -> int:
    """Solve the selected tables, and write the page."""
    if what == "--one":
        print(json.dumps(measure(part, more[0], int(more[1]))))
        return 0
    if what == "--small":
        solve_small(part)
    if what == "--certificates":
        for name in CERTIFIED:
            print(name, file=sys.stderr)
            certify(name)
    PICTURES.mkdir(exist_ok=True)
    return write({PAGE: filled(PAGE, BLOCKS), **pictures()}, check=False)


def solve_small(part: str) -> None:
    """Solve the small tables with `part` in their name, each in its own process."""
    for game, preset, seats in SMALL:
        name = _name(game, preset, seats)
        if part not in name:
            continue
        try:
            check_deal(seats, spec(game).resolve(preset), int(MEMORY * 2**30))
        except TreeTooLargeError as error:
            print(error, file=sys.stderr)
            continue
        print(name, file=sys.stderr)
        words = [sys.executable, __file__, "--one", game, preset, str(seats)]
        line = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
        lines = {**read(), name: json.loads(line)}
        DATA.write_text("".join(json.dumps(each) + "\n" for each in lines.values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
