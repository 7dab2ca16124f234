"""CFR+ of OpenSpiel on the exact tree of a deal of Byteskille.

The tree is written as an `.efg` file, OpenSpiel's C++ solver runs on it, and the average policy
becomes a tabular policy. `decisions` counts visited decision nodes: an iteration visits all of them
once for each seat. The seed is unused, as nothing is random.
Trap: on OpenSpiel's Python games the same solver is slower by orders of magnitude. Written for
OpenSpiel 2.0.2.
"""

import argparse
import tempfile
from pathlib import Path

import pyspiel

from kille_training import evaluate, export_efg


def train(
    game: str = "byteskille", num_players: int = 2, decisions: int = 2_000_000, seed: int = 0
):
    """Return a tabular policy."""
    with tempfile.TemporaryDirectory() as folder:
        exported = export_efg(game, num_players, Path(folder) / "deal.efg")
        solver = pyspiel.CFRPlusSolver(exported.load())
        nodes = int((exported.efg.tree.infoset >= 0).sum()) * num_players
        for _ in range(max(decisions // nodes, 1)):
            solver.evaluate_and_update_policy()
        return exported.player(solver.average_policy(), "open_spiel_cfr")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=2, help="seats")
    parser.add_argument("--decisions", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed)
    print(evaluate(player, *table, episode="deal"))
