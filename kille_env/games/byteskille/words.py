"""Byteskille in words: results, views, events, choices. Its rules in words: manual.md.

Texts for people are in English, with the calls of the Swedish rules. Everything that is shown to a
seat follows the same rule as its observation: a card is named if it lies open or if the seat has
held it.

A card that lies open is at "open S 0", before its seat, any other at "hand S 0"; a viewer sees the
face of a hidden card where it can follow it. All that moves, and every call, is public. Laid aside
are cards that were drawn or given for another; the pile shows the last of them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.cards.seats import seat_or_none
from kille_env.cards.sets import members
from kille_env.cards.words import ASIDE, face_of, spread
from kille_env.core.spec import Rules
from kille_env.games.byteskille.rules import UNDONE, Action, Event, Phase, Redeal, price, retired
from kille_env.words.text import YOU, a, chips, columns, counted, does, inside, listed, owner
from kille_env.words.view import TALON, Call, Card, Laid, Pile, Seat, View, Zones

RESULT_KEYS = (
    *("turns", "reveals", "undone", "chopped", "low_kille", "out", "left", "final", "redeal"),
    *("pot", "next_dealer", "winner"),
)
"""The keys of `result`, in the order in which a record writes them."""

_DEEDS = {"stood": "kept", "swapped": "swapped", "gave": "gave", "drew": "drew"}
_EVENTS: dict[int, tuple[str, str]] = {
    Event.STAND: ("keeps", " the card."),
    Event.EXCHANGE: ("swaps with", " {b}"),
    Event.PASSED: ("asks", " {b}, who shows {card}: {call}"),
    Event.GOK_STOOD: ("asks", " {b}, who shows {card}: {call} The deal is over."),
    Event.SVIN: ("meets", " {b_s} {noun}: {call}"),
    Event.TALON_PASSED: ("draws", " {card} from the stock: {call}"),
    Event.TALON_GOK: ("draws", " {card} from the stock: {call} The deal is over."),
    Event.TALON_HUSAR: ("draws", " {card} from the stock: {call} It strikes {a}."),
    Event.TALON_SVIN: ("draws", " {card} from the stock: {call}"),
    Event.TALON_TAKEN: ("draws", ""),
    Event.CALL: ("shows", " the cuckoo: {call} The deal is over."),
    Event.ASK: ("asks", " for better cards: {call}"),
}
"""Verb and rest of an event; `_describe_event` adds more to some."""

_BY_CARD: dict[int, tuple[str, str]] = {
    Kind.VH: ("Värdshus förbi!", "Pass the inn"),
    Kind.KA: ("Kavall förbi!", "Pass the cavalier"),
    Kind.SV: ("Svinhugg går igen!", "The pig bites back"),
    Kind.HU: ("Husar hugger!", "The hussar strikes"),
    Kind.GO: ("Kuku står, ingen byta får!", "The cuckoo stands, nobody may swap"),
}
_BY_ANSWER: dict[int, tuple[str, str]] = {
    Action.YES: ("Accepteras!", "Accepted"),
    Action.NO: ("Omöjligt!", "Impossible"),
    Action.DEFER: ("Det beror på!", "That depends"),
}
SATISFIED = "Nöjd!", "I keep my card"
SWAP = "Byte!", "Swap"
SHOW_ALL = "Upp till bevis!", "Show your cards"
_CALLS: dict[int, tuple[str, str]] = {
    Event.CALL: ("På rygg!", "Turn your cards up"),
    Event.ASK: ("Bättre kort?", "Better cards?"),
}


def _call_at(event: Sequence[int]) -> tuple[str, str]:
    """Return the call at an event, in Swedish and in English; nothing at an exchange."""
    kind, _, b, _, card_b, _ = event
    if kind == Event.ANSWER:
        return _BY_ANSWER[b]
    return _CALLS.get(kind) or _BY_CARD.get(card_b >> 1, ("", ""))


def _called(call: tuple[str, str]) -> str:
    """Return a call with its meaning: "“Omöjligt!” (impossible)"."""
    words, meaning = call
    return f"“{words}” ({meaning[:1].lower()}{meaning[1:]})"


# The result of a hand


def result(table: Any, rules: Rules) -> dict[str, Any]:
    """Return the record notation's result of the hand that has just ended."""
    events, hands = _events_of(table), table["hand"][: int(table["num_players"])]
    redealt = table["redeal"] != Redeal.NONE
    unasked = ((Event.CALL, 0), *((Event.ANSWER, answer) for answer in _BY_ANSWER))
    # A gok called between turns and an answer are no turns of the seats that gave them.
    turns = [a for kind, a, b, *_ in events if (kind, b) not in unasked]
    return {
        "turns": list(dict.fromkeys(turns)),
        "reveals": [reveal for event in events if (reveal := _reveal(event))],
        "undone": _count_undone(events),
        "chopped": members(table["chopped"]),
        "low_kille": [] if redealt else [s for s in sorted(_order_of(table)) if _is_low(table, s)],
        "out": members(table["out"]),
        "left": members(table["left"]),
        "final": [None if redealt or card < 0 else KILLE_PACK.code(card) for card in hands],
        "redeal": Redeal(table["redeal"]).name.lower() if redealt else None,
        "pot": int(table["shown_pot"]),
        "next_dealer": int(table["next_dealer"]),
        "winner": seat_or_none(table["winner"]),
    }


