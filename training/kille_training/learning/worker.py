"""A process of a run beside the one that leads; `workers` starts it.

    python -m kille_training.learning.worker

Its rank, the settings of the run and the file to meet at arrive on standard input, then orders:
the name of a method of `Worker` and its arguments. What it returns goes to standard output. All of
it is pickled. It ends when its input ends, so it never outlives the process that leads.
"""

import os
import pickle
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kille_training.learning.checkpoints import own_state, restore
from kille_training.learning.data_parallel import ConnectionLost, join, network_digest
from kille_training.learning.sb3 import make_model, update
from kille_training.learning.settings import TrainSettings
from kille_training.learning.workers import Failed


class Worker:
    """A learner that does as it is told."""

    def __init__(self, rank: int, settings: TrainSettings, meeting: Path) -> None:
        """Prepares tables of its own, whose deals follow from the run's seed and its rank."""
        seed = int(np.random.SeedSequence([settings.seed, rank]).generate_state(1)[0] >> 1)
        self._settings, self._rank, self._meeting = settings, rank, meeting
        self._model = make_model(replace(settings, seed=seed), settings.table.resolve())

    def join(self) -> None:
        """Meets the other processes."""
        join(self._model, self._meeting, self._rank, self._settings.learner.processes)

    def update(self) -> dict[str, float]:
        """Plays a rollout and learns from it with the others; returns what it logs."""
        learner, model = self._settings.learner, self._model
        update(model, learner, lambda: 1.0 - model.num_timesteps / learner.total)
        return {name: float(value) for name, value in model.logger.name_to_value.items()}

    def processor_seconds(self) -> float:
        """Returns the processor time of this process so far."""
        return time.process_time()

    def state(self) -> tuple[str, dict[str, np.ndarray]]:
        """Returns a digest of its network, and what is not the same in all processes."""
        return network_digest(self._model), own_state(self._model)

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Goes on from a checkpoint."""
        restore(self._model, header, arrays)


def main() -> None:
    """Does what is ordered until there are no more orders, or something fails."""
    orders, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # what libraries print is no reply

    def reply(answer: Any) -> None:
        pickle.dump(answer, replies, pickle.HIGHEST_PROTOCOL)
        replies.flush()

    try:
        worker = Worker(*pickle.load(orders))
        reply(None)
        while True:
            name, *arguments = pickle.load(orders)
            reply(getattr(worker, name)(*arguments))
    except (EOFError, BrokenPipeError):
        pass  # the run is over
    except Exception as error:
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        reply(Failed(text, isinstance(error, ConnectionLost)))
    os._exit(0)  # nothing is left to do, and no connection to wait for


if __name__ == "__main__":
    main()
