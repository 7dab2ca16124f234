"""Byteskille's record of a table and its rules as kernels, from the deal to the payment.

Sets of seats, and of cards, are bit sets. What happened in a hand is in `events`, rows of six small
numbers `(kind, a, b, card_a, card_b, extra)`, -1 where a column says nothing:

    STAND         a is content
    EXCHANGE      a swaps with b: card_a went to b, card_b to a; extra: see below
    PASSED        a is sent past b, who shows card_b (inn or cavalier)
    GOK_STOOD     a meets b's gok, card_b: the round is over
    HUSAR         a meets b's husar, card_b: a is chopped
    SVIN          a meets b's svin, card_b: card_a is chopped, extra is the seat that it costs
    TALON_PASSED  a draws card_b, an inn or cavalier, which is laid aside
    TALON_GOK     a draws card_b, a gok: the round is over
    TALON_HUSAR   a draws card_b, a husar: a is chopped
    TALON_SVIN    a draws card_b, a svin: card_a is chopped, extra is the seat that it costs
    TALON_TAKEN   a lays card_a aside and takes card_b; extra: see below
    CALL          a calls with the gok card_a; b is 1 on a's own turn, 0 between turns
    ASK           a asks for better cards
    ANSWER        a answers, b is the action (YES, NO, DEFER)

`extra` of EXCHANGE and TALON_TAKEN: bits 0 and 1 are the rank of the two killes before it (1:
high), bit 2 says that a svin has undone it. A gok holder's waits are no events: that it was asked
follows from its card and the turns, and nobody else may know.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from kille_env.cards.features import write_bits
from kille_env.cards.pack import KILLE_PACK, Kind, draw, take_pack
from kille_env.cards.seats import bit, everybody, has, next_seat, seat_left_of
from kille_env.cards.sets import card_bit, how_many, in_cards, members
from kille_env.core.jit import index, kernel
from kille_env.core.spec import SINGLE_DEAL, Rules
from kille_env.core.table import new_deal, new_match, table_dtype

MAX_PLAYERS = 20
MAX_EVENTS = 32  # 20 turns, 4 inns and cavaliers, a question with two answers, a call: 28


class Action(IntEnum):
    """The actions."""

    STAND, SWAP, CALL, WAIT, ASK, YES, NO, DEFER, BUY, DECLINE = range(10)


class Phase(IntEnum):
    """The phases of a hand; GOK: whether a hidden gok is called, between turns."""

    DEAL, OVER, TURN, GOK, ANSWER_DEALER, ANSWER_THIRD, BUYIN = range(7)


class Event(IntEnum):
    """The kinds of events in a hand; see the top of this file."""

    STAND, EXCHANGE, PASSED, GOK_STOOD, HUSAR, SVIN = range(1, 7)
    TALON_PASSED, TALON_GOK, TALON_HUSAR, TALON_SVIN, TALON_TAKEN = range(7, 12)
    CALL, ASK, ANSWER = range(12, 15)


class Redeal(IntEnum):
    """Why the hand is dealt again."""

    NONE, QUESTION, KILLE = range(3)


class Occasion(IntEnum):
    """Which buying in is open."""

    NONE, FIRST, SECOND, AFTER_EACH = range(4)


UNDONE = 4


# The values of switches (`spec` says what they mean).

Ante = IntEnum("Ante", "POT DEAL", start=0)
KilleRank = IntEnum("KilleRank", "LOW HIGH", start=0)
HighKille = IntEnum("HighKille", "EQUAL_GOK ABOVE_GOK", start=0)
PigScope = IntEnum("PigScope", "CARD ALL", start=0)
GokCall = IntEnum("GokCall", "ANY_TIME OWN_TURN OFF", start=0)
Fraga = IntEnum("Fraga", "FORCED OFF", start=0)
NextDealer = IntEnum("NextDealer", "AFTER BEFORE", start=0)
TwoPlayer = IntEnum("TwoPlayer", "ORDINARY WIKI", start=0)
Reentry = IntEnum("Reentry", "SVENSK WIKI3 WIKI2 NONE", start=0)
Wiki2Second = IntEnum("Wiki2Second", "HALF FULL", start=0)

TABLE = table_dtype(
    MAX_PLAYERS,
    KILLE_PACK.size,
    [
        ("pot", np.int64),
        ("shown_pot", np.int64),  # the pot for the result: after buying in, before it is paid out
        ("opening_pot", np.int64),  # the pot when the buying in opened
        ("left_on_table", np.int64),  # what a split could not divide
        ("shown", np.uint64),  # cards that lie face up
        ("in_pot", np.uint32),  # who plays for the pot; after a showdown: who is left
        ("players", np.uint32),  # who was dealt a card
        ("stood", np.uint32),
        ("swapped", np.uint32),  # swapped with another player on its turn
        ("gave", np.uint32),  # had to give its card away
        ("drew", np.uint32),  # went to the talon
        ("untouched", np.uint32),  # holds the card that it was dealt
        ("open", np.uint32),  # its card lies face up
        ("chopped", np.uint32),
        ("out", np.uint32),  # eliminated by this hand
        ("left", np.uint32),  # still in after it, before buying in
        ("to_buy", np.uint32),  # who will still be asked to buy in
        ("declined", np.uint32),
        ("first_buyers", np.uint32),
        ("prepaid", np.uint32),  # who bought in for a price that covers the next ante
        ("redeals", np.int32),  # questions granted in this deal
        ("pots_won", np.int32),
        ("num_players_dealt", np.int8),
        ("turn", np.int8),  # index into order of the player whose turn to exchange it is
        ("gok_offset", np.int8),  # how far left of it sits the gok holder that is asked
        ("goks", np.int8),  # goks in hands
        ("high", np.uint8),  # bit k: copy k of the kille ranks high
        ("asked", np.int8),  # forehand has asked in this hand
        ("redeal", np.int8),  # why the hand is dealt again
        ("showdown", np.int8),  # the cards in hands lie open
        ("occasion", np.int8),  # the buying in that is open
        ("first_done", np.int8),
        ("second_done", np.int8),
        ("new_pot", np.int8),  # the next deal begins a pot
        ("next_dealer", np.int8),
        ("winner", np.int8),  # of the pot, by this hand
        ("num_laid_aside", np.int8),
        ("num_events", np.int8),
        ("laid_aside", np.int8, (8,)),  # cards that have left the talon or a hand
        ("held", np.uint64, (MAX_PLAYERS,)),  # by seat: the cards that it has held and can follow
        ("order", np.int8, (MAX_PLAYERS,)),  # seats of this hand, forehand first, dealer last
        ("hand", np.int8, (MAX_PLAYERS,)),  # by seat; -1 none
        ("dealt", np.int8, (MAX_PLAYERS,)),  # by seat: the card that it was dealt
        ("entries", np.int8, (MAX_PLAYERS,)),  # by seat: times that it bought in
        ("events", np.int8, (MAX_EVENTS, 6)),
    ],
)


@kernel
def card_type(card):
    """Return the type of a card, 0 (blaren) to 20 (kille)."""
    return np.int64(card) >> 1


@kernel
def is_high(table, card):
    """Return whether a kille ranks high."""
    return (np.int64(table["high"]) >> (np.int64(card) & 1)) & 1 != 0


@kernel
def is_shown(table, card):
    """Return whether a card lies face up."""
    return in_cards(table["shown"], card)


# begin, deal


@kernel
def begin(table, rules, dealer):
    """Begin a match: its first deal will open the first pot."""
    new_match(table, dealer)
    table["next_dealer"] = table["dealer"]
    table["pots_won"] = 0
    table["new_pot"] = 1
    table["redeal"] = Redeal.NONE
    table["left_on_table"] = 0
    _open_pot(table, rules)
    _clear_hand(table)


@kernel
def _open_pot(table, rules):
    """Bring all seats in for a new pot, empty, and forget the last pot's buying in."""
    table["in_pot"] = everybody(table)
    table["declined"] = 0
    table["first_buyers"] = 0
    table["prepaid"] = 0
    table["first_done"] = 0
    table["second_done"] = 0
    table["entries"][:] = 0
    table["pot"] = 0