def _reveal(event: Sequence[int]) -> list[Any] | None:
    """Return a matador that was challenged, a gok that was called, an open card from the talon."""
    kind, a, b, card_a, card_b, _ = event
    if Event.PASSED <= kind <= Event.SVIN:
        return [b, KILLE_PACK.code(card_b)]
    taken_open = kind == Event.TALON_TAKEN and card_b >> 1 == Kind.KI
    if Event.TALON_PASSED <= kind <= Event.TALON_SVIN or taken_open:
        return ["talon", KILLE_PACK.code(card_b)]
    return [a, KILLE_PACK.code(card_a)] if kind == Event.CALL else None


def _events_of(table: Any) -> list[list[int]]:
    """Return the events of the hand, rows as the top of `rules` explains them."""
    return table["events"][: int(table["num_events"])].tolist()


def _order_of(table: Any) -> list[int]:
    """Return the seats of the hand, forehand first."""
    return table["order"][: int(table["num_players_dealt"])].tolist()


def _is_high(table: Any, kille: int) -> bool:
    return kille & 1 in members(table["high"])


def _is_low(table: Any, seat: int) -> bool:
    card = int(table["hand"][seat])
    return card >> 1 == Kind.KI and not _is_high(table, card)


def _count_undone(events: Sequence[Sequence[int]]) -> int:
    exchanges = (Event.EXCHANGE, Event.TALON_TAKEN)
    return sum(kind in exchanges and extra & UNDONE != 0 for kind, *_, extra in events)


def _known_to(table: Any, seat: int | None, card: int) -> bool:
    """Return whether a viewer knows a card; None sees everything."""
    if seat is None or card < 0:
        return card >= 0
    return card in members(table["shown"]) or card in members(table["held"][seat])


def _pot(table: Any) -> int:
    """Return the pot after the hand's payments in, before it is paid out."""
    # A pot that is won has been paid out already, so `pot` is 0 then.
    decided = table["phase"] == Phase.OVER or table["winner"] >= 0
    return int(table["shown_pot" if decided else "pot"])


def _fate(table: Any, seat: int) -> str:
    """Return the fate of a seat in the hand, if it has one: "out", "struck"."""
    struck, out = (seat in members(table[field]) for field in ("chopped", "out"))
    return "struck" if struck else "out" if out else ""


def _rank_of_kille(table: Any, card: int) -> str:
    """Return "high" or "low" for a kille, nothing for any other card."""
    if card >> 1 != Kind.KI:
        return ""
    return "high" if _is_high(table, card) else "low"


