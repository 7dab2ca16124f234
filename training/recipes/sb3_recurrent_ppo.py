"""RecurrentPPO of sb3-contrib: a network with an LSTM, which remembers the match so far.

One seat of each table learns, and the network as it stands plays the others (`opponents="self"`),
each with a memory of its own. It knows no action masks: an illegal action loses more than any deal
can, so the network soon leaves them alone. A memory reaches over the hands of a deal, so its exact
NashConv is known only where a deal is a single hand (`fraga: off`).
Measured with stable-baselines3 and sb3-contrib 2.9.2.
"""

import argparse

import torch
from sb3_contrib import RecurrentPPO

from kille_env.sb3 import Anneal, SeatVecEnv
from kille_training import evaluate


def train(
    game: str = "byteskille", num_players: int = 3, decisions: int = 170_000, seed: int = 0
) -> RecurrentPPO:
    """Returns a trained model, which is a player."""
    torch.set_num_threads(1)  # more are slower for networks of this size
    venv = SeatVecEnv(game, 512, num_players, episode="deal", opponents="self", illegal="lose")
    model = RecurrentPPO(
        "MlpLstmPolicy",
        venv,
        n_steps=16,
        batch_size=2048,
        n_epochs=4,
        gamma=1.0,
        gae_lambda=1.0,
        learning_rate=2e-3,
        ent_coef=0.05,
        policy_kwargs={"lstm_hidden_size": 64},
        seed=seed,
        device="cpu",
    )
    return model.learn(decisions, callback=Anneal())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=170_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed)
    print(evaluate(player, *table, episode="deal"))
