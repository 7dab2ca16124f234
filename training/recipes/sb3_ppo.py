"""PPO of Stable-Baselines3, for one agent without action masks.

One seat of each table learns, and the current network plays the others (`opponents="self"`). An
illegal action costs more than any deal, so the network soon avoids them.
Measured with stable-baselines3 2.9.2.
"""

import argparse

import torch
from stable_baselines3 import PPO

from kille_env.sb3 import Anneal, SeatVecEnv
from kille_training import evaluate


def train(
    game: str = "byteskille",
    num_players: int = 3,
    decisions: int = 2_000_000,
    seed: int = 0,
) -> PPO:
    """Return a trained model, which is a player."""
    torch.set_num_threads(1)  # more are slower for networks of this size
    venv = SeatVecEnv(game, 1_024, num_players, episode="deal", opponents="self", illegal="lose")
    model = PPO(
        "MlpPolicy",  # 64 and 64 units, tanh
        venv,
        n_steps=8,
        batch_size=2048,
        n_epochs=4,
        gamma=1.0,
        gae_lambda=1.0,
        learning_rate=3e-3,
        ent_coef=0.2,
        seed=seed,
        device="cpu",
    )
    venv.follow(model)  # which plays the other seats
    return model.learn(decisions, callback=Anneal())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed)
    print(evaluate(player, *table, episode="deal"))
