"""The page of a leaderboard, in Markdown: a function of its data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kille_agents.catalog import game_of
from kille_env.registry import spec
from kille_training.arena.leaderboard.board import Line, Score
from kille_training.arena.leaderboard.tracks import DEALS, SEED, VERSION, Track, tracks
from kille_training.reports.pages import figure, render, signed

GREEDY = "greedy"


@dataclass(frozen=True)
class Standing:
    """A track with its table.

    Attributes:
        track: The track.
        title: Its heading.
        head: Names of the columns.
        rows: Cells of each entry, the best entry first.
    """

    track: Track
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def leaderboard_page(lines: Sequence[Line]) -> bytes:
    """Returns the page of a board; the same lines give the same bytes."""
    standings = [_standing(track, lines) for track in tracks().values()]
    about: dict[str, Any] = {"deals": DEALS, "seed": SEED, "version": VERSION}
    return render("leaderboard.md.j2", standings=standings, **about)


def _standing(track: Track, lines: Sequence[Line]) -> Standing:
    sign = 1 if track.exact else -1
    mine = [line for line in lines if line.track == track.name]
    mine.sort(key=lambda line: (sign * line.score.mean, line.name))
    head = ("NashConv, sampled", "greedy") if track.exact else ("units per deal", "least against")
    rows = tuple(_row(place, line, track) for place, line in enumerate(mine, 1))
    title = f"{spec(track.game).title}, {track.num_players} seats"
    title += ": exact NashConv" if track.exact else ": against the population"
    return Standing(track, title, ("", "entry", "by", *head, "digest", "kille-env"), rows)


def _row(place: int, line: Line, track: Track) -> tuple[str, ...]:
    cells = _exact_cells(line) if track.exact else _played_cells(line)
    made_with = line.versions.get("kille-env", "")
    return (str(place), f"`{line.name}`", line.by, *cells, _mark(line), made_with)


def _mark(line: Line) -> str:
    """Returns the beginning of a digest; what ships is known by its name and the version."""
    return "ships" if " " in line.digest else f"`{line.digest[:12]}`"


def _exact_cells(line: Line) -> tuple[str, str]:
    return figure(line.score.mean), figure(line.parts.get(GREEDY, line.score).mean)


def _played_cells(line: Line) -> tuple[str, str]:
    name, least = min(line.parts.items(), key=lambda part: (part[1].mean, part[0]))
    return _estimate(line.score), f"{_estimate(least)} `{_short(name)}`"


def _short(name: str) -> str:
    return name.partition("/")[2] if game_of(name) else name


def _estimate(score: Score) -> str:
    return f"{signed(score.mean)} ± {figure((score.high - score.low) / 2)}"
