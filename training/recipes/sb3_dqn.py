"""DQN of Stable-Baselines3: one seat of each table learns values, and plays the others by them.

`BestLegalAction` replaces an illegal choice by the legal action of the highest value. The trap is
the loss: it is Huber's, squared only where errors are below 1. With rewards of several units it
finds something like the median of what may come instead of the mean, so rewards are scaled to
differences of 1 at most. Exploring is a step of all tables at once in this library, not of each
by itself.
Measured with stable-baselines3 2.9.2.
"""

import torch
from stable_baselines3 import DQN
from stable_baselines3.common.vec_env import VecEnvWrapper

from kille_env.sb3 import Anneal, BestLegalAction, SeatVecEnv
from kille_training.cli.recipe import run


class ScaledRewards(VecEnvWrapper):
    """Divides rewards by the difference between the largest and the smallest."""

    def __init__(self, venv):
        super().__init__(venv)
        batch = venv.unwrapped.tables.batch
        low, high = batch.spec.reward_range(batch.rules, batch.num_players)
        self.range = high - low

    def reset(self):
        """Returns the first observations."""
        return self.venv.reset()

    def step_wait(self):
        """Plays the actions."""
        observation, reward, done, info = self.venv.step_wait()
        return observation, reward / self.range, done, info


def train(
    game: str = "byteskille", num_players: int = 3, decisions: int = 1_200_000, seed: int = 0
) -> DQN:
    """Returns a trained model, which is a player."""
    torch.set_num_threads(1)  # more are slower for networks of this size
    tables = SeatVecEnv(game, 512, num_players, episode="deal", opponents="self")
    model = DQN(
        "MlpPolicy",
        ScaledRewards(BestLegalAction(tables)),
        buffer_size=300_000,
        learning_starts=20_000,
        train_freq=4,
        gradient_steps=4,
        batch_size=4096,
        target_update_interval=5_000,
        exploration_fraction=0.9,
        exploration_initial_eps=0.5,
        exploration_final_eps=0.02,
        gamma=1.0,
        learning_rate=2e-3,
        policy_kwargs={"activation_fn": torch.nn.Tanh},
        seed=seed,
        device="cpu",
    )
    return model.learn(decisions, callback=Anneal())


if __name__ == "__main__":
    run(train)
