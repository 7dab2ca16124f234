"""AgileRL's PPO in self-play, on decisions of all seats that are collected outside AgileRL.

    pip install ".[train]" "agilerl>=2.58" "peft>=0.21"

The trap: AgileRL's `collect_rollouts` stores the end of episodes, and its buffer reads it as their
beginning. So the last decision of a deal is credited with the value of the next deal, and a policy
of single deals hardly learns. Here the collector of this suite and GAE along each seat's own
trajectory prepare the experience for `PPO.learn`. Measured with
agilerl 2.58.0 (needs peft as well), tensordict 0.13.0, torch 2.13.0 and pettingzoo 1.26.1.
"""

import argparse
from typing import Any

import numpy as np
import torch
from agilerl.algorithms import PPO
from gymnasium import spaces
from tensordict import TensorDict

import kille_env
from kille_env import Collector, LiveOpponent
from kille_training import evaluate

TABLES, STEPS = 512, 32
NETWORK = {"hidden_size": [64], "activation": "Tanh", "layer_norm": False}


def train(
    game: str = "byteskille", num_players: int = 3, decisions: int = 2_300_000, seed: int = 0
) -> LiveOpponent:
    """Return the trained policy, a player."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)  # AgileRL shuffles with it
    batch = kille_env.make_batch(game, TABLES, num_players, episode="deal", seed=seed)
    agent = PPO(
        spaces.Box(0.0, 1.0, batch.observation.shape[1:], np.float32),
        spaces.Discrete(batch.spec.num_actions),
        net_config={"latent_dim": 64, "encoder_config": NETWORK, "head_config": NETWORK},
        share_encoders=False,
        batch_size=4_096,
        update_epochs=3,
    )

    def logits(observation: np.ndarray, mask: np.ndarray) -> Any:
        with torch.no_grad():
            seen = agent.actor.extract_features(torch.from_numpy(observation))
            return agent.actor.head_net.wrapped(seen)

    def values(observation: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return agent.critic(torch.from_numpy(observation)).squeeze(-1).numpy()

    player = LiveOpponent(logits, returns="logits", observation="float")
    collector = Collector(batch, player, seed=seed)
    iterations = max(1, decisions // (TABLES * STEPS))
    for iteration in range(iterations):
        left = 1 - iteration / iterations
        agent.ent_coef = 0.05 * left  # a remaining bonus would move every mixture
        for group in agent.optimizer.optimizer.param_groups:
            group["lr"] = 2e-3 * left
        found = collector.collect(STEPS)
        valued = values(found.observation)
        gains = found.advantages(valued, values(found.next_observation))
        columns = {
            "observations": found.observation,
            "actions": found.action[:, None],
            "log_probs": found.log_probability.astype(np.float32),
            "advantages": gains.astype(np.float32),  # AgileRL standardizes them
            "returns": (gains + valued).astype(np.float32),
            "values": valued,
            "action_masks": found.mask.astype(bool),
        }
        columns = {name: torch.from_numpy(column) for name, column in columns.items()}
        agent.learn(TensorDict(columns, len(gains)))
    return player


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=2_300_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed)
    print(evaluate(player, *table, episode="deal"))
