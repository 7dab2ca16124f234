"""Observations of Knack: compact, with perfect recall, and of everything.

Seats are counted clockwise from the one that looks: entry 0 of a `[P]` part is that seat itself.
The layouts below say what each part means; the page of the game is made from them.
"""

import numpy as np

from kille_env.cards.features import (
    capped,
    digits,
    one_seat,
    put,
    seat_set,
    start,
    write_bits,
    write_sets,
)
from kille_env.cards.seats import all_seen_from, bit, everybody, left_of, only, relative
from kille_env.cards.sets import card_bit, how_many, in_cards
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part, lay_out, offsets
from kille_env.games.knack.rules import (
    ALL_CARDS,
    CARDS,
    MAX_SIZES,
    RANK_OF,
    RANKS,
    SUIT_OF,
    TRICKS,
    Phase,
    Strength,
    deals_left,
    of_suit,
    playable,
    running_bet,
)

DOWN = CARDS + 1  # the number of a card that lies face down


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the observation."""
    p = num_players
    return lay_out(
        Part("phase", 2, "what is decided: joining, a card (one-hot)"),
        Part("trick", TRICKS, "the trick that is played (one-hot; zero while players join)"),
        Part("number_joined", 4, "none, one, two, three or more have joined (one-hot)"),
        Part("deals_left", 6, "deals of the party after this one, at most 63, binary"),
        Part("bet", 8, "the running bet in stakes of three units, at most 255, binary"),
        Part("bets", 8, "bets on the table, at most 255, binary"),
        Part("trump", 4, "trumps: clubs, diamonds, hearts, spades (one-hot)"),
        Part("turn_up", RANKS, "rank of the card turned up, from the six to the ace (one-hot)"),
        Part("led", 4, "the suit to be followed in this trick (one-hot)"),
        Part("highest", RANKS, "rank of the card that wins this trick so far (one-hot)"),
        Part("highest_trump", 1, "that card is a trump"),
        Part("led_down", 1, "the second trick was led face down"),
        Part("trumps", RANKS, "own trumps by rank"),
        Part("trumps_unseen", RANKS, "trumps by rank that the seat has not seen"),
        Part("hand", CARDS, "own cards, by number as in the actions"),
        Part("takes", CARDS, "on its turn: own cards that may be played and would win so far"),
        Part(
            "above",
            CARDS,
            "own cards: 1 and how many higher ones of the suit are not seen; else 0",
            9,
        ),
        Part("gone", CARDS, "cards that it has seen played or turned up, or are left out"),
        Part("dealer", p, "is the dealer"),
        Part("joined", p, "has knocked"),
        Part("to_speak", p, "is yet to knock or fold"),
        Part("to_play", p, "is yet to play to this trick"),
        Part("leads", p, "leads, or led, to this trick"),
        Part("holds", p, "has played the card that wins this trick so far"),
        Part("tricks", p, "tricks that it has won in this deal", TRICKS),
        Part(
            "void", 4 * p, "lacks a suit for all to see: P entries per suit, from clubs to spades"
        ),
        Part(
            "played",
            TRICKS * p,
            "the card that it played, P entries per trick: 1 six of clubs to 36 ace of spades, "
            "37 another's card that was led face down, 0 none",
            DOWN,
        ),
    )


def information_state_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the information state."""
    p = num_players
    return lay_out(
        Part("phase", 2, "as in the observation"),
        Part("to_act", p, "is to decide"),
        Part("dealer", p, "is the dealer"),
        Part("dealt", CARDS, "the cards that the seat was dealt"),
        Part("turn_up", 1, "the card turned up: 1 six of clubs to 36 ace of spades, 0 none", CARDS),
        Part("joined", p, "has knocked"),
        Part("folded", p, "has folded"),
        Part("played", TRICKS * p, "as in the observation", DOWN),
        Part("led_down", 1, "the second trick was led face down"),
        Part(
            "bets",
            9 * MAX_SIZES,
            "the bets on the table, nine base-256 digits for each size from the smallest up, zeros "
            "behind the last: five for the size in stakes of three units, four for how many; "
            "lowest first",
            255,
        ),
        Part("deals", 4, "deals in this party so far, likewise", 255),
        Part("remainder_to", p, "took what could not be divided at the end of the party"),
    )


