"""The process in which work units are played; `processes` starts it and reads what it says.

    python -m kille_training.arena.executors.child PARENT

PARENT is the id of the process that started this one. Python objects that play and then units
arrive on standard input, pickled. What comes of them goes to standard output as frames of one size,
see `Said`; after some of them follow as many bytes as the frame says.

Every player is announced before its code runs: before it is imported, made or asked. So whatever
happens meanwhile, to this process or to what it sends, is that player's doing. The other side
unpickles nothing: units earned come as float64, reasons as text.
"""

import os
import pickle
import signal
import struct
import sys
import traceback
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import IntEnum
from pathlib import Path
from typing import IO

import numpy as np

from kille_env.core.determinization import Determinizer, History
from kille_env.errors import KilleError
from kille_env.policy import PlayerLike
from kille_env.registry import make_batch
from kille_training.arena.play import PlayerCache, Tables, failure, play_tables, unit_rules
from kille_training.arena.work import EntrantFailed, Thinking, WorkUnit

FRAME = struct.Struct("<8s5q")
"""A mark, what is said, and four numbers. All frames have one size, so that garbage which a player
writes among them is noticed with the next one."""
MARK = b"kille\0\r\n"
MOST_TEXT = 10_000
"""Bytes of a text that are sent, and read."""
FILES_CLOSED = 113
"""Exit code of a child whose files a player has closed or replaced."""


class Said(IntEnum):
    """What a child says.

    Attributes:
        ASKED: A player's code runs next; the numbers are those of `Thinking`.
        ANSWERED: It has answered.
        FAILED: It cannot go on; the reason follows, as many bytes as the first number says.
        EARNED: The unit has been played; what every seat earned follows, float64.
        CRASHED: Something went wrong while no player was thinking; a traceback follows.
    """

    ASKED = 1
    ANSWERED = 2
    FAILED = 3
    EARNED = 4
    CRASHED = 5


def main() -> None:
    """Plays units until the parent process has ended."""
    _die_before(int(sys.argv[1]))
    units, frames = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Whatever players print, in Python or not, goes where standard error goes: to the log.
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    reporter = _Reporter(frames, (0, 1, 2, units.fileno(), frames.fileno()))
    with suppress(EOFError, OSError):  # the parent has ended, or hears nothing more
        cache, warm = PlayerCache(_Objects(pickle.load(units))), set[tuple[str, int]]()
        while True:
            unit = pickle.load(units)
            reporter.play(unit, cache, warm)


def _die_before(parent: int) -> None:
    """Makes the kernel kill this process when its parent dies."""
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
        with suppress(OSError):  # when memory runs out, players go first
            Path("/proc/self/oom_score_adj").write_text("1000")
    if sys.platform != "win32" and os.getppid() != parent:
        os._exit(1)


class _Objects(Mapping[str, PlayerLike]):
    """Players that the parent process has sent, each unpacked when it is to be loaded.

    So an object that cannot be unpacked is a player that fails, as one whose file is broken.
    """

    def __init__(self, packed: Mapping[str, bytes]) -> None:
        self._packed = packed

    def __getitem__(self, name: str) -> PlayerLike:
        return pickle.loads(self._packed[name])

    def __contains__(self, name: object) -> bool:
        return name in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


class _Reporter:
    """Plays units, and tells the parent process whose code runs and what came of it."""

    def __init__(self, frames: IO[bytes], handles: tuple[int, ...]) -> None:
        """Notes which files have to stay as they are.

        Args:
            frames: Where frames go.
            handles: A player that closes or replaces one of these ends the process, or the next
                player would be blamed for it.
        """
        self._frames, self._handles = frames, handles
        self._files = [_identity(handle) for handle in handles]
        self._about: Thinking | None = None

    def play(self, unit: WorkUnit, cache: PlayerCache, warm: set[tuple[str, int]]) -> None:
        """Plays a unit, whatever happens in it."""
        try:
            # Before any player is timed: compiling counts for none of them.
            if (unit.game, unit.num_players) not in warm:
                _warm_up(unit)
                warm.add((unit.game, unit.num_players))
            earned = play_tables(Tables(unit), cache, self.thinking)
        except EntrantFailed as error:
            self._say_more(Said.FAILED, error.failure.reason.encode()[:MOST_TEXT])
        except BaseException as error:
            if self._about is None:
                self._say_more(Said.CRASHED, traceback.format_exc().encode()[-MOST_TEXT:])
            else:
                reason = failure(self._about, error).reason
                self._say_more(Said.FAILED, reason.encode()[:MOST_TEXT])
        else:
            self._say_more(Said.EARNED, np.ascontiguousarray(earned, "<f8").tobytes())

    @contextmanager
    def thinking(self, about: Thinking) -> Generator[None]:
        """Announces a player while the context is open, and for good if it fails in there."""
        self._about = about
        self._say(Said.ASKED, *about)
        yield
        if [_identity(handle) for handle in self._handles] != self._files:
            os._exit(FILES_CLOSED)
        self._say(Said.ANSWERED)
        self._about = None

    def _say(self, said: Said, *numbers: int) -> None:
        self._frames.write(FRAME.pack(MARK, said, *numbers, *[0] * (4 - len(numbers))))
        self._frames.flush()

    def _say_more(self, said: Said, content: bytes) -> None:
        self._about = None
        self._frames.write(FRAME.pack(MARK, said, len(content), 0, 0, 0) + content)
        self._frames.flush()


def _identity(handle: int) -> tuple[int, int] | None:
    """Returns what tells the file behind a handle from others; None if it is closed."""
    with suppress(OSError):
        found = os.fstat(handle)
        return found.st_dev, found.st_ino
    return None


def _warm_up(unit: WorkUnit) -> None:
    """Compiles what playing and searching need, or loads it from the cache."""
    batch = make_batch(
        unit.game, 1, unit.num_players, rules=unit_rules(unit), seed=0, restart=False
    )
    batch.reset()
    history = History(batch)
    for _ in range(2):
        rows = np.flatnonzero(batch.seat >= 0)
        with suppress(KilleError):  # not every game has determinizations
            Determinizer(batch, rows, np.zeros(len(rows), np.uint64), history).draw_with_past(1)
        actions = batch.mask.argmax(axis=1)
        history.note(actions)
        batch.step(actions)


if __name__ == "__main__":
    main()
