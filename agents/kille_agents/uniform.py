"""The player who picks any legal action: the floor that every other one has to leave."""

import numpy as np

from kille_env.errors import PolicyError


class UniformPolicy:
    """Plays every legal action equally often."""

    def __init__(self) -> None:
        self.name = "uniform"

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns equal shares for the legal actions, [N, A]."""
        legal = (mask != 0).astype(np.float64)
        counts = legal.sum(axis=1, keepdims=True)
        if len(legal) and counts.min() == 0:
            raise PolicyError(
                f"row {int(counts.argmin())} of the mask has no legal action; "
                "ask only the seat to act"
            )
        return legal / counts