# Events


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Return the events between two tables, as a seat may know them; see `Texts.narrate`."""
    lines: list[str] = []
    old = _events_of(before)
    if after["deals"] != before["deals"]:
        lines += _describe_deal(before, after, rules, who, seat)
        old = []
    elif before["phase"] == Phase.BUYIN:
        paid, buyer = _pot(after) - int(before["pot"]), who[int(before["seat"])]
        deed = does(buyer, f"buys back in for {chips(paid)}" if paid > 0 else "stays out")
        lines.append(f"{deed}.")
    new = _events_of(after)
    undone = _count_undone(new) - _count_undone(old)
    for event in new[len(old) :]:
        lines.append(_describe_event(after, rules, who, event, seat))
        if event[0] in (Event.SVIN, Event.TALON_SVIN) and undone:
            lines[-1] += f" {counted(undone, 'swap is', 'swaps are')} undone."
    asked = int(before["seat"])
    # Waiting is no event: only the holder itself, or a viewer of all cards, may read that it was
    # asked.
    if before["phase"] == Phase.GOK and len(new) == len(old) and seat in (None, asked):
        lines.append(f"{does(who[asked], 'keeps the cuckoo hidden')}.")
    if after["showdown"] and (not before["showdown"] or after["deals"] != before["deals"]):
        lines += _describe_showdown(after, who, seat)
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(after, rules, who)
    return lines


def _describe_deal(
    before: Any, after: Any, rules: Rules, who: list[str], seat: int | None
) -> list[str]:
    lines = [f"Deal {int(after['deals'])}: {does(who[int(after['dealer'])], 'deals')}."]
    paid = _pot(after) - int(before["pot"])
    if paid and rules["episode"] == "match":
        stake, pot = rules.number("stake"), _pot(after)
        lines.append(f"{paid // stake} players put {chips(stake)} each into the pot: {pot}.")
    order = _order_of(after)
    if seat is None:
        lines += columns([(who[s], KILLE_PACK.word(after["dealt"][s])) for s in order])
    elif seat in order:
        lines.append(f"{does(who[seat], 'gets')} {a(KILLE_PACK.word(after['dealt'][seat]))}.")
    return lines


def _describe_event(
    table: Any, rules: Rules, who: list[str], event: list[int], viewer: int | None
) -> str:
    kind, first, second, card_a, card_b, loser = event
    noun, call = KILLE_PACK.word(card_b), _called(_call_at(event))
    name = who[first]
    if kind == Event.ANSWER:
        return f"{does(name, 'answers')}: {call}"
    other = who[second]
    if kind == Event.HUSAR:
        return f"{owner(other)} {noun} strikes {inside(name)}: {call}"
    verb, rest = _EVENTS[kind]
    line = does(name, verb) + rest.format(
        a=inside(name), b=inside(other), b_s=inside(owner(other)), noun=noun,
        card=f"the {noun}", call=call,
    )  # fmt: skip
    if kind in (Event.EXCHANGE, Event.TALON_TAKEN):
        line += _describe_cards(table, rules, who, event, viewer)
    elif kind == Event.TALON_PASSED:
        line += " Another card is drawn." if rules["stock_redraw"] else " There is no exchange."
    elif kind in (Event.SVIN, Event.TALON_SVIN):
        if loser != first:
            known = _known_to(table, viewer, card_a)
            struck = f"the {KILLE_PACK.word(card_a)}" if known else "the card"
            line += f" It strikes {struck}, which was dealt to {inside(who[loser])}:"
        line += f" {does(who[loser], 'is struck')}."
    return line


def _describe_cards(
    table: Any, rules: Rules, who: list[str], event: list[int], viewer: int | None
) -> str:
    """Describe the cards of an exchange that the viewer knows, and the rank of their killes."""
    kind, first, second, given, got, extra = event
    swap = kind == Event.EXCHANGE
    givers = ((given, first), (got, second if swap else -1))
    gives, gets = (
        "" if not _known_to(table, viewer, card)
        else f"your {KILLE_PACK.word(card)}" if holder == viewer and who[holder] == YOU
        else a(KILLE_PACK.word(card))
        for card, holder in givers
    )  # fmt: skip
    if not swap:
        line = f" {gets or 'a card'} for {gives or 'another'}."
    elif gives and gets:
        line = f": {gives} for {gets}."
    else:
        line = f", giving {gives}." if gives else f", getting {gets}." if gets else ", unseen."
    killes = [card for card in (given, got) if card >> 1 == Kind.KI]
    if not swap and got in killes:
        line += " A harlequin from the stock counts highest."
    elif swap and len(killes) == 2:
        line += f" Two harlequins meet: both count {rules['meeting']}."
    elif swap and killes:
        line += " The harlequin counts lowest."
    return line + (" [undone]" if extra & UNDONE else "")


def _dealer_asks_for_cards(table: Any) -> bool:
    """Return whether a showdown has come by itself, and not by a gok."""
    events = _events_of(table)
    return bool(events) and events[-1][0] not in (Event.GOK_STOOD, Event.TALON_GOK, Event.CALL)


def _describe_showdown(table: Any, who: list[str], seat: int | None) -> list[str]:
    lines = ["All cards are turned up."]
    if _dealer_asks_for_cards(table):
        lines = [f"{does(who[int(table['dealer'])], 'says')}: {_called(SHOW_ALL)}"]
    rows = []
    for other in _order_of(table):
        card = int(table["hand"][other])
        rank = _rank_of_kille(table, card)
        word = KILLE_PACK.word(card) + (f" ({rank})" if rank else "")
        rows.append((who[other], word, _fate(table, other)))
    return [*lines, *columns(rows), _verdict(table, who, seat)]


def _nobody_out(table: Any) -> str:
    """Return why nobody is out at a showdown."""
    seats, why = _order_of(table), ""
    if any(_is_low(table, seat) for seat in seats):
        why = "Low harlequins go out with the lowest card: "
    elif len({int(table["hand"][seat]) >> 1 for seat in seats}) == 1:
        why = "All cards are equal: "
    return f"{why}{'all' if why else 'All'} would be out, so nobody is."


def _describe_end(table: Any, rules: Rules, who: list[str]) -> list[str]:
    shown_pot, winner = chips(int(table["shown_pot"])), int(table["winner"])
    won = [f"{does(who[winner], 'wins')} the pot of {shown_pot}."] if winner >= 0 else []
    still_in = listed([who[seat] for seat in members(table["in_pot"])])
    if table["truncated"]:
        lines = [*won, f"The match is cut off after {int(table['deals'])} deals."]
        if table["shown_pot"] and not won:
            rest = int(table["left_on_table"])
            over = f"; {rest} stay on the table." if rest else "."
            lines.append(f"{still_in} share the pot of {shown_pot}{over}")
        return lines
    if table["redeal"] != Redeal.NONE:
        kille = table["redeal"] == Redeal.KILLE
        why = "A harlequin was dealt to one of the last two. " if kille else ""
        return [f"{why}New cards; {inside(does(who[int(table['dealer'])], 'deals'))} again."]
    if rules["episode"] == "deal":
        return [_describe_payment(table, rules, who)]
    dealer = inside(does(who[int(table["next_dealer"])], "deals"))
    return won or [f"In for the next deal: {still_in}; {dealer}."]


def _describe_payment(table: Any, rules: Rules, who: list[str]) -> str:
    """Return the payments of a single deal."""
    out, stake = members(table["out"]), chips(rules.number("stake"))
    if not out:
        return "Nobody pays."
    pay = f"{listed([who[seat] for seat in out])} pay {stake} each"
    pay = pay if len(out) > 1 else f"{does(who[out[0]], 'pays')} {stake}"
    return f"{pay}, shared by the others."


# The view


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Return the table as a seat may see it, or everything; see `Texts.view`."""
    turn, gone = _turn(table, seat), retired(table, rules)
    asked = table["phase"] > Phase.OVER and seat in (None, turn)
    return View(
        title=f"Byteskille, deal {int(table['deals'])}",
        viewer=seat,
        dealer=int(table["dealer"]),
        turn=turn,
        seats=tuple(_seat(table, other, seat, retired=other in gone) for other in range(len(who))),
        piles=_piles(table, seat),
        pot=float(table["pot"]) if rules["episode"] == "match" else None,
        question=_question(table, rules, who, turn) if asked else "",
        strip=_strip(table),
        history=tuple(_describe_event(table, rules, who, e, seat) for e in _events_of(table)),
        calls=tuple(_calls(table)),
        verdict=_verdict(table, who, seat),
        zones=_zones(table) if seat is None else {},
    )


