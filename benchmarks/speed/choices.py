"""Random choices, the same for everything that is measured."""

import random
from collections.abc import Callable, Sequence

import numpy as np


def random_actions(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns uniform legal actions [N] for masks [N, A]."""
    return (mask * rng.random(mask.shape, dtype=np.float32)).argmax(axis=1)


def chooser() -> Callable[[Sequence[int] | np.ndarray], int]:
    """Returns what draws one of the legal actions of a table."""
    draw = random.Random(0).random
    return lambda legal: int(legal[int(draw() * len(legal))])
