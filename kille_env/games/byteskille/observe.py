"""What a seat of Byteskille sees: the compact observation, the information state, and everything.

Seats are counted clockwise from the one that looks: entry 0 of a `[P]` part is that seat itself.
The layouts below say what each part means; the page of the game is made from them.
"""

import numpy as np

from kille_env.cards.features import binary, capped, digits, one_seat, put, seat_set, start
from kille_env.cards.pack import Kind
from kille_env.cards.seats import has, relative
from kille_env.cards.sets import in_cards
from kille_env.core.jit import index, kernel
from kille_env.core.spec import SINGLE_DEAL, Part, lay_out, offsets
from kille_env.games.byteskille.settle import price
from kille_env.games.byteskille.table import (
    MAX_EVENTS,
    UNDONE,
    Deed,
    Event,
    Phase,
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
    """Returns the layout of the information state."""
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
    """Returns the layout of the full-information state."""
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

NOBODYS_TURN = 99  # past every position


@kernel
def known(table, seat, card):
    """Whether a seat knows what a card is: it lies open, or the seat has held it."""
    return is_shown(table, card) | has(table["known_by"][index(card)], seat)


@kernel
def _phase(table, seat):
    """The phase as a seat may know it: only the seat that is asked knows of a gok question."""
    hidden = (table["phase"] == Phase.GOK) & (table["seat"] != seat)
    return np.int64(Phase.TURN) if hidden else np.int64(table["phase"])


# observe


@kernel
def observe(table, rules, seat, out):
    """Writes the observation of a seat."""
    out[:] = 0
    p = np.int64(table["num_players"])
    if table["phase"] >= Phase.TURN:
        put(1, out, OBS.phase, p, _phase(table, seat) - Phase.TURN)
    card = int(table["hand"][seat])
    if card >= 0:
        kind = card_type(card)
        put(1, out, OBS.card, p, kind)
        put(kind == Kind.KI and is_high(table, card), out, OBS.card_high, p, 0)
        put(is_shown(table, card), out, OBS.card_open, p, 0)
        put(card == table["dealt"][seat], out, OBS.card_dealt, p, 0)
    put(table["asked"], out, OBS.asked, p, 0)
    put(table["first_done"], out, OBS.buying, p, 0)
    put(table["second_done"], out, OBS.buying, p, 1)
    # The three counters lie side by side and are written as one number.
    counters = capped(rules["max_redeals"] - table["redeals"], 5)
    counters |= capped(rules["max_deals"] - table["deals"], 8) << 5
    counters |= capped(rules["pots"] - table["pots_won"], 4) << 13
    binary(counters, 17, out, start(OBS.redeals_left, p))
    if table["pot"] > 0:
        # A whole division would cost a tenth of a step. This one is exact: below 2**16 a quotient
        # by a stake of at most 10**9 that is not whole lies farther from the next whole number
        # than it errs.
        pot = capped(2.0 * table["pot"] / rules["stake"], 16)
        binary(pot, 16, out, start(OBS.pot, p))
    if has(table["to_buy"], seat):
        cost = capped(2 * price(table, rules, seat) // rules["stake"], 16)
        binary(cost, 16, out, start(OBS.price, p))
    for number in range(table["num_laid_aside"]):
        aside = int(table["laid_aside"][number])
        out[start(OBS.seen, p) + card_type(aside)] += known(table, seat, aside)
    _observe_players(table, seat, p, out)
    if rules["episode"] != SINGLE_DEAL:
        buying = table["phase"] == Phase.BUYIN
        for other in range(p):
            at = relative(other, seat, p)
            put(table["entries"][index(other)], out, OBS.entries, p, at)
            put(has(table["declined"], other), out, OBS.declined, p, at)
            put(buying & has(table["in_pot"], other), out, OBS.still_in, p, at)


@kernel
def _observe_players(table, viewer, p, out):
    """Writes the parts that have an entry per seat, for those who were dealt a card.

    Everything is read before anything is written: to the compiler `out` could be the table itself,
    and each write would make it read the record again.
    """
    turn = int(table["turn"]) if Phase.TURN <= table["phase"] < Phase.BUYIN else NOBODYS_TURN
    chopped, shown, last = table["chopped"], table["shown"], int(table["num_players_dealt"])
    dealer = relative(int(table["dealer"]), viewer, p)
    for position in range(last):
        seat = index(table["order"][index(position)])
        card = index(table["hand"][seat])
        deeds = int(table["deeds"][seat])
        untouched = card == index(table["dealt"][seat])
        lies_open = in_cards(shown, card)
        knows = lies_open | has(table["known_by"][card], viewer)
        kind = card_type(card)
        high = knows & (kind == Kind.KI) & is_high(table, card)
        at = relative(int(seat), viewer, p)
        put(1, out, OBS.in_hand, p, at)
        put(position == turn, out, OBS.on_turn, p, at)
        put(position > turn, out, OBS.to_come, p, at)
        put(deeds & Deed.STOOD != 0, out, OBS.stood, p, at)
        put(deeds & Deed.SWAPPED != 0, out, OBS.swapped, p, at)
        put(deeds & Deed.GAVE != 0, out, OBS.gave, p, at)
        put(deeds & Deed.DREW != 0, out, OBS.drew, p, at)
        put(untouched, out, OBS.untouched, p, at)
        put(lies_open, out, OBS.open, p, at)
        put(has(chopped, seat), out, OBS.chopped, p, at)
        put((kind + 1) * knows, out, OBS.known, p, at)
        put(high, out, OBS.known_high, p, at)
        out[index(start(OBS.seen, p) + kind)] += knows
    put(1, out, OBS.dealer, p, dealer)


# information_state


@kernel
def information_state(table, rules, seat, out):
    """Writes what a seat knows, with perfect recall of the hand and the match's public summary."""
    out[:] = 0
    p = np.int64(table["num_players"])
    if table["phase"] >= Phase.TURN:
        put(1, out, INFO.phase, p, _phase(table, seat) - Phase.TURN)
    public_seat = int(table["seat"])
    if table["phase"] == Phase.GOK or table["phase"] == Phase.TURN:
        public_seat = int(table["order"][table["turn"]])
    one_seat(public_seat, seat, p, out, INFO.on_turn)
    seat_set(table["players"], seat, p, out, INFO.in_hand)
    one_seat(table["dealer"], seat, p, out, INFO.dealer)
    if table["dealt"][seat] >= 0:
        put(card_type(table["dealt"][seat]) + 1, out, INFO.dealt, p, 0)
    for number in range(table["num_events"]):
        at = start(INFO.events, p) + 6 * number
        _event(table, table["events"][number], seat, p, out, at)
    if table["showdown"]:
        for position in range(table["num_players_dealt"]):
            other = int(table["order"][position])
            kind = card_type(table["hand"][other])
            put(kind + 1, out, INFO.open_cards, p, relative(other, seat, p))
    seat_set(table["in_pot"], seat, p, out, INFO.in_pot)
    seat_set(table["to_buy"], seat, p, out, INFO.to_buy)
    for other in range(p):
        put(table["entries"][other], out, INFO.entries, p, relative(other, seat, p))
    seat_set(table["declined"], seat, p, out, INFO.declined)
    seat_set(table["first_buyers"], seat, p, out, INFO.first_buyers)
    seat_set(table["prepaid"], seat, p, out, INFO.prepaid)
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
    """Writes an event as a seat has seen it; a card that it cannot know is 0."""
    kind = int(event[0])
    out[at] = kind
    out[at + 1] = relative(int(event[1]), viewer, num_players) + 1
    whom = int(event[2])
    if kind == Event.CALL or kind == Event.ANSWER:
        out[at + 2] = whom
    elif whom >= 0:
        out[at + 2] = relative(whom, viewer, num_players) + 1
    for column in range(3, 5):
        card = int(event[column])
        if card >= 0 and known(table, viewer, card):
            out[at + column] = card_type(card) + 1
    extra = int(event[5])
    if kind == Event.SVIN or kind == Event.TALON_SVIN:
        out[at + 5] = relative(extra, viewer, num_players) + 1
    elif extra >= 0:
        out[at + 5] = extra & UNDONE != 0


# full_state


@kernel
def full_state(table, rules, seat, out):
    """Writes everything: the observation of a seat, then what is hidden from it.

    The talon has no order before it is drawn from, so there is none to show.
    """
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
