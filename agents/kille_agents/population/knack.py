"""Bots for Knack.

Joining is the game: a seat that takes no trick sets a bet. People join with a hand that is good
enough, with the right card, or because the others do; and some play high cards whatever they have
won.
"""

import numpy as np

from kille_agents.population.bot import bots_of, held_out, train
from kille_agents.rules_of_thumb.habits import Habit, Seen, always, do_if
from kille_agents.rules_of_thumb.knack import KnackRuleOfThumb, join_with, leads, worth_of_cards
from kille_env.games.knack.rules import RANKS

TIGHT, LOOSE = 0.5, -0.4  # tricks in hand that they want more than the rule of thumb, or less
HIGH = 7  # ranks from this up: king and ace


def join_as_before(seen: Seen) -> np.ndarray:
    """Do as the right neighbor did; join like the rule of thumb as the first to speak."""
    wishes = join_with(0.0)(seen)
    spoken = seen["to_speak"][:, -1] == 0
    joined = np.where(seen["joined"][spoken, -1] != 0, 1.0, -1.0)
    wishes[spoken, seen.action["knock"]] = joined
    return wishes


def play_by_worth(lead: int, follow: int) -> Habit:
    """Return the habit of leading and following with the highest cards (1) or the lowest (-1)."""
    return lambda seen: _by_worth(seen, np.where(leads(seen), lead, follow))


def one_is_enough(seen: Seen) -> np.ndarray:
    """Play its highest cards until it has a trick, then its lowest."""
    return _by_worth(seen, np.where(seen["tricks"][:, 0] != 0, -1, 1))


def _by_worth(seen: Seen, sign: np.ndarray) -> np.ndarray:
    """Return wishes for the highest cards (1) or the lowest (-1), openly or face down."""
    worth = sign[:, None] * worth_of_cards(seen)
    return seen.wishes_from("play 6C", np.hstack([worth, worth]))


BOTS = bots_of(
    KnackRuleOfThumb,
    maniac=held_out("joins with whatever it holds", join=always("knock")),
    coward=train(
        "joins with the ace or king of trumps only",
        join=do_if("knock", lambda seen: seen["trumps"][:, HIGH:].any(axis=1)),
    ),
    tight=held_out(
        "the rule of thumb, but wants half a trick more in hand to join",
        join=join_with(TIGHT),
    ),
    loose=train("the rule of thumb, but joins with 0.4 tricks less in hand", join=join_with(LOOSE)),
    any_trump=held_out(
        "joins with any trump",
        join=do_if("knock", lambda seen: seen["trumps"].any(axis=1)),
    ),
    ace=train(
        "joins with an ace, of whatever suit",
        join=do_if("knock", lambda seen: seen["hand"][:, RANKS - 1 :: RANKS].any(axis=1)),
    ),
    enough=held_out(
        "the rule of thumb to join; plays its highest cards until it has a trick, then its lowest",
        play=one_is_enough,
    ),
    low_leader=train(
        "the rule of thumb to join; leads its lowest card and follows with its highest",
        play=play_by_worth(-1, 1),
    ),
    hurry=held_out(
        "the rule of thumb to join; plays its highest card, trumps first, even when it is the last",
        play=play_by_worth(1, 1),
    ),
    saver=train(
        "the rule of thumb to join; leads its highest card and follows with its lowest",
        play=play_by_worth(1, -1),
    ),
    copycat=held_out(
        "joins when its right neighbor has joined; the first to speak joins like the rule of thumb",
        join=join_as_before,
    ),
    lone_wolf=train(
        "joins when no seat has joined before it, with whatever it holds, and else never",
        join=do_if("knock", lambda seen: ~seen["joined"].any(axis=1)),
    ),
    tipsy=held_out("the rule of thumb, but every fifth decision is anything legal", noise=0.2),
    drunk=train("the rule of thumb, but every second decision is anything legal", noise=0.5),
)
"""All bots, in the order of the docs."""
