"""The process in which jobs are done; `processes` starts it and listens to it.

    python -m kille_training.pool.child PARENT HANDLE

PARENT is the id of the process that started this one, HANDLE the file of the connection to it. It
sends a job and then items, pickled; `messages` are the answers. Standard input is empty, and what
is printed goes to the log.
"""

import os
import signal
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from kille_env.errors import KilleError
from kille_training.pool.jobs import Blame, blaming
from kille_training.pool.messages import FILES_CLOSED, MOST_TEXT, Said, encode


def main() -> None:
    """Do jobs until the parent process has ended."""
    _die_before(int(sys.argv[1]))
    handle = os.dup(int(sys.argv[2]))  # not passed on to processes that players start
    os.close(int(sys.argv[2]))
    answers = _Answers(Connection(handle))
    with suppress(EOFError, OSError):  # the parent has ended, or hears nothing more
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
    """Does jobs, and tells the parent process whose code runs and what came of it.

    A player that closes or replaces the files of the process ends it: otherwise the next player
    would be blamed.
    """

    def __init__(self, connection: "Connection[Any, Any]") -> None:
        self.connection = connection
        self._handles = (0, 1, 2, connection.fileno())
        self._files = [_identity(handle) for handle in self._handles]

    def do(self, job: Any, item: Any) -> None:
        """Do a job on an item, whatever happens in it."""
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
        """Announce whose code runs while the context is open; see `jobs.Report`."""
        self._say(Said.ASKED, [whose, task, seconds])
        with blaming(whose, (BaseException,)):
            yield
        if [_identity(handle) for handle in self._handles] != self._files:
            os._exit(FILES_CLOSED)
        self._say(Said.ANSWERED)

    def _say(self, said: Said, content: Any = None) -> None:
        self.connection.send_bytes(encode(said, content))


def _identity(handle: int) -> tuple[int, int] | None:
    """Return what tells the file behind a handle from others; None if it is closed."""
    with suppress(OSError):
        found = os.fstat(handle)
        return found.st_dev, found.st_ino
    return None


if __name__ == "__main__":
    main()
