"""The page of a training run: one file that needs nothing beside it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents import as_policy
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.registry import spec
from kille_training.evaluation.duplicate import Row
from kille_training.evaluation.results import MOST_POSITIONS, ExactNashConv
from kille_training.labels import measure_of, plural_of, position_names, unit_of
from kille_training.learn.metrics import EXACT, MEASUREMENTS, PROGRESS, Table
from kille_training.learn.runs import Run
from kille_training.reports.pages import Verdict, plot, render, signed, write, yaml_lines
from kille_training.reports.plots import learning_curve, nash_conv_curve
from kille_training.reports.scales import LogScale, Scale
from kille_training.settings import plain

YARDSTICKS = {"rule_of_thumb": "the rule of thumb", "uniform": "random play"}
"""Players whose distance from an equilibrium stands beside that of the policy, in words."""


def write_run_page(run: Run, out: Path | None = None) -> Path:
    """Writes the page of a run that has been measured at the end, and returns where it is.

    Args:
        run: The run.
        out: The page's file; None is report.html in the run's folder.

    Raises:
        KilleError: The run has not been measured, a file of it is broken, or the page cannot be
            written; the message says which.
    """
    settings, evaluation = run.settings(), run.read_evaluation()
    if evaluation is None:
        raise ConfigError(
            f"{run.folder} has not been measured; finish and measure it first: "
            f"kille train {run.folder}"
        )
    table = settings.table
    rules = table.resolve()
    measure = measure_of(table.game, table.episode)
    rows, exact = evaluation.rows, evaluation.exact or ()
    measurements = Table(run.measurements, MEASUREMENTS).read()
    points = Table(run.exact, EXACT).read()
    yardsticks = _yardsticks(table.num_players, rules) if exact else {}
    page = render(
        "training.html.j2",
        verdict=distance(exact, yardsticks) if exact else verdict(rows, measure),
        first=distances(exact, yardsticks) if exact else earnings(rows, measure),
        settings=settings,
        settings_lines=yaml_lines(
            {key: value for key, value in plain(settings).items() if key != "made_with"}
        ),
        rules=rules.as_dict(),
        versions=settings.made_with,
        table=evaluation.table,
        score=evaluation.score,
        transferred=evaluation.transferred,
        unit=unit_of(table.episode),
        unit_s=plural_of(unit_of(table.episode)),
        measure=measure,
        game=spec(table.game),
        rows=rows,
        exact=exact,
        positions=position_names(table.num_players),
        most_positions=MOST_POSITIONS,
        curve=plot(lambda width: learning_curve(measurements, measure, width))
        if measurements
        else None,
        curve_caption=f"{measure.capitalize()} against each baseline, with 95% intervals, over "
        f"the same {plural_of(unit_of(table.episode))} at every point.",
        nash_conv=plot(lambda width: nash_conv_curve(points, measure, width)) if points else None,
        updates=Table(run.progress, PROGRESS).read(),
        deals=evaluation.deals,
        measured_with=evaluation.seed,
    )
    return write(out or run.report, page)


def _yardsticks(num_players: int, rules: Rules) -> dict[str, float]:
    """Returns how far known players are from an equilibrium, in stakes, by their words."""
    from kille_training.evaluation.exact import exact_rows
    from kille_training.solving.build import build_deal

    deal = build_deal(num_players, rules)
    found = {}
    for name, words in YARDSTICKS.items():
        player = as_policy(name, rules.game, num_players, rules)
        (row,) = exact_rows(player, num_players, rules, ("sampled",), deal=deal)
        found[words] = row.stakes
    return found


def distance(exact: Sequence[ExactNashConv], yardsticks: Mapping[str, float]) -> Verdict:
    """Returns how far a policy is from perfect, beside known players.

    Args:
        exact: How far it is, for each way of playing; the nearest counts.
        yardsticks: How far others are, in stakes.
    """
    nearest = min(exact, key=lambda row: row.nash_conv)
    others = ", ".join(f"{name} {_short(stakes)}" for name, stakes in yardsticks.items())
    away = f"{_short(nearest.stakes)} stakes from perfect in {nearest.play} play"
    return Verdict(f"{away}; {others}.")


def distances(exact: Sequence[ExactNashConv], yardsticks: Mapping[str, float]) -> dict[str, Any]:
    """Returns the picture of how far from perfect a policy and others are."""
    mine = {f"this policy, {row.play}": row.stakes for row in exact}
    rows = [
        {"name": name, "text": _short(stakes), "mean": stakes, "low": np.nan, "high": np.nan}
        for name, stakes in {**mine, **yardsticks}.items()
    ]
    return {
        "head": "stakes from perfect",
        "scale": LogScale.over(np.array([row["mean"] for row in rows])),
        "rows": rows,
        "caption": "What best responses would gain against it, in stakes; further left is better.",
    }


def verdict(rows: Sequence[Row], measure: str) -> Verdict:
    """Returns whether a policy is better than the last of its baselines.

    Args:
        rows: What it earns against others; the first way of playing counts.
        measure: What estimates hold, as "units per deal".
    """
    row = next(row for row in rows if row.against == rows[-1].against)
    word, tone = "Even with", ""
    if row.estimate.low > 0:
        word, tone = "Better than", "better"
    elif row.estimate.high < 0:
        word, tone = "Worse than", "worse"
    return Verdict(
        f"{word} {row.against}: {signed(row.estimate.mean)} {measure} in {row.play} play.", tone
    )


def earnings(rows: Sequence[Row], measure: str) -> dict[str, Any]:
    """Returns the picture of what a policy earns against each of its baselines."""
    shown = [
        {
            "name": f"against {row.against}, {row.play}",
            "text": signed(row.estimate.mean),
            "mean": row.estimate.mean,
            "low": row.estimate.low,
            "high": row.estimate.high,
        }
        for row in rows
    ]
    ends = (np.array([row[end] for row in shown]) for end in ("low", "mean", "high"))
    return {
        "head": measure,
        "scale": Scale.over(*ends),
        "rows": shown,
        "caption": "Dots with 95% intervals; further right is better.",
    }


def _short(stakes: float) -> str:
    """Returns stakes with two digits that count; nothing is below zero."""
    return f"{max(stakes, 0.0):.2g}"
