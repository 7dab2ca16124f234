"""Observations of Femkortskille: compact, with perfect recall, and of everything.

Seats are counted clockwise from the one that looks: entry 0 of a `[P]` part is that seat itself.
"""

from functools import partial

import numpy as np

from kille_env.cards.features import digits, put, start, write_sets
from kille_env.cards.pack import TYPES
from kille_env.cards.seats import relative
from kille_env.cards.sets import how_many
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part, lay_out, offsets
from kille_env.games.femkortskille.rules import DEALT, DRAWN, TRICKS, Phase, Said, tricks_of
from kille_env.tricktaking.observe import observe_pot_game, recall_tricks, shared_parts, write_hands

NUM_PHASES = 2
_shared = partial(shared_parts, TRICKS, 0)


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the observation."""
    p = num_players
    tricks = "leads", "holds", "on_table", "at_least", "below", "played", "won"
    return lay_out(
        Part("phase", NUM_PHASES, "what is decided: knock, check or fold; play (one-hot)"),
        *_shared(p, "hand", "seen", "highest", "trick"),
        Part("pot", 10, "the pot in units, what a knocker can lose: at most 1023, binary"),
        *_shared(p, "deals_left"),
        Part("knockers", 1, "how many have knocked", p),
        Part("in_play", p, "has not folded"),
        *_shared(p, "dealer", "to_act"),
        Part("to_speak", p, "has neither knocked nor folded yet; zero in play"),
        Part("checked", p, "checked in its first turn"),
        Part("knocked", p, "has knocked"),
        *_shared(p, *tricks),
    )


def information_state_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the information state."""
    p = num_players
    return lay_out(
        Part("phase", NUM_PHASES, "as in the observation"),
        *_shared(p, "to_act", "dealer"),
        Part("dealt", DEALT, "cards that the seat was dealt: 1 blaren to 21 kille, 0 none", TYPES),
        Part("drawn", DRAWN, "cards that it got when it had knocked, likewise", TYPES),
        Part("said1", p, "in the first round: 1 fold, 2 knock, 3 check", 3),
        Part("said2", p, "after a check: 1 fold, 2 knock", 2),
        *_shared(p, "led", "played"),
        Part("pot", 6, "the pot in units, base 256, lowest digit first", 255),
        *_shared(p, "deals"),
    )


def full_state_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the full-information state."""
    return lay_out(*observation_parts(num_players), *_shared(num_players, "hands"))


OBS = offsets(observation_parts)
INFO = offsets(information_state_parts)
FULL = offsets(full_state_parts)


@kernel
def observe(table, rules, seat, out):
    """Write the observation of a seat."""
    observe_pot_game(table, rules, np.int64(seat), Phase.PLAY, tricks_of(rules), out, OBS)
    p, speaking = np.int64(table["num_players"]), table["phase"] == Phase.SPEAK
    in_play, knockers = np.uint32(table["in_play"]), np.uint32(table["knockers"])
    to_speak = np.uint64(in_play & ~knockers) if speaking else np.uint64(0)
    checked = np.uint64(0)
    for other in range(p):
        checked |= np.uint64(table["said1"][index(other)] == Said.CHECKED) << np.uint64(other)
    put(how_many(knockers), out, OBS.knockers, p, 0)
    sets = to_speak, checked, np.uint64(knockers)
    write_sets(sets, np.int64(seat), p, out, start(OBS.to_speak, p))


@kernel
def information_state(table, rules, seat, out):
    """Write the knowledge of a seat, with perfect recall of the deal and a summary of the match."""
    recall_tricks(table, seat, out, INFO)
    p = np.int64(table["num_players"])
    for other in range(p):
        at = relative(other, seat, p)
        put(table["said1"][other], out, INFO.said1, p, at)
        put(table["said2"][other], out, INFO.said2, p, at)
    digits(np.int64(table["pot"]), 6, out, start(INFO.pot, p))


@kernel
def full_state(table, rules, seat, out):
    """Write everything, seen from a seat."""
    p = np.int64(table["num_players"])
    observe(table, rules, seat, out[: start(FULL.hands, p)])
    write_hands(table["hand"], seat, p, out, FULL.hands)
