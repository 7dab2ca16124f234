"""Several seeds of one configuration: trained side by side, summarized, and compared.

    first = kille_training.train("demo", seeds=8, out="runs/first")
    second = kille_training.train("demo", seeds=8, out="runs/second", set={"learner.gamma": 0.9})
    first.compare(second)

runs/NAME-seeds/
  seed-1/       a run, see `runs`: the same that `kille train NAME --seed 1` makes
  seed-2/
  output.log    what the processes printed

Each run has a process of its own with one thread, and as many learn at a time as there are cores.
All settings are written before the first run begins, so the folder alone says what is to be done.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.greedy import PLAYS
from kille_env.core import arguments
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.play.policy import resolve
from kille_env.registry import Table
from kille_env.words.text import counted
from kille_training.evaluation.api import Evaluation
from kille_training.evaluation.duplicate import DETERMINISTIC, deal_scores
from kille_training.labels import measure_of
from kille_training.learn.measuring import measure_run
from kille_training.learn.runs import (
    SEED_PREFIX,
    Run,
    load_named,
    seed_runs,
)
from kille_training.learn.settings import TrainSettings
from kille_training.pool.jobs import Arrays, Failed, Report, cores
from kille_training.pool.processes import Processes
from kille_training.progress import Progress, part_of, shown, teller
from kille_training.results import Result, TextTable
from kille_training.settings import Overrides
from kille_training.statistics.aggregate import bootstrap, difference, interquartile_mean, pairs

NASH_CONV = "NashConv (less is better)"
PLOT = "differences.svg"
FEWEST = 2
"""Seeds from which on there is an interval over seeds."""
DUST = 1e-9
"""Length of an interval that rounding leaves where all seeds are equal."""
FOREVER = 1e9
"""Seconds that a run may take."""


@dataclass(frozen=True, repr=False)
class SeedRuns(Result):
    """Finished runs of one configuration.

    Attributes:
        folder: Where they are.
        runs: The runs, by seed.
        seeds: [R] their seeds.
        evaluations: [R] what each earned at its end, over the same deals.
    """

    folder: Path
    runs: tuple[Run, ...]
    seeds: tuple[int, ...]
    evaluations: tuple[Evaluation, ...]

    @classmethod
    def of(cls, runs: Mapping[int, Run]) -> "SeedRuns":
        """Read finished runs, which are in one folder, by seed.

        Raises:
            ConfigError: One is not finished.
        """
        found = tuple(measure_run(run) for run in runs.values())
        folder = next(iter(runs.values())).folder.parent
        return cls(folder, tuple(runs.values()), tuple(runs), found)

    def rows(self) -> list[dict[str, Any]]:
        """Return one line per way to play and measure, with the values of all seeds.

        `mean` is their interquartile mean, `low` and `high` its 95% interval over seeds, both None
        with fewer than two seeds.
        """
        rows = []
        for name, values in figures_of(self.evaluations).items():
            found = None
            if len(values) >= FEWEST:
                found = bootstrap(np.array(values)[:, None], interquartile_mean)
            rows.append(
                {
                    "measure": name,
                    "mean": float(interquartile_mean(np.array(values)[:, None])),
                    "low": None if found is None else max(float(found.low), least_of(name)),
                    "high": None if found is None else float(found.high),
                    "values": list(values),
                }
            )
        return rows

    def parts(self) -> list[str | TextTable]:
        """Return the interquartile means with their intervals, and how far the seeds are apart."""
        first = self.evaluations[0]
        cells = [
            (
                row["measure"],
                f"{row['mean']:+.4f}",
                "" if row["low"] is None else ends(row["low"], row["high"]),
                f"{min(row['values']):+.4f}",
                f"{max(row['values']):+.4f}",
            )
            for row in self.rows()
        ]
        count = counted(len(self.seeds), "seed", "seeds")
        columns = ("measure", ">mean", ">95% interval", ">lowest", ">highest")
        title = f"Interquartile mean over {count}, {first.deals:,} deals each, the same for all"
        if len(self.seeds) < FEWEST:
            said = "One seed has no interval over seeds; make more with --seeds."
        else:
            said = (
                "The intervals are for the interquartile mean of all seeds that could be drawn, "
                "over these deals; those of NashConv end at 0."
            )
        return [f"{self.folder} at {first.table}", TextTable(title, columns, cells), said]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
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
        """Measure how this configuration differs from another one that learned at the same table.

        All runs play the same deals among copies of the same baselines, as `kt.evaluate` measures.
        Where the runs' exact NashConv is known, it is compared, too; less of it is better.

        Args:
            other: Its runs.
            baselines: The players in the other seats; None is those of this configuration.
            deals: Deals, each played from every seat; None is as many as at the end of a run.
            seed: Seed of the deals; None is that of the deals at the end of a run.
            progress: Called with how far it is; None shows bars in terminals and notebooks.

        Returns:
            The interquartile mean of the difference in all pairs of runs, by measure, with its
            interval over seeds of both and over deals; see `statistics.aggregate`.

        Raises:
            ConfigError: Both are one folder, one has a single seed, or they have other tables.
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
        measure, table = settings[0].measure, settings[0].table.table()
        if wrong := table.differences(settings[1].table.table()):
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
        label = measure_of(table.game, str(table.rules["episode"]))
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
                found.append(Difference.of(f"{label} against {name}, {play}", *scores))
        both = self.folder, other.folder
        return SeedComparison(*both, table, deals, seed, (*found, *_exact(*sides)))


