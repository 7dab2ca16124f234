"""Solves the small tables of the five-card games and Knack; fills blocks of docs/solutions.md.

    python docs/small_tables.py                  write the table of what has been measured
    python docs/small_tables.py --solve [NAME]   solve first: all tables, or those whose name has it

Each table is solved in a process of its own, so that its memory is known, and leaves its solution
in runs/solutions and a line in docs/data/small_tables.jsonl. All of a line but seconds and memory
is the same on every machine. What a learner reaches at them, docs/data/small_curves.jsonl, is what
`python benchmarks/small_curves.py` has written.
"""

import json
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
from blocks import filled, lines_of, table, write
from learning import Runs, draw, middle, results
from matplotlib.figure import Figure

from kille_agents.greedy import PLAYS
from kille_env.registry import spec
from kille_training.pages.page import SERIES
from kille_training.pages.plots import STYLE, as_svg
from kille_training.solving.policies import nash_conv_of
from kille_training.solving.size import TreeTooLargeError, check_deal, count_ends
from kille_training.solving.solve import solve
from kille_training.solving.stages import DealStages
from kille_training.solving.text import SURE
from kille_training.solving.trees.values import greedy, infoset_reach, nash_conv, uniform

DOCS = Path(__file__).parent
PAGE, DATA = DOCS / "solutions.md", DOCS / "data" / "small_tables.jsonl"
PICTURE = DOCS / "solutions" / "small-curves.svg"
RUNS = Path("runs") / "solutions"
GAMES = ("krypkille", "kungsholmskille", "femkortskille", "knack")
TABLES = [
    (game, preset, seats)
    for game in GAMES
    for preset in ("tiny", "small", "medium")
    if preset in spec(game).presets
    for seats in (2, 3)
]
MOST, VISITS = 3000, 4e10
"""At most this many iterations, and visits of an end by a seat: some minutes."""
TARGETS = {2: 1e-4, 3: 1e-3}
"""NashConv at which a table is solved, by its seats."""
MEMORY = 8.0
"""GiB that a tree may take."""


def measure(game: str, preset: str, seats: int) -> dict:
    """Solve a table; returns what it took and what came out."""
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
    """Return what is to be chosen, in the verbs of the actions: "knock or fold", "play"."""
    actions = spec(game).actions
    verbs = (actions[action].split()[0] for action in np.flatnonzero(mask))
    return " or ".join(dict.fromkeys(verbs))


def small() -> str:
    """The table of sizes and values."""
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
    """The table of what mixing is worth."""
    head = (
        "game", "rules", "seats", "NashConv of uniform play", "of the solution", "made greedy",
        "random decisions", "of these",
    )  # fmt: skip
    rows = []
    for line in read().values():
        all_of_them = sum(line["choices"].values())
        shares = [
            f"{choice} {100 * share / all_of_them:.0f}%"
            for choice, share in line["choices"].items()
            if share >= 0.01 * all_of_them
        ]
        rows.append(
            (
                *_named(line), f"{line['uniform']:.2f}", f"{line['written']:.1e}",
                f"{line['greedy']:.2g}", f"{100 * line['mixed']:.0f}%", ", ".join(shares),
            )
        )  # fmt: skip
    return table(head, rows)


def learned() -> str:
    """The table of what a learner reaches at the tables with two seats."""
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


def curves() -> str:
    """The picture of NashConv over decisions."""
    known = [*_runs()]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.6, 2.6 * ((len(known) + 1) // 2)), layout="constrained")
        panels = figure.subplots((len(known) + 1) // 2, 2, squeeze=False).ravel()
        for axes, (line, runs) in zip(panels, known, strict=False):
            for play, colour in zip(PLAYS, SERIES, strict=False):
                draw(axes, runs, play, colour, play)
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
    """Yield the tables that a learner has played, in the order of `TABLES`, and its runs."""
    known = results("small_curves")
    for game, preset, seats in TABLES:
        runs = known[(known.game == game) & (known.preset == preset)]
        if seats == 2 and len(runs):
            yield {"game": game, "preset": preset, "seats": seats}, runs


def _solution(line: dict) -> str:
    return f"{read()[_name(line['game'], line['preset'], line['seats'])]['written']:.0e}"


def _named(line: dict) -> tuple[str, str, str]:
    return spec(line["game"]).title, f"`{line['preset']}`", str(line["seats"])


def read() -> dict[str, dict]:
    """Return the lines that there are, in the order of `TABLES`, by name."""
    known = {_name(line["game"], line["preset"], line["seats"]): line for line in lines_of(DATA)}
    return {_name(*each): known[_name(*each)] for each in TABLES if _name(*each) in known}


def _name(game: str, preset: str, seats: int) -> str:
    return f"{game}-{preset}-{seats}"


BLOCKS = {"small": small, "mixing": mixing, "learned": learned}
"""The blocks of the page."""


def main(arguments: list[str]) -> int:
    """Solve what is asked for, and writes the table."""
    if arguments[:1] == ["--one"]:
        game, preset, seats = arguments[1:]
        print(json.dumps(measure(game, preset, int(seats))))
        return 0
    if arguments[:1] == ["--solve"]:
        part = arguments[1] if len(arguments) > 1 else ""
        for game, preset, seats in TABLES:
            if part not in _name(game, preset, seats):
                continue
            try:
                check_deal(seats, spec(game).resolve(preset), int(MEMORY * 2**30))
            except TreeTooLargeError as error:
                print(error, file=sys.stderr)
                continue
            print(_name(game, preset, seats), file=sys.stderr)
            asked = [sys.executable, __file__, "--one", game, preset, str(seats)]
            line = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout
            lines = {**read(), _name(game, preset, seats): json.loads(line)}
            DATA.write_text("".join(json.dumps(each) + "\n" for each in lines.values()))
    page = filled(PAGE, BLOCKS, whole=False)
    return write({PAGE: page, PICTURE: curves()}, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
