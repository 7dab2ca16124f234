"""Pictures of solved deals and matches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, cycle
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from kille_env.cards.pack import KILLE_CODES
from kille_env.files import write_whole
from kille_env.registry import load_game
from kille_training.labels import position_names
from kille_training.pages.page import NO_DATA, PAPER, SERIES, SHARES, SOFT, WIDE
from kille_training.pages.plots import DASHED, STYLE, as_svg, logarithmic
from kille_training.solving.size import MATCH_GAME
from kille_training.solving.solution import DealProgress, Solution
from kille_training.solving.stages import Stage
from kille_training.solving.trees.values import infoset_reach

CARDS = len(KILLE_CODES)
ASKS = 2
"""Row of sums for questions, after those for dealt and for taken cards."""


@dataclass(frozen=True)
class SwapMap:
    """Swap probabilities of a strategy in Byteskille, by position and card."""

    dealt: np.ndarray  # [P, 21] with the dealt card, forehand first, NaN if unreachable
    taken: np.ndarray  # [P, 21] with a card received by another seat's swap
    asks: np.ndarray  # [21] probability that forehand asks for better cards; NaN if not allowed


REACHED = 1e-6
"""Minimum reach of an information set that counts."""


def swaps_of(strategy: np.ndarray, stage: Stage) -> SwapMap:
    """Return the exact swap probabilities if all seats play a strategy [S].

    If a seat may ask, the probability of a swap is conditional on not asking.
    """
    game, seats = load_game(MATCH_GAME).spec, stage.num_players
    action = {text: index for index, text in enumerate(game.actions)}
    part = {part.name: part.slice for part in game.observation(seats)}
    weight = infoset_reach(stage.tree, strategy)
    turn = np.flatnonzero((weight > REACHED) & (stage.masks[:, action["swap"]] == 1))
    observation, weight = stage.observations[turn], weight[turn]
    may_ask = stage.masks[turn, action["ask"]] == 1
    chances = stage.by_action(strategy)[turn]
    ask, swap = chances[:, action["ask"]], chances[:, action["swap"]]
    swap = np.divide(swap, 1.0 - ask, out=np.zeros_like(swap), where=ask < 1.0)
    card = observation[:, part["card"]].argmax(axis=1)
    taken = 1 - observation[:, part["card_dealt"]][:, 0].astype(np.int64)
    place = seats - 1 - observation[:, part["to_come"]].sum(axis=1).astype(np.int64)
    total, reached = np.zeros((2, 3, seats, CARDS))
    asks = np.full(len(turn), ASKS)
    for which, chance, counts in ((taken, swap, ask < 0.999), (asks, ask, may_ask)):
        at = which[counts], place[counts], card[counts]
        np.add.at(total, at, chance[counts] * weight[counts])
        np.add.at(reached, at, weight[counts])
    share = np.divide(total, reached, out=np.full_like(total, np.nan), where=reached > 0)
    return SwapMap(share[0], share[1], share[ASKS, 0])


def swap_heat_map(found: SwapMap) -> str:
    """Plot the swap probabilities by card and position."""
    names = position_names(len(found.dealt))
    labels = [f"{name}, {how}" for how in ("dealt", "taken") for name in names]
    labels.append(f"{names[0]} asks")
    values = np.vstack([found.dealt, found.taken, found.asks])
    # Every position has dealt cards; taken cards and questions are optional.
    shown = np.isfinite(values).any(axis=1) | (np.arange(len(values)) < len(names))
    labels, values = list(compress(labels, shown)), values[shown]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDE, 0.8 + 0.34 * len(labels)), layout="constrained")
        axes = figure.subplots()
        colors = mpl.colormaps[SHARES].with_extremes(bad=NO_DATA)
        image = axes.imshow(
            np.ma.masked_invalid(values), cmap=colors, vmin=0, vmax=1, aspect="auto"
        )
        axes.set_xticks(range(CARDS), KILLE_CODES, fontsize=8)
        axes.set_yticks(range(len(labels)), labels, fontsize=8)
        axes.set_xticks(np.arange(-0.5, CARDS), minor=True)
        axes.set_yticks(np.arange(-0.5, len(labels)), minor=True)
        axes.grid(which="minor", color=PAPER, linewidth=1)
        axes.tick_params(which="both", length=0)
        axes.spines[:].set_visible(False)
        bar = figure.colorbar(
            image, ax=axes, ticks=[0, 0.5, 1], location="right", pad=0.01, aspect=12
        )
        bar.outline.set_visible(False)  # type: ignore[operator]
        return as_svg(figure)


def write_pictures(solution: Solution, folder: Path) -> None:
    """Draw the plots of a new solution into its folder.

    These are convergence.svg for a deal, NashConv over the iterations, and in Byteskille swaps.svg,
    the swap probabilities by card and position.
    """
    if solution.first_hand is None:
        return
    strategy, stage = solution.first_hand
    again = load_game(stage.rules.game).spec.redeals(stage.rules, stage.num_players)
    hands = again + 1 if stage.again.any() else 1
    if solution.settings.game == MATCH_GAME:
        write_whole(folder / "swaps.svg", swap_heat_map(swaps_of(strategy, stage)).encode())
    if solution.progress:
        curves = curves_of(solution.progress, hands)
        picture = convergence(curves, solution.settings.target / hands)
        write_whole(folder / "convergence.svg", picture.encode())


def curves_of(
    progress: Sequence[DealProgress], hands: int
) -> dict[str, tuple[list[int], list[float]]]:
    """Return the iterations and NashConv of each hand by name."""
    curves: dict[str, tuple[list[int], list[float]]] = {}
    for row in progress:
        name = f"after {row.granted} questions" if hands > 1 else "NashConv"
        iterations, found = curves.setdefault(name, ([], []))
        iterations.append(row.iteration)
        found.append(row.nash_conv)
    return curves


def convergence(
    curves: Mapping[str, tuple[Sequence[int], Sequence[float]]], target: float | None = None
) -> str:
    """Plot NashConv over the iterations, both on logarithmic axes."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDE, 3.4), layout="constrained")
        axes = figure.subplots()
        if target is not None:
            axes.axhline(target, color=SOFT, linewidth=0.8, linestyle=DASHED)
        for (name, (iterations, found)), color in zip(curves.items(), cycle(SERIES), strict=False):
            axes.plot(iterations, found, color=color, linewidth=1.6, label=name)
        if curves:  # empty axes cannot be logarithmic
            logarithmic(axes, "xy")
        axes.set_xlabel("iterations")
        axes.set_ylabel("NashConv, units per deal")
        if len(curves) > 1:
            axes.legend(loc="upper right", fontsize=8)
        return as_svg(figure)
