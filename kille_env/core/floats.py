"""Observations as networks read them: float32, each number in 0 to 1.

There are two readings. "float" is the features in their order, each divided by its upper bound: its
size F depends on the number of seats. "seats" is of one size at tables of every size: first what is
told of the table, then the same K numbers for each of the M seats that the game has at most, those
of the nearest seats first, with zeros where the table has no such seat.

Seats are in the order of nearness: the viewer, its left neighbor, its right neighbor, the second
to the left, the second to the right, and so on. So the first P of M are the seats of the table, and
the n-th is as near whatever the number of seats. The first of each seat's numbers says whether the
table has it.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from kille_env.core.jit import kernel
from kille_env.core.spec import GameSpec, Part, feature_scale, width
from kille_env.errors import RulesError

NEAR_SEATS = 7
"""Seats with weights of their own by default: the viewer, and three on each side."""


class Split(NamedTuple):
    """A reading of the kind "seats", taken apart."""

    table: np.ndarray  # [..., G] numbers about the table
    seats: np.ndarray  # [..., M, K] numbers about each seat, the nearest first
    exists: np.ndarray  # [..., M] bool, the mask of the seats that the table has


class Reading:
    """Network inputs made from observations.

    Attributes:
        features: F, of the observations that it reads.
        size: S, how many numbers.
        source: [S] int64, the feature that each number is read from; -1 for none.
        scale: [S] float32, the factor of the feature; where there is none, the number
            itself.
    """

    def __init__(self, features: int, source: np.ndarray, scale: np.ndarray) -> None:
        """Take all three; zeros at the end of `scale` are unread places."""
        self.features, self.size, self.source, self.scale = features, len(source), source, scale
        self._used = 1 + int(np.flatnonzero(scale)[-1])
        self._in_order = np.array_equal(source, np.arange(self.size))

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        """Return the inputs read from observations [..., F] uint8: float32 [..., S], fresh."""
        self._check(observation)
        if self._in_order:  # for one row, a tenth of the time
            return np.multiply(observation, self.scale, dtype=np.float32)
        table = np.ascontiguousarray(observation).reshape(-1, self.features)
        read = np.zeros((len(table), self.size), dtype=np.float32)
        _read(table, self.source[: self._used], self.scale, read)
        return read.reshape(*observation.shape[:-1], self.size)

    def _check(self, observation: np.ndarray) -> None:
        shape = getattr(observation, "shape", ())
        if not shape or shape[-1] != self.features:
            raise RulesError(
                f"this reading is of observations of {self.features} features, got the shape "
                f"{shape}; make it for the number of seats of the table"
            )


class SeatLayout:
    """Where the numbers of the reading "seats" lie: the same at all tables of a game.

    Attributes:
        max_players: M, the seats that there is room for.
        table: Parts about the table, with sizes at tables of any size.
        seat: Parts about each seat: their sizes are those of one seat.
        num_table: G, numbers about the table.
        num_seat: K, numbers about a seat, with the one that says whether it exists.
        size: S = G + M K.
    """

    def __init__(self, observation: Callable[[int], tuple[Part, ...]], max_players: int) -> None:
        """Take a game's layout, and its largest number of seats."""
        self.max_players = max_players
        # A part that is as large for one seat as for two is about the table; one that doubles is
        # about seats.
        one, two, all_ = observation(1), observation(2), observation(max_players)
        table, seat = [], []
        for a, b, largest in zip(one, two, all_, strict=True):
            if a.size == b.size:
                table.append(largest)
            elif 2 * a.size == b.size:
                seat.append(Part(a.name, a.size, a.meaning, largest.high))
            else:
                raise RulesError(
                    f"part {a.name!r} of the observation has {a.size} features for one seat and "
                    f"{b.size} for two; expected as many, or twice as many"
                )
        self.table, self.seat = tuple(table), tuple(seat)
        self.num_table = sum(part.size for part in table)
        self.num_seat = 1 + sum(part.size for part in seat)
        self.size = self.num_table + max_players * self.num_seat
        self._observation = observation

    def reading(self, num_players: int) -> Reading:
        """Return the reading at a table of P seats."""
        parts = {part.name: part for part in self._observation(num_players)}
        source = np.full(self.size, -1, dtype=np.int64)
        scale = np.zeros(self.size, dtype=np.float32)
        begin = self.num_table
        source[:begin] = [i for part in self.table for i in _features(parts[part.name])]
        scale[:begin] = [1.0 / part.high for part in self.table for _ in range(part.size)]
        for seat in nearest_first(num_players):
            scale[begin] = 1.0  # it exists
            here = slice(begin + 1, begin + self.num_seat)
            source[here] = [
                parts[part.name].offset + number * num_players + seat
                for part in self.seat
                for number in range(part.size)
            ]
            scale[here] = [1.0 / part.high for part in self.seat for _ in range(part.size)]
            begin = here.stop
        return Reading(width(self._observation(num_players)), source, scale)

    def pooled_size(self, near_seats: int) -> int:
        """Return how many numbers are left when all but the nearest seats are summed."""
        return self.num_table + (min(near_seats, self.max_players) + 1) * self.num_seat

    def unpooled(self, weight: np.ndarray, num_players: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a linear layer as it is on the features of a table of P seats."""
        reading, begin, k = self.reading(num_players), self.num_table, self.num_seat
        near = (weight.shape[1] - begin) // k - 1
        slots = np.minimum(np.arange(self.max_players), near)
        places = begin + slots[:, None] * k + np.arange(k)
        whole = weight[:, np.concatenate([np.arange(begin), places.ravel()])]  # [U, S]
        told = reading.source >= 0
        layer = np.zeros((len(weight), width(self._observation(num_players))), dtype=np.float32)
        layer[:, reading.source[told]] = whole[:, told] * reading.scale[told]
        return layer, (whole[:, ~told] * reading.scale[~told]).sum(axis=1, dtype=np.float32)

    def split(self, numbers: np.ndarray) -> Split:
        """Return views of inputs [..., S] by part."""
        table, seats = numbers[..., : self.num_table], numbers[..., self.num_table :]
        seats = seats.reshape(*numbers.shape[:-1], self.max_players, self.num_seat)
        return Split(table, seats, seats[..., 0] > 0)


def nearest_first(num_players: int) -> list[int]:
    """Return the P seats by distance to the left of the viewer, the nearest first: 0, 1, P - 1."""
    left_first = sorted(range(1 - num_players, num_players), key=lambda step: (abs(step), -step))
    return list(dict.fromkeys(step % num_players for step in left_first))


@cache
def _layout(observation: Callable[[int], tuple[Part, ...]], max_players: int) -> SeatLayout:
    return SeatLayout(observation, max_players)


@cache
def _cached(
    kind: str, observation: Callable[[int], tuple[Part, ...]], most: int, num_players: int
) -> Reading:
    if kind == "seats":
        return _layout(observation, most).reading(num_players)
    layout = observation(num_players)
    return Reading(width(layout), np.arange(width(layout)), feature_scale(layout))


def seat_layout(spec: GameSpec, observe_rules: bool = False) -> SeatLayout:
    """Return where the numbers of the reading "seats" lie."""
    return _layout(spec.layout("observation", observe_rules), spec.max_players)


def reading(kind: str, spec: GameSpec, num_players: int, observe_rules: bool = False) -> Reading:
    """Return one of `READINGS` at a table of P seats, with the rules at its end or not."""
    layout = spec.layout("observation", observe_rules)
    return _cached(kind, layout, spec.max_players, num_players)


def reading_of(
    observation: str, spec: GameSpec, num_players: int, observe_rules: bool = False
) -> Reading | None:
    """Return how the option `observation` reads features at a table; None is as they are."""
    if observation not in READINGS:
        return None
    return reading(observation, spec, num_players, observe_rules)


READINGS = ("float", "seats")
"""Network inputs that are read from the features."""
FEATURES = ("box", *READINGS)
"""Network inputs made from an observation; "box" is its uint8 features."""
OBSERVATION = (*FEATURES, "dict")
"""Observations of an environment: "dict" has the mask beside the uint8 features."""


def _features(part: Part) -> range:
    return range(part.offset, part.offset + part.size)


@kernel
def _read(observation, source, scale, out):
    """Write [N, S] numbers, read from features [N, F]; unread places stay."""
    for number in range(out.shape[0]):
        for place in range(source.shape[0]):
            value = scale[place]
            if source[place] >= 0:
                value *= np.float32(observation[number, source[place]])
            out[number, place] = value
