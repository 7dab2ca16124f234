"""What seats know when they are to act: worlds can be drawn from it, the tables cannot be seen.

A player who searches is given `Worlds` instead of the tables, so he cannot look at what is hidden,
not even by mistake.
"""

from typing import Any

import numpy as np

from kille_env.core.batch import Batch


class Worlds:
    """M decisions at tables of one batch, each as the seat to act knows it.

    Attributes:
        observation: [M, F] uint8, what the seats to act see.
        mask: [M, A] int8, what they may do.
        seats: [M] who is to act.
        keys: [M] uint64, one a decision: what is random in his thinking follows from it, so that it
            does not depend on the other tables.
        game: Name of the game.
        num_players: P seats.
        rules: The rules.
    """

    def __init__(self, batch: Batch, rows: Any, keys: Any) -> None:
        """Takes decisions of a batch.

        Args:
            batch: The tables; copied when worlds are drawn, never changed.
            rows: [M] tables at which somebody is to act.
            keys: [M] uint64.
        """
        self._batch, self._rows = batch, np.asarray(rows)
        self.observation, self.mask = batch.observation[self._rows], batch.mask[self._rows]
        self.seats = batch.seat[self._rows].astype(np.int64)
        self.keys = np.ascontiguousarray(keys, dtype=np.uint64)
        self.game, self.num_players, self.rules = batch.spec.name, batch.num_players, batch.rules

    def __len__(self) -> int:
        """M, the number of decisions."""
        return len(self._rows)

    def draw(self, number: int) -> Batch:
        """Draws worlds, each equally likely among those that agree with what the seat knows.

        Args:
            number: K, worlds a decision.

        Returns:
            [M * K] tables that do not restart, the K worlds of a decision beside each other.
        """
        batch = self._batch.take(np.repeat(self._rows, number))
        batch.restart = False
        steps = np.tile(np.arange(1, number + 1, dtype=np.uint64), len(self))
        with np.errstate(over="ignore"):
            keys = np.repeat(self.keys, number) + steps * np.uint64(0x9E3779B97F4A7C15)
        batch.resample(np.repeat(self.seats, number), keys)
        return batch
