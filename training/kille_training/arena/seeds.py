"""Does one configuration learn better than another? Both with several seeds, over the same deals.

Each run is measured as `kille evaluate` measures it: among copies of each baseline, over the same
deals. The figure is the interquartile mean of the difference between a run of the one configuration
and a run of the other, in all pairs, with its interval over seeds of both and over deals; see
`statistics.aggregate`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.greedy import PLAYS
from kille_env.core import arguments
from kille_env.errors import ConfigError
from kille_env.play.policy import resolve
from kille_env.registry import Table
from kille_training.evaluation.duplicate import deal_scores
from kille_training.labels import measure_of
from kille_training.learn.runs import Run, measure_run, seed_runs, unfinished
from kille_training.learn.seeds import FEWEST, NASH_CONV, ends, figures_of
from kille_training.progress import Progress, part_of, shown
from kille_training.results import Result, TextTable
from kille_training.statistics.aggregate import difference, pairs


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

    def sentences(self) -> list[str]:
        """Return what the figures estimate."""
        first, second = (len(each) for each in self._values())
        return [
            f"{self.better} has {first} seeds, {self.worse} {second}; {self.deals:,} deals, the "
            "same for all runs.",
            "Difference: what a run of the first has more than a run of the second, the "
            "interquartile mean over all pairs of runs. Its 95% interval is over seeds of both and "
            "over deals: for all runs that these settings could give, and all deals.",
        ]

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
        return [TextTable(title, columns, rows), *self.sentences()]

    def page(self) -> Path:
        """Return where `kille_training.report` writes the page by default."""
        names = (each.resolve().name for each in (self.better, self.worse))
        return Path("runs") / "-less-".join(names) / "report.html"

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

    def _values(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return self.differences[0].first, self.differences[0].second


def compare_seeds(
    better: str | Path,
    worse: str | Path,
    *,
    baselines: Sequence[str] | None = None,
    deals: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> SeedComparison:
    """Measures how two configurations differ that were learned with several seeds each.

    All runs play the same deals among copies of the same baselines. Where the runs' exact NashConv
    is known, it is compared, too; less of it is better.

    Example:
        >>> import kille_training as kt
        >>> few = {"table.num_players": 2, "learner.decisions": 8_192, "measure.every": 0}
        >>> few |= {"measure.final_deals": 20}
        >>> one = kt.train("demo", seeds=2, out="runs/one", set=few)
        >>> two = kt.train("demo", seeds=2, out="runs/two", set=few | {"learner.ent_coef": 0.0})
        >>> kt.compare_seeds(one.folder, two.folder).differences[0].measure
        'units per deal against uniform, greedy'

    Args:
        better: Folder of runs by seed, see `train` with `seeds`.
        worse: Another one.
        baselines: The players in the other seats; None is those of the first configuration's
            settings.
        deals: Deals, each played from every seat; None is as many as at the end of a run.
        seed: Seed of the deals; None is that of the deals at the end of a run.
        progress: Called with how far it is; None shows bars in terminals and notebooks.

    Returns:
        The interquartile mean of the difference by measure, with its interval over seeds and deals.

    Raises:
        ConfigError: One is no folder of runs by seed or has a single one, a run is not finished, or
            the two were not learned at one table.
    """
    folders = Path(better), Path(worse)
    if folders[0].resolve() == folders[1].resolve():
        raise ConfigError(f"{better} is compared with itself; name two folders of runs by seed")
    first, second = (_runs(folder) for folder in folders)
    settings = [next(iter(runs.values())).settings() for runs in (first, second)]
    measure, table = settings[0].measure, settings[0].table.table()
    if wrong := table.differences(settings[1].table.table()):
        raise ConfigError(f"{better} and {worse} differ in their tables: {'; '.join(wrong)}")
    if isinstance(baselines, str):
        baselines = [baselines]
    names = measure.baselines if baselines is None else baselines
    if not names:
        raise ConfigError("baselines is empty, expected at least one player for the other seats")
    deals = arguments.whole("deals", measure.final_deals if deals is None else deals, 2)
    seed = arguments.seed(measure.seed if seed is None else seed)
    count = deals * len(names) * len(PLAYS) * (len(first) + len(second))
    advance = part_of(shown(progress), "measuring", count)
    label = measure_of(table.game, str(table.rules["episode"]))
    where = table.num_players, table.rules
    sides = [
        [resolve(run.folder, table.game, *where) for run in runs.values()]
        for runs in (first, second)
    ]
    found = []
    for name in names:
        opponent = resolve(name, table.game, *where)
        for play in PLAYS:
            scores = (
                np.array(
                    [
                        deal_scores(each, opponent, *where, play, deals, seed, progress=advance)[0][
                            :, 0
                        ]
                        for each in side
                    ]
                )
                for side in sides
            )
            found.append(Difference.of(f"{label} against {name}, {play}", *scores))
    return SeedComparison(*folders, table, deals, seed, (*found, *_exact(first, second)))


def _runs(folder: Path) -> dict[int, Run]:
    """Return the runs of a configuration, all finished.

    Raises:
        ConfigError: There are none, one is not finished, or there is but one.
    """
    runs = seed_runs(folder)
    if not runs:
        raise ConfigError(
            f"{folder} holds no runs by seed, and one run has no interval over seeds; train some: "
            "kille train RECIPE --seeds 5"
        )
    if len(runs) < FEWEST:
        raise ConfigError(
            f"{folder} holds one seed, which has no interval over seeds; train more: "
            f"kille train {folder} --seeds 5"
        )
    for run in runs.values():
        if said := unfinished(run):
            raise ConfigError(said)
    return runs


def _exact(*sides: Mapping[int, Run]) -> list[Difference]:
    """Return how NashConv differs, where all runs have been measured exactly at their end."""
    first, second = (figures_of([measure_run(run) for run in runs.values()]) for runs in sides)
    return [
        Difference.of(name, *(np.array(each[name])[:, None] for each in (first, second)))
        for name in first
        if name.startswith(NASH_CONV) and name in second
    ]
