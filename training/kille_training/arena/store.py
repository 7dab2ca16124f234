"""The results of a tournament: one file, written whole every few seconds.

It holds the entrants, the played deals of each cohort, and the tally. A tally does not depend on
the order of results, so a killed and resumed tournament ends with the same bytes as an
uninterrupted one. Only one process at a time may write; others may read meanwhile.
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
from kille_env.files import BROKEN, make_folder, read_arrays, write_arrays, writing
from kille_env.registry import Table
from kille_training.arena.entrants import MOST_DEALS, OBJECT, Entrant, Number
from kille_training.arena.play import Shard, cut
from kille_training.arena.schedule import Lineups, Schedule
from kille_training.statistics.tally import ARRAYS, Tally

FORMAT = 1  # version of the file; it also rises when schedules change
LOCK = "results.lock"
SECONDS = 5.0  # minimum seconds between two writes
COST = 20.0  # same as a multiple of the duration of the last write


class StoreError(KilleError):
    """Raised if results cannot be read or belong to something else."""


class Strict(BaseModel):
    """Part of a file that holds exactly these fields, of these types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class _Played(Strict):
    """Deals that a cohort has played."""

    cohort: Number
    first: Number
    end: Number


class _Content(Strict):
    """The file beside the tally; see `Store`."""

    format: Literal[1]
    config: dict[str, Any]
    made_with: dict[str, str]
    entrants: list[Entrant]
    played: list[_Played]
    observations: Number
    ends: list[tuple[Number, Number]]


@contextmanager
def _reading(path: Path) -> Generator[None]:
    """Turn errors about the content of a file into sentences."""
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
            f"{path} is damaged ({shortened(said, 300)}); restore it from a copy, or start again "
            "in another folder"
        ) from error