@dataclass(frozen=True)
class Difference:
    """How two configurations differ by one measure.

    Attributes:
        measure: What was measured, as "units per deal against uniform, sampled".
        mean: Interquartile mean of what a run of the first has more than one of the second.
        low: Lower end of its 95% interval, over seeds of both and over deals.
        high: Upper end.
        ahead: Share of the pairs of runs in which the first has more; equal ones count half.
        first: [R] what each run of the first has.
        second: [S] what each run of the second has.
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
        """Return it from scores by run and deal, [R, D] and [S, D]."""
        found = difference(first, second)
        means = first.mean(axis=1), second.mean(axis=1)
        between = pairs(*means)
        ahead = float(((between > 0) + 0.5 * (between == 0)).mean())
        figures = (float(found.value), float(found.low), float(found.high))
        return cls(measure, *figures, ahead, *(tuple(each.tolist()) for each in means))


@dataclass(frozen=True, repr=False)
class SeedComparison(Result):
    """How two configurations differ, each learned with several seeds.

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
        """Return the differences, and what they estimate."""
        rows = [
            (
                each.measure,
                f"{each.mean:+.4f}",
                ends(each.low, each.high),
                f"{100 * each.ahead:.0f}%",
            )
            for each in self.differences
        ]
        columns = ("measure", ">difference", ">95% interval", ">first has more")
        title = f"{self.better} less {self.worse}, at {self.table}"
        first, second = self.differences[0].first, self.differences[0].second
        return [
            TextTable(title, columns, rows),
            f"{self.better} has {len(first)} seeds, {self.worse} {len(second)}; {self.deals:,} "
            "deals, the same for all runs.",
            "Difference: what a run of the first has more than a run of the second, the "
            "interquartile mean over all pairs of runs. Its 95% interval is over seeds of both and "
            "over deals: for all runs that these settings could give, and all deals.",
        ]

    def plot(self, out: str | Path | None = None) -> Path:
        """Write the plot of every run and of the differences as SVG, and return where it is.

        Args:
            out: Its folder; None is runs/BETTER-less-WORSE.
        """
        from kille_training.learn.seeds_plot import plot_seeds  # loads matplotlib

        names = (each.resolve().name for each in (self.better, self.worse))
        folder = Path("runs", "-less-".join(names)) if out is None else Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / PLOT, plot_seeds(self.differences).encode())
        return folder / PLOT

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            "better": str(self.better),
            "worse": str(self.worse),
            **self.table.as_dict(),
            "deals": self.deals,
            "seed": self.seed,
            "differences": [asdict(each) for each in self.differences],
        }


def seeds_in(folder: Path) -> SeedRuns:
    """Return the finished runs of a folder.

    Raises:
        ConfigError: There are none, or one is not finished.
    """
    runs = seed_runs(folder)
    if not runs:
        raise ConfigError(
            f"{folder} holds no runs by seed, and one run has no interval over seeds; train some: "
            "kille train RECIPE --seeds 5"
        )
    return SeedRuns.of(runs)


