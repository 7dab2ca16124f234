"""What a seat of Byteskille sees: the compact observation, the information state, and everything.

Seats are counted clockwise from the one who looks: entry 0 of a `[P]` part is himself. A part's
meaning stands in its layout below, from which the page of the game is made.
"""

from kille_env.cards.features import binary, capped, digits, seat_set
from kille_env.cards.pack import KI
from kille_env.cards.seats import bit, has, relative
from kille_env.cards.sets import in_cards
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part, lay_out
from kille_env.games.byteskille.settle import (
    price,
)
from kille_env.games.byteskille.table import (
    BUYIN,
    DREW,
    EV_ANSWER,
    EV_CALL,
    EV_SVIN,
    EV_TALON_SVIN,
    GAVE,
    GOK,
    MAX_EVENTS,
    STOOD,
    SWAPPED,
    TURN,
    UNDONE,
    card_type,
    is_high,
    is_shown,
)


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the observation."""
    p = num_players
    return lay_out(
        Part(
            "phase",
            5,
            "what is decided: exchange, gok (call or wait), dealer's answer, third "
            "player's answer, buying in (one-hot); only the gok holder who is asked sees "
            "gok",
        ),
        Part("card", 21, "own card, from blaren to kille (one-hot; zero without a card)"),
        Part("card_high", 1, "own card is a kille that ranks high"),
        Part("card_open", 1, "own card lies face up"),
        Part("card_dealt", 1, "own card is the one that was dealt"),
        Part("asked", 1, "forehand has asked for better cards in this hand"),
        Part("seen", 21, "how many cards of each type the seat can locate, its own included", 2),
        Part(
            "redeals_left",
            5,
            "questions that can still be granted in this deal, at most 31, binary",
        ),
        Part("deals_left", 8, "hands until the cap, at most 255, binary"),
        Part("pots_left", 4, "pots still to be won in this match, at most 15, binary"),
        Part("buying", 2, "the first, the second occasion to buy in is over"),
        Part("pot", 16, "the pot in half stakes, rounded down, at most 65535, binary"),
        Part("price", 16, "what buying in now would cost this seat in half stakes, binary; else 0"),
        Part("in_hand", p, "was dealt a card in this hand"),
        Part("dealer", p, "is the dealer"),
        Part("on_turn", p, "it is his turn to exchange"),
        Part("to_come", p, "his turn to exchange is still to come, if nobody goes past him"),
        Part("stood", p, "stood"),
        Part("swapped", p, "swapped with another player on his turn"),
        Part("gave", p, "had to give his card away"),
        Part("drew", p, "went to the talon"),
        Part("untouched", p, "holds the card that he was dealt"),
        Part("open", p, "his card lies face up"),
        Part("chopped", p, "is chopped"),
        Part(
            "known", p, "his card as far as the seat can tell: 1 blaren to 21 kille, 0 unknown", 21
        ),
        Part("known_high", p, "the known card is a kille that ranks high"),
        Part("entries", p, "times that he bought in for this pot", 127),
        Part("declined", p, "declined to buy in"),
        Part("still_in", p, "buying in: is in for the next hand, as things stand"),
    )


def information_state_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the information state."""
    p = num_players
    return lay_out(
        Part("phase", 5, "as in the observation"),
        Part("on_turn", p, "it is his turn to exchange, or he is to answer or to buy"),
        Part("in_hand", p, "was dealt a card in this hand"),
        Part("dealer", p, "is the dealer"),
        Part("dealt", 1, "the card that the seat was dealt: 1 blaren to 21 kille, 0 none", 21),
        Part(
            "events",
            MAX_EVENTS * 6,
            "the hand so far, six numbers an event, zeros behind the last: kind (1 stand, "
            "2 exchange, 3 passed, 4 gok stood, 5 husar, 6 svin, 7 talon passed, 8 talon "
            "gok, 9 talon husar, 10 talon svin, 11 talon taken, 12 call, 13 ask, 14 "
            "answer); who, counted from 1, the seat itself; whom, likewise (0 nobody; a "
            "call: 1 on the own turn; an answer: the action); his card, 1 to 21, 0 if "
            "unknown; the other card, likewise; 1 if undone since, for a svin the seat "
            "that was chopped",
            255,
        ),
        Part("open_cards", p, "cards at the showdown: 1 blaren to 21 kille, 0 none", 21),
        Part("in_pot", p, "is in (when buying in: after the showdown and the decisions so far)"),
        Part("to_buy", p, "will still be asked to buy in"),
        Part("entries", p, "times that he bought in for this pot", 127),
        Part("declined", p, "declined to buy in"),
        Part("first_buyers", p, "bought in at the first occasion"),
        Part("prepaid", p, "has paid the next ante with the price of buying in"),
        Part("buying", 2, "the first, the second occasion to buy in is over"),
        Part("pot", 6, "the pot in units, six base-256 digits, lowest first", 255),
        Part("price", 6, "what buying in now would cost this seat, likewise", 255),
        Part("redeals", 4, "questions granted in this deal, likewise", 255),
        Part("deals", 4, "hands dealt in this match, likewise", 255),
        Part("pots_won", 4, "pots won in this match, likewise", 255),
    )


