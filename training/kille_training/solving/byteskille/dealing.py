"""Ways to deal a pack of types of cards, of which two copies each look and rank alike."""

import math
from collections.abc import Sequence

import numpy as np

from kille_env.cards.pack import KILLE_CODES, Kind
from kille_env.errors import CardError
from kille_env.registry import load_game

TYPES = len(KILLE_CODES)
LEFT_IN_TALON = 2  # cards that are drawn and kept, at most: a player's and the dealer's


def count_cards(cards: Sequence[str] | None, num_players: int) -> np.ndarray:
    """Returns how many cards of each type there are."""
    if cards is None:
        return np.full(TYPES, 2)
    stacked, _ = load_game("byteskille").spec.stack(list(cards))
    pack = np.bincount(stacked[: len(cards)] >> 1, minlength=TYPES)
    staying, needed = int(pack.sum() - pack[Kind.VH] - pack[Kind.KA]), num_players + LEFT_IN_TALON
    if staying < needed:
        raise CardError(
            f"{len(cards)} cards, {staying} without inns and cavaliers, are too few for "
            f"{num_players} players and the talon; expected at least {needed} without"
        )
    return pack


def deal_types(pack: np.ndarray, num_players: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns all ways to deal types: cards [D, P] from forehand on, and chances [D].

    The first card of a type that is dealt is its copy 0.
    """
    cards, chances = np.zeros((1, 0), dtype=np.int8), np.ones(1)
    for dealt in range(num_players):
        used = ((cards >> 1)[:, :, None] == np.arange(TYPES)).sum(axis=1)
        left = pack - used
        number, kind = np.nonzero(left > 0)
        chances = chances[number] * left[number, kind] / (pack.sum() - dealt)
        card = 2 * kind + used[number, kind]
        cards = np.column_stack([cards[number], card]).astype(np.int8)
    return cards, chances


def count_deals(pack: np.ndarray, num_players: int) -> int:
    """Returns the number of ways to deal types."""
    ways = [1.0] + [0.0] * num_players  # to k seats with the types so far, divided by k!
    for count in pack:
        ways = [
            sum(ways[k - j] / math.factorial(j) for j in range(min(int(count), k) + 1))
            for k in range(num_players + 1)
        ]
    return round(ways[num_players] * math.factorial(num_players))


def sample_deals(pack: np.ndarray, num_players: int, number: int) -> np.ndarray:
    """Samples deals, [N, P]; all types that are left are equally likely."""
    rng = np.random.default_rng(0)
    used = np.zeros((number, TYPES), dtype=np.int64)
    each, cards = np.arange(number), []
    for _ in range(num_players):
        kind = (rng.random((number, TYPES)) * (used < pack)).argmax(axis=1)
        cards.append(2 * kind + used[each, kind])
        used[each, kind] += 1
    return np.column_stack(cards).astype(np.int8)
