"""Plays work units on a Ray cluster, each in a monitored process as on one machine.

A unit is a task of one CPU, and whichever node is free plays it. When a node dies, its tasks are
played again elsewhere; each task's outcome arrives once. An outcome depends on nothing but the
unit, so it does not matter which machine has played it.

Every node needs the same kille-env, and the files of the entrants under the names that the
tournament has for them: in a folder that all nodes share, or sent along by Ray as `working_dir`.
docs/arena_scale.md says how.
"""

import logging
import os
import socket
import sys
import time
import uuid
import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import kille_env
from kille_env.core.jit import source_digest
from kille_env.extras import needs
from kille_training.arena.executors.processes import LocalExecutor, WorkerError, some
from kille_training.arena.work import Outcome, WorkUnit

AHEAD = 2
"""Units that are handed out per CPU: one to play, and one to continue with at once."""
ANSWER = 5.0
"""Seconds in which the head of a cluster has to answer."""
PATIENCE = 1.0
"""Seconds between two looks at how many CPUs there are."""


class RayExecutor(AbstractContextManager["RayExecutor"]):
    """Plays units on the CPUs of a Ray cluster."""

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        time_limit: float | None = None,
    ) -> None:
        """Joins the cluster, or starts one.

        Args:
            address: Of its head, HOST:PORT; "auto" is the cluster that this machine belongs to,
                None starts one on this machine. A process that belongs to a cluster stays there.
            workers: Most units that are handed out at a time; None is as many as keep all CPUs
                busy, those of nodes that join later too.
            time_limit: Seconds that a player may take for a batch of decisions; None is no limit.

        Raises:
            MissingLibraryError: Ray is not installed.
            WorkerError: There is no such cluster.
        """
        self._ray = import_ray()
        self._joined = join(address, workers)
        own = self._joined and address is None  # a cluster that has `workers` CPUs
        self._workers = None if own else workers
        # Without a limit of retries: a node's death is no fault of the unit. A player that crashes
        # its process fails inside of the task, which then ends normally.
        self._task = self._ray.remote(
            num_cpus=1, max_retries=-1, scheduling_strategy="SPREAD"
        )(_play)  # fmt: skip
        self._terms = _Terms(
            uuid.uuid4().hex, time_limit, str(Path.cwd()), tuple(sys.path), version()
        )

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the cluster; shuts it down if this process has started it."""
        if self._joined and self._ray.is_initialized():
            self._ray.shutdown()

    def run(self, units: Iterable[WorkUnit]) -> Iterator[Outcome]:
        """Plays units, taking them as CPUs become free.

        Yields:
            What comes of them, in the order in which they end.

        Raises:
            WorkerError: A unit could not be played, and no player is to blame.
        """
        ray, waiting = self._ray, iter(units)
        under_way: dict[Any, WorkUnit] = {}
        room, looked = self._room(), time.monotonic()
        try:
            while True:
                for unit in some(waiting, room - len(under_way)):
                    under_way[self._task.remote(unit, self._terms)] = unit
                if not under_way:
                    return
                done, _ = ray.wait(list(under_way), num_returns=1, timeout=PATIENCE)
                for task in done:
                    unit = under_way.pop(task)
                    outcome = self._outcome(task)
                    for another in [unit] if outcome is None else some(waiting, 1):
                        under_way[self._task.remote(another, self._terms)] = another
                    if outcome is not None:
                        yield outcome
                if time.monotonic() - looked > PATIENCE:
                    room, looked = self._room(), time.monotonic()
        finally:
            for task in under_way:
                ray.cancel(task, force=True)

    def _room(self) -> int:
        """Returns how many units may be under way."""
        if self._workers is not None:
            return self._workers
        return max(1, AHEAD * int(self._ray.cluster_resources().get("CPU", 0)))

    def _outcome(self, task: Any) -> Outcome | None:
        """Returns the outcome of a task; None if it was lost."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(task)
        except errors.ObjectLostError:
            return None
        except errors.RayTaskError as error:
            raise WorkerError(f"a node could not play a unit: {error.cause}") from error
        except errors.RayError as error:
            raise WorkerError(f"the Ray cluster could not play a unit: {error}") from error


def join(address: str | None, workers: int | None) -> bool:
    """Joins a Ray cluster, or starts one, unless this process belongs to one.

    Args:
        address: Of its head, or None; see `RayExecutor`.
        workers: CPUs of a cluster that is started; None is all of this machine.

    Returns:
        Whether it has; whoever called `ray.init` otherwise shuts it down.

    Raises:
        MissingLibraryError: Ray is not installed.
        WorkerError: There is no such cluster.
    """
    ray = import_ray()
    if ray.is_initialized():
        return False
    options: dict[str, Any] = {"address": address} if address else {
        "address": "local", "num_cpus": workers, "include_dashboard": False
    }  # fmt: skip
    if address:
        _check_there(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no statistics are sent unasked
    try:
        with warnings.catch_warnings():
            # Ray announces a change for GPUs, which nothing here uses.
            warnings.simplefilter("ignore", FutureWarning)
            ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise WorkerError(
            f"the Ray cluster {address or 'on this machine'} cannot be joined: {error}"
        ) from error
    return True


def _check_there(address: str) -> None:
    """Refuses an address at which nothing answers: Ray itself would try for minutes."""
    host, found, port = address.removeprefix("ray://").rpartition(":")
    if not found or not port.isdecimal():
        return  # a word for Ray to understand or refuse
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER).close()
    except (OSError, OverflowError) as error:
        raise WorkerError(
            f"nothing answers at {host}:{port} ({error}); is the head of the Ray cluster there? "
            "`ray start --head` prints its address"
        ) from error


@cache
def version() -> str:
    """Returns what has to be the same on all nodes: version and source of the games."""
    return f"{kille_env.__version__} ({source_digest(Path(kille_env.__file__).parent)})"


def check_version(wanted: str) -> None:
    """Refuses to work on a node whose version is another one.

    Raises:
        WorkerError: The message names both.
    """
    if wanted != version():
        raise WorkerError(
            f"it has kille-env {version()}, the one that asks {wanted}; "
            "install the same one everywhere"
        )


def import_ray() -> Any:
    """Returns the module `ray`, or says how to install it."""
    with needs("ray"):
        import ray
    return ray


@dataclass(frozen=True)
class _Terms:
    """What is the same for all units of a tournament.

    Attributes:
        token: Identifies the tournament.
        time_limit: Seconds for a batch of decisions.
        folder: The folder that it was started in, which nodes use too if they share it. Otherwise
            they use the one that Ray has made for the job.
        path: Where modules are imported from there.
        version: What has to be the same on all nodes.
    """

    token: str
    time_limit: float | None
    folder: str
    path: tuple[str, ...]
    version: str


_executors: dict[str, LocalExecutor] = {}
"""The executor of this Ray worker, by the tournament that it plays for."""


def _play(unit: WorkUnit, terms: _Terms) -> Outcome:
    """Plays a unit on a node, in a process that stays for the next one."""
    check_version(terms.version)
    if terms.token not in _executors:
        for other in list(_executors):
            _executors.pop(other).close()
        there = [each for each in terms.path if each not in sys.path and Path(each).is_dir()]
        sys.path.extend(there)  # last, so that nothing there hides what this node has
        folder = Path(terms.folder)
        _executors[terms.token] = LocalExecutor(
            1, terms.time_limit, folder=folder if folder.is_dir() else None
        )
    (outcome,) = _executors[terms.token].run([unit])
    return outcome
