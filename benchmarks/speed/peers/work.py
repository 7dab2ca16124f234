"""What a library is measured at, and the clock that all of them are measured with."""

import time
from collections.abc import Callable
from dataclasses import dataclass

SECONDS = 0.3
"""How long one measurement takes at least."""

BATCH, LOOP, AEC = "batch", "loop", "aec"
CFR, CFR_PLUS, NASH_CONV = "cfr", "cfr+", "nash_conv"

clock = time.process_time
"""Processor seconds: measured work keeps to one core, and waiting for that does not count."""

Play = Callable[[], tuple[int, float]]
"""Does some work; returns how many pieces, and the seconds of `clock` that they took."""


@dataclass(frozen=True)
class Work:
    """A piece of work that a library does.

    Attributes:
        kind: Ratios compare works of one kind: `BATCH`, `LOOP` and `AEC` are decisions of random
            play, `CFR` and `CFR_PLUS` iterations, `NASH_CONV` measurements of one strategy.
        what: The game, and how it is played or solved.
        includes: What is inside the measured time.
        prepare: Makes everything that is not measured; returns what is.
    """

    kind: str
    what: str
    includes: str
    prepare: Callable[[], Play]


def measured(play: Play, least: float = SECONDS) -> float:
    """Returns the seconds per piece of work, over at least this many seconds of it."""
    pieces, inside = 0, 0.0
    while inside < least:
        done, spent = play()
        pieces += done
        inside += spent
    return inside / pieces


def clocked(work: Callable[[], int]) -> Play:
    """Returns the work with a clock around it.

    Args:
        work: Returns how many pieces it has done.
    """

    def play() -> tuple[int, float]:
        start = clock()
        pieces = work()
        return pieces, clock() - start

    return play
