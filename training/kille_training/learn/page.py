"""The page of a training run, one self-contained file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from kille_agents import as_policy
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.registry import spec
from kille_env.words.text import counted
from kille_training.evaluation.duplicate import DETERMINISTIC, PLAYS, Row
from kille_training.evaluation.results import MOST_POSITIONS, ExactNashConv
from kille_training.labels import episode_noun, measure_of, plural_of, position_names
from kille_training.learn.measuring import exact_of, measurements_of
from kille_training.learn.runs import PROGRESS, GrowingCSV, Run, decisions_of
from kille_training.pages.page import (
    GREEDY,
    LEAST,
    SAMPLED,
    SOFT,
    WIDE,
    LogScale,
    Scale,
    Verdict,
    plot,
    render,
    signed,
    yaml_lines,
)
from kille_training.pages.plots import DASHED, STYLE, as_svg, logarithmic
from kille_training.settings import plain

YARDSTICKS = {"rule_of_thumb": "the rule of thumb", "uniform": "random play"}
"""Display names of the baselines shown beside the policy's NashConv."""


def write_run_page(run: Run) -> Path:
    """Write the page of a measured run, and return its path."""
    settings, evaluation = run.settings(), run.read_evaluation()
    if evaluation is None:
        raise ConfigError(
            f"{run.folder} has not been measured; finish and measure it first: "
            f"kille train {run.folder}"
        )
    table, rules = settings.table, settings.home().rules
    measure = measure_of(table.game, table.episode)
    rows, exact = evaluation.rows, evaluation.exact or ()
    measurements = measurements_of(run).read()
    points = exact_of(run).read()
    yardsticks = _yardsticks(table.num_players, rules) if exact else {}
    stake = exact[0].stake if exact else 1
    said = distance(exact, yardsticks) if exact else verdict(rows, measure)
    if held_out := run.held_out_in_words():
        said = Verdict(held_out)
    page = render(
        "learn/training.html.j2",
        verdict=said,
        first=distances(exact, yardsticks, stake) if exact else earnings(rows, measure),
        settings=settings,
        decisions=decisions_of(run.checkpoint),
        settings_lines=yaml_lines(
            {key: value for key, value in plain(settings).items() if key != "made_with"}
        ),
        rules=rules.as_dict(),
        versions=settings.made_with,
        table=evaluation.table,
        score=evaluation.score,
        transferred=evaluation.transferred,
        unit=episode_noun(table.episode),
        unit_s=plural_of(episode_noun(table.episode)),
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
        f"the same {plural_of(episode_noun(table.episode))} at every point.",
        nash_conv=plot(lambda width: nash_conv_curve(points, stake, yardsticks, width))
        if points and exact
        else None,
        updates=GrowingCSV(run.progress, PROGRESS).read(),
        deals=evaluation.deals,
        measured_with=evaluation.seed,
    )
    write_whole(run.report, page)
    return run.report


def _yardsticks(num_players: int, rules: Rules) -> dict[str, float]:
    """Return NashConv of the baselines in stakes, by display name."""
    from kille_training.evaluation.exact import exact_rows
    from kille_training.solving.grow import build_deal

    deal = build_deal(num_players, rules)
    found = {}
    for name, words in YARDSTICKS.items():
        player = as_policy(name, rules.game, num_players, rules)
        (row,) = exact_rows(player, num_players, rules, ("sampled",), deal=deal)
        found[words] = row.stakes
    return found


def in_percent(share: float) -> str:
    """Return a share of random play's NashConv as text, small ones with two digits."""
    percent = max(100 * share, 0.0)
    return f"{percent:.0f}%" if percent >= 10 else f"{percent:.2g}%"


def in_words(run: Run) -> list[str]:
    """Return the result of a finished run and the next steps as text."""
    settings, evaluation = run.settings(), run.read_evaluation()
    assert evaluation is not None
    from kille_training.evaluation.exact import LEAST  # loads solvers

    table, lines = settings.table, [held_out] if (held_out := run.held_out_in_words()) else []
    if evaluation.exact:
        nearest = min(evaluation.exact, key=lambda row: row.nash_conv)
        uniform = _yardsticks(table.num_players, settings.home().rules)[YARDSTICKS["uniform"]]
        if uniform > LEAST:  # else random play is an equilibrium, and there is no share of it
            where = " at one rule set of training" if settings.space.name else ""
            lines.append(
                f"Distance from an equilibrium (NashConv){where}: "
                f"{in_percent(nearest.stakes / uniform)} of random play's. At 0% no player "
                "could gain by playing differently alone."
            )
    if evaluation.rows:
        lines.append(verdict(evaluation.rows, measure_of(table.game, table.episode)).text)
    play = f"kille play {table.game} --players {table.num_players} --opponents {run.folder}"
    rules, known = settings.home().rules, spec(table.game)
    usual = known.resolve(str(rules["preset"]), episode="match").as_dict()
    usual["preset"] = known.presets[0]
    play += "".join(f" --rules {k}={v}" for k, v in rules.values.items() if usual[k] != v)
    return [*lines, f"Open {run.report} in a browser, or play against it:", f"  {play}"]


