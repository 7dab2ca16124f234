"""PPO of TorchRL: its collector, GAE and ClipPPOLoss, on one seat of each table.

`SeatEnv` is a batched environment: each row is a learner's seat, played on to that seat's next
decision by the same network in the other seats. The trap: TorchRL's wrapper of PettingZoo credits
seats rightly, but plays one table. Measured with TorchRL 0.14.1.
"""

import argparse

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from kille_env import LiveOpponent
from kille_env.adapters.torchrl import SeatEnv
from kille_training import evaluate

TABLES, STEPS = 1_024, 8
MINIBATCH, EPOCHS = 2_048, 2
LEARNING_RATE, ENTROPY = 2e-3, 0.05
LEARNT = "observation", "action_mask", "action", "action_log_prob", "advantage", "value_target"


def network(inputs: int, outputs: int) -> nn.Module:
    """Returns two hidden layers."""
    layers = nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    return nn.Sequential(*layers)


def train(
    game: str = "byteskille", num_players: int = 3, decisions: int = 2_000_000, seed: int = 0
) -> LiveOpponent:
    """Returns the policy."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    live = LiveOpponent(
        lambda observation, mask: logits(torch.from_numpy(observation)),
        returns="logits", observation="float",
    )  # fmt: skip
    env = SeatEnv(game, TABLES, num_players, episode="deal", seed=seed, opponents=live)
    features, actions = env.observation_spec["observation"].shape[-1], env.action_spec.n
    logits, value = network(features, actions), network(features, 1)
    actor = ProbabilisticActor(
        TensorDictModule(logits, in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(value, in_keys=["observation"])
    advantage = GAE(gamma=1.0, lmbda=1.0, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=ENTROPY, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), eps=1e-5)
    frames = {"frames_per_batch": TABLES * STEPS, "total_frames": decisions}
    collector = Collector(env, actor, **frames, auto_register_policy_transforms=False)
    learned = 0
    for data in collector:
        remaining = 1.0 - learned / decisions
        learned += data.numel()
        loss.entropy_coeff.fill_(ENTROPY * remaining)
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * remaining
        with torch.no_grad():
            advantage(data)
        data = data.reshape(-1).select(*LEARNT)
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(data)).split(MINIBATCH):
                losses = loss(data[rows])
                whole = losses["loss_objective"] + losses["loss_entropy"] + losses["loss_critic"]
                optimizer.zero_grad()
                whole.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
    return live


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
