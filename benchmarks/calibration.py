"""How much of the possible gain learning finds: `python benchmarks/calibration.py`.

Frozen players of single deals of Byteskille, good and bad ones, at two, three and four seats:
uniform play, thresholds of several kinds, a mixture, networks that have learnt for a while, and
averages of a few iterations of CFR. For each of them a response is learnt (see
`kille_training.learn.best_response`), and beside its gain by seat stands the exact one. Every
finished player is a line of `--out` and is not repeated.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from curves import Journal
from kille_agents.rules_of_thumb.byteskille import ByteskilleRuleOfThumb
from kille_env.core.spec import Rules
from kille_env.play.policy import Policy, UniformPolicy
from kille_env.registry import Table, spec
from kille_training.learn.best_response import LEARNER, Search, search_response
from kille_training.learn.methods.maskable_ppo import Learner
from kille_training.learn.settings import load_settings
from kille_training.solving.build import build_deal
from kille_training.solving.policies import nash_conv, policy_of
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.values import Tree

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "configs" / "learning" / "credit.yaml"
STAND_ALWAYS, SWAP_ALWAYS = 0, 20  # thresholds that every card reaches, and only the best one
LEARNT = (16_384, 65_536, 262_144)
ITERATIONS = (2, 10)


class Blend:
    """Plays by one policy or the other, drawn at every decision."""

    def __init__(self, first: Policy, second: Policy, share: float) -> None:
        self.first, self.second, self.share = first, second, share
        self.name = f"{first.name} and {second.name}"

    def probabilities(  # noqa: D102 - see Policy
        self, observation: np.ndarray, mask: np.ndarray
    ) -> np.ndarray:
        first = self.first.probabilities(observation, mask)
        return self.share * first + (1 - self.share) * self.second.probabilities(observation, mask)


Made = dict[str, Callable[[], Policy]]


def players(deal: DealStages) -> Made:
    """Returns the frozen players of a table by name, each made when it is asked for."""
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
    learnt: dict[int, Policy] = {}
    for decisions in LEARNT:
        made[f"network, {decisions:,} decisions"] = lambda at=decisions: _network(at, deal, learnt)
    for count in ITERATIONS:
        made[f"CFR+, {count} iterations"] = lambda many=count: _average(many, deal)
    return made


def _network(decisions: int, deal: DealStages, learnt: dict[int, Policy]) -> Policy:
    """Returns a network that has learnt for a while; all of them come from one run."""
    if not learnt:
        learnt.update(_train(deal.num_players, deal.stages[0].rules))
    return learnt[decisions]


def _train(seats: int, rules: Rules) -> Iterator[tuple[int, Policy]]:
    recipe = load_settings(RECIPE)
    learner = Learner(Table.of("byteskille", seats, rules), recipe.seed, recipe.learner)
    for decisions in LEARNT:
        while learner.decisions < decisions:
            learner.update(lambda: 1.0 - learner.decisions / LEARNT[-1])
        yield decisions, learner.policy(f"network after {decisions:,}")


def _average(iterations: int, deal: DealStages) -> Policy:
    """Returns the average strategy of a few iterations in each stage."""

    def solve(_: Stage, tree: Tree) -> np.ndarray:
        solver = CFR(tree, "cfr+")
        solver.run(iterations)
        return solver.average

    return policy_of(deal.backwards(solve), deal, f"CFR+ after {iterations}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--players", type=int, nargs="+", default=[2, 3, 4], choices=[2, 3, 4])
    parser.add_argument("--decisions", type=int, default=150_000, help="of each learner")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--deals", type=int, default=40_000)
    parser.add_argument("--out", type=Path, default=Path("runs/calibration.jsonl"))
    options = parser.parse_args()
    search = Search(
        learner=replace(LEARNER, decisions=options.decisions),
        seeds=options.seeds,
        choice_deals=options.deals // 4,
        deals=options.deals,
    )
    journal = Journal(options.out)
    for seats in options.players:
        rules = spec("byteskille").resolve()
        deal = build_deal(seats, rules)
        for name, make in players(deal).items():
            key = {"player": name, "num_players": seats}
            if journal.has(key, search):
                continue
            policy = make()
            exact = nash_conv(policy, deal).improvement
            found = search_response(policy, seats, rules, search)
            journal.add(
                key,
                search,
                stake=rules.number("stake"),
                exact=exact.tolist(),
                found=[asdict(gain) for gain in found.gains],
                seconds=round(found.seconds, 1),
            )
            told = "   ".join(
                f"{gain} of {most:.4f}" for gain, most in zip(found.gains, exact, strict=True)
            )
            print(f"{seats} seats, {name}: {told}", flush=True)


if __name__ == "__main__":
    main()
