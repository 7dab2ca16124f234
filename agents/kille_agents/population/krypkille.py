"""Bots for Krypkille.

A hand is decided by what is discarded, what is led and who declares; the rest is forced. The habits
are those of people who fear the kille (50 points under the preset `reconstructed`), who trust a low
card whatever the tricks have shown, or who never say a word.
"""

from functools import partial

import numpy as np

from kille_agents.population.bot import HELD_OUT, TRAIN, Bot, noisy_bots
from kille_agents.population.habits import Habit, Seen, always, by_habit
from kille_agents.population.trick_habits import (
    SKITKORT,
    exchange_as_many,
    exchange_below,
    exchange_from,
    exchange_nothing,
    lead_cards,
    lowest,
)
from kille_agents.rules_of_thumb.kille_hands import ranks
from kille_agents.rules_of_thumb.krypkille import EXCHANGED, KrypkilleRuleOfThumb, chance_of_lowest
from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.tricktaking.tricks import TYPES

LILJA_6 = KILLE_PACK.codes.index("L6")
BOLD, CAREFUL = 0.45, 0.9  # how likely the last card has to be the lowest


def declare_when(sure: float) -> Habit:
    """Returns the habit of declaring a card that is the lowest so likely."""

    def habit(seen: Seen) -> np.ndarray:
        ties = bool(seen.rules["tie_beats_declarer"])
        return seen.wishes(declare=chance_of_lowest(seen, lowest(seen), ties) - sure)

    return habit


def declare_skitkort(seen: Seen) -> np.ndarray:
    """Declares a skitkort and nothing else."""
    return seen.wishes(declare=np.where(lowest(seen) <= SKITKORT, 1.0, -1.0))


def declare_unless_passed(seen: Seen) -> np.ndarray:
    """Declares as the rule of thumb does, unless another has passed."""
    wishes = declare_when(0.7)(seen)
    wishes[seen["passed"][:, 1:].any(axis=1), seen.action["declare"]] = -1.0
    return wishes


def declare_after_pass(seen: Seen) -> np.ndarray:
    """Declares whatever it holds once another has passed; before that a skitkort only."""
    passed = seen["passed"][:, 1:].any(axis=1)
    return seen.wishes(declare=np.where(passed | (lowest(seen) <= SKITKORT), 1.0, -1.0))


def lead_second(seen: Seen) -> np.ndarray:
    """Leads its second highest card and keeps the highest for the next trick."""
    held = np.sort(ranks(seen["hand"]), axis=1)[:, ::-1]
    second = np.where(held[:, 1] >= 0, held[:, 1], held[:, 0])
    wishes = np.zeros(seen.legal.shape)
    first = seen.action["play BL"]
    wishes[np.arange(len(seen)), first + second] = 1.0
    return wishes


made = partial(by_habit, KrypkilleRuleOfThumb)
"""Makes a bot that plays by habits, and otherwise like the rule of thumb."""

BOTS = (
    Bot(
        "krypkille/maniac",
        TRAIN,
        "declares whatever it holds",
        made(guess=always(declare=1.0)),
    ),
    Bot(
        "krypkille/silent",
        HELD_OUT,
        "never declares",
        made(guess=always(**{"pass": 1.0})),
    ),
    Bot(
        "krypkille/careful",
        TRAIN,
        "the rule of thumb, but declares only what is almost certainly the lowest",
        made(guess=declare_when(CAREFUL)),
    ),
    Bot(
        "krypkille/bold",
        HELD_OUT,
        "the rule of thumb, but declares what is the lowest about every second time",
        made(guess=declare_when(BOLD)),
    ),
    Bot(
        "krypkille/skitkort",
        TRAIN,
        "declares a skitkort (blaren, blompottan, kransen), and nothing else",
        made(guess=declare_skitkort),
    ),
    Bot(
        "krypkille/pat",
        HELD_OUT,
        "the rule of thumb, but never discards a card",
        made(discard=exchange_nothing),
    ),
    Bot(
        "krypkille/hoarder",
        TRAIN,
        "wants low cards only: discards lilja 6 and higher, the highest first, and leads low",
        made(discard=exchange_from(LILJA_6), lead=lead_cards(-1)),
    ),
    Bot(
        "krypkille/low_leader",
        HELD_OUT,
        "the rule of thumb, but leads its lowest card",
        made(lead=lead_cards(-1)),
    ),
    Bot(
        "krypkille/burnt",
        TRAIN,
        "fears the kille: discards it, and nothing else",
        made(discard=exchange_from(Kind.KI)),
    ),
    Bot(
        "krypkille/new_cards",
        HELD_OUT,
        "discards as many cards as it may, all but the lowest, the lower ones first",
        made(discard=exchange_below(TYPES)),
    ),
    Bot(
        "krypkille/copycat",
        TRAIN,
        "discards as many cards as the seat before it, and does not declare when another has "
        "passed; else the rule of thumb",
        made(discard=exchange_as_many(EXCHANGED), guess=declare_unless_passed),
    ),
    Bot(
        "krypkille/vulture",
        HELD_OUT,
        "declares whatever it holds once another has passed, before that a skitkort only",
        made(guess=declare_after_pass),
    ),
    Bot(
        "krypkille/second_leader",
        TRAIN,
        "the rule of thumb, but keeps the matadors only beside the lowest card, and leads the "
        "second highest",
        made(discard=exchange_below(EXCHANGED - 3), lead=lead_second),
    ),
    *noisy_bots(KrypkilleRuleOfThumb, tipsy=TRAIN, drunk=HELD_OUT),
)
"""All bots, in the order of the docs."""
