"""Bots for Femkortskille.

The fifth trick takes all, and every knocker that does not win it pays the pot. People knock with a
hand, with a card, against one opponent or none; and they play high cards too early or too late.
"""

from functools import partial

import numpy as np

from kille_agents.population.bot import HELD_OUT, TRAIN, by_habit, noisy_bots
from kille_agents.rules_of_thumb.femkortskille import FemkortskilleRuleOfThumb, enough, knock_with
from kille_agents.rules_of_thumb.habits import Seen, always, do_if
from kille_agents.rules_of_thumb.kille_hands import play_cards, ranks
from kille_env.cards.pack import Kind

TIGHT, LOOSE = 2.5, -4.0  # ranks that they want more than the rule of thumb, or less
FAIR_MEAN = 12.0  # mean rank of three cards: lilja 10


def mean_rank(seen: Seen) -> np.ndarray:
    """Returns how high the cards of a hand rank on average, [n]."""
    held = ranks(seen)
    return held.clip(min=0).sum(axis=1) / np.maximum((held >= 0).sum(axis=1), 1)


def another_knocked(seen: Seen) -> np.ndarray:
    """Returns whether another seat has knocked, [n] bool."""
    return seen["knockers"][:, 0] != 0


bot = partial(by_habit, FemkortskilleRuleOfThumb)

BOTS = (
    bot("maniac", TRAIN, "knocks with whatever it holds", speak=always("knock")),
    bot(
        "coward",
        HELD_OUT,
        "checks, and folds when another knocks",
        speak=always("check", "fold"),
    ),
    bot(
        "tight",
        TRAIN,
        "the rule of thumb, but wants a hand 2.5 ranks better to knock",
        speak=knock_with(TIGHT),
    ),
    bot(
        "loose",
        HELD_OUT,
        "the rule of thumb, but knocks with a hand 4 ranks worse",
        speak=knock_with(LOOSE),
    ),
    bot(
        "gok",
        TRAIN,
        "knocks with a gok or a kille, and never without",
        speak=do_if("knock", lambda seen: ranks(seen).max(axis=1) >= Kind.GO),
    ),
    bot(
        "mean",
        HELD_OUT,
        "knocks with three cards that rank lilja 10 on average, whichever is the highest",
        speak=do_if("knock", lambda seen: mean_rank(seen) >= FAIR_MEAN),
    ),
    bot(
        "first",
        TRAIN,
        "knocks with a fair hand when no seat has knocked, and never against a knocker",
        speak=do_if("knock", lambda seen: enough(seen, LOOSE) & ~another_knocked(seen)),
    ),
    bot(
        "trapper",
        HELD_OUT,
        "checks with everything, and knocks with a good hand when another has knocked",
        speak=do_if("knock", lambda seen: enough(seen) & another_knocked(seen)),
    ),
    bot(
        "copycat",
        TRAIN,
        "knocks when another has knocked, with whatever it holds; else it checks",
        speak=do_if("knock", another_knocked),
    ),
    bot(
        "few",
        HELD_OUT,
        "knocks when at most one other may still play, with whatever it holds; else it checks or "
        "folds",
        speak=do_if("knock", lambda seen: np.count_nonzero(seen["in_play"][:, 1:], axis=1) <= 1),
    ),
    bot(
        "high_leader",
        HELD_OUT,
        "the rule of thumb to knock; leads its highest card and heads with the highest that does",
        play=play_cards(lead=1, follow=1),
    ),
    bot(
        "puller",
        TRAIN,
        "the rule of thumb to knock; leads its highest card to pull the others', heads with the "
        "lowest that does",
        play=play_cards(lead=1, follow=-1),
    ),
    *noisy_bots(FemkortskilleRuleOfThumb, tipsy=TRAIN, drunk=HELD_OUT),
)
"""All bots, in the order of the docs."""
