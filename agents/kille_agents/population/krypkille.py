"""Bots for Krypkille.

A hand is decided by what is discarded, what is led and who declares; the rest is forced. The habits
are those of people who fear the kille (50 points under the preset `reconstructed`), who trust a low
card whatever the tricks have shown, or who never say a word.
"""

import numpy as np

from kille_agents.population.bot import bots_of, held_out, train
from kille_agents.rules_of_thumb.habits import Seen, always, do_if
from kille_agents.rules_of_thumb.kille_hands import (
    LILJA_6,
    exchange_as_many,
    exchange_below,
    exchange_from,
    has_skitkort,
    lead_cards,
    ranks,
)
from kille_agents.rules_of_thumb.krypkille import (
    DECLARE,
    EXCHANGED,
    KrypkilleRuleOfThumb,
    chance_of_lowest,
    declare_when,
)
from kille_env.cards.pack import TYPES, Kind

BOLD, CAREFUL = 0.45, 0.9  # how likely the last card has to be the lowest


def another_passed(seen: Seen) -> np.ndarray | np.bool_:
    """Return whether another seat has passed, [n] bool."""
    return seen["passed"][:, 1:].any(axis=1)


def lead_second(seen: Seen) -> np.ndarray:
    """Lead its second highest card and keep the highest for the next trick."""
    held = np.sort(ranks(seen), axis=1)[:, ::-1]
    second = np.where(held[:, 1] >= 0, held[:, 1], held[:, 0])
    return seen.wishes_from("play BL", np.eye(TYPES)[second])


BOTS = bots_of(
    KrypkilleRuleOfThumb,
    maniac=train("declares whatever it holds", guess=always("declare")),
    silent=held_out("never declares", guess=always("pass")),
    careful=train(
        "the rule of thumb, but declares only what is almost certainly the lowest",
        guess=declare_when(CAREFUL),
    ),
    bold=held_out(
        "the rule of thumb, but declares what is the lowest about every second time",
        guess=declare_when(BOLD),
    ),
    skitkort=train(
        "declares a skitkort (blaren, blompottan, kransen), and nothing else",
        guess=do_if("declare", has_skitkort),
    ),
    pat=held_out("the rule of thumb, but never discards a card", discard=always("discard")),
    hoarder=train(
        "wants low cards only: discards lilja 6 and higher, the highest first, and leads low",
        discard=exchange_from(LILJA_6),
        lead=lead_cards(-1),
    ),
    low_leader=held_out("the rule of thumb, but leads its lowest card", lead=lead_cards(-1)),
    burnt=train("fears the kille: discards it, and nothing else", discard=exchange_from(Kind.KI)),
    new_cards=held_out(
        "discards as many cards as it may, all but the lowest, the lower ones first",
        discard=exchange_below(TYPES),
    ),
    copycat=train(
        "discards as many cards as the seat before it, and does not declare when another has "
        "passed; else the rule of thumb",
        discard=exchange_as_many(EXCHANGED),
        guess=do_if(
            "declare", lambda seen: (chance_of_lowest(seen) >= DECLARE) & ~another_passed(seen)
        ),
    ),
    vulture=held_out(
        "declares whatever it holds once another has passed, before that a skitkort only",
        guess=do_if("declare", lambda seen: another_passed(seen) | has_skitkort(seen)),
    ),
    second_leader=train(
        "the rule of thumb, but keeps the matadors only beside the lowest card, and leads the "
        "second highest",
        discard=exchange_below(EXCHANGED - 3),
        lead=lead_second,
    ),
    tipsy=train("the rule of thumb, but every fifth decision is anything legal", noise=0.2),
    drunk=held_out("the rule of thumb, but every second decision is anything legal", noise=0.5),
)
"""All bots, in the order of the docs."""
