"""Calls of every kernel of a single table, which a child process makes to compile them."""

from collections.abc import Iterator

from kille_env.core.batch import Batch
from kille_env.core.game import game_of

ONE_TABLE = f"{__name__}:kernels_of_one_table"
"""The kernels, for `kille_env.core.start.begin`."""


def kernels_of_one_table(game: str) -> Iterator[object]:
    """Call all kernels that step, show or hand-play a single table."""
    batch = Batch(game_of(game), seed=0)
    yield batch.reset()
    yield batch.step(batch.mask.argmax(axis=1))
    yield batch.observe(0)
    yield batch.legal_actions(0)
    own = batch.arrays
    masks = batch.mask.repeat(batch.num_players, axis=0).copy()
    yield batch.game.masks_of_all(own.tables, own.rules, masks)
    # Tables by hand deal and apply in separate calls, which compile other loops than `step`.
    batch = Batch(game_of(game), seed=0, restart=False)
    yield batch.reset(deal=False)
    yield batch.deal()
    yield batch.apply(batch.mask.argmax(axis=1))
    yield batch.full_state(0)
    yield batch.information_state(0)
