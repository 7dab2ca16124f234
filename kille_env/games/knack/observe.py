"""What a seat of Knack sees: the compact observation, the information state, and everything.

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
)
from kille_env.cards.seats import has, relative
from kille_env.cards.sets import card_bit, in_cards
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part, lay_out, offsets
from kille_env.games.knack.rules import playable, strength_of
from kille_env.games.knack.table import (
    ALL_CARDS,
    KNACK_PACK,
    MAX_SIZES,
    RANK_OF,
    RANKS,
    SUIT_OF,
    TRICKS,
    Phase,
    Strength,
    deals_left,
    of_suit,
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
        Part("takes", CARDS, "on its turn: own cards that may be played and would win so far"),
        Part(
            "above",
            CARDS,
            "own cards: 1 and how many higher ones of the suit are not seen; else 0",
            9,
        ),
        Part("gone", CARDS, "cards that it has seen played or turned up"),
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
        Part("hands", CARDS * p, "every seat's cards, 36 entries per seat"),
        Part("down_card", CARDS, "the card that was led face down (one-hot)"),
    )


OBS = offsets(observation_parts)
INFO = offsets(information_state_parts)
FULL = offsets(full_state_parts)


@kernel
def seen_by(table, seat):
    """The cards that a seat has seen in this deal: open ones and its own."""
    own = np.uint64(table["shown"]) | np.uint64(table["hand"][index(seat)])
    down = np.int64(table["face_down"])
    led_it = (down >= 0) & (table["leaders"][1] == seat)
    return own | (card_bit(max(down, 0)) if led_it else np.uint64(0))


@kernel
def _bits_of_byte(cards):
    """How many bits of a byte are set; `how_many`, for all cards, would take longer."""
    pairs = cards - ((cards >> np.uint64(1)) & np.uint64(0x55))
    fours = (pairs & np.uint64(0x33)) + ((pairs >> np.uint64(2)) & np.uint64(0x33))
    return np.int64((fours + (fours >> np.uint64(4))) & np.uint64(15))


@kernel
def write_cards(cards, number, out, at):
    """Marks the cards of a set, one feature per card."""
    for card in range(number):
        out[index(at + card)] = in_cards(cards, card)


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
    p = np.int64(table["num_players"])
    phase = np.int64(table["phase"])
    if phase >= Phase.JOIN:
        put(1, out, OBS.phase, p, phase - Phase.JOIN)
    if phase == Phase.PLAY:
        put(1, out, OBS.trick, p, np.int64(table["trick"]))
    put(1, out, OBS.number_joined, p, min(np.int64(table["num_joined"]), 3))
    _observe_money(table, rules, p, out)
    if table["turn_up"] >= 0:
        _observe_cards(table, rules, seat, p, out)
    _observe_seats(table, seat, p, out)


@kernel
def _observe_money(table, rules, p, out):
    """Writes how long the party goes on, and the bets: three numbers side by side, as one."""
    number = np.int64(0)
    for pile in range(int(table["num_sizes"])):
        number += np.int64(table["bet_counts"][pile])
    money = (
        capped(deals_left(table, rules), 6)
        | capped(running_bet(table), 8) << 6
        | capped(number, 8) << 14
    )
    write_bits(money, 22, out, start(OBS.deals_left, p))


@kernel
def _observe_cards(table, rules, seat, p, out):
    """Writes the parts about cards; three of them by the three cards that the seat was dealt."""
    hand, seen = np.uint64(table["hand"][index(seat)]), seen_by(table, seat)
    trump, led = np.int64(table["trump"]), np.int64(table["led"])
    strength = np.int64(table["strength"])
    plays = (table["seat"] == seat) & (table["phase"] == Phase.PLAY)
    cards = playable(table, rules, seat) if plays else np.uint64(0)
    unseen = ALL_CARDS & ~seen
    first_trump = np.uint64(RANKS * trump)
    put(1, out, OBS.trump, p, trump)
    put(1, out, OBS.turn_up, p, RANK_OF[index(table["turn_up"])])
    put(table["face_down"] >= 0, out, OBS.led_down, p, 0)
    if led >= 0:
        put(1, out, OBS.led, p, led)
        put(strength >= Strength.FACE_DOWN, out, OBS.highest_trump, p, 0)
        if strength != Strength.FACE_DOWN:
            base = Strength.TRUMP if strength >= Strength.TRUMP else Strength.LED
            put(1, out, OBS.highest, p, strength - base)
    write_cards(hand >> first_trump, RANKS, out, start(OBS.trumps, p))
    write_cards(unseen >> first_trump, RANKS, out, start(OBS.trumps_unseen, p))
    write_cards(seen & ~hand, CARDS, out, start(OBS.gone, p))
    for number in range(TRICKS):
        card = np.int64(table["cards"][index(seat), number])
        held, suit = in_cards(hand, card), SUIT_OF[index(card)]
        its_strength = strength_of(card, suit if led < 0 else led, trump)
        higher = of_suit(unseen, suit) >> np.uint64(card + 1)
        put(held, out, OBS.hand, p, card)
        put(in_cards(cards, card) & (its_strength > strength), out, OBS.takes, p, card)
        put((_bits_of_byte(higher) + 1) * held, out, OBS.above, p, card)


@kernel
def _observe_seats(table, viewer, p, out):
    """Writes the parts that have an entry per seat.

    Everything is read before anything is written: to the compiler `out` could be the table itself,
    and each write would make it read the record again.
    """
    joined, folded = np.uint32(table["joined"]), np.uint32(table["folded"])
    playing, joins = table["phase"] == Phase.PLAY, table["phase"] == Phase.JOIN
    trick = index(min(np.int64(table["trick"]), TRICKS - 1))
    leader = np.int64(table["leaders"][trick]) if playing else np.int64(-1)
    holder = np.int64(table["holder"]) if playing else np.int64(-1)
    dealer = np.int64(table["dealer"])
    for seat in range(p):
        tricks, void = np.int64(table["tricks"][index(seat)]), np.int64(table["void"][index(seat)])
        has_joined = has(joined, seat)
        waits = playing & has_joined & (table["played"][trick, index(seat)] < 0)
        at = relative(seat, viewer, p)
        put(seat == dealer, out, OBS.dealer, p, at)
        put(has_joined, out, OBS.joined, p, at)
        put(joins & (not has(joined | folded, seat)), out, OBS.to_speak, p, at)
        put(waits, out, OBS.to_play, p, at)
        put(seat == leader, out, OBS.leads, p, at)
        put(seat == holder, out, OBS.holds, p, at)
        put(tricks, out, OBS.tricks, p, at)
        for suit in range(4):
            put((void >> suit) & 1, out, OBS.void, p, suit * p + at)
        for number in range(TRICKS):
            put(number_of(table, viewer, seat, number), out, OBS.played, p, number * p + at)


# information_state


@kernel
def information_state(table, rules, seat, out):
    """Writes what a seat knows, with perfect recall of the deal and the party's public summary."""
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
    for trick in range(TRICKS):
        for other in range(p):
            place = trick * p + relative(other, seat, p)
            put(number_of(table, seat, other, trick), out, INFO.played, p, place)
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
    """Writes everything: the observation of a seat, then what is hidden from it."""
    p = np.int64(table["num_players"])
    end = start(FULL.to_act, p)
    observe(table, rules, seat, out[:end])
    out[end:] = 0
    one_seat(table["seat"], seat, p, out, FULL.to_act)
    for other in range(p):
        at = start(FULL.hands, p) + CARDS * relative(other, seat, p)
        write_cards(np.uint64(table["hand"][other]), CARDS, out, at)
    if table["face_down"] >= 0:
        put(1, out, FULL.down_card, p, np.int64(table["face_down"]))
