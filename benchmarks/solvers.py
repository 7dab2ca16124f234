"""How fast games from the literature are solved: `python benchmarks/solvers.py`.

All solve the same game, OpenSpiel's own, with CFR+ and alternating updates: OpenSpiel in C++ and in
Python, LiteEFG if it is installed, and this suite over the flat tree of that game. The first table
shows iterations per second. The solvers take turns, so that other load on the machine affects all
of them; the table shows the medians over the rounds, and the median of the rounds' ratios. The
second table shows the seconds of iterating until OpenSpiel's `nash_conv` of the average strategy is
at most the target; measuring is not counted. Each solver is measured first after `--first`
iterations and then whenever their number has grown by a twentieth. A solver that takes more than
`--most` seconds is stopped.
"""

import argparse
import contextlib
import io
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import pyspiel
from open_spiel.python.algorithms import cfr as spiel_cfr
from open_spiel.python.algorithms import exploitability
from open_spiel.python.policy import Policy, TabularPolicy

from kille_env import __version__
from kille_training.solving.trees.build import Flattened, flatten
from kille_training.solving.trees.cfr import CFR
from speed.peers.trees import expand

try:
    import LiteEFG  # pyright: ignore[reportMissingImports]
    from LiteEFG.baselines import CFRplus  # pyright: ignore[reportMissingImports]
except ImportError:
    LiteEFG = CFRplus = None


class Contestant(NamedTuple):
    """A solver of one of OpenSpiel's games."""

    name: str
    iterate: Callable[[int], Any]
    average: Callable[[], Policy]


def ours(game: Any, flat: Flattened, method: str, name: str) -> Contestant:
    """This suite."""
    solver, tree = CFR(flat.tree, method), flat.tree

    def average() -> Policy:
        policy, strategy = TabularPolicy(game), solver.average
        for number, (label, actions) in enumerate(flat.information):
            row = policy.policy_for_key(label)
            row[:] = 0.0
            row[list(actions)] = strategy[tree.first[number] : tree.first[number + 1]]
        return policy

    return Contestant(f"kille-env, {name}", solver.run, average)


def spiel(name: str, solver: Any, average: Callable[[], Policy]) -> Contestant:
    """One of OpenSpiel's solvers."""

    def iterate(count: int) -> None:
        for _ in range(count):
            solver.evaluate_and_update_policy()

    return Contestant(f"OpenSpiel, {name}, CFR+", iterate, average)


def lite(game: Any) -> Contestant:
    """LiteEFG's graph for CFR+."""
    assert LiteEFG is not None and CFRplus is not None
    with contextlib.redirect_stdout(io.StringIO()):  # it prints a greeting
        graph = CFRplus.graph()
        solver = LiteEFG.OpenSpielEnv(game, traverse_type="Enumerate", regenerate=False)
    solver.set_graph(graph)

    def iterate(count: int) -> None:
        for _ in range(count):
            graph.update_graph(solver)
            solver.update_strategy(graph.current_strategy())

    def average() -> Policy:
        return solver.get_strategy(graph.current_strategy(), "linear-avg-iterate")[0]

    return Contestant("LiteEFG, CFR+", iterate, average)


def nash_conv(game: Any, policy: Policy) -> float:
    """Returns NashConv as OpenSpiel computes it."""
    if isinstance(policy, pyspiel.Policy):
        return pyspiel.nash_conv(game, policy)
    found = exploitability.nash_conv(game, policy, return_only_nash_conv=False)
    return float(found.nash_conv)  # pyright: ignore[reportAttributeAccessIssue]


def pace(contestant: Contestant, seconds: float) -> float:
    """Returns iterations per second, over about this many seconds."""
    count, done, began = 1, 0, time.perf_counter()
    while True:
        contestant.iterate(count)
        done += count
        used = time.perf_counter() - began
        if used >= seconds:
            return done / used
        count = max(1, int(done / used * min(seconds - used, used)))


def race(
    game: Any, contestant: Contestant, target: float, first: int, most: float
) -> tuple[int, float, float]:
    """Iterates to the target; returns iterations, seconds of iterating and NashConv."""
    done, used = 0, 0.0
    while True:
        count = max(first - done, done // 20, 1)
        began = time.perf_counter()
        contestant.iterate(count)
        used += time.perf_counter() - began
        done += count
        found = nash_conv(game, contestant.average())
        if found <= target or used > most:
            return done, used, found


def entrants(game: Any, flat: Flattened, slow: bool) -> list[Contestant]:
    """Returns the solvers; the others are compared with the first."""
    fast = pyspiel.CFRPlusSolver(game)
    there = [ours(game, flat, "cfr+", "CFR+"), spiel("C++", fast, fast.tabular_average_policy)]
    if LiteEFG is not None and game.num_players() == 2:  # what its graph for CFR+ updates
        there.append(lite(game))
    if slow:
        plain = spiel_cfr.CFRPlusSolver(game)
        there.append(spiel("Python", plain, plain.average_policy))
    return there


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--games",
        nargs="+",
        default=["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=4)", "kuhn_poker(players=3)"],
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="of each turn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--target", type=float, default=1e-4, help="NashConv of the second table")
    parser.add_argument("--first", type=int, default=100, help="iterations before it is measured")
    parser.add_argument("--most", type=float, default=120.0, help="seconds to reach the target")
    options = parser.parse_args()
    print(f"kille-env {__version__}, OpenSpiel {version('open_spiel')}, ", end="")
    print("LiteEFG is not installed" if LiteEFG is None else f"LiteEFG {version('LiteEFG')}")
    print("\n| game | solver | iterations/s | kille-env is faster by |")
    print("|---|---|---|---|")
    flats = {}
    for name in options.games:
        game = pyspiel.load_game(name)
        flats[name] = flatten(game.new_initial_state(), expand, game.num_players())
        there = entrants(game, flats[name], slow=True)
        for contestant in there:
            contestant.iterate(1)  # compiles
        rounds = [
            [pace(contestant, options.seconds) for contestant in there]
            for _ in range(options.rounds)
        ]
        for place, contestant in enumerate(there):
            speed = statistics.median(paces[place] for paces in rounds)
            ratio = statistics.median(paces[0] / paces[place] for paces in rounds)
            print(f"| {name} | {contestant.name} | {speed:,.0f} | {ratio:,.1f} |", flush=True)
    print(f"\n| game | solver | iterations to {options.target:g} | seconds | NashConv |")
    print("|---|---|---|---|---|")
    for name in options.games:
        game, flat = pyspiel.load_game(name), flats[name]
        there = entrants(game, flat, slow=False)
        there[1:1] = [
            ours(game, flat, "dcfr", "discounted CFR"),
            ours(game, flat, "pcfr+", "predictive CFR+"),
        ]
        for contestant in there:
            done, used, found = race(game, contestant, options.target, options.first, options.most)
            reached = "" if found <= options.target else " (stopped)"
            print(
                f"| {name} | {contestant.name} | {done:,}{reached} | {used:.4f} | {found:.2e} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
