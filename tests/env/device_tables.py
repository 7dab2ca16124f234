"""The same matches on the CPU and on a GPU, or in its simulator: what the tests of devices share.

Run as a script it plays a few tables of a game in the simulator, which has to be chosen before
Numba is imported: `NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1 python device_tables.py knack`.
"""

import sys

import numpy as np

import kille_env


def play_the_same(game, tables, steps, num_players=None, seed=1, **settings):
    """Plays random matches on both, and compares all that can be seen after every step.

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


def main(game):
    for restart in (True, False):
        batch, actions = play_the_same(game, 32, 6, episode="match", restart=restart)
    illegal = np.where(batch.seat.copy_to_host() < 0, actions.copy_to_host(), 999)
    actions.copy_to_device(illegal)
    before = batch.to_cpu().save()
    batch.step(actions)
    try:
        batch.check()
    except kille_env.errors.IllegalActionError as error:
        print(error)
    assert batch.to_cpu().save() == before


if __name__ == "__main__":
    main(sys.argv[1])
