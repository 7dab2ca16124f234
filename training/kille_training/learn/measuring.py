"""Measure a training run, during training and at the end.

Training imports this module only for a measurement, because it loads evaluation and solvers.
Measuring changes no random generator of training.
"""

import json
from collections.abc import Iterator, Sequence

from kille_env.core.game import game_of
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.play.policy import Policy
from kille_training.evaluation.api import evaluate
from kille_training.evaluation.duplicate import PLAYS, Row, known_play, payoff_table
from kille_training.evaluation.results import Evaluation
from kille_training.labels import measure_of
from kille_training.learn.method import Learned
from kille_training.learn.runs import GrowingCSV, Run, TensorBoard, unfinished, warn
from kille_training.learn.settings import TrainSettings
from kille_training.progress import Progress
from kille_training.solving.size import has_exact_tree

TEXTS = {"against": str, "play": known_play}


def measurements_of(run: Run) -> GrowingCSV:
    """Return the table of earnings during training: units per deal with a 95% interval."""
    columns = ("decisions", "seconds", "against", "play", "mean", "low", "high", "deals")
    return GrowingCSV(run.measurements, columns, TEXTS)


def exact_of(run: Run) -> GrowingCSV:
    """Return the table of exact NashConv during training, in units per deal."""
    return GrowingCSV(run.exact, ("decisions", "seconds", "play", "nash_conv"), TEXTS)


class Measurements:
    """Measure a run during training and append the results to its tables."""

    def __init__(self, run: Run, settings: TrainSettings, baselines: Sequence[Policy]) -> None:
        """Grow the tree of a deal, if `exact` is set and the tree fits into memory."""
        self.settings, self.baselines, self.rules = settings, baselines, settings.table.resolve()
        self.measurements, self.exact, self.deal = measurements_of(run), exact_of(run), None
        if not settings.measure.exact:
            return
        if has_exact_tree(settings.table.num_players, self.rules):
            from kille_training.solving.grow import build_deal  # grows a tree

            self.deal = build_deal(settings.table.num_players, self.rules)
        else:
            warn("exact NashConv is not measured: no tree of this table fits into memory")

    def begin(self, up_to: int) -> None:
        """Keep the measurements up to a number of decisions; later ones are repeated."""
        self.measurements.begin(up_to)
        if self.deal is not None:
            self.exact.begin(up_to)

    def measure(self, policy: Learned, decisions: int, seconds: float, board: TensorBoard) -> str:
        """Measure a policy after some decisions and seconds; return a line of text."""
        measure, seats = self.settings.measure, self.settings.table.num_players
        rows: list[Row] = []
        if measure.deals:
            rows = payoff_table(
                policy, self.baselines, seats, self.rules, deals=measure.deals, seed=measure.seed
            )
        now = {"decisions": decisions, "seconds": round(seconds, 3)}
        for row in rows:
            line = now | {
                "against": row.against,
                "play": row.play,
                "mean": round(row.estimate.mean, 6),
                "low": round(row.estimate.low, 6),
                "high": round(row.estimate.high, 6),
                "deals": row.estimate.groups,
            }
            self.measurements.add(line)
            board.add(f"against_{row.against}/{row.play}", line, ("mean",))
        if self.deal is not None:
            from kille_training.evaluation.exact import exact_rows  # loads solvers

            for exact in exact_rows(policy, seats, self.rules, PLAYS, deal=self.deal):
                line = now | {"play": exact.play, "nash_conv": round(exact.nash_conv, 9)}
                self.exact.add(line)
                board.add(f"exact/{exact.play}", line, ("nash_conv",))
        return f"after {decisions:>10,} decisions" + (f", {self._earned(rows)}" if rows else "")

    def _earned(self, rows: Sequence[Row]) -> str:
        """Return the earnings against each baseline as text."""
        measure = measure_of(self.rules.game, self.settings.table.episode)
        shown = (row for row in rows if row.play != "sampled")
        return f"{measure} against " + "   ".join(f"{row.against} {row.estimate}" for row in shown)


def kernels_of_measuring(module: str) -> Iterator[object]:
    """Call the kernels that measure a policy; see `kille_env.core.start.compile_ahead`."""
    spec = game_of(module).spec
    small = "tiny" if "tiny" in spec.presets else None
    yield evaluate(
        "uniform", spec.name, 2, rules=small, baselines="rule_of_thumb", deals=2, exact=True
    )


def measure_run(run: Run, progress: Progress | None = None) -> Evaluation:
    """Return the stored measurement of a finished run, or make it."""
    settings, found = run.settings(), run.read_evaluation()
    if found is not None:
        kept, wanted = (
            (found.deals, found.seed),
            (settings.measure.final_deals, settings.measure.seed),
        )
        if kept != wanted:
            raise ConfigError(
                f"{run.evaluation} was measured over {kept[0]:,} deals of seed {kept[1]}, and "
                f"measure.final_deals and measure.seed are {wanted[0]:,} and {wanted[1]} now; "
                "delete it to measure again, or set them back"
            )
        return found
    if said := unfinished(run):
        raise ConfigError(said)
    table, measure = settings.table, settings.measure
    found = evaluate(
        run.folder, table.game, table.num_players, rules=table.resolve(), episode=table.episode,
        baselines=measure.baselines, deals=measure.final_deals, seed=measure.seed,
        progress=progress,
    )  # fmt: skip
    write_whole(run.evaluation, (json.dumps(found.as_dict(), indent=1) + "\n").encode())
    return found
