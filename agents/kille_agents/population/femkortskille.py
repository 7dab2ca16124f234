"""Bots for Femkortskille.

The fifth trick takes all, and every knocker that does not win it pays the pot. People knock with a
hand, with a card, against one opponent or none; and they play high cards too early or too late.
"""

from functools import partial

import numpy as np

from kille_agents.population.bot import HELD_OUT, TRAIN, Bot, noisy_bots
from kille_agents.population.habits import Habit, Seen, always, by_habit
from kille_agents.population.trick_habits import play_cards
from kille_agents.rules_of_thumb.femkortskille import (
    EACH_KNOCKER,
    KNOCK,
    FemkortskilleRuleOfThumb,
    worth_of,
)
from kille_agents.rules_of_thumb.kille_hands import ranks
from kille_env.cards.pack import Kind

TIGHT, LOOSE = 2.5, -4.0  # ranks that they want more than the rule of thumb, or less
FAIR_MEAN = 12.0  # mean rank of three cards: lilja 10


def knock_with(more: float) -> Habit:
    """Returns the habit of knocking with so much more in hand than the rule of thumb wants."""
    return lambda seen: _knocks(seen, _enough(seen, more))


def knock_with_gok(seen: Seen) -> np.ndarray:
    """Knocks with a gok or a kille."""
    return _knocks(seen, ranks(seen["hand"]).max(axis=1) >= Kind.GO)


def knock_by_mean(seen: Seen) -> np.ndarray:
    """Knocks with three fair cards, whichever is the highest."""
    held = ranks(seen["hand"])
    mean = held.clip(min=0).sum(axis=1) / np.maximum((held >= 0).sum(axis=1), 1)
    return _knocks(seen, mean >= FAIR_MEAN)


def knock_first(seen: Seen) -> np.ndarray:
    """Knocks with a fair hand when no seat has, and folds when one has."""
    return _knocks(seen, _enough(seen, LOOSE) & ~_knocked(seen))


def knock_second(seen: Seen) -> np.ndarray:
    """Checks first, and knocks with a good hand when another has."""
    return _knocks(seen, _enough(seen, 0.0) & _knocked(seen))


def knock_as_others(seen: Seen) -> np.ndarray:
    """Knocks when another has, with whatever it holds; else it checks."""
    return _knocks(seen, _knocked(seen))


def knock_against_few(seen: Seen) -> np.ndarray:
    """Knocks against at most one other that may still play, with whatever it holds."""
    return _knocks(seen, seen["in_play"][:, 1:].sum(axis=1, dtype=np.int64) <= 1)


def _enough(seen: Seen, more: float) -> np.ndarray:
    return worth_of(seen) >= KNOCK + more + EACH_KNOCKER * seen["knockers"][:, 0]


def _knocked(seen: Seen) -> np.ndarray:
    return seen["knockers"][:, 0] != 0


def _knocks(seen: Seen, yes: np.ndarray) -> np.ndarray:
    """Knocks where it wants to; else it checks if it may, or folds."""
    return seen.wishes(knock=np.where(yes, 2.0, -1.0), check=1.0)


made = partial(by_habit, FemkortskilleRuleOfThumb)
"""Makes a bot that plays by habits, and otherwise like the rule of thumb."""

BOTS = (
    Bot(
        "femkortskille/maniac",
        TRAIN,
        "knocks with whatever it holds",
        made(speak=always(knock=1.0)),
    ),
    Bot(
        "femkortskille/coward",
        HELD_OUT,
        "checks, and folds when another knocks",
        made(speak=always(check=2.0, fold=1.0)),
    ),
    Bot(
        "femkortskille/tight",
        TRAIN,
        "the rule of thumb, but wants a hand 2.5 ranks better to knock",
        made(speak=knock_with(TIGHT)),
    ),
    Bot(
        "femkortskille/loose",
        HELD_OUT,
        "the rule of thumb, but knocks with a hand 4 ranks worse",
        made(speak=knock_with(LOOSE)),
    ),
    Bot(
        "femkortskille/gok",
        TRAIN,
        "knocks with a gok or a kille, and never without",
        made(speak=knock_with_gok),
    ),
    Bot(
        "femkortskille/mean",
        HELD_OUT,
        "knocks with three cards that rank lilja 10 on average, whichever is the highest",
        made(speak=knock_by_mean),
    ),
    Bot(
        "femkortskille/first",
        TRAIN,
        "knocks with a fair hand when no seat has knocked, and never against a knocker",
        made(speak=knock_first),
    ),
    Bot(
        "femkortskille/trapper",
        HELD_OUT,
        "checks with everything, and knocks with a good hand when another has knocked",
        made(speak=knock_second),
    ),
    Bot(
        "femkortskille/copycat",
        TRAIN,
        "knocks when another has knocked, with whatever it holds; else it checks",
        made(speak=knock_as_others),
    ),
    Bot(
        "femkortskille/few",
        HELD_OUT,
        "knocks when at most one other may still play, with whatever it holds; else it checks or "
        "folds",
        made(speak=knock_against_few),
    ),
    Bot(
        "femkortskille/high_leader",
        HELD_OUT,
        "the rule of thumb to knock; leads its highest card and heads with the highest that does",
        made(play=play_cards(lead=1, follow=1)),
    ),
    Bot(
        "femkortskille/puller",
        TRAIN,
        "the rule of thumb to knock; leads its highest card to pull the others', heads with the "
        "lowest that does",
        made(play=play_cards(lead=1, follow=-1)),
    ),
    *noisy_bots(FemkortskilleRuleOfThumb, tipsy=TRAIN, drunk=HELD_OUT),
)
"""All bots, in the order of the docs."""
