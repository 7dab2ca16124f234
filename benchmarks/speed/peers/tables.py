"""This suite's own tables: Byteskille with two seats, single deals."""

import numpy as np

import kille_env
from kille_env.core.batch import Batch
from speed.choices import chooser, random_actions
from speed.peers.aec import turns
from speed.peers.work import AEC, BATCH, LOOP, Play, Work, clock, clocked

DISTRIBUTION = "kille-env"


def _played(tables: int) -> Batch:
    batch = kille_env.make_batch("byteskille", tables, 2, seed=0, episode="deal")
    batch.reset()
    return batch


def _batch() -> Play:
    batch, rng = _played(4096), np.random.default_rng(0)

    def play() -> tuple[int, float]:
        actions = random_actions(batch.mask, rng)
        start = clock()
        batch.step(actions)
        return batch.num_tables, clock() - start

    play()
    return play


def _loop() -> Play:
    batch, choose, actions = _played(1), chooser(), np.zeros(1, dtype=np.int64)

    def play() -> int:
        for _ in range(1000):
            actions[0] = choose(np.flatnonzero(batch.mask[0]))
            batch.step(actions)
        return 1000

    play()
    return clocked(play)


def _aec() -> Play:
    env = kille_env.make("byteskille", num_players=2, episode="deal")
    env.reset(seed=0)
    play = turns(env, lambda seen, info: info["action_mask"])
    play()
    return play


WORKS = (
    Work(BATCH, "byteskille, 4,096 tables", "observation, mask, rewards, restart", _batch),
    Work(LOOP, "byteskille, batch of 1", "choice, observation, mask, rewards, restart", _loop),
    Work(AEC, "byteskille, AEC", "`last`, choice, `step`; not `reset`", _aec),
)
