"""Gain of two colluding seats of three, in units: `python benchmarks/collusion.py`.

Two seats with shared information are one player with perfect recall and joint earnings, so its best
response to the fixed third seat is exact. Prints the table of docs/statistics.md, in units per
deal, without sampling.
"""

from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from kille_agents.catalog import load_policy, rule_of_thumb
from kille_env.play.policy import Policy, UniformPolicy
from kille_env.registry import spec
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import nash_conv_of, strategies_of
from kille_training.solving.stages import DealStages
from kille_training.solving.trees.sequence_game import SequenceGame
from kille_training.solving.trees.values import best_response, normalised
from markdown_tables import table

SEATS = 3
ROUNDS = 100  # maximum number of alternating best responses; they converge far earlier
SMALLEST_GAIN = 1e-12
Hand = tuple[SequenceGame, np.ndarray]
"""A tree, and how often each of its payoffs deals again."""


class Earnings(NamedTuple):
    """Joint earnings of two seats, in units per deal."""

    own: float  # under their own policies
    selfish: float  # `own`, plus the gain of each by its best response to the others' policies
    agreed: float  # under strategies for joint earnings with separate information; a lower bound
    shared: float  # under the best response of both together, with joint information


def earnings(
    policy: Policy, pair: tuple[int, int], deal: DealStages, cards: Sequence[str] = ()
) -> Earnings:
    """Return the joint earnings of two seats under one policy.

    Args:
        policy: The policy of all seats.
        pair: The two seats, ascending; forehand is 0.
        deal: The deal.
        cards: Codes of its pack, if that is smaller than the game's.
    """
    strategies = strategies_of(policy, deal)
    measured = nash_conv_of(strategies, deal)
    own = float(measured.values[list(pair)].sum())
    together = build_deal(deal.num_players, deal.rules, cards=cards, shared=pair)
    return Earnings(
        own=own,
        selfish=own + float(measured.improvement[list(pair)].sum()),
        agreed=agreed(strategies, hands_of(deal), pair),
        shared=shared(strategies_of(policy, together), hands_of(together)),
    )


def hands_of(deal: DealStages) -> list[Hand]:
    """Return the hands of a deal."""
    return [(stage.tree, stage.again) for stage in deal.stages]


def agreed(
    strategies: Sequence[np.ndarray], hands: Sequence[Hand], pair: tuple[int, int], starts: int = 1
) -> float:
    """Return the joint earnings of two seats after alternating best responses for both.

    They are the best of some starts: the seats' own strategies, then random ones.
    """
    best = -np.inf
    for start, order in product(range(starts), (pair, pair[::-1])):
        random, begin = np.random.default_rng(start), list(strategies)
        for number, (tree, _) in enumerate(hands if start else ()):
            drawn = normalised(tree, random.exponential(size=tree.num_sequences))
            theirs = np.isin(np.repeat(tree.player, np.diff(tree.first)), pair)
            begin[number] = np.where(theirs, drawn, begin[number])
        best = max(best, _agree(begin, hands, order, pair))
    return best


def shared(strategies: Sequence[np.ndarray], hands: Sequence[Hand]) -> float:
    """Return the earnings of the last player, two seats as one, by its best response."""
    both = hands[0][0].num_players - 1
    return _respond(strategies, hands, both, (both,))[1]


def _agree(
    strategies: Sequence[np.ndarray],
    hands: Sequence[Hand],
    order: tuple[int, ...],
    pair: tuple[int, ...],
) -> float:
    """Return the joint earnings after alternating best responses, beginning with the first."""
    strategies, value = list(strategies), -np.inf
    for turn in range(ROUNDS):
        strategies, found = _respond(strategies, hands, order[turn % 2], pair)
        if turn > 1 and found <= value + SMALLEST_GAIN:
            break
        value = found
    return value


def _respond(
    strategies: Sequence[np.ndarray], hands: Sequence[Hand], player: int, purse: tuple[int, ...]
) -> tuple[list[np.ndarray], float]:
    """Return the strategies after a player's best response for a purse, and its value."""
    found, value = [], 0.0
    for (tree, again), strategy in zip(reversed(hands), reversed(strategies), strict=True):
        payoff = tree.payoff.copy()
        payoff[:, player] = tree.payoff[:, list(purse)].sum(axis=1) + value * again
        answer = best_response(tree._replace(payoff=payoff), strategy, player)
        found.append(answer.strategy)
        value = answer.value
    return found[::-1], value


def main() -> None:
    """Print the table."""
    rules = spec("byteskille").resolve({"episode": "deal"})
    deal = build_deal(SEATS, rules)
    players = [
        UniformPolicy(),
        rule_of_thumb(SEATS, rules),
        load_policy("byteskille/solved", "byteskille", SEATS, rules),
    ]
    rows = []
    for player in players:
        for pair in combinations(range(SEATS), 2):
            units = earnings(player, pair, deal)
            where = " and ".join(("forehand", "middle", "dealer")[seat] for seat in pair)
            gains = (f"{units.shared - part:.4f}" for part in (units.own, units.agreed))
            rows.append([player.name, where, *(f"{value:+.4f}" for value in units), *gains])
    head = ["players", "colluding", *Earnings._fields, "gain", "from sharing"]
    print(table(head, rows), "\n")


if __name__ == "__main__":
    main()
