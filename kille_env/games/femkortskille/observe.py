"""What a seat of Femkortskille sees: the compact observation, the information state, everything.

Seats are counted clockwise from the one that looks: entry 0 of a `[P]` part is that seat itself.
The layouts below say what each part means; the page of the game is made from them.
"""

import numpy as np

from kille_env.cards.features import binary, capped, digits, one_seat, put, start
from kille_env.cards.seats import count, has, relative
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part, lay_out, offsets
from kille_env.games.femkortskille.table import DEALT, DRAWN, TRICKS, Phase, Said
from kille_env.tricktaking.pots import deals_left
from kille_env.tricktaking.tricks import (
    HAND,
    TYPES,
    seen,
    write_codes,
    write_counts,
    write_hands,
    write_played,
    write_recalled,
    write_slots,
)

NUM_PHASES = 2


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the observation."""
    p = num_players
    return lay_out(
        Part("phase", NUM_PHASES, "what is decided: knock, check or fold; play (one-hot)"),
        Part("hand", HAND * TYPES, "own cards from the lowest up, a one-hot of 21 each"),
        Part("seen", TYPES, "how many cards of each type the seat has seen, its own included", 2),
        Part("highest", TYPES, "highest card of the trick so far (one-hot; zero when leading)"),
        Part("trick", TRICKS, "number of the trick (one-hot, from the first lead on)"),
        Part("pot", 10, "the pot in units, what a knocker can lose: at most 1023, binary"),
        Part("deals_left", 8, "deals until the match ends or is cut off, at most 255, binary"),
        Part("knockers", 1, "how many have knocked", p),
        Part("in_play", p, "has not folded"),
        Part("dealer", p, "is the dealer"),
        Part("to_act", p, "is to act"),
        Part("to_speak", p, "has neither knocked nor folded yet; zero in play"),
        Part("checked", p, "checked in its first turn"),
        Part("knocked", p, "has knocked"),
        Part("leads", p, "led to this trick"),
        Part("holds", p, "has the highest card of this trick so far"),
        Part("on_table", p, "its card in this trick: 1 blaren to 21 kille, 0 none", TYPES),
        Part(
            "at_least", p, "none of its cards is lower than this type, as everybody can tell", TYPES
        ),
        Part("below", p, "all of its cards are lower than this type, as everybody can tell", TYPES),
        Part("played", TRICKS * p, "its card in each trick: 1 blaren to 21 kille, 0 none", TYPES),
        Part("won", TRICKS * p, "won the trick"),
    )


def information_state_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the information state."""
    p = num_players
    return lay_out(
        Part("phase", NUM_PHASES, "as in the observation"),
        Part("to_act", p, "is to act"),
        Part("dealer", p, "is the dealer"),
        Part("dealt", DEALT, "cards that the seat was dealt: 1 blaren to 21 kille, 0 none", TYPES),
        Part("drawn", DRAWN, "cards that it got when it had knocked, likewise", TYPES),
        Part("said1", p, "in the first round: 1 fold, 2 knock, 3 check", 3),
        Part("said2", p, "after a check: 1 fold, 2 knock", 2),
        Part("led", TRICKS * p, "led to the trick"),
        Part("played", TRICKS * p, "its card in the trick: 1 blaren to 21 kille, 0 none", TYPES),
        Part("pot", 6, "the pot in units, base 256, lowest digit first", 255),
        Part("deals", 4, "deals so far in this match, likewise", 255),
    )


