"""MAPPO: PPO with a central critic, on `kille_env.collect(..., full_state=True)`.

Needs torch (2.13). The actor reads the observation of its seat, the critic the full state, all
cards included, from that seat's view, which reduces the variance. Yu et al., The Surprising
Effectiveness of PPO in Cooperative Multi-Agent Games, arXiv 2103.01955, 2022, also clip and
normalize values; units are small here. The trap: a central critic sees hidden information, so it
must never be part of a policy. It uses one core.
"""

import argparse

import numpy as np
import torch
from torch import nn

from kille_env import LiveOpponent, collect, make_batch
from kille_training import evaluate

PARTS, EPOCHS, RATE, ENTROPY, CLIP = 4, 4, 2e-3, 0.1, (0.8, 1.2)


def network(inputs, outputs):
    """Return a perceptron of two hidden layers."""
    layers = nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    return nn.Sequential(*layers)


def train(game="byteskille", num_players=3, decisions=2_700_000, seed=0, tables=2048):
    """Train on single deals; return a player."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    batch = make_batch(game, tables, num_players, episode="deal", seed=seed)
    parts = batch.spec.full_state(num_players)
    scale = torch.as_tensor(
        np.concatenate([np.full(p.size, 1 / p.high, np.float32) for p in parts])
    )
    actor = network(batch.observation.shape[1], batch.spec.num_actions)
    critic = network(len(scale), 1)
    weights = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(weights, eps=1e-5)

    def log_probabilities(observation, mask):
        return actor(observation).masked_fill(mask == 0, -1e9).log_softmax(1)

    @torch.no_grad()
    def policy(observation, mask):
        seen, legal = torch.as_tensor(observation), torch.as_tensor(mask)
        return log_probabilities(seen, legal).double().softmax(1)

    done = 0
    while (left := 1 - done / decisions) > 0:
        optimizer.param_groups[0]["lr"] = RATE * left
        played = collect(batch, policy, full_state=True)
        seen, mask, action = (torch.as_tensor(column) for column in played[:3])
        state = torch.as_tensor(played.full_state) * scale
        before = torch.as_tensor(played.log_probability).float()
        values = critic(state)[:, 0].detach()
        gain = torch.as_tensor(played.advantages(values)).float()
        returns, gain = gain + values, (gain - gain.mean()) / (gain.std() + 1e-8)
        order = torch.cat([torch.randperm(len(seen)) for _ in range(EPOCHS)])
        for part in order.tensor_split(EPOCHS * PARTS):
            odds, value = log_probabilities(seen[part], mask[part]), critic(state[part])[:, 0]
            ratio = (odds.gather(1, action[part, None])[:, 0] - before[part]).exp()
            loss = (value - returns[part]).square().mean() / 2
            loss -= torch.min(ratio * gain[part], ratio.clamp(*CLIP) * gain[part]).mean()
            loss += ENTROPY * left * (odds.exp() * odds).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(weights, 0.5)
            optimizer.step()
        done += len(seen)
    return LiveOpponent(policy, returns="probabilities", observation="float")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=2_700_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed)
    print(evaluate(player, *table, episode="deal"))
