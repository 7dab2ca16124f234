"""QR-DQN of sb3-contrib: learns quantiles of what each action brings, and plays by their mean.

One seat of each table learns, and plays the others by its values (`opponents="self"`). It knows no
masks: an illegal action loses the deal, and soon none is chosen.
Returns run to the end of the deal instead of being estimated after one step (`n_steps`).
Measured with stable-baselines3 and sb3-contrib 2.9.2.
"""

import argparse

import torch
from sb3_contrib import QRDQN

from kille_env.sb3 import Anneal, SeatVecEnv
from kille_training import evaluate


def train(
    game: str = "byteskille", num_players: int = 3, decisions: int = 1_100_000, seed: int = 0
) -> QRDQN:
    """Returns a trained model, which is a player."""
    torch.set_num_threads(1)  # more are slower for networks of this size
    venv = SeatVecEnv(game, 512, num_players, episode="deal", opponents="self", illegal="lose")
    model = QRDQN(
        "MlpPolicy",  # 64 and 64 units
        venv,
        buffer_size=300_000,  # older decisions were made against other opponents
        learning_starts=10_000,
        train_freq=4,
        gradient_steps=8,
        batch_size=2048,
        n_steps=10,
        target_update_interval=5_000,
        exploration_fraction=0.9,
        exploration_initial_eps=0.5,  # at all tables at once, or at none
        exploration_final_eps=0.0,
        gamma=1.0,
        learning_rate=4e-3,
        policy_kwargs={"activation_fn": torch.nn.Tanh, "n_quantiles": 10},
        seed=seed,
        device="cpu",
    )
    return model.learn(decisions, callback=Anneal())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=1_100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed)
    print(evaluate(player, *table, episode="deal"))
