"""Learning curves measured exactly: NashConv of the policy at points of a run.

Byteskille's single deals have trees that fit into memory, so the distance of a network from an
equilibrium is computed and not estimated. Measuring stops the clock.
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stable_baselines3.common.vec_env import VecEnv

from kille_agents.greedy import PLAYS, Greedy
from kille_env.errors import ConfigError
from kille_training.learning.sb3 import export, make_model, update
from kille_training.learning.settings import TrainSettings
from kille_training.solving.byteskille.deals import DealStages
from kille_training.solving.byteskille.policies import nash_conv


@dataclass(frozen=True)
class Point:
    """A learner at one point of its run.

    Attributes:
        decisions: Decisions of the learner so far.
        seconds: Processor time that playing and updating have taken so far.
        wall_seconds: The same in elapsed time.
        greedy: What each seat could gain, in stakes, if all play greedily; forehand first, the
            dealer last. The sum is NashConv.
        sampled: The same if all sample their actions.
    """

    decisions: int
    seconds: float
    wall_seconds: float
    greedy: tuple[float, ...]
    sampled: tuple[float, ...]

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> "Point":
        """Returns a point that `asdict` has taken apart."""
        seats = {name: tuple(content[name]) for name in PLAYS}
        return cls(**{**content, **seats})


def learn(settings: TrainSettings, deal: DealStages, env: VecEnv | None = None) -> Iterator[Point]:
    """Trains; yields a point every `measure.every` decisions and at the end.

    Args:
        settings: The run: a single deal of Byteskille.
        deal: The trees of that deal, the dealer last.
        env: Where it learns, see `make_model`.
    """
    learner, rules = settings.learner, settings.table.resolve()
    model = make_model(settings, rules, env)
    stake = rules.number("stake")
    every = settings.measure.every or learner.total
    seconds = wall_seconds = 0.0
    due = every
    while model.num_timesteps < learner.total:
        began = time.process_time(), time.perf_counter()
        update(model, learner, lambda: 1.0 - model.num_timesteps / learner.total)
        seconds += time.process_time() - began[0]
        wall_seconds += time.perf_counter() - began[1]
        if model.num_timesteps < min(due, learner.total):
            continue
        due += every
        policy = export(model, settings, rules, settings.name)
        gains = [
            tuple(round(float(gain), 9) for gain in nash_conv(player, deal).improvement / stake)
            for player in (Greedy(policy), policy)
        ]
        yield Point(model.num_timesteps, round(seconds, 3), round(wall_seconds, 3), *gains)


class Journal:
    """A file of finished runs, one JSON object per line; finished runs are not repeated."""

    def __init__(self, path: Path) -> None:
        """Reads what is there.

        Args:
            path: The file; it need not exist.

        Raises:
            ConfigError: A line other than the last is broken.
        """
        self.path = path
        self.lines: list[dict[str, Any]] = []
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole, _, cut = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                self.lines.append(json.loads(line))
            except ValueError as error:
                raise ConfigError(f"line {number} of {path} is broken: {error}") from None
        if cut:  # killed while it wrote; that run is repeated
            path.write_text(whole + "\n" if whole else "", encoding="utf-8")

    def has(self, key: Mapping[str, Any], settings: Any) -> bool:
        """Returns whether a run is there.

        Args:
            key: What distinguishes runs.
            settings: The run's settings, as JSON can hold them.

        Raises:
            ConfigError: It is there with other settings.
        """
        for line in self.lines:
            if all(line.get(name) == value for name, value in key.items()):
                if line["settings"] != json.loads(json.dumps(settings)):
                    which = ", ".join(f"{name} {value}" for name, value in key.items())
                    raise ConfigError(
                        f"{self.path} holds the run {which} with other settings; "
                        "remove the file, or write to another one with --out"
                    )
                return True
        return False

    def add(self, line: Mapping[str, Any]) -> None:
        """Appends a finished run."""
        self.lines.append(dict(line))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")


def curve(points: list[Point]) -> list[dict[str, Any]]:
    """Returns points as JSON can hold them."""
    return [asdict(point) for point in points]
