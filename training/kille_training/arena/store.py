"""The results of a tournament: an SQLite file in its folder, written work unit by work unit.

The outcome of a unit is written in one transaction that has reached the disk before `keep` returns.
So the file holds whole units and nothing else, whenever and however the process ends. Only one
process at a time may write: it holds a lock that the operating system releases when it dies.
Others may read meanwhile. The folder belongs on a local disk, since the processes share memory
through a file in it, which network file systems do not offer. A folder on a read-only disk can be
read.
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
from filelock import FileLock, Timeout

from kille_env.errors import KilleError
from kille_training.arena.work import Block, Entrant, Outcome, Result

FILE, LOCK = "results.sqlite", "results.lock"
APPLICATION = 0x4B494C4C
"""Marks the file as ours, in its header: "KILL"."""
SCHEMA = 3
WAIT = 30.0
"""Seconds to wait for a short transaction of another process."""
TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    """CREATE TABLE entrants (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    player TEXT NOT NULL,
    play TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    metadata TEXT NOT NULL,
    failure TEXT  -- why it is out, with lineup and deal; NULL while it is in
) STRICT""",
    """CREATE TABLE lineups (
    number INTEGER PRIMARY KEY,
    num_players INTEGER NOT NULL,
    members TEXT NOT NULL UNIQUE,
    seatings BLOB  -- [S, P] int8, the same at every deal; NULL until something has been played
) STRICT""",
    """CREATE TABLE results (
    lineup INTEGER NOT NULL REFERENCES lineups,
    first_deal INTEGER NOT NULL,
    deals INTEGER NOT NULL,
    earned BLOB NOT NULL,  -- [deals, S, P] float64, little endian, compressed by zlib
    PRIMARY KEY (lineup, first_deal)
) STRICT""",
)


class StoreError(KilleError):
    """Results cannot be read or written."""


@dataclass(frozen=True)
class KeptEntrant(Entrant):
    """An entrant as the file has it.

    Attributes:
        fingerprint: Identifies the player's files: a player that has changed is another one.
        metadata: What is known of the player, JSON values.
        out: Why it is out; None while it is in.
    """

    fingerprint: str = ""
    metadata: dict[str, Any] = field(default_factory=dict, hash=False)
    out: str | None = None

    @property
    def plain(self) -> Entrant:
        """What plays need to know of it."""
        return Entrant(self.number, self.name, self.player, self.play)


class Store:
    """The results of one tournament."""

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False) -> None:
        """Opens a file of results.

        Args:
            path: The file, or the folder in which it is `results.sqlite`.
            create: Whether to create one where there is none.
            readonly: Whether only to read, which is possible while another process writes.

        Raises:
            StoreError: It cannot be opened; the message says why.
        """
        self.path = path / FILE if path.is_dir() or path.suffix != ".sqlite" else path
        self._lock: FileLock | None = None
        self._opened: sqlite3.Connection | None = None
        self._entrants: list[KeptEntrant] | None = None
        self._lineups: dict[tuple[int, ...], int] | None = None
        if not self.path.is_file() and not create:
            raise StoreError(
                f"there are no results at {self.path}; start with: kille tournament CONFIG"
            )
        try:
            if not readonly:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._lock = self._take_lock()
            with self._damage():
                self._opened = self._connect("mode=ro" if readonly else "mode=rwc")
                if readonly and not self._readable():
                    self._open_unchanging()
                self._check(create)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file and releases its lock."""
        if self._opened is not None:
            self._opened.close()
        if self._lock is not None:
            self._lock.release()
        self._opened = self._lock = None

    @property
    def _file(self) -> sqlite3.Connection:
        if self._opened is None:
            raise StoreError(f"{self.path} has been closed")
        return self._opened

    # Opening.

    def _take_lock(self) -> FileLock:
        lock = FileLock(self.path.with_name(LOCK), timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise StoreError(
                f"a tournament is being played in {self.path.parent}; "
                "wait until it has ended, or end it"
            ) from None
        return lock

    def _connect(self, options: str) -> sqlite3.Connection:
        uri = f"{self.path.resolve().as_uri()}?{options}"
        return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=WAIT)

    def _readable(self) -> bool:
        """Returns whether SQLite can read the file beside those that it shares memory through."""
        try:
            self._file.execute("PRAGMA schema_version").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                return False
            raise
        return True

    def _open_unchanging(self) -> None:
        """Opens the file on a disk where nothing can be written.

        Raises:
            StoreError: Part of the results is in a file that only a writer can take in.
        """
        log = self.path.with_name(f"{self.path.name}-wal")
        if log.is_file() and log.stat().st_size:
            raise StoreError(
                f"{self.path} was not closed, and its folder cannot be written to; copy the folder "
                "to another disk and read it there"
            )
        self._file.close()
        self._opened = self._connect("mode=ro&immutable=1")

    def _check(self, create: bool) -> None:
        """Refuses what is no file of results of this version; creates one where it may."""
        ours, version, schema = (
            self._file.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version", "schema_version")
        )
        if ours == 0 and schema == 0:  # new, or interrupted before the first transaction
            if not create:
                raise StoreError(f"{self.path} is empty; start with: kille tournament CONFIG")
            self._begin()
        elif ours != APPLICATION:
            raise StoreError(f"{self.path} was not written by a tournament; choose another folder")
        elif version != SCHEMA:
            raise StoreError(
                f"{self.path} has version {version} of the format, this kille-env reads "
                f"version {SCHEMA}; read it with the kille-env that wrote it, or start again in "
                "another folder"
            )
        elif self._tables() != sorted(TABLES):
            raise StoreError(
                f"{self.path} has other tables than a tournament writes; restore it from a copy, "
                "or start again in another folder"
            )
        self._file.execute("PRAGMA foreign_keys = ON")
        if self._lock is not None:
            # FULL: a unit takes seconds to play, so a transaction can wait for the disk.
            self._file.execute("PRAGMA synchronous = FULL")

    def _tables(self) -> list[str]:
        """Returns how the tables were made, which says what may be in them."""
        rows = self._file.execute("SELECT sql FROM sqlite_master WHERE type = 'table'").fetchall()
        return sorted(sql for (sql,) in rows)

    def _begin(self) -> None:
        self._file.execute("PRAGMA journal_mode = WAL")
        with self._writing():
            for statement in TABLES:
                self._file.execute(statement)
            self._file.execute(f"PRAGMA application_id = {APPLICATION}")
            self._file.execute(f"PRAGMA user_version = {SCHEMA}")

    @contextmanager
    def _damage(self) -> Generator[None]:
        """Turns errors about a damaged file into ours."""
        try:
            yield
        except (sqlite3.DatabaseError, zlib.error) as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
            if code == sqlite3.SQLITE_NOTADB:
                raise StoreError(
                    f"{self.path} was not written by a tournament; choose another folder"
                ) from error
            if code == sqlite3.SQLITE_CORRUPT:
                raise StoreError(
                    f"{self.path} is damaged ({error}); restore it from a copy, or start again in "
                    "another folder"
                ) from error
            raise StoreError(f"{self.path}: {error}") from error

    @contextmanager
    def _reading(self) -> Generator[None]:
        """Turns errors about values of another kind than ours into errors about a damaged file."""
        try:
            with self._damage():
                yield
        except KilleError:
            raise
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
            raise StoreError(
                f"{self.path} holds what no tournament writes ({error}); restore it from a copy, "
                "or start again in another folder"
            ) from error

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Writes everything or nothing."""
        if self._lock is None:
            raise StoreError(f"{self.path} has been opened for reading only")
        with self._damage():
            self._file.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._file.execute("COMMIT")
            except BaseException:
                if self._file.in_transaction:  # some errors have rolled it back already
                    self._file.execute("ROLLBACK")
                raise

    # The tournament and its entrants

    def meta(self) -> dict[str, Any]:
        """Returns what was written with `set_meta`."""
        with self._reading():
            rows = self._file.execute("SELECT key, value FROM meta ORDER BY key").fetchall()
            found = {key: json.loads(value) for key, value in rows}
            if "tables" in found and type(found["tables"]["seed"]) is not int:
                raise TypeError(f"the seed {found['tables']['seed']!r}")
            return found

    def set_meta(self, **values: Any) -> None:
        """Writes JSON values by name, all of them or none."""
        rows = [(key, json.dumps(value)) for key, value in values.items()]
        with self._writing():
            self._file.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)

    def entrants(self) -> list[KeptEntrant]:
        """Returns all entrants, by number."""
        if self._entrants is None or self._lock is None:
            with self._reading():
                rows = self._file.execute("SELECT * FROM entrants ORDER BY number").fetchall()
                self._entrants = [
                    KeptEntrant(
                        number, name, player, play, fingerprint, json.loads(metadata),
                        None if failure is None else json.loads(failure)["reason"],
                    )
                    for number, name, player, play, fingerprint, metadata, failure in rows
                ]  # fmt: skip
        return list(self._entrants)

    def enter(self, entrants: Sequence[KeptEntrant]) -> None:
        """Adds entrants, all of them or none; those known by name keep their numbers.

        Args:
            entrants: The entrants. Their numbers do not matter: a new one gets the next number.

        Raises:
            StoreError: An entrant of that name is another player, or plays otherwise.
        """
        known = {each.name: each for each in self.entrants()}
        with self._writing():
            for each in entrants:
                kept = known.setdefault(each.name, replace(each, number=len(known), out=None))
                self._check_same(kept, each)
                # Its files may have been moved, and its metadata may say more than before.
                self._file.execute(
                    "INSERT INTO entrants VALUES (?, ?, ?, ?, ?, ?, NULL) "
                    "ON CONFLICT (number) DO UPDATE SET player = excluded.player, "
                    "metadata = excluded.metadata",
                    (kept.number, each.name, each.player, each.play, each.fingerprint,
                     json.dumps(each.metadata)),
                )  # fmt: skip
            self._entrants = None

    def _check_same(self, kept: KeptEntrant, entrant: KeptEntrant) -> None:
        if kept.fingerprint != entrant.fingerprint:
            raise StoreError(
                f"{entrant.name!r} has changed: it entered with fingerprint {kept.fingerprint} "
                f"({kept.player}) and has {entrant.fingerprint} now ({entrant.player}); "
                "put the old player back, or enter it under another name"
            )
        if kept.play != entrant.play:
            raise StoreError(
                f"{entrant.name!r} entered with play: {kept.play} and has play: {entrant.play} "
                "now; put it back, or enter it under another name"
            )

    def forget_failures(self, names: Collection[str]) -> None:
        """Lets entrants that are out play again, all of them or none.

        Raises:
            StoreError: One of them is not out.
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

    # Lineups

    def lineups(self) -> list[tuple[int, ...]]:
        """Returns the members of all lineups, by the lineup's number."""
        with self._reading():
            rows = self._file.execute("SELECT members FROM lineups ORDER BY number")
            return [_members(members) for (members,) in rows]

    def add_lineups(self, num_players: int, members: Sequence[tuple[int, ...]]) -> list[int]:
        """Returns the numbers of lineups, adding those that are new.

        Args:
            num_players: P, seats of each.
            members: [P] numbers of entrants each, in order round the table.

        Returns:
            Their numbers.

        Raises:
            StoreError: A lineup has another size, or a member that has not entered.
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
        """Returns the numbers of all lineups; read once, since only this process adds any."""
        if self._lineups is None:
            self._lineups = {members: number for number, members in enumerate(self.lineups())}
        return self._lineups

    # Results

    def played(self) -> dict[int, list[tuple[int, int]]]:
        """Returns which deals have been played.

        Returns:
            For each lineup that has played, pairs of a first deal and the end, in order; what
            adjoins is one pair.
        """
        found: dict[int, list[tuple[int, int]]] = {}
        with self._reading():
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

    def keep(self, outcome: Outcome) -> None:
        """Writes the outcome of a unit: all of it, on disk when this returns, or nothing.

        A failure puts the entrant out; if it is out already, the first failure stands.

        Raises:
            StoreError: A deal has results already, or was played in other seatings.
        """
        with self._writing():
            if outcome.failure is not None:
                changed = self._file.execute(
                    "UPDATE entrants SET failure = coalesce(failure, ?) WHERE number = ?",
                    (json.dumps(asdict(outcome.failure)), outcome.failure.entrant),
                )
                if changed.rowcount == 0:
                    raise StoreError(f"there is no entrant number {outcome.failure.entrant}")
                self._entrants = None
                return
            for result in outcome.results:
                self._keep_result(result)

    def _keep_result(self, result: Result) -> None:
        block = result.block
        first, end = block.first_deal, block.first_deal + block.deals
        shape = (block.deals, *result.seatings.shape)
        if result.earned.shape != shape or not np.isfinite(result.earned).all():
            raise StoreError(
                f"results of lineup {block.lineup} have shape {result.earned.shape} or are not "
                f"finite; expected {shape}"
            )
        self._keep_seatings(block, result.seatings)
        # Kept blocks do not overlap, so only the last one that begins before the end can overlap.
        before = self._file.execute(
            "SELECT first_deal, first_deal + deals FROM results "
            "WHERE lineup = ? AND first_deal < ? ORDER BY first_deal DESC LIMIT 1",
            (block.lineup, end),
        ).fetchone()
        if before is not None and before[1] > first:
            raise StoreError(
                f"lineup {block.lineup} has played deals {before[0]} to {before[1] - 1}; "
                f"deals {first} to {end - 1} would count some of them twice"
            )
        self._file.execute(
            "INSERT INTO results VALUES (?, ?, ?, ?)",
            (block.lineup, first, block.deals, _pack(result.earned, "<f8")),
        )

    def _keep_seatings(self, block: Block, seatings: np.ndarray) -> None:
        row = self._file.execute(
            "SELECT members, seatings FROM lineups WHERE number = ?", (block.lineup,)
        ).fetchone()
        if row is None or tuple(json.loads(row[0])) != block.members:
            raise StoreError(f"lineup {block.lineup} is not {block.members}; add it first")
        if row[1] is None:
            self._file.execute(
                "UPDATE lineups SET seatings = ? WHERE number = ?",
                (_pack(seatings, "i1"), block.lineup),
            )
        elif not np.array_equal(_unpack(row[1], "i1", len(block.members)), seatings):
            raise StoreError(
                f"lineup {block.lineup} has played in other seatings; seed and orders of a "
                "tournament do not change"
            )

    def results(self, num_players: int | None = None) -> Iterator[Result]:
        """Yields the results as of the moment at which it begins, by lineup and deal.

        Args:
            num_players: Only tables of that many seats; None is all.

        Yields:
            Results, read one after the other.
        """
        seatings, last = np.zeros((0, 0), dtype=np.int64), -1
        with self._reading():  # one statement reads one state of the file
            for lineup, members, packed, first, deals, earned in self._file.execute(
                "SELECT lineup, members, seatings, first_deal, deals, earned "
                "FROM results JOIN lineups ON lineup = number "
                "WHERE ?1 IS NULL OR num_players = ?1 ORDER BY lineup, first_deal",
                (num_players,),
            ):
                who = _members(members)
                if lineup != last:
                    seatings, last = _unpack(packed, "i1", len(who)).astype(np.int64), lineup
                shape = (deals, *seatings.shape)
                units = _unpack(earned, "<f8", len(who))
                if units.size != np.prod(shape):
                    raise StoreError(
                        f"{self.path} is damaged (lineup {lineup}, deal {first}: "
                        f"{units.size} numbers for {shape}); restore it from a copy"
                    )
                yield Result(Block(lineup, who, first, deals), seatings, units.reshape(shape))


def _text(members: tuple[int, ...]) -> str:
    return json.dumps([int(who) for who in members])


def _members(text: str) -> tuple[int, ...]:
    members = tuple(json.loads(text))
    if not all(type(who) is int for who in members):
        raise TypeError(f"the lineup {text}")
    return members


def _pack(array: np.ndarray, kind: str) -> bytes:
    return zlib.compress(np.ascontiguousarray(array, dtype=kind).tobytes())


def _unpack(packed: bytes, kind: str, seats: int) -> np.ndarray:
    numbers = np.frombuffer(zlib.decompress(packed), dtype=kind)
    return numbers.reshape(-1, seats) if kind == "i1" else numbers
