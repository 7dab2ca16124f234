"""Measure a training run, during training and at the end.

Training imports this module only for a measurement, because it loads evaluation and solvers.
Measuring changes no random generator of training.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from kille_env.core.game import game_of
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.play.policy import PlayerLike, Policy, resolve
from kille_env.registry import Table
from kille_env.rule_spaces import list_rule_spaces, rule_space
from kille_training.evaluation.api import evaluate
from kille_training.evaluation.duplicate import PLAYS, Row, known_play, payoff_table
from kille_training.evaluation.results import Evaluation
from kille_training.labels import measure_of
from kille_training.learn.method import Learned
from kille_training.learn.runs import GrowingCSV, Run, TensorBoard, unfinished, warn
from kille_training.learn.settings import TrainSettings
from kille_training.progress import Progress, ignore
from kille_training.solving.size import has_exact_tree

if TYPE_CHECKING:
    from kille_training.evaluation.held_out import TablesNashConv

PUBLISHED = "test"  # region with published tables
FEW = 16  # tables of another region that measure a run
SHARES = ("decisions", "seconds", "value", "low", "high")
"""Columns of shares.csv: the interquartile mean over the tables, with its interval."""
TEXTS = {"against": str, "play": known_play}


def measurements_of(run: Run) -> GrowingCSV:
    """Return the table of earnings during training: units per deal with a 95% interval."""
    columns = ("decisions", "seconds", "against", "play", "mean", "low", "high", "deals")
    return GrowingCSV(run.measurements, columns, TEXTS)


def exact_of(run: Run) -> GrowingCSV:
    """Return the table of exact NashConv during training, in units per deal."""
    return GrowingCSV(run.exact, ("decisions", "seconds", "play", "nash_conv"), TEXTS)


def shares_of(run: Run) -> GrowingCSV:
    """Return the table of NashConv at held-out tables during training, in shares of uniform's."""
    return GrowingCSV(run.shares, SHARES)


def held_out_tables(settings: TrainSettings) -> list[Table]:
    """Return the tables of a space that measure a run: a published set, or some of a region."""
    from kille_training.evaluation.held_out import held_out  # loads solvers

    space, seats = settings.space, settings.table.num_players
    if space.measured == PUBLISHED and space.name in list_rule_spaces():
        known = [each.table for each in held_out(f"{space.name}/{PUBLISHED}")]
        if tables := [table for table in known if table.num_players == seats]:
            return tables
    return _some_tables(space.name, space.measured, seats)


@cache
def _some_tables(name: str, region: str, num_players: int) -> list[Table]:
    """Return the first tables of a region at which uniform play is no equilibrium."""
    from kille_training.evaluation.exact import LEAST  # loads solvers
    from kille_training.evaluation.nash_conv import nash_conv

    space, found = rule_space(name), list[Table]()
    for rules in space.rules(region):
        if nash_conv("uniform", space.game, num_players, rules=rules).nash_conv > LEAST:
            found.append(Table.of(space.game, num_players, rules))
        if len(found) == FEW:
            break
    if not found:
        raise ConfigError(
            f"nobody gains against uniform play at any rules of the region {region!r} of {name}: "
            "choose another region as space.measured"
        )
    return found


def measure_held_out(player: PlayerLike, settings: TrainSettings) -> "TablesNashConv":
    """Return NashConv of a player at the held-out tables of the space of a run."""
    from kille_training.evaluation.held_out import measure_tables  # loads solvers

    space, tables = settings.space, held_out_tables(settings)
    transfer = space.rules == "default"
    found = measure_tables(player, tables, transfer=transfer, progress=ignore)
    return replace(found, tables=f"{space.name}/{space.measured}")


class Measurements:
    """Measure a run during training and append the results to its tables."""

    def __init__(self, run: Run, settings: TrainSettings, baselines: Sequence[Policy]) -> None:
        """Grow the tree of a deal, if `exact` is set and the tree fits into memory."""
        self.settings, self.baselines, self.rules = settings, baselines, settings.home().rules
        self.measurements, self.exact, self.deal = measurements_of(run), exact_of(run), None
        self.shares = shares_of(run) if settings.measure.exact and settings.space.name else None
        if self.shares or not settings.measure.exact:
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
        if self.shares is not None:
            self.shares.begin(up_to)

    def measure(self, learned: Learned, decisions: int, seconds: float, board: TensorBoard) -> str:
        """Measure a policy after some decisions and seconds; return a line of text."""
        measure, seats = self.settings.measure, self.settings.table.num_players
        rows: list[Row] = []
        policy = resolve(learned, self.rules.game, seats, self.rules)
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
        if self.shares is not None:
            middle = measure_held_out(learned, self.settings).interquartile_mean
            line = now | {name: round(float(getattr(middle, name)), 9) for name in SHARES[2:]}
            self.shares.add(line)
            board.add("held_out", line, ("value",))
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
    table, measure = settings.home(), settings.measure
    if settings.space.name and not run.held_out.is_file():
        shares = measure_held_out(run.folder, settings).as_dict()
        write_whole(run.held_out, (json.dumps(shares, indent=1) + "\n").encode())
    found = evaluate(
        run.folder, table.game, table.num_players, rules=table.rules,
        baselines=measure.baselines, deals=measure.final_deals, seed=measure.seed,
        progress=progress,
    )  # fmt: skip
    write_whole(run.evaluation, (json.dumps(found.as_dict(), indent=1) + "\n").encode())
    return found