def full_state_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the full-information state."""
    p = num_players
    observed = observation_parts(p)
    return lay_out(
        *observed,
        Part("hands", p * 21, "every seat's card (one-hot, 21 a seat)"),
        Part("high", p, "his card is a kille that ranks high"),
        Part("to_act", p, "has to decide now"),
        Part("gok_asked", 1, "the decision is a gok holder's, between turns"),
        Part("laid_aside", 21, "cards of each type that left the talon or a hand in this hand", 2),
    )


# Where the parts of the observation begin, read from its layout: a part of [P] begins P times its
# place among those parts behind the first of them.
_BEGINS = {part.name: part.offset for part in observation_parts(1)}
PHASE, CARD, CARD_HIGH, CARD_OPEN, CARD_DEALT, ASKED, SEEN, REDEALS_LEFT, BUYING, POT, PRICE = (
    _BEGINS[name]
    for name in (
        "phase",
        "card",
        "card_high",
        "card_open",
        "card_dealt",
        "asked",
        "seen",
        "redeals_left",
        "buying",
        "pot",
        "price",
    )
)
SEATS = _BEGINS["in_hand"]
SEAT_PARTS = len(_BEGINS) - list(_BEGINS).index("in_hand")
(
    IN_HAND,
    IS_DEALER,
    ON_TURN,
    TO_COME,
    HAS_STOOD,
    HAS_SWAPPED,
    HAS_GIVEN,
    HAS_DRAWN,
    UNTOUCHED,
    IS_OPEN,
    IS_CHOPPED,
    KNOWN,
    KNOWN_HIGH,
    ENTRIES,
    HAS_DECLINED,
    STILL_IN,
) = (
    index(_BEGINS[name] - SEATS)
    for name in (
        "in_hand",
        "dealer",
        "on_turn",
        "to_come",
        "stood",
        "swapped",
        "gave",
        "drew",
        "untouched",
        "open",
        "chopped",
        "known",
        "known_high",
        "entries",
        "declined",
        "still_in",
    )
)
NOBODYS_TURN = 99  # past every position


@kernel
def known(table, seat, card):
    """Whether a seat knows what a card is: it lies open, or he has held it."""
    return is_shown(table, card) | has(table["known_by"][index(card)], seat)


@kernel
def _phase(table, seat, out):
    """Writes the phase as a seat may know it: a gok question shows to the one who is asked only."""
    phase = table["phase"]
    if phase < TURN:
        return
    if phase == GOK and table["seat"] != seat:
        phase = TURN
    out[PHASE + phase - TURN] = 1


# observe


@kernel
def observe(table, rules, seat, out):
    """Writes the observation of a seat."""
    out[:] = 0
    num_players = int(table["num_players"])
    _phase(table, seat, out)
    card = int(table["hand"][seat])
    if card >= 0:
        kind = card_type(card)
        out[index(CARD + kind)] = 1
        out[CARD_HIGH] = kind == KI and is_high(table, card)
        out[CARD_OPEN] = is_shown(table, card)
        out[CARD_DEALT] = card == table["dealt"][seat]
    out[ASKED] = table["asked"]
    out[BUYING] = table["first_done"]
    out[BUYING + 1] = table["second_done"]
    # The three counters lie side by side and are written as one number.
    counters = capped(rules["max_redeals"] - table["redeals"], 5)
    counters |= capped(rules["max_deals"] - table["deals"], 8) << 5
    counters |= capped(rules["pots"] - table["pots_won"], 4) << 13
    binary(counters, 17, out, REDEALS_LEFT)
    if table["pot"] > 0:
        # A whole division would cost a tenth of a step. This one is exact: below 2**16 a quotient
        # by a stake of at most 10**9 that is not whole lies farther from the next whole number
        # than it errs.
        binary(capped(2.0 * table["pot"] / rules["stake"], 16), 16, out, POT)
    if has(table["to_buy"], seat):
        binary(capped(2 * price(table, rules, seat) // rules["stake"], 16), 16, out, PRICE)
    for number in range(table["num_laid_aside"]):
        aside = int(table["laid_aside"][number])
        out[SEEN + card_type(aside)] += known(table, seat, aside)
    _observe_players(table, seat, num_players, out)
    if rules["episode"] == 0:
        buying = table["phase"] == BUYIN
        for other in range(num_players):
            at = index(SEATS + relative(other, seat, num_players))
            out[at + ENTRIES * index(num_players)] = table["entries"][index(other)]
            out[at + HAS_DECLINED * index(num_players)] = has(table["declined"], other)
            out[at + STILL_IN * index(num_players)] = buying & has(table["in_pot"], other)


@kernel
def _observe_players(table, viewer, num_players, out):
    """Writes the parts that have an entry a seat, for those who were dealt a card.

    Everything is read before anything is written: to the compiler `out` could be the table itself,
    and each write would make it read the record again.
    """
    turn = int(table["turn"]) if TURN <= table["phase"] < BUYIN else NOBODYS_TURN
    chopped, shown, last = table["chopped"], table["shown"], int(table["num_players_dealt"])
    dealer = index(SEATS + relative(int(table["dealer"]), viewer, num_players))
    size = index(num_players)
    for position in range(last):
        seat = index(table["order"][index(position)])
        card = index(table["hand"][seat])
        deeds = int(table["deeds"][seat])
        untouched = card == index(table["dealt"][seat])
        lies_open = in_cards(shown, card)
        knows = lies_open | has(table["known_by"][card], viewer)
        kind = index(card_type(card))
        high = knows & (kind == KI) & is_high(table, card)
        at = index(SEATS + relative(int(seat), viewer, num_players))
        out[at + IN_HAND * size] = 1
        out[at + ON_TURN * size] = position == turn
        out[at + TO_COME * size] = position > turn
        out[at + HAS_STOOD * size] = deeds & STOOD != 0
        out[at + HAS_SWAPPED * size] = deeds & SWAPPED != 0
        out[at + HAS_GIVEN * size] = deeds & GAVE != 0
        out[at + HAS_DRAWN * size] = deeds & DREW != 0
        out[at + UNTOUCHED * size] = untouched
        out[at + IS_OPEN * size] = lies_open
        out[at + IS_CHOPPED * size] = has(chopped, seat)
        out[at + KNOWN * size] = (kind + index(1)) * knows
        out[at + KNOWN_HIGH * size] = high
        out[index(SEEN) + kind] += knows
    out[dealer + IS_DEALER * size] = 1


# information_state


@kernel
def information_state(table, rules, seat, out):
    """Writes what a seat knows, with perfect recall of the hand and the match's public summary."""
    out[:] = 0
    num_players = int(table["num_players"])
    _phase(table, seat, out)
    at = 5
    public_seat = int(table["seat"])
    if table["phase"] == GOK or table["phase"] == TURN:
        public_seat = int(table["order"][table["turn"]])
    if public_seat >= 0:
        out[at + relative(public_seat, seat, num_players)] = 1
    at += num_players
    at = seat_set(table["players"], seat, num_players, out, at)
    at = seat_set(bit(table["dealer"]), seat, num_players, out, at)
    out[at] = card_type(table["dealt"][seat]) + 1 if table["dealt"][seat] >= 0 else 0
    at += 1
    for number in range(table["num_events"]):
        _event(table, table["events"][number], seat, num_players, out, at + 6 * number)
    at += MAX_EVENTS * 6
    if table["showdown"]:
        for position in range(table["num_players_dealt"]):
            other = int(table["order"][position])
            card = table["hand"][other]
            out[at + relative(other, seat, num_players)] = card_type(card) + 1
    at += num_players
    at = seat_set(table["in_pot"], seat, num_players, out, at)
    at = seat_set(table["to_buy"], seat, num_players, out, at)
    for other in range(num_players):
        out[at + relative(other, seat, num_players)] = table["entries"][other]
    at += num_players
    at = seat_set(table["declined"], seat, num_players, out, at)
    at = seat_set(table["first_buyers"], seat, num_players, out, at)
    at = seat_set(table["prepaid"], seat, num_players, out, at)
    out[at] = table["first_done"]
    out[at + 1] = table["second_done"]
    digits(int(table["pot"]), 6, out, at + 2)
    if has(table["to_buy"], seat):
        digits(int(price(table, rules, seat)), 6, out, at + 8)
    digits(int(table["redeals"]), 4, out, at + 14)
    digits(int(table["deals"]), 4, out, at + 18)
    digits(int(table["pots_won"]), 4, out, at + 22)


