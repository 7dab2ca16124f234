"""The loop that PettingZoo's interface asks for: `last`, choose, `step`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from speed.choices import chooser
from speed.peers.work import Play, clock


def turns(env: Any, mask: Callable[[Any, dict[str, Any]], np.ndarray]) -> Play:
    """Returns random play of an environment; `reset` is not measured.

    Args:
        env: An AEC environment that has been reset with a seed.
        mask: Finds the action mask in what `last` returns as observation and info.
    """
    choose = chooser()

    def play() -> tuple[int, float]:
        env.reset()
        decisions, start = 0, clock()
        while True:
            seen, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                return decisions, clock() - start
            env.step(choose(np.flatnonzero(mask(seen, info))))
            decisions += 1

    return play