def least_of(measure: str) -> float:
    """Return what a measure is at least: where an interval goes below, that much is known."""
    return 0.0 if measure.startswith(NASH_CONV) else -np.inf


def ends(low: float, high: float) -> str:
    """Return an interval over seeds as text; where all are equal it says nothing of other seeds."""
    return f"{low:+.4f} to {high:+.4f}" if high - low > DUST else "no spread seen"


def figures_of(evaluations: Sequence[Evaluation]) -> dict[str, list[float]]:
    """Return the value of each seed by what was measured."""
    figures: dict[str, list[float]] = {}
    for each in evaluations:
        measure = measure_of(each.game, str(each.rules["episode"]))
        found = [
            (f"{measure} against {row.against}", row.play, row.estimate.mean) for row in each.rows
        ]
        found += [(NASH_CONV, row.play, row.nash_conv) for row in each.exact or ()]
        for name, play, value in found:
            for way in PLAYS if play == DETERMINISTIC else (play,):
                figures.setdefault(f"{name}, {way}", []).append(value)
    return {name: values for name, values in figures.items() if len(values) == len(evaluations)}


def _exact(*sides: SeedRuns) -> list[Difference]:
    """Return how NashConv differs, where all runs have been measured exactly at their end."""
    first, second = (figures_of(runs.evaluations) for runs in sides)
    return [
        Difference.of(name, *(np.array(each[name])[:, None] for each in (first, second)))
        for name in first
        if name.startswith(NASH_CONV) and name in second
    ]


def open_seeds(
    config: str | Path | TrainSettings,
    seeds: int,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    set: Overrides = (),
) -> dict[int, Run]:
    """Return runs of one configuration by seed, with their settings written.

    Args:
        config: As for `kille_training.train`, or a folder of runs by seed.
        seeds: How many runs.
        out: Their folder; the default is runs/NAME-seeds.
        seed: Seed of the first run; the others follow.
        set: Settings that win over the file.

    Raises:
        ConfigError: The settings cannot be used, or the folder holds other runs.
    """
    if seeds < 1:
        raise ConfigError(f"seeds is {seeds}, expected 1 or more")
    if not isinstance(config, TrainSettings) and (kept := seed_runs(Path(config))):
        if out is not None or seed is not None or set:
            raise ConfigError(f"{config} holds runs by seed; they keep their place and settings")
        folder, settings = Path(config), next(iter(kept.values())).settings()
        numbers = sorted(kept) if len(kept) == seeds else None  # whichever they are
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


def train_seeds(
    runs: dict[int, Run],
    finish: Callable[[Run], object],
    progress: Progress | None = None,
) -> SeedRuns:
    """Train runs that are not finished, side by side, each in a process with one thread.

    Args:
        runs: The runs by seed, all in one folder.
        finish: What a process does with a run, see `training.finish`.
        progress: Called with how many runs are finished; its `say` when one is.

    Raises:
        ConfigError: Some runs failed; the others are finished.
        KeyboardInterrupt: All processes have ended; call it again to resume.
    """
    folder = next(iter(runs.values())).folder.parent
    workers, log, tell = min(len(runs), cores()), folder / "output.log", teller(progress)
    many = counted(len(runs), "seed", "seeds")
    tell(f"{many} in {folder}, {workers} at a time; what they print is in {log}")
    advance = part_of(progress, f"training {many}", len(runs))
    failed: dict[int, str] = {}
    items = [(seed, run.folder) for seed, run in runs.items()]
    with Processes(workers, log=log) as pool:
        for (seed, _), result in pool.run(partial(_run, finish=finish), items):
            if isinstance(result, Failed):
                failed[seed] = result.reason
            tell(f"seed {seed} {'failed' if seed in failed else 'is finished'}")
            advance(1)
    if failed:
        said = "; ".join(f"seed {seed}: {reason}" for seed, reason in failed.items())
        raise ConfigError(
            f"{len(failed)} of {many} failed ({said}); {log} may say more. The others "
            "are finished, and the same call tries these again"
        )
    return SeedRuns.of(runs)


def _run(item: tuple[int, Path], report: Report, finish: Callable[[Run], object]) -> Arrays:
    """Finish one run; a run that diverges is no fault of the others."""
    seed, folder = item
    with report(seed, "to train", FOREVER):
        finish(Run(folder))
    return {}