@kernel
def _clear_hand(table):
    table["players"] = 0
    table["stood"] = 0
    table["swapped"] = 0
    table["gave"] = 0
    table["drew"] = 0
    table["untouched"] = 0
    table["open"] = 0
    table["chopped"] = 0
    table["out"] = 0
    table["left"] = 0
    table["to_buy"] = 0
    table["shown"] = 0
    table["num_players_dealt"] = 0
    table["turn"] = 0
    table["gok_offset"] = 0
    table["goks"] = 0
    table["asked"] = 0
    table["showdown"] = 0
    table["occasion"] = Occasion.NONE
    table["winner"] = -1
    table["num_laid_aside"] = 0
    table["num_events"] = 0
    table["hand"][:] = -1
    table["dealt"][:] = -1
    table["held"][:] = 0


@kernel
def deal(table, rules):
    """Pay antes, deal one card each and give forehand the word."""
    # A hand that is dealt again is the same deal: the same dealer, no further ante.
    if table["redeal"] == Redeal.NONE:
        new_pot = table["new_pot"] != 0
        if new_pot:
            _open_pot(table, rules)
            table["new_pot"] = 0
        table["dealer"] = table["next_dealer"]
        table["redeals"] = 0
        if rules["episode"] != SINGLE_DEAL and (new_pot or rules["ante"] == Ante.DEAL):
            _pay_antes(table, rules)
    table["redeal"] = Redeal.NONE
    new_deal(table)
    _clear_hand(table)
    _deal_cards(table, rules)
    if table["num_players_dealt"] == 2 and rules["two_player"] == TwoPlayer.WIKI:
        # "the cards are re-dealt if one of them has received the Harlequin, and there is an
        # immediate showdown if one of them has received the Cuckoo" (English article; D-E15)
        first, second = table["hand"][table["order"][0]], table["hand"][table["order"][1]]
        if card_type(first) == Kind.KI or card_type(second) == Kind.KI:
            deal_again(table, rules, Redeal.KILLE)
            return
        if table["goks"] > 0:
            showdown(table, rules)
            return
    give_turn(table, rules, 0)


