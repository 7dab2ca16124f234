"""Makes figures and tables of docs/learning.md and docs/training.md from docs/data and configs.

    python docs/learning.py            write them
    python docs/learning.py --check    exit with 1 if the pages' tables are stale

The results are what `benchmarks/credit.py`, `reach.py`, `every_table.py`, `calibration.py`,
`libraries.py` and `sb3_settings.py` have written (to publish others, copy their files from `runs/`
to `docs/data/`), and what `docs/trained.py --take` has taken.
"""

import io
import json
import statistics
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import yaml
from blocks import filled, table, write
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from kille_agents.greedy import PLAYS
from kille_env.registry import list_games
from kille_training.pages.palette import SERIES
from kille_training.pages.plots import STYLE

DOCS = Path(__file__).parent
PAGE, TRAINING = DOCS / "learning.md", DOCS / "training.md"
RECIPES = DOCS.parent / "configs" / "train"
SETTINGS = ("decisions", "num_tables", "n_steps", "batch_size", "n_epochs", "learning_rate",
            "ent_coef", "ent_coef_end", "vf_coef", "layers")  # fmt: skip
"""Settings of the learner that the recipes of the games name."""
MILLIONS = (0, 1, 2, 4, 6, 12, 24)
VARIANTS = {
    "streams": "all seats, streams",
    "seats": "one seat, live policy",
    "next_seat": "the next seat's observation",
}
LEAST = 1e-5
"""What a logarithmic axis shows for less, nothing included."""
NEAR = 0.1
"""NashConv in stakes below which a player counts as near an equilibrium."""

Lines = list[dict[str, Any]]


def results(name: str, folder: Path = DOCS / "data") -> Lines:
    """Returns the finished runs of a benchmark."""
    text = (folder / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def values(line: dict[str, Any], play: str) -> list[float]:
    """Returns NashConv at each point of a run."""
    return [sum(point[play]) for point in line["points"]]


def chosen(lines: Lines, **key: Any) -> Lines:
    """Returns the runs with these values."""
    return [line for line in lines if all(line[name] == value for name, value in key.items())]


def known(lines: Lines, name: str) -> list[Any]:
    """Returns the different values of a key, sorted."""
    return sorted({line[name] for line in lines})


# Whose reward it is


def credit_table(lines: Lines) -> str:
    """Returns NashConv at the end of the runs, by seats and way."""
    rows = []
    for seats in known(lines, "num_players"):
        here = chosen(lines, num_players=seats)
        for variant, words in VARIANTS.items():
            runs = chosen(here, variant=variant)
            if runs:
                ends = [_middle([values(run, play)[-1] for run in runs]) for play in PLAYS]
                seconds = statistics.median(run["points"][-1]["seconds"] for run in runs)
                rows.append((str(seats), words, *ends, str(len(runs)), f"{seconds:.0f}"))
        rows.append((str(seats), "uniform play", *[f"{here[0]['uniform']:.3f}"] * 2, "", ""))
    return table(("seats", "way", *PLAYS, "seeds", "processor seconds per run"), rows)


def credit_figure(lines: Lines) -> str:
    """Returns the picture of NashConv over decisions."""
    players = known(lines, "num_players")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.1 * len(players), 6.4), layout="constrained")
        panels = figure.subplots(2, len(players), sharex=True, sharey=True, squeeze=False)
        for row, play in enumerate(PLAYS):
            for column, seats in enumerate(players):
                axes = panels[row, column]
                here = chosen(lines, num_players=seats)
                for (variant, words), colour in zip(VARIANTS.items(), SERIES, strict=False):
                    _curves(axes, chosen(here, variant=variant), play, colour, words)
                axes.axhline(here[0]["uniform"], color="#8a8a8a", linestyle=":", label="uniform")
                axes.set_yscale("log")
                axes.set_title(f"{seats} seats, {play}", loc="left", fontsize=10)
        for axes in panels[:, 0]:
            axes.set_ylabel("NashConv, stakes")
        for axes in panels[-1]:
            axes.set_xlabel("decisions, thousands")
        panels[0, 0].legend(frameon=False, fontsize=8)
        return _svg(figure)


def _curves(axes: Any, runs: Lines, play: str, colour: str, words: str) -> None:
    """Draws every run thin and their median thick."""
    if not runs:
        return
    decisions = [point["decisions"] / 1000 for point in runs[0]["points"]]
    drawn = [[max(LEAST, value) for value in values(run, play)] for run in runs]
    for each in drawn:
        axes.plot(decisions, each, color=colour, linewidth=0.7, alpha=0.55)
    middle = [statistics.median(column) for column in zip(*drawn, strict=True)]
    axes.plot(decisions, middle, color=colour, linewidth=2.0, label=words)


# How long it takes


