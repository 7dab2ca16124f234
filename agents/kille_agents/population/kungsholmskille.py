"""Bots for Kungsholmskille.

A pot is knocked for, stayed for and shown for; so people differ in what they dare with which hand.
There is no written advice: these are habits that a sentence can describe.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from kille_agents.population.bot import HELD_OUT, TRAIN, Bot, noisy_bots
from kille_agents.population.habits import Habit, Seen, always, by_habit
from kille_agents.population.trick_habits import (
    SKITKORT,
    exchange_from,
    exchange_nothing,
    lowest,
    play_cards,
)
from kille_agents.rules_of_thumb.kille_hands import ranks
from kille_agents.rules_of_thumb.kungsholmskille import (
    KNOCK,
    STAY,
    KungsholmskilleRuleOfThumb,
    chance_of_lowest,
    strength_of,
)
from kille_env.cards.pack import KILLE_PACK

LILJA_6 = KILLE_PACK.codes.index("L6")
TIGHT, LOOSE = 3.0, -3.0  # ranks of strength that they want more than the rule of thumb, or less
TIGHT_SHOW, LOOSE_SHOW = 0.85, 0.4  # how likely the last card has to be the lowest


def knock_with(bar: float) -> Habit:
    """Returns the habit of knocking with a hand so strong."""
    return lambda seen: seen.wishes(knock=strength_of(ranks(seen["hand"])) - bar)


def stay_with(bar: float) -> Habit:
    """Returns the habit of staying with a hand so strong."""
    return lambda seen: seen.wishes(stay=strength_of(ranks(seen["hand"])) - bar)


def show_when(sure: float) -> Habit:
    """Returns the habit of showing a card that is the lowest so likely."""
    return lambda seen: seen.wishes(show=chance_of_lowest(seen, ranks(seen["hand"])) - sure)


def with_skitkort(action: str) -> Habit:
    """Returns the habit of doing something when the lowest card is a skitkort, and only then."""
    return lambda seen: seen.wishes(**{action: np.where(lowest(seen) <= SKITKORT, 1.0, -1.0)})


def stay_as_before(seen: Seen) -> np.ndarray:
    """Folds when its right neighbour has folded, else stays."""
    return seen.wishes(stay=np.where(seen["in_play"][:, -1] != 0, 1.0, -1.0))


def unless_heard(heard: str, action: str, habit: Habit) -> Habit:
    """Returns a habit that gives way once another seat has said bud."""

    def quiet(seen: Seen) -> np.ndarray:
        wishes = habit(seen)
        wishes[seen[heard][:, 1:].any(axis=1), seen.action[action]] = -1.0
        return wishes

    return quiet


def with_company(most: int) -> Callable[[Seen], np.ndarray]:
    """Returns the habit of staying where few others are in: with at most so many."""

    def habit(seen: Seen) -> np.ndarray:
        others = seen["in_play"][:, 1:].sum(axis=1, dtype=np.int64)
        return seen.wishes(stay=np.where(others <= most, 1.0, -1.0))

    return habit


_KNOCKS, _BUDS = always(knock=1.0), always(bud=1.0)


made = partial(by_habit, KungsholmskilleRuleOfThumb)
"""Makes a bot that plays by habits, and otherwise like the rule of thumb."""

BOTS = (
    Bot(
        "kungsholmskille/maniac",
        HELD_OUT,
        "knocks, stays and shows with whatever it holds",
        made(bud1=_KNOCKS, fold=always(stay=1.0), bud2=_KNOCKS, show=always(show=1.0)),
    ),
    Bot(
        "kungsholmskille/coward",
        TRAIN,
        "says bud to everything and folds when another knocks",
        made(bud1=_BUDS, fold=always(fold=1.0), bud2=_BUDS, show=_BUDS),
    ),
    Bot(
        "kungsholmskille/tight",
        HELD_OUT,
        "the rule of thumb, but wants more strength to knock and stay, and more certainty to show",
        made(
            bud1=knock_with(KNOCK + TIGHT),
            fold=stay_with(STAY + TIGHT),
            bud2=knock_with(KNOCK + TIGHT),
            show=show_when(TIGHT_SHOW),
        ),
    ),
    Bot(
        "kungsholmskille/loose",
        TRAIN,
        "the rule of thumb, but knocks, stays and shows with less",
        made(
            bud1=knock_with(KNOCK + LOOSE),
            fold=stay_with(STAY + LOOSE),
            bud2=knock_with(KNOCK + LOOSE),
            show=show_when(LOOSE_SHOW),
        ),
    ),
    Bot(
        "kungsholmskille/skitkort",
        HELD_OUT,
        "knocks, stays and shows with a skitkort (blaren, blompottan, kransen), never without",
        made(
            bud1=with_skitkort("knock"),
            fold=with_skitkort("stay"),
            bud2=with_skitkort("knock"),
            show=with_skitkort("show"),
        ),
    ),
    Bot(
        "kungsholmskille/hoarder",
        TRAIN,
        "wants low cards only: exchanges lilja 6 and higher, leads low, heads high",
        made(exchange=exchange_from(LILJA_6), play=play_cards(lead=-1, follow=1)),
    ),
    Bot(
        "kungsholmskille/pat",
        HELD_OUT,
        "the rule of thumb, but never exchanges a card",
        made(exchange=exchange_nothing),
    ),
    Bot(
        "kungsholmskille/low_leader",
        TRAIN,
        "the rule of thumb, but leads its lowest card and heads with its highest",
        made(play=play_cards(lead=-1, follow=1)),
    ),
    Bot(
        "kungsholmskille/waiter",
        HELD_OUT,
        "the rule of thumb, but never knocks itself: it stays, and shows",
        made(bud1=_BUDS, bud2=_BUDS),
    ),
    Bot(
        "kungsholmskille/copycat",
        TRAIN,
        "says bud when another has said bud and folds when its right neighbour has folded; else "
        "the rule of thumb, and stays",
        made(
            bud1=unless_heard("said_bud", "knock", knock_with(KNOCK)),
            fold=stay_as_before,
            bud2=unless_heard("said_bud_again", "knock", knock_with(KNOCK)),
            show=unless_heard("said_bud_last", "show", show_when(0.6)),
        ),
    ),
    Bot(
        "kungsholmskille/few",
        HELD_OUT,
        "the rule of thumb, but stays only where at most one other is in, with whatever it holds",
        made(fold=with_company(1)),
    ),
    Bot(
        "kungsholmskille/bluffer",
        TRAIN,
        "knocks with whatever it holds before the exchange; the rule of thumb from then on",
        made(bud1=_KNOCKS),
    ),
    *noisy_bots(KungsholmskilleRuleOfThumb, tipsy=HELD_OUT, drunk=TRAIN),
)
"""All bots, in the order of the docs."""
