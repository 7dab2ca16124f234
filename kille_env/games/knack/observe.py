"""What a seat of Knack sees: the compact observation, the information state, and everything.

Seats are counted clockwise from the one who looks: entry 0 of a `[P]` part is himself. A part's
meaning stands in its layout below, from which the page of the game is made.
"""

import numpy as np

from kille_env.cards.features import binary, capped, digits, one_seat, seat_set
from kille_env.cards.seats import has, relative
from kille_env.cards.sets import card_bit, in_cards
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part, lay_out, width
from kille_env.games.knack.rules import playable, strength_of
from kille_env.games.knack.table import (
    ACE,
    ALL_CARDS,
    FACE_DOWN,
    JOIN,
    KNACK_PACK,
    LED,
    MAX_SIZES,
    PLAYING,
    RANK_OF,
    RANKS,
    SUIT_OF,
    TRICKS,
    TRUMP,
    deals_left,
    running_bet,
)

CARDS = KNACK_PACK.size
DOWN = CARDS + 1  # the number of a card that lies face down


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the observation."""
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
        Part("takes", CARDS, "his turn: own cards that may be played and would win so far"),
        Part(
            "above",
            CARDS,
            "own cards: 1 and how many higher ones of the suit are not seen; else 0",
            9,
        ),
        Part("gone", CARDS, "cards that he has seen played or turned up"),
        Part("dealer", p, "is the dealer"),
        Part("joined", p, "has knocked"),
        Part("to_speak", p, "is yet to knock or fold"),
        Part("to_play", p, "is yet to play to this trick"),
        Part("leads", p, "leads, or led, to this trick"),
        Part("holds", p, "has played the card that wins this trick so far"),
        Part("tricks", p, "tricks that he has won in this deal", TRICKS),
        Part("void", 4 * p, "lacks a suit for all to see: P entries a suit, from clubs to spades"),
        Part(
            "played",
            TRICKS * p,
            "the card that he played, P entries a trick: 1 six of clubs to 36 ace of spades, "
            "37 another's card that was led face down, 0 none",
            DOWN,
        ),
    )


def information_state_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the information state."""
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
    """Returns the layout of the full-information state."""
    p = num_players
    return lay_out(
        *observation_parts(p),
        Part("to_act", p, "is to decide"),
        Part("hands", CARDS * p, "every seat's cards, 36 entries a seat"),
        Part("down_card", CARDS, "the card that was led face down (one-hot)"),
    )


# Where the parts of the observation begin, read from its layout: a part of [P] begins P times its
# place among those parts behind the first of them.
_BEGINS = {part.name: part.offset for part in observation_parts(1)}
TRICK = _BEGINS["trick"]
NUMBER_JOINED = _BEGINS["number_joined"]
DEALS_LEFT = _BEGINS["deals_left"]
TRUMP_SUIT = _BEGINS["trump"]
TURN_UP = _BEGINS["turn_up"]
LED_SUIT = _BEGINS["led"]
HIGHEST = _BEGINS["highest"]
HIGHEST_TRUMP = _BEGINS["highest_trump"]
LED_DOWN = _BEGINS["led_down"]
TRUMPS = _BEGINS["trumps"]
TRUMPS_UNSEEN = _BEGINS["trumps_unseen"]
HAND = index(_BEGINS["hand"])
TAKES = index(_BEGINS["takes"])
ABOVE = index(_BEGINS["above"])
GONE = _BEGINS["gone"]
SEATS = _BEGINS["dealer"]
SEAT_FEATURES = width(observation_parts(1)) - SEATS
IS_DEALER, HAS_JOINED, TO_SPEAK, TO_PLAY, LEADS, HOLDS, HAS_TRICKS, VOID, PLAYED = (
    index(_BEGINS[name] - SEATS)
    for name in (
        "dealer",
        "joined",
        "to_speak",
        "to_play",
        "leads",
        "holds",
        "tricks",
        "void",
        "played",
    )
)
ONE = np.uint64(1)


@kernel
def seen_by(table, seat):
    """The cards that a seat has seen in this deal: open ones and its own."""
    own = np.uint64(table["shown"]) | np.uint64(table["hand"][index(seat)])
    down = np.int64(table["face_down"])
    led_it = (down >= 0) & (table["leaders"][1] == seat)
    return own | (card_bit(max(down, 0)) if led_it else np.uint64(0))


