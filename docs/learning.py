"""Tables and figures of docs/learning.md and docs/training.md, from docs/data and configs.

The data are copies of the files that `benchmarks/calibration.py`, `libraries.py` and
`sb3_settings.py` write to `runs/`, and of the curves that `docs/players.py take` takes.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import yaml
from blocks import lines_of, table
from matplotlib.figure import Figure

from kille_agents.greedy import PLAYS
from kille_env.registry import list_games, spec
from kille_training.pages.page import SERIES
from kille_training.pages.plots import STYLE, as_svg

DOCS = Path(__file__).parent
PAGE, TRAINING = DOCS / "learning.md", DOCS / "training.md"
RECIPES = DOCS.parent / "configs" / "train"
SETTINGS = ("decisions", "num_tables", "n_steps", "batch_size", "n_epochs", "learning_rate",
            "ent_coef", "ent_coef_end", "vf_coef", "layers")  # fmt: skip
"""Settings of the learner in the recipes of the games."""
MILLIONS = (0, 1, 2, 4, 6, 12, 24)

Runs = Any  # finished runs, one per row of a DataFrame, untyped


def results(name: str) -> Runs:
    """Return the finished runs of a benchmark."""
    return pd.DataFrame(lines_of(DOCS / "data" / f"{name}.jsonl"))


def middle(numbers: Iterable[float], form: str = ".4f") -> str:
    """Return the median with the smallest and the largest, or nothing without numbers."""
    found = pd.Series(numbers, dtype=float).dropna()
    low, half, high = found.min(), found.median(), found.max()
    return f"{half:{form}} ({low:{form}} to {high:{form}})" if len(found) else ""


def draw(axes: Any, runs: Runs, play: str, color: str, label: str) -> None:
    """Draw NashConv over thousands of decisions: runs thin, their median thick."""
    curves = pd.DataFrame(
        {
            seed: {point["decisions"] / 1000: sum(point[play]) for point in points}
            for seed, points in enumerate(runs.points)
        }
    )
    axes.plot(curves, color=color, linewidth=0.7, alpha=0.55)
    axes.plot(curves.median(axis=1), color=color, linewidth=2.0, label=label)


# Approximate beside exact


def gains(runs: Runs) -> Runs:
    """Return the exact and the learned gain in units, a row per position."""
    whole = runs.explode(["exact", "found"], ignore_index=True)
    return whole.drop(columns="found").join(pd.DataFrame(list(whole.found)))


def calibration_figure(runs: Runs) -> str:
    """Plot learned gains by seat over the exact ones."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.6, 5.2), layout="constrained")
        axes = figure.subplots()
        for (seats, here), color in zip(gains(runs).groupby("num_players"), SERIES, strict=False):
            axes.errorbar(
                here.exact.astype(float) / here.stake, here["mean"] / here.stake,
                yerr=(here.high - here.low) / 2 / here.stake, fmt="o", markersize=3.5,
                linewidth=0.8, color=color, label=f"{seats} seats",
            )  # fmt: skip
        axes.axline((0.1, 0.1), (1, 1), color="#8a8a8a", linewidth=0.8)
        axes.set_xscale("symlog", linthresh=0.01)
        axes.set_yscale("symlog", linthresh=0.01)
        axes.set_xlim(left=-0.001)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("exact gain of the best response, stakes")
        axes.set_ylabel("gain of the learned response, 95% interval")
        axes.legend(frameon=False)
        return as_svg(figure)


# Libraries, and the other games


def libraries_table(runs: Runs) -> str:
    """Return NashConv and speed by recipe, at two and at three seats."""
    rows, seats = [], sorted(runs.num_players.unique())
    for recipe, here in runs[runs.seed > 0].groupby("recipe"):
        library, version = next(iter(here.versions.iloc[0].items()))
        speed = (here.decisions / here.seconds).median()
        cells = [middle(here[here.num_players == number].sampled, ".3f") for number in seats]
        link = f"[{recipe}](../training/recipes/{recipe}.py)"
        rows.append((link, f"{library} {version}", f"{speed:,.0f}", *cells))
    heads = (f"NashConv, {number} seats" for number in seats)
    return table(("recipe", "library", "decisions/s", *heads), rows)


def games_table(runs: Runs) -> str:
    """Return the trained players' earnings against the rule of thumb during training."""
    curves = runs[(runs.against == "rule_of_thumb") & (runs.play == "sampled")]
    rows = []
    for game in list_games():
        curve = curves[curves.game == game]
        reached = [curve[curve.decisions >= count * 1_000_000] for count in MILLIONS]
        cells = [f"{made['mean'].iloc[0]:+.3f}" if len(made) else "" for made in reached]
        last = curve.iloc[-1]
        rows.append((f"`{game}`", *cells, f"± {(last.high - last.low) / 2:.3f}"))
    return table(("game", *(f"{millions} M" for millions in MILLIONS), "interval"), rows)


