"""PPO in JAX 0.10: `io_callback` steps the tables in a `lax.scan`; its first 2/3 are learned from.

    pip install ".[train]" "jax>=0.10" "optax>=0.2"

The trap: a step pays all seats, so returns are summed backwards by seat to the end of the deal.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.example_libraries.stax import Dense, Tanh, serial

from kille_env import make_batch
from kille_training import evaluate

TABLES, UPDATES, PART, RATE, ENTROPY, CLIP = 1024, 16, 4096, 3e-3, 0.05, (0.8, 1.2)


def train(game="byteskille", num_players=3, decisions=8_000_000, seed=0):
    """Train on single deals; return a function from observations and masks to probabilities."""
    batch = make_batch(game, TABLES, num_players, episode="deal", seed=seed)
    longest = batch.spec.max_decisions(batch.rules, num_players)
    parts, rows = batch.spec.observation(num_players), np.arange(TABLES)
    scale = np.concatenate([np.full(part.size, 1 / part.high, np.float32) for part in parts])
    sizes, (key, *keys) = (batch.spec.num_actions, 1), jax.random.split(jax.random.key(seed), 3)
    nets = [serial(Dense(64), Tanh, Dense(64), Tanh, Dense(outputs)) for outputs in sizes]
    params = [net[0](own, (-1, len(scale)))[1] for net, own in zip(nets, keys, strict=True)]
    adam = optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_adam())

    def forward(params, seen, mask):
        logits, values = (net[1](own, seen) for net, own in zip(nets, params, strict=True))
        return jax.nn.log_softmax(jnp.where(mask != 0, logits, -1e9)), values[:, 0]

    def play(actions=None):
        batch.reset() if actions is None else batch.step(np.asarray(actions, dtype=np.int64))
        shown = batch.observation * scale, batch.mask.copy(), batch.seat.copy()
        return shown, batch.reward.astype(np.float32), batch.terminated | batch.truncated

    def decide(state, key):
        params, ((seen, mask, seat), *_) = state
        odds, values = forward(params, seen, mask)
        action = jax.random.categorical(key, odds)
        after = jax.experimental.io_callback(play, state[1], action, ordered=True)
        return (params, after), (seen, mask, action, odds[rows, action], values, seat, *after[1:])

    def earn(later, paid):  # backwards
        later = jnp.where(paid[2][:, None], 0, later) + paid[1]
        return later, later[rows, paid[0]]

    @jax.jit
    def rollout(params, start, key):
        _, steps = jax.lax.scan(decide, (params, start), jax.random.split(key, 3 * longest))
        _, result = jax.lax.scan(earn, jnp.zeros_like(steps[6][0]), steps[5:], reverse=True)
        return [step[: 2 * longest].reshape(-1, *step.shape[2:]) for step in (*steps[:5], result)]

    def loss(params, left, seen, mask, action, before, values, result):
        odds, value = forward(params, seen, mask)
        gain = jax.nn.standardize(result - values)
        ratio = jnp.exp(jnp.take_along_axis(odds, action[:, None], 1)[:, 0] - before)
        actor = -jnp.minimum(ratio * gain, ratio.clip(*CLIP) * gain)
        surprise = ENTROPY * left * (jnp.exp(odds) * odds).sum(1)
        return (actor + surprise + jnp.square(value - result) / 2).mean()

    @jax.jit
    def learn(learner, part, left):
        change, memory = adam.update(jax.grad(loss)(learner[0], left, *part), learner[1])
        return jax.tree.map(lambda own, step: own - RATE * left * step, learner[0], change), memory

    learner, done, rng = (params, adam.init(params)), 0, np.random.default_rng(seed)
    while (left := 1 - done / decisions) > 0:
        data = list(map(np.asarray, rollout(learner[0], play(), jax.random.fold_in(key, done))))
        for part in rng.choice(len(data[0]), (UPDATES, PART)):
            learner = learn(learner, [column[part] for column in data], left)
        done += len(data[0])
    return lambda seen, mask: np.exp(np.float64(forward(learner[0], seen * scale, mask)[0]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=8_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed)
    print(evaluate(player, *table, episode="deal"))
