"""Does one player earn more than another? Played until a sequential test knows.

The first player sits among copies of the second, at every deal from every position. Its earnings
beyond the table's mean are one score per deal; the test is `statistics.sequential`. Results are
kept as those of a tournament, so a comparison can be resumed and has a page.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.policy import PlayerLike
from kille_env.registry import spec
from kille_training.arena.settings import TournamentSettings
from kille_training.arena.tournament import Folder, Tournament, executor_of
from kille_training.labels import plural_of, unit_of
from kille_training.statistics.sequential import ABOVE, BELOW, GOING, Hypotheses, SequentialTest

FIRST_DEALS = 1_000
GROWTH = 1.25
"""Deals until the next look, at most, as a multiple of those played so far."""


@dataclass(frozen=True)
class Comparison:
    """What a comparison has found.

    Attributes:
        better: The player that is asked about.
        worse: The player in the other seats.
        verdict: The test's, see `statistics.sequential`.
        decided_after: Deals after which the verdict was reached, 0 while there is none.
        deals: Deals that have been played.
        mean: Units per deal of the first player, beyond the table's mean.
        low: Lower end of an interval that holds at all times.
        high: Upper end.
        by: The difference that is asked about.
        base: The difference that it is distinguished from.
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
        """Returns it as text."""
        many = plural_of(self.unit)
        said = {
            ABOVE: f"{self.better} earns more than {self.base:+g} beyond the table's mean",
            BELOW: f"{self.better} earns less than {self.by:+g} beyond the table's mean",
        }
        verdict = "not decided"
        if self.verdict in said:
            verdict = f"{said[self.verdict]} (decided after {self.decided_after:,} {many})"
        return [
            f"Among copies of {self.worse}: {verdict}.",
            f"{self.mean:+.4f} units per {self.unit} over {self.deals:,} {many}, between "
            f"{self.low:+.4f} and {self.high:+.4f} whenever one stops.",
        ]

    def __str__(self) -> str:
        """Returns it as text."""
        return "\n".join(self.sentences())


def bounds_of(rules: Rules, num_players: int) -> tuple[float, float]:
    """Returns bounds of a deal's score, wide ones: twice what a step can move."""
    least, greatest = spec(rules.game).reward_range(rules, num_players)
    width = 2.0 * (greatest - least)
    return -width, width


def play_comparison(
    folder: Folder,
    settings: TournamentSettings,
    hypotheses: Hypotheses,
    looked: Callable[[Comparison], None],
    *,
    trust: bool,
    objects: Mapping[str, PlayerLike],
) -> Comparison:
    """Plays until the test knows, or has had its deals.

    Args:
        folder: Where it lies, or is to lie.
        settings: A gauntlet of the one against copies of the other; its deals do not matter.
        hypotheses: What is to be distinguished.
        looked: Called with what has been found after each look.
        trust: Whether model files that can run code may be loaded.
        objects: Players that are Python objects, by what the settings call the player.

    Raises:
        ConfigError: One of the two failed, or there are too few deals; the message says why.
    """
    if hypotheses.most == 1:
        raise ConfigError("most is 1; expected 2 deals or more, or 0 for no limit")
    (seats,) = settings.table.num_players
    better = settings.matchmaking.hero
    (worse,) = (name for name in settings.entrants if name != better)
    test = SequentialTest(hypotheses)
    deals = 0
    with executor_of(settings, folder, objects=objects) as executor:
        while True:
            most = hypotheses.most or float("inf")
            deals = int(min(most, max(deals * GROWTH, deals + FIRST_DEALS)))
            matchmaking = replace(settings.matchmaking, deals=deals)
            tournament = Tournament(
                folder, replace(settings, matchmaking=matchmaking), trust=trust, objects=objects
            )
            try:
                tournament.play(executor)
                out = [each for each in tournament.store.entrants() if each.out is not None]
                if out:
                    raise ConfigError(f"{out[0].name} cannot be compared: {out[0].out}")
                scores = _scores(tournament, seats, better, test.deals)
            finally:
                tournament.close()
            test.feed(scores[: deals - test.deals])
            low, high = test.interval()
            result = Comparison(
                better, worse, test.verdict, test.decided_after, test.deals, test.mean, low, high,
                hypotheses.high, hypotheses.low, unit_of(settings.table.episode),
            )  # fmt: skip
            looked(result)
            if test.verdict != GOING or test.deals >= most:
                return result


def _scores(tournament: Tournament, seats: int, better: str, first_deal: int) -> np.ndarray:
    """Returns a player's scores by deal, from a deal on."""
    (block,) = tournament.blocks()[seats]
    (number,) = (each.number for each in tournament.store.entrants() if each.name == better)
    return np.concatenate(list(tournament.store.scores(block.panel.number, 0, number, first_deal)))