@kernel
def _bits_of_byte(cards):
    """How many bits of a byte are set."""
    pairs = cards - ((cards >> ONE) & np.uint64(0x55))
    fours = (pairs & np.uint64(0x33)) + ((pairs >> np.uint64(2)) & np.uint64(0x33))
    return (fours + (fours >> np.uint64(4))) & np.uint64(15)


@kernel
def write_cards(cards, number, out, at):
    """Marks the cards of a set, one feature a card."""
    for card in range(number):
        out[index(at + card)] = (cards >> np.uint64(card)) & ONE


@kernel
def number_of(table, viewer, seat, trick):
    """The card that a seat played to a trick, as a viewer knows it: 1 to 36, 37 unknown, 0 none."""
    card = np.int64(table["played"][index(trick), index(seat)])
    hidden = (card == table["face_down"]) & (seat != viewer) & (card >= 0)
    return DOWN if hidden else card + 1


# observe


@kernel
def observe(table, rules, seat, out):
    """Writes the observation of a seat."""
    out[:] = 0
    num_players = int(table["num_players"])
    phase, trick = np.int64(table["phase"]), np.int64(table["trick"])
    if phase == JOIN or phase == PLAYING:
        out[index(phase - JOIN)] = 1
    if phase == PLAYING:
        out[index(TRICK + trick)] = 1
    out[index(NUMBER_JOINED + min(np.int64(table["num_joined"]), 3))] = 1
    _observe_money(table, rules, out)
    if table["turn_up"] >= 0:
        _observe_cards(table, rules, seat, out)
    _observe_seats(table, seat, num_players, out)


@kernel
def _observe_money(table, rules, out):
    """Writes how long the party goes on, and the bets: three numbers side by side, as one."""
    number = np.int64(0)
    for pile in range(int(table["num_sizes"])):
        number += np.int64(table["bet_counts"][pile])
    money = (
        capped(deals_left(table, rules), 6)
        | capped(running_bet(table), 8) << 6
        | capped(number, 8) << 14
    )
    binary(money, 22, out, DEALS_LEFT)


@kernel
def _observe_cards(table, rules, seat, out):
    """Writes the parts about cards; three of them by the three cards that the seat was dealt."""
    hand, seen = np.uint64(table["hand"][index(seat)]), seen_by(table, seat)
    trump, led = np.int64(table["trump"]), np.int64(table["led"])
    strength = np.int64(table["strength"])
    plays = (table["seat"] == seat) & (table["phase"] == PLAYING)
    cards = playable(table, rules, seat) if plays else np.uint64(0)
    unseen = ALL_CARDS & ~seen
    first_trump = np.uint64(RANKS * trump)
    first = np.int64(table["cards"][index(seat), 0])
    second = np.int64(table["cards"][index(seat), 1])
    third = np.int64(table["cards"][index(seat), 2])
    out[index(TRUMP_SUIT + trump)] = 1
    out[index(TURN_UP + RANK_OF[index(table["turn_up"])])] = 1
    out[LED_DOWN] = table["face_down"] >= 0
    if led >= 0:
        out[index(LED_SUIT + led)] = 1
        out[HIGHEST_TRUMP] = strength >= FACE_DOWN
        if strength != FACE_DOWN:
            rank = strength - (TRUMP if strength >= TRUMP else LED)
            out[index(HIGHEST + rank)] = 1
    write_cards(hand >> first_trump, RANKS, out, TRUMPS)
    write_cards(unseen >> first_trump, RANKS, out, TRUMPS_UNSEEN)
    write_cards(seen & ~hand, CARDS, out, GONE)
    _observe_card(hand, cards, unseen, first, led, strength, trump, out)
    _observe_card(hand, cards, unseen, second, led, strength, trump, out)
    _observe_card(hand, cards, unseen, third, led, strength, trump, out)


@kernel
def _observe_card(hand, cards, unseen, card, led, strength, trump, out):
    held = in_cards(hand, card)
    led = SUIT_OF[index(card)] if led < 0 else led
    wins = in_cards(cards, card) & (strength_of(card, led, trump) > strength)
    higher = np.uint64((1 << ACE) - 1) >> np.uint64(RANK_OF[index(card)])
    above = _bits_of_byte((unseen >> np.uint64(card + 1)) & higher)
    out[HAND + index(card)] = held
    out[TAKES + index(card)] = wins
    out[ABOVE + index(card)] = (above + ONE) if held else np.uint64(0)


