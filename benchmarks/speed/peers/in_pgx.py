"""Pgx: games written in JAX, compiled by XLA for the processor."""

from functools import partial

import jax
import jax.numpy as jnp
import pgx
from pgx.experimental import auto_reset

from speed.peers.work import BATCH, Play, Work, clock

DISTRIBUTION = "pgx"
TABLES = 4096


def _batch(name: pgx.EnvId) -> Play:
    env = pgx.make(name)
    step = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), TABLES))
    key = jax.random.PRNGKey(1)

    @jax.jit
    def choose(key: jax.Array, mask: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        key, choice, cards = jax.random.split(key, 3)
        actions = jnp.argmax(mask * jax.random.uniform(choice, mask.shape), axis=1)
        return key, actions, jax.random.split(cards, TABLES)

    def play() -> tuple[int, float]:
        nonlocal state, key
        key, actions, cards = jax.block_until_ready(choose(key, state.legal_action_mask))
        start = clock()
        state = jax.block_until_ready(step(state, actions, cards))
        return TABLES, clock() - start

    play()
    return play


INCLUDES = "observation, mask, rewards, restart"
WORKS = (
    Work(BATCH, "Kuhn, 4,096 tables", INCLUDES, partial(_batch, "kuhn_poker")),
    Work(BATCH, "Leduc, 4,096 tables", INCLUDES, partial(_batch, "leduc_holdem")),
)
