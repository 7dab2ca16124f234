"""The same matches on the CPU and on a GPU, or in its simulator: what the tests of devices share.

Run as a script it plays a few tables of a game in the simulator, which has to be chosen before
Numba is imported: `NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1 python device_tables.py knack`.
"""

import sys

import numpy as np

import kille_env
from env.rule_tables import Space, by_table, rule_sets, seats_of
from kille_env.play.streams import END, OPEN, SeatStreams


def play_the_same(game, tables, steps, num_players=None, seed=1, **settings):
    """Play random matches on both, and compare all that can be seen after every step.

    Returns the batch on the GPU, and the actions that come next, on the GPU.
    """
    on_gpu, on_cpu = (
        kille_env.make_batch(game, tables, num_players, seed=seed, device=device, **settings)
        for device in ("cuda", "cpu")
    )
    on_gpu.reset()
    on_cpu.reset()
    for step in range(steps):
        for name in ("seat", "observation", "mask", "reward", "terminated", "truncated"):
            ours, theirs = getattr(on_gpu, name).copy_to_host(), getattr(on_cpu, name)
            assert ours.tobytes() == theirs.tobytes(), f"{game} {settings} step {step}: {name}"
        actions = on_gpu.random_actions()
        on_cpu.step(actions.copy_to_host())
        on_gpu.step(actions)
    ours, theirs = on_gpu.to_cpu().tables, on_cpu.tables
    for name in theirs.dtype.names or ():
        assert ours[name].tobytes() == theirs[name].tobytes(), f"{game} {settings}: {name}"
    return on_gpu, on_gpu.random_actions()


def credit_the_same(game, steps=30):
    """Give both the same decisions and rewards, and compare all that is kept of them."""
    from kille_env.core.device import cuda, launch
    from kille_env.play import torch_experience

    batch, rows = kille_env.make_batch(game, 5, seed=1, device="cuda"), np.arange(5)
    batch.reset()
    rng = np.random.default_rng(2)
    shape = (5, batch.num_players)
    credit, count = np.zeros(shape), 5 * steps
    streams, kernels = SeatStreams(credit), torch_experience._kernels()
    decided, open_, owed, undecided, reward, following, chances, position = map(
        cuda.to_device,
        (
            np.zeros(shape, np.int64), np.full(shape, -1), np.zeros(shape), np.zeros(shape),
            np.zeros(count), np.full(count, OPEN), np.zeros(5), np.zeros(5, np.int64),
        ),
    )  # fmt: skip
    for step in range(steps):
        seats, ended = rng.integers(0, shape[1], 5), rng.random(5) < 0.2
        rewards = rng.normal(size=shape)
        streams.decide(rows, seats)
        credit += rewards
        streams.end(ended)
        launch(
            kernels["open"], 5, batch.tables, 5 * step, shape[1], decided, open_, owed,
            *map(cuda.to_device, (rows, seats)), chances, position, reward, following,
        )  # fmt: skip
        paid = map(cuda.to_device, (rewards, ended))
        launch(kernels["pay"], 5, *paid, open_, owed, undecided, reward, following)
        for name, ours in (("open", open_), ("credit", owed), ("undecided", undecided)):
            assert ours.copy_to_host().tobytes() == getattr(streams, name).tobytes(), name
    complete, paid, ahead, _ = streams.completed()
    assert (following.copy_to_host() != OPEN).nonzero()[0].tolist() == complete.tolist()
    assert reward.copy_to_host()[complete].tobytes() == paid.tobytes()
    assert following.copy_to_host()[complete].tolist() == ahead.tolist()
    assert undecided.copy_to_host().any() and (ahead == END).any()


def main(game):
    credit_the_same(game)
    for restart in (True, False):
        batch, actions = play_the_same(game, 32, 6, episode="match", restart=restart)
    for rules in (by_table(game, 32), Space(game, rule_sets(game))):
        play_the_same(game, 32, 6, seats_of(game), rules=rules, observe_rules=True)
    illegal = np.where(batch.seat.copy_to_host() < 0, actions.copy_to_host(), 999)
    actions.copy_to_device(illegal)
    before = batch.to_cpu().tables.tobytes()
    batch.step(actions)
    try:
        batch.check()
    except kille_env.errors.IllegalActionError as error:
        print(error)
    assert batch.to_cpu().tables.tobytes() == before


if __name__ == "__main__":
    main(sys.argv[1])