@kernel
def _pay_antes(table, rules):
    for seat in range(table["num_players"]):
        if has(table["in_pot"], seat) and not has(table["prepaid"], seat):
            pay(table, seat, rules["stake"])
    table["prepaid"] = 0


@kernel
def _deal_cards(table, rules):
    """Deal one card each, forehand first, dealer last."""
    take_pack(table)
    table["high"] = 3 if rules["dealt_kille"] == KilleRank.HIGH else 0
    table["players"] = table["in_pot"]
    table["untouched"] = table["in_pot"]
    seat = np.int64(table["dealer"])
    position = 0
    for _ in range(int(table["num_players"])):
        seat = next_seat(table, seat)
        if has(table["players"], seat):
            card = index(draw(table))
            table["order"][index(position)] = seat
            table["hand"][index(seat)] = card
            table["dealt"][index(seat)] = card
            table["held"][index(seat)] = card_bit(card)
            table["goks"] += card_type(card) == Kind.GO
            position += 1
    table["num_players_dealt"] = position


# legal_actions


@kernel
def legal_actions(table, rules, seat, out):
    """Mark the legal actions of a seat and, while a gok holder is asked, of the player on turn."""
    # The player on turn must not notice from its mask that a gok holder is asked.
    # Without branches: the phase cannot be predicted, and a wrong guess costs as much as all of
    # this.
    phase, turn, two = table["phase"], table["turn"], table["num_players_dealt"] == 2
    acts = seat == table["seat"]
    on_turn = ((phase == Phase.TURN) | (phase == Phase.GOK)) & (seat == table["order"][index(turn)])
    gok_asked = acts & (phase == Phase.GOK)
    dealer_answers = acts & (phase == Phase.ANSWER_DEALER)
    # With three, the dealer may refuse or defer, but accept alone only by the switch (D-E11).
    may_accept = two | (rules["fraga3_dealer_accept"] != 0)
    third_answers = acts & (phase == Phase.ANSWER_THIRD)
    buys = acts & (phase == Phase.BUYIN)
    holds_gok = card_type(table["hand"][index(seat)]) == Kind.GO
    may_ask = (
        (rules["fraga"] == Fraga.FORCED)
        & (table["num_players_dealt"] <= 3)
        & (turn == 0)
        & (table["asked"] == 0)
        & (table["redeals"] < rules["max_redeals"])
    )
    may_call = gok_asked | (on_turn & holds_gok & (rules["gok_call"] != GokCall.OFF))
    may = (
        on_turn,
        on_turn,
        may_call,
        gok_asked,
        on_turn & may_ask,
        third_answers | (dealer_answers & may_accept),
        third_answers | dealer_answers,
        dealer_answers & (not two),
        buys,
        buys,
    )
    word = np.uint64(0)
    for action in range(len(may)):
        word |= np.uint64(may[action]) << np.uint64(action)
    write_bits(word, len(may), out, 0)


@kernel
def give_turn(table, rules, turn):
    """Pass the turn to speak to the player at `turn`; past the dealer begin the showdown."""
    if turn >= table["num_players_dealt"]:
        showdown(table, rules)
        return
    table["turn"] = turn
    table["gok_offset"] = 0
    ask_gok_holders(table, rules)


