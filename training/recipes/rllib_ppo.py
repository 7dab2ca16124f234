"""RLlib's PPO (new API stack) in self-play, with a batched environment runner.

RLlib's own door, `PettingZooEnv` around one table, credits each seat rightly but makes some hundred
decisions a second: most of the time goes into one Python object per seat and episode. Here
`SelfPlayRunner` plays all seats of 512 tables with the module that learns and hands complete
decisions to RLlib's learner, and `MaskedModule` keeps to the action mask. Schedules count decisions
of all runners, which play where Ray places them: on this machine or on the nodes of a cluster.

Measured with ray 2.60.0, torch 2.13.0 and gymnasium 1.2.2.
"""

import argparse
from typing import Any

import torch
from ray.rllib.algorithms.ppo import PPOConfig

from kille_env.adapters.rllib import self_play
from kille_training import evaluate

TABLES = 512
STEPS = 32
"""Of every table in an iteration."""


def train(
    game: str = "byteskille",
    num_players: int = 3,
    decisions: int = 2_500_000,
    seed: int = 0,
    num_env_runners: int = 0,
) -> Any:
    """Returns the trained module, which is a player.

    Args:
        game: The game.
        num_players: P.
        decisions: Decisions to learn from, of all seats.
        seed: Seed of everything.
        num_env_runners: Processes that play; 0 plays in the learner's own.
    """

    def annealed(value: float) -> Any:
        return [[0, value], [decisions, 0.0]]

    torch.set_num_threads(1)
    config = self_play(
        PPOConfig(), game, num_players, num_tables=TABLES, layers=(64, 64), episode="deal"
    )
    config.env_runners(num_env_runners=num_env_runners)
    config.debugging(seed=seed, log_level="ERROR")
    config.training(
        train_batch_size_per_learner=TABLES * STEPS,
        minibatch_size=4_096,
        num_epochs=3,
        lr=annealed(2e-3),
        entropy_coeff=annealed(0.1),  # what is left of it moves every mixture
        gamma=1.0,
        lambda_=1.0,
        grad_clip=0.5,
        use_kl_loss=False,
        vf_clip_param=float("inf"),  # values are in units; RLlib would cut their loss off at 10
    )
    algorithm = config.build_algo()
    for _ in range(max(1, decisions // (TABLES * STEPS))):
        algorithm.train()
    module = algorithm.get_module()
    algorithm.stop()
    return module


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=2_500_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num-env-runners", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed, options.num_env_runners)
    print(evaluate(player, *table, episode="deal"))
