"""CFR+ of OpenSpiel on the exact tree of a deal of Byteskille.

The tree is written as an `.efg` file, OpenSpiel's C++ solver runs on it, and the average policy
comes back as a tabular policy. `decisions` counts the decision nodes that the solver visits: an
iteration visits all of them once for each seat. Nothing is random, so the seed is not used.
Trap: on OpenSpiel's Python games the same solver is slower by orders of magnitude. Written for
OpenSpiel 2.0.2.
"""

import tempfile
from pathlib import Path

import kille_training as kt
from kille_training.cli.recipe import needs, run

with needs("openspiel"):
    import pyspiel


def train(
    game: str = "byteskille", num_players: int = 2, decisions: int = 2_000_000, seed: int = 0
):
    """Returns a tabular policy."""
    with tempfile.TemporaryDirectory() as folder:
        exported = kt.export_efg(game, num_players, Path(folder) / "deal.efg")
        solver = pyspiel.CFRPlusSolver(exported.load())
        nodes = int((exported.efg.tree.infoset >= 0).sum()) * num_players
        for _ in range(max(decisions // nodes, 1)):
            solver.evaluate_and_update_policy()
        return exported.player(solver.average_policy(), "open_spiel_cfr")


if __name__ == "__main__":
    run(train)
