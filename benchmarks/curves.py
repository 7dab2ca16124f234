"""What the benchmarks of learning share: runs measured exactly, and the file of finished runs.

Byteskille's single deals have trees that fit into memory, so the distance of a network from an
equilibrium is computed and not estimated.
"""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stable_baselines3.common.vec_env import VecEnv

from kille_agents.greedy import Greedy
from kille_env.errors import ConfigError
from kille_env.play.policy import Policy
from kille_training.learn.methods.maskable_ppo import Learner
from kille_training.learn.runs import versions
from kille_training.learn.settings import TrainSettings
from kille_training.settings import plain
from kille_training.solving.policies import nash_conv
from kille_training.solving.stages import DealStages

Point = dict[str, Any]
"""A learner at one point of its run: "decisions" so far, "seconds" of processor time and
"wall_seconds" that playing and updating have taken, and what each seat could gain, in stakes or
units and forehand first, if all play "greedy" or "sampled"; its sum is NashConv.
"""


def learn(
    settings: TrainSettings, deal: DealStages, env: VecEnv | None = None, *, stakes: bool = True
) -> Iterator[Point]:
    """Trains; yields a point every `measure.every` decisions and at the end.

    Measuring stops the clock.

    Args:
        settings: The run: single deals of a table that has a tree.
        deal: The trees of that deal, the dealer last.
        env: Where it learns, see `Learner`.
        stakes: Whether gains are in stakes, else in units.
    """
    unit = deal.rules.number("stake") if stakes else 1
    table, total = settings.table.table(), settings.learner.total
    learner = Learner(table, settings.seed, settings.learner, env)
    seconds = wall_seconds = 0.0
    due = every = settings.measure.every or total
    while learner.decisions < total:
        began = time.process_time(), time.perf_counter()
        learner.update(lambda: 1.0 - learner.decisions / total)
        seconds += time.process_time() - began[0]
        wall_seconds += time.perf_counter() - began[1]
        if learner.decisions < min(due, total):
            continue
        due += every
        policy = learner.policy(settings.name)
        yield {
            "decisions": learner.decisions,
            "seconds": round(seconds, 3),
            "wall_seconds": round(wall_seconds, 3),
            "greedy": _gains(Greedy(policy), deal, unit),
            "sampled": _gains(policy, deal, unit),
        }


def _gains(policy: Policy, deal: DealStages, unit: int) -> list[float]:
    return (nash_conv(policy, deal).improvement / unit).round(9).tolist()


class Journal:
    """A file of finished runs, one JSON object per line; finished runs are not repeated."""

    def __init__(self, path: Path) -> None:
        """Reads what is there.

        Args:
            path: The file; it need not exist. A last line that was cut off is dropped.
        """
        self.path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        self.lines: list[dict[str, Any]] = [json.loads(line) for line in whole.splitlines()]
        if whole != text:  # killed while it wrote; that run is repeated
            path.write_text(whole, encoding="utf-8")

    def has(self, key: Mapping[str, Any], settings: Any) -> bool:
        """Returns whether a run is there.

        Args:
            key: What distinguishes runs.
            settings: The run's settings.

        Raises:
            ConfigError: It is there with other settings.
        """
        for line in self.lines:
            if all(line.get(name) == value for name, value in key.items()):
                if line["settings"] != plain(settings):
                    raise ConfigError(
                        f"{self.path} holds the run {dict(key)} with other settings; "
                        "remove the file, or write to another one with --out"
                    )
                return True
        return False

    def add(self, key: Mapping[str, Any], settings: Any, **found: Any) -> None:
        """Appends a finished run."""
        line = {**key, **found, "settings": plain(settings), "made_with": versions()}
        self.lines.append(line)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")
