"""An SQLite file that one process writes, transaction by transaction, and others read.

A transaction has reached the disk when it ends, so the file holds whole transactions and nothing
else, whenever and however the process ends. Only one process at a time may write: it holds a lock
that the operating system releases when it dies. Others may read meanwhile. The file belongs on a
local disk, since the processes share memory through a file beside it, which network file systems do
not offer. A file on a read-only disk can be read.
"""

import sqlite3
import zlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Self

from filelock import FileLock, Timeout

from kille_env.errors import KilleError

FILE, LOCK = "results.sqlite", "results.lock"
APPLICATION = 0x4B494C4C
"""Marks the file as ours, in its header: "KILL"."""
WAIT = 30.0
"""Seconds to wait for a short transaction of another process."""


class StoreError(KilleError):
    """Results cannot be read or written."""


class Database:
    """The file, opened.

    Attributes:
        SCHEMA: Version of the format.
        TABLES: SQL that makes its tables and indices.
        path: Where it is.
    """

    SCHEMA: ClassVar[int]
    TABLES: ClassVar[Sequence[str]]

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

    def __enter__(self) -> Self:
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
        elif version != self.SCHEMA:
            raise StoreError(
                f"{self.path} has version {version} of the format, this kille-env reads "
                f"version {self.SCHEMA}; read it with the kille-env that wrote it, or start again "
                "in another folder"
            )
        elif self._tables() != sorted(self.TABLES):
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
        query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
        rows = self._file.execute(query).fetchall()
        return sorted(sql for (sql,) in rows)

    def _begin(self) -> None:
        self._file.execute("PRAGMA journal_mode = WAL")
        with self._writing():
            for statement in self.TABLES:
                self._file.execute(statement)
            self._file.execute(f"PRAGMA application_id = {APPLICATION}")
            self._file.execute(f"PRAGMA user_version = {self.SCHEMA}")

    @contextmanager
    def _damage(self) -> Generator[None]:
        """Turns errors about a damaged file into ours."""
        try:
            yield
        except (sqlite3.DatabaseError, UnicodeDecodeError, zlib.error) as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
            if code == sqlite3.SQLITE_NOTADB:
                raise StoreError(
                    f"{self.path} was not written by a tournament; choose another folder"
                ) from error
            if code == sqlite3.SQLITE_CORRUPT:
                raise self._damaged(str(error)) from error
            raise StoreError(f"{self.path}: {error}") from error

    @contextmanager
    def _reading(self) -> Generator[None]:
        """Turns errors about values of another kind than ours into errors about a damaged file."""
        try:
            with self._damage():
                yield
        except StoreError:
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

    @contextmanager
    def _snapshot(self) -> Generator[None]:
        """Reads one state of the file, whatever others write meanwhile."""
        with self._reading():
            self._file.execute("BEGIN")
            try:
                yield
            finally:
                if self._file.in_transaction:
                    self._file.execute("COMMIT")

    def _damaged(self, what: str) -> StoreError:
        return StoreError(
            f"{self.path} is damaged ({what}); restore it from a copy, or start again in another "
            "folder"
        )
