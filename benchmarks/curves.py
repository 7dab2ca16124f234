"""What the benchmarks of learning share: runs measured exactly, and the file of finished runs.

Byteskille's single deals have trees that fit into memory, so the distance of a network from an
equilibrium is computed and not estimated.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from stable_baselines3.common.vec_env import VecEnv

from kille_agents.greedy import Greedy
from kille_env.errors import ConfigError
from kille_env.play.policy import Policy
from kille_env.registry import spec
from kille_training.learn.method import whole_updates
from kille_training.learn.methods.maskable_ppo import Learner
from kille_training.learn.settings import TableSettings, TrainSettings
from kille_training.settings import plain, versions
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import nash_conv
from kille_training.solving.stages import DealStages

ROOT = Path(__file__).parents[1]
Point = dict[str, Any]
"""A learner at one point of its run: "decisions" so far, "seconds" of processor time and
"wall_seconds" that playing and updating have taken, and what each seat could gain, in stakes or
units and forehand first, if all play "greedy" or "sampled"; its sum is NashConv.
"""


def deal_of(table: TableSettings) -> DealStages:
    """Return the trees of a table's deal, grown once."""
    return _grown(table.game, table.num_players, **table.rules)


@cache
def _grown(game: str, num_players: int, **rules: Any) -> DealStages:
    return build_deal(num_players, spec(game).resolve(rules, episode="deal"))


def learn(
    settings: TrainSettings, env: VecEnv | None = None, *, stakes: bool = True
) -> Iterator[Point]:
    """Trains; yields a point every `measure.every` decisions and at the end.

    Measuring stops the clock.
    """
    deal = deal_of(settings.table)
    unit = deal.rules.number("stake") if stakes else 1
    table = settings.table.table()
    learner = Learner(table, settings.seed, settings.hyperparameters(), env)
    total = whole_updates(learner, settings.decisions)
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
        """Read what is there."""
        self.path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        self.lines: list[dict[str, Any]] = [json.loads(line) for line in whole.splitlines()]
        if whole != text:  # killed while it wrote; that run is repeated
            path.write_text(whole, encoding="utf-8")

    def has(self, key: Mapping[str, Any], settings: Any) -> bool:
        """Return whether a run is there."""
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
        """Append a finished run."""
        line = {**key, **found, "settings": plain(settings), "made_with": versions()}
        self.lines.append(line)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")


Key = dict[str, Any]
"""What distinguishes the runs of a benchmark."""
Case = tuple[Key, Any]
"""A run: its key and its settings."""


def make_runs(
    doc: str | None,
    name: str,
    cases: Callable[[int], Iterable[Case]],
    measure: Callable[[Key, Any], dict[str, Any]],
    seeds: int = 5,
) -> None:
    """Run a script: makes the runs that the file `--out` does not have yet."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--workers", type=int, default=1, help="processes; each takes one core")
    parser.add_argument("--out", type=Path, default=Path("runs") / f"{name}.jsonl")
    options = parser.parse_args()
    journal = Journal(options.out)
    missing = [case for case in cases(options.seeds) if not journal.has(*case)]
    for (key, settings), found in _made(missing, measure, options.workers):
        journal.add(key, settings, **found)
        last = found["points"][-1] if "points" in found else found
        print(f"{json.dumps(key)}: {json.dumps(last)}", flush=True)


def _made(
    cases: Iterable[Case], measure: Callable[[Key, Any], dict[str, Any]], workers: int
) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Yield runs and what they gave, as they end."""
    if workers == 1:
        yield from ((case, measure(*case)) for case in cases)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        jobs = {pool.submit(measure, *case): case for case in cases}
        for job in as_completed(jobs):
            yield jobs[job], job.result()
