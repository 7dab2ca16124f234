"""The results of a tournament: one file, written whole every few seconds.

It holds the entrants, which deals of which rows have been played, and the tallies. Tallies do not
depend on the order in which results came, so a tournament that was killed and resumed ends with the
same bytes as one that was not. Only one process at a time may write; others may read meanwhile.
"""

import json
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from kille_env.errors import KilleError, shortened
from kille_env.files import BROKEN, read_arrays, write_arrays
from kille_env.registry import Table, spec
from kille_training.arena.draws import Draw
from kille_training.arena.entrants import MOST_DEALS, OBJECT, Entrant, Number
from kille_training.arena.schedule import Field as Present
from kille_training.arena.shards import SHARD_ROWS, Shard, cut
from kille_training.statistics.tally import ARRAYS, Tally

FORMAT = 5
FILE, LOCK = "results.npz", "results.lock"
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
    """Deals of some rows that have been played."""

    seats: Number
    stage: Number
    row: Number
    first: Number
    end: Number


class _Content(Strict):
    """What the file holds beside the tallies.

    Attributes:
        tables: What all results have in common.
        made_with: Versions that made the first of them.
        entrants: By number.
        stages: By table size, digests of the draws that have been begun.
        rounds: By table size, the lineups of Swiss rounds.
        played: What has been played.
        observations: By table size, observations in the tally.
        ends: After how many deals, by table size, all was played that was asked for.
    """

    format: Literal[5]
    tables: dict[str, Any]
    made_with: dict[str, str]
    entrants: list[Entrant]
    stages: dict[str, list[str]]
    rounds: dict[str, list[list[list[Number]]]]
    played: list[_Span]
    observations: dict[str, Number]
    ends: list[dict[str, Number]]


@dataclass(frozen=True, eq=False)
class Result:
    """What came of a shard.

    Attributes:
        shard: The shard.
        members: [D, L, P] int32, numbers of the entrants in order round the table; a lineup that
            was not played is all -1.
        earned: [D, L, P, P] units of each seat in each rotation, the rotations first.
    """

    shard: Shard
    members: np.ndarray
    earned: np.ndarray


class Locked:
    """A file of results that one process at a time may write."""

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False) -> None:
        """Open it.

        Args:
            path: The file, or its folder.
            create: Whether there may be none yet.
            readonly: Whether only to read.

        Raises:
            StoreError: There is none, it cannot be read, or another process writes it.
        """
        self.path = path if path.suffix == ".npz" else path / FILE
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


