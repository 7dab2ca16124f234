"""The page of a ladder, and its standings for the terminal.

The page is written whole each time; equal results give an equal page, byte for byte.
"""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.core.text import counted, listed
from kille_env.registry import spec
from kille_training.arena.ladder.challenges import Challenge
from kille_training.arena.ladder.result import LadderResult, Rung
from kille_training.arena.tournament import Folder
from kille_training.labels import plural_of, unit_of
from kille_training.reports.comparison import tone
from kille_training.reports.pages import Verdict, percent, render, write, yaml_lines
from kille_training.reports.report import report
from kille_training.reports.samples import links
from kille_training.reports.tables import table
from kille_training.reports.tournament_plots import Scale, shades
from kille_training.reports.tournament_words import labels
from kille_training.settings import plain
from kille_training.statistics.crosstable import crosstable
from kille_training.statistics.intervals import Intervals

MOST_IN_CROSSTABLE = 60
"""Players in a crosstable, the best ones; more do not fit on a page."""
MOST_TABLES = 20
"""Tables of the last round that the page shows."""
MOST_REFUSED = 10
"""Submissions that were refused that the page shows."""


def write_ladder_page(result: LadderResult, out: Path | None = None) -> Path:
    """Writes the page of a ladder, and returns where it is.

    Args:
        result: The ladder as it stands.
        out: The page's file; None is report.html in the ladder's folder.

    Raises:
        KilleError: The page cannot be written.
    """
    settings = result.settings
    unit = unit_of(settings.episode)
    names = [each.name for each in result.entrants]
    contents = [("ratings", "Ratings"), ("tests", "Tests"), ("company", "Who finishes above whom")]
    page = render(
        "ladder.html.j2",
        name=result.folder.path.resolve().name,
        contents=[*contents, ("last", "Last round"), ("entrants", "Players")],
        verdicts=_verdicts(result),
        folder=shlex.quote(str(result.folder.path)),
        result=result,
        game=spec(settings.game),
        settings=settings,
        settings_lines=yaml_lines(plain(settings)),
        rules=settings.table.resolve().as_dict(),
        versions=result.made_with,
        unit=unit,
        unit_s=plural_of(unit),
        scale=Scale.over(
            np.array([[rung.rating, rung.low, rung.high] for rung in result.rungs], dtype=float)
        ),
        company=_company(result),
        links={} if out else links(result.folder.path, settings.num_players),
        label=dict(zip(names, labels(names, settings.game), strict=True)),
        tests=result.tests[::-1],
        tone=tone,
        pages={test.number for test in result.tests if _page_of(result, test).is_file()},
        most_tables=MOST_TABLES,
        most_refused=MOST_REFUSED,
    )
    return write(out or result.folder.report, page)


def leader(result: LadderResult) -> str:
    """Returns who leads, and from whom it cannot be told apart, as a sentence."""
    there = [rung for rung in result.rungs if rung.place is not None]
    rounds = counted(result.rounds, "round", "rounds")
    if not there:
        return f"Nothing has been rated after {rounds}."
    first = there[0]
    level = [rung.name for rung in there[1:] if rung.best == 1]
    said = f"{first.name} leads with {first.rating:+.0f} after {rounds}"
    if not level:
        return f"{said}, clearly ahead of all others."
    if len(level) > 3:
        level = [*level[:3], f"{len(level) - 3} more"]
    return f"{said}; it cannot be told apart from {listed(level)}."


def renderables(result: LadderResult) -> list[Any]:
    """Returns the ratings and the tests for the terminal."""
    unit = unit_of(result.settings.episode)
    seats = result.settings.num_players
    shown: list[Any] = [
        table(
            f"{seats} seats, {counted(result.rounds, 'round', 'rounds')}",
            [">place", "player", ">rating", ">95% interval", ">skill", ">observations"],
            [_cells(rung) for rung in result.rungs],
        )
    ]
    if result.tests:
        columns = [
            "test",
            "among copies of",
            ">units per " + unit,
            ">" + plural_of(unit),
            "verdict",
        ]
        shown.append(table("Tests", columns, map(_test_cells, result.tests)))
    return [*shown, *result.remarks, f"Page: {result.folder.report}"]


def write_test_pages(result: LadderResult) -> None:
    """Writes the pages of all tests that have played, each into its folder.

    Args:
        result: The ladder as it stands.

    Raises:
        KilleError: A page cannot be written.
    """
    for test in result.tests:
        if test.deals:
            report(result.folder.tests / str(test.number))


def _page_of(result: LadderResult, test: Challenge) -> Path:
    return Folder(result.folder.tests / str(test.number)).report


def _cells(rung: Rung) -> tuple[str, ...]:
    """Returns the cells of a player in the table for the terminal."""
    rating = "" if rung.rating is None else f"{rung.rating:+.0f}"
    within = "new" if rung.new else ""
    if rung.low is not None and rung.high is not None:
        within = f"{rung.low:+.0f} to {rung.high:+.0f}"
    return rung.places(), rung.name, rating, within, f"{rung.skill:.1f}", f"{rung.observations:,}"


def _test_cells(test: Challenge) -> tuple[str, ...]:
    """Returns the cells of a test in the table for the terminal."""
    mean = "" if test.mean is None else f"{test.mean:+.4f}"
    return test.new, test.old, mean, f"{test.deals:,}", test.verdict


def _verdicts(result: LadderResult) -> list[Verdict]:
    """Returns who leads, and what the tests that run or have ended last say."""
    tests = [each for each in result.tests if each.going]
    tests += [each for each in result.tests if not each.going][-1:]
    said = [Verdict(leader(result))]
    said += [
        Verdict(each.answer, tone(each.verdict, each.greatest)) for each in tests if each.answer
    ]
    if result.waiting:
        said.append(Verdict(_waiting(result)))
    return said


def _waiting(result: LadderResult) -> str:
    many = counted(len(result.waiting), "submission", "submissions")
    return f"{many} waiting to be taken in before the next round."


def _company(result: LadderResult) -> Mapping[str, Any] | None:
    """Returns how often each player finishes above each other one; None if nobody has played.

    It has `shown`, the numbers of the best ones; `above`, the intervals of the shares, [E, E];
    `shades`, the class of each cell; and `cell`, which says one in words.
    """
    if result.tally is None:
        return None
    found = crosstable(result.tally)
    number = {entrant.name: entrant.number for entrant in result.entrants}
    shown = [number[rung.name] for rung in result.rungs if rung.rating is not None]
    side = np.sign(np.nan_to_num(found.above.mean) - 0.5).astype(np.int8)
    sure = (found.above.low > 0.5) | (found.above.high < 0.5)
    clear = result.grouping.clear
    return {
        "shown": shown[:MOST_IN_CROSSTABLE],
        "above": found.above,
        "cell": lambda row, column: _cell(result, found.above, row, column),
        "shades": shades(np.where(sure, side, 0), np.where(clear | clear.T, side, 0)),
    }


def _cell(result: LadderResult, above: Intervals, row: int, column: int) -> str:
    """Returns how often a player finishes above another, in words."""
    one, other = (result.entrants[number].name for number in (row, column))
    low, high = above.low[row, column], above.high[row, column]
    within = f" ({percent(low)} to {percent(high)})" if np.isfinite(low) else ""
    return (
        f"{one} finishes above {other} in {percent(above.mean[row, column])}{within} of "
        f"{int(above.count[row, column]):,} observations"
    )
