"""Bots for Byteskille.

The Swedish text gives one piece of advice, on the early call of the gok: "Det brukar dock sällan
vara klokt att utnyttja denna möjlighet". The other habits are those that people have with a card
that they may get rid of once: what they find good enough, what they look at, and what they hope.
"""

from collections.abc import Callable
from functools import cache
from importlib.resources import as_file, files

import numpy as np

from kille_agents.population.bot import HELD_OUT, TRAIN, Bot, noisy_bots
from kille_agents.population.habits import (
    Habit,
    Maker,
    Renamed,
    Seen,
    always,
    by_habit,
)
from kille_agents.rules_of_thumb.byteskille import (
    DEALT,
    MOST_TO_COME,
    TAKEN,
    ByteskilleRuleOfThumb,
    knows_a_lower,
    threshold_array,
)
from kille_agents.tabular import SUFFIX, load_tabular
from kille_env.cards.pack import Kind
from kille_env.core.spec import Rules
from kille_env.policy import Policy
from kille_env.registry import spec

KRANSEN, LILJA_7, VARDSHUS = 2, 9, 15
SHIFT = 2  # types by which the restless and the contented differ from the rule of thumb

Content = Callable[[Seen], np.ndarray]
"""Whether it is content with its card, [n] bool."""

_USUAL = threshold_array(DEALT, TAKEN)


def turn(content: Content, asks: str = "bad", calls: bool = False) -> Habit:
    """Returns the habit of swapping what it is not content with.

    Args:
        content: What it is content with.
        asks: Whether it asks for better cards where it may: "never", with a "bad" card, "always".
        calls: Whether a gok ends the round at once.
    """

    def habit(seen: Seen) -> np.ndarray:
        good = content(seen)
        question = {"never": np.zeros(len(seen)), "bad": ~good, "always": np.ones(len(seen))}[asks]
        return seen.wishes(stand=0.5, swap=~good, ask=2.0 * question, call=4.0 * calls)

    return habit


def usual(seen: Seen) -> np.ndarray:
    """Returns whether the rule of thumb is content, [n] bool."""
    return _thumb(seen.num_players, seen.rules).keeps(seen)


def nothing(seen: Seen) -> np.ndarray:
    """Is content with nothing."""
    return np.zeros(len(seen), dtype=np.bool_)


def anything(seen: Seen) -> np.ndarray:
    """Is content with everything."""
    return np.ones(len(seen), dtype=np.bool_)


def low_kille(seen: Seen) -> np.ndarray:
    """Returns whether it holds a kille that is out at the showdown, [n] bool."""
    return (seen["card"][:, Kind.KI] != 0) & (seen["card_high"][:, 0] == 0)


def at_least(kind: int) -> Content:
    """Returns contentment with every card from a type up, but not with a low kille."""
    return lambda seen: (seen["card"].argmax(axis=1) >= kind) & ~low_kille(seen)


def ladder(seen: Seen) -> np.ndarray:
    """The dealer from lilja 7 up, each seat before it one card lower; or with a known lower one."""
    to_come = seen["to_come"].sum(axis=1, dtype=np.int64)
    good = seen["card"].argmax(axis=1) >= np.maximum(LILJA_7 - to_come, KRANSEN + 1)
    knows = knows_a_lower(seen)
    return (good | knows) & ~low_kille(seen)


def dealt_or_not(seen: Seen) -> np.ndarray:
    """By the rule of thumb's thresholds for a card that was dealt, and nothing is remembered."""
    dealt_in = seen["in_hand"].sum(axis=1, dtype=np.int64)
    to_come = np.minimum(seen["to_come"].sum(axis=1, dtype=np.int64), MOST_TO_COME)
    return (seen["card"].argmax(axis=1) >= _USUAL[0, dealt_in, to_come]) & ~low_kille(seen)


def as_before(follows: bool) -> Content:
    """Returns contentment when the seat before stood (`follows`), or when it did not."""

    def content(seen: Seen) -> np.ndarray:
        steps = seen.before("in_hand")
        stood = seen.of_seat("stood", steps) != 0
        moved = (seen.of_seat("swapped", steps) | seen.of_seat("drew", steps)) != 0
        return np.where(stood | moved, stood == follows, usual(seen))

    return content


def keeps_killes(seen: Seen) -> np.ndarray:
    """As the rule of thumb, and with any kille."""
    return usual(seen) | (seen["card"][:, Kind.KI] != 0)


@cache
def _thumb(num_players: int, rules: Rules) -> ByteskilleRuleOfThumb:
    """Returns the rule of thumb of a table; making it takes longer than a few decisions."""
    return ByteskilleRuleOfThumb(num_players, rules)


def shifted(by: int) -> Maker:
    """Returns a maker of the rule of thumb with other thresholds."""
    thresholds = np.where(_USUAL > 0, (_USUAL + by).clip(0, VARDSHUS), 0)

    def make(name: str, num_players: int, rules: Rules) -> Policy:
        return Renamed(name, ByteskilleRuleOfThumb(num_players, rules, thresholds))

    return make