class Store(Locked):
    """The results of one tournament.

    Attributes:
        tables: What all results have in common; empty before the tournament has begun.
        made_with: Versions that made the first results.
        entrants: All entrants, by number.
        tallies: The sums of all results, by table size.
        rounds: Lineups of Swiss rounds, by table size.
        ends: After how many deals, by table size, all was played that was asked for; each is a
            look.
    """

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False) -> None:
        """Open a file of results; see `Locked`."""
        self.tables: dict[str, Any] = {}
        self.made_with: dict[str, str] = {}
        self.entrants: list[Entrant] = []
        self.tallies: dict[int, Tally] = {}
        self.rounds: dict[int, list[list[tuple[int, ...]]]] = {}
        self.ends: list[dict[str, int]] = []
        self._stages: dict[int, list[str]] = {}
        self._played: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
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
        tables = self.tables = content.tables
        self.made_with, self.ends = content.made_with, content.ends
        seed = tables["seed"]
        if type(seed) is not int or not 0 <= seed < 2**63:
            raise ValueError(f"the seed is {shortened(seed)}")
        spec(tables["game"]).resolve(tables["rules"])
        if type(tables["game_version"]) is not int:
            raise ValueError(f"the version of the game is {shortened(tables['game_version'])}")
        self.entrants = content.entrants
        names = {each.name for each in self.entrants}
        numbers = [each.number for each in self.entrants]
        if numbers != list(range(len(names))):
            raise ValueError(f"its entrants have the numbers {shortened(numbers)}")
        self.tallies = {
            self._size(seats): _tally(seats, self.entrants, count, arrays)
            for seats, count in content.observations.items()
        }
        self._stages = {self._size(seats): each for seats, each in content.stages.items()}
        for seats, rounds in content.rounds.items():
            lineups = [lineup for each in rounds for lineup in each]
            if any(len(one) != self._size(seats) or max(one) >= len(names) for one in lineups):
                raise ValueError(f"the rounds at {seats} seats are of other entrants")
            self.rounds[int(seats)] = [[tuple(one) for one in each] for each in rounds]
        for span in content.played:
            if span.stage >= len(self._stages.get(span.seats, ())) or span.first >= span.end:
                raise ValueError(f"it says it has played {shortened(span)}")
            spans = self._played.setdefault((span.seats, span.stage, span.row), [])
            if spans and spans[-1][1] >= span.first:
                raise ValueError("its deals overlap")
            spans.append((span.first, span.end))

    def _size(self, seats: str) -> int:
        """Return a table size, if the game has it."""
        return spec(self.tables["game"]).check_players(int(seats))

    def _save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        content = _Content(
            format=FORMAT,
            tables=self.tables,
            made_with=self.made_with,
            entrants=self.entrants,
            stages={str(seats): each for seats, each in self._stages.items()},
            rounds={
                str(seats): [[list(lineup) for lineup in each] for each in rounds]
                for seats, rounds in self.rounds.items()
            },
            played=[
                _Span(seats=seats, stage=stage, row=row, first=first, end=end)
                for (seats, stage, row), spans in sorted(self._played.items())
                for first, end in spans
            ],
            observations={str(seats): each.observations for seats, each in self.tallies.items()},
            ends=self.ends,
        )
        arrays = {
            f"{seats}.{name}": array
            for seats, tally in sorted(self.tallies.items())
            for name, array in tally.narrow().items()
        }
        return content.model_dump(), arrays

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
        self.entrants = [
            replace(new, fingerprints={**old.fingerprints, **new.fingerprints})
            for old, new in zip(self.entrants, entrants, strict=False)
        ] + list(entrants[len(self.entrants) :])
        self.tallies = {seats: each.grown(len(entrants)) for seats, each in self.tallies.items()}

    def put_out(self, number: int, reason: str) -> None:
        """Put an entrant out; if it is out already, the first reason stands."""
        each = self.entrants[number]
        if each.out is None:
            self.entrants[number] = replace(each, out=reason)

    @property
    def absent(self) -> tuple[int, ...]:
        """Numbers of those that are out."""
        return tuple(each.number for each in self.entrants if each.out is not None)

    def field(self, seats: int) -> Present:
        """Return who takes part at tables of one size."""
        none = np.full(len(self.entrants), np.nan)
        scores = self.tallies[seats].means() if seats in self.tallies else none
        return Present.of(self.entrants, scores, tuple(self.rounds.get(seats, ())))

    # Results

    def missing(
        self, stage: int, draw: Draw, first: int, end: int, size: int = MOST_DEALS
    ) -> Iterator[Shard]:
        """Yield what has not been played of a draw's deals, and can be without those that are out.

        Args:
            stage: Number of the draw.
            draw: The draw.
            first: The first of the deals.
            end: One past the last.
            size: About how many tables a shard has at most; the first deals of all rows come first.

        Raises:
            StoreError: The stage was begun with another draw.
        """
        self._check_stage(stage, draw)
        whole = []
        for row in range(0, len(draw.rows), SHARD_ROWS):
            spans = self._played.get((draw.seats, stage, row), [])
            ends = [(first, first), *((max(a, first), min(b, end)) for a, b in spans), (end, end)]
            for (_, begin), (stop, _) in pairwise(ends):
                if begin < stop:
                    part = draw.part(row, row + SHARD_ROWS)
                    whole.append(Shard(stage, part, begin, stop - begin))
        for shard in cut(whole, size):
            now = replace(shard, without=self.absent)  # who is out by now
            if now.can_play():
                yield now

    def _check_stage(self, stage: int, draw: Draw) -> None:
        stages = self._stages.setdefault(draw.seats, [])
        digest = draw.digest()
        if stage == len(stages):
            stages.append(digest)
        if stages[stage] != digest:
            raise StoreError(
                f"{self.path.parent} was begun with other lineups (stage {stage}, {draw.seats} "
                "seats) than this kille-env draws; go on with the version that began it, see its "
                "config.yaml, or start again in another folder"
            )

    def keep(self, result: Result) -> None:
        """Take the result of a shard; it is written later, see `write_if_due`.

        Raises:
            StoreError: Some of it has been played before, or it has other shapes than its shard.
        """
        shard, earned = result.shard, result.earned
        seats, row = shard.seats, shard.draw.first
        if earned.shape != (*shard.shape, seats) or not np.isfinite(earned).all():
            raise StoreError(
                f"a result has shape {earned.shape}, expected {(*shard.shape, seats)} finite units"
            )
        spans = self._played.setdefault((seats, shard.stage, row), [])
        joined = _joined([*spans, (shard.first_deal, shard.first_deal + shard.deals)])
        if sum(b - a for a, b in joined) != sum(b - a for a, b in spans) + shard.deals:
            raise StoreError(f"deals of {shard} have been played before")
        if seats not in self.tallies:
            self.tallies[seats] = Tally.empty(seats, len(self.entrants))
        self.tallies[seats].add(
            result.members.reshape(-1, seats), shard.deal().ravel(),
            earned.reshape(-1, seats, seats),
        )  # fmt: skip
        spans[:] = joined

    def has(self, seats: int, stage: int, row: int, first: int, end: int) -> bool:
        """Return whether all of some deals have been played."""
        spans = self._played.get((seats, stage, row), [])
        return any(a <= first and end <= b for a, b in spans)

    def deals(self) -> dict[int, int]:
        """Return how many different deals have been played, by table size."""
        found: dict[int, list[tuple[int, int]]] = {}
        for (seats, _, _), spans in self._played.items():
            found.setdefault(seats, []).extend(spans)
        return {
            seats: sum(b - a for a, b in _joined(spans)) for seats, spans in sorted(found.items())
        }

    def note_round(self, seats: int, number: int, draw: Draw) -> None:
        """Note the lineups of a Swiss round, unless they are."""
        rounds = self.rounds.setdefault(seats, [])
        if number == len(rounds):
            rounds.append(list(draw.groups))

    def note_end(self) -> None:
        """Note after how many deals all was played that was asked for; each is a look."""
        deals = {str(seats): number for seats, number in self.deals().items()}
        if deals not in self.ends[-1:]:
            self.ends.append(deals)

    def table(self) -> Table | None:
        """Return the table of the smallest size that was played; None before any was."""
        if not self.tallies:
            return None
        known, seats = self.tables, min(self.tallies)
        rules = spec(known["game"]).resolve(known["rules"])
        return Table(known["game"], seats, rules, known["game_version"])


def check_unchanged(before: Sequence[Entrant], now: Sequence[Entrant]) -> None:
    """Refuse entrants that are other players than before, both by number.

    Raises:
        StoreError: The message names one.
    """
    for old, new in zip(before, now, strict=False):
        for seats in old.fingerprints.keys() & new.fingerprints.keys():
            if old.fingerprints[seats] != new.fingerprints[seats]:
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


def _tally(
    seats: str, entrants: Sequence[Entrant], observations: int, arrays: Mapping[str, np.ndarray]
) -> Tally:
    """Return a tally that was kept, if it is one of so many entrants."""
    found = Tally.of({name: arrays[f"{seats}.{name}"] for name in ARRAYS}, observations)
    if (found.seats, found.entrants) != (int(seats), len(entrants)):
        raise ValueError(f"the tally of {seats} seats is of other tables")
    return found
