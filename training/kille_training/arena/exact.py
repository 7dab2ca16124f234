"""What entrants earn exactly: the truth that a tournament estimates.

Where the tree of a deal fits into memory and all players return probabilities, nothing has to be
sampled: not the deals, and not who meets whom in which order. The truth is the mean over all deals,
all choices of entrants that may sit together, and all circular orders of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from kille_agents.catalog import load_policy
from kille_agents.greedy import in_play
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, KilleError
from kille_env.play.policy import searches
from kille_training.arena.draws import ALL, Draw
from kille_training.arena.entrants import Entrant
from kille_training.arena.schedule import Pairing, draws
from kille_training.arena.settings import TournamentSettings
from kille_training.evaluation.exact import exact_scores
from kille_training.progress import Progress
from kille_training.solving.build import build_deal
from kille_training.solving.policies import Asked
from kille_training.solving.size import check_deal
from kille_training.statistics.tally import NANO, Tally

MOST_SEATINGS = 10_000
"""Tables that are computed; one takes some 0.1 s at three seats."""


@dataclass(frozen=True, eq=False)
class Expected:
    """What entrants are expected to earn, in units per deal less the table's mean.

    Attributes:
        units: [E] mean over all lineups that an entrant may sit in; NaN for one that may not.
        cells: [E, E] mean of the row over those in which the column sits as well; NaN if there are
            none.
    """

    units: np.ndarray
    cells: np.ndarray

    @property
    def differences(self) -> np.ndarray:
        """What the row earns more than the column, [E, E]."""
        return self.units[:, None] - self.units


def exact_units(
    entrants: Sequence[Entrant],
    settings: TournamentSettings,
    seats: int,
    *,
    trust: bool = False,
    progress: Progress | None = None,
) -> np.ndarray:
    """Returns what each entrant is expected to earn per deal, [E]; see `expected`."""
    return expected(entrants, settings, seats, trust=trust, progress=progress).units


def expected(
    entrants: Sequence[Entrant],
    settings: TournamentSettings,
    seats: int,
    *,
    trust: bool = False,
    progress: Progress | None = None,
) -> Expected:
    """Returns what entrants are expected to earn at tables of one size.

    Args:
        entrants: [E] all entrants, by number; those that are out do not count.
        settings: The tournament's.
        seats: P.
        trust: Whether model files that can run code may be loaded.
        progress: Called with how many tables are done.

    Raises:
        ConfigError: There is no exact expectation; the message says why.
    """
    rules = settings.table.resolve()
    try:
        check_deal(seats, rules)
    except KilleError as error:
        raise ConfigError(str(error)) from None
    lineups = _lineups(_field(entrants, settings, seats))
    if (tables := lineups.size) > MOST_SEATINGS:
        raise ConfigError(
            f"exact expectations take {tables:,} tables of {seats} seats, more than "
            f"{MOST_SEATINGS:,}; they need fewer entrants, or matchmaking.fill: copies"
        )
    present, places = np.unique(lineups, return_inverse=True)
    players = [_player(entrants[number], seats, rules, trust) for number in present.tolist()]
    places = places.reshape(lineups.shape)
    scores = exact_scores(places, players, build_deal(seats, rules), progress)
    tally = Tally.empty(seats, len(entrants))
    tally.add_scores(lineups, np.zeros(len(lineups)), scores)
    with np.errstate(invalid="ignore"):
        return Expected(
            tally.means(),
            tally.shared.sum(axis=0) / tally.met.sum(axis=0) / NANO,
        )


def _field(entrants: Sequence[Entrant], settings: TournamentSettings, seats: int) -> Draw:
    """Returns the draw of all lineups that may meet, in all orders."""
    matchmaking = settings.matchmaking
    if matchmaking.format == "swiss":
        raise ConfigError(
            "who meets whom in a Swiss tournament depends on the results, so its expectations are "
            "not exact"
        )
    heroes = [each.number for each in entrants if each.name == matchmaking.hero]
    fill = "distinct" if matchmaking.format == "random" else matchmaking.fill
    pairing = Pairing(fill=fill, hero=next(iter(heroes), None), orders=ALL)
    field = [each.number for each in entrants if each.out is None]
    return draws(pairing, [field], seats)[0]


def _lineups(draw: Draw) -> np.ndarray:
    """Returns the lineups of a draw whose members fill the slots in turn, [L, P]."""
    slots = draw.rows
    if draw.orders is not None:
        slots = np.take_along_axis(slots, draw.orders, axis=1)
    return np.concatenate(draw.groups).astype(np.int64)[slots]


def _player(entrant: Entrant, seats: int, rules: Rules, trust: bool) -> Asked:
    player = load_policy(entrant.player, rules.game, seats, rules, trust=trust)
    if searches(player):
        raise ConfigError(f"{entrant.name} searches, which takes too long for every position")
    return cast(Asked, in_play(player, entrant.play))
