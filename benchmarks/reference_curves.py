"""NashConv over CPU seconds of solvers at three seats: `python benchmarks/reference_curves.py`.

OpenSpiel's solvers play the exact tree as its C++ `efg_game`; fictitious play alone is Python. The
suite's own play the sequence form, in which equal ends are one. A table is the same game for all,
and every NashConv is the suite's exact measure of the average strategy (descent: of the last one).
Seconds leave out growing and measuring. A curve ends with the first iteration beyond its budget, or
below NashConv 1e-9. Run it again to resume. `docs/curves.py` draws a copy of its output.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from open_spiel.python.algorithms.fictitious_play import XFPSolver

from journal import Case, Journal
from kille_env.core.jit import kernel
from kille_env.registry import Table
from kille_training.learn.methods.mccfr import Learner, Settings
from kille_training.solving.grow import build_deal
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.efg import EfgTree
from kille_training.solving.trees.sequence_game import SequenceGame, sequence_reach, sweep
from kille_training.solving.trees.tree import flatten
from kille_training.solving.trees.values import best_response, nash_conv, normalised, uniform
from speed.libraries import expand

SEATS, QUICK = 3, "kuhn-3"
SOLVED, GROWTH = 1e-9, 1.4  # NashConv that ends a curve, growth of iterations by point
BATCH, BURN = 1000, 100  # iterations of MCCFR in one call, of fictitious play before descent
OUTSIDE = {
    "kuhn-3": "kuhn_poker(players=3)",
    "leduc-3": "leduc_poker(players=3,suit_isomorphism=true)",
}
INSIDE: dict[str, Any] = {
    "byteskille-wikipedia-3": ("byteskille", SEATS, "wikipedia"),
    "krypkille-tiny-3": ("krypkille", SEATS, "tiny"),
    "byteskille-unasked-3": ("byteskille", SEATS, {"preset": "svensk", "fraga": "off"}),
}
"""Tables by name: games of OpenSpiel; those of the suite with seats and rules."""
SECONDS = {"kuhn-3": 3.0, "byteskille-unasked-3": 5.0, "krypkille-tiny-3": 30.0}  # 15 elsewhere


class Grown(NamedTuple):
    """A table: one of the suite or None, its sequence form, its nodes, and OpenSpiel's game."""

    table: Table | None
    merged: SequenceGame
    efg: EfgTree
    game: Any


class Solver(NamedTuple):
    """A solver, the tree of its strategy, and the iterations that `run` counts as one."""

    tree: SequenceGame
    run: Callable[[int], Any]
    strategy: Callable[[], np.ndarray]
    each: int = 1


@cache
def grown(name: str) -> Grown:
    """Return a table with its trees."""
    table = Table.of(*INSIDE[name]) if name in INSIDE else None
    if table is None:
        flat = flatten(pyspiel.load_game(OUTSIDE[name]).new_initial_state(), expand, SEATS)
        merged, nodes = flat.tree, flat.nodes
    else:
        merged = build_deal(SEATS, table.rules).first_stage.tree
        nodes = build_deal(SEATS, table.rules, nodes=True).first_stage.nodes
        assert nodes is not None  # grown with nodes
    places = np.arange(nodes.num_sequences) - np.repeat(nodes.first[:-1], np.diff(nodes.first))
    efg = EfgTree(nodes, list(map(str, places)), list(map(str, range(nodes.num_infosets))))
    with tempfile.TemporaryDirectory() as folder:
        efg.write(path := Path(folder) / "table.efg")
        return Grown(table, merged, efg, pyspiel.load_game("efg_game", {"filename": str(path)}))


def _repeat(step: Callable[[], Any], count: int) -> None:
    for _ in range(count):
        step()


def open_spiel(step: str, kind: Callable[..., Any], table: Grown, seed: int) -> Solver:
    """Return a solver of OpenSpiel by its class and the name of its step."""
    solver = kind(table.game, *[seed] * (step == "run_iteration"))
    strategy = lambda: table.efg.strategy_of(solver.average_policy(), table.game)  # noqa: E731
    tree = table.efg.tree.without_nodes()
    return Solver(tree, partial(_repeat, getattr(solver, step)), strategy)


