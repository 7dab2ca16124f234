"""Runs of one configuration with several seeds: open, summarize and compare them.

    first = kille_training.train("demo", seeds=8, out="runs/first")
    second = kille_training.train("demo", seeds=8, out="runs/second", set={"learner.gamma": 0.9})
    first.compare(second)

A folder of seeds holds the runs `seed-1`, `seed-2` and so on; see `runs` and `grid`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.greedy import PLAYS
from kille_env.core import arguments
from kille_env.errors import ConfigError
from kille_env.files import make_folder, write_whole
from kille_env.play.policy import resolve
from kille_env.registry import Table
from kille_env.words.text import counted
from kille_training.evaluation.api import Evaluation
from kille_training.evaluation.duplicate import DETERMINISTIC, deal_scores
from kille_training.labels import measure_of
from kille_training.learn.measuring import measure_run
from kille_training.learn.runs import SEED_PREFIX, Run, load_named, seed_runs
from kille_training.learn.settings import TrainSettings
from kille_training.progress import Progress, part_of, shown
from kille_training.results import Result, TextTable
from kille_training.settings import Overrides
from kille_training.statistics.aggregate import bootstrap, difference, interquartile_mean, pairs

NASH_CONV = "NashConv"
PLOT = "differences.svg"
FEWEST = 2  # minimum number of seeds for an interval over seeds
DUST = 1e-9  # rounding error of the length of an interval of equal seeds


@dataclass(frozen=True, repr=False)
class SeedRuns(Result):
    """Finished runs of one configuration.

    Attributes:
        folder: Their folder.
        runs: The runs, by seed.
        seeds: [R] their seeds.
        evaluations: [R] their measurements at the end, over the same deals.
    """

    folder: Path
    runs: tuple[Run, ...]
    seeds: tuple[int, ...]
    evaluations: tuple[Evaluation, ...]

    @classmethod
    def of(cls, runs: Mapping[int, Run]) -> "SeedRuns":
        """Read finished runs by seed in one folder."""
        found = tuple(measure_run(run) for run in runs.values())
        folder = next(iter(runs.values())).folder.parent
        return cls(folder, tuple(runs.values()), tuple(runs), found)

    def rows(self) -> list[dict[str, Any]]:
        """Return the summary of each measure and way of play, with the values of all seeds.

        `mean` is the interquartile mean, `low` and `high` its 95% interval over seeds, both None
        with fewer than two seeds.
        """
        rows = []
        figures = figures_of(self.evaluations)
        if all(held_out := [run.read_held_out() for run in self.runs]):
            values = [found["interquartile_mean"]["value"] for found in held_out]
            figures[f"{NASH_CONV} at {held_out[0]['tables']}, share of uniform's"] = values
        for name, values in figures.items():
            scores, low, high = np.array(values)[:, None], None, None
            if len(values) >= FEWEST:
                found = bootstrap(scores, interquartile_mean)
                low, high = max(float(found.low), _least(name)), float(found.high)
            mean = float(interquartile_mean(scores))
            rows.append({"measure": name, "mean": mean, "low": low, "high": high, "values": values})
        return rows

    def parts(self) -> list[str | TextTable]:
        """Return the interquartile means with their intervals, and the range of the seeds."""
        first = self.evaluations[0]
        cells = [
            (
                row["measure"],
                f"{row['mean']:+.4f}",
                "" if row["low"] is None else _ends(row["low"], row["high"]),
                f"{min(row['values']):+.4f} to {max(row['values']):+.4f}",
            )
            for row in self.rows()
        ]
        count, measure = counted(len(self.seeds), "seed", "seeds"), _measure(first)
        columns = (measure, ">mean", ">95% interval", ">range of seeds")
        if len(self.seeds) < FEWEST:
            said = "One seed has no interval over seeds; train more with --seeds."
        else:
            said = "Intervals are over seeds, for these deals. Less NashConv is better."
        title = f"Interquartile mean over {count}, {first.deals:,} deals each, the same for all"
        return [f"{self.folder} at {first.table}", TextTable(title, columns, cells), said]

    def as_dict(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        runs = [
            {"seed": seed, "run": str(run.folder), "evaluation": found.as_dict()}
            for seed, run, found in zip(self.seeds, self.runs, self.evaluations, strict=True)
        ]
        return {"run": str(self.folder), "summary": self.rows(), "runs": runs}

    def compare(
        self,
        other: "SeedRuns",
        *,
        baselines: Sequence[str] | None = None,
        deals: int | None = None,
        seed: int | None = None,
        progress: Progress | None = None,
    ) -> "SeedComparison":
        """Measure the difference to another configuration at the same table.

        All runs play the same deals among copies of the same baselines, as in `kt.evaluate`. Exact
        NashConv is compared where all runs have it.

        Args:
            other: Runs of the other configuration.
            baselines: Players in the other seats; None is those of this configuration.
            deals: Deals, each played from every seat; None is the number of the final measurement.
            seed: Seed of the deals; None is that of the final measurement.
            progress: Progress callback; None shows bars in terminals and notebooks.

        Returns:
            The interquartile mean of the difference in all pairs of runs, by measure, with its
            interval over the seeds of both and over deals; see `statistics.aggregate`.

        Raises:
            ConfigError: Both are the same folder, one has a single seed, or their tables differ.
        """
        sides = self, other
        for each in sides:
            if len(each.runs) < FEWEST:
                raise ConfigError(
                    f"{each.folder} holds one seed, which has no interval over seeds; train more: "
                    f"kille train {each.folder} --seeds 5"
                )
        if self.folder.resolve() == other.folder.resolve():
            raise ConfigError(f"{self.folder} is compared with itself; name two folders of seeds")
        settings = [each.runs[0].settings() for each in sides]
        measure, table = settings[0].measure, settings[0].home()
        if wrong := table.differences(settings[1].home()):
            raise ConfigError(
                f"{self.folder} and {other.folder} differ in their tables: {'; '.join(wrong)}"
            )
        names = measure.baselines if baselines is None else baselines
        names = [names] if isinstance(names, str) else list(names)
        if not names:
            raise ConfigError("baselines is empty, expected at least one player")
        deals = arguments.whole("deals", measure.final_deals if deals is None else deals, 2)
        seed = arguments.seed(measure.seed if seed is None else seed)
        count = deals * len(names) * len(PLAYS) * sum(len(each.runs) for each in sides)
        advance = part_of(shown(progress), "measuring", count)
        where = table.num_players, table.rules
        players = [[resolve(run.folder, table.game, *where) for run in each.runs] for each in sides]
        found = []
        for name in names:
            opponent = resolve(name, table.game, *where)
            for play in PLAYS:
                how = play, deals, seed, None, advance
                scores = (
                    np.array([deal_scores(each, opponent, *where, *how)[0][:, 0] for each in side])
                    for side in players
                )
                found.append(Difference.of(f"against {name}, {play}", *scores))
        first, second = (figures_of(each.evaluations) for each in sides)
        for name in first:
            if name.startswith(NASH_CONV) and name in second:
                both = (np.array(each[name])[:, None] for each in (first, second))
                found.append(Difference.of(name, *both))
        return SeedComparison(self.folder, other.folder, table, deals, seed, tuple(found))


@dataclass(frozen=True)
class Difference:
    """Difference of two configurations by one measure.

    Attributes:
        measure: The measure, as "against uniform, sampled" for units per deal, or NashConv.
        mean: Interquartile mean of a run of the first minus a run of the second.
        low: Lower end of its 95% interval, over seeds of both and over deals.
        high: Upper end.
        ahead: Share of the pairs of runs in which the first has more; equal ones count half.
        first: [R] values of the runs of the first.
        second: [S] values of the runs of the second.
    """

    measure: str
    mean: float
    low: float
    high: float
    ahead: float
    first: tuple[float, ...]
    second: tuple[float, ...]

    @classmethod
    def of(cls, measure: str, first: np.ndarray, second: np.ndarray) -> "Difference":
        """Compute it from scores by run and deal, [R, D] and [S, D]."""
        found = difference(first, second)
        means = first.mean(axis=1), second.mean(axis=1)
        between = pairs(*means)
        ahead = float(((between > 0) + 0.5 * (between == 0)).mean())
        figures = (float(found.value), float(found.low), float(found.high))
        return cls(measure, *figures, ahead, *(tuple(each.tolist()) for each in means))


@dataclass(frozen=True, repr=False)
class SeedComparison(Result):
    """Differences of two configurations, each trained with several seeds.

    Attributes:
        better: Folder of the runs of the first.
        worse: Folder of the runs of the second.
        table: The table.
        deals: D, deals that every run plays, each from every seat.
        seed: Their seed.
        differences: By measure.
    """

    better: Path
    worse: Path
    table: Table
    deals: int
    seed: int
    differences: tuple[Difference, ...]

    def parts(self) -> list[str | TextTable]:
        """Return the differences, and a description of the estimated quantity."""
        rows = [
            (
                each.measure,
                f"{each.mean:+.4f}",
                _ends(each.low, each.high),
                f"{100 * each.ahead:.0f}%",
            )
            for each in self.differences
        ]
        label = measure_of(self.table.game, str(self.table.rules["episode"]))
        columns = (label, ">difference", ">95% interval", ">first has more")
        title = f"{self.better} less {self.worse}, at {self.table}"
        first, second = self.differences[0].first, self.differences[0].second
        return [
            TextTable(title, columns, rows),
            f"{len(first)} seeds and {len(second)} seeds, {self.deals:,} deals, the same for all.",
            "The difference is the interquartile mean over all pairs of a run of the first\n"
            "and a run of the second; its interval is over seeds of both and over deals.",
        ]

    def plot(self, out: str | Path | None = None) -> Path:
        """Write a plot of all runs and of the differences as SVG, and return its path."""
        from kille_training.learn.seeds_plot import differences_plot  # loads matplotlib

        names = (each.resolve().name for each in (self.better, self.worse))
        folder = Path("runs", "-less-".join(names)) if out is None else Path(out)
        make_folder(folder)
        write_whole(folder / PLOT, differences_plot(self.differences).encode())
        return folder / PLOT

    def as_dict(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        return {
            "better": str(self.better),
            "worse": str(self.worse),
            **self.table.as_dict(),
            "deals": self.deals,
            "seed": self.seed,
            "differences": [asdict(each) for each in self.differences],
        }


def seeds_in(folder: Path) -> SeedRuns:
    """Return the finished runs of a folder."""
    runs = seed_runs(folder)
    if not runs:
        raise ConfigError(
            f"{folder} has no runs by seed, and one run has no interval over seeds; train some: "
            "kille train RECIPE --seeds 5"
        )
    return SeedRuns.of(runs)


def figures_of(evaluations: Sequence[Evaluation]) -> dict[str, list[float]]:
    """Return the values of all seeds by measure, as "against uniform, sampled"."""
    figures: dict[str, list[float]] = {}
    for each in evaluations:
        found = [(f"against {row.against}", row.play, row.estimate.mean) for row in each.rows]
        found += [(NASH_CONV, row.play, row.nash_conv) for row in each.exact or ()]
        for name, play, value in found:
            for way in PLAYS if play == DETERMINISTIC else (play,):
                figures.setdefault(f"{name}, {way}", []).append(value)
    return {name: values for name, values in figures.items() if len(values) == len(evaluations)}


def _measure(found: Evaluation) -> str:
    return measure_of(found.game, str(found.rules["episode"]))


def _least(measure: str) -> float:
    return 0.0 if measure.startswith(NASH_CONV) else -np.inf


def _ends(low: float, high: float) -> str:
    """Return an interval over seeds as text; equal seeds have none."""
    return f"{low:+.4f} to {high:+.4f}" if high - low > DUST else "no spread"


def open_seeds(
    config: str | Path | TrainSettings,
    seeds: int,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    set: Overrides = (),
) -> dict[int, Run]:
    """Return the runs of one configuration by seed, after writing their settings."""
    if seeds < 1:
        raise ConfigError(f"seeds is {seeds}, expected 1 or more")
    if not isinstance(config, TrainSettings) and (kept := seed_runs(Path(config))):
        if out is not None or seed is not None or set:
            raise ConfigError(f"{config} holds runs with their own settings; give no out or set")
        folder, settings = Path(config), next(iter(kept.values())).settings()
        numbers = sorted(kept) if len(kept) == seeds else None  # all of them, consecutive or not
    else:
        settings = load_named(config, out=out, seed=seed, set=set)
        folder = Path("runs") / f"{settings.name}-seeds" if out is None else Path(out)
        numbers = None
    if Run(folder).config.is_file():
        raise ConfigError(f"{folder} is one run; name another folder for several seeds with --out")
    runs = seed_runs(folder)
    numbers = numbers or list(range(settings.seed, settings.seed + seeds))
    for number, run in runs.items():
        run.check_same(replace(settings, seed=number, name=run.settings().name))
    for number in numbers:
        if number not in runs:
            runs[number] = Run(folder / f"{SEED_PREFIX}{number}")
            name = f"{folder.resolve().name}-{number}"
            runs[number].write_settings(replace(settings, name=name, seed=number, made_with={}))
    return {number: runs[number] for number in numbers}