def _strip(table: Any) -> tuple[Laid, ...]:
    """Return the cards of a showdown, the lowest first."""
    if not table["showdown"]:
        return ()
    return tuple(
        Laid(seat, f"open {seat} 0", face_of(KILLE_PACK, table["hand"][seat]), _fate(table, seat))
        for seat in sorted(_order_of(table), key=lambda s: _rank(table, int(table["hand"][s])))
    )


def _turn(table: Any, viewer: int | None) -> int:
    """Return the seat on turn; only the seat itself may know that a gok holder is asked."""
    # To all others it is still the turn of the player who decides about a swap.
    hidden = table["phase"] == Phase.GOK and viewer not in (None, table["seat"])
    return _order_of(table)[int(table["turn"])] if hidden else int(table["seat"])


def _seat(table: Any, seat: int, viewer: int | None, *, retired: bool) -> Seat:
    cards, lies_open = _cards(table, seat, viewer), _zone(table, seat).startswith("open")
    deeds = [text for deed, text in _DEEDS.items() if seat in members(table[deed])]
    return Seat(
        hand=() if lies_open else cards,
        played=cards if lies_open else (),
        words=tuple(filter(None, (*deeds, _fate(table, seat), _buying(table, seat)))),
        units=float(table["reward"][seat]),
        present=table["deals"] == 0 or seat in _order_of(table),
        retired=retired,
    )