@kernel
def _event(table, event, viewer, num_players, out, at):
    """Writes an event as a seat has seen it; a card that he cannot know is 0."""
    kind = int(event[0])
    out[at] = kind
    out[at + 1] = relative(int(event[1]), viewer, num_players) + 1
    whom = int(event[2])
    if kind == EV_CALL or kind == EV_ANSWER:
        out[at + 2] = whom
    elif whom >= 0:
        out[at + 2] = relative(whom, viewer, num_players) + 1
    for column in range(3, 5):
        card = int(event[column])
        if card >= 0 and known(table, viewer, card):
            out[at + column] = card_type(card) + 1
    extra = int(event[5])
    if kind == EV_SVIN or kind == EV_TALON_SVIN:
        out[at + 5] = relative(extra, viewer, num_players) + 1
    elif extra >= 0:
        out[at + 5] = extra & UNDONE != 0


# full_state


@kernel
def full_state(table, rules, seat, out):
    """Writes everything: the observation of a seat, then what is hidden from it.

    The talon has no order before it is drawn from, so there is none to show.
    """
    num_players = int(table["num_players"])
    size = SEATS + SEAT_PARTS * num_players
    observe(table, rules, seat, out[:size])
    out[size:] = 0
    highs = size + 21 * num_players
    for position in range(table["num_players_dealt"]):
        other = int(table["order"][position])
        card = int(table["hand"][other])
        distance = relative(other, seat, num_players)
        out[size + 21 * distance + card_type(card)] = 1
        out[highs + distance] = card_type(card) == KI and is_high(table, card)
    if table["seat"] >= 0:
        out[highs + num_players + relative(int(table["seat"]), seat, num_players)] = 1
    out[highs + 2 * num_players] = table["phase"] == GOK
    for number in range(table["num_laid_aside"]):
        out[highs + 2 * num_players + 1 + card_type(table["laid_aside"][number])] += 1
