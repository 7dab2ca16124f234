"""Which form of seat streams learns faster: `python benchmarks/seat_streams.py --seconds 60`.

Both forms train the same recipe on single deals for the same time of learning (playing and
updating, one thread); the optimiser's step size and the entropy bonus shrink over that time as they
do in a run. Then the policy is measured against the rule of thumb over the same duplicate deals.
The form that earns more is the default of `learner.form`.
"""

import argparse
import time
from typing import Literal

from kille_agents import ByteskilleRuleOfThumb
from kille_agents.greedy import PLAYS
from kille_training.evaluation.duplicate import payoff
from kille_training.learn.methods.maskable_ppo import Learner
from kille_training.learn.runs import versions
from kille_training.learn.settings import LearnerSettings, TableSettings, TrainSettings

FORMS: dict[Literal["streams", "seats"], str] = {
    "seats": "one seat, live policy",
    "streams": "all seats, streams",
}


def learn(settings: TrainSettings, seconds: float, deals: int) -> tuple[int, list[str]]:
    """Trains for some seconds; returns the decisions and the earnings of both ways to play."""
    table = settings.table.table()
    learner = Learner(table, settings.seed, settings.learner)
    began = time.perf_counter()
    while learner.left > 0.0:
        learner.update(lambda: max(0.0, 1.0 - (time.perf_counter() - began) / seconds))
    policy, rules = learner.policy("learned"), table.rules
    baseline = ByteskilleRuleOfThumb(table.num_players, rules)
    rows = [
        payoff(policy, baseline, table.num_players, rules, play=play, deals=deals, seed=77)
        for play in PLAYS
    ]
    return learner.decisions, [str(row.estimate) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="of learning, each")
    parser.add_argument("--players", type=int, nargs="+", default=[2, 3, 5, 13])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--deals", type=int, default=20_000)
    options = parser.parse_args()
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    print("| seats | form | seed | decisions/s | greedy, units per deal | sampled |")
    print("|---|---|---|---|---|---|")
    for players in options.players:
        for seed in range(1, options.seeds + 1):
            for form, words in FORMS.items():
                settings = TrainSettings(
                    seed=seed,
                    table=TableSettings(num_players=players),
                    learner=LearnerSettings(form=form),
                )
                decisions, earned = learn(settings, options.seconds, options.deals)
                speed = f"{decisions / options.seconds:,.0f}"
                print(
                    f"| {players} | {words} | {seed} | {speed} | {' | '.join(earned)} |", flush=True
                )


if __name__ == "__main__":
    main()
