"""The page of a comparison: what was asked, the answer, and the way to it.

Everything on it is computed from the stored results, by the same test that `kille compare` runs.
"""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from kille_env.errors import ConfigError
from kille_env.registry import spec
from kille_training.arena.compare import Scores, retrace
from kille_training.arena.comparison import Comparison
from kille_training.arena.tournament import Folder
from kille_training.labels import BEYOND_MEAN
from kille_training.pages.page import WIDE, Verdict, plot, render, signed, write, yaml_lines
from kille_training.pages.palette import GREEDY, INK, SAMPLED, SOFT
from kille_training.pages.plots import STYLE, as_svg
from kille_training.settings import plain
from kille_training.statistics.sequential import ABOVE, BELOW, GOING

ROOM = 1.5
"""Height of the plot beyond the last interval and the hypotheses, in its own height."""


def write_comparison_page(
    folder: Folder,
    out: Path | None = None,
) -> Path:
    """Writes the page of a comparison, as far as it has been played, and returns where it is.

    Args:
        folder: The comparison's.
        out: The page's file; None is report.html in the folder.

    Raises:
        KilleError: Nothing has been played, or the page cannot be written.
    """
    with Scores(folder.comparison, readonly=True) as kept:
        entrants, question, settings = kept.entrants, kept.question, kept.settings()
        path = retrace(kept)
    if not path:
        raise ConfigError(
            f"nothing has been played in {folder.path} yet; run the same kille compare again"
        )
    found = path[-1]
    page = render(
        "arena/comparison.html.j2",
        name=folder.path.resolve().name,
        verdict=verdict(found),
        found=found,
        question=question,
        hypotheses=question.hypotheses,
        plot=plot(lambda width: way(path, width)),
        game=spec(settings.table.game),
        settings=settings,
        settings_lines=yaml_lines(plain(settings)),
        rules=kept.table.rules.as_dict(),
        versions=kept.made_with,
        unit=question.unit,
        unit_s=found.many,
        measure=f"units per {question.unit}",
        score=BEYOND_MEAN,
        entrants=entrants,
    )
    return write(out or folder.report, page)


def way(path: Sequence[Comparison], width: float = WIDE) -> str:
    """Returns the plot of mean and interval while deals were played, as SVG.

    Args:
        path: What was found, station by station.
        width: In inches.
    """
    last, known = path[-1], path[-1].question.hypotheses
    played = [each.played for each in path]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, 3.2), layout="constrained")
        axes = figure.subplots()
        low, high = [each.low for each in path], [each.high for each in path]
        axes.fill_between(played, low, high, color=GREEDY, alpha=0.2, lw=0, label="interval")
        axes.plot(played, [each.mean for each in path], color=GREEDY, label="mean")
        for value, text in ((known.low, "at most"), (known.high, "at least")):
            dashes = "--" if value == known.low else ":"
            axes.axhline(value, color=SAMPLED, ls=dashes, lw=1.2, label=f"{text} {value:+g}")
        if last.verdict != GOING:
            axes.axvline(last.decided_after, color=SOFT, lw=0.8)
        ends = (last.low, last.high, last.mean, known.low, known.high)
        room = ROOM * (max(ends) - min(ends))
        axes.set_ylim(min(ends) - room, max(ends) + room)
        axes.set_xlim(played[0], max(played[-1], played[0] + 1))
        axes.set_xlabel(last.many, color=INK)
        axes.set_ylabel(f"units per {last.question.unit}")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.legend(loc="lower right", ncols=2)
        return as_svg(figure)


def verdict(found: Comparison) -> Verdict:
    """Returns the answer in a few words."""
    if found.verdict in (ABOVE, BELOW):
        answer = found.answer().partition(". ")[0].replace("+0 ", "0 ")
        loses = "worse" if found.high < 0 else ""
        return Verdict(f"{answer}.", "better" if found.verdict == ABOVE else loses)
    mean, unit = signed(found.mean), found.question.unit
    return Verdict(
        f"Not decided after {found.played:,} {found.many}: {found.question.better} earns "
        f"{mean} units per {unit} so far."
    )
