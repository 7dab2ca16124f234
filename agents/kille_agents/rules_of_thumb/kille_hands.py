"""Reading hands of Kille cards from observations of the trick games, many at once."""

import numpy as np

from kille_env.tricktaking.tricks import HAND, SLOTS, TYPES


def ranks(hand: np.ndarray) -> np.ndarray:
    """Returns the ranks of hands from the lowest up, [N, 5], -1 behind the last card.

    Args:
        hand: The part "hand" of an observation, [N, 105].
    """
    cards = hand.reshape(-1, HAND, TYPES)
    return np.where(cards.any(axis=2), cards.argmax(axis=2), -1)


def chance_of_higher(
    rank: np.ndarray, seen: np.ndarray, at_least: np.ndarray, below: np.ndarray
) -> np.ndarray:
    """Returns how likely a card of each other player is strictly higher than a rank.

    Every unseen card that fits what is known of a player is taken to be equally likely.

    Args:
        rank: [N] the rank.
        seen: [N, 21] how many cards of each type have been seen.
        at_least: [N, P] no card of theirs is lower than this type.
        below: [N, P] all of their cards are lower than this type.

    Returns:
        [N, P]; 1 where nothing fits.
    """
    kinds = np.arange(TYPES)
    unseen = (2 - seen.astype(np.int64))[:, None, :]
    fits = (kinds >= at_least[:, :, None]) & (kinds < below[:, :, None])
    possible = (unseen * fits).sum(axis=2)
    higher = (unseen * (fits & (kinds > rank[:, None, None]))).sum(axis=2)
    return np.where(possible > 0, higher / np.maximum(possible, 1), 1.0)


def worth_of_discards(held: np.ndarray, kept_from: int, number: int) -> np.ndarray:
    """Returns how much each of the first discards is worth, [N, D]: more for each low card in it.

    The lowest card and whatever ranks `kept_from` or higher stays. Of two lowest ones both do: one
    can be given up to a trick, and no other seat can have an equal card.

    Args:
        held: [N, 5] ranks from the lowest up, as `ranks` returns them.
        kept_from: Lowest rank that is kept beside the lowest card.
        number: D.
    """
    goes = (held > held[:, :1]) & (held < kept_from)
    return worth_of_sets(np.where(goes, kept_from - held, -TYPES), number)


def worth_of_sets(worth: np.ndarray, number: int) -> np.ndarray:
    """Returns how much each of the first discards is worth, [N, D]: the sum of its cards.

    Args:
        worth: [N, 5] how much each card is to go, from the lowest card up.
        number: D.
    """
    return worth @ ((SLOTS[:number, None] >> np.arange(HAND)) & 1).T
