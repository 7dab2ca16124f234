"""PPO in one file, in CleanRL's style, on whole deals from `kille_env.collect` (torch 2.13).

The trap: a seat's rewards arrive while others act. `collect` returns each decision with its reward
and the seat's next decision, and `advantages` follows each seat's own trajectory. Entropy bonus and
learning rate fall to 0; otherwise play stays off the equilibrium. It uses one core (for several,
run one process per seed), or with `--device cuda` a GPU for tables and network; raise `--tables`.
"""

import argparse

import torch
from torch import nn

from kille_env import LiveOpponent, collect, make_batch
from kille_training import evaluate

PARTS, EPOCHS, RATE, ENTROPY, CLIP = 4, 4, 2e-3, 0.1, (0.8, 1.2)


class Learner(nn.Module):
    """An actor and a critic."""

    def __init__(self, features, *outputs):
        super().__init__()
        nets = [(nn.Linear(features, 64), nn.Linear(64, 64), nn.Linear(64, n)) for n in outputs]
        self.actor, self.critic = (nn.Sequential(a, nn.Tanh(), b, nn.Tanh(), c) for a, b, c in nets)

    def forward(self, observation, mask):
        """Return log-probabilities of the legal actions [N, A], and values [N]."""
        logits = self.actor(observation).masked_fill(mask == 0, -1e9)
        return logits.log_softmax(1), self.critic(observation)[:, 0]


def train(game="byteskille", num_players=3, decisions=2_700_000, seed=0, tables=2048, device="cpu"):
    """Train on single deals; return a player."""
    if tables < 16:
        raise ValueError(f"tables is {tables}, expected 16 or more: advantages need a spread")
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    batch = make_batch(game, tables, num_players, episode="deal", seed=seed, device=device)
    learner = Learner(batch.observation.shape[1], batch.spec.num_actions, 1).to(device)
    optimizer = torch.optim.Adam(learner.parameters(), eps=1e-5)

    @torch.no_grad()
    def policy(observation, mask):
        seen, legal = (torch.as_tensor(array, device=device) for array in (observation, mask))
        return learner(seen, legal)[0].double().softmax(1)

    done = 0
    while (left := 1 - done / decisions) > 0:
        optimizer.param_groups[0]["lr"] = RATE * left
        played = collect(batch, policy)
        seen, mask, action = (torch.as_tensor(column) for column in played[:3])
        before = torch.as_tensor(played.log_probability).float()
        values = learner(seen, mask)[1].detach()
        gain = torch.as_tensor(played.advantages(values)).float()
        returns, gain = gain + values, (gain - gain.mean()) / (gain.std() + 1e-8)
        order = torch.cat([torch.randperm(len(seen), device=device) for _ in range(EPOCHS)])
        for part in order.tensor_split(EPOCHS * PARTS):
            odds, value = learner(seen[part], mask[part])
            ratio = (odds.gather(1, action[part, None])[:, 0] - before[part]).exp()
            loss = (value - returns[part]).square().mean() / 2
            loss -= torch.min(ratio * gain[part], ratio.clamp(*CLIP) * gain[part]).mean()
            loss += ENTROPY * left * (odds.exp() * odds).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learner.parameters(), 0.5)
            optimizer.step()
        done += len(seen)
    return LiveOpponent(policy, returns="probabilities", observation="float")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=2_700_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tables", type=int, default=2048)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed, options.tables, options.device)
    print(evaluate(player, *table, episode="deal"))
