"""Hands of Kille cards in the trick games: how they are read, exchanged and played."""

import numpy as np

from kille_agents.rules_of_thumb.habits import Habit, Seen
from kille_env.cards.pack import KILLE_PACK, TYPES
from kille_env.core.jit import kernel
from kille_env.tricktaking.tricks import HAND, SIZES, SLOTS

SKITKORT = KILLE_PACK.codes.index("KR")  # the highest of the three lowest
LILJA_6 = KILLE_PACK.codes.index("L6")
FAR_WORSE = TYPES * TYPES * HAND  # than any discard differs from another in worth


def ranks(seen: Seen) -> np.ndarray:
    """Return the ranks of hands from the lowest up, [n, 5], -1 behind the last card."""
    cards = seen["hand"].reshape(-1, HAND, TYPES)
    return np.where(cards.any(axis=2), cards.argmax(axis=2), -1)


def lowest(seen: Seen) -> np.ndarray:
    """Return the rank of the lowest card in hand, [n]."""
    return ranks(seen)[:, 0]


def has_skitkort(seen: Seen) -> np.ndarray:
    """Return whether the lowest card is a skitkort, [n] bool."""
    return lowest(seen) <= SKITKORT


def play_cards(lead: int, follow: int) -> Habit:
    """Return the habit of playing high or low cards."""

    def habit(seen: Seen) -> np.ndarray:
        leads = seen["highest"].sum(axis=1) == 0
        sign = np.where(leads, lead, follow)
        return seen.wishes_from("play BL", sign[:, None] * np.arange(TYPES))

    return habit


def lead_cards(sign: int) -> Habit:
    """Return the habit of leading the highest card (1) or the lowest one (-1)."""
    return lambda seen: seen.wishes_from("play BL", sign * np.arange(TYPES))


def exchange_below(kept_from: int) -> Habit:
    """Return the habit of keeping the lowest card and cards of rank `kept_from` or higher.

    What is neither goes, the lowest of it first. Of two lowest cards both stay: one can be given up
    to a trick, and no other seat can have an equal card.
    """
    return lambda seen: _discards(seen, _worth_below(seen, kept_from))


def exchange_from(lowest_thrown: int) -> Habit:
    """Return the habit of discarding cards of this rank or higher, the highest first."""

    def habit(seen: Seen) -> np.ndarray:
        worth = ranks(seen) - lowest_thrown + 1
        return _discards(seen, np.where(worth > 0, worth, -TYPES))

    return habit


def exchange_as_many(kept_from: int) -> Habit:
    """Return the habit of exchanging as many cards as the seat before it."""

    def habit(seen: Seen) -> np.ndarray:
        steps = seen.before("in_play")
        many = np.where(steps > 0, seen.of_seat("exchanged", steps).astype(np.int64) - 1, -1)
        others = (many[:, None] >= 0) & (many[:, None] != SIZES)
        return _discards(seen, _worth_below(seen, kept_from), FAR_WORSE * others)

    return habit


def _worth_below(seen: Seen, kept_from: int) -> np.ndarray:
    """Return how much each card is to go, [n, 5]; see `exchange_below`."""
    held = ranks(seen)
    goes = (held > held[:, :1]) & (held < kept_from)
    return np.where(goes, kept_from - held, -TYPES)


def _discards(seen: Seen, worth: np.ndarray, less: np.ndarray | int = 0) -> np.ndarray:
    """Return wishes for the discards: the sums of the worths of their cards [n, 5]."""
    # `less` [n, 32] is taken off each discard.
    sets = (SLOTS[:, None] >> np.arange(HAND)) & 1
    number = seen.action["play BL"] - seen.action["discard"]
    return seen.wishes_from("discard", (worth @ sets.T - less)[:, :number])


# For kernels


@kernel
def rank(seen, hand, slot):
    """Return the rank of a card of a hand from the lowest up, -1 behind the last card."""
    first = hand + slot * TYPES
    for kind in range(TYPES):
        if seen[first + kind]:
            return kind
    return -1


@kernel
def card_by_rank(mask, first, sign):
    """Return the highest card (`sign` 1) or the lowest (-1); cards are actions from `first`."""
    best, most = -1, -np.inf
    for action in range(mask.shape[0]):
        worth = sign * (action - first) if first <= action < first + TYPES else 0
        if mask[action] and worth > most:
            best, most = action, float(worth)
    return best


@kernel
def follow_low_lead_high(seen, mask, highest, first, lead):
    """Return the lowest card that follows; `lead` is the sign for a card that is led."""
    for kind in range(TYPES):
        if seen[highest + kind]:
            return card_by_rank(mask, first, -1)
    return card_by_rank(mask, first, lead)


@kernel
def worth_of_slot(seen, hand, slot, kept_from):
    """Return how much a card is to go, as in `exchange_below`."""
    held = rank(seen, hand, slot)
    if held > rank(seen, hand, 0) and held < kept_from:
        return kept_from - held
    return -TYPES


@kernel
def exchange(seen, mask, hand, first, last, kept_from):
    """Return the discard of `exchange_below`; discards are actions `first` to `last`."""
    # A set of cards is worth the sum of its cards, so the best one has all that are to go.
    goes = 0
    for slot in range(HAND):
        if worth_of_slot(seen, hand, slot, kept_from) > 0:
            goes |= 1 << slot
    best, most = -1, -np.inf
    for action in range(mask.shape[0]):
        if not mask[action]:
            continue
        worth = 0
        if first <= action < last:
            if SLOTS[action - first] == goes:
                return action
            for slot in range(HAND):
                if (SLOTS[action - first] >> slot) & 1:
                    worth += worth_of_slot(seen, hand, slot, kept_from)
        if worth > most:
            best, most = action, float(worth)
    return best