@kernel
def ask_gok_holders(table, rules):
    """Ask the next holder of a hidden gok, clockwise from the player on turn; then that player."""
    # "En spelare som sitter med kuku har rätt att närsomhelst lägga upp kortet" (Swedish article;
    # D-E10).
    turn, size = np.int64(table["turn"]), np.int64(table["num_players_dealt"])
    if rules["gok_call"] == GokCall.ANY_TIME and table["goks"] > 0:
        for offset in range(np.int64(table["gok_offset"]) + 1, size):
            position = turn + offset
            seat = table["order"][index(position - size if position >= size else position)]
            card = table["hand"][seat]
            if card_type(card) == Kind.GO and not is_shown(table, card):
                table["gok_offset"] = offset
                table["phase"] = Phase.GOK
                table["seat"] = seat
                return
    table["phase"] = Phase.TURN
    table["seat"] = table["order"][turn]


# apply


@kernel
def apply(table, rules, action):
    """Play a legal action of the seat to act."""
    seat = np.int64(table["seat"])
    if action == Action.STAND:
        _log(table, Event.STAND, seat, -1, -1, -1, -1)
        table["stood"] |= bit(seat)
        give_turn(table, rules, np.int64(table["turn"]) + 1)
    elif action == Action.SWAP:
        _swap(table, rules)
    elif action == Action.CALL:
        own_turn = table["phase"] == Phase.TURN
        _show_hand(table, seat)
        _log(table, Event.CALL, seat, own_turn, table["hand"][seat], -1, -1)
        showdown(table, rules)
    elif action == Action.WAIT:
        ask_gok_holders(table, rules)
    elif action == Action.ASK:
        table["asked"] = 1
        _log(table, Event.ASK, seat, -1, -1, -1, -1)
        table["phase"] = Phase.ANSWER_DEALER
        table["seat"] = table["dealer"]
    elif action <= Action.DEFER:
        _answer(table, rules, seat, action)
    else:
        buy_or_decline(table, rules, seat, action)


@kernel
def _log(table, kind, a, b, card_a, card_b, extra):
    number = np.int64(table["num_events"])
    event = table["events"][index(number)]
    event[0] = kind
    event[1] = a
    event[2] = b
    event[3] = card_a
    event[4] = card_b
    event[5] = extra
    table["num_events"] = number + 1


@kernel
def _show_card(table, card):
    table["shown"] = np.uint64(table["shown"]) | card_bit(card)


@kernel
def _show_hand(table, seat):
    _show_card(table, table["hand"][index(seat)])
    table["open"] |= bit(seat)


@kernel
def _answer(table, rules, seat, action):
    _log(table, Event.ANSWER, seat, action, -1, -1, -1)
    if action == Action.YES:
        table["redeals"] += 1
        deal_again(table, rules, Redeal.QUESTION)
    elif action == Action.DEFER:
        table["phase"] = Phase.ANSWER_THIRD
        table["seat"] = table["order"][1]
    else:  # forehand goes on; gok holders were asked before that turn already
        table["phase"] = Phase.TURN
        table["seat"] = table["order"][0]


@kernel
def _swap(table, rules):
    """Demand the left neighbor's card for the player on turn; matadors answer by themselves."""
    turn, size = np.int64(table["turn"]), np.int64(table["num_players_dealt"])
    seat = np.int64(table["order"][turn])
    position = turn + 1
    while position < size:
        other = np.int64(table["order"][index(position)])
        card = table["hand"][index(other)]
        kind = card_type(card)
        if kind < Kind.VH or kind == Kind.KI:
            # The word goes to the seat that had to give its card; those passed on the way have lost
            # their turn (D-E05).
            _exchange(table, rules, seat, other)
            give_turn(table, rules, position)
            return
        _show_hand(table, other)
        position += 1
        if kind > Kind.KA:
            _challenge(table, rules, seat, other, card, position)
            return
        _log(table, Event.PASSED, seat, other, -1, card, -1)
    _go_to_talon(table, rules, seat)