def _cards(table: Any, seat: int, viewer: int | None) -> tuple[Card, ...]:
    card = int(table["hand"][seat])
    if card < 0:
        return ()
    known = _known_to(table, viewer, card)
    word = _rank_of_kille(table, card) if known else ""
    faded = _fate(table, seat) != ""
    return spread(KILLE_PACK, _zone(table, seat), [card], known=known, word=word, faded=faded)


def _buying(table: Any, seat: int) -> str:
    """Return the decision of a seat that is out about buying in."""
    is_out = seat not in members(table["players"]) or seat in members(table["out"])
    back = table["deals"] > 0 and is_out and seat in members(table["in_pot"])
    return "out" if seat in members(table["declined"]) else "back in" if back else ""


def _piles(table: Any, viewer: int | None) -> tuple[Pile, ...]:
    talon = Pile(TALON, KILLE_PACK.size - int(table["drawn"]))
    aside = _laid_aside(table)
    if not aside:
        return (talon,)
    last = aside[-1]
    top = face_of(KILLE_PACK, last) if _known_to(table, viewer, last) else None
    return talon, Pile(ASIDE, len(aside), top)


def _laid_aside(table: Any) -> list[int]:
    return table["laid_aside"][: int(table["num_laid_aside"])].tolist()


def _zones(table: Any) -> Zones:
    hands = {_zone(table, seat): [int(table["hand"][seat])] for seat in _order_of(table)}
    return {ASIDE: _laid_aside(table), **hands}


def _zone(table: Any, seat: int) -> str:
    """Return the zone of the card of a seat."""
    lies_open = int(table["hand"][seat]) in members(table["shown"])
    return f"{'open' if lies_open else 'hand'} {seat}"


