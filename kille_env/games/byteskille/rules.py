"""Byteskille's rules as kernels over one table: dtype, begin, deal, legal_actions, apply, settle.

Sets of seats are bit sets. A hand is told by `events`, rows of six small numbers
`(kind, a, b, card_a, card_b, extra)`, -1 where a column says nothing:

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

`extra` of EXCHANGE and TALON_TAKEN: bits 0 and 1 are the rank of the two killes before it (1: high), bit
2 says that a svin has undone it. A gok holder's waits are no events: that he was asked follows from his
card and the turns, and nobody else may know.
"""

import numpy as np

from kille_env.core.deck import GO, HU, KA, KI, KILLE_PACK, SV, VH, draw, take_pack
from kille_env.core.game import DEAL, OVER, new_deal, new_match, table_dtype
from kille_env.core.jit import index, kernel

MAX_PLAYERS = 20
MAX_EVENTS = 32  # 20 turns, 4 inns and cavaliers, a question with two answers, a call: 28

ACTIONS = ("stand", "swap", "call", "wait", "ask", "yes", "no", "defer", "buy", "decline")
STAND, SWAP, CALL, WAIT, ASK, YES, NO, DEFER, BUY, DECLINE = range(10)

PHASES = ("deal", "over", "turn", "gok", "answer_dealer", "answer_third", "buyin")
TURN, GOK, ANSWER_DEALER, ANSWER_THIRD, BUYIN = range(2, 7)

(
    EV_STAND,
    EV_EXCHANGE,
    EV_PASSED,
    EV_GOK_STOOD,
    EV_HUSAR,
    EV_SVIN,
    EV_TALON_PASSED,
    EV_TALON_GOK,
    EV_TALON_HUSAR,
    EV_TALON_SVIN,
    EV_TALON_TAKEN,
    EV_CALL,
    EV_ASK,
    EV_ANSWER,
) = range(1, 15)
UNDONE = 4
NO_RANK = 99

STOOD, SWAPPED, GAVE, DREW = 1, 2, 4, 8  # deeds of a seat: a set of bits
NOT_REDEALT, BY_QUESTION, BY_KILLE = range(3)
NO_OCCASION, FIRST, SECOND, AFTER_EACH = range(4)

# What the numbers in the rules record mean, in the order of the switches' values.
MATCH, SINGLE_DEAL = 0, 1
ANTE_POT, ANTE_DEAL = 0, 1
LOW, HIGH = 0, 1
EQUAL_GOK, ABOVE_GOK = 0, 1
SCOPE_CARD, SCOPE_ALL = 0, 1
ANY_TIME, OWN_TURN, NEVER = 0, 1, 2
FORCED = 0
DEALER_AFTER, DEALER_BEFORE = 0, 1
WIKI = 1
SVENSK, WIKI3, WIKI2, NONE = range(4)
HALF, FULL = 0, 1

TABLE = table_dtype(
    MAX_PLAYERS,
    KILLE_PACK.size,
    [
        ("pot", np.int64),
        ("shown_pot", np.int64),  # the pot for the result: after buying in, before it is paid out
        ("opening_pot", np.int64),  # the pot when the buying in opened
        ("left_on_table", np.int64),  # what a split could not divide
        ("shown", np.uint64),  # cards that lie face up
        ("known_by", np.uint32, (KILLE_PACK.size,)),  # who has held a card and can follow it
        ("in_pot", np.uint32),  # who plays for the pot; after a showdown: who is left
        ("players", np.uint32),  # who was dealt a card
        ("chopped", np.uint32),
        ("low_killes", np.uint32),  # whose kille ranks low at the showdown
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
        ("gok_offset", np.int8),  # how far left of him sits the gok holder who is asked
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
        ("order", np.int8, (MAX_PLAYERS,)),  # seats of this hand, forehand first, dealer last
        ("hand", np.int8, (MAX_PLAYERS,)),  # by seat; -1 none
        ("dealt", np.int8, (MAX_PLAYERS,)),  # by seat: the card that he was dealt
        ("entries", np.int8, (MAX_PLAYERS,)),  # by seat: times that he bought in
        ("deeds", np.int8, (MAX_PLAYERS,)),  # by seat: what he did in this hand, see STOOD and on
        ("events", np.int8, (MAX_EVENTS, 6)),
    ],
)


@kernel
def bit(seat):
    """The set of one seat."""
    return np.uint32(np.uint32(1) << np.uint32(seat))


