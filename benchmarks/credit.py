"""What it costs to credit the wrong seat: `python benchmarks/credit.py`.

The same learner, with the same hyperparameters and the same number of decisions, plays all seats of
single deals of Byteskille in three ways:

streams     every decision of every seat, one stream per seat;
seats       one seat of each table, with the live policy in the others;
next_seat   a common pattern of tutorials: a step returns the *next* seat's observation with the
            reward of the seat that has just acted.

NashConv is exact, at every point, for greedy and for sampled play. Every finished run is a line of
`--out` and is not repeated, so the benchmark can be stopped and resumed.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from curves import ROOT, Case, Key, deal_of, learn, make_runs
from kille_env.adapters.sb3 import SelfPlayVecEnv
from kille_env.play.policy import UniformPolicy
from kille_training.learn.settings import TrainSettings, load_settings
from kille_training.solving.policies import nash_conv

RECIPE = ROOT / "configs" / "learning" / "credit.yaml"
SEATS = (2, 3)
FORMS = {"streams": "streams", "seats": "seats", "next_seat": "seats"}
"""By way: `learner.form` in the settings."""


class NextSeatVecEnv(SelfPlayVecEnv):
    """The pattern of PettingZoo's tutorials for Stable-Baselines3.

    A step returns the observation and the mask of the seat that acts next, and the reward, in this
    step alone, of the seat that has just acted; the end of the game ends it for all. So the learner
    takes the next seat's prospects for those of the seat before it, and what the others win or lose
    by the last action reaches no seat.
    """

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play the actions; return rewards as the tutorials do."""
        played = self.play(self._actions)
        own = played.rewards[np.arange(self.num_envs), played.seats]
        return self.observe(), own.astype(np.float32), played.ended, played.infos


def next_seat(settings: TrainSettings) -> NextSeatVecEnv:
    """Return the tables of the third way."""
    table = settings.table
    return NextSeatVecEnv(
        table.game,
        settings.hyperparameters().num_tables,
        table.num_players,
        rules=table.resolve(),
        seed=settings.seed,
    )


def cases(seeds: int) -> Iterator[Case]:
    """Yield the runs."""
    recipe = load_settings(RECIPE)
    for seats in SEATS:
        for seed in range(1, seeds + 1):
            for variant, form in FORMS.items():
                learner = {**recipe.learner, "form": form}
                table = replace(recipe.table, num_players=seats)
                key = {"variant": variant, "num_players": seats, "seed": seed}
                yield key, replace(recipe, seed=seed, table=table, learner=learner)


def measure(key: Key, settings: TrainSettings) -> dict[str, Any]:
    """Return NashConv in stakes, of uniform play and at points of a run."""
    deal = deal_of(settings.table)
    uniform = nash_conv(UniformPolicy(), deal).total / deal.rules.number("stake")
    env = next_seat(settings) if key["variant"] == "next_seat" else None
    return {"uniform": uniform, "points": list(learn(settings, env))}


if __name__ == "__main__":
    make_runs(__doc__, "credit", cases, measure)