def _calls(table: Any) -> Iterator[Call]:
    """Yield the calls of the hand."""
    before = -1, -1
    for event in _events_of(table):
        kind, a, b, *_ = event
        drawn = Event.TALON_PASSED <= kind <= Event.TALON_TAKEN
        challenged = Event.PASSED <= kind <= Event.SVIN
        if kind == Event.STAND:
            yield Call(a, *SATISFIED)
        # A seat that is sent on by an inn or a cavalier has said so already.
        # One wish to swap can meet several inns in a row, which are an event each.
        if (challenged or kind == Event.EXCHANGE) and before != (Event.PASSED, a):
            yield Call(a, *SWAP)
        words, meaning = _call_at(event)
        if words:
            yield Call(-1 if drawn else b if challenged else a, words, meaning)
        before = kind, a
    if table["showdown"] and _dealer_asks_for_cards(table):
        yield Call(int(table["dealer"]), *SHOW_ALL)


# The choices

MOST_NAMED = 2
"""Seats of which a verdict says why they are out; of the others only that they are."""


def _question(table: Any, rules: Rules, who: list[str], seat: int) -> str:
    """Return the question to the seat on turn."""
    phase, order, turn = int(table["phase"]), _order_of(table), int(table["turn"])
    if phase == Phase.BUYIN:
        return f"Buy back in for {_price(table, rules)}?"
    if phase in (Phase.ANSWER_DEALER, Phase.ANSWER_THIRD):
        return f"{who[order[0]]} asks for better cards. Deal again?"
    if phase == Phase.GOK and seat == table["seat"]:
        return f"Show your cuckoo before {inside(does(who[order[turn]], 'decides'))}?"
    card = _word(table, seat)
    if turn + 1 == len(order):
        return f"Keep your {card}, or draw from the stock?"
    return f"Keep your {card}, or swap it with {who[order[turn + 1]]}?"


def choice(table: Any, rules: Rules, action: int, who: list[str]) -> str:
    """Return the text of a button; see `Texts.choice`."""
    order, turn = _order_of(table), int(table["turn"])
    if action in (Action.BUY, Action.DECLINE):
        return f"Buy back in for {_price(table, rules)}" if action == Action.BUY else "Stay out"
    last = turn + 1 == len(order)
    return {
        Action.STAND: f"Keep my {_word(table, int(table['seat']))}",
        Action.SWAP: "Draw from the stock" if last else f"Swap with {who[order[turn + 1]]}",
        Action.CALL: "Show the cuckoo: deal over",
        Action.WAIT: "Keep it hidden",
        Action.ASK: f"Ask {who[order[-1]]} for better cards",
        Action.YES: "Deal again",
        Action.NO: "Play on",
        Action.DEFER: f"Let {who[order[1]]} decide",
    }[Action(action)]


def _price(table: Any, rules: Rules) -> int:
    return int(price(table, rules.record[0], int(table["seat"])))


def _word(table: Any, seat: int) -> str:
    return KILLE_PACK.word(int(table["hand"][seat]))


def _verdict(table: Any, who: list[str], seat: int | None) -> str:
    """Return why seats are out, once the cards lie open."""
    if not table["showdown"]:
        return ""
    out = members(table["out"])
    if not out:
        return _nobody_out(table)
    out.sort(key=lambda other: other != seat)  # the own fate first
    named = 1 if seat in out else MOST_NAMED
    why = [_why(table, who, other, mine=other == seat) for other in out[:named]]
    rest = [who[other] for other in out[named:]]
    if rest:
        why.append(f"{listed(rest)} {'is' if len(rest) == 1 else 'are'} out too.")
    return " ".join(why)


def _why(table: Any, who: list[str], seat: int, mine: bool) -> str:
    """Return why a seat is out, by open cards and, if it is `mine`, by those it held before."""
    card = int(table["hand"][seat])
    if seat in members(table["chopped"]):
        return _struck(table, who, seat)
    if _rank_of_kille(table, card) == "low":
        dealt = "A dealt harlequin" if int(table["dealt"][seat]) == card else "A harlequin"
        return f"{dealt} counts lowest: {inside(does(who[seat], 'is'))} out."
    if mine and (given := _given_for(table, seat, card)) >= 0:
        own = f"{'your' if who[seat] == YOU else 'its'} {KILLE_PACK.word(given)}"
        drew = f"{who[seat]} drew {a(_word(table, seat))} for {own}"
        return f"{drew}; {_without_drawing(table, who, seat, given)}."
    equal = [other for other in members(table["out"]) if table["hand"][other] >> 1 == card >> 1]
    lowest = "one of the lowest" if len(equal) > 1 else "the lowest"
    which = f"{lowest}{_of_those_in(table, seat)}"
    return f"{owner(who[seat])} {_word(table, seat)} was {which}{_otherwise(table, who, seat)}."


