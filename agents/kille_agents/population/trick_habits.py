"""Habits with Kille cards that several trick games share: what is discarded, led and played."""

from collections.abc import Callable

import numpy as np

from kille_agents.population.habits import Habit, Seen
from kille_agents.rules_of_thumb.kille_hands import ranks, worth_of_discards, worth_of_sets
from kille_env.tricktaking.tricks import HAND, SIZES, TYPES

SKITKORT = 2  # the highest type of the three lowest, kransen
LAST_PLAY = "play KI"
FAR_WORSE = TYPES * TYPES * HAND  # than any discard differs from another in worth


def play_cards(lead: int = 1, follow: int = -1) -> Habit:
    """Returns the habit of playing high or low cards.

    Args:
        lead: 1 leads the highest card, -1 the lowest.
        follow: 1 heads with the highest card that does, -1 with the lowest.
    """

    def habit(seen: Seen) -> np.ndarray:
        leads = seen["highest"].sum(axis=1) == 0
        wishes = np.zeros(seen.legal.shape)
        wishes[:, _plays(seen)] = np.where(leads[:, None], lead, follow) * np.arange(TYPES)
        return wishes

    return habit


def lead_cards(sign: int) -> Habit:
    """Returns the habit of leading the highest card (1) or the lowest one (-1)."""

    def habit(seen: Seen) -> np.ndarray:
        wishes = np.zeros(seen.legal.shape)
        wishes[:, _plays(seen)] = sign * np.arange(TYPES)
        return wishes

    return habit


def exchange_below(kept_from: int) -> Habit:
    """Returns the habit of keeping one lowest card and what ranks `kept_from` or higher."""

    def habit(seen: Seen) -> np.ndarray:
        return _discards(
            seen, lambda number: worth_of_discards(ranks(seen["hand"]), kept_from, number)
        )

    return habit


def exchange_nothing(seen: Seen) -> np.ndarray:
    """The habit of standing pat."""
    return seen.wishes(discard=1.0)


def exchange_from(lowest_thrown: int) -> Habit:
    """Returns the habit of discarding whatever ranks so high or higher, the highest first."""

    def habit(seen: Seen) -> np.ndarray:
        worth = ranks(seen["hand"]) - lowest_thrown + 1
        return _discards(
            seen, lambda number: worth_of_sets(np.where(worth > 0, worth, -TYPES), number)
        )

    return habit


def exchange_as_many(kept_from: int) -> Habit:
    """Returns the habit of exchanging as many cards as the seat before it.

    Args:
        kept_from: What it exchanges when no seat has before it, as for `exchange_below`; and which
            cards it picks.
    """

    def habit(seen: Seen) -> np.ndarray:
        steps = seen.before("in_play")
        many = np.where(steps > 0, seen.of_seat("exchanged", steps).astype(np.int64) - 1, -1)
        held = ranks(seen["hand"])

        def worth(number: int) -> np.ndarray:
            others = (many[:, None] >= 0) & (SIZES[:number] != many[:, None])
            return worth_of_discards(held, kept_from, number) - FAR_WORSE * others

        return _discards(seen, worth)

    return habit


def lowest(seen: Seen) -> np.ndarray:
    """Returns the rank of the lowest card in hand, [n]."""
    return ranks(seen["hand"])[:, 0]


def _plays(seen: Seen) -> slice:
    last = seen.action[LAST_PLAY]
    return slice(last + 1 - TYPES, last + 1)


def _discards(seen: Seen, worth: Callable[[int], np.ndarray]) -> np.ndarray:
    """Wishes for the discards, by what each of the first `number` of them is worth."""
    first, last = seen.action["discard"], seen.action["play BL"]
    wishes = np.zeros(seen.legal.shape)
    wishes[:, first:last] = worth(last - first)
    return wishes