@kernel
def has(seats, seat):
    """Whether a seat is in a set."""
    return (np.uint32(seats) >> np.uint32(seat)) & np.uint32(1) != 0


@kernel
def count(seats):
    """How many seats are in a set."""
    rest = np.uint32(seats)
    number = 0
    while rest != 0:
        rest = np.uint32(rest & (rest - np.uint32(1)))
        number += 1
    return number


@kernel
def everybody(table):
    """The set of all seats of the table."""
    return np.uint32((np.uint32(1) << np.uint32(table["num_players"])) - np.uint32(1))


@kernel
def card_type(card):
    """The type of a card, 0 (blaren) to 20 (kille)."""
    return np.int64(card) >> 1


@kernel
def is_high(table, card):
    """Whether a kille ranks high."""
    return (np.int64(table["high"]) >> (np.int64(card) & 1)) & 1 != 0


@kernel
def in_cards(cards, card):
    """Whether a card is in a set of cards."""
    return (np.uint64(cards) >> np.uint64(card)) & np.uint64(1) != 0


@kernel
def is_shown(table, card):
    """Whether a card lies face up."""
    return in_cards(table["shown"], card)


@kernel
def next_seat(table, seat):
    """The seat on the left; a comparison, for a division would cost more than the rest of a turn."""
    following = np.int64(seat) + 1
    return 0 if following == table["num_players"] else following


@kernel
def seat_left_of(table, seat, seats):
    """The nearest seat of a set clockwise from `seat`; the set is not empty."""
    following = next_seat(table, seat)
    while not has(seats, following):
        following = next_seat(table, following)
    return following


# begin, deal


@kernel
def begin(table, rules, dealer):
    """Begins a match: its first deal will open the first pot."""
    new_match(table, dealer)
    table["next_dealer"] = table["dealer"]
    table["pots_won"] = 0
    table["new_pot"] = 1
    table["redeal"] = NOT_REDEALT
    table["left_on_table"] = 0
    _open_pot(table, rules)
    _clear_hand(table)


@kernel
def _open_pot(table, rules):
    """Everybody is in again and, where the ante is for the pot, pays it at the first deal."""
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
    table["chopped"] = 0
    table["low_killes"] = 0
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
    table["occasion"] = NO_OCCASION
    table["winner"] = -1
    table["num_laid_aside"] = 0
    table["num_events"] = 0
    table["hand"][:] = -1
    table["dealt"][:] = -1
    table["deeds"][:] = 0


@kernel
def pay(table, seat, amount):
    """A seat puts money into the pot."""
    table["reward"][seat] -= amount
    table["pot"] += amount


@kernel
def deal(table, rules):
    """Pays antes, deals one card each and gives forehand the word."""
    if table["redeal"] == NOT_REDEALT:
        new_pot = table["new_pot"] != 0
        if new_pot:
            _open_pot(table, rules)
            table["new_pot"] = 0
        table["dealer"] = table["next_dealer"]
        table["redeals"] = 0
        if rules["episode"] == MATCH and (new_pot or rules["ante"] == ANTE_DEAL):
            _pay_antes(table, rules)
    table["redeal"] = NOT_REDEALT
    new_deal(table)
    _clear_hand(table)
    _deal_cards(table, rules)
    if table["num_players_dealt"] == 2 and rules["two_player"] == WIKI:
        # "the cards are re-dealt if one of them has received the Harlequin, and there is an immediate
        # showdown if one of them has received the Cuckoo" (English article; D-E15)
        first, second = table["hand"][table["order"][0]], table["hand"][table["order"][1]]
        if card_type(first) == KI or card_type(second) == KI:
            _deal_again(table, rules, BY_KILLE)
            return
        if table["goks"] > 0:
            _showdown(table, rules)
            return
    _give_turn(table, rules, 0)


@kernel
def _pay_antes(table, rules):
    for seat in range(table["num_players"]):
        if has(table["in_pot"], seat) and not has(table["prepaid"], seat):
            pay(table, seat, rules["stake"])
    table["prepaid"] = 0


@kernel
def _deal_cards(table, rules):
    """One card each, forehand first, dealer last."""
    take_pack(table)
    table["high"] = 3 if rules["dealt_kille"] == HIGH else 0
    table["players"] = table["in_pot"]
    seat = np.int64(table["dealer"])
    position = 0
    for _ in range(int(table["num_players"])):
        seat = next_seat(table, seat)
        if has(table["players"], seat):
            card = index(draw(table))
            table["order"][index(position)] = seat
            table["hand"][index(seat)] = card
            table["dealt"][index(seat)] = card
            table["known_by"][card] = bit(seat)
            table["goks"] += card_type(card) == GO
            position += 1
    table["num_players_dealt"] = position