def reach_table(lines: Lines) -> str:
    """Returns in how many runs the target was reached, and after what time."""
    rows = []
    for seats in known(lines, "num_players"):
        for question in reversed(known(lines, "question")):
            runs = chosen(lines, num_players=seats, question=question)
            if not runs:
                continue
            cells = [_reached(runs, plays) for plays in (*((play,) for play in PLAYS), PLAYS)]
            ends = [_middle([values(run, play)[-1] for run in runs]) for play in PLAYS]
            words = "no" if question == "off" else "yes"
            target = f"{runs[0]['target']:g}"
            rows.append((str(seats), words, target, *cells, *ends))
    head = (
        "seats",
        "question",
        "target",
        *PLAYS,
        "both",
        "greedy at the end",
        "sampled at the end",
    )
    return table(head, rows)


def _reached(runs: Lines, plays: tuple[str, ...]) -> str:
    """Returns how many runs were at the target at a point, and when they were there first."""
    times = []
    for run in runs:
        worst = [max(pair) for pair in zip(*(values(run, play) for play in plays), strict=True)]
        pairs = zip(run["points"], worst, strict=True)
        times += [point["seconds"] for point, value in pairs if value <= run["target"]][:1]
    share = f"{len(times)} of {len(runs)}"
    return f"{share}: {_middle(times, '.0f')} s" if times else share


# One network for all table sizes


def every_table(lines: Lines) -> str:
    """Returns what the network for all table sizes is worth beside one for each."""
    rows = []
    for line in sorted(lines, key=lambda line: line["num_players"]):
        pairs = [(line["exact"] or {}).get(name) for name in ("network", "specialist")]
        exact = [f"{pair[play]:.4f}" if pair else "" for play in PLAYS for pair in pairs]
        mean, low, high = (line["earned"][name] for name in ("mean", "low", "high"))
        earned = f"{mean:+.4f} ({low:+.4f} to {high:+.4f})"
        rows.append((str(line["num_players"]), *exact, earned))
    head = [
        "seats",
        *(f"{play}, {whose}" for play in PLAYS for whose in ("all sizes", "this size")),
        "units per deal among specialists",
    ]
    return table(head, rows)


# Approximate beside exact


def calibration_summary(lines: Lines) -> str:
    """Returns a summary of the table, in sentences."""
    sentences = []
    for near, words in ((False, f"{NEAR:g} stakes and more"), (True, "less")):
        shares = [
            sum(gain["mean"] for gain in line["found"]) / sum(line["exact"])
            for line in lines
            if sum(line["exact"]) > 0 and (sum(line["exact"]) < NEAR * line["stake"]) == near
        ]
        if shares:
            sentences.append(
                f"Where the exact NashConv is {words} ({len(shares)} players), a median of "
                f"{statistics.median(shares):.0%} of it was found, {min(shares):.0%} at worst."
            )
    pairs = list(_gains(lines))
    above = sum(gain["low"] > exact for _, exact, gain in pairs)
    seconds = statistics.median(line["seconds"] for line in lines)
    sentences.append(
        f"The interval lay above the exact gain in {above} of {len(pairs)} positions. "
        f"A search took a median of {seconds:.0f} s of elapsed time."
    )
    return "\n".join(sentences)


