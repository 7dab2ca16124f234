"""Bots for Kungsholmskille.

A pot is knocked for, stayed for and shown for; so people differ in what they dare with which hand.
There is no written advice: these are habits that a sentence can describe.
"""

import numpy as np

from kille_agents.population.bot import bots_of, held_out, train
from kille_agents.rules_of_thumb.habits import Habit, Seen, always, do_if
from kille_agents.rules_of_thumb.kille_hands import (
    LILJA_6,
    exchange_from,
    has_skitkort,
    play_cards,
)
from kille_agents.rules_of_thumb.kungsholmskille import (
    KNOCK,
    SHOW,
    STAY,
    KungsholmskilleRuleOfThumb,
    knock_with,
    show_when,
    stay_with,
)

TIGHT, LOOSE = 3.0, -3.0  # ranks of strength that they want more than the rule of thumb, or less
TIGHT_SHOW, LOOSE_SHOW = 0.85, 0.4  # how likely the last card has to be the lowest


def unless_heard(heard: str, action: str, habit: Habit) -> Habit:
    """Return a habit that gives way once another seat has said bud."""

    def quiet(seen: Seen) -> np.ndarray:
        wishes = habit(seen)
        wishes[seen[heard][:, 1:].any(axis=1), seen.action[action]] = -1.0
        return wishes

    return quiet


BOTS = bots_of(
    KungsholmskilleRuleOfThumb,
    maniac=held_out(
        "knocks, stays and shows with whatever it holds",
        bud1=always("knock"),
        fold=always("stay"),
        bud2=always("knock"),
        show=always("show"),
    ),
    coward=train(
        "says bud to everything and folds when another knocks",
        bud1=always("bud"),
        fold=always("fold"),
        bud2=always("bud"),
        show=always("bud"),
    ),
    tight=held_out(
        "the rule of thumb, but wants more strength to knock and stay, and more certainty to show",
        bud1=knock_with(KNOCK + TIGHT),
        fold=stay_with(STAY + TIGHT),
        bud2=knock_with(KNOCK + TIGHT),
        show=show_when(TIGHT_SHOW),
    ),
    loose=train(
        "the rule of thumb, but knocks, stays and shows with less",
        bud1=knock_with(KNOCK + LOOSE),
        fold=stay_with(STAY + LOOSE),
        bud2=knock_with(KNOCK + LOOSE),
        show=show_when(LOOSE_SHOW),
    ),
    skitkort=held_out(
        "knocks, stays and shows with a skitkort (blaren, blompottan, kransen), never without",
        bud1=do_if("knock", has_skitkort),
        fold=do_if("stay", has_skitkort),
        bud2=do_if("knock", has_skitkort),
        show=do_if("show", has_skitkort),
    ),
    hoarder=train(
        "wants low cards only: exchanges lilja 6 and higher, leads low, heads high",
        exchange=exchange_from(LILJA_6),
        play=play_cards(lead=-1, follow=1),
    ),
    pat=held_out("the rule of thumb, but never exchanges a card", exchange=always("discard")),
    low_leader=train(
        "the rule of thumb, but leads its lowest card and heads with its highest",
        play=play_cards(lead=-1, follow=1),
    ),
    waiter=held_out(
        "the rule of thumb, but never knocks itself: it stays, and shows",
        bud1=always("bud"),
        bud2=always("bud"),
    ),
    copycat=train(
        "says bud when another has said bud and folds when its right neighbor has folded; else "
        "the rule of thumb, and stays",
        bud1=unless_heard("said_bud", "knock", knock_with(KNOCK)),
        fold=do_if("stay", lambda seen: seen["in_play"][:, -1] != 0),
        bud2=unless_heard("said_bud_again", "knock", knock_with(KNOCK)),
        show=unless_heard("said_bud_last", "show", show_when(SHOW)),
    ),
    few=held_out(
        "the rule of thumb, but stays only where at most one other is in, with whatever it holds",
        fold=do_if("stay", lambda seen: np.count_nonzero(seen["in_play"][:, 1:], axis=1) <= 1),
    ),
    bluffer=train(
        "knocks with whatever it holds before the exchange; the rule of thumb from then on",
        bud1=always("knock"),
    ),
    tipsy=held_out("the rule of thumb, but every fifth decision is anything legal", noise=0.2),
    drunk=train("the rule of thumb, but every second decision is anything legal", noise=0.5),
)
"""All bots, in the order of the docs."""
