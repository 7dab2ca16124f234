"""Measuring an entry on one track."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from kille_agents.greedy import PLAYS
from kille_env.errors import KilleError
from kille_env.policy import Player, PlayerLike, resolve
from kille_training.arena.leaderboard.board import Score
from kille_training.arena.leaderboard.tracks import DEALS, SEED, Track
from kille_training.evaluation.duplicate import DETERMINISTIC, payoff
from kille_training.evaluation.exact import can_be_asked, exact_rows
from kille_training.progress import Progress, part_of

DIGITS = 6
"""Decimals of all results in the file."""
SAMPLED = "sampled"


def player_at(player: PlayerLike, track: Track, trust: bool) -> Player:
    """Returns a player for the table of a track.

    Raises:
        KilleError: It was made for another table, or cannot be measured on this track.
    """
    found = resolve(player, track.game, track.num_players, track.rules, trust=trust)
    if track.exact and not can_be_asked(found, track.num_players, track.rules):
        raise KilleError(f"{found.name} has no answer by information set, so no exact NashConv")
    return found


def measure(player: Player, track: Track, progress: Progress | None = None) -> dict[str, Score]:
    """Returns what a player reaches: against each opponent, or by way to play.

    Args:
        player: The player, for the table of the track; where it is played its actions are sampled.
        track: The track.
        progress: Called with the opponents that are done.

    Returns:
        Units per deal by opponent; on an exact track NashConv in stakes by way to play.
    """
    if track.exact:
        rows = exact_rows(player, track.num_players, track.rules, PLAYS)
        return {row.play: _score(row.stakes, row.stakes, row.stakes) for row in rows}
    done, parts = part_of(progress, track.name, len(track.against)), {}
    for name in track.against:
        opponent = resolve(name, track.game, track.num_players, track.rules)
        row = payoff(player, opponent, track.num_players, track.rules, deals=DEALS, seed=SEED)
        parts[name] = _score(row.estimate.mean, row.estimate.low, row.estimate.high)
        done(1)
    return parts


def overall(parts: Mapping[str, Score]) -> Score:
    """Returns what a track sorts by.

    Against opponents it is the mean. All meet the entry over the same deals, so their scores are
    correlated; the mean of their intervals is at least as wide as the interval of the mean, however
    they are. NashConv is that of sampled play.
    """
    for play in (SAMPLED, DETERMINISTIC):
        if play in parts:
            return parts[play]
    scores = [*parts.values()]
    return _score(*(fmean(_column(scores, end)) for end in ("mean", "low", "high")))


def _column(scores: Sequence[Score], end: str) -> list[float]:
    return [getattr(score, end) for score in scores]


def _score(mean: float, low: float, high: float) -> Score:
    return Score(*(round(value, DIGITS) + 0.0 for value in (mean, low, high)))