def regret(variant: str, table: Grown, seed: int) -> Solver:
    """Return a variant of the suite's CFR."""
    solver = CFR(table.merged, variant)
    return Solver(table.merged, solver.run, lambda: solver.average)


def sampling(table: Grown, seed: int) -> Solver:
    """Return the suite's external-sampling MCCFR."""
    assert table.table is not None  # `cases` leaves out the others
    learner = Learner(table.table, seed, Settings(iterations=BATCH))
    (stage,) = learner.deal.stages
    run = partial(_repeat, partial(learner.update, lambda: 1.0))  # nothing is annealed
    return Solver(stage.tree, run, lambda: normalised(stage.tree, learner.memory.average), BATCH)


def descent(burn: int, table: Grown, seed: int) -> Solver:
    """Return fictitious play that turns into descent after some iterations."""
    solver = Descent(table.merged, burn)
    return Solver(table.merged, partial(_repeat, solver.step), lambda: solver.strategy)


class Descent:
    """Extensive-form fictitious play for some iterations, then projected subgradient descent.

    Fictitious play: Heinrich, Lanctot and Silver, "Fictitious self-play in extensive-form games",
    ICML 2015. Descent extends exploitability descent (Lockhart et al., arXiv 1903.05614) to more
    players: along the gradient of the sum of best responses' values, NashConv if payoffs sum to 0.
    The order is that of "Projected exploitability descent" (Ganzfried, arXiv 2606.29169), of which
    only the abstract was read: it projects onto the polytope of sequence-form strategies, and this
    one each information set onto its simplex. Steps are Polyak's, as the least NashConv is known.
    """

    def __init__(self, tree: SequenceGame, burn: int) -> None:
        assert np.allclose(tree.payoff.sum(axis=1), 0.0), "payoffs sum to zero"
        self.tree, self.left, self.strategy = tree, burn, uniform(tree)
        self.average, self.weight = sequence_reach(tree, self.strategy), 1
        self.rows = np.repeat(np.arange(tree.num_infosets), np.diff(tree.first))

    def step(self) -> None:
        """Make one iteration."""
        tree, seats = self.tree, range(self.tree.num_players)
        found = [best_response(tree, self.strategy, seat) for seat in seats]
        against = [sequence_reach(tree, one.strategy) for one in found]
        if self.left > 0:
            self.left, self.weight = self.left - 1, self.weight + 1
            pure = np.choose(tree.player[self.rows], [reach[1:] for reach in against])
            self.average[1:] += (pure - self.average[1:]) / self.weight
            self.strategy = normalised(tree, self.average[1:])
            return
        slope = np.zeros(tree.num_sequences + 1)
        for seat in seats:
            paid = np.repeat(tree.payoff[:, [seat]], len(seats), axis=1)  # all get what it gets
            for other in {*seats} - {seat}:
                sweep(tree._replace(payoff=paid), other, against[seat], slope)
        self._descend(slope, sum(one.value for one in found))

    def _descend(self, slope: np.ndarray, gap: float) -> None:
        """Step down the slope of the sequences, [S + 1], and project."""
        tree, rows, starts = self.tree, self.rows, self.tree.first[:-1]
        _carry(tree, self.strategy, slope)
        steep = slope[1:] - np.add.reduceat(self.strategy * slope[1:], starts)[rows]
        reach = np.add.reduceat(sequence_reach(tree, self.strategy)[1:], starts)
        moved = self.strategy - gap / max(reach[rows] @ steep**2, 1e-300) * steep
        kept = np.ones(len(rows))
        while True:  # Michelot's projection onto simplices
            excess = (np.add.reduceat(kept * moved, starts) - 1.0) / np.add.reduceat(kept, starts)
            inside = kept * (moved > excess[rows])
            if (inside == kept).all():
                break
            kept = inside
        self.strategy = np.maximum(moved - excess[rows], 0.0)