def solved(name: str, num_players: int, rules: Rules) -> Policy:
    """Returns the solved policy of a table, or else the rule of thumb under its name."""
    folder = files("kille_agents.population") / "solved"
    for preset in spec("byteskille").presets:
        file = folder / f"{preset}-{num_players}{SUFFIX}"
        if rules == spec("byteskille").resolve(preset, episode="deal") and file.is_file():
            with as_file(file) as path:
                return Renamed(name, load_tabular(path, "byteskille", num_players, rules))
    return Renamed(name, ByteskilleRuleOfThumb(num_players, rules))


def agreeable(seen: Seen) -> np.ndarray:
    """Agrees to deal again when it is not content itself."""
    bad = ~usual(seen)
    return seen.wishes(yes=2.0 * bad, defer=2.0 * bad, no=1.0)


_AGREES = always(yes=2.0, defer=1.0)
_REFUSES = always(no=1.0)
_BUYS, _DECLINES = always(buy=1.0), always(decline=1.0)


def plain(content: Content, asks: str = "bad", calls: bool = False, **habits: Habit) -> Maker:
    """Returns a maker of a policy that swaps what it is not content with; see `turn`."""
    return by_habit(ByteskilleRuleOfThumb, turn=turn(content, asks, calls), **habits)


BOTS = (
    Bot(
        "byteskille/maniac",
        TRAIN,
        "swaps whatever it holds, a gok too; asks for better cards, agrees when asked, buys in",
        plain(nothing, "always", answer_dealer=_AGREES, answer_third=_AGREES, buyin=_BUYS),
    ),
    Bot(
        "byteskille/stone",
        HELD_OUT,
        "never swaps, asks, agrees or buys in",
        plain(anything, "never", answer_dealer=_REFUSES, answer_third=_REFUSES, buyin=_DECLINES),
    ),
    Bot(
        "byteskille/skitkort",
        TRAIN,
        "swaps a skitkort (blaren, blompottan, kransen) or a low kille; keeps every lilja",
        plain(at_least(KRANSEN + 1)),
    ),
    Bot(
        "byteskille/lilja_seven",
        HELD_OUT,
        "keeps lilja 7 and what is higher, wherever it sits and whatever the table",
        plain(at_least(LILJA_7)),
    ),
    Bot(
        "byteskille/matadors",
        TRAIN,
        "keeps matadors and high killes only",
        plain(at_least(VARDSHUS)),
    ),
    Bot(
        "byteskille/contented",
        TRAIN,
        "the rule of thumb with every threshold two cards lower: swaps little",
        shifted(-SHIFT),
    ),
    Bot(
        "byteskille/restless",
        HELD_OUT,
        "the rule of thumb with every threshold two cards higher: swaps much",
        shifted(SHIFT),
    ),
    Bot(
        "byteskille/ladder",
        HELD_OUT,
        "as the dealer keeps lilja 7 and up, each seat before it one card lower; remembers which "
        "seat got a lower card from it",
        plain(ladder),
        "hand-written, after what the solved strategies of three and four seats have in common",
    ),
    Bot(
        "byteskille/forgetful",
        TRAIN,
        "the rule of thumb for a card that was dealt, whatever it has given away or got",
        plain(dealt_or_not),
    ),
    Bot(
        "byteskille/caller",
        TRAIN,
        "the rule of thumb, but a gok is called at once, which the Swedish text advises against",
        plain(usual, calls=True, gok=always(call=1.0)),
    ),
    Bot(
        "byteskille/harlequin",
        HELD_OUT,
        "the rule of thumb, but never gives a kille away, low or not",
        plain(keeps_killes),
    ),
    Bot(
        "byteskille/copycat",
        TRAIN,
        "stands when the seat before it stood, swaps when that swapped; else the rule of thumb",
        plain(as_before(True)),
    ),
    Bot(
        "byteskille/contrary",
        HELD_OUT,
        "swaps when the seat before it stood, stands when that swapped; else the rule of thumb",
        plain(as_before(False)),
    ),
    Bot(
        "byteskille/agreeable",
        HELD_OUT,
        "the rule of thumb, but as one of the last two or three it agrees to deal again when its "
        "own card is bad, and it always buys in",
        by_habit(
            ByteskilleRuleOfThumb, answer_dealer=agreeable, answer_third=agreeable, buyin=_BUYS
        ),
    ),
    *noisy_bots(ByteskilleRuleOfThumb, tipsy=TRAIN, drunk=HELD_OUT),
    Bot(
        "byteskille/solved",
        TRAIN,
        "an equilibrium of single deals with 2 to 4 seats under the presets; else the rule of "
        "thumb",
        solved,
        "solved exactly with `make solutions`; NashConv below 1e-6, see docs/solutions.md",
    ),
)
"""All bots, in the order of the docs."""
