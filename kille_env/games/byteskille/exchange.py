"""Byteskille's turns as kernels: exchanges, matadors, the talon, a question, a call."""

import numpy as np

from kille_env.cards.pack import Kind, draw
from kille_env.cards.seats import bit
from kille_env.cards.sets import card_bit
from kille_env.core.jit import index, kernel
from kille_env.games.byteskille.rules import (
    UNDONE,
    Action,
    Event,
    KilleRank,
    Phase,
    PigScope,
    Redeal,
    TwoPlayer,
    ask_gok_holders,
    buy_or_decline,
    card_type,
    deal_again,
    give_turn,
    is_shown,
    showdown,
)

# apply


@kernel
def apply(table, rules, action):
    """Plays a legal action of the seat to act."""
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
        give_turn(table, rules, turn)


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
    give_turn(table, rules, turn)


@kernel
def passed_over(table, rules, card):
    """Whether a card that is drawn now is laid aside for the next one, the last of the hand."""
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