@kernel
def _deal_again(table, rules, reason):
    """The hand is thrown in and the same dealer deals again."""
    table["redeal"] = reason
    table["left"] = table["players"]
    table["next_dealer"] = table["dealer"]
    table["shown_pot"] = table["pot"]
    _next_hand(table, rules)


# legal_actions


@kernel
def legal_actions(table, rules, seat, out):
    """Marks what a seat may do. While a gok holder is asked, the player on turn sees his coming choice.

    Written without branches: which phase it is cannot be predicted, and a wrong guess costs as much as
    all of this.
    """
    phase, turn, two = table["phase"], table["turn"], table["num_players_dealt"] == 2
    acts = seat == table["seat"]
    on_turn = ((phase == TURN) | (phase == GOK)) & (seat == table["order"][index(turn)])
    gok_asked = acts & (phase == GOK)
    dealer_answers = acts & (phase == ANSWER_DEALER)
    third_answers = acts & (phase == ANSWER_THIRD)
    buys = acts & (phase == BUYIN)
    holds_gok = card_type(table["hand"][index(seat)]) == GO
    may_ask = (
        (rules["fraga"] == FORCED)
        & (table["num_players_dealt"] <= 3)
        & (turn == 0)
        & (table["asked"] == 0)
        & (table["redeals"] < rules["max_redeals"])
    )
    out[STAND] = on_turn
    out[SWAP] = on_turn
    out[CALL] = gok_asked | (on_turn & holds_gok & (rules["gok_call"] != NEVER))
    out[WAIT] = gok_asked
    out[ASK] = on_turn & may_ask
    out[YES] = third_answers | (dealer_answers & (two | (rules["fraga3_dealer_accept"] != 0)))
    out[NO] = third_answers | dealer_answers
    out[DEFER] = dealer_answers & (not two)
    out[BUY] = buys
    out[DECLINE] = buys


# apply


@kernel
def apply(table, rules, action):
    """Plays a legal action of the seat to act."""
    seat = np.int64(table["seat"])
    if action == STAND:
        _log(table, EV_STAND, seat, -1, -1, -1, -1)
        table["deeds"][seat] |= STOOD
        _give_turn(table, rules, np.int64(table["turn"]) + 1)
    elif action == SWAP:
        _swap(table, rules)
    elif action == CALL:
        own_turn = table["phase"] == TURN
        _show_card(table, table["hand"][seat])
        _log(table, EV_CALL, seat, own_turn, table["hand"][seat], -1, -1)
        _showdown(table, rules)
    elif action == WAIT:
        _ask_gok_holders(table, rules)
    elif action == ASK:
        table["asked"] = 1
        _log(table, EV_ASK, seat, -1, -1, -1, -1)
        table["phase"] = ANSWER_DEALER
        table["seat"] = table["dealer"]
    elif action <= DEFER:
        _answer(table, rules, seat, action)
    else:
        _buy_or_decline(table, rules, seat, action)


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
    table["shown"] = np.uint64(table["shown"]) | (np.uint64(1) << np.uint64(card))


@kernel
def _give_turn(table, rules, turn):
    """The turn to speak passes to the player at `turn` in the order; past the dealer it is a showdown."""
    if turn >= table["num_players_dealt"]:
        _showdown(table, rules)
        return
    table["turn"] = turn
    table["gok_offset"] = 0
    _ask_gok_holders(table, rules)


@kernel
def _ask_gok_holders(table, rules):
    """Asks the next holder of a hidden gok, clockwise from the player on turn; then the player himself.

    "En spelare som sitter med kuku har rätt att närsomhelst lägga upp kortet" (Swedish article; D-E10).
    """
    turn, size = np.int64(table["turn"]), np.int64(table["num_players_dealt"])
    if rules["gok_call"] == ANY_TIME and table["goks"] > 0:
        for offset in range(np.int64(table["gok_offset"]) + 1, size):
            position = turn + offset
            seat = table["order"][index(position - size if position >= size else position)]
            card = table["hand"][seat]
            if card_type(card) == GO and not is_shown(table, card):
                table["gok_offset"] = offset
                table["phase"] = GOK
                table["seat"] = seat
                return
    table["phase"] = TURN
    table["seat"] = table["order"][turn]


