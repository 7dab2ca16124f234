"""The page of a training run: one file that needs nothing beside it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from kille_agents import load_policy
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.play.policy import Policy
from kille_env.registry import spec
from kille_training.evaluation.api import MOST_POSITIONS
from kille_training.evaluation.duplicate import Row
from kille_training.evaluation.exact import ExactNashConv
from kille_training.labels import measure_of, plural_of, position_names, unit_of
from kille_training.learn.metrics import EXACT, MEASUREMENTS, PROGRESS, Table
from kille_training.learn.runs import Run
from kille_training.progress import ignore
from kille_training.reports import byteskille
from kille_training.reports.pages import Picture, Verdict, interval, plot, render, write, yaml_lines
from kille_training.reports.plots import learning_curve, nash_conv_curve
from kille_training.settings import plain

PICTURES: Mapping[str, Callable[[Policy, int, Rules, Callable[[int], None]], Picture]] = {
    "byteskille": byteskille.swaps
}
"""What the page shows of one game alone, by game."""


def write_run_page(
    run: Run, out: Path | None = None, progress: Callable[[int], None] = ignore
) -> Path:
    """Writes the page of a run that has been measured at the end, and returns where it is.

    Args:
        run: The run.
        out: The page's file; None is report.html in the run's folder.
        progress: Called with the decisions of a game's picture since the last call.

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
    policy = cast(Policy, load_policy(run.folder, table.game, table.num_players, rules))
    picture = None
    if table.game in PICTURES:
        picture = PICTURES[table.game](policy, table.num_players, rules, progress)
    rows, exact = evaluation.rows, evaluation.exact or ()
    measurements = Table(run.measurements, MEASUREMENTS).read()
    points = Table(run.exact, EXACT).read()
    contents = [
        ("earns", "What it earns"),
        *([("exact", "How far it is from an equilibrium")] if exact else []),
        *([("learning", "How it learned")] if measurements else []),
        *([("picture", picture.title)] if picture else []),
    ]
    page = render(
        "training.html.j2",
        contents=contents,
        verdicts=verdicts(rows, exact, measure),
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
        nash_conv=plot(lambda width: nash_conv_curve(points, measure, width)) if points else None,
        picture=picture,
        updates=Table(run.progress, PROGRESS).read(),
        deals=evaluation.deals,
        measured_with=evaluation.seed,
    )
    return write(out or run.report, page)


def verdicts(rows: Sequence[Row], exact: Sequence[ExactNashConv], measure: str) -> list[Verdict]:
    """Returns what comes first on the page: who beats whom, and how far an equilibrium is.

    Args:
        rows: What the policy earns against others; the first way of playing counts.
        exact: How far it is from an equilibrium, if that is known.
        measure: What estimates hold, as "units per deal".
    """
    found: list[Verdict] = []
    for against in dict.fromkeys(row.against for row in rows):
        row = next(row for row in rows if row.against == against)
        mean, low, high = row.estimate.mean, row.estimate.low, row.estimate.high
        word, tone = "Even with", ""
        if low > 0:
            word, tone = "Better than", "better"
        elif high < 0:
            word, tone = "Worse than", "worse"
        found.append(
            Verdict(
                f"{word} {against}: {mean:+.4f} {measure} (95% interval {interval(low, high)}), "
                f"{row.play} play.",
                tone,
            )
        )
    if exact:
        nearest = min(exact, key=lambda row: row.nash_conv)
        found.append(
            Verdict(
                f"NashConv {nearest.nash_conv:.5f} units per deal, {nearest.play} play: "
                "what best responses would gain, summed over the seats."
            )
        )
    return found
