"""The results of a tournament: one file, written whole every few seconds.

It holds the entrants, which deals of which stages have been played, and the tally. A tally does not
depend on the order in which results came, so a tournament that was killed and resumed ends with the
same bytes as one that was not. Only one process at a time may write; others may read meanwhile.
"""

import json
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from kille_env.errors import ConfigError, KilleError, shortened
from kille_env.files import BROKEN, read_arrays, write_arrays
from kille_env.registry import Table
from kille_training.arena.entrants import MOST_DEALS, OBJECT, Entrant, Number
from kille_training.arena.play import Shard, cut
from kille_training.arena.schedule import Draw, Field, Lineups
from kille_training.statistics.tally import ARRAYS, Tally

FORMAT = 8
"""Version of the file; it rises too when other lineups would be drawn."""
LOCK = "results.lock"
SECONDS = 5.0
"""Time between two writes, at least."""
COST = 20.0
"""The same, as a multiple of the time that the last write took."""


class StoreError(KilleError):
    """Results cannot be read or written."""


class Strict(BaseModel):
    """Part of a file that holds exactly these fields, of these types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class _Span(Strict):
    """Deals of a stage that have been played."""

    stage: Number
    first: Number
    end: Number


class _Content(Strict):
    """What the file holds beside the tally; see `Store`."""

    format: Literal[8]
    asked: dict[str, Any]
    made_with: dict[str, str]
    entrants: list[Entrant]
    rounds: list[list[list[Number]]]
    played: list[_Span]
    observations: Number
    ends: list[tuple[Number, Number]]


@contextmanager
def _reading(path: Path) -> Generator[None]:
    """Turn errors about what a file holds into sentences."""
    try:
        yield
    except StoreError:
        raise
    except (KilleError, OverflowError, MemoryError, *BROKEN) as error:
        said = str(error)
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            said = f"{place}: {first['msg']}, not {shortened(first.get('input'))}"
        raise StoreError(
            f"{path} holds what no tournament writes ({shortened(said, 300)}); restore it from a "
            "copy, or start again in another folder"
        ) from error


class Locked:
    """A file of results that one process at a time may write.

    Attributes:
        path: The file.
        asked: What all results in it have in common, JSON values: the `table`, the `seed`, ...;
            empty before anything has begun.
        made_with: Versions that made the first results.
        entrants: All entrants, by number.
    """

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False) -> None:
        """Open it.

        Args:
            path: The file.
            create: Whether there may be none yet.
            readonly: Whether only to read.

        Raises:
            StoreError: There is none, it cannot be read, or another process writes it.
        """
        self.path = path
        self.asked: dict[str, Any] = {}
        self.made_with: dict[str, str] = {}
        self.entrants: list[Entrant] = []
        self._lock: FileLock | None = None
        self._written, self._cost = time.monotonic(), 0.0
        if not self.path.is_file() and not create:
            raise StoreError(
                f"there are no results at {self.path}; start with: kille tournament CONFIG"
            )
        if not readonly:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.path.with_name(LOCK), timeout=0)
            try:
                self._lock.acquire()
            except Timeout:
                self._lock = None
                raise StoreError(
                    f"a tournament is being played in {self.path.parent}; wait until it has ended, "
                    "or end it"
                ) from None
            for left in self.path.parent.glob(f".{self.path.name}.*"):
                left.unlink()  # by a process that was killed while it wrote
        try:
            if self.path.is_file():
                with _reading(self.path):
                    self._load(*read_arrays(self.path))
                    Table.read(self.asked["table"])
        except BaseException:
            self.close()
            raise

    def _load(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Take what the file holds."""
        raise NotImplementedError

    def _save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what the file is to hold."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes write."""
        if self._lock is not None:
            self._lock.release()
        self._lock = None

    def write(self) -> None:
        """Write the file, whole.

        Raises:
            StoreError: It was opened for reading only, or cannot be written.
        """
        if self._lock is None:
            raise StoreError(f"{self.path} is not open for writing")
        begun = time.monotonic()
        try:
            write_arrays(self.path, *self._save())
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written: {error}") from error
        self._written = time.monotonic()
        self._cost = self._written - begun

    def write_if_due(self) -> None:
        """Write the file now and then, so that little is lost and writing takes little time."""
        if time.monotonic() - self._written > max(SECONDS, COST * self._cost):
            self.write()

    @property
    def table(self) -> Table:
        """The table of all results."""
        return Table.read(self.asked["table"])

    def check_same(self, asked: Mapping[str, Any]) -> None:
        """Refuse to go on with results of something else than what is asked.

        Raises:
            ConfigError: The message says what differs.
        """
        found = Table.read(asked["table"]).differences(self.table)
        found += [
            f"{key} {self.asked.get(key)!r} instead of {value!r}"
            for key, value in asked.items()
            if key != "table" and self.asked.get(key) != value
        ]
        if found:
            raise ConfigError(
                f"{self.path.parent} holds results of something else: {'; '.join(found)}; choose "
                "another name for this, or remove that folder"
            )