def calibration_figure(lines: Lines) -> str:
    """Returns the picture of approximate gains by seat over the exact ones."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.6, 5.2), layout="constrained")
        axes = figure.subplots()
        for seats, colour in zip(known(lines, "num_players"), SERIES, strict=False):
            here = list(_gains(chosen(lines, num_players=seats)))
            exact = [most / stake for stake, most, _ in here]
            mean = [gain["mean"] / stake for stake, _, gain in here]
            half = [(gain["high"] - gain["low"]) / 2 / stake for stake, _, gain in here]
            axes.errorbar(
                exact, mean, yerr=half, fmt="o", markersize=3.5, linewidth=0.8, color=colour,
                label=f"{seats} seats",
            )  # fmt: skip
        axes.axline((0.1, 0.1), (1, 1), color="#8a8a8a", linewidth=0.8)
        axes.set_xscale("symlog", linthresh=0.01)
        axes.set_yscale("symlog", linthresh=0.01)
        axes.set_xlim(left=-0.001)
        axes.set_xlabel("exact gain of the best response, stakes")
        axes.set_ylabel("gain of the learnt response, 95% interval")
        axes.legend(frameon=False)
        return _svg(figure)


def _gains(lines: Lines) -> Iterable[tuple[float, float, dict[str, float]]]:
    """Yields stake, exact gain and what was found, position by position."""
    for line in lines:
        for exact, gain in zip(line["exact"], line["found"], strict=True):
            yield line["stake"], exact, gain


# Libraries, and the other games


def libraries_table(lines: Lines) -> str:
    """Returns what every recipe reached at two and at three seats, and how fast it was."""
    measured = [line for line in lines if line["seed"]]
    rows = []
    for recipe in known(measured, "recipe"):
        here = chosen(measured, recipe=recipe)
        library, version = next(iter(here[0]["versions"].items()))
        speed = statistics.median(run["decisions"] / run["seconds"] for run in here)
        cells = [
            _middle([run["sampled"] for run in chosen(here, num_players=seats)], ".3f")
            for seats in known(measured, "num_players")
        ]
        link = f"[{recipe}](../training/recipes/{recipe}.py)"
        rows.append((link, f"{library} {version}", f"{speed:,.0f}", *cells))
    heads = (f"NashConv, {seats} seats" for seats in known(measured, "num_players"))
    return table(("recipe", "library", "decisions/s", *heads), rows)


def games_table(lines: Lines) -> str:
    """Returns what the trained players earned against the rule of thumb while they learned."""
    rows = []
    for game in list_games():
        curve = {
            line["decisions"]: line
            for line in chosen(lines, game=game, against="rule_of_thumb", play="sampled")
        }
        reached = [[n for n in curve if n >= millions * 1_000_000] for millions in MILLIONS]
        cells = [f"{curve[min(made)]['mean']:+.3f}" if made else "" for made in reached]
        last = [*curve.values()][-1]
        rows.append((f"`{game}`", *cells, f"± {(last['high'] - last['low']) / 2:.3f}"))
    return table(("game", *(f"{millions} M" for millions in MILLIONS), "interval"), rows)


def sb3_reached(lines: Lines) -> str:
    """Returns what the settings for Stable-Baselines3 reach at each table."""
    plain = [line for line in lines if line["change"] == lines[0]["change"]]
    tables = dict.fromkeys((line["game"], line["num_players"]) for line in plain)
    rows = [
        (f"`{game}`", str(seats), *_sb3_cells(chosen(plain, game=game, num_players=seats)))
        for game, seats in tables
    ]
    return table(("game", "seats", *SB3_HEAD), rows)


def sb3_bought(lines: Lines) -> str:
    """Returns what one setting changed at a time brings or costs, at the tables where it was."""
    changes = dict.fromkeys(line["change"] for line in lines)
    plain = next(iter(changes))
    changed = [line for line in lines if line["change"] != plain]
    tables = dict.fromkeys((line["game"], line["num_players"]) for line in changed)
    rows = [
        (f"`{game}`, {seats} seats", change, *_sb3_cells(runs))
        for game, seats in tables
        for change in changes
        if (runs := chosen(lines, game=game, num_players=seats, change=change))
    ]
    return table(("table", "settings", *SB3_HEAD), rows)


SB3_HEAD = ("seeds", "against uniform", "against the rule of thumb", "NashConv", "CPU seconds")


def _sb3_cells(runs: Lines) -> list[str]:
    """Returns how many seeds, and the middle and the ends of what is measured."""
    against = [
        _middle([run["earned"][name][0] for run in runs], "+.3f")
        for name in ("uniform", "rule_of_thumb")
    ]
    exact = [run["nash_conv"] for run in runs if run["nash_conv"] is not None]
    seconds = f"{statistics.median(run['seconds'] for run in runs):.0f}"
    return [str(len(runs)), *against, _middle(exact) if exact else "", seconds]


def settings_table() -> str:
    """Returns the settings of the games' recipes side by side, equal ones in one column."""
    games: dict[tuple[str, ...], list[str]] = {}
    for game in list_games():
        recipe = yaml.safe_load((RECIPES / f"{game}.yaml").read_text(encoding="utf-8"))
        column = tuple(_setting(recipe["learner"][key]) for key in SETTINGS)
        games.setdefault(column, []).append(game)
    names = [f"`{key}`" for key in SETTINGS]
    return table(("setting", *map(", ".join, games.values())), zip(names, *games, strict=True))


def _setting(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and value > 9_999 else str(value)


# The pages

BLOCKS: dict[str, tuple[str, Callable[[Lines], str]]] = {
    "credit": ("credit", credit_table),
    "reach": ("reach", reach_table),
    "every table": ("every_table", every_table),
    "calibration summary": ("calibration", calibration_summary),
    "libraries": ("libraries", libraries_table),
    "games": ("trained", games_table),
}
"""The blocks of the page, and the results that each is made from."""
FIGURES = {"credit": credit_figure, "calibration": calibration_figure}


def built() -> dict[Path, str]:
    """Returns what the pages should hold."""
    blocks = {mark: partial(_made, name, make) for mark, (name, make) in BLOCKS.items()}
    return {
        PAGE: filled(PAGE, blocks),
        TRAINING: filled(
            TRAINING,
            {
                "settings": settings_table,
                "sb3 reached": partial(_made, "sb3_settings", sb3_reached),
                "sb3 bought": partial(_made, "sb3_settings", sb3_bought),
            },
        ),
    }


def _made(name: str, make: Callable[[Lines], str]) -> str:
    return make(results(name))


def _middle(numbers: list[float], form: str = ".4f") -> str:
    """Median with the smallest and the largest."""
    low, middle, high = min(numbers), statistics.median(numbers), max(numbers)
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})
    # Matplotlib leaves spaces at the ends of lines.
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def main(check: bool) -> int:
    """Writes or checks; returns the exit status."""
    if not check:
        for name, make in FIGURES.items():
            (DOCS / f"{name}.svg").write_text(make(results(name)), encoding="utf-8")
    return write(built(), check)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
