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

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from stable_baselines3.common.vec_env import VecEnv

from curves import Journal, learn
from kille_env.adapters.sb3 import SelfPlayVecEnv
from kille_env.play.policy import UniformPolicy
from kille_training.learn.settings import TrainSettings, load_settings
from kille_training.solving.build import build_deal
from kille_training.solving.policies import nash_conv

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "configs" / "learning" / "credit.yaml"


class NextSeatVecEnv(SelfPlayVecEnv):
    """The pattern of PettingZoo's tutorials for Stable-Baselines3.

    A step returns the observation and the mask of the seat that acts next, and the reward, in this
    step alone, of the seat that has just acted; the end of the game ends it for all. So the learner
    takes the next seat's prospects for those of the seat before it, and what the others win or lose
    by the last action reaches no seat.
    """

    def _check_buffer(self) -> None:
        """Accepts any buffer: the result is what is measured here."""


def _next_seat(settings: TrainSettings) -> VecEnv:
    table = settings.table
    return NextSeatVecEnv(
        table.game,
        settings.learner.num_tables,
        table.num_players,
        rules=table.resolve(),
        seed=settings.seed,
    )


VARIANTS: dict[str, tuple[str, Callable[[TrainSettings], VecEnv] | None]] = {
    "streams": ("streams", None),
    "seats": ("seats", None),
    "next_seat": ("seats", _next_seat),
}
"""The form in the settings, and the environment where it is not one of the suite."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--recipe", type=Path, default=RECIPE)
    parser.add_argument("--players", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("runs/credit.jsonl"))
    options = parser.parse_args()
    recipe = load_settings(options.recipe)
    journal = Journal(options.out)
    for players in options.players:
        table = replace(recipe.table, num_players=players)
        deal, uniform = None, 0.0
        for seed in range(1, options.seeds + 1):
            for variant, (form, make) in VARIANTS.items():
                settings = replace(
                    recipe, seed=seed, table=table, learner=replace(recipe.learner, form=form)
                )
                key = {"variant": variant, "num_players": players, "seed": seed}
                if journal.has(key, settings):
                    continue
                if deal is None:
                    deal = build_deal(players, table.resolve())
                    stake = table.resolve().number("stake")
                    uniform = nash_conv(UniformPolicy(), deal).total / stake
                points = list(learn(settings, deal, make(settings) if make else None))
                journal.add(key, settings, uniform=uniform, points=points)
                last = points[-1]
                print(
                    f"{players} seats, seed {seed}, {variant}: NashConv "
                    f"{sum(last['greedy']):.4f} greedy, {sum(last['sampled']):.4f} sampled, "
                    f"after {last['decisions']:,} decisions and {last['seconds']:.0f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
