"""MaskablePPO of sb3-contrib: every decision of every seat trains one network, with action masks.

`SelfPlayVecEnv` yields the decisions of all seats in the order of play. `SeatPPO` is MaskablePPO
with the earnings of the acting seat as its return; MaskablePPO itself would bootstrap from the next
seat's value, and is refused. Rewards are not discounted, and the learning rate and the entropy
bonus fall to 0.
Measured with stable-baselines3 and sb3-contrib 2.9.2.
"""

import argparse

import torch

from kille_env.sb3 import Anneal, SeatPPO, SelfPlayVecEnv
from kille_training import evaluate


def train(
    game: str = "byteskille", num_players: int = 3, decisions: int = 2_000_000, seed: int = 0
) -> SeatPPO:
    """Return a trained model, which is a player."""
    torch.set_num_threads(1)  # more are slower for networks of this size
    venv = SelfPlayVecEnv(game, 512, num_players, episode="deal")
    model = SeatPPO(
        "MlpPolicy",  # 64 and 64 units, tanh
        venv,
        n_steps=16,
        batch_size=2048,
        n_epochs=4,
        gamma=1.0,
        gae_lambda=1.0,
        learning_rate=2e-3,
        ent_coef=0.1,
        seed=seed,
        device="cpu",
    )
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
