"""Bots for Femkortskille.

The fifth trick takes all, and every knocker that does not win it pays the pot. People knock with a
hand, with a card, against one opponent or none; and they play high cards too early or too late.
"""

import numpy as np

from kille_agents.population.bot import bots_of, held_out, train
from kille_agents.rules_of_thumb.femkortskille import FemkortskilleRuleOfThumb, enough, knock_with
from kille_agents.rules_of_thumb.habits import Seen, always, do_if
from kille_agents.rules_of_thumb.kille_hands import play_cards, ranks
from kille_env.cards.pack import Kind

TIGHT, LOOSE = 2.5, -4.0  # ranks that they want more than the rule of thumb, or less
FAIR_MEAN = 12.0  # mean rank of three cards: lilja 10


def mean_rank(seen: Seen) -> np.ndarray:
    """Return how high the cards of a hand rank on average, [n]."""
    held = ranks(seen)
    return held.clip(min=0).sum(axis=1) / np.maximum((held >= 0).sum(axis=1), 1)


def another_knocked(seen: Seen) -> np.ndarray:
    """Return whether another seat has knocked, [n] bool."""
    return seen["knockers"][:, 0] != 0


BOTS = bots_of(
    FemkortskilleRuleOfThumb,
    maniac=train("knocks with whatever it holds", speak=always("knock")),
    coward=held_out("checks, and folds when another knocks", speak=always("check", "fold")),
    tight=train(
        "the rule of thumb, but wants a hand 2.5 ranks better to knock",
        speak=knock_with(TIGHT),
    ),
    loose=held_out(
        "the rule of thumb, but knocks with a hand 4 ranks worse",
        speak=knock_with(LOOSE),
    ),
    gok=train(
        "knocks with a gok or a kille, and never without",
        speak=do_if("knock", lambda seen: ranks(seen).max(axis=1) >= Kind.GO),
    ),
    mean=held_out(
        "knocks with three cards that rank lilja 10 on average, whichever is the highest",
        speak=do_if("knock", lambda seen: mean_rank(seen) >= FAIR_MEAN),
    ),
    first=train(
        "knocks with a fair hand when no seat has knocked, and never against a knocker",
        speak=do_if("knock", lambda seen: enough(seen, LOOSE) & ~another_knocked(seen)),
    ),
    trapper=held_out(
        "checks with everything, and knocks with a good hand when another has knocked",
        speak=do_if("knock", lambda seen: enough(seen) & another_knocked(seen)),
    ),
    copycat=train(
        "knocks when another has knocked, with whatever it holds; else it checks",
        speak=do_if("knock", another_knocked),
    ),
    few=held_out(
        "knocks when at most one other may still play, with whatever it holds; else it checks or "
        "folds",
        speak=do_if("knock", lambda seen: np.count_nonzero(seen["in_play"][:, 1:], axis=1) <= 1),
    ),
    high_leader=held_out(
        "the rule of thumb to knock; leads its highest card and heads with the highest that does",
        play=play_cards(lead=1, follow=1),
    ),
    puller=train(
        "the rule of thumb to knock; leads its highest card to pull the others', heads with the "
        "lowest that does",
        play=play_cards(lead=1, follow=-1),
    ),
    tipsy=train("the rule of thumb, but every fifth decision is anything legal", noise=0.2),
    drunk=held_out("the rule of thumb, but every second decision is anything legal", noise=0.5),
)
"""All bots, in the order of the docs."""
