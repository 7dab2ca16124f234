"""Learned against exact best responses: `python benchmarks/calibration.py`.

Frozen players of single deals of Byteskille, good and bad ones, at two, three and four seats:
uniform play, several thresholds, a mixture, partly trained networks, and averages of a few
iterations of CFR. A response to each is learned (see `kille_training.learn.best_response`), and its
gain by seat is compared with the exact one. Every finished player is a line of `--out` and is not
repeated.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import numpy as np

from journal import Case, Key, make_runs
from kille_agents.rules_of_thumb.byteskille import ByteskilleRuleOfThumb
from kille_env.play.policy import ObservationPolicy, Policy, UniformPolicy
from kille_env.registry import Table, spec
from kille_training.learn.best_response import Search, search_response
from kille_training.learn.method import settings_of
from kille_training.learn.methods.maskable_ppo import Learner
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import nash_conv, policy_of
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.sequence_game import SequenceGame

SEARCH = Search(decisions=150_000, seeds=2, choice_deals=10_000, deals=40_000)
STAND_ALWAYS, SWAP_ALWAYS = 0, 20  # thresholds reached by every card, and by the best one only
LEARNER = {"ent_coef": 0.1, "ent_coef_end": 0.01}
LEARNT = (16_384, 65_536, 262_144)
ITERATIONS = (2, 10)


class Blend(ObservationPolicy):
    """A random choice of one of two policies at every decision."""

    def __init__(self, first: ObservationPolicy, second: ObservationPolicy, share: float) -> None:
        self.first, self.second, self.share = first, second, share
        self.name = f"{first.name} and {second.name}"

    def probabilities(  # noqa: D102 - see Policy
        self, observation: np.ndarray, mask: np.ndarray
    ) -> np.ndarray:
        first = self.first.probabilities(observation, mask)
        return self.share * first + (1 - self.share) * self.second.probabilities(observation, mask)


Made = dict[str, Callable[[], Policy]]


def players(deal: DealStages) -> Made:
    """Return functions that make the frozen players of a table, by name."""
    seats, rules = deal.num_players, deal.stages[0].rules
    usual = ByteskilleRuleOfThumb(seats, rules)

    def thresholds(values: np.ndarray) -> Callable[[], Policy]:
        return lambda: ByteskilleRuleOfThumb(seats, rules, values.clip(STAND_ALWAYS, SWAP_ALWAYS))

    made: Made = {
        "uniform": UniformPolicy,
        "thresholds": lambda: usual,
        "thresholds, 3 higher": thresholds(usual.thresholds + 3),
        "three quarters thresholds, one uniform": lambda: Blend(usual, UniformPolicy(), 0.75),
    }
    if seats == 4:
        return made
    made |= {
        "thresholds, 3 lower": thresholds(usual.thresholds - 3),
        "stands with anything": thresholds(np.full_like(usual.thresholds, STAND_ALWAYS)),
        "swaps nearly anything": thresholds(np.full_like(usual.thresholds, SWAP_ALWAYS)),
    }
    for decisions in LEARNT:
        made[f"network, {decisions:,} decisions"] = lambda at=decisions: _networks(seats)[at]
    for count in ITERATIONS:
        made[f"CFR+, {count} iterations"] = lambda many=count: _average(many, deal)
    return made


@cache
def _networks(seats: int) -> dict[int, Policy]:
    """Return partly trained networks of one run."""
    settings = settings_of("maskable_ppo", LEARNER)
    learner, found = Learner(Table.of("byteskille", seats), 1, settings), {}
    for decisions in LEARNT:
        while learner.decisions < decisions:
            learner.update(lambda: 1.0 - learner.decisions / LEARNT[-1])
        found[decisions] = learner.policy(f"network after {decisions:,}")
    return found


def _average(iterations: int, deal: DealStages) -> Policy:
    """Return the average strategy of a few iterations in each stage."""

    def solve(_: Stage, tree: SequenceGame) -> np.ndarray:
        solver = CFR(tree, "cfr+")
        solver.run(iterations)
        return solver.average

    return policy_of(deal.backwards(solve), deal, f"CFR+ after {iterations}")


@cache
def deal_of(seats: int) -> DealStages:
    """Return the trees of a deal by the default rules."""
    return build_deal(seats, spec("byteskille").resolve(episode="deal"))


def cases(seeds: int) -> Iterator[Case]:
    """Yield the players; the seeds are the search's."""
    for seats in (2, 3, 4):
        for name in players(deal_of(seats)):
            yield {"player": name, "num_players": seats}, replace(SEARCH, seeds=seeds)


def measure(key: Key, search: Search) -> dict[str, Any]:
    """Return the exact and the learned gains against a player, by seat."""
    seats = key["num_players"]
    deal = deal_of(seats)
    policy = players(deal)[key["player"]]()
    found = search_response(policy, seats, deal.rules, search)
    return {
        "stake": deal.rules.number("stake"),
        "exact": nash_conv(policy, deal).improvement.tolist(),
        "found": [asdict(gain) for gain in found.gains],
        "seconds": round(found.seconds, 1),
    }


if __name__ == "__main__":
    make_runs(__doc__, "calibration", cases, measure, seeds=SEARCH.seeds)
