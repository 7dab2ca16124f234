"""Strategies as text: the most frequent decisions of a deal, or of the first hand of a pot."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from kille_env.core.spec import Rules
from kille_env.registry import Table, load_game, spec
from kille_training.labels import position_names
from kille_training.solving.byteskille.match_solving import match_length
from kille_training.solving.byteskille.matches import Match, MatchStrategy
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.values import NashConv, infoset_reach

SURE = 0.995  # minimum probability of an action that counts as certain
MOST_SETS = 25  # number of information sets shown per seat, the most frequent ones


def deal_text(strategies: Sequence[np.ndarray], deal: DealStages, measured: NashConv) -> str:
    """Return a strategy as Markdown."""
    stage, again = deal.first_stage, len(deal.stages) - 1
    lines = _heading(
        "a single deal",
        stage.rules,
        measured,
        " per deal: the sum of what the seats could still gain",
        "information sets of a hand" if again else "information sets",
        stage.information_sets,
    )
    lines += ["", *_most_frequent(strategies[0], stage)]
    if again:
        lines += [
            "",
            f"This is the first hand. Questions can be granted {again} times, and each new hand is "
            "a game of its own; policy.npz has them all.",
        ]
    return "\n".join(lines) + "\n"


def match_text(strategy: MatchStrategy, match: Match, measured: NashConv) -> str:
    """Return the play of the first hand of a match as Markdown."""
    lines = _heading(
        "a whole pot",
        match.rules,
        measured,
        f", {measured.total / match.pot:.2g} of the first pot: the sum of what the seats could "
        "still gain in the match",
        "information sets",
        match.information_sets,
    )
    buys = [float(buys.max(initial=0.0)) for buys in strategy.buys]
    hands, _ = match_length(strategy, match)
    lines += [
        "",
        f"A match has {len(match.states):,} states, tables at which a hand is dealt, and lasts "
        f"{hands:.2f} hands. Seats buy in after {sum(most >= 0.5 for most in buys):,} of "
        "these states, if at all. This is the first hand.",
        "",
        *_most_frequent(strategy.hands[0], match.first_stage),
    ]
    return "\n".join(lines) + "\n"


def _most_frequent(strategy: np.ndarray, stage: Stage) -> list[str]:
    """Return the most frequent decisions as lines of Markdown."""
    reach, chances = infoset_reach(stage.tree, strategy), stage.by_action(strategy)
    mixes = reach[chances.max(axis=1) < SURE].sum() / reach.sum()
    lines = [
        f"{100 * mixes:.1f}% of the decisions that come up are random. For each seat, the "
        f"{MOST_SETS} situations with a choice that come up most often, and how often in a hand; "
        "policy.npz has all of them.",
    ]
    positions: Any = stage.positions
    text = load_game(stage.rules.game).action_text
    for seat, name in enumerate(position_names(stage.num_players)):
        mine = np.flatnonzero(stage.seats == seat)
        often = mine[np.argsort(-reach[mine].round(12), kind="stable")][:MOST_SETS]
        lines += ["", f"## {name.capitalize()}", ""]
        lines += [
            f"- {stage.describe(number)} ({100 * reach[number]:.2f}%): "
            f"**{choice_text(chances[number], partial(text, positions[number]))}**"
            for number in often.tolist()
        ]
    return lines


def choice_text(chances: Sequence[float] | np.ndarray, text: Callable[[int], str]) -> str:
    """Return choices as text; `text` maps an action to its name."""
    best = int(np.argmax(chances))
    if chances[best] >= SURE:
        return text(best)
    likely = [pair for pair in enumerate(chances) if pair[1] >= 1 - SURE]
    return " or ".join(f"{text(action)} {100 * chance:.0f}%" for action, chance in likely)


def _heading(
    what: str, rules: Rules, measured: NashConv, nash_conv: str, known: str, sets: Sequence[int]
) -> list[str]:
    """Return the title and the table of seats of a strategy, as lines of Markdown."""
    lines = [
        f"# {spec(rules.game).title}, {what} with {len(sets)} seats",
        "",
        f"{Table.of(rules.game, len(sets), rules)}.",
        "",
        f"NashConv {measured.total:.2g} units{nash_conv}, each by its best response.",
        "",
        f"| seat | earns | could gain | {known} |",
        "|---|---|---|---|",
    ]
    names = position_names(len(sets))
    gains = measured.improvement.clip(0.0)  # rounding falls below
    for row in zip(names, measured.values, gains, sets, strict=True):
        lines.append("| {} | {:+.6f} | {:.1g} | {:,} |".format(*row))
    return lines
