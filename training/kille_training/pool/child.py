"""A worker process of `processes`.

    python -m kille_training.pool.child PARENT HANDLE

PARENT is the id of the parent process, HANDLE the file of the connection to it. The parent sends a
job and then items, pickled. The child answers in messages: a mark, a kind, and JSON or arrays. So
the parent unpickles nothing, and garbage that a player writes into the connection is rejected.
Standard input is empty, and output goes to the log.
"""

import io
import json
import os
import signal
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager, suppress
from enum import IntEnum
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.errors import KilleError
from kille_training.pool.jobs import Arrays, Blame, blaming

MARK = b"kille\0\r\n"
LARGEST = 1 << 30  # maximum size of a message in bytes
MOST_TEXT = 10_000  # maximum length of a text
FILES_CLOSED = 113  # exit code of a child if a player closed or replaced its files


class Said(IntEnum):
    """Messages of a child."""

    ASKED = 1
    ANSWERED = 2
    FAILED = 3
    DONE = 4
    BROKEN = 5


def encode(said: Said, content: Any = None) -> bytes:
    """Encode a message; its content is arrays by name for `DONE`, otherwise plain JSON."""
    if said is not Said.DONE:
        return MARK + bytes([said]) + json.dumps(content).encode()
    stream = io.BytesIO()
    for name, array in content.items():
        np.lib.format.write_array(stream, np.array(name), (1, 0), allow_pickle=False)
        np.lib.format.write_array(stream, np.asarray(array), (1, 0), allow_pickle=False)
    return MARK + bytes([said]) + stream.getvalue()


def decode(message: bytes) -> tuple[Said, Any]:
    """Decode a message into its kind and content; raise a ValueError if it is invalid."""
    start = len(MARK) + 1
    if len(message) < start or not message.startswith(MARK):
        raise ValueError("no mark")
    said = Said(message[start - 1])
    try:
        if said is not Said.DONE:
            return said, json.loads(message[start:])
        stream, arrays = io.BytesIO(message[start:]), Arrays()
        while stream.tell() < len(message) - start:
            name = str(np.lib.format.read_array(stream, allow_pickle=False))
            arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
        return said, arrays
    except (ArithmeticError, LookupError, MemoryError, RecursionError, SyntaxError, TypeError) as e:
        raise ValueError(str(e)) from None


def main() -> None:
    """Work until the parent process ends."""
    _die_before(int(sys.argv[1]))
    handle = os.dup(int(sys.argv[2]))  # not passed on to processes that players start
    os.close(int(sys.argv[2]))
    answers = _Answers(Connection(handle))
    with suppress(EOFError, OSError):  # the parent has ended
        job: Any = answers.connection.recv()
        while True:
            answers.do(job, answers.connection.recv())


def _die_before(parent: int) -> None:
    """Make the kernel kill this process when its parent dies."""
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
        with suppress(OSError):  # when memory runs out, players go first
            Path("/proc/self/oom_score_adj").write_text("1000")
    if os.getppid() != parent:
        os._exit(1)


class _Answers:
    """Execute jobs, and report the running code and the results to the parent process."""

    # The process ends if a player closes or replaces its files: otherwise the next player would be
    # blamed.

    def __init__(self, connection: "Connection[Any, Any]") -> None:
        self.connection = connection
        self._handles = (0, 1, 2, connection.fileno())
        self._files = [_identity(handle) for handle in self._handles]

    def do(self, job: Any, item: Any) -> None:
        """Execute a job on an item; send any error as a message."""
        try:
            arrays = job(item, self.report)
        except Blame as blame:
            self._say(Said.FAILED, blame.failed.reason)
        except KilleError as error:
            self._say(Said.BROKEN, str(error)[:MOST_TEXT])
        except BaseException:
            self._say(Said.BROKEN, f"a job has failed:\n{traceback.format_exc()[-MOST_TEXT:]}")
        else:
            self._say(Said.DONE, arrays)

    @contextmanager
    def report(self, whose: int, task: str, seconds: float) -> Generator[None]:
        """Announce the owner of the code that runs in the context; see `jobs.Report`."""
        self._say(Said.ASKED, [whose, task, seconds])
        with blaming(whose, (BaseException,)):
            yield
        if [_identity(handle) for handle in self._handles] != self._files:
            os._exit(FILES_CLOSED)
        self._say(Said.ANSWERED)

    def _say(self, said: Said, content: Any = None) -> None:
        self.connection.send_bytes(encode(said, content))


def _identity(handle: int) -> tuple[int, int] | None:
    """Return the identity of the file behind a handle; None if it is closed."""
    with suppress(OSError):
        found = os.fstat(handle)
        return found.st_dev, found.st_ino
    return None


if __name__ == "__main__":
    main()