def sb3_reached(runs: Runs) -> str:
    """Return the results of the settings for Stable-Baselines3 by table."""
    plain = runs[runs.change == runs.change.iloc[0]]
    rows = [
        (f"`{game}`", seats, *_sb3_cells(here))
        for (game, seats), here in plain.groupby(["game", "num_players"], sort=False)
    ]
    return table(("game", "seats", *SB3_HEAD), rows)


def sb3_bought(runs: Runs) -> str:
    """Return the results with one setting changed at a time."""
    order = runs.change.unique()
    rows = []
    for (game, seats), here in runs.groupby(["game", "num_players"], sort=False):
        for change in order if here.change.nunique() > 1 else ():
            if len(made := here[here.change == change]):
                rows.append((f"`{game}`, {seats} seats", change, *_sb3_cells(made)))
    return table(("table", "settings", *SB3_HEAD), rows)


SB3_HEAD = ("seeds", "against uniform", "against the rule of thumb", "NashConv", "CPU seconds")


def _sb3_cells(runs: Runs) -> list[str]:
    """Return the number of seeds, and the median and range of each measure."""
    earned = [
        middle((one[name][0] for one in runs.earned), "+.3f")
        for name in ("uniform", "rule_of_thumb")
    ]
    return [str(len(runs)), *earned, middle(runs.nash_conv), f"{runs.seconds.median():.0f}"]


def settings_table() -> str:
    """Return the settings of the games' recipes by column, equal recipes in one."""
    games: dict[tuple[str, ...], list[str]] = {}
    for game in list_games():
        recipe = yaml.safe_load((RECIPES / f"{game}.yaml").read_text(encoding="utf-8"))
        values = (recipe["learner"][key] for key in SETTINGS)
        column = tuple(f"{x:,}" if isinstance(x, int) and x > 9_999 else str(x) for x in values)
        games.setdefault(column, []).append(game)
    names = [f"`{key}`" for key in SETTINGS]
    return table(("setting", *map(", ".join, games.values())), zip(names, *games, strict=True))


# Small tables

SOLVED = DOCS.parent / "truth" / "index.csv"


def small_tables(runs: Runs) -> str:
    """Return a learner's results at small tables beside the solution."""
    head = ("game", "rules", "uniform", "rule of thumb", "learner, greedy", "learner, sampled",
            "solution", "decisions", "seeds")  # fmt: skip
    rows = []
    for (game, preset), here in _small(runs):
        last = [points[-1] for points in here.points]
        ends = [middle((sum(point[play]) for point in last), ".2f") for play in PLAYS]
        known = [f"{value:.2f}" for value in here.baselines.iloc[0].values()]
        decisions = f"{last[0]['decisions']:,}"
        solved = f"{_solution(game, preset):.0e}"
        named = spec(game).title, f"`{preset}`"
        rows.append((*named, *known, *ends, solved, decisions, str(len(here))))
    return table(head, rows)


def small_figure(runs: Runs) -> str:
    """Plot NashConv at small tables over decisions."""
    found = list(_small(runs))
    with mpl.rc_context(STYLE):
        tall = (len(found) + 1) // 2
        figure = Figure(figsize=(7.6, 2.6 * tall), layout="constrained")
        panels = figure.subplots(tall, 2, squeeze=False).ravel()
        for axes, ((game, preset), here) in zip(panels, found, strict=False):
            for play, color in zip(PLAYS, SERIES, strict=False):
                draw(axes, here, play, color, play)
            baselines = here.baselines.iloc[0].items()
            for (name, value), dashes in zip(baselines, (":", "--"), strict=True):
                label = name.replace("_", " ")
                axes.axhline(value, color="#8a8a8a", linestyle=dashes, label=label)
            title = f"{spec(game).title} {preset}, solution {_solution(game, preset):.0e}"
            axes.set_title(title, loc="left", fontsize=9)
            axes.set_ylim(bottom=0)
        for axes in panels[::2]:
            axes.set_ylabel("NashConv, units per deal")
        for axes in panels[-2:]:
            axes.set_xlabel("decisions, thousands")
        panels[0].legend(fontsize=8)
        return as_svg(figure)


def _small(runs: Runs) -> Iterable[tuple[tuple[str, str], Runs]]:
    """Return the runs of each table."""
    return runs.groupby(["game", "preset"], sort=False)


def _solution(game: str, preset: str) -> float:
    """Return NashConv of a solution of the truth set with two seats."""
    solved = pd.read_csv(SOLVED).set_index("name")
    return float(solved.loc[f"{game}-{preset}-2", "nash_conv"])


# The pages


def of(name: str, make: Callable[[Runs], str]) -> Callable[[], str]:
    """Return a function that formats the finished runs of a benchmark."""
    return lambda: make(results(name))


BLOCKS = {
    PAGE: {
        "libraries": of("libraries", libraries_table),
        "games": of("trained", games_table),
        "small": of("small_curves", small_tables),
    },
    TRAINING: {
        "settings": settings_table,
        "sb3 reached": of("sb3_settings", sb3_reached),
        "sb3 bought": of("sb3_settings", sb3_bought),
    },
}
FIGURES = {
    DOCS / "small-curves.svg": of("small_curves", small_figure),
    DOCS / "calibration.svg": of("calibration", calibration_figure),
}