@kernel
def _answer(table, rules, seat, action):
    _log(table, EV_ANSWER, seat, action, -1, -1, -1)
    if action == YES:
        table["redeals"] += 1
        _deal_again(table, rules, BY_QUESTION)
    elif action == DEFER:
        table["phase"] = ANSWER_THIRD
        table["seat"] = table["order"][1]
    else:  # forehand goes on; gok holders were asked before his turn already
        table["phase"] = TURN
        table["seat"] = table["order"][0]


@kernel
def _swap(table, rules):
    """The player on turn demands his left neighbour's card; matadors answer by themselves."""
    turn, size = np.int64(table["turn"]), np.int64(table["num_players_dealt"])
    seat = np.int64(table["order"][turn])
    position = turn + 1
    while position < size:
        other = np.int64(table["order"][index(position)])
        card = table["hand"][index(other)]
        kind = card_type(card)
        if VH <= kind <= GO:
            _show_card(table, card)
        if kind == VH or kind == KA:
            _log(table, EV_PASSED, seat, other, -1, card, -1)
            position += 1
            continue
        if kind == GO:
            _log(table, EV_GOK_STOOD, seat, other, -1, card, -1)
            _showdown(table, rules)
        elif kind == HU:
            _log(table, EV_HUSAR, seat, other, -1, card, -1)
            table["chopped"] |= bit(seat)
            _after_chop(table, rules, position + 1)
        elif kind == SV:
            _svin(table, rules, EV_SVIN, seat, other, card)
            _after_chop(table, rules, position + 1)
        else:
            _exchange(table, rules, seat, other)
            _give_turn(table, rules, position)
        return
    _go_to_talon(table, rules, seat)


@kernel
def _after_chop(table, rules, position):
    if table["num_players_dealt"] == 2 and rules["two_player"] == WIKI:
        _showdown(table, rules)  # "has immediately lost"
    else:
        _give_turn(table, rules, position)


@kernel
def _exchange(table, rules, a, b):
    """Two players swap cards; "killar som ingår i ett byte skall ha bildsidan upp"."""
    a, b = index(a), index(b)
    card_a, card_b = index(table["hand"][a]), index(table["hand"][b])
    _log(table, EV_EXCHANGE, a, b, card_a, card_b, np.int64(table["high"]))
    table["hand"][a] = card_b
    table["hand"][b] = card_a
    table["deeds"][a] |= SWAPPED
    table["deeds"][b] |= GAVE
    table["known_by"][card_a] |= bit(a) | bit(b)
    table["known_by"][card_b] |= bit(a) | bit(b)
    kille_a, kille_b = card_type(card_a) == KI, card_type(card_b) == KI
    if kille_a:
        _show_card(table, card_a)
    if kille_b:
        _show_card(table, card_b)
    if kille_a and kille_b:  # killemote
        table["high"] = 3 if rules["meeting"] == HIGH else 0
    elif kille_a:
        _set_high(table, card_a, False)
    elif kille_b:
        _set_high(table, card_b, False)


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
    """A player who has nobody to swap with draws; a matador drawn does what it does in a hand."""
    table["deeds"][seat] |= DREW
    while True:
        card = draw(table)
        kind = card_type(card)
        table["known_by"][card] = bit(seat)
        if kind < VH or kind == KI:
            _take_from_talon(table, seat, card)
            break
        _show_card(table, card)
        _lay_aside(table, card)
        if kind == VH or kind == KA:
            _log(table, EV_TALON_PASSED, seat, -1, -1, card, -1)
            if rules["stock_redraw"] == 0:
                break
        elif kind == GO:
            _log(table, EV_TALON_GOK, seat, -1, -1, card, -1)
            _showdown(table, rules)
            return
        elif kind == HU:
            _log(table, EV_TALON_HUSAR, seat, -1, -1, card, -1)
            table["chopped"] |= bit(seat)
            break
        else:
            _svin(table, rules, EV_TALON_SVIN, seat, -1, card)
            break
    last = np.int64(table["num_players_dealt"]) - 1
    if rules["dealer_after_inn"] and table["order"][last] != seat:
        if kind == HU or kind == SV:
            _after_chop(table, rules, last)
        else:
            _give_turn(table, rules, last)
    else:
        _showdown(table, rules)


