"""DQN of Stable-Baselines3 for one seat of each table, with itself in the other seats.

It has no masks: an illegal action loses the deal, and soon none is chosen. The trap: the library
explores with all tables at once or with none. Minibatches are large and the learning rate falls to
0, because returns of single deals are noisy.
Measured with stable-baselines3 2.9.2.
"""

import argparse

import torch
from stable_baselines3 import DQN

from kille_env.sb3 import Anneal, SeatVecEnv
from kille_training import evaluate


def train(
    game: str = "byteskille",
    num_players: int = 3,
    decisions: int = 1_100_000,
    seed: int = 0,
) -> DQN:
    """Return a trained model, which is a player."""
    torch.set_num_threads(1)  # more are slower for networks of this size
    venv = SeatVecEnv(game, 512, num_players, episode="deal", opponents="self", illegal="lose")
    model = DQN(
        "MlpPolicy",  # 64 and 64 units
        venv,
        buffer_size=300_000,
        learning_starts=10_000,
        train_freq=4,
        gradient_steps=8,
        batch_size=2048,
        n_steps=10,  # a whole deal: no bootstrapping
        target_update_interval=5_000,
        exploration_fraction=0.9,
        exploration_initial_eps=0.5,
        exploration_final_eps=0.0,
        gamma=1.0,
        learning_rate=4e-3,
        policy_kwargs={"activation_fn": torch.nn.Tanh},
        seed=seed,
        device="cpu",
    )
    venv.follow(model)  # which plays the other seats
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
