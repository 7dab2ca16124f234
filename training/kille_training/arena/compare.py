"""Is one player better than another by so much? Played until a test that may be watched knows.

The first sits among copies of the second, at every deal from every position. What he earns beyond
the table's mean is one score a deal; the test is `rating.sequential`. Results are kept like those
of a tournament, so an interrupted comparison goes on, and its page can be made.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.registry import spec
from kille_training.arena.settings import (
    MatchmakingSettings,
    TablesSettings,
    TournamentSettings,
)
from kille_training.arena.tournament import Executor, Folder, Tournament, Watcher
from kille_training.labels import plural_of, unit_of
from kille_training.statistics.sequential import ABOVE, BELOW, GOING, Hypotheses, SequentialTest

FIRST_DEALS = 1_000
GROWTH = 1.25
"""How many deals are played by the next look, at most, as a multiple of those played so far."""


@dataclass(frozen=True)
class Comparison:
    """What a comparison has come to.

    Attributes:
        better: Who is asked about.
        worse: Who fills the other seats.
        verdict: What the test says, see `rating.sequential`.
        decided_after: Deals after which the verdict was reached, 0 while there is none.
        deals: Deals that have been played.
        mean: Units a deal of the first, beyond the table's mean.
        low: Lower end of an interval that holds at all times.
        high: Upper end.
        by: The difference asked about.
        base: The difference that it is told apart from.
        unit: What an observation is: "deal" or "match".
    """

    better: str
    worse: str
    verdict: str
    decided_after: int
    deals: int
    mean: float
    low: float
    high: float
    by: float
    base: float
    unit: str

    def as_dict(self) -> dict[str, Any]:
        """Returns it as JSON can hold it."""
        return asdict(self)

    def sentences(self) -> list[str]:
        """Returns it in words."""
        many = plural_of(self.unit)
        said = {
            ABOVE: f"{self.better} earns more than {self.base:+g} beyond the table's mean",
            BELOW: f"{self.better} earns less than {self.by:+g} beyond the table's mean",
        }
        verdict = "not decided"
        if self.verdict in said:
            verdict = f"{said[self.verdict]} (known after {self.decided_after:,} deals)"
        return [
            f"Among copies of {self.worse}, {verdict}.",
            f"{self.mean:+.4f} units a {self.unit} over {self.deals:,} {many}; at whatever time "
            f"one looks, between {self.low:+.4f} and {self.high:+.4f}.",
        ]


def compare_settings(
    name: str,
    better: str,
    worse: str,
    *,
    game: str,
    num_players: int,
    rules: Mapping[str, Any],
    episode: str,
    seed: int,
    workers: int,
    time_limit: float,
) -> TournamentSettings:
    """Returns a comparison as the settings of a tournament.

    Raises:
        ConfigError: The two are the same player.
    """
    if better == worse:
        raise ConfigError(f"{better!r} is compared with himself; name two players")
    return TournamentSettings(
        name=name,
        seed=seed,
        table=TablesSettings(game, (num_players,), rules, episode),
        entrants={better: better, worse: worse},
        matchmaking=MatchmakingSettings("gauntlet", "copies", FIRST_DEALS, hero=better),
        time_limit=time_limit,
        workers=workers,
    )


def bounds_of(rules: Rules, num_players: int) -> tuple[float, float]:
    """Returns bounds of what a deal's score can be, wide ones: twice what a step can move."""
    least, greatest = spec(rules.game).reward_range(rules, num_players)
    width = 2.0 * (greatest - least)
    return -width, width


def compare(
    folder: Folder,
    settings: TournamentSettings,
    hypotheses: Hypotheses,
    executor: Executor,
    watcher: Watcher,
    told: Callable[[Comparison], None],
    *,
    trust: bool = False,
) -> Comparison:
    """Plays until the test knows, or has had its deals.

    Args:
        folder: Where it lies, or is to lie.
        settings: See `compare_settings`.
        hypotheses: What is to be told apart.
        executor: Where it is played.
        watcher: Told how far the deals until the next look are.
        told: Called with what has come of it after each look.
        trust: Whether model files that can run code may be loaded.

    Raises:
        ConfigError: One of the two failed, or there are too few deals; the message says why.
    """
    if hypotheses.most == 1:
        raise ConfigError("most is 1; expected 2 deals or more, or 0 for no end")
    (seats,) = settings.table.num_players
    better, worse = settings.entrants
    test = SequentialTest(hypotheses)
    deals = 0
    while True:
        most = hypotheses.most or float("inf")
        deals = int(min(most, max(deals * GROWTH, deals + FIRST_DEALS)))
        matchmaking = replace(settings.matchmaking, deals=deals)
        tournament = Tournament(folder, replace(settings, matchmaking=matchmaking), trust=trust)
        try:
            tournament.play(executor, watcher)
            out = [each for each in tournament.store.entrants() if each.out is not None]
            if out:
                raise ConfigError(f"{out[0].name} cannot be compared: {out[0].out}")
            scores = _scores(tournament, seats, better)
        finally:
            tournament.close()
        test.feed(scores[test.deals : deals])
        low, high = test.interval()
        result = Comparison(
            better, worse, test.verdict, test.decided_after, test.deals, test.mean, low, high,
            hypotheses.high, hypotheses.low, unit_of(settings.table.episode),
        )  # fmt: skip
        told(result)
        if test.verdict != GOING or test.deals >= most:
            return result


def _scores(tournament: Tournament, seats: int, better: str) -> np.ndarray:
    """Returns what is kept of a player's scores by deal; the folder may hold other lineups too."""
    (stint,) = tournament.stints()[seats]
    names = [each.name for each in tournament.store.entrants()]
    found = tournament.store.observations()[seats]
    rows = found.lineup == stint.lineup
    return found.scores[rows, stint.members.index(names.index(better))]