def distance(exact: Sequence[ExactNashConv], yardsticks: Mapping[str, float]) -> Verdict:
    """Return the verdict on the policy's lower NashConv, in stakes, beside the baselines'."""
    nearest = min(exact, key=lambda row: row.nash_conv)
    others = ", ".join(f"{name} {_short(stakes)}" for name, stakes in yardsticks.items())
    away = f"{_short(nearest.stakes)} stakes from an equilibrium in {nearest.play} play"
    return Verdict(f"{away}; {others}.")


def distances(
    exact: Sequence[ExactNashConv], yardsticks: Mapping[str, float], stake: int
) -> dict[str, Any]:
    """Return the chart of NashConv of a policy and the baselines, in stakes."""
    mine = {f"this policy, {row.play}": row.stakes for row in exact}
    rows = [
        {"name": name, "text": _short(stakes), "mean": stakes, "low": np.nan, "high": np.nan}
        for name, stakes in {**mine, **yardsticks}.items()
    ]
    return {
        "head": "NashConv, stakes",
        "scale": LogScale.over(np.array([row["mean"] for row in rows])),
        "rows": rows,
        "caption": "Distance from an equilibrium (NashConv): the gain of each seat's best "
        "response, summed over the seats; 0 is an equilibrium. Further left is better. "
        f"1 stake = {counted(stake, 'chip', 'chips')} (units), what the loser of a deal pays.",
    }


def verdict(rows: Sequence[Row], measure: str) -> Verdict:
    """Return a comparison with the last baseline, in the first way of play."""
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
    """Return the chart of a policy's earnings against each baseline."""
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
    """Return stakes with two significant digits, clipped at 0."""
    return f"{max(stakes, 0.0):.2g}"


# Plots


def learning_curve(
    measurements: Sequence[Mapping[str, str]], measure: str, width: float = WIDE
) -> str:
    """Plot the earnings during training, with 95% intervals."""
    baselines = list(dict.fromkeys(row["against"] for row in measurements))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, 0.8 + 2.1 * max(1, len(baselines))), layout="constrained")
        panels = figure.subplots(max(1, len(baselines)), sharex=True, squeeze=False)[:, 0]
        for axes, against in zip(panels, baselines, strict=False):
            axes.axhline(0.0, color=SOFT, linewidth=0.8)
            axes.set_title(f"against {against} (above 0: better)", loc="left", fontsize=9)
            axes.set_ylabel(measure)
            mine = [row for row in measurements if row["against"] == against]
            for play, rows in _by_play(mine).items():
                decisions = [int(row["decisions"]) / 1e6 for row in rows]
                mean, low, high = (
                    [float(row[name]) for row in rows] for name in ("mean", "low", "high")
                )
                look = _look(play)
                axes.fill_between(decisions, low, high, color=look["color"], alpha=0.15, lw=0)
                axes.plot(decisions, mean, label=play, **look)
            axes.legend(loc="lower right", ncols=2)
        _count_decisions(panels[-1])
        return as_svg(figure)


def nash_conv_curve(
    points: Sequence[Mapping[str, str]],
    stake: int,
    yardsticks: Mapping[str, float],
    width: float = WIDE,
) -> str:
    """Plot exact NashConv during training in stakes, on a logarithmic axis."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, 3.0), layout="constrained")
        axes = figure.subplots()
        for words, stakes in yardsticks.items():
            axes.axhline(stakes, color=SOFT, linewidth=1, linestyle=":")
            axes.annotate(
                words, (1, stakes), (0, 2), xycoords=("axes fraction", "data"), color=SOFT,
                textcoords="offset points", ha="right", va="bottom",
            )  # fmt: skip
        for play, rows in _by_play(points).items():
            decisions = [int(row["decisions"]) / 1e6 for row in rows]
            values = [max(LEAST, float(row["nash_conv"]) / stake) for row in rows]
            axes.plot(decisions, values, label=play, **_look(play))
        logarithmic(axes, "y")
        axes.set_ylabel("NashConv, stakes")
        axes.grid(axis="y")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)  # clear of every line
        _count_decisions(axes)
        return as_svg(figure)


def _by_play(rows: Sequence[Mapping[str, str]]) -> dict[str, list[Mapping[str, str]]]:
    """Return lines by way of play; a deterministic one belongs to both."""
    plays = {row["play"] for row in rows}
    return {
        play: [row for row in rows if row["play"] in (play, DETERMINISTIC)]
        for play in (*PLAYS, DETERMINISTIC)
        if play in plays and (play != DETERMINISTIC or len(plays) == 1)
    }


def _look(play: str) -> dict[str, Any]:
    """Return the line style of a way of play; markers show the single point of a short run."""
    color, line = (SAMPLED, DASHED) if play == "sampled" else (GREEDY, "-")
    return {"color": color, "linestyle": line, "linewidth": 1.6, "marker": "o", "markersize": 3}


def _count_decisions(axes: Any) -> None:
    """Label the axis of decisions, from 0."""
    axes.set_xlabel("decisions, millions")
    axes.set_xlim(left=0.0)
