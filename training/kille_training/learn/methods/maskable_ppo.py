"""MaskablePPO of sb3-contrib, every seat's decisions as a stream of their own.

Huang and Ontañón, "A closer look at invalid action masking in policy gradient algorithms", FLAIRS
2022; Raffin et al., "Stable-Baselines3", JMLR 22, 2021. The library collects and learns; the
environment and the buffer, which credits each decision with what its own seat earns, are those of
`kille_env.sb3`. The library's `learn` runs for one rollout at a time, so that the learning rate and
the entropy bonus can fall to 0 with the budget.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from sb3_contrib import MaskablePPO

from kille_agents.network import NetworkPolicy
from kille_env.core.spec import feature_scale
from kille_env.registry import spec
from kille_env.sb3 import SeatStreamBuffer, SelfPlayVecEnv
from kille_training.learn.method import Progress
from kille_training.learn.networks import as_policy
from kille_training.learn.sb3 import weights_of
from kille_training.learn.tables import BenchmarkTable


@dataclass(frozen=True)
class Settings:
    """What can be set.

    Attributes:
        tables: Matches that are played side by side.
        steps: Decisions at each table from one update to the next.
        layers: Units of each hidden layer, with tanh as the library has it.
        epochs: How often an update goes through its decisions.
        minibatch: Decisions of a gradient step.
        learning_rate: At the beginning; it falls to 0.
        entropy: Weight of the entropy bonus at the beginning; it falls to 0.
        clip: How far from 1 the ratio of new to old probability counts.
    """

    tables: int = 512
    steps: int = 16
    layers: tuple[int, ...] = (64, 64)
    epochs: int = 4
    minibatch: int = 2048
    learning_rate: float = 2e-3
    entropy: float = 0.1
    clip: float = 0.2


def train(
    table: BenchmarkTable, seed: int, settings: Settings, spent: Callable[[], float]
) -> Iterator[Progress]:
    """Learns; yields the policy after each update.

    Args:
        table: Any table.
        seed: Seed of the cards, the choices, the weights and the minibatches.
        settings: What can be set.
        spent: Returns the share of the budget that is used, from 0 to 1.
    """
    venv = SelfPlayVecEnv(table.game, settings.tables, table.num_players, rules=table.rules)
    model = MaskablePPO(
        "MlpPolicy",
        venv,
        rollout_buffer_class=SeatStreamBuffer,
        rollout_buffer_kwargs={"env": venv},
        n_steps=settings.steps,
        batch_size=settings.minibatch,
        n_epochs=settings.epochs,
        gamma=1.0,
        gae_lambda=1.0,
        learning_rate=lambda _: settings.learning_rate * (1.0 - spent()),
        clip_range=settings.clip,
        policy_kwargs={"net_arch": list(settings.layers)},
        # The library seeds tables with seed, seed + 1, ...: neighbours would share their cards.
        seed=int(np.random.SeedSequence(seed).generate_state(1)[0]),
        device="cpu",
    )
    while True:
        model.ent_coef = settings.entropy * (1.0 - spent())
        model.learn(settings.steps * settings.tables, reset_num_timesteps=False)
        yield Progress(model.num_timesteps, partial(_policy, model, table, settings))


def _policy(model: MaskablePPO, table: BenchmarkTable, settings: Settings) -> NetworkPolicy:
    scale = feature_scale(spec(table.game).observation(table.num_players))
    weights = weights_of(model, scale)
    return as_policy(table, weights, settings.layers, "tanh", "maskable_ppo")