class Store(Locked):
    """The results of one tournament; see `Locked`.

    Attributes:
        tally: The sums of all results.
        rounds: Lineups of Swiss rounds.
        ends: After how many deals of how many entrants all was played that was asked for; each is a
            look.
    """

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False) -> None:
        """Open a file of results; see `Locked`."""
        self.tally = Tally.empty(2, 0)
        self.rounds: list[list[tuple[int, ...]]] = []
        self.ends: list[tuple[int, int]] = []
        self._played: dict[int, list[tuple[int, int]]] = {}
        super().__init__(path, create=create, readonly=readonly)

    # The file

    def _load(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        if about.get("format") != FORMAT:
            raise StoreError(
                f"{self.path} has version {shortened(about.get('format'))} of the format, this "
                f"kille-env reads version {FORMAT}; read it with the kille-env that wrote it, or "
                "start again in another folder"
            )
        content = _Content.model_validate_json(json.dumps(about))
        self.asked, self.made_with, self.ends = content.asked, content.made_with, content.ends
        self.entrants = content.entrants
        numbers = [each.number for each in self.entrants]
        if numbers != list(range(len({each.name for each in self.entrants}))):
            raise ValueError(f"its entrants have the numbers {shortened(numbers)}")
        self.tally = Tally.of({name: arrays[name] for name in ARRAYS}, content.observations)
        if (self.tally.seats, self.tally.entrants) != (self.table.num_players, len(numbers)):
            raise ValueError("the tally is of other tables")
        self.rounds = [[tuple(lineup) for lineup in each] for each in content.rounds]
        for lineup in (lineup for each in self.rounds for lineup in each):
            if len(lineup) != self.tally.seats or max(lineup) >= len(numbers):
                raise ValueError(f"its rounds have the lineup {shortened(lineup)}")
        for span in content.played:
            spans = self._played.setdefault(span.stage, [])
            if span.first >= span.end or (spans and span.first <= spans[-1][1]):
                raise ValueError(f"it says out of order that it has played {shortened(span)}")
            spans.append((span.first, span.end))

    def _save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        content = _Content(
            format=FORMAT,
            asked=self.asked,
            made_with=self.made_with,
            entrants=self.entrants,
            rounds=[[list(lineup) for lineup in each] for each in self.rounds],
            played=[
                _Span(stage=stage, first=first, end=end)
                for stage, spans in sorted(self._played.items())
                for first, end in spans
            ],
            observations=self.tally.observations,
            ends=self.ends,
        )
        return content.model_dump(), self.tally.narrow()

    # Entrants

    def with_new(self, entrants: Sequence[Entrant]) -> list[Entrant]:
        """Return all entrants by number, as they will be when these have entered.

        Args:
            entrants: The entrants. Their numbers and waves do not matter: a new one gets the next
                number, and those that are new form the next wave.

        Raises:
            StoreError: One that entered is missing, or plays otherwise.
        """
        known = {each.name: each for each in self.entrants}
        wave = 1 + max((each.wave for each in known.values()), default=-1)
        given = {each.name: each for each in entrants}
        for each in self.entrants:
            now = given.get(each.name)
            if now is None and each.out is None:
                raise StoreError(
                    f"{each.name!r} has entered and is not among the entrants any more; put it "
                    "back, for what it has played stays, or start another tournament"
                )
            if now is not None and now.play != each.play:
                raise StoreError(
                    f"{each.name!r} entered with play: {each.play} and has play: {now.play} now; "
                    "put it back, or enter it under another name"
                )
        for each in entrants:
            old = known.get(each.name)
            if old is None:
                known[each.name] = replace(each, number=len(known), wave=wave)
            elif old.out is None:
                known[each.name] = replace(old, player=each.player)  # its files may have moved
        return list(known.values())

    def enter(self, entrants: Sequence[Entrant]) -> None:
        """Take all entrants by number, as `with_new` has returned them and with what is known now.

        Raises:
            StoreError: One of them is another player than before.
        """
        check_unchanged(self.entrants, entrants)
        known = [each.fingerprint for each in self.entrants]
        known += [""] * (len(entrants) - len(known))
        self.entrants = [
            replace(each, fingerprint=each.fingerprint or before)
            for each, before in zip(entrants, known, strict=True)
        ]
        if self.tally.observations:
            self.tally = self.tally.grown(len(entrants))
        else:
            self.tally = Tally.empty(self.table.num_players, len(entrants))

    def put_out(self, number: int, reason: str) -> None:
        """Put an entrant out; if it is out already, the first reason stands."""
        each = self.entrants[number]
        if each.out is None:
            self.entrants[number] = replace(each, out=reason)

    @property
    def absent(self) -> tuple[int, ...]:
        """Numbers of those that are out."""
        return tuple(each.number for each in self.entrants if each.out is not None)

    def field(self) -> Field:
        """Return who takes part, and what is known of them."""
        return Field.of(self.entrants, self.tally.means(), tuple(self.rounds))

    # Results

    def missing(
        self, stage: int, draw: Draw, first: int, end: int, size: int = MOST_DEALS
    ) -> Iterator[Shard]:
        """Yield what has not been played of a draw's deals, without those that are out.

        Deals at which nobody can sit do not count as played: intervals go by how many were.

        Args:
            stage: Number of the draw.
            draw: The draw.
            first: The first of the deals.
            end: One past the last.
            size: About how many tables a shard has at most.
        """
        spans = self._played.get(stage, [])
        ends = [(first, first), *((max(a, first), min(b, end)) for a, b in spans), (end, end)]
        for (_, begin), (stop, _) in pairwise(ends):
            for shard in cut(Shard(stage, draw, begin, stop - begin), size):
                absent = self.absent  # who is out by now
                if not draw.can_play(absent):
                    return
                yield replace(shard, without=absent)

    def keep(self, shard: Shard, lineups: Lineups, earned: np.ndarray) -> None:
        """Take the result of a shard; it is written later, see `write_if_due`.

        Args:
            shard: The shard.
            lineups: Its lineups, K of them.
            earned: [K, P, P] units of each seat in each rotation, the rotations first.

        Raises:
            StoreError: Some of it has been played before, or it has other shapes than its lineups.
        """
        expected = (*lineups.members.shape, shard.draw.seats)
        if earned.shape != expected or not np.isfinite(earned).all():
            raise StoreError(f"a result has shape {earned.shape}, expected {expected} finite units")
        spans = self._played.setdefault(shard.stage, [])
        joined = _joined([*spans, (shard.first_deal, shard.first_deal + shard.deals)])
        if sum(b - a for a, b in joined) != sum(b - a for a, b in spans) + shard.deals:
            raise StoreError(f"deals of {shard} have been played before")
        self.tally.add(lineups.members, lineups.deal, earned)
        spans[:] = joined

    def has(self, stage: int, first: int, end: int) -> bool:
        """Return whether all of some deals have been played."""
        spans = self._played.get(stage, [])
        return any(a <= first and end <= b for a, b in spans)

    def deals(self) -> int:
        """Return how many different deals have been played."""
        spans = _joined([span for spans in self._played.values() for span in spans])
        return sum(end - first for first, end in spans)

    def note_round(self, number: int, draw: Draw) -> None:
        """Note the lineups of a Swiss round, unless they are."""
        if number == len(self.rounds):
            self.rounds.append(list(draw.groups))

    def note_end(self) -> None:
        """Note that all was played that was asked for; each end is a look."""
        if not self.ended():
            self.ends.append((self.deals(), len(self.entrants)))

    def ended(self) -> bool:
        """Return whether nothing has been played, and nobody has entered, since the last end."""
        return (self.deals(), len(self.entrants)) in self.ends[-1:]


def check_unchanged(before: Sequence[Entrant], now: Sequence[Entrant]) -> None:
    """Refuse entrants that are other players than before, both by number.

    Raises:
        StoreError: The message names one.
    """
    for old, new in zip(before, now, strict=False):
        if old.fingerprint and new.fingerprint and old.fingerprint != new.fingerprint:
            advice = (
                "; give an object that changes while it plays an attribute `fingerprint`, a "
                "text that you change when the player changes"
            )
            raise StoreError(
                f"{old.name!r} has changed: it entered as {old.player} and answers otherwise "
                f"now ({new.player}); put the old player back, or enter it under another name"
                f"{advice if new.player.startswith(OBJECT) else ''}"
            )


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that touch as one."""
    joined: list[tuple[int, int]] = []
    for first, end in sorted(spans):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((first, end))
    return joined