@kernel
def _observe_seats(table, viewer, num_players, out):
    """Writes the parts that have an entry a seat.

    Everything is read before anything is written: to the compiler `out` could be the table itself,
    and each write would make it read the record again.
    """
    joined, folded = np.uint32(table["joined"]), np.uint32(table["folded"])
    playing, joins = table["phase"] == PLAYING, table["phase"] == JOIN
    trick = index(min(np.int64(table["trick"]), TRICKS - 1))
    leader = np.int64(table["leaders"][trick]) if playing else np.int64(-1)
    holder = np.int64(table["holder"]) if playing else np.int64(-1)
    dealer, size = np.int64(table["dealer"]), index(num_players)
    for seat in range(num_players):
        tricks, void = np.int64(table["tricks"][index(seat)]), np.int64(table["void"][index(seat)])
        has_joined = has(joined, seat)
        waits = playing & has_joined & (table["played"][trick, index(seat)] < 0)
        first = number_of(table, viewer, seat, 0)
        second = number_of(table, viewer, seat, 1)
        third = number_of(table, viewer, seat, 2)
        at = index(SEATS + relative(seat, viewer, num_players))
        out[at + IS_DEALER * size] = seat == dealer
        out[at + HAS_JOINED * size] = has_joined
        out[at + TO_SPEAK * size] = joins & (not has(joined | folded, seat))
        out[at + TO_PLAY * size] = waits
        out[at + LEADS * size] = seat == leader
        out[at + HOLDS * size] = seat == holder
        out[at + HAS_TRICKS * size] = tricks
        out[at + VOID * size] = void & 1
        out[at + (VOID + index(1)) * size] = (void >> 1) & 1
        out[at + (VOID + index(2)) * size] = (void >> 2) & 1
        out[at + (VOID + index(3)) * size] = (void >> 3) & 1
        out[at + PLAYED * size] = first
        out[at + (PLAYED + index(1)) * size] = second
        out[at + (PLAYED + index(2)) * size] = third


# information_state


@kernel
def information_state(table, rules, seat, out):
    """Writes what a seat knows, with perfect recall of the deal and the party's public summary."""
    out[:] = 0
    num_players = int(table["num_players"])
    phase = np.int64(table["phase"])
    if phase == JOIN or phase == PLAYING:
        out[phase - JOIN] = 1
    at = 2
    at = one_seat(table["seat"], seat, num_players, out, at)
    at = one_seat(table["dealer"], seat, num_players, out, at)
    for number in range(TRICKS):
        if table["cards"][seat, number] >= 0:
            out[at + int(table["cards"][seat, number])] = 1
    at += CARDS
    out[at] = int(table["turn_up"]) + 1
    at = seat_set(table["joined"], seat, num_players, out, at + 1)
    at = seat_set(table["folded"], seat, num_players, out, at)
    for trick in range(TRICKS):
        for other in range(num_players):
            number = number_of(table, seat, other, trick)
            out[at + relative(other, seat, num_players)] = number
        at += num_players
    out[at] = table["face_down"] >= 0
    at += 1
    for pile in range(int(table["num_sizes"])):
        digits(int(table["bet_sizes"][pile]), 5, out, at + 9 * pile)
        digits(int(table["bet_counts"][pile]), 4, out, at + 9 * pile + 5)
    at += 9 * MAX_SIZES
    digits(int(table["deals"]), 4, out, at)
    if table["remainder"] > 0:
        one_seat(table["remainder_to"], seat, num_players, out, at + 4)


# full_state


@kernel
def full_state(table, rules, seat, out):
    """Writes everything: the observation of a seat, then what is hidden from it."""
    num_players = int(table["num_players"])
    at = SEATS + SEAT_FEATURES * num_players
    observe(table, rules, seat, out[:at])
    out[at:] = 0
    at = one_seat(table["seat"], seat, num_players, out, at)
    for other in range(num_players):
        place = at + CARDS * relative(other, seat, num_players)
        write_cards(np.uint64(table["hand"][other]), CARDS, out, place)
    at += CARDS * num_players
    if table["face_down"] >= 0:
        out[at + int(table["face_down"])] = 1
