"""Who is thinking in a child process, in memory that it shares with the process that started it."""

import mmap
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kille_training.arena.work import Thinking

_WORDS = 1 + len(Thinking._fields)
FILES_CLOSED = 113
"""Exit code of a child whose files a player has closed or replaced."""


@dataclass(frozen=True)
class Crash:
    """What went wrong in a child through no fault of a player.

    Attributes:
        text: The traceback.
    """

    text: str


class Monitor:
    """Who is thinking in a child.

    The child writes and the other process reads. A count goes up whenever a player begins or ends:
    it is odd while a player is thinking.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Opens the memory.

        Args:
            path: The file behind it.
            create: Whether to create the file.
        """
        if create:
            path.write_bytes(bytes(8 * _WORDS))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 8 * _WORDS)
        self._words = np.frombuffer(self._memory, dtype=np.int64)
        self._guarded: dict[int, tuple[int, int] | None] = {}

    def close(self) -> None:
        """Unmaps the memory."""
        del self._words
        self._memory.close()

    def guard(self, handles: Iterable[int]) -> None:
        """Ends this process while a player thinks that has closed or replaced one of these files.

        Otherwise the next player would be blamed for it, or nothing would come back any more.
        """
        self._guarded = {handle: _identity(handle) for handle in handles}

    @contextmanager
    def thinking(self, about: Thinking) -> Generator[None]:
        """Notes who is thinking while the context is open.

        An exception that a player is not expected to raise leaves it open, until `forgive`, so that
        it is known whose fault it is.
        """
        self._words[1:] = about
        self._words[0] += 1
        try:
            yield
        except (Exception, SystemExit):
            self._end()
            raise
        self._end()

    def _end(self) -> None:
        if code := self.exit_code():
            os._exit(code)
        self._words[0] += 1

    def exit_code(self) -> int:
        """Returns 0, or `FILES_CLOSED` if a guarded file has been closed or replaced."""
        kept = all(_identity(handle) == known for handle, known in self._guarded.items())
        return 0 if kept else FILES_CLOSED

    def forgive(self) -> None:
        """Notes that no player is thinking any more."""
        self._words[0] += self._words[0] % 2

    def read(self) -> tuple[int, Thinking | None]:
        """Returns the count, and who is thinking about what."""
        count, *about = self._words.tolist()
        return count, Thinking(*about) if count % 2 else None


def _identity(handle: int) -> tuple[int, int] | None:
    """Returns what tells the file behind a handle from others; None if it is closed."""
    with suppress(OSError):
        found = os.fstat(handle)
        return found.st_dev, found.st_ino
    return None