@kernel
def _challenge(table, rules, seat, other, card, turn):
    """Apply a svin, husar or gok that is demanded from another, or drawn: `other` is -1."""
    # A gok ends the round; otherwise the player at `turn` is next, except for two players by the
    # English article, where a chopped player "has immediately lost".
    kind = card_type(card)
    drawn = other < 0
    if kind == Kind.SV:
        _svin(table, rules, Event.TALON_SVIN if drawn else Event.SVIN, seat, other, card)
    elif kind == Kind.HU:
        event = Event.TALON_HUSAR if drawn else Event.HUSAR
        _log(table, event, seat, other, -1, card, -1)
        # Out at the showdown, not at once: the rule for a deadlock needs the card (D-E23).
        table["chopped"] |= bit(seat)
    else:
        event = Event.TALON_GOK if drawn else Event.GOK_STOOD
        _log(table, event, seat, other, -1, card, -1)
    lost = table["num_players_dealt"] == 2 and rules["two_player"] == TwoPlayer.WIKI
    if kind == Kind.GO or lost:
        showdown(table, rules)
    else:
        give_turn(table, rules, turn)


@kernel
def _exchange(table, rules, a, b):
    """Swap the cards of two players; "killar som ingår i ett byte skall ha bildsidan upp"."""
    a, b = index(a), index(b)
    card_a, card_b = index(table["hand"][a]), index(table["hand"][b])
    _log(table, Event.EXCHANGE, a, b, card_a, card_b, np.int64(table["high"]))
    table["swapped"] |= bit(a)
    table["gave"] |= bit(b)
    meet = card_type(card_a) == Kind.KI and card_type(card_b) == Kind.KI  # killemote
    high = meet and rules["meeting"] == KilleRank.HIGH
    _turn_up_kille(table, card_a, high)
    _turn_up_kille(table, card_b, high)
    _take(table, a, card_b)
    _take(table, b, card_a)


@kernel
def _take(table, seat, card):
    """Give a seat another card, as it lies; the seat can follow it from now on."""
    # A card comes back by an undone exchange or by a later one, and counts as untouched then.
    this, others = np.uint32(seat), ~bit(seat)
    is_its_own = np.uint32(table["dealt"][index(seat)] == card)
    lies_open = np.uint32(is_shown(table, card))
    table["hand"][index(seat)] = card
    table["held"][index(seat)] |= card_bit(card)
    table["untouched"] = (table["untouched"] & others) | (is_its_own << this)
    table["open"] = (table["open"] & others) | (lies_open << this)


@kernel
def _turn_up_kille(table, card, high):
    """Turn a moving kille face up, with its rank; any other card stays as it is."""
    if card_type(card) == Kind.KI:
        _show_card(table, card)
        _set_high(table, card, high)


@kernel
def _set_high(table, kille, high):
    flag = 1 << (np.int64(kille) & 1)
    flags = np.int64(table["high"])
    table["high"] = (flags | flag) if high else (flags & ~flag)


@kernel
def _lay_aside(table, card):
    number = np.int64(table["num_laid_aside"])
    table["laid_aside"][number] = card
    table["num_laid_aside"] = number + 1


@kernel
def _go_to_talon(table, rules, seat):
    """Draw for a player without a neighbor to swap with; a matador drawn has its power."""
    table["drew"] |= bit(seat)
    size = np.int64(table["num_players_dealt"])
    # A player who was sent past the dealer's inn or cavalier draws; the dealer then still has a
    # turn, if the rules say so.
    dealer_acts = rules["dealer_after_inn"] and table["order"][size - 1] != seat
    turn = size - 1 if dealer_acts else size
    while True:
        card = draw(table)
        kind = card_type(card)
        if kind < Kind.VH or kind == Kind.KI:
            _take_from_talon(table, seat, card)
            break
        _show_card(table, card)
        _lay_aside(table, card)
        if kind > Kind.KA:
            _challenge(table, rules, seat, -1, card, turn)
            return
        _log(table, Event.TALON_PASSED, seat, -1, -1, card, -1)
        if rules["stock_redraw"] == 0:
            break
    give_turn(table, rules, turn)


@kernel
def passed_over(table, rules, card):
    """Return whether a card that is drawn now is laid aside for another, the hand's last."""
    if table["phase"] != Phase.TURN or rules["stock_redraw"] == 0:
        return False
    last = table["order"][index(np.int64(table["num_players_dealt"]) - 1)]
    dealer_acts = (rules["dealer_after_inn"] != 0) & (last != table["seat"])
    kind = card_type(card)
    return (kind >= Kind.VH) & (kind <= Kind.KA) & (not dealer_acts)


@kernel
def _take_from_talon(table, seat, card):
    old = np.int64(table["hand"][seat])
    _log(table, Event.TALON_TAKEN, seat, -1, old, card, np.int64(table["high"]))
    _lay_aside(table, old)
    table["goks"] -= card_type(old) == Kind.GO
    # Both articles rank a kille from the talon high (D-E02). Any other card stays hidden (D-E17).
    _turn_up_kille(table, card, True)
    _take(table, seat, card)
    if card_type(old) == Kind.KI:
        _show_card(table, old)


