"""Execute jobs on a Ray cluster, each item in a monitored process as on one machine.

An item is a task of one CPU. When a node dies, its tasks are repeated elsewhere; each result
arrives once. Every node needs the same kille-env and access to the files of the jobs, in a shared
folder or through Ray's `working_dir`.
"""

import logging
import os
import socket
import sys
import uuid
import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import kille_env
from kille_env.core.jit import source_digest
from kille_env.extras import needs
from kille_training.pool.jobs import Arrays, Failed, I, Job, WorkerError
from kille_training.pool.processes import Processes

AHEAD = 2  # items submitted per CPU: one running, one queued
ANSWER = 5.0  # timeout of the head of a cluster in seconds
PATIENCE = 1.0  # seconds between two updates of the number of CPUs


class Ray(AbstractContextManager["Ray"]):
    """A pool of the CPUs of a Ray cluster; see `jobs.Pool`."""

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        """Join the cluster, or start one."""
        self._ray = import_ray()
        self._joined = not self._ray.is_initialized()  # otherwise an existing connection stays open
        if self._joined:
            _join(self._ray, address, workers)
        own = self._joined and address is None  # a cluster with `workers` CPUs
        self._workers = None if own else workers
        # Unlimited retries: the death of a node is not the item's fault. A player that crashes its
        # process fails inside the task, which then ends normally.
        self._task = self._ray.remote(
            num_cpus=1, max_retries=-1, scheduling_strategy="SPREAD"
        )(_do)  # fmt: skip
        self._job: Any = None
        self._token = ""

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster; shut it down if this process started it."""
        if self._joined and self._ray.is_initialized():
            self._ray.shutdown()

    def run(self, job: Job[I], items: Iterable[I]) -> Iterator[tuple[I, Arrays | Failed]]:
        """Execute a job on items, fetched as CPUs become free; see `jobs.Pool`."""
        ray, waiting, sent = self._ray, iter(items), self._ray.put(job)
        if job is not self._job:
            self._job, self._token = job, uuid.uuid4().hex
        terms = _Terms(self._token, str(Path.cwd()), tuple(sys.path), version())
        under_way: dict[Any, I] = {}

        def begin(item: I) -> None:
            under_way[self._task.remote(sent, item, terms)] = item

        try:
            while True:
                for item in islice(waiting, max(0, self._room() - len(under_way))):
                    begin(item)
                if not under_way:
                    return
                done, _ = ray.wait(list(under_way), num_returns=1, timeout=PATIENCE)
                for task in done:
                    item = under_way.pop(task)
                    result = self._result(task)
                    for another in [item] if result is None else islice(waiting, 1):
                        begin(another)
                    if result is not None:
                        yield item, result
        finally:
            for task in under_way:
                ray.cancel(task, force=True)

    def _room(self) -> int:
        """Return the maximum number of submitted items."""
        if self._workers is not None:
            return self._workers
        return max(1, AHEAD * int(self._ray.cluster_resources().get("CPU", 0)))

    def _result(self, task: Any) -> Arrays | Failed | None:
        """Return the result of a task; None if it was lost."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(task)
        except errors.ObjectLostError:
            return None
        except errors.RayTaskError as error:
            raise WorkerError(f"a node failed: {error.cause}") from error
        except errors.RayError as error:
            raise WorkerError(f"the Ray cluster failed: {error}") from error


def _join(ray: Any, address: str | None, workers: int | None) -> None:
    """Join a Ray cluster, or start one; see `Ray`."""
    options: dict[str, Any] = {"address": address} if address else {
        "address": "local", "num_cpus": workers, "include_dashboard": False
    }  # fmt: skip
    if address:
        _check_there(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage statistics
    try:
        with warnings.catch_warnings():
            # Silences a warning about GPUs, which are not used here.
            warnings.simplefilter("ignore", FutureWarning)
            ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise WorkerError(
            f"the Ray cluster {address or 'on this machine'} cannot be joined: {error}"
        ) from error


def _check_there(address: str) -> None:
    """Refuse an unreachable address at once: Ray itself would retry for minutes."""
    host, found, port = address.removeprefix("ray://").rpartition(":")
    if not found or not port.isdecimal():
        return  # not HOST:PORT: Ray checks it
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER).close()
    except (OSError, OverflowError) as error:
        raise WorkerError(
            f"nothing answers at {host}:{port} ({error}); is the head of the Ray cluster there? "
            "`ray start --head` prints its address"
        ) from error


@cache
def version() -> str:
    """Return the version and a digest of the sources, which must be the same on all nodes."""
    return f"{kille_env.__version__} ({source_digest(Path(kille_env.__file__).parent)})"


def import_ray() -> Any:
    """Return the module `ray`, or raise with the command that installs it."""
    with needs("ray"):
        import ray
    return ray


@dataclass(frozen=True)
class _Terms:
    """Shared settings of the items of a job."""

    token: str
    folder: str
    path: tuple[str, ...]
    version: str


_pools: dict[str, tuple[Processes, Any]] = {}
"""The pool of this Ray worker with its job, by the job's token."""


def _do(job: Any, item: Any, terms: _Terms) -> Arrays | Failed:
    """Execute an item on a node, in a process that stays for the next one."""
    if terms.version != version():
        raise WorkerError(
            f"it has kille-env {version()}, expected {terms.version}; install the same one "
            "everywhere"
        )
    if terms.token not in _pools:
        for other in list(_pools):
            _pools.pop(other)[0].close()
        there = [each for each in terms.path if each not in sys.path and Path(each).is_dir()]
        sys.path.extend(there)  # last, so that it does not shadow the node's packages
        folder = Path(terms.folder)
        pool = Processes(1, folder=folder if folder.is_dir() else None)
        _pools[terms.token] = (pool, job)
    pool, kept = _pools[terms.token]
    ((_, result),) = pool.run(kept, [item])
    return result
