"""Checks that a game's kernels write into the arrays that they are given, and nowhere else.

Compiled kernels check no index. So a game whose spec declares less than its kernels write (an
observation that is a feature too short, say) would write over other arrays, silently.
"""

from typing import Any

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.play.policy import sample_actions
from kille_env.registry import load_game

GUARD = 1 << 14
"""Guard bytes on each side of an array."""
PATTERN = 0xA5


class _GuardedBatch(Batch):
    """A batch with guard bytes around its arrays."""

    def __init__(self, *settings: Any) -> None:
        """Make a batch; the arguments are those of `Batch`."""
        self._memory: dict[str, np.ndarray] = {}
        super().__init__(*settings)

    def _array(self, name: str, dtype: Any, *size: int) -> np.ndarray:
        shape = (self.num_tables, *size)
        length = int(np.prod(shape)) * np.dtype(dtype).itemsize
        memory = np.full(length + 2 * GUARD, PATTERN, dtype=np.uint8)
        inside = memory[GUARD : GUARD + length]
        inside[:] = 0
        self._memory[name] = memory
        return inside.view(dtype).reshape(shape)

    def check(self, after: str) -> None:
        """Check all guard bytes."""
        for name, memory in self._memory.items():
            touched = (memory[:GUARD] != PATTERN).any() or (memory[-GUARD:] != PATTERN).any()
            assert not touched, (
                f"a kernel writes beyond the array {name!r} (during {after}): the spec declares "
                "less than it writes"
            )


def check_guards(name: str, players: int, rules: Rules, decisions: int, seed: int) -> None:
    """Play one table, look at it from all seats and draw determinizations, between guards."""
    rng = np.random.default_rng(seed)
    after = "reset"
    try:
        batch = _GuardedBatch(load_game(name), 1, players, rules, seed)
        batch.reset()
        batch.check(after)
        for number in range(max(1, decisions // 10)):
            for after in ("observe", "legal_actions", "information_state", "full_state"):
                for seat in range(players):
                    getattr(batch, after)(seat)
                    batch.check(after)
            after = "resample"
            batch.resample(int(rng.integers(players)), [number])
            batch.check(after)
            after = "step"
            batch.step(sample_actions(batch.mask, rng))
            batch.check(after)
    except IndexError as error:  # indices are checked: as plain Python, or with bounds checks
        raise AssertionError(
            f"a kernel writes beyond an array (during {after}): {error}"
        ) from error