@kernel
def _svin(table, rules, kind, seat, other, card):
    """Chop the card that was to be swapped with the pig: the seat that was dealt it is out."""
    # "Alla eventuella tidigare byten som gjorts med det huggna kortet skall nämligen upphävas,
    # [...] i omvänd ordning" (Swedish article; D-E06, D-E07). The two-player rule of the English
    # article knows no undoing: there the one who swaps has lost (D-E15).
    chopped_card = np.int64(table["hand"][seat])
    loser = seat
    if not (table["num_players_dealt"] == 2 and rules["two_player"] == TwoPlayer.WIKI):
        # Backwards: an earlier exchange moved the cards that a later one found.
        for number in range(np.int64(table["num_events"]) - 1, -1, -1):
            event = table["events"][number]
            if _concerns(event, chopped_card, rules["pig_scope"]):
                _undo(table, rules, event)
        for position in range(table["num_players_dealt"]):
            if table["dealt"][table["order"][position]] == chopped_card:
                loser = np.int64(table["order"][position])
    table["chopped"] |= bit(loser)
    _log(table, kind, seat, other, chopped_card, card, loser)


@kernel
def _concerns(event, card, scope):
    """Return whether a svin that chops `card` undoes an event."""
    kind = event[0]
    if (kind != Event.EXCHANGE and kind != Event.TALON_TAKEN) or event[5] & UNDONE != 0:
        return False
    if scope == PigScope.ALL:
        return True
    return kind == Event.EXCHANGE and (event[3] == card or event[4] == card)


@kernel
def _undo(table, rules, event):
    a, b = np.int64(event[1]), np.int64(event[2])
    card_a, card_b = np.int64(event[3]), np.int64(event[4])
    _take(table, a, card_a)
    if event[0] == Event.EXCHANGE:
        _take(table, b, card_b)
    else:  # an exchange with the talon: the drawn card lies aside instead of the old one
        for number in range(table["num_laid_aside"]):
            if table["laid_aside"][number] == card_a:
                table["laid_aside"][number] = card_b
        table["goks"] += card_type(card_a) == Kind.GO
    if rules["undo_restores"]:
        for card in (card_a, card_b):
            if card_type(card) == Kind.KI:
                _set_high(table, card, (np.int64(event[5]) >> (card & 1)) & 1 != 0)
    event[5] = event[5] | UNDONE


# How a deal ends


ABOVE_ALL = 99  # past every rank


@kernel
def showdown(table, rules):
    """Turn all cards up and put out the losers."""
    go_out(table, rules, eliminated(table, rules))


@kernel
def eliminated(table, rules):
    """Turn the cards up; return the seats that are out (Swedish article, "Upp till bevis")."""
    # One pass, with choices instead of branches: the lowest card cannot be predicted.
    chopped, shown = np.uint32(table["chopped"]), np.uint64(table["shown"])
    # The Swedish article leaves chopped cards out of the comparison; the English one can be read
    # otherwise (D-E08).
    not_compared = chopped if rules["lowest_excludes_chopped"] else np.uint32(0)
    high_kille = Kind.GO if rules["high_kille"] == HighKille.EQUAL_GOK else Kind.KI
    lowest = ABOVE_ALL
    low, lowest_seats = np.uint32(0), np.uint32(0)
    for position in range(int(table["num_players_dealt"])):
        seat = index(table["order"][index(position)])
        card = index(table["hand"][seat])
        rank = card_type(card)
        is_kille = rank == Kind.KI
        is_low = is_kille & (not is_high(table, card))
        rank = high_kille if is_kille else rank
        rank = ABOVE_ALL if is_low | has(not_compared, seat) else rank
        lowest_seats = np.uint32(0) if rank < lowest else lowest_seats
        lowest = min(rank, lowest)
        lowest_seats = np.uint32(lowest_seats | (bit(seat) if rank == lowest else np.uint32(0)))
        low = np.uint32(low | (bit(seat) if is_low else np.uint32(0)))
        shown |= card_bit(card)
    table["shown"] = shown
    table["open"] = table["players"]
    out = np.uint32(chopped | low | (lowest_seats if lowest < ABOVE_ALL else np.uint32(0)))
    if out == table["players"]:
        # "Om minst en spelare har eliminerats genom hugg, bortser man i sådant fall från lägsta
        # kort."
        out = np.uint32(chopped | low)
        # Somebody has to be left; if nobody would be, nobody is out.
        if chopped == 0 or out == table["players"]:
            out = np.uint32(0)
    return out