@kernel
def _take_from_talon(table, seat, card):
    old = np.int64(table["hand"][seat])
    _log(table, EV_TALON_TAKEN, seat, -1, old, card, np.int64(table["high"]))
    _lay_aside(table, old)
    table["hand"][seat] = card
    table["goks"] -= card_type(old) == GO
    if card_type(card) == KI:
        _show_card(table, card)
        _set_high(table, card, True)
    if card_type(old) == KI:
        _show_card(table, old)


@kernel
def _svin(table, rules, kind, seat, other, card):
    """The pig chops the card that was to be swapped: it costs the one who was dealt it.

    "Alla eventuella tidigare byten som gjorts med det huggna kortet skall nämligen upphävas, [...] i
    omvänd ordning" (Swedish article; D-E06, D-E07). The two-player rule of the English article knows no
    undoing: there the one who swaps has lost (D-E15).
    """
    chopped_card = np.int64(table["hand"][seat])
    loser = seat
    if not (table["num_players_dealt"] == 2 and rules["two_player"] == WIKI):
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
    """Whether a svin that chops `card` undoes an event."""
    kind = event[0]
    if (kind != EV_EXCHANGE and kind != EV_TALON_TAKEN) or event[5] & UNDONE != 0:
        return False
    if scope == SCOPE_ALL:
        return True
    return kind == EV_EXCHANGE and (event[3] == card or event[4] == card)


@kernel
def _undo(table, rules, event):
    a, b = np.int64(event[1]), np.int64(event[2])
    card_a, card_b = np.int64(event[3]), np.int64(event[4])
    table["hand"][a] = card_a
    if event[0] == EV_EXCHANGE:
        table["hand"][b] = card_b
    else:  # an exchange with the talon: the drawn card lies aside instead of the old one
        for number in range(table["num_laid_aside"]):
            if table["laid_aside"][number] == card_a:
                table["laid_aside"][number] = card_b
        table["goks"] += card_type(card_a) == GO
    if rules["undo_restores"]:
        before = np.int64(event[5])
        if card_type(card_a) == KI:
            _set_high(table, card_a, (before >> (card_a & 1)) & 1 != 0)
        if card_type(card_b) == KI:
            _set_high(table, card_b, (before >> (card_b & 1)) & 1 != 0)
    event[5] = event[5] | UNDONE


# settle


@kernel
def _showdown(table, rules):
    """Everyone's card is turned up; who is out?"""
    table["showdown"] = 1
    table["out"] = eliminated(table, rules)
    table["in_pot"] = table["in_pot"] & ~table["out"]
    table["left"] = table["in_pot"]
    settle(table, rules)


@kernel
def eliminated(table, rules):
    """Turns the cards up and returns the set of players who are out (Swedish article, "Upp till bevis").

    One pass, with choices instead of branches: whose card is lowest cannot be predicted.
    """
    chopped, shown = np.uint32(table["chopped"]), np.uint64(table["shown"])
    not_compared = chopped if rules["lowest_excludes_chopped"] else np.uint32(0)
    high_kille = GO if rules["high_kille"] == EQUAL_GOK else KI
    lowest = NO_RANK
    low, lowest_seats = np.uint32(0), np.uint32(0)
    for position in range(int(table["num_players_dealt"])):
        seat = index(table["order"][index(position)])
        card = index(table["hand"][seat])
        rank = card_type(card)
        is_kille = rank == KI
        is_low = is_kille & (not is_high(table, card))
        rank = high_kille if is_kille else rank
        rank = NO_RANK if is_low | has(not_compared, seat) else rank
        lowest_seats = np.uint32(0) if rank < lowest else lowest_seats
        lowest = min(rank, lowest)
        lowest_seats = np.uint32(lowest_seats | (bit(seat) if rank == lowest else np.uint32(0)))
        low = np.uint32(low | (bit(seat) if is_low else np.uint32(0)))
        shown |= np.uint64(1) << np.uint64(card)
    table["shown"] = shown
    table["low_killes"] = low
    out = np.uint32(chopped | low | (lowest_seats if lowest < NO_RANK else np.uint32(0)))
    if out == table["players"]:
        # "Om minst en spelare har eliminerats genom hugg, bortser man i sådant fall från lägsta kort."
        out = np.uint32(chopped | low)
        if chopped == 0 or out == table["players"]:
            out = np.uint32(0)
    return out


@kernel
def settle(table, rules):
    """Pays what the hand decided and opens the buying in, or goes on to the next hand."""
    if rules["episode"] == SINGLE_DEAL:
        _pay_single_deal(table, rules)
        table["shown_pot"] = 0
        table["next_dealer"] = seat_left_of(table, table["dealer"], table["in_pot"])
        _end_match(table, False)
        return
    _open_buying_in(table, rules)
    _ask_next_buyer(table, rules)


