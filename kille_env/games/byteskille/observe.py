"""Observations of Byteskille: compact, with perfect recall, and of everything.

Seats are counted clockwise from the one that looks: entry 0 of a `[P]` part is that seat itself.
The layouts below say what each part means; the page of the game is made from them.
"""

import numpy as np

from kille_env.cards.features import (
    capped,
    digits,
    one_seat,
    put,
    start,
    write_bits,
    write_counts,
    write_sets,
)
from kille_env.cards.pack import Kind
from kille_env.cards.seats import has, left_of, next_seat, only, relative, seen_from
from kille_env.cards.sets import in_cards
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part, lay_out, offsets
from kille_env.games.byteskille.rules import (
    MAX_EVENTS,
    UNDONE,
    Event,
    Phase,
    card_type,
    is_high,
    price,
)


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the observation."""
    p = num_players
    return lay_out(
        Part(
            "phase",
            5,
            "what is decided: exchange, gok (call or wait), dealer's answer, third player's "
            "answer, buying in (one-hot); only the gok holder who is asked sees gok",
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
        Part("on_turn", p, "it is on turn to exchange"),
        Part("to_come", p, "its turn to exchange is still to come, if nobody goes past it"),
        Part("stood", p, "stood"),
        Part("swapped", p, "swapped with another player on its turn"),
        Part("gave", p, "had to give its card away"),
        Part("drew", p, "went to the talon"),
        Part("untouched", p, "holds the card that it was dealt"),
        Part("open", p, "its card lies face up"),
        Part("chopped", p, "is chopped"),
        Part(
            "known",
            p,
            "its card as far as the viewer can tell: 1 blaren to 21 kille, 0 unknown",
            21,
        ),
        Part("known_high", p, "the known card is a kille that ranks high"),
        Part("entries", p, "times that it bought in for this pot", 127),
        Part("declined", p, "declined to buy in"),
        Part("still_in", p, "buying in: is in for the next hand, as things stand"),
    )


def information_state_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the information state."""
    p = num_players
    return lay_out(
        Part("phase", 5, "as in the observation"),
        Part("on_turn", p, "it is on turn to exchange, or is to answer or to buy"),
        Part("in_hand", p, "was dealt a card in this hand"),
        Part("dealer", p, "is the dealer"),
        Part("dealt", 1, "the card that the seat was dealt: 1 blaren to 21 kille, 0 none", 21),
        Part(
            "events",
            MAX_EVENTS * 6,
            "the hand so far, six numbers per event, zeros behind the last: kind (1 stand, "
            "2 exchange, 3 passed, 4 gok stood, 5 husar, 6 svin, 7 talon passed, 8 talon gok, 9 "
            "talon husar, 10 talon svin, 11 talon taken, 12 call, 13 ask, 14 answer); who, counted "
            "from 1, the seat itself; whom, likewise (0 nobody; a call: 1 on the own turn; an "
            "answer: the action); its card, 1 to 21, 0 if unknown; the other card, likewise; 1 if "
            "undone since, for a svin the seat that was chopped",
            255,
        ),
        Part("open_cards", p, "cards at the showdown: 1 blaren to 21 kille, 0 none", 21),
        Part("in_pot", p, "is in (when buying in: after the showdown and the decisions so far)"),
        Part("to_buy", p, "will still be asked to buy in"),
        Part("entries", p, "times that it bought in for this pot", 127),
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
    """Return the layout of the full-information state."""
    p = num_players
    observed = observation_parts(p)
    return lay_out(
        *observed,
        Part("hands", p * 21, "every seat's card (one-hot, 21 per seat)"),
        Part("high", p, "its card is a kille that ranks high"),
        Part("to_act", p, "has to decide now"),
        Part("gok_asked", 1, "the decision is a gok holder's, between turns"),
        Part("laid_aside", 21, "cards of each type that left the talon or a hand in this hand", 2),
    )


OBS = offsets(observation_parts)
INFO = offsets(information_state_parts)
FULL = offsets(full_state_parts)


@kernel
def known_cards(table, seat):
    """Return the cards that a seat can locate: open ones, and those that it has held."""
    return np.uint64(table["shown"]) | np.uint64(table["held"][index(seat)])


@kernel
def _phase(table, seat):
    """Return the phase as a seat may know it: a gok question is known to its own seat alone."""
    hidden = (table["phase"] == Phase.GOK) & (table["seat"] != seat)
    return np.int64(Phase.TURN) if hidden else np.int64(table["phase"])


@kernel
def _phase_bit(table, seat):
    """Return the phase as one bit of the decisions that there are."""
    asked = table["phase"] >= Phase.TURN
    return np.uint64(asked) << np.uint64(max(_phase(table, seat) - Phase.TURN, 0))


# observe


@kernel
def observe(table, rules, seat, out):
    """Write the observation of a seat."""
    p = np.int64(table["num_players"])
    knows = known_cards(table, seat)
    write_bits(_own_card(table, seat), 30, out, start(OBS.phase, p))
    write_counts(knows, out, start(OBS.seen, p))
    write_bits(_counters(table, rules, seat), 51, out, start(OBS.redeals_left, p))
    _observe_players(table, seat, p, knows, out)


@kernel
def _own_card(table, seat):
    """Return the phase and the viewer's own card as bits, in the order of the layout."""
    word = _phase_bit(table, seat)
    card = int(table["hand"][index(seat)])
    if card >= 0:
        kind = card_type(card)
        high = (kind == Kind.KI) & is_high(table, card)
        word |= np.uint64(1) << np.uint64(5 + kind)
        word |= np.uint64(high) << np.uint64(26)
        word |= np.uint64(in_cards(table["shown"], card)) << np.uint64(27)
        word |= np.uint64(card == table["dealt"][index(seat)]) << np.uint64(28)
    return word | np.uint64(table["asked"]) << np.uint64(29)


@kernel
def _counters(table, rules, seat):
    """Return the numbers that an observation shows in binary, in the order of the layout."""
    word = np.uint64(capped(rules["max_redeals"] - table["redeals"], 5))
    word |= np.uint64(capped(rules["max_deals"] - table["deals"], 8)) << np.uint64(5)
    word |= np.uint64(capped(rules["pots"] - table["pots_won"], 4)) << np.uint64(13)
    word |= np.uint64(table["first_done"]) << np.uint64(17)
    word |= np.uint64(table["second_done"]) << np.uint64(18)
    if table["pot"] > 0:
        # A whole division would cost a tenth of a step. This one is exact: below 2**16 a quotient
        # by a stake of at most 10**9 that is not whole lies farther from the next whole number
        # than it errs.
        word |= np.uint64(capped(2.0 * table["pot"] / rules["stake"], 16)) << np.uint64(19)
    if has(table["to_buy"], seat):
        cost = capped(2 * price(table, rules, seat) // rules["stake"], 16)
        word |= np.uint64(cost) << np.uint64(35)
    return word


@kernel
def _turns(table, p):
    """Return the seat on turn to exchange and the seats still to come: two sets of seats."""
    turns = (table["phase"] >= Phase.TURN) & (table["phase"] < Phase.BUYIN)
    on_turn = np.int64(table["order"][index(table["turn"])]) if turns else np.int64(-1)
    forehand = next_seat(table, table["dealer"])
    speaking = seen_from(table["players"], forehand, p)  # in the order in which they speak
    done = np.uint64(relative(max(on_turn, 0), forehand, p) + 1)
    waiting = (speaking >> done) << done if turns else np.uint64(0)
    return np.uint64(only(on_turn)), seen_from(waiting, p - forehand, p)


@kernel
def _known_high(table, knows):
    """Return the seats that hold, of the given cards, a kille that ranks high."""
    seats, high = np.uint64(0), knows & (np.uint64(table["high"]) << np.uint64(2 * Kind.KI))
    if high != 0:  # seldom
        for position in range(table["num_players_dealt"]):
            seat = index(table["order"][index(position)])
            seats |= np.uint64(in_cards(high, table["hand"][seat])) << np.uint64(seat)
    return seats


@kernel
def _observe_players(table, viewer, p, knows, out):
    """Write the parts that have an entry per seat."""
    # All fields are read before anything is written: to the compiler `out` could be the table
    # itself, and each write would make it read the record again.
    on_turn, to_come = _turns(table, p)
    players, dealer = np.uint64(table["players"]), np.uint64(only(table["dealer"]))
    stood, swapped = np.uint64(table["stood"]), np.uint64(table["swapped"])
    gave, drew = np.uint64(table["gave"]), np.uint64(table["drew"])
    untouched, lies_open = np.uint64(table["untouched"]), np.uint64(table["open"])
    chopped = np.uint64(table["chopped"])
    declined, still_in = np.uint64(table["declined"]), np.uint64(table["in_pot"])
    still_in = still_in if table["phase"] == Phase.BUYIN else np.uint64(0)
    seat = index(viewer)
    for at in range(p):
        card, entries = np.int64(table["hand"][seat]), table["entries"][seat]
        put((card_type(card) + 1) * in_cards(knows, max(card, 0)), out, OBS.known, p, at)
        put(entries, out, OBS.entries, p, at)
        seat = index(left_of(seat, 1, p))
    high = _known_high(table, knows)
    turns = players, dealer, on_turn, to_come, stood, swapped, gave, drew
    cards = untouched, lies_open, chopped
    write_sets(turns + cards, viewer, p, out, start(OBS.in_hand, p))
    write_sets((high,), viewer, p, out, start(OBS.known_high, p))
    write_sets((declined, still_in), viewer, p, out, start(OBS.declined, p))


# information_state


@kernel
def information_state(table, rules, seat, out):
    """Write the knowledge of a seat, with perfect recall of the hand and a summary of the match."""
    out[:] = 0
    p = np.int64(table["num_players"])
    write_bits(_phase_bit(table, seat), 5, out, start(INFO.phase, p))
    public_seat = np.int64(table["seat"])
    if table["phase"] == Phase.GOK or table["phase"] == Phase.TURN:
        public_seat = np.int64(table["order"][index(table["turn"])])
    sets = only(public_seat), table["players"], only(table["dealer"])
    write_sets(sets, seat, p, out, start(INFO.on_turn, p))
    put(card_type(table["dealt"][index(seat)]) + 1, out, INFO.dealt, p, 0)
    for number in range(table["num_events"]):
        at = start(INFO.events, p) + 6 * number
        _event(table, table["events"][index(number)], seat, p, out, at)
    write_sets((table["in_pot"], table["to_buy"]), seat, p, out, start(INFO.in_pot, p))
    for at in range(p):
        other = index(left_of(seat, at, p))
        # Cards that lie open before the showdown follow from the events, and need no entry.
        card = np.int64(table["hand"][other]) if table["showdown"] else np.int64(-1)
        put(card_type(card) + 1, out, INFO.open_cards, p, at)
        put(table["entries"][other], out, INFO.entries, p, at)
    sets = table["declined"], table["first_buyers"], table["prepaid"]
    write_sets(sets, seat, p, out, start(INFO.declined, p))
    put(table["first_done"], out, INFO.buying, p, 0)
    put(table["second_done"], out, INFO.buying, p, 1)
    digits(int(table["pot"]), 6, out, start(INFO.pot, p))
    if has(table["to_buy"], seat):
        digits(int(price(table, rules, seat)), 6, out, start(INFO.price, p))
    digits(int(table["redeals"]), 4, out, start(INFO.redeals, p))
    digits(int(table["deals"]), 4, out, start(INFO.deals, p))
    digits(int(table["pots_won"]), 4, out, start(INFO.pots_won, p))


@kernel
def _event(table, event, viewer, num_players, out, at):
    """Write an event as a seat has seen it; a card that it cannot know is 0."""
    kind = int(event[0])
    out[at] = kind
    out[at + 1] = relative(int(event[1]), viewer, num_players) + 1
    second = int(event[2])
    if kind == Event.CALL or kind == Event.ANSWER:
        out[at + 2] = second  # no seat, but a flag or an action
    elif second >= 0:
        out[at + 2] = relative(second, viewer, num_players) + 1
    for column in range(3, 5):
        card = int(event[column])
        if card >= 0 and in_cards(known_cards(table, viewer), card):
            out[at + column] = card_type(card) + 1
    extra = int(event[5])
    if kind == Event.SVIN or kind == Event.TALON_SVIN:
        out[at + 5] = relative(extra, viewer, num_players) + 1
    elif extra >= 0:
        out[at + 5] = extra & UNDONE != 0


# full_state


@kernel
def full_state(table, rules, seat, out):
    """Write everything: the observation of a seat, then the rest."""
    # The talon has no order before it is drawn from, so there is none to show.
    p = np.int64(table["num_players"])
    end = start(FULL.hands, p)
    observe(table, rules, seat, out[:end])
    out[end:] = 0
    for position in range(table["num_players_dealt"]):
        other = int(table["order"][position])
        card = int(table["hand"][other])
        at = relative(other, seat, p)
        put(1, out, FULL.hands, p, 21 * at + card_type(card))
        put(card_type(card) == Kind.KI and is_high(table, card), out, FULL.high, p, at)
    one_seat(table["seat"], seat, p, out, FULL.to_act)
    put(table["phase"] == Phase.GOK, out, FULL.gok_asked, p, 0)
    for number in range(table["num_laid_aside"]):
        kind = card_type(table["laid_aside"][number])
        out[start(FULL.laid_aside, p) + kind] += 1