@kernel
def go_out(table, rules, out):
    """End a hand at its showdown: these seats are out; pay, or open the buying in."""
    table["showdown"] = 1
    table["out"] = out
    table["in_pot"] = table["in_pot"] & ~table["out"]
    table["left"] = table["in_pot"]
    if rules["episode"] == SINGLE_DEAL:
        _pay_single_deal(table, rules)
        table["shown_pot"] = 0
        table["next_dealer"] = seat_left_of(table, table["dealer"], table["in_pot"])
        _end_match(table, False)
    else:
        _open_buying_in(table, rules)
        _ask_next_buyer(table, rules)


@kernel
def _pay_single_deal(table, rules):
    """Let each seat that is out pay the stake, which the others share equally."""
    losers, winners = how_many(table["out"]), how_many(table["left"])
    if losers == 0:
        return
    share = rules["stake"] * losers / winners
    for position in range(table["num_players_dealt"]):
        seat = index(table["order"][index(position)])
        if has(table["out"], seat):
            table["reward"][seat] -= rules["stake"]
        else:
            table["reward"][seat] += share


@kernel
def pay(table, seat, amount):
    """Move units of a seat into the pot."""
    table["reward"][seat] -= amount
    table["pot"] += amount


@kernel
def _open_buying_in(table, rules):
    """Determine the seats that may buy in after this showdown (D-E13, D-E16, D-E22 and on)."""
    # Every buyer of this occasion pays by the pot as it is now, not as earlier buyers leave it.
    table["opening_pot"] = table["pot"]
    table["to_buy"] = 0
    table["occasion"] = Occasion.NONE
    left = how_many(table["left"])
    all_out = np.uint32(everybody(table) & ~table["in_pot"])
    way = rules["reentry"]
    if table["out"] == 0 or way == Reentry.NONE:
        return
    if way == Reentry.WIKI3:
        if left >= 2 or rules["reentry_one_left"]:
            table["occasion"] = Occasion.AFTER_EACH
            for seat in range(table["num_players"]):
                if has(table["out"], seat) and table["entries"][seat] < 3:
                    table["to_buy"] |= bit(seat)
        return
    # The number sinks to three or two in the Swedish article, to exactly three in the English one
    # (D-E22).
    opens_first = left == 3 or (left == 2 and way == Reentry.SVENSK)
    if opens_first and table["first_done"] == 0:
        table["first_done"] = 1
        table["occasion"] = Occasion.FIRST
        table["to_buy"] = all_out
    elif left == 2 and table["second_done"] == 0 and table["first_buyers"] != 0:
        table["second_done"] = 1
        table["occasion"] = Occasion.SECOND
        if way == Reentry.WIKI2 or rules["second_includes_new"] == 0:
            table["to_buy"] = all_out & table["first_buyers"]
        else:
            table["to_buy"] = all_out & ~table["declined"]


@kernel
def price(table, rules, seat):
    """Return the price of buying in for a seat at the open occasion; half pots round up (D-E19)."""
    pot, stake = np.int64(table["opening_pot"]), np.int64(rules["stake"])
    half = (pot + 1) // 2
    occasion = table["occasion"]
    if occasion == Occasion.FIRST:
        return 2 * stake
    if occasion == Occasion.SECOND:
        full = rules["reentry"] == Reentry.WIKI2 and rules["wiki2_second"] == Wiki2Second.FULL
        return pot if full else half
    if occasion == Occasion.AFTER_EACH:
        entries = table["entries"][seat]
        if entries == 0:
            return stake
        return half if entries == 1 else pot
    return np.int64(0)


@kernel
def _ask_next_buyer(table, rules):
    """Ask clockwise from the dealer's left (D-E20)."""
    if table["to_buy"] == 0:
        table["occasion"] = Occasion.NONE
        _finish_deal(table, rules)
        return
    table["phase"] = Phase.BUYIN
    table["seat"] = seat_left_of(table, table["dealer"], table["to_buy"])


