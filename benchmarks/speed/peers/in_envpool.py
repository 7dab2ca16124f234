"""EnvPool: environments in C++ behind one step of a whole batch."""

from functools import partial

import envpool
import numpy as np

from speed.choices import random_actions
from speed.peers.work import BATCH, Play, Work, clock

DISTRIBUTION = "envpool"


def _batch(name: str, tables: int) -> Play:
    env = envpool.make_gymnasium(name, num_envs=tables, num_threads=1, seed=0)
    _, info = env.reset()
    mask, over, rng = info["legal_action_mask"], np.zeros(tables, bool), np.random.default_rng(0)

    def play() -> tuple[int, float]:
        nonlocal mask, over
        actions = random_actions(mask, rng).astype(np.int32)
        decisions = tables - int(over.sum())  # a table that is over starts again instead
        start = clock()
        _, _, terminated, truncated, info = env.step(actions)
        spent = clock() - start
        mask, over = info["legal_action_mask"], terminated | truncated
        return decisions, spent

    return play


INCLUDES = "both seats' observations, mask, rewards, restart"
WORKS = (
    Work(BATCH, "Kuhn, 4,096 tables", INCLUDES, partial(_batch, "KuhnPoker-v1", 4096)),
    Work(BATCH, "Leduc, 4,096 tables", INCLUDES, partial(_batch, "LeducHoldem-v1", 4096)),
    Work(BATCH, "Leduc, 64 tables", INCLUDES, partial(_batch, "LeducHoldem-v1", 64)),
)
