"""Solves the small tables of the five-card games and Knack; fills two blocks of docs/solutions.md.

    python docs/small_tables.py                  write the table of what has been measured
    python docs/small_tables.py --solve [NAME]   solve first: all tables, or those whose name has it

Each table is solved in a process of its own, so that its memory is known, and leaves its solution
in runs/solutions and a line in docs/data/small_tables.jsonl. All of a line but seconds and memory
is the same on every machine.
"""

import json
import resource
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from blocks import filled, table, write

from kille_env.registry import spec
from kille_training.solving.build import grow_stage
from kille_training.solving.policies import nash_conv_of, strategies_of
from kille_training.solving.size import TreeTooLargeError, check_deal, count_ends
from kille_training.solving.solve import solve
from kille_training.solving.text import SURE
from kille_training.solving.trees.sequence_game import SequenceGame
from kille_training.solving.trees.values import greedy, infoset_reach, nash_conv, uniform

DOCS = Path(__file__).parent
PAGE, DATA = DOCS / "solutions.md", DOCS / "data" / "small_tables.jsonl"
RUNS = Path("runs") / "solutions"
GAMES = ("krypkille", "kungsholmskille", "femkortskille", "knack")
TABLES = [
    (game, preset, seats)
    for game in GAMES
    for preset in ("tiny", "small", "medium")
    if preset in spec(game).presets
    for seats in (2, 3)
]
METHOD = "pcfr+"
MOST, VISITS = 3000, 2e10
"""At most this many iterations, and visits of an end by a seat: some minutes."""
MEMORY = 16.0
"""GiB that a tree may take by an estimate that is about twice what it then takes."""


def measure(game: str, preset: str, seats: int) -> dict:
    """Solves a table; returns what it took and what came out."""
    rules = spec(game).resolve(preset)
    began = time.perf_counter()
    found = solve(
        game,
        seats,
        rules=rules,
        iterations=min(MOST, int(VISITS / (seats * count_ends(seats, rules)))),
        memory=MEMORY,
        method=METHOD,
        out=RUNS / f"{game}-{preset}-{seats}",
    )
    seconds = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    stage = grow_stage(seats, rules)
    assert isinstance(stage.tree, SequenceGame)
    (strategy,) = strategies_of(found.policy, stage)
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
        "written": nash_conv_of((strategy,), stage).total,
        "greedy": nash_conv(stage.tree, greedy(stage.tree, strategy)).total,
        "mixed": float(reach[mixed].sum() / reach.sum()),
        "choices": {choice: random[choice] / reach.sum() for choice in often},
        "value": found.value, "iterations": found.iterations,
        "seconds": round(seconds), "memory": round(memory, 1),
    }  # fmt: skip


def _choice(game: str, mask: np.ndarray) -> str:
    """Returns what is to be chosen, in the verbs of the actions: "knock or fold", "play"."""
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


def _named(line: dict) -> tuple[str, str, str]:
    return spec(line["game"]).title, f"`{line['preset']}`", str(line["seats"])


def read() -> dict[str, dict]:
    """Returns the lines that there are, in the order of `TABLES`, by name."""
    lines = [json.loads(line) for line in DATA.read_text().splitlines()] if DATA.is_file() else []
    known = {_name(line["game"], line["preset"], line["seats"]): line for line in lines}
    return {_name(*each): known[_name(*each)] for each in TABLES if _name(*each) in known}


def _name(game: str, preset: str, seats: int) -> str:
    return f"{game}-{preset}-{seats}"


def main(arguments: list[str]) -> int:
    """Solves what is asked for, and writes the table."""
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
    return write({PAGE: filled(PAGE, {"small": small, "mixing": mixing}, whole=False)}, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
