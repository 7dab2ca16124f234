"""Gain of two colluding seats of three, in units: `python benchmarks/collusion.py`.

Two seats with shared information are one player with perfect recall and joint earnings, so its best
response to the fixed third seat is exact. Prints the table of docs/statistics.md, in units per
deal, without sampling.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from kille_agents.catalog import load_policy, rule_of_thumb
from kille_env.core.spec import Rules
from kille_env.play.policy import Policy, UniformPolicy
from kille_env.registry import spec
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import nash_conv_of, strategies_of
from kille_training.solving.stages import DealStages
from kille_training.solving.trees.values import best_response
from markdown_tables import table

SEATS = 3
ROUNDS = 100  # maximum number of alternating best responses; they converge far earlier
SMALLEST_GAIN = 1e-12


class Earnings(NamedTuple):
    """Joint earnings of two seats, in units per deal."""

    own: float  # under their own policies
    selfish: float  # `own`, plus the gain of each by its best response to the others' policies
    agreed: float  # under strategies for joint earnings with separate information; a lower bound
    shared: float  # under the best response of both together, with joint information


def earnings(
    policy: Policy,
    pair: tuple[int, int],
    rules: Rules,
    cards: Sequence[str] = (),
    num_players: int = SEATS,
) -> Earnings:
    """Return the joint earnings of two seats under one policy.

    Args:
        policy: The policy of all seats.
        pair: The two seats, ascending; forehand is 0.
        rules: Rules of single deals.
        cards: Codes of a smaller pack, for checks.
        num_players: P.
    """
    deal = build_deal(num_players, rules, cards=cards)
    strategies = strategies_of(policy, deal)
    measured = nash_conv_of(strategies, deal)
    own = float(measured.values[list(pair)].sum())
    together = build_deal(num_players, rules, cards=cards, shared=pair)
    both = num_players - 2  # the players are the other seats, then the two
    return Earnings(
        own=own,
        selfish=own + float(measured.improvement[list(pair)].sum()),
        agreed=max(_agree(strategies, deal, order, pair) for order in (pair, pair[::-1])),
        shared=_respond(strategies_of(policy, together), together, both, (both,))[1],
    )


def _agree(
    strategies: Sequence[np.ndarray],
    deal: DealStages,
    order: tuple[int, ...],
    pair: tuple[int, ...],
) -> float:
    """Return the joint earnings of two seats after alternating best responses for both."""
    strategies, value = list(strategies), -np.inf
    for turn in range(ROUNDS):
        strategies, found = _respond(strategies, deal, order[turn % 2], pair)
        if turn > 1 and found <= value + SMALLEST_GAIN:
            break
        value = found
    return value


def _respond(
    strategies: Sequence[np.ndarray], deal: DealStages, player: int, purse: tuple[int, ...]
) -> tuple[list[np.ndarray], float]:
    """Return the strategies after a player's best response for a purse, and its value."""
    found, value = [], 0.0
    for stage, strategy in zip(reversed(deal.stages), reversed(strategies), strict=True):
        payoff = stage.tree.payoff.copy()
        payoff[:, player] = stage.tree.payoff[:, list(purse)].sum(axis=1) + value * stage.again
        answer = best_response(stage.tree._replace(payoff=payoff), strategy, player)
        found.append(answer.strategy)
        value = answer.value
    return found[::-1], value


def main() -> None:
    """Print the table."""
    rules = spec("byteskille").resolve({"episode": "deal"})
    players = [
        UniformPolicy(),
        rule_of_thumb(SEATS, rules),
        load_policy("byteskille/solved", "byteskille", SEATS, rules),
    ]
    rows = []
    for player in players:
        for pair in combinations(range(SEATS), 2):
            units = earnings(player, pair, rules)
            where = " and ".join(("forehand", "middle", "dealer")[seat] for seat in pair)
            gains = (f"{units.shared - part:.4f}" for part in (units.own, units.agreed))
            rows.append([player.name, where, *(f"{value:+.4f}" for value in units), *gains])
    head = ["players", "colluding", *Earnings._fields, "gain", "from sharing"]
    print(table(head, rows), "\n")


if __name__ == "__main__":
    main()
