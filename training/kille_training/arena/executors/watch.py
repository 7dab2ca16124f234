"""What a child process that plays tells the process that watches it; see `workers` and `child`."""

import mmap
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kille_training.arena.units import Thinking

_WORDS = 1 + len(Thinking._fields)


@dataclass(frozen=True)
class Crash:
    """What went wrong in a child that no player did.

    Attributes:
        text: The traceback.
    """

    text: str


class Watch:
    """Who is thinking in a child, in memory that two processes share.

    The child writes and the other process reads. A count goes up whenever somebody begins or ends:
    it is odd while somebody is thinking.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Opens the memory.

        Args:
            path: The file that it is.
            create: Whether to create it.
        """
        if create:
            path.write_bytes(bytes(8 * _WORDS))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 8 * _WORDS)
        self._words = np.frombuffer(self._memory, dtype=np.int64)

    def close(self) -> None:
        """Lets go of the memory."""
        del self._words
        self._memory.close()

    @contextmanager
    def thinking(self, about: Thinking) -> Generator[None]:
        """Somebody is thinking while the context is open.

        An exception that nobody is expected to raise leaves it open, until `forgive`: so it is
        known whose fault it is.
        """
        self._words[1:] = about
        self._words[0] += 1
        try:
            yield
        except (Exception, SystemExit):
            self._words[0] += 1
            raise
        self._words[0] += 1

    def forgive(self) -> None:
        """Nobody is thinking any more."""
        self._words[0] += self._words[0] % 2

    def read(self) -> tuple[int, Thinking | None]:
        """Returns the count, and who is thinking about what."""
        count, *about = self._words.tolist()
        return count, Thinking(*about) if count % 2 else None
