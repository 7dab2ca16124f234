"""A run's report: one page that needs nothing beside it."""

from collections.abc import Callable, Sequence
from typing import Any

import jinja2
import yaml
from rich.table import Table as RichTable

from kille_agents import ThresholdPolicy, load_policy
from kille_agents.network import read_network
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.registry import spec
from kille_training.evaluation.duplicate import Row, rows_from_dicts
from kille_training.evaluation.exact import ExactRow, exact_from_dicts
from kille_training.evaluation.swap_map import swap_map
from kille_training.labels import measure_of, plural_of, position_names, unit_of
from kille_training.learning.metrics import MEASUREMENTS, PROGRESS, Table
from kille_training.learning.runs import Run
from kille_training.learning.settings import TrainSettings
from kille_training.reports.plots import learning_curve, swap_heat_map
from kille_training.settings import plain

MAP_DECISIONS = 600_000


def write_report(run: Run, progress: Callable[[int], None] | None = None) -> None:
    """Writes report.html of a run that has been measured at the end.

    Args:
        run: The run.
        progress: Called with the decisions of the heat map, of `MAP_DECISIONS`, since the last
            call.

    Raises:
        ConfigError: It has not been measured yet.
    """
    settings, evaluation = run.settings(), run.read_evaluation()
    if evaluation is None:
        raise ConfigError(
            f"{run.folder} has not been measured; do it first: kille evaluate {run.folder}"
        )
    table = settings.table
    rules = table.resolve()
    unit, measure = unit_of(table.episode), measure_of(table.game, table.episode)
    policy = load_policy(run.folder, table.game, table.num_players, rules)
    heat_map = None
    if table.game == "byteskille":
        found = swap_map(
            policy, table.num_players, rules, decisions=MAP_DECISIONS, progress=progress
        )
        rule = swap_map(
            ThresholdPolicy(table.num_players, rules),
            table.num_players,
            rules,
            decisions=MAP_DECISIONS // 4,
        )
        heat_map = swap_heat_map(found, rule)
    updates = Table(run.progress, PROGRESS).read()
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kille_training.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    rows = rows_from_dicts(evaluation["rows"])
    page = environment.get_template("report.html.j2").render(
        settings=settings,
        rules=rules.as_dict(),
        settings_text=yaml.safe_dump(_shown(settings), sort_keys=False, allow_unicode=True),
        unit=unit,
        measure=measure,
        zero_sum=spec(table.game).zero_sum,
        rows=rows,
        exact=exact_from_dicts(evaluation.get("exact") or ()),
        positions=position_names(table.num_players),
        curve=learning_curve(Table(run.measurements, MEASUREMENTS).read(), measure),
        heat_map=heat_map,
        updates=updates,
        versions=settings.made_with,
        card=read_network(run.folder)[0],
        deals=evaluation["deals"],
        measured_with=evaluation["seed"],
    )
    write_whole(run.report, page.encode())


def payoff_renderable(rows: Sequence[Row], game: str, episode: str, num_players: int) -> RichTable:
    """Returns the payoff table for the terminal."""
    measure, unit = measure_of(game, episode), unit_of(episode)
    title = f"{measure.capitalize()}, 95 % interval"
    if not spec(game).zero_sum:
        title += ": what is paid beyond what the other player gets in that seat"
    table = RichTable(title=title, title_justify="left")
    table.add_column("against")
    table.add_column("play")
    table.add_column(measure, justify="right")
    for name in position_names(num_players) if num_players <= 5 else ():
        table.add_column(name, justify="right")
    table.add_column(plural_of(unit), justify="right")
    for row in rows:
        places = [f"{part.mean:+.3f}" for part in row.by_position] if num_players <= 5 else []
        table.add_row(row.against, row.play, str(row.estimate), *places, f"{row.estimate.groups:,}")
    return table


def measured_renderables(run: Run) -> list[RichTable]:
    """Returns the tables of a run that has been measured, for the terminal."""
    table, found = run.settings().table, run.read_evaluation() or {}
    rows = rows_from_dicts(found["rows"])
    shown = [payoff_renderable(rows, table.game, table.episode, table.num_players)]
    if exact := exact_from_dicts(found.get("exact") or ()):
        shown.append(exact_renderable(exact))
    return shown


def exact_renderable(rows: Sequence[ExactRow], unit: str = "deal") -> RichTable:
    """Returns how far a player is from an equilibrium, for the terminal."""
    table = RichTable(title=f"Units a {unit}, exactly", title_justify="left")
    table.add_column("play")
    table.add_column("each seat")
    for name in position_names(len(rows[0].value)):
        table.add_column(name, justify="right")
    table.add_column("NashConv", justify="right")
    for row in rows:
        gains = (f"{max(gain, 0.0):.2g}" for gain in row.improvement)
        table.add_row(row.play, "earns", *(f"{value:+.5f}" for value in row.value), "")
        table.add_row("", "could gain", *gains, f"{row.nash_conv:.3g}")
    return table


def _shown(settings: TrainSettings) -> dict[str, Any]:
    """Returns the settings without the versions, which have a table of their own."""
    return {key: value for key, value in plain(settings).items() if key != "made_with"}