def full_state_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the full-information state."""
    hands = "how many cards of each type every seat has (21 per seat)"
    return lay_out(*observation_parts(num_players), Part("hands", TYPES * num_players, hands, 2))


OBS = offsets(observation_parts)
INFO = offsets(information_state_parts)
FULL = offsets(full_state_parts)


# observe


@kernel
def observe(table, rules, seat, out):
    """Writes the observation of a seat."""
    out[:] = 0
    p = np.int64(table["num_players"])
    phase, trick = np.int64(table["phase"]), np.int64(table["trick"])
    highest = np.int64(table["highest"])
    if phase >= Phase.SPEAK:
        put(1, out, OBS.phase, p, phase - Phase.SPEAK)
    if phase == Phase.PLAY:
        put(1, out, OBS.trick, p, trick)
        if highest >= 0:
            put(1, out, OBS.highest, p, highest)
    write_slots(table["hand"][index(seat)], out, start(OBS.hand, p))
    write_counts(seen(table, index(seat)), out, start(OBS.seen, p))
    # The pot and the deals left lie side by side and are written as one number.
    numbers = capped(table["pot"], 10) | capped(deals_left(table, rules), 8) << 10
    binary(numbers, 18, out, start(OBS.pot, p))
    put(count(table["knockers"]), out, OBS.knockers, p, 0)
    _observe_players(table, np.int64(seat), out)


@kernel
def _observe_players(table, viewer, out):
    """Writes the parts that have an entry per seat; what it reads of a seat it reads first."""
    p, phase = np.int64(table["num_players"]), np.int64(table["phase"])
    in_play, knockers = np.uint32(table["in_play"]), np.uint32(table["knockers"])
    trick = index(min(np.int64(table["trick"]), TRICKS - 1))
    playing, speaking = phase == Phase.PLAY, phase == Phase.SPEAK
    leader = np.int64(table["lead"][trick]) if playing else np.int64(-1)
    holder = np.int64(table["holder"]) if playing & (table["highest"] >= 0) else np.int64(-1)
    acts, dealer = np.int64(table["seat"]), np.int64(table["dealer"])
    to_speak = np.uint32(in_play & ~knockers) if speaking else np.uint32(0)
    for other in range(p):
        this = index(other)
        said1 = table["said1"][this]
        at_least, below = table["at_least"][this], table["below"][this]
        on_table = (table["played"][trick, this] >> 1) + 1
        at = relative(other, viewer, p)
        put(has(in_play, other), out, OBS.in_play, p, at)
        put(other == dealer, out, OBS.dealer, p, at)
        put(other == acts, out, OBS.to_act, p, at)
        put(has(to_speak, other), out, OBS.to_speak, p, at)
        put(said1 == Said.CHECKED, out, OBS.checked, p, at)
        put(has(knockers, other), out, OBS.knocked, p, at)
        put(other == leader, out, OBS.leads, p, at)
        put(other == holder, out, OBS.holds, p, at)
        put(on_table if playing else 0, out, OBS.on_table, p, at)
        put(at_least, out, OBS.at_least, p, at)
        put(below, out, OBS.below, p, at)
    if playing:
        write_played(table, np.int64(table["trick"]) + 1, viewer, out, OBS.played, OBS.won)


# information_state


@kernel
def information_state(table, rules, seat, out):
    """Writes what a seat knows, with perfect recall of the deal and the match's public summary."""
    out[:] = 0
    p = np.int64(table["num_players"])
    if table["phase"] >= Phase.SPEAK:
        put(1, out, INFO.phase, p, np.int64(table["phase"]) - Phase.SPEAK)
    one_seat(table["seat"], seat, p, out, INFO.to_act)
    one_seat(table["dealer"], seat, p, out, INFO.dealer)
    write_codes(table["dealt"][seat], out, start(INFO.dealt, p))
    write_codes(table["drawn_cards"][seat], out, start(INFO.drawn, p))
    for other in range(p):
        at = relative(other, seat, p)
        put(table["said1"][other], out, INFO.said1, p, at)
        put(table["said2"][other], out, INFO.said2, p, at)
    write_recalled(table, TRICKS, seat, out, INFO.led, INFO.played)
    digits(np.int64(table["pot"]), 6, out, start(INFO.pot, p))
    digits(np.int64(table["deals"]), 4, out, start(INFO.deals, p))


# full_state


@kernel
def full_state(table, rules, seat, out):
    """Writes everything, seen from a seat."""
    p = np.int64(table["num_players"])
    observe(table, rules, seat, out[: start(FULL.hands, p)])
    write_hands(table["hand"], seat, p, out, FULL.hands)