@kernel
def _carry(tree, strategy, slope):
    """Add the mean slope of each information set to the sequences that lead there."""
    for number in range(len(tree.player) - 1, -1, -1):
        mean = 0.0
        for step in range(tree.first[number], tree.first[number + 1]):
            mean += strategy[step] * slope[step + 1]
        for way in range(tree.ways[number], tree.ways[number + 1]):
            slope[tree.before[way] + 1] += tree.share[way] * mean


METHODS: dict[str, Callable[[Grown, int], Solver]] = {
    "OpenSpiel CFR": partial(open_spiel, "evaluate_and_update_policy", pyspiel.CFRSolver),
    "OpenSpiel CFR+": partial(open_spiel, "evaluate_and_update_policy", pyspiel.CFRPlusSolver),
    "OpenSpiel MCCFR": partial(open_spiel, "run_iteration", pyspiel.ExternalSamplingMCCFRSolver),
    "OpenSpiel XFP": partial(open_spiel, "iteration", XFPSolver),
    "discounted CFR": partial(regret, "dcfr"),
    "predictive CFR+": partial(regret, "pcfr+"),
    "MCCFR": sampling,
    "fictitious play": partial(descent, 1 << 62),
    "descent": partial(descent, 0),
    "fictitious play, descent": partial(descent, BURN),
}
SAMPLED, SEEDS = ("OpenSpiel MCCFR", "MCCFR"), (1, 2)
# Python is too slow for larger tables, and MCCFR plays those of the suite.
LEFT_OUT = {"OpenSpiel XFP": {*OUTSIDE, *INSIDE} - {QUICK}, "MCCFR": {*OUTSIDE}}


def cases(tables: Collection[str], seconds: float | None) -> Iterator[Case]:
    """Yield the curves of tables, further seeds of solvers that sample last."""
    for seed, name, method in product(SEEDS, tables, METHODS):
        if name not in LEFT_OUT.get(method, ()) and (seed == SEEDS[0] or method in SAMPLED):
            budget = seconds or SECONDS.get(name, 15.0)
            yield {"table": name, "method": method, "seed": seed}, {"seconds": budget}


def measure(key: dict[str, Any], settings: dict[str, float]) -> dict[str, Any]:
    """Return the points of a curve: iterations, CPU seconds and NashConv."""
    table, make = grown(key["table"]), METHODS[key["method"]]
    for warm in (make, partial(descent, 0)) if "OpenSpiel" not in key["method"] else ():
        warm(table, key["seed"]).run(1)  # compiles
    solver, spent, turns = make(table, key["seed"]), 0.0, 0
    points: list[tuple[int, float, float]] = []
    while not points or (spent < settings["seconds"] and points[-1][2] > SOLVED):
        left = (settings["seconds"] - spent) * turns / max(spent, 1e-6)
        goal = max(1, ceil(min(turns * (GROWTH - 1.0), left)))
        began = time.process_time()
        solver.run(goal)
        spent, turns = spent + time.process_time() - began, turns + goal
        found = nash_conv(solver.tree, solver.strategy()).total
        points.append((turns * solver.each, round(spent, 6), found))
    nodes = table.efg.tree.num_nodes
    return {"sets": table.merged.num_infosets, "nodes": nodes, "points": points}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, help="CPU seconds of a curve; default: by table")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} alone")
    parser.add_argument("--out", type=Path, help="default: runs/reference_curves.jsonl")
    options = parser.parse_args()
    name = f"reference_curves{'_quick' * options.quick}.jsonl"
    journal = Journal(options.out or Path("runs") / name)
    for case in cases([QUICK] if options.quick else [*OUTSIDE, *INSIDE], options.seconds):
        if not journal.has(*case):
            journal.add(*case, **measure(*case))
            print(case[0], *journal.lines[-1]["points"][-1:], flush=True)


if __name__ == "__main__":
    main()
