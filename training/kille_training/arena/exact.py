"""Exact expected earnings of entrants over the lineups that were played.

Where the tree of a deal fits into memory and all players return probabilities, nothing has to be
sampled; the measured earnings have to agree with the exact ones.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from kille_agents.catalog import load_policy
from kille_agents.greedy import in_play
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.policy import Policy, Searcher
from kille_training.arena.settings import TournamentSettings
from kille_training.arena.store import KeptEntrant
from kille_training.evaluation.exact import exact_scores, why_not
from kille_training.solving.byteskille.deals import build_deal
from kille_training.statistics.observations import Observations


def exact_units(
    found: Observations,
    entrants: Sequence[KeptEntrant],
    settings: TournamentSettings,
    *,
    trust: bool = False,
) -> np.ndarray:
    """Returns what each entrant is expected to earn per deal, in the lineups that were played.

    Args:
        found: What was played at tables of one size; lineups count as often as they played.
        entrants: [E] all entrants, by number.
        settings: The tournament's.
        trust: Whether model files that can run code may be loaded.

    Returns:
        [E] units per deal; NaN for entrants that have not played there.

    Raises:
        ConfigError: There is no exact expectation; the message says why.
    """
    rules = settings.table.resolve()
    seats = found.seats
    if why := why_not(seats, rules):
        raise ConfigError(why)
    if settings.table.orders != 1:
        raise ConfigError("exact expectations are of tournaments with one order round the table")
    lineups, weights = np.unique(found.members, axis=0, return_counts=True)
    present = np.unique(lineups)
    players = [_player(entrants[number], seats, rules, trust) for number in present.tolist()]
    scores = exact_scores(np.searchsorted(present, lineups), players, build_deal(seats, rules))
    total, count = np.zeros(len(entrants)), np.zeros(len(entrants))
    for lineup, weight, row in zip(lineups, weights, scores, strict=True):
        for number in np.unique(lineup):
            total[number] += weight * row[lineup == number].mean()
            count[number] += weight
    with np.errstate(invalid="ignore"):
        return total / count


def _player(entrant: KeptEntrant, seats: int, rules: Rules, trust: bool) -> Policy:
    player = load_policy(entrant.player, rules.game, seats, rules, trust=trust)
    if isinstance(player, Searcher):
        raise ConfigError(f"{entrant.name} searches, which takes too long for every position")
    return cast(Policy, in_play(player, entrant.play))