class Locked:
    """A file of results that one process at a time may write."""

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False) -> None:
        """Open the file, or create it if `create`; lock it unless `readonly`."""
        self.path = path
        self.config: dict[str, Any] = {}  # settings that all results share; empty at first
        self.made_with: dict[str, str] = {}  # versions that made the first results
        self.entrants: list[Entrant] = []  # by number
        self._lock: FileLock | None = None
        self._written, self._cost = time.monotonic(), 0.0
        if not self.path.is_file() and not create:
            raise StoreError(
                f"there are no results at {self.path}; start with: kille tournament CONFIG"
            )
        if not readonly:
            make_folder(self.path.parent)
            self._lock = FileLock(self.path.with_name(LOCK), timeout=0)
            with writing(self.path):
                try:
                    self._lock.acquire()
                except Timeout:
                    self._lock = None
                    raise StoreError(
                        f"another process is playing in {self.path.parent}; wait until it ends, or "
                        "stop it"
                    ) from None
            for left in self.path.parent.glob(f".{self.path.name}.*"):
                left.unlink()  # of a process that was killed while it wrote
        try:
            if self.path.is_file():
                with _reading(self.path):
                    about, arrays = read_arrays(self.path)
                    self._check_format(about)
                    self._load(about, arrays)
                    Table.read(self.config["table"])
        except BaseException:
            self.close()
            raise

    def _check_format(self, about: dict[str, Any]) -> None:
        """Refuse a file of another version."""
        if about.get("format") != FORMAT:
            raise StoreError(
                f"{self.path} has version {shortened(about.get('format'))} of the format, this "
                f"kille-env reads version {FORMAT}; read it with the kille-env that wrote it, or "
                "start again in another folder"
            )

    def _load(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Set the attributes from the content of the file."""
        raise NotImplementedError

    def _save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the content of the file."""
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
        """Write the file, whole."""
        if self._lock is None:
            raise StoreError(f"{self.path} is not open for writing")
        begun = time.monotonic()
        write_arrays(self.path, *self._save())
        self._written = time.monotonic()
        self._cost = self._written - begun

    def write_if_due(self) -> None:
        """Write the file if the last write was long enough ago."""
        if time.monotonic() - self._written > max(SECONDS, COST * self._cost):
            self.write()

    @property
    def table(self) -> Table:
        """The table of all results."""
        return Table.read(self.config["table"])

    def check_same(self, config: Mapping[str, Any]) -> None:
        """Refuse to add results of another `config`."""
        differences = Table.read(config["table"]).differences(self.table)
        differences += [
            f"{key} {self.config.get(key)!r} instead of {value!r}"
            for key, value in config.items()
            if key != "table" and self.config.get(key) != value
        ]
        if differences:
            raise ConfigError(
                f"{self.path.parent} holds results with other settings: {'; '.join(differences)}; "
                "choose another name, or remove that folder"
            )


class Store(Locked):
    """The results of one tournament; see `Locked`."""

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False) -> None:
        """Open a file of results; see `Locked`."""
        self.tally = Tally.empty(2, 0)
        # The looks: deals and entrants whenever all scheduled deals had been played.
        self.ends: list[tuple[int, int]] = []
        self._played: dict[int, list[tuple[int, int]]] = {}
        super().__init__(path, create=create, readonly=readonly)

    # The file

    def _load(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        content = _Content.model_validate_json(json.dumps(about))
        self.config, self.made_with, self.ends = content.config, content.made_with, content.ends
        self.entrants = content.entrants
        numbers = [each.number for each in self.entrants]
        if numbers != list(range(len({each.name for each in self.entrants}))):
            raise ValueError(f"its entrants have the numbers {shortened(numbers)}")
        self.tally = Tally.of({name: arrays[name] for name in ARRAYS}, content.observations)
        if (self.tally.seats, self.tally.entrants) != (self.table.num_players, len(numbers)):
            raise ValueError("the tally is of other tables")
        for deals in content.played:
            played = self._played.setdefault(deals.cohort, [])
            if deals.first >= deals.end or (played and deals.first <= played[-1][1]):
                raise ValueError(f"its played deals are out of order: {shortened(deals)}")
            played.append((deals.first, deals.end))

    def _save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        content = _Content(
            format=FORMAT,
            config=self.config,
            made_with=self.made_with,
            entrants=self.entrants,
            played=[
                _Played(cohort=cohort, first=first, end=end)
                for cohort, played in sorted(self._played.items())
                for first, end in played
            ],
            observations=self.tally.observations,
            ends=self.ends,
        )
        return content.model_dump(), self.tally.narrow()

    # Entrants

    def with_new(self, entrants: Sequence[Entrant]) -> list[Entrant]:
        """Return all entrants by number; new ones get the next numbers and form a cohort."""
        known = {each.name: each for each in self.entrants}
        cohort = 1 + max((each.cohort for each in known.values()), default=-1)
        given = {each.name: each for each in entrants}
        for each in self.entrants:
            now = given.get(each.name)
            if now is None and each.out is None:
                raise StoreError(
                    f"{each.name!r} is missing from the entrants, but its results stay; put it "
                    "back, or start another tournament"
                )
            if now is not None and now.play != each.play:
                raise StoreError(
                    f"{each.name!r} entered with play: {each.play}, not play: {now.play}; change "
                    "it back, or enter it under another name"
                )
        for each in entrants:
            old = known.get(each.name)
            if old is None:
                known[each.name] = replace(each, number=len(known), cohort=cohort)
            elif old.out is None:
                known[each.name] = replace(old, player=each.player)  # its files may have moved
        return list(known.values())

    def enter(self, entrants: Sequence[Entrant]) -> None:
        """Enter the identified entrants of `with_new`; a changed player is refused."""
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
        """Disqualify an entrant; a second call keeps the first reason."""
        each = self.entrants[number]
        if each.out is None:
            self.entrants[number] = replace(each, out=reason)

    @property
    def out(self) -> tuple[int, ...]:
        """Numbers of disqualified entrants."""
        return tuple(each.number for each in self.entrants if each.out is not None)

    # Results

    def missing(
        self, cohort: int, schedule: Schedule, deals: int, size: int = MOST_DEALS
    ) -> Iterator[Shard]:
        """Yield the unplayed shards of a cohort, without disqualified entrants.

        A shard has at most about `size` tables. Deals without any lineup do not count as played,
        because the width of intervals depends on their number.
        """
        played = self._played.get(cohort, [])
        ends = [(0, 0), *((min(a, deals), min(b, deals)) for a, b in played), (deals, deals)]
        for (_, begin), (stop, _) in pairwise(ends):
            for shard in cut(Shard(cohort, schedule, begin, stop - begin), size):
                out = self.out  # anew: an entrant may have failed since the last shard
                if not schedule.can_play(out):
                    return
                yield replace(shard, without=out)

    def keep(self, shard: Shard, lineups: Lineups, earned: np.ndarray) -> None:
        """Add the result of a shard, units [K, P, P]; `write_if_due` writes it later."""
        expected = (*lineups.members.shape, shard.schedule.seats)
        if earned.shape != expected or not np.isfinite(earned).all():
            raise StoreError(f"a result has shape {earned.shape}, expected {expected} finite units")
        played = self._played.setdefault(shard.cohort, [])
        joined = _joined([*played, (shard.first_deal, shard.first_deal + shard.deals)])
        if sum(b - a for a, b in joined) != sum(b - a for a, b in played) + shard.deals:
            raise StoreError(f"deals of {shard} have been played before")
        self.tally.add(lineups.members, lineups.deal, earned)
        played[:] = joined

    def deals(self) -> int:
        """Return the number of distinct deals played."""
        played = _joined([deals for played in self._played.values() for deals in played])
        return sum(end - first for first, end in played)

    def note_end(self) -> None:
        """Note that all scheduled deals have been played; each end is a look."""
        if not self.ended():
            self.ends.append((self.deals(), len(self.entrants)))

    def ended(self) -> bool:
        """Return whether deals and entrants are those of the last end."""
        return (self.deals(), len(self.entrants)) in self.ends[-1:]


def check_unchanged(before: Sequence[Entrant], now: Sequence[Entrant]) -> None:
    """Refuse entrants with changed players, both by number."""
    for old, new in zip(before, now, strict=False):
        if old.fingerprint and new.fingerprint and old.fingerprint != new.fingerprint:
            advice = (
                "; if an object changes while it plays, give it an attribute `fingerprint`, a "
                "text that you change with the player"
            )
            raise StoreError(
                f"{old.name!r} has changed: it entered as {old.player} and now answers "
                f"differently ({new.player}); restore it, or enter it under another name"
                f"{advice if new.player.startswith(OBJECT) else ''}"
            )


def _joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return sorted ranges of deals, adjacent ones joined."""
    joined: list[tuple[int, int]] = []
    for first, end in sorted(ranges):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((first, end))
    return joined
