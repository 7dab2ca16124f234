"""What a tournament keeps: an SQLite file in its folder, written unit by unit.

What a unit brought is written in one transaction that has reached the disk before `keep` returns.
So the file holds whole units and nothing else, whenever the process is ended and however. Only one
process at a time may write: it holds a lock that the operating system takes away when it dies.
Others may read meanwhile. The folder belongs on a local disk, for the processes share memory over a
file in it, which network file systems do not offer.
"""

import json
import sqlite3
import zlib
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.errors import KilleError
from kille_training.arena.units import PLAYS, Entrant, Outcome, Result, Stint, means
from kille_training.statistics.observations import Observations

FILE, LOCK = "results.sqlite", "results.lock"
APPLICATION = 0x4B494C4C
"""Marks the file as ours, in its header: "KILL"."""
SCHEMA = 1
WAIT = 30.0
"""Seconds to wait for another process that is in the middle of something short."""
TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE entrants (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    player TEXT NOT NULL,
    play TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    card TEXT NOT NULL,
    failure TEXT  -- why he is out, with lineup and deal; NULL while he is in
)""",
    """CREATE TABLE lineups (
    number INTEGER PRIMARY KEY,
    num_players INTEGER NOT NULL,
    members TEXT NOT NULL UNIQUE,
    seatings BLOB  -- [S, P] int8, the same at every deal; NULL until something has been played
)""",
    "CREATE TABLE units (number INTEGER PRIMARY KEY, seconds REAL NOT NULL)",
    """CREATE TABLE results (
    lineup INTEGER NOT NULL REFERENCES lineups,
    first_deal INTEGER NOT NULL,
    deals INTEGER NOT NULL,
    unit INTEGER NOT NULL REFERENCES units,
    earned BLOB NOT NULL,  -- [deals, S, P] float64, little endian, compressed by zlib
    PRIMARY KEY (lineup, first_deal)
)""",
)


class StoreError(KilleError):
    """Results can not be read or written; its subclasses say why."""


class NoStoreError(StoreError):
    """There are no results."""


class ForeignStoreError(StoreError):
    """The file is not one of results."""


class StoreVersionError(StoreError):
    """Another version of the suite has written the file."""


class DamagedStoreError(StoreError):
    """The file can not be read in part."""


class StoreInUseError(StoreError):
    """Another process is writing results there."""


class StoreConflictError(StoreError):
    """What is to be kept contradicts what has been kept."""


@dataclass(frozen=True)
class KeptEntrant(Entrant):
    """Somebody who takes part, as the file has him.

    Attributes:
        fingerprint: Tells his files from others: whoever has changed is somebody else.
        card: What is to be known of him, JSON values.
        out: Why he is out; None while he is in.
    """

    fingerprint: str = ""
    card: dict[str, Any] = field(default_factory=dict, hash=False)
    out: str | None = None


@dataclass(frozen=True)
class Lineup:
    """Who sits at a table, in order round it.

    Attributes:
        number: Its number, from 0.
        members: [P] numbers of the entrants.
    """

    number: int
    members: tuple[int, ...]


class Store:
    """The results of one tournament."""

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False) -> None:
        """Opens a file of results.

        Args:
            path: The file, or the folder that it lies in as `results.sqlite`.
            create: Whether to begin one where there is none.
            readonly: Whether only to read, which is possible while another process writes.

        Raises:
            StoreError: The subclass says why it can not be opened.
        """
        self.path = path / FILE if path.is_dir() or path.suffix != ".sqlite" else path
        self._lock: sqlite3.Connection | None = None
        self._opened: sqlite3.Connection | None = None
        self._entrants: list[KeptEntrant] | None = None
        self._lineups: dict[tuple[int, ...], int] | None = None
        if not self.path.is_file() and not create:
            raise NoStoreError(
                f"there are no results at {self.path}; begin with: kille tournament CONFIG"
            )
        try:
            with self._damage():
                if not readonly:
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                    self._lock = self._take_lock()
                mode = "ro" if readonly else "rwc"
                self._opened = sqlite3.connect(
                    f"{self.path.resolve().as_uri()}?mode={mode}",
                    uri=True, isolation_level=None, timeout=WAIT,
                )  # fmt: skip
                self._check(create)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file and of its lock."""
        for each in (self._opened, self._lock):
            if each is not None:
                each.close()
        self._opened = self._lock = None

    @property
    def _file(self) -> sqlite3.Connection:
        if self._opened is None:
            raise StoreError(f"{self.path} has been closed")
        return self._opened

    # Opening.

    def _take_lock(self) -> sqlite3.Connection:
        """Holds a transaction on an empty file beside: SQLite knows how to lock everywhere."""
        lock = sqlite3.connect(self.path.with_name(LOCK), isolation_level=None, timeout=0.0)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            lock.close()
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            raise StoreInUseError(
                f"a tournament is being played in {self.path.parent}; "
                "wait until it has ended, or end it"
            ) from None
        return lock

    def _check(self, create: bool) -> None:
        """Refuses what is not a file of results of this version; begins one where it may."""
        ours, version, schema = (
            self._file.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version", "schema_version")
        )
        if ours == 0 and schema == 0:  # not there, or ended before the first transaction
            if not create:
                raise NoStoreError(f"{self.path} is empty; begin with: kille tournament CONFIG")
            self._begin()
        elif ours != APPLICATION:
            raise ForeignStoreError(
                f"{self.path} was not written by a tournament; choose another folder"
            )
        elif version != SCHEMA:
            raise StoreVersionError(
                f"{self.path} has version {version} of the format, this kille-env reads "
                f"version {SCHEMA}; read it with the kille-env that wrote it, or begin anew "
                "in another folder"
            )
        self._file.execute("PRAGMA foreign_keys = ON")
        if self._lock is not None:
            # FULL: a unit takes seconds to play, so a transaction can wait for the disk.
            self._file.execute("PRAGMA synchronous = FULL")

    def _begin(self) -> None:
        self._file.execute("PRAGMA journal_mode = WAL")
        with self._writing():
            for statement in TABLES:
                self._file.execute(statement)
            self._file.execute(f"PRAGMA application_id = {APPLICATION}")
            self._file.execute(f"PRAGMA user_version = {SCHEMA}")

    @contextmanager
    def _damage(self) -> Generator[None]:
        """Says what SQLite and zlib say of a damaged file in words of ours."""
        try:
            yield
        except (sqlite3.DatabaseError, zlib.error, json.JSONDecodeError) as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
            if code == sqlite3.SQLITE_NOTADB:
                raise ForeignStoreError(
                    f"{self.path} was not written by a tournament; choose another folder"
                ) from error
            if code == sqlite3.SQLITE_CORRUPT:
                raise DamagedStoreError(
                    f"{self.path} is damaged ({error}); put a copy in its place, or begin anew "
                    "in another folder"
                ) from error
            raise StoreError(f"{self.path}: {error}") from error

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Everything or nothing is written."""
        if self._lock is None:
            raise StoreError(f"{self.path} has been opened for reading only")
        with self._damage():
            self._file.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._file.execute("COMMIT")
            except BaseException:
                if self._file.in_transaction:  # some errors have ended it already
                    self._file.execute("ROLLBACK")
                raise

    @contextmanager
    def _snapshot(self) -> Generator[None]:
        """Reads as of one moment, whatever is written meanwhile."""
        with self._damage():
            inside = self._file.in_transaction
            if not inside:
                self._file.execute("BEGIN")
            try:
                yield
            finally:
                if not inside and self._file.in_transaction:
                    self._file.execute("ROLLBACK")

    # What is known of the tournament and of those who take part.

    def meta(self) -> dict[str, Any]:
        """Returns what has been kept with `set_meta`."""
        with self._damage():
            rows = self._file.execute("SELECT key, value FROM meta ORDER BY key").fetchall()
            return {key: json.loads(value) for key, value in rows}

    def set_meta(self, **values: Any) -> None:
        """Keeps JSON values by name, all of them or none."""
        rows = [(key, json.dumps(value)) for key, value in values.items()]
        with self._writing():
            self._file.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)

    def entrants(self) -> list[KeptEntrant]:
        """Returns everybody who has entered, by number."""
        if self._entrants is None or self._lock is None:
            with self._damage():
                rows = self._file.execute("SELECT * FROM entrants ORDER BY number").fetchall()
                self._entrants = [
                    KeptEntrant(
                        number, name, player, play, fingerprint, json.loads(card),
                        None if failure is None else json.loads(failure)["reason"],
                    )
                    for number, name, player, play, fingerprint, card, failure in rows
                ]  # fmt: skip
        return list(self._entrants)

    def enter(self, entrants: Sequence[KeptEntrant]) -> list[KeptEntrant]:
        """Enters players, all of them or none; whoever has entered before stays who he is.

        Args:
            entrants: Those who take part. Their numbers do not matter: whoever is new gets the next
                one.

        Returns:
            The same ones as they are kept: with their numbers, and why they are out.

        Raises:
            StoreConflictError: Somebody of that name is another player, or plays otherwise.
        """
        known = {each.name: each for each in self.entrants()}
        with self._writing():
            for each in entrants:
                if each.play not in PLAYS:
                    raise StoreError(
                        f"{each.name!r} plays {each.play!r}; possible are: {', '.join(PLAYS)}"
                    )
                kept = known.setdefault(each.name, replace(each, number=len(known), out=None))
                self._check_same(kept, each)
                # His files may have been moved, and his card may tell more than before.
                self._file.execute(
                    "INSERT INTO entrants VALUES (?, ?, ?, ?, ?, ?, NULL) "
                    "ON CONFLICT (number) DO UPDATE SET player = excluded.player, "
                    "card = excluded.card",
                    (kept.number, each.name, each.player, each.play, each.fingerprint,
                     json.dumps(each.card)),
                )  # fmt: skip
            self._entrants = None
        now = {each.name: each for each in self.entrants()}
        return [now[each.name] for each in entrants]

    def _check_same(self, kept: KeptEntrant, entrant: KeptEntrant) -> None:
        if kept.fingerprint != entrant.fingerprint:
            raise StoreConflictError(
                f"{entrant.name!r} has changed: he entered with fingerprint {kept.fingerprint} "
                f"({kept.player}) and has {entrant.fingerprint} now ({entrant.player}); "
                "put the old player back, or enter him under another name"
            )
        if kept.play != entrant.play:
            raise StoreConflictError(
                f"{entrant.name!r} entered with play: {kept.play} and has play: {entrant.play} "
                "now; put it back, or enter him under another name"
            )

    def forget_failures(self, names: Collection[str]) -> None:
        """Lets those play again who are out, all of them or none.

        Raises:
            StoreError: Nobody of one of these names has entered, or he is not out.
        """
        out = [each.name for each in self.entrants() if each.out is not None]
        for name in names:
            if name not in out:
                raise StoreError(
                    f"{name!r} is not out; out are: {', '.join(map(repr, out)) or 'none'}"
                )
        with self._writing():
            self._file.executemany(
                "UPDATE entrants SET failure = NULL WHERE name = ?", [(name,) for name in names]
            )
            self._entrants = None

    # Who sits where.

    def lineups(self) -> list[Lineup]:
        """Returns all lineups, by number."""
        with self._damage():
            rows = self._file.execute("SELECT number, members FROM lineups ORDER BY number")
            return [Lineup(number, tuple(json.loads(members))) for number, members in rows]

    def add_lineups(self, num_players: int, members: Sequence[tuple[int, ...]]) -> list[int]:
        """Gives lineups their numbers; a lineup that is there has the one it has.

        Args:
            num_players: P, seats of each.
            members: [P] numbers of entrants each, in order round the table.

        Returns:
            Their numbers.

        Raises:
            StoreError: A lineup of another size, or with somebody who has not entered.
        """
        known = self._numbers()
        entered = len(self.entrants())
        new: dict[tuple[int, ...], int] = {}
        for lineup in members:
            if len(lineup) != num_players or not all(0 <= who < entered for who in lineup):
                raise StoreError(
                    f"{lineup} is no lineup of {num_players} of the {entered} entrants"
                )
            if lineup not in known:
                new.setdefault(lineup, len(known) + len(new))
        if new:
            with self._writing():
                self._file.executemany(
                    "INSERT INTO lineups VALUES (?, ?, ?, NULL)",
                    [(number, num_players, _text(lineup)) for lineup, number in new.items()],
                )
            known.update(new)
        return [known[lineup] for lineup in members]

    def _numbers(self) -> dict[tuple[int, ...], int]:
        """Returns the numbers of all lineups; read once, for only this process adds any."""
        if self._lineups is None:
            self._lineups = {each.members: each.number for each in self.lineups()}
        return self._lineups

    # Results.

    def played(self) -> dict[int, list[tuple[int, int]]]:
        """Returns which deals are kept.

        Returns:
            For each lineup that has played, from the first deal up to the end, in order; what
            follows on one another is one.
        """
        found: dict[int, list[tuple[int, int]]] = {}
        with self._damage():
            for lineup, first, end in self._file.execute(
                "SELECT lineup, first_deal, first_deal + deals FROM results "
                "ORDER BY lineup, first_deal"
            ):
                spans = found.setdefault(lineup, [])
                if spans and spans[-1][1] == first:
                    spans[-1] = (spans[-1][0], end)
                else:
                    spans.append((first, end))
        return found

    def seconds(self) -> float:
        """Returns for how long all that is kept was played, over all processes."""
        with self._damage():
            return self._file.execute("SELECT total(seconds) FROM units").fetchone()[0]

    def keep(self, outcome: Outcome) -> None:
        """Keeps what came of a unit: all of it, on disk when this returns, or nothing.

        A failure puts the entrant out; of somebody who is out already, the first one stands.

        Raises:
            StoreConflictError: A deal is kept already, or was played in other seatings.
        """
        with self._writing():
            if outcome.failure is not None:
                changed = self._file.execute(
                    "UPDATE entrants SET failure = coalesce(failure, ?) WHERE number = ?",
                    (json.dumps(asdict(outcome.failure)), outcome.failure.entrant),
                )
                if changed.rowcount == 0:
                    raise StoreError(f"nobody has entered as number {outcome.failure.entrant}")
                self._entrants = None
                return
            unit = self._file.execute(
                "INSERT INTO units (seconds) VALUES (?)", (outcome.seconds,)
            ).lastrowid
            for result in outcome.results:
                self._keep_result(result, unit)

    def _keep_result(self, result: Result, unit: int | None) -> None:
        stint = result.stint
        first, end = stint.first_deal, stint.first_deal + stint.deals
        shape = (stint.deals, *result.seatings.shape)
        if result.earned.shape != shape or not np.isfinite(result.earned).all():
            raise StoreError(
                f"results of lineup {stint.lineup} have shape {result.earned.shape} or are not "
                f"finite; expected {shape}"
            )
        self._keep_seatings(stint, result.seatings)
        # Kept stints do not overlap, so if one overlaps this, the last one to begin before its end.
        before = self._file.execute(
            "SELECT first_deal, first_deal + deals FROM results "
            "WHERE lineup = ? AND first_deal < ? ORDER BY first_deal DESC LIMIT 1",
            (stint.lineup, end),
        ).fetchone()
        if before is not None and before[1] > first:
            raise StoreConflictError(
                f"lineup {stint.lineup} has played deals {before[0]} to {before[1] - 1}; "
                f"deals {first} to {end - 1} would count some of them twice"
            )
        self._file.execute(
            "INSERT INTO results VALUES (?, ?, ?, ?, ?)",
            (stint.lineup, first, stint.deals, unit, _pack(result.earned, "<f8")),
        )

    def _keep_seatings(self, stint: Stint, seatings: np.ndarray) -> None:
        row = self._file.execute(
            "SELECT members, seatings FROM lineups WHERE number = ?", (stint.lineup,)
        ).fetchone()
        if row is None or tuple(json.loads(row[0])) != stint.members:
            raise StoreError(f"lineup {stint.lineup} is not {stint.members}; add it first")
        if row[1] is None:
            self._file.execute(
                "UPDATE lineups SET seatings = ? WHERE number = ?",
                (_pack(seatings, "i1"), stint.lineup),
            )
        elif not np.array_equal(_unpack(row[1], "i1", len(stint.members)), seatings):
            raise StoreConflictError(
                f"lineup {stint.lineup} has played in other seatings; seed and orders of a "
                "tournament do not change"
            )

    def results(self, num_players: int | None = None) -> Iterator[Result]:
        """Gives what is kept, as of the moment at which it begins.

        Args:
            num_players: Only tables of that many seats.

        Yields:
            Results by lineup and deal, read one after the other.
        """
        seatings, last = np.zeros((0, 0), dtype=np.int64), -1
        with self._snapshot():
            for lineup, members, packed, first, deals, earned in self._file.execute(
                "SELECT lineup, members, seatings, first_deal, deals, earned "
                "FROM results JOIN lineups ON lineup = number "
                "WHERE ?1 IS NULL OR num_players = ?1 ORDER BY lineup, first_deal",
                (num_players,),
            ):
                who = tuple(json.loads(members))
                if lineup != last:
                    seatings, last = _unpack(packed, "i1", len(who)).astype(np.int64), lineup
                shape = (deals, *seatings.shape)
                units = _unpack(earned, "<f8", len(who))
                if units.size != np.prod(shape):
                    raise DamagedStoreError(
                        f"{self.path} is damaged (lineup {lineup}, deal {first}: "
                        f"{units.size} numbers for {shape}); put a copy in its place"
                    )
                yield Result(Stint(lineup, who, first, deals), seatings, units.reshape(shape))

    def observations(self) -> dict[int, Observations]:
        """Returns what statistics are made of, by table size.

        Returns:
            Observations by lineup and deal, whatever the order and the units of playing were.
            Entrants who are out are in it with what is kept of them.
        """
        with self._snapshot():
            counts = self._file.execute(
                "SELECT num_players, sum(deals) FROM results JOIN lineups ON lineup = number "
                "GROUP BY num_players ORDER BY num_players"
            ).fetchall()
            return {seats: self._observations(seats, count) for seats, count in counts}

    def _observations(self, seats: int, count: int) -> Observations:
        found = Observations(
            np.zeros((count, seats), dtype=np.int32),
            np.zeros(count, dtype=np.int64),
            np.zeros(count, dtype=np.int32),
            np.zeros((count, seats)),
            np.zeros((count, seats)),
            np.full((count, seats, seats), 1 / seats, dtype=np.float32),
        )
        end = 0
        for result in self.results(seats):
            stint = result.stint
            rows = slice(end, end + stint.deals)
            end = rows.stop
            found.members[rows] = stint.members
            found.deal[rows] = stint.first_deal + np.arange(stint.deals)
            found.lineup[rows] = stint.lineup
            found.earned[rows], found.finishes[rows] = means(result)
            # Rounded like what was earned, so that it is 0 where one's gain is another's loss.
            mean = (_sum(found.earned[rows].T) / seats).round(9)
            found.scores[rows] = found.earned[rows] - mean[:, None]
        return found


def _sum(terms: np.ndarray) -> np.ndarray:
    """Sums over the first axis from first to last: what NumPy does depends on the array's shape."""
    total = np.zeros(terms.shape[1:])
    for term in terms:
        total += term
    return total


def _text(members: tuple[int, ...]) -> str:
    return json.dumps([int(who) for who in members])


def _pack(array: np.ndarray, kind: str) -> bytes:
    return zlib.compress(np.ascontiguousarray(array, dtype=kind).tobytes())


def _unpack(packed: bytes, kind: str, seats: int) -> np.ndarray:
    numbers = np.frombuffer(zlib.decompress(packed), dtype=kind)
    return numbers.reshape(-1, seats) if kind == "i1" else numbers
