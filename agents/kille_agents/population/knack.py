"""Bots for Knack.

Joining is the game: a seat that takes no trick sets a bet. People join with a hand that is good
enough, with the right card, or because the others do; and some play high cards whatever they have
won.
"""

from functools import partial

import numpy as np

from kille_agents.population.bot import HELD_OUT, TRAIN, Bot, noisy_bots
from kille_agents.population.habits import Habit, Seen, always, by_habit
from kille_agents.rules_of_thumb.knack import (
    ABOVE_SIDE,
    KnackRuleOfThumb,
    bar_to_join,
    missing_above,
    tricks_in_hand,
)
from kille_env.games.knack.table import RANKS

TIGHT, LOOSE = 0.5, -0.4  # tricks in hand that they want more than the rule of thumb, or less
HIGH = 7  # ranks from this up: king and ace
OPENLY, DOWN = "play 6C", "play *6C"


def join_with(more: float) -> Habit:
    """Returns the habit of joining with so much more in hand than the rule of thumb wants."""

    def habit(seen: Seen) -> np.ndarray:
        trumps = np.arange(seen["above"].shape[1]) // RANKS == seen["trump"].argmax(axis=1)[:, None]
        in_hand = tricks_in_hand(seen, missing_above(seen), trumps)
        return seen.wishes(knock=in_hand - bar_to_join(seen, seen.num_players) - more)

    return habit


def join_high_trump(seen: Seen) -> np.ndarray:
    """Joins with the ace or king of trumps only."""
    return _joins(seen, seen["trumps"][:, HIGH:].any(axis=1))


def join_any_trump(seen: Seen) -> np.ndarray:
    """Joins with any trump."""
    return _joins(seen, seen["trumps"].any(axis=1))


def join_ace(seen: Seen) -> np.ndarray:
    """Joins with an ace, of whatever suit."""
    return _joins(seen, seen["hand"][:, RANKS - 1 :: RANKS].any(axis=1))


def join_as_before(seen: Seen) -> np.ndarray:
    """Does as its right neighbour did; as the first to speak it joins like the rule of thumb."""
    first = seen["to_speak"][:, -1] != 0
    joined = np.where(seen["joined"][:, -1] != 0, 1.0, -1.0)
    usual = join_with(0.0)(seen)[:, seen.action["knock"]]
    return seen.wishes(knock=np.where(first, usual, joined))


def join_first(seen: Seen) -> np.ndarray:
    """Joins when no seat has, and not when one has."""
    return _joins(seen, ~seen["joined"].any(axis=1))


def _joins(seen: Seen, yes: np.ndarray | np.bool_) -> np.ndarray:
    return seen.wishes(knock=np.where(yes, 1.0, -1.0))


def play_by_worth(lead: int, follow: int) -> Habit:
    """Returns the habit of leading and following with the highest cards (1) or the lowest (-1)."""

    def habit(seen: Seen) -> np.ndarray:
        leads = seen["led"].sum(axis=1) == 0
        return _by_worth(seen, np.where(leads, lead, follow))

    return habit


def one_is_enough(seen: Seen) -> np.ndarray:
    """Plays its highest cards until it has a trick, then its lowest."""
    return _by_worth(seen, np.where(seen["tricks"][:, 0] != 0, -1, 1))


def _by_worth(seen: Seen, sign: np.ndarray) -> np.ndarray:
    """Wishes for the highest cards or the lowest; a trump is above all others."""
    first, down = seen.action[OPENLY], seen.action[DOWN]
    cards = np.arange(down - first)
    trumps = cards // RANKS == seen["trump"].argmax(axis=1)[:, None]
    worth = sign[:, None] * (cards % RANKS + ABOVE_SIDE * trumps)
    wishes = np.zeros(seen.legal.shape)
    wishes[:, first:down], wishes[:, down:] = worth, worth
    return wishes


made = partial(by_habit, KnackRuleOfThumb)
"""Makes a bot that plays by habits, and otherwise like the rule of thumb."""

BOTS = (
    Bot("knack/maniac", HELD_OUT, "joins with whatever it holds", made(join=always(knock=1.0))),
    Bot(
        "knack/coward",
        TRAIN,
        "joins with the ace or king of trumps only",
        made(join=join_high_trump),
    ),
    Bot(
        "knack/tight",
        HELD_OUT,
        "the rule of thumb, but wants half a trick more in hand to join",
        made(join=join_with(TIGHT)),
    ),
    Bot(
        "knack/loose",
        TRAIN,
        "the rule of thumb, but joins with 0.4 tricks less in hand",
        made(join=join_with(LOOSE)),
    ),
    Bot("knack/any_trump", HELD_OUT, "joins with any trump", made(join=join_any_trump)),
    Bot("knack/ace", TRAIN, "joins with an ace, of whatever suit", made(join=join_ace)),
    Bot(
        "knack/enough",
        HELD_OUT,
        "the rule of thumb to join; plays its highest cards until it has a trick, then its lowest",
        made(play=one_is_enough),
    ),
    Bot(
        "knack/low_leader",
        TRAIN,
        "the rule of thumb to join; leads its lowest card and follows with its highest",
        made(play=play_by_worth(-1, 1)),
    ),
    Bot(
        "knack/hurry",
        HELD_OUT,
        "the rule of thumb to join; plays its highest card, trumps first, even when it is the last",
        made(play=play_by_worth(1, 1)),
    ),
    Bot(
        "knack/saver",
        TRAIN,
        "the rule of thumb to join; leads its highest card and follows with its lowest",
        made(play=play_by_worth(1, -1)),
    ),
    Bot(
        "knack/copycat",
        HELD_OUT,
        "joins when its right neighbour has joined; the first to speak joins like "
        "the rule of thumb",
        made(join=join_as_before),
    ),
    Bot(
        "knack/lone_wolf",
        TRAIN,
        "joins when no seat has joined before it, with whatever it holds, and else never",
        made(join=join_first),
    ),
    *noisy_bots(KnackRuleOfThumb, tipsy=HELD_OUT, drunk=TRAIN),
)
"""All bots, in the order of the docs."""