def full_state_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the full-information state."""
    p = num_players
    return lay_out(
        *observation_parts(p),
        Part("to_act", p, "is to decide"),
        Part("hands", CARDS * p, "every seat's cards, 36 entries per seat"),
        Part("down_card", CARDS, "the card that was led face down (one-hot)"),
    )


OBS = offsets(observation_parts)
INFO = offsets(information_state_parts)
FULL = offsets(full_state_parts)


@kernel
def seen_by(table, seat):
    """Return the cards that a seat has seen in this deal: open ones and its own."""
    own = np.uint64(table["shown"]) | np.uint64(table["hand"][index(seat)])
    down = np.int64(table["face_down"])
    # The card led face down has left the hand and is not open, but the seat that led it knows it.
    led_it = (down >= 0) & (table["leaders"][1] == seat)
    return own | (card_bit(max(down, 0)) if led_it else np.uint64(0))


@kernel
def _mark(part, place):
    """Return a bit for a place in one of the first parts, the same at every number of seats."""
    return np.uint64(1) << np.uint64(start(part, 0) + place)


@kernel
def _beating(strength, led, trump):
    """Return the cards that beat the trick so far; `led` is its suit, -1 before the lead."""
    if led < 0:
        return ALL_CARDS
    trumped = strength >= Strength.TRUMP
    suit = trump if trumped else led
    rank = strength - (Strength.TRUMP if trumped else Strength.LED)
    higher = of_suit(ALL_CARDS, suit) & (ALL_CARDS << np.uint64(RANKS * suit + rank + 1))
    return higher if trumped else higher | of_suit(ALL_CARDS, trump)


@kernel
def write_played(table, viewer, p, out, part):
    """Write the card of each seat in each trick: 1 to 36, 37 unknown to the viewer, 0 none."""
    seat = np.int64(viewer)
    for at in range(p):
        for trick in range(TRICKS):
            put(np.int64(table["played"][trick, index(seat)]) + 1, out, part, p, trick * p + at)
        seat = left_of(seat, 1, p)
    leader = np.int64(table["leaders"][1])
    if (table["face_down"] >= 0) & (leader != viewer):
        put(DOWN, out, part, p, p + relative(leader, viewer, p))


# observe


@kernel
def observe(table, rules, seat, out):
    """Write the observation of a seat."""
    p, viewer = np.int64(table["num_players"]), np.int64(seat)
    turned_up = table["turn_up"] >= 0
    # The first parts have the same places at every number of seats, so they are gathered in one
    # word.
    summary = _money(table, rules) | _progress(table)
    summary |= _open_cards(table) if turned_up else np.uint64(0)
    write_bits(summary, start(OBS.trumps, p), out, 0)
    if turned_up:
        _observe_cards(table, rules, viewer, p, out)
    else:
        out[start(OBS.trumps, p) : start(OBS.dealer, p)] = 0
    _observe_seats(table, viewer, p, out)


@kernel
def _money(table, rules):
    """Return deals left, running bet and number of bets, as bits at their places."""
    number = np.int64(0)
    for pile in range(int(table["num_sizes"])):
        number += np.int64(table["bet_counts"][pile])
    money = (
        capped(deals_left(table, rules), 6)
        | capped(running_bet(table), 8) << 6
        | capped(number, 8) << 14
    )
    return np.uint64(money) << np.uint64(start(OBS.deals_left, 0))


@kernel
def _progress(table):
    """Return the phase and the number of seats that have joined, as bits at their places."""
    phase, word = np.int64(table["phase"]), np.uint64(0)
    word |= _mark(OBS.number_joined, min(np.int64(table["num_joined"]), 3))
    if phase >= Phase.JOIN:
        word |= _mark(OBS.phase, phase - Phase.JOIN)
    if phase == Phase.PLAY:
        word |= _mark(OBS.trick, np.int64(table["trick"]))
    return word


@kernel
def _open_cards(table):
    """Return the public cards, as bits at their places; a card is turned up."""
    led, strength = np.int64(table["led"]), np.int64(table["strength"])
    word = _mark(OBS.trump, np.int64(table["trump"]))
    word |= _mark(OBS.turn_up, RANK_OF[index(table["turn_up"])])
    word |= _mark(OBS.led_down, 0) if table["face_down"] >= 0 else np.uint64(0)
    if led >= 0:
        word |= _mark(OBS.led, led)
        word |= _mark(OBS.highest_trump, 0) if strength >= Strength.FACE_DOWN else np.uint64(0)
        if strength != Strength.FACE_DOWN:
            base = Strength.TRUMP if strength >= Strength.TRUMP else Strength.LED
            word |= _mark(OBS.highest, strength - base)
    return word


@kernel
def _observe_cards(table, rules, seat, p, out):
    """Write the sets of cards that a seat holds or has seen; a card is turned up."""
    hand, seen = np.uint64(table["hand"][index(seat)]), seen_by(table, seat)
    trump, led = np.int64(table["trump"]), np.int64(table["led"])
    plays = (table["seat"] == seat) & (table["phase"] == Phase.PLAY)
    cards = playable(table, rules, seat) if plays else np.uint64(0)
    takes = cards & _beating(np.int64(table["strength"]), led, trump)
    unseen, first_trump = ALL_CARDS & ~seen, np.uint64(RANKS * trump)
    trumps = of_suit(hand, trump) >> first_trump
    trumps |= of_suit(unseen, trump) >> first_trump << np.uint64(RANKS)
    write_bits(trumps, 2 * RANKS, out, start(OBS.trumps, p))
    write_bits(hand, CARDS, out, start(OBS.hand, p))
    write_bits(takes, CARDS, out, start(OBS.takes, p))
    write_bits(np.uint64(0), CARDS, out, start(OBS.above, p))
    write_bits(seen & ~hand, CARDS, out, start(OBS.gone, p))
    for number in range(TRICKS):
        card = np.int64(table["cards"][index(seat), number])
        higher = of_suit(unseen, SUIT_OF[index(card)]) >> np.uint64(card + 1)
        put((how_many(higher) + 1) * in_cards(hand, card), out, OBS.above, p, card)


@kernel
def _observe_seats(table, viewer, p, out):
    """Write the parts that have an entry per seat."""
    joined, folded = np.uint32(table["joined"]), np.uint32(table["folded"])
    playing, joins = table["phase"] == Phase.PLAY, table["phase"] == Phase.JOIN
    trick = index(min(np.int64(table["trick"]), TRICKS - 1))
    nobody, has_played = np.uint32(0), np.uint32(0)
    for seat in range(p):
        played = table["played"][trick, index(seat)] >= 0
        has_played = np.uint32(has_played | (bit(seat) if played else nobody))
    sets = (
        only(table["dealer"]),
        joined,
        np.uint32(everybody(table) & ~(joined | folded)) if joins else nobody,
        np.uint32(joined & ~has_played) if playing else nobody,
        only(table["leaders"][trick]) if playing else nobody,
        only(table["holder"]) if playing else nobody,
    )
    write_sets(sets, viewer, p, out, start(OBS.dealer, p))
    write_bits(all_seen_from(table["void"], viewer, p), 4 * p, out, start(OBS.void, p))
    seat = viewer
    for at in range(p):
        put(table["tricks"][index(seat)], out, OBS.tricks, p, at)
        seat = left_of(seat, 1, p)
    write_played(table, viewer, p, out, OBS.played)


# information_state


@kernel
def information_state(table, rules, seat, out):
    """Write the knowledge of a seat, with perfect recall of the deal and a summary of the party."""
    out[:] = 0
    p = np.int64(table["num_players"])
    if table["phase"] >= Phase.JOIN:
        put(1, out, INFO.phase, p, np.int64(table["phase"]) - Phase.JOIN)
    one_seat(table["seat"], seat, p, out, INFO.to_act)
    one_seat(table["dealer"], seat, p, out, INFO.dealer)
    for number in range(TRICKS):
        if table["cards"][seat, number] >= 0:
            put(1, out, INFO.dealt, p, np.int64(table["cards"][seat, number]))
    put(int(table["turn_up"]) + 1, out, INFO.turn_up, p, 0)
    seat_set(table["joined"], seat, p, out, INFO.joined)
    seat_set(table["folded"], seat, p, out, INFO.folded)
    write_played(table, seat, p, out, INFO.played)
    put(table["face_down"] >= 0, out, INFO.led_down, p, 0)
    for pile in range(int(table["num_sizes"])):
        at = start(INFO.bets, p) + 9 * pile
        digits(int(table["bet_sizes"][pile]), 5, out, at)
        digits(int(table["bet_counts"][pile]), 4, out, at + 5)
    digits(int(table["deals"]), 4, out, start(INFO.deals, p))
    if table["remainder"] > 0:
        one_seat(table["remainder_to"], seat, p, out, INFO.remainder_to)


# full_state


@kernel
def full_state(table, rules, seat, out):
    """Write everything: the observation of a seat, then the rest."""
    p = np.int64(table["num_players"])
    end = start(FULL.to_act, p)
    observe(table, rules, seat, out[:end])
    out[end:] = 0
    one_seat(table["seat"], seat, p, out, FULL.to_act)
    for other in range(p):
        at = start(FULL.hands, p) + CARDS * relative(other, seat, p)
        write_bits(table["hand"][other], CARDS, out, at)
    if table["face_down"] >= 0:
        put(1, out, FULL.down_card, p, np.int64(table["face_down"]))
