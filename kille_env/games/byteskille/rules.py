"""Byteskille's rules up to the showdown, as kernels: begin, deal, legal_actions, apply."""

import numpy as np

from kille_env.cards.features import write_bits
from kille_env.cards.pack import Kind, draw, take_pack
from kille_env.cards.seats import bit, everybody, has, next_seat
from kille_env.cards.sets import card_bit
from kille_env.core.jit import index, kernel
from kille_env.core.spec import SINGLE_DEAL
from kille_env.core.table import new_deal, new_match
from kille_env.games.byteskille.settle import buy_or_decline, deal_again, pay, showdown
from kille_env.games.byteskille.table import (
    UNDONE,
    Action,
    Ante,
    Event,
    Fraga,
    GokCall,
    KilleRank,
    Occasion,
    Phase,
    PigScope,
    Redeal,
    TwoPlayer,
    card_type,
    is_shown,
)

# begin, deal


@kernel
def begin(table, rules, dealer):
    """Begins a match: its first deal will open the first pot."""
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
    """Pays antes, deals one card each and gives forehand the word."""
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
    """Marks what a seat may do; while a gok holder is asked, also what the player on turn will.

    Written without branches: which phase it is cannot be predicted, and a wrong guess costs as
    much as all of this.
    """
    phase, turn, two = table["phase"], table["turn"], table["num_players_dealt"] == 2
    acts = seat == table["seat"]
    on_turn = ((phase == Phase.TURN) | (phase == Phase.GOK)) & (seat == table["order"][index(turn)])
    gok_asked = acts & (phase == Phase.GOK)
    dealer_answers = acts & (phase == Phase.ANSWER_DEALER)
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


# apply


@kernel
def apply(table, rules, action):
    """Plays a legal action of the seat to act."""
    seat = np.int64(table["seat"])
    if action == Action.STAND:
        _log(table, Event.STAND, seat, -1, -1, -1, -1)
        table["stood"] |= bit(seat)
        _give_turn(table, rules, np.int64(table["turn"]) + 1)
    elif action == Action.SWAP:
        _swap(table, rules)
    elif action == Action.CALL:
        own_turn = table["phase"] == Phase.TURN
        _show_hand(table, seat)
        _log(table, Event.CALL, seat, own_turn, table["hand"][seat], -1, -1)
        showdown(table, rules)
    elif action == Action.WAIT:
        _ask_gok_holders(table, rules)
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
def _give_turn(table, rules, turn):
    """Passes the turn to speak to the player at `turn`; past the dealer it is a showdown."""
    if turn >= table["num_players_dealt"]:
        showdown(table, rules)
        return
    table["turn"] = turn
    table["gok_offset"] = 0
    _ask_gok_holders(table, rules)


@kernel
def _ask_gok_holders(table, rules):
    """Asks the next holder of a hidden gok, clockwise from the player on turn; then that player.

    "En spelare som sitter med kuku har rätt att närsomhelst lägga upp kortet" (Swedish article;
    D-E10).
    """
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
    """The player on turn demands the card of the left neighbour; matadors answer by themselves."""
    turn, size = np.int64(table["turn"]), np.int64(table["num_players_dealt"])
    seat = np.int64(table["order"][turn])
    position = turn + 1
    while position < size:
        other = np.int64(table["order"][index(position)])
        card = table["hand"][index(other)]
        kind = card_type(card)
        if kind < Kind.VH or kind == Kind.KI:
            _exchange(table, rules, seat, other)
            _give_turn(table, rules, position)
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
    """A svin, husar or gok that is demanded from another, or drawn: `other` is -1.

    A gok ends the round; otherwise the player at `turn` is next, except for two players by the
    English article, where whoever is chopped "has immediately lost".
    """
    kind = card_type(card)
    drawn = other < 0
    if kind == Kind.SV:
        _svin(table, rules, Event.TALON_SVIN if drawn else Event.SVIN, seat, other, card)
    elif kind == Kind.HU:
        event = Event.TALON_HUSAR if drawn else Event.HUSAR
        _log(table, event, seat, other, -1, card, -1)
        table["chopped"] |= bit(seat)
    else:
        event = Event.TALON_GOK if drawn else Event.GOK_STOOD
        _log(table, event, seat, other, -1, card, -1)
    lost = table["num_players_dealt"] == 2 and rules["two_player"] == TwoPlayer.WIKI
    if kind == Kind.GO or lost:
        showdown(table, rules)
    else:
        _give_turn(table, rules, turn)


@kernel
def _exchange(table, rules, a, b):
    """Two players swap cards; "killar som ingår i ett byte skall ha bildsidan upp"."""
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
    """A seat holds another card now, as it lies, and will know it again."""
    this, others = np.uint32(seat), ~bit(seat)
    is_its_own = np.uint32(table["dealt"][index(seat)] == card)
    lies_open = np.uint32(is_shown(table, card))
    table["hand"][index(seat)] = card
    table["held"][index(seat)] |= card_bit(card)
    table["untouched"] = (table["untouched"] & others) | (is_its_own << this)
    table["open"] = (table["open"] & others) | (lies_open << this)


@kernel
def _turn_up_kille(table, card, high):
    """A kille that moves lies face up from then on; any other card stays as it is."""
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
    """A player who has nobody to swap with draws; a matador drawn does what it does in a hand."""
    table["drew"] |= bit(seat)
    size = np.int64(table["num_players_dealt"])
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
    _give_turn(table, rules, turn)


@kernel
def _take_from_talon(table, seat, card):
    old = np.int64(table["hand"][seat])
    _log(table, Event.TALON_TAKEN, seat, -1, old, card, np.int64(table["high"]))
    _lay_aside(table, old)
    table["goks"] -= card_type(old) == Kind.GO
    _turn_up_kille(table, card, True)
    _take(table, seat, card)
    if card_type(old) == Kind.KI:
        _show_card(table, old)


@kernel
def _svin(table, rules, kind, seat, other, card):
    """The pig chops the card that was to be swapped: it costs the one who was dealt it.

    "Alla eventuella tidigare byten som gjorts med det huggna kortet skall nämligen upphävas, [...]
    i omvänd ordning" (Swedish article; D-E06, D-E07). The two-player rule of the English article
    knows no undoing: there the one who swaps has lost (D-E15).
    """
    chopped_card = np.int64(table["hand"][seat])
    loser = seat
    if not (table["num_players_dealt"] == 2 and rules["two_player"] == TwoPlayer.WIKI):
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