@kernel
def _pay_single_deal(table, rules):
    """Each seat that is out pays the stake; those who stay share it equally."""
    losers, winners = count(table["out"]), count(table["left"])
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
def _open_buying_in(table, rules):
    """Decides who may buy in again after this showdown (D-E13, D-E16, D-E22 and on)."""
    table["opening_pot"] = table["pot"]
    table["to_buy"] = 0
    table["occasion"] = NO_OCCASION
    left = count(table["left"])
    all_out = np.uint32(everybody(table) & ~table["in_pot"])
    way = rules["reentry"]
    if table["out"] == 0 or way == NONE:
        return
    if way == WIKI3:
        if left >= 2 or rules["reentry_one_left"]:
            table["occasion"] = AFTER_EACH
            for seat in range(table["num_players"]):
                if has(table["out"], seat) and table["entries"][seat] < 3:
                    table["to_buy"] |= bit(seat)
        return
    opens_first = left == 3 or (left == 2 and way == SVENSK)
    if opens_first and table["first_done"] == 0:
        table["first_done"] = 1
        table["occasion"] = FIRST
        table["to_buy"] = all_out
    elif left == 2 and table["second_done"] == 0 and table["first_buyers"] != 0:
        table["second_done"] = 1
        table["occasion"] = SECOND
        if way == WIKI2 or rules["second_includes_new"] == 0:
            table["to_buy"] = all_out & table["first_buyers"]
        else:
            table["to_buy"] = all_out & ~table["declined"]


@kernel
def price(table, rules, seat):
    """What buying in costs a seat at the occasion that is open; half pots round up (D-E19)."""
    pot, stake = np.int64(table["opening_pot"]), np.int64(rules["stake"])
    half = (pot + 1) // 2
    occasion = table["occasion"]
    if occasion == FIRST:
        return 2 * stake
    if occasion == SECOND:
        return pot if rules["reentry"] == WIKI2 and rules["wiki2_second"] == FULL else half
    if occasion == AFTER_EACH:
        entries = table["entries"][seat]
        if entries == 0:
            return stake
        return half if entries == 1 else pot
    return np.int64(0)


@kernel
def _ask_next_buyer(table, rules):
    """Asks clockwise from the dealer's left (D-E20)."""
    if table["to_buy"] == 0:
        table["occasion"] = NO_OCCASION
        _finish_deal(table, rules)
        return
    table["phase"] = BUYIN
    table["seat"] = seat_left_of(table, table["dealer"], table["to_buy"])


@kernel
def _buy_or_decline(table, rules, seat, action):
    table["to_buy"] = table["to_buy"] & ~bit(seat)
    if action == BUY:
        pay(table, seat, price(table, rules, seat))
        table["in_pot"] |= bit(seat)
        table["entries"][seat] += 1
        if table["occasion"] == FIRST:
            table["first_buyers"] |= bit(seat)
        if rules["reentry_plus_ante"] == 0 and rules["ante"] == ANTE_DEAL:
            table["prepaid"] |= bit(seat)
    else:
        table["declined"] |= bit(seat)
    _ask_next_buyer(table, rules)


@kernel
def _finish_deal(table, rules):
    """Pays out a pot that is won and names the next dealer."""
    table["shown_pot"] = table["pot"]
    if count(table["in_pot"]) == 1:
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
        candidates = table["left"] if rules["next_dealer"] == DEALER_BEFORE else table["in_pot"]
        table["next_dealer"] = seat_left_of(table, table["dealer"], candidates)
    _next_hand(table, rules)


@kernel
def _next_hand(table, rules):
    """Goes on to the next hand, or ends a match that has reached its cap (D-E26)."""
    if table["deals"] < rules["max_deals"]:
        table["phase"] = DEAL
        table["seat"] = -1
        return
    if table["pot"] > 0:
        share = np.int64(table["pot"]) // count(table["in_pot"])
        for seat in range(table["num_players"]):
            if has(table["in_pot"], seat):
                table["reward"][seat] += share
        table["left_on_table"] = table["pot"] - share * count(table["in_pot"])
        table["pot"] = 0
    _end_match(table, True)


@kernel
def _end_match(table, truncated):
    table["phase"] = OVER
    table["seat"] = -1
    table["truncated"] = truncated
