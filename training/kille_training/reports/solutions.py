"""Pictures of solved deals and matches."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kille_env.files import write_whole
from kille_env.registry import load_game
from kille_training.evaluation.swap_map import SwapMap, Tally
from kille_training.reports.plots import convergence, swap_heat_map
from kille_training.solving.size import OWN
from kille_training.solving.solution import DealProgress, Solution
from kille_training.solving.solve import first_hand_of
from kille_training.solving.stages import Stage
from kille_training.solving.text import REACHED
from kille_training.solving.trees.values import infoset_reach


def swaps_of(strategy: np.ndarray, stage: Stage) -> SwapMap:
    """Returns how likely a swap is where all seats play a strategy [S], exactly."""
    weight = infoset_reach(stage.tree, strategy)
    rows = np.flatnonzero(weight > REACHED)
    tally = Tally(stage.num_players)
    chances = stage.by_action(strategy)[rows]
    tally.add(stage.observations[rows], stage.masks[rows], chances, weight[rows])
    return tally.map()


def write_pictures(solution: Solution, folder: Path) -> None:
    """Draws the pictures of a solution into its folder, unless they are there.

    These are convergence.svg for a deal, NashConv over the iterations, and in Byteskille swaps.svg,
    how likely a swap is by card and position.
    """
    swaps = ["swaps.svg"] if solution.settings.game == OWN else []
    names = [*swaps, *(["convergence.svg"] if solution.progress else [])]
    if all((folder / name).exists() for name in names):
        return
    hands = 1
    if swaps:
        strategy, stage = first_hand_of(solution)
        again = load_game(OWN).redeals(stage.rules, stage.num_players)
        hands = again + 1 if stage.again.any() else 1
        write_whole(folder / "swaps.svg", swap_heat_map(swaps_of(strategy, stage)).encode())
    if solution.progress:
        curves = curves_of(solution.progress, hands)
        picture = convergence(curves, solution.settings.target / hands)
        write_whole(folder / "convergence.svg", picture.encode())


def curves_of(
    progress: Sequence[DealProgress], hands: int
) -> dict[str, tuple[list[int], list[float]]]:
    """Returns the iterations and NashConv of each hand by its name."""
    curves: dict[str, tuple[list[int], list[float]]] = {}
    for row in progress:
        name = f"after {row.granted} questions" if hands > 1 else "NashConv"
        iterations, found = curves.setdefault(name, ([], []))
        iterations.append(row.iteration)
        found.append(row.nash_conv)
    return curves