@kernel
def buy_or_decline(table, rules, seat, action):
    """Buy a seat in again that is out, or leave it out."""
    table["to_buy"] = table["to_buy"] & ~bit(seat)
    if action == Action.BUY:
        pay(table, seat, price(table, rules, seat))
        table["in_pot"] |= bit(seat)
        table["entries"][seat] += 1
        if table["occasion"] == Occasion.FIRST:
            table["first_buyers"] |= bit(seat)
        # The price of buying in covers the next ante, unless a switch puts the ante on top.
        if rules["reentry_plus_ante"] == 0 and rules["ante"] == Ante.DEAL:
            table["prepaid"] |= bit(seat)
    else:
        table["declined"] |= bit(seat)
    _ask_next_buyer(table, rules)


@kernel
def _finish_deal(table, rules):
    """Pay out a pot that is won and name the next dealer."""
    table["shown_pot"] = table["pot"]
    if how_many(table["in_pot"]) == 1:
        winner = seat_left_of(table, table["dealer"], table["in_pot"])
        table["reward"][winner] += table["pot"]
        table["pot"] = 0
        table["winner"] = winner
        table["pots_won"] += 1
        table["new_pot"] = 1
        table["next_dealer"] = next_seat(table, table["dealer"])
        if table["pots_won"] >= rules["pots"]:
            _end_match(table, False)
            return
    else:
        # Buyers are in again; the switch says whether one of them can be the next dealer.
        candidates = table["left"] if rules["next_dealer"] == NextDealer.BEFORE else table["in_pot"]
        table["next_dealer"] = seat_left_of(table, table["dealer"], candidates)
    _next_hand(table, rules)


@kernel
def _next_hand(table, rules):
    """Go on to the next hand, or end a match that has reached its cap (D-E26)."""
    if table["deals"] < rules["max_deals"]:
        table["phase"] = Phase.DEAL
        table["seat"] = -1
        return
    if table["pot"] > 0:
        # In whole units; the rest stays on the table, so that rewards stay whole.
        share = np.int64(table["pot"]) // how_many(table["in_pot"])
        for seat in range(table["num_players"]):
            if has(table["in_pot"], seat):
                table["reward"][seat] += share
        table["left_on_table"] = table["pot"] - share * how_many(table["in_pot"])
        table["pot"] = 0
    _end_match(table, True)


@kernel
def _end_match(table, truncated):
    table["phase"] = Phase.OVER
    table["seat"] = -1
    table["truncated"] = truncated


@kernel
def deal_again(table, rules, reason):
    """Throw the hand in and let the same dealer deal again."""
    table["redeal"] = reason
    table["left"] = table["players"]
    table["next_dealer"] = table["dealer"]
    table["shown_pot"] = table["pot"]
    _next_hand(table, rules)


@kernel
def outcome(table):
    """Return the end of a hand: the seats that are out, as bits."""
    return np.int64(table["out"])


def redeals(rules: Rules, num_players: int) -> int:
    """Return how often forehand's question can be granted in a deal."""
    if num_players > 3 or rules["fraga"] == "off":
        return 0
    return min(rules.number("max_redeals"), rules.number("max_deals") - 1)


def dealt_again(tables: np.ndarray, times: int) -> np.ndarray:
    """Return tables after so many granted questions more."""
    tables = tables.copy()
    tables["redeals"] += times
    tables["deals"] += times
    waiting = tables["phase"] == Phase.DEAL
    tables["redeal"][waiting], tables["new_pot"][waiting] = Redeal.QUESTION, 0
    return tables


def retired(table: Any, rules: Rules) -> list[int]:
    """Return the seats that will certainly neither act nor earn again in this match.

    A seat that is out and may still be asked to buy in is not among them, nor is anybody while
    another pot is to come. Where it is not certain yet, the seat is left out.
    """
    pots_to_come = int(rules["pots"]) - int(table["pots_won"])  # type: ignore[arg-type]
    if rules["episode"] == "deal" or table["phase"] == Phase.OVER or pots_to_come > 1:
        return []
    seats = range(int(table["num_players"]))
    # A seat that is neither in nor about to be asked can come back at a later occasion only.
    gone = set(seats) - set(members(table["in_pot"])) - set(members(table["to_buy"]))
    if rules["reentry"] in ("none", "wiki3") or table["second_done"]:
        return sorted(gone)  # under wiki3 a seat is asked right after the hand that it lost
    if not table["first_done"]:
        return []
    if table["to_buy"] == 0 and table["first_buyers"] == 0:
        return sorted(gone)  # without a buyer at the first occasion there is no second
    if rules["reentry"] == "svensk" and rules["second_includes_new"]:
        return sorted(gone & set(members(table["declined"])))
    return sorted(gone - set(members(table["first_buyers"])))