def _of_those_in(table: Any, seat: int) -> str:
    """Return that a lowest card was not the lowest of all: a struck seat may have held a lower."""
    rank = _rank(table, int(table["hand"][seat]))
    lower = [s for s in members(table["out"]) if _rank(table, int(table["hand"][s])) < rank]
    return " of those still in" if lower else ""


def _struck(table: Any, who: list[str], seat: int) -> str:
    for kind, first, second, _, _, loser in _events_of(table):
        if kind == Event.HUSAR and first == seat:
            return f"{owner(who[second])} hussar struck {inside(who[seat])}."
        if kind == Event.TALON_HUSAR and first == seat:
            return f"The hussar in the stock struck {inside(who[seat])}."
        if kind in (Event.SVIN, Event.TALON_SVIN) and loser == seat:
            drawn = kind == Event.TALON_SVIN
            pig = "The pig in the stock" if drawn else f"{owner(who[second])} pig"
            return f"{pig} undid the swaps and struck {inside(who[seat])}."
    return f"{does(who[seat], 'is')} out."


def _given_for(table: Any, seat: int, card: int) -> int:
    """Return the card that a seat gave for one from the stock, -1 if it did not draw this one."""
    drawn = (Event.TALON_TAKEN, seat, card)
    found = [given for kind, first, _, given, got, _ in _events_of(table)
             if (kind, first, got) == drawn]  # fmt: skip
    return found[-1] if found else -1


def _without_drawing(table: Any, who: list[str], seat: int, given: int) -> str:
    """Return the fate of a seat if it had kept the card that it gave to the stock."""
    struck = members(table["chopped"])
    # Struck seats are out for another reason, and their cards are not compared.
    others = [other for other in _order_of(table) if other != seat and other not in struck]
    lowest = min(others, key=lambda other: _rank(table, int(table["hand"][other])), default=seat)
    below = _rank(table, int(table["hand"][lowest])) < given >> 1 < Kind.KI
    if lowest == seat or not below:
        return f"it was the lowest{_of_those_in(table, seat)}"
    card, kept = _word(table, lowest), KILLE_PACK.word(given)
    return f"with the {kept} {owner(who[lowest])} {card} was out"


def _rank(table: Any, card: int) -> int:
    return -1 if _rank_of_kille(table, card) == "low" else card >> 1


def _otherwise(table: Any, who: list[str], seat: int) -> str:
    """Return where a lowest card came from, or the card of a swap that was not made, if open."""
    card, order = int(table["hand"][seat]), _order_of(table)
    shown = members(table["shown"])
    for kind, first, second, given, got, _ in reversed(_events_of(table)):
        worse = given in shown and got < given
        if kind == Event.TALON_TAKEN and first == seat and got == card:
            return ", drawn from the stock"
        if kind == Event.EXCHANGE and first == seat and got == card:
            back = f", taken for {a(KILLE_PACK.word(given))}" if worse else ""
            return back or f", taken from {inside(who[second])}"
        if kind == Event.EXCHANGE and second == seat and given == card:
            return f": {inside(does(who[first], 'has'))} passed it on"
        if kind == Event.STAND and first == seat and seat != order[-1]:
            left = order[order.index(seat) + 1]
            theirs = int(table["dealt"][left])
            if theirs in shown and card >> 1 < theirs >> 1 < Kind.VH:
                brought = a(KILLE_PACK.word(theirs))
                return f"; swapping with {inside(who[left])} would have brought {brought}"
    return ""
