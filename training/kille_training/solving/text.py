"""The strategy of a deal as text, for any game: what its seats do most often."""

from collections.abc import Sequence

import numpy as np

from kille_env.core.spec import Rules
from kille_env.registry import spec
from kille_training.labels import position_names
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.values import NashConv, infoset_reach

SURE = 0.995
"""The probability from which an action counts as certain."""

MOST_SETS = 25
"""Information sets that are shown of each seat: those that come up most often."""


def deal_text(strategies: Sequence[np.ndarray], deal: DealStages, measured: NashConv) -> str:
    """Returns a strategy as Markdown.

    Args:
        strategies: One [S] per stage.
        deal: The deal.
        measured: What its seats earn and could gain.
    """
    stage, strategy = deal.first_stage, strategies[0]
    reach, chances = infoset_reach(stage.tree, strategy), stage.by_action(strategy)
    mixes = reach[chances.max(axis=1) < SURE].sum() / reach.sum()
    lines = heading(
        "a single deal",
        stage.rules,
        measured,
        " per deal: the sum of what the seats could still gain",
        "information sets",
        stage.information_sets,
    )
    lines += [
        "",
        f"{100 * mixes:.1f}% of the decisions that come up are random. For each seat, the "
        f"{MOST_SETS} situations with a choice that come up most often, and how often in a deal; "
        "policy.npz has all of them.",
    ]
    for seat, name in enumerate(position_names(stage.num_players)):
        mine = np.flatnonzero(stage.tree.player == seat)
        often = mine[np.argsort(-reach[mine].round(12), kind="stable")][:MOST_SETS]
        lines += ["", f"## {name.capitalize()}", ""]
        lines += [
            _line(stage, number, float(reach[number]), chances[number]) for number in often.tolist()
        ]
    return "\n".join(lines) + "\n"


def _line(stage: Stage, number: int, reach: float, chances: np.ndarray) -> str:
    """Returns what is done in an information set."""
    actions, best = spec(stage.rules.game).actions, int(chances.argmax())
    if chances[best] >= SURE:
        choice = actions[best]
    else:
        likely = np.flatnonzero(chances >= 1 - SURE)
        choice = " or ".join(f"{actions[one]} {100 * chances[one]:.0f}%" for one in likely)
    return f"- {stage.describe(number)} ({100 * reach:.2f}%): **{choice}**"


def heading(
    what: str, rules: Rules, measured: NashConv, nash_conv: str, known: str, sets: Sequence[int]
) -> list[str]:
    """Returns the title of a strategy and the table of its seats, as lines of Markdown.

    Args:
        what: What is played.
        rules: Its rules.
        measured: What its seats earn and could gain.
        nash_conv: What NashConv means here.
        known: The title of the last column.
        sets: [P], the information sets of each seat.
    """
    lines = [
        f"# {spec(rules.game).title}, {what} with {len(sets)} seats",
        "",
        f"Rules: {rules_text(rules)}.",
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


def rules_text(rules: Rules) -> str:
    """Returns a preset and the switches that differ from it."""
    game = spec(rules.game)
    preset = str(rules["preset"])
    base = game.resolve(preset, episode=rules["episode"]).as_dict()
    other = [
        f"{name} {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in rules.as_dict().items()
        if base[name] != value
    ]
    return ", ".join([preset, *other])
