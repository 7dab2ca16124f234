"""Observations of Kungsholmskille: compact, with perfect recall, and of everything.

Seats are counted clockwise from the one that looks: entry 0 of a `[P]` part is that seat itself.
"""

from functools import partial

import numpy as np

from kille_env.cards.features import digits, one_seat, put, start
from kille_env.cards.seats import left_of, relative
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part, lay_out, offsets
from kille_env.games.kungsholmskille.rules import MOST_DISCARDS, TRICKS, Phase, Said
from kille_env.tricktaking.observe import (
    observe_pot_game,
    open_card,
    recall_tricks,
    shared_parts,
    write_codes,
    write_hands,
)
from kille_env.tricktaking.tricks import tricks_of

NUM_PHASES = 6
_shared = partial(shared_parts, TRICKS, MOST_DISCARDS)


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the observation."""
    p = num_players
    tricks = "leads", "holds", "on_table", "at_least", "below", "played", "won"
    return lay_out(
        Part(
            "phase",
            NUM_PHASES,
            "what is decided: bud or knock, stay or fold, exchange, bud or knock again, play, bud "
            "or show (one-hot)",
        ),
        *_shared(p, "hand", "seen", "highest", "trick"),
        Part("pot", 10, "the pot in units, at most 1023, binary"),
        *_shared(p, "deals_left"),
        Part("in_play", p, "has not folded"),
        *_shared(p, "dealer"),
        Part("forehand", p, "is forehand"),
        *_shared(p, "to_act"),
        Part("said_bud", p, "said bud before the exchange"),
        Part("knocked", p, "knocked before the exchange"),
        Part("stayed", p, "stayed when somebody had knocked"),
        *_shared(p, "exchanged"),
        Part("said_bud_again", p, "said bud after the exchange"),
        Part("knocked_again", p, "knocked after the exchange"),
        Part("said_bud_last", p, "said bud at the showing"),
        *_shared(p, *tricks),
    )


def information_state_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the information state."""
    p = num_players
    return lay_out(
        Part("phase", NUM_PHASES, "as in the observation"),
        *_shared(p, "to_act", "dealer", "dealt", "discarded", "drawn"),
        Part("said1", p, "before the exchange: 1 bud, 2 knock", 2),
        Part("stayed", p, "then: 1 folded, 2 stayed", 2),
        *_shared(p, "exchanged"),
        Part("said2", p, "after the exchange: 1 bud, 2 knock", 2),
        *_shared(p, "led", "played"),
        Part("showed", p, "at the showing: 1 bud, 2 show", 2),
        *_shared(p, "open_cards"),
        Part("owed", 4 * p, "what it owes for the next deal, base 256, lowest digit first", 255),
        Part("pot", 6, "the pot in units, likewise", 255),
        *_shared(p, "deals"),
    )


def full_state_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the full-information state."""
    return lay_out(*observation_parts(num_players), *_shared(num_players, "hands", "discards"))


OBS = offsets(observation_parts)
INFO = offsets(information_state_parts)
FULL = offsets(full_state_parts)


@kernel
def observe(table, rules, seat, out):
    """Write the observation of a seat."""
    observe_pot_game(table, rules, np.int64(seat), Phase.PLAY, tricks_of(rules), out, OBS)
    p = np.int64(table["num_players"])
    one_seat(table["forehand"], np.int64(seat), p, out, OBS.forehand)
    # A seat's fields are read before anything is written, see `krypkille.observe`.
    this = index(seat)
    for at in range(p):
        said1, said2 = table["said1"][this], table["said2"][this]
        stayed, showed = table["stayed"][this], table["showed"][this]
        exchanged = table["exchanged"][this] + 1
        put(said1 == Said.YIELDED, out, OBS.said_bud, p, at)
        put(said1 == Said.CLAIMED, out, OBS.knocked, p, at)
        put(stayed == Said.CLAIMED, out, OBS.stayed, p, at)
        put(exchanged, out, OBS.exchanged, p, at)
        put(said2 == Said.YIELDED, out, OBS.said_bud_again, p, at)
        put(said2 == Said.CLAIMED, out, OBS.knocked_again, p, at)
        put(showed == Said.YIELDED, out, OBS.said_bud_last, p, at)
        this = index(left_of(this, 1, p))


@kernel
def information_state(table, rules, seat, out):
    """Write the knowledge of a seat, with perfect recall of the deal and a summary of the match."""
    recall_tricks(table, seat, out, INFO)
    p = np.int64(table["num_players"])
    write_codes(table["discarded"][seat], out, start(INFO.discarded, p))
    for other in range(p):
        at = relative(other, seat, p)
        put(table["said1"][other], out, INFO.said1, p, at)
        put(table["stayed"][other], out, INFO.stayed, p, at)
        put(table["exchanged"][other] + 1, out, INFO.exchanged, p, at)
        put(table["said2"][other], out, INFO.said2, p, at)
        put(table["showed"][other], out, INFO.showed, p, at)
        put(open_card(table, other), out, INFO.open_cards, p, at)
        digits(np.int64(table["owed"][other]), 4, out, start(INFO.owed, p) + 4 * at)
    digits(np.int64(table["pot"]), 6, out, start(INFO.pot, p))


@kernel
def full_state(table, rules, seat, out):
    """Write everything, seen from a seat."""
    p = np.int64(table["num_players"])
    observe(table, rules, seat, out[: start(FULL.hands, p)])
    write_hands(table["hand"], seat, p, out, FULL.hands)
    write_hands(table["discarded"], seat, p, out, FULL.discards)
