"""Bots for Byteskille.

The Swedish text gives one piece of advice, on the early call of the gok: "Det brukar dock sällan
vara klokt att utnyttja denna möjlighet". The other habits are those that people have with a card
that they may get rid of once: what they find good enough, what they look at, and what they hope.
"""

from pathlib import Path

import numpy as np

from kille_agents.population.bot import bots_of, held_out, train
from kille_agents.rules_of_thumb.byteskille import (
    THRESHOLDS,
    ByteskilleRuleOfThumb,
    card,
    knows_a_lower,
    low_kille,
    position,
    turn,
    usual,
)
from kille_agents.rules_of_thumb.habits import Condition, Seen, always
from kille_agents.tabular import SUFFIX, load_tabular
from kille_env.cards.pack import Kind
from kille_env.core.spec import Rules
from kille_env.play.policy import ObservationPolicy
from kille_env.registry import spec

KRANSEN, LILJA_7, VARDSHUS = 2, 9, 15
SHIFT = 2  # types by which the restless and the contented differ from the rule of thumb
SOLVED = Path(__file__).parent / "solved"


def at_least(kind: int) -> Condition:
    """Return contentment with every card from a type up, but not with a low kille."""
    return lambda seen: (card(seen) >= kind) & ~low_kille(seen)


def ladder(seen: Seen) -> np.ndarray:
    """Return contentment from lilja 7 up as dealer, one card lower for each seat before it."""
    good = card(seen) >= np.maximum(LILJA_7 - position(seen)[1], KRANSEN + 1)
    return (good | knows_a_lower(seen)) & ~low_kille(seen)


def dealt_or_not(seen: Seen) -> np.ndarray:
    """Return contentment by the thresholds for a card that was dealt, whatever was exchanged."""
    return (card(seen) >= THRESHOLDS[0, *position(seen)]) & ~low_kille(seen)


def as_before(follows: bool) -> Condition:
    """Return contentment when the seat before stood (`follows`), or when it did not."""

    def content(seen: Seen) -> np.ndarray:
        steps = seen.before("in_hand")
        stood = seen.of_seat("stood", steps) != 0
        moved = (seen.of_seat("swapped", steps) | seen.of_seat("drew", steps)) != 0
        return np.where(stood | moved, stood == follows, usual(seen))

    return content


def keeps_killes(seen: Seen) -> np.ndarray:
    """Return the contentment of the rule of thumb, and with any kille."""
    return usual(seen) | (seen["card"][:, Kind.KI] != 0)


def agrees_if_bad(seen: Seen) -> np.ndarray:
    """Return the wish to deal again with a bad card of its own."""
    bad = ~usual(seen)
    return seen.wishes(yes=2.0 * bad, defer=2.0 * bad, no=1.0)


def shifted(by: int) -> np.ndarray:
    """Return other thresholds than those of the rule of thumb."""
    return np.where(THRESHOLDS > 0, (THRESHOLDS + by).clip(0, VARDSHUS), 0)


def solution(num_players: int, rules: Rules) -> ObservationPolicy | None:
    """Return the solved policy of a table; None where there is none."""
    if rules.game != "byteskille":
        return None
    for preset in spec("byteskille").presets:
        file = SOLVED / f"{preset}-{num_players}{SUFFIX}"
        if rules == spec("byteskille").resolve(preset, episode="deal") and file.is_file():
            return load_tabular(file)
    return None


def solved(num_players: int, rules: Rules) -> ObservationPolicy:
    """Return the solved policy of a table, or else the rule of thumb."""
    return solution(num_players, rules) or ByteskilleRuleOfThumb(num_players, rules)


BOTS = bots_of(
    ByteskilleRuleOfThumb,
    maniac=train(
        "swaps whatever it holds, a gok too; asks for better cards, agrees when asked, buys in",
        turn=always("ask", "swap"),
        answer_dealer=always("yes", "defer"),
        answer_third=always("yes", "defer"),
        buyin=always("buy"),
    ),
    stone=held_out(
        "never swaps, asks, agrees or buys in",
        turn=always("stand"),
        buyin=always("decline"),
    ),
    skitkort=train(
        "swaps a skitkort (blaren, blompottan, kransen) or a low kille; keeps every lilja",
        turn=turn(at_least(KRANSEN + 1)),
    ),
    lilja_seven=held_out(
        "keeps lilja 7 and what is higher, wherever it sits and whatever the table",
        turn=turn(at_least(LILJA_7)),
    ),
    matadors=train("keeps matadors and high killes only", turn=turn(at_least(VARDSHUS))),
    contented=train(
        "the rule of thumb with every threshold two cards lower: swaps little",
        thresholds=shifted(-SHIFT),
    ),
    restless=held_out(
        "the rule of thumb with every threshold two cards higher: swaps much",
        thresholds=shifted(SHIFT),
    ),
    ladder=held_out(
        "as the dealer keeps lilja 7 and up, each seat before it one card lower; remembers which "
        "seat got a lower card from it",
        turn=turn(ladder),
        made="hand-written, after what the solved strategies of three and four seats have in "
        "common",
    ),
    forgetful=train(
        "the rule of thumb for a card that was dealt, whatever it has given away or got",
        turn=turn(dealt_or_not),
    ),
    caller=train(
        "the rule of thumb, but a gok is called at once, which the Swedish text advises against",
        turn=turn(usual, calls=True),
        gok=always("call"),
    ),
    harlequin=held_out(
        "the rule of thumb, but never gives a kille away, low or not",
        turn=turn(keeps_killes),
    ),
    copycat=train(
        "stands when the seat before it stood, swaps when that swapped; else the rule of thumb",
        turn=turn(as_before(True)),
    ),
    contrary=held_out(
        "swaps when the seat before it stood, stands when that swapped; else the rule of thumb",
        turn=turn(as_before(False)),
    ),
    agreeable=held_out(
        "the rule of thumb, but as one of the last two or three it agrees to deal again when its "
        "own card is bad, and it always buys in",
        answer_dealer=agrees_if_bad,
        answer_third=agrees_if_bad,
        buyin=always("buy"),
    ),
    tipsy=train("the rule of thumb, but every fifth decision is anything legal", noise=0.2),
    drunk=held_out("the rule of thumb, but every second decision is anything legal", noise=0.5),
    solved=train(
        "an equilibrium of single deals with 2 to 4 seats under the presets; else the rule of "
        "thumb",
        make=solved,
        made="solved exactly by `kille solve`; NashConv below 1e-6, see docs/truth.md",
    ),
)
"""All bots, in the order of the docs."""
