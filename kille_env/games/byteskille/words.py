"""Byteskille in words and pictures: results, a table as a seat sees it, what happened.

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
from kille_env.cards.words import ASIDE, TALON, Zones, describe_pack, face_of, moves_between, spread
from kille_env.core.spec import Rules
from kille_env.games.byteskille.rules import UNDONE, Action, Event, Phase, Redeal, price
from kille_env.words.manual import explain_actions, is_single, manual, seats_at, section
from kille_env.words.text import (
    YOU,
    a,
    chips,
    columns,
    counted,
    does,
    inside,
    listed,
    owner,
    plain_letters,
)
from kille_env.words.view import Call, Card, Change, Laid, Pile, Seat, View

MEANINGS = {
    "stand": "keep your card",
    "swap": "swap with the player to your left; as dealer with the stock",
    "call": "lay your gök on the table: the round is over",
    "wait": "keep your gök hidden and let the others go on",
    "ask": "ask the dealer for better cards",
    "yes": "“Accepteras!”: the cards are dealt again",
    "no": "“Omöjligt!”: play goes on with these cards",
    "defer": "“Det beror på!”: the third player decides",
    "buy": "pay and be in again",
    "decline": "stay out",
}
NOTES = (
    "Whoever has the lowest card when the cards are shown is out, and may buy in again; the last "
    "one in takes the pot.",
    "From the lowest up: mask, flowerpot, wreath, 1 to 12, inn, cavalier, pig, hussar, cuckoo; "
    "where the harlequin stands depends on the rules.",
)
RESULT_KEYS = (
    "turns",
    "reveals",
    "undone",
    "chopped",
    "low_kille",
    "out",
    "left",
    "final",
    "redeal",
    "pot",
    "next_dealer",
    "winner",
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
"""What happens in words, verb and rest; `_describe_event` says what follows."""

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


def call_at(event: Sequence[int]) -> tuple[str, str]:
    """Returns what is called at an event, in Swedish and in English; nothing at an exchange."""
    kind, _, b, _, card_b, _ = event
    if kind == Event.ANSWER:
        return _BY_ANSWER[b]
    return _CALLS.get(kind) or _BY_CARD.get(card_b >> 1, ("", ""))


def _called(call: tuple[str, str]) -> str:
    """Returns a call with what it means: "“Omöjligt!” (impossible)"."""
    words, meaning = call
    return f"“{words}” ({meaning[:1].lower()}{meaning[1:]})"


# The result of a hand


def result(table: Any, rules: Rules) -> dict[str, Any]:
    """Returns the record notation's result of the hand that has just ended."""
    events, hands = events_of(table), table["hand"][: int(table["num_players"])]
    redealt = table["redeal"] != Redeal.NONE
    turns = [
        a
        for kind, a, b, *_ in events
        if kind != Event.ANSWER and not (kind == Event.CALL and b == 0)
    ]
    return {
        "turns": list(dict.fromkeys(turns)),
        "reveals": [reveal for event in events if (reveal := _reveal(event))],
        "undone": _count_undone(events),
        "chopped": members(table["chopped"]),
        "low_kille": [] if redealt else [s for s in sorted(order_of(table)) if _is_low(table, s)],
        "out": members(table["out"]),
        "left": members(table["left"]),
        "final": [None if redealt or card < 0 else KILLE_PACK.code(card) for card in hands],
        "redeal": Redeal(table["redeal"]).name.lower() if redealt else None,
        "pot": int(table["shown_pot"]),
        "next_dealer": int(table["next_dealer"]),
        "winner": seat_or_none(table["winner"]),
    }


def _reveal(event: Sequence[int]) -> list[Any] | None:
    """A matador that was challenged, a gok that was called, an open card from the talon."""
    kind, a, b, card_a, card_b, _ = event
    if Event.PASSED <= kind <= Event.SVIN:
        return [b, KILLE_PACK.code(card_b)]
    taken_open = kind == Event.TALON_TAKEN and card_b >> 1 == Kind.KI
    if Event.TALON_PASSED <= kind <= Event.TALON_SVIN or taken_open:
        return ["talon", KILLE_PACK.code(card_b)]
    return [a, KILLE_PACK.code(card_a)] if kind == Event.CALL else None


def events_of(table: Any) -> list[list[int]]:
    """Returns what has happened in the hand, rows as the top of `rules` explains them."""
    return table["events"][: int(table["num_events"])].tolist()


def order_of(table: Any) -> list[int]:
    """Returns the seats of the hand, forehand first."""
    return table["order"][: int(table["num_players_dealt"])].tolist()


def _is_high(table: Any, kille: int) -> bool:
    return kille & 1 in members(table["high"])


def _is_low(table: Any, seat: int) -> bool:
    card = int(table["hand"][seat])
    return card >> 1 == Kind.KI and not _is_high(table, card)


def _count_undone(events: Sequence[Sequence[int]]) -> int:
    exchanges = (Event.EXCHANGE, Event.TALON_TAKEN)
    return sum(kind in exchanges and extra & UNDONE != 0 for kind, *_, extra in events)


def known_to(table: Any, seat: int | None, card: int) -> bool:
    """Returns whether a seat (None: somebody who sees everything) knows what a card is."""
    if seat is None or card < 0:
        return card >= 0
    return card in members(table["shown"]) or card in members(table["held"][seat])


def _pot(table: Any) -> int:
    """The pot after the hand's payments in, before it is paid out."""
    decided = table["phase"] == Phase.OVER or table["winner"] >= 0
    return int(table["shown_pot" if decided else "pot"])


# The table as a seat sees it


def describe(table: Any, rules: Rules, seat: int | None, who: list[str], history: bool) -> str:
    """Returns the text of a table as a seat sees it, or with every card; see `Game.describe`."""
    pot = f", pot {chips(int(table['pot']))}" if rules["episode"] == "match" else ""
    lines = [
        f"Byteskille, deal {int(table['deals'])}, dealer {who[int(table['dealer'])]}{pot}, "
        f"{KILLE_PACK.size - int(table['drawn'])} cards in the stock"
    ]
    lines += columns([_row(table, who, other, seat) for other in range(len(who))])
    if history and table["num_events"] > 0:
        lines.append("The deal so far:")
        lines += [
            f"  {_describe_event(table, rules, who, event, seat)}" for event in events_of(table)
        ]
    return "\n".join([*lines, to_decide(table, rules, who, seat)])


def _row(table: Any, who: list[str], seat: int, viewer: int | None) -> tuple[str, str, str]:
    """One seat: its name, its card, what it did."""
    order = order_of(table)
    if seat not in order or table["deals"] == 0:
        return (who[seat], "", "is not in" if table["deals"] else "")
    card = int(table["hand"][seat])
    line = _card(table, card) if known_to(table, viewer, card) else "?"
    if card in members(table["shown"]) and not table["showdown"]:
        line += ", open"
    notes = deeds_of(table, seat)
    if table["phase"] in (Phase.TURN, Phase.GOK) and seat == order[int(table["turn"])]:
        notes.append("is on turn")
    return (who[seat], line, ", ".join([*notes, *fate_of(table, seat)]))


def deeds_of(table: Any, seat: int) -> list[str]:
    """Returns what a seat has done in the hand: "swapped", "drew"."""
    return [text for deed, text in _DEEDS.items() if seat in members(table[deed])]


def fate_of(table: Any, seat: int) -> list[str]:
    """Returns what has become of a seat in the hand, if anything: "out", "struck"."""
    struck = ["struck"] if seat in members(table["chopped"]) else []
    return struck or (["out"] if seat in members(table["out"]) else [])


def _card(table: Any, card: int) -> str:
    rank = rank_of_kille(table, card)
    return f"{KILLE_PACK.word(card)} ({rank})" if rank else KILLE_PACK.word(card)


def rank_of_kille(table: Any, card: int) -> str:
    """Returns "high" or "low" for a kille, nothing for any other card."""
    if card >> 1 != Kind.KI:
        return ""
    return "high" if _is_high(table, card) else "low"


def _why_out(table: Any, seat: int) -> str:
    if seat in members(table["chopped"]):
        return "struck"
    return "low harlequin" if _is_low(table, seat) else "lowest card"


def to_decide(table: Any, rules: Rules, who: list[str], viewer: int | None) -> str:
    """Returns who decides what; that a gok holder is asked, nobody else may know."""
    phase, seat = int(table["phase"]), int(table["seat"])
    if phase == Phase.OVER:
        return "The match is over."
    if phase == Phase.DEAL:
        return "Cards are to be dealt."
    if phase == Phase.BUYIN:
        return f"{who[seat]} may buy in for {chips(int(price(table, rules.record[0], seat)))}."
    if phase in (Phase.ANSWER_DEALER, Phase.ANSWER_THIRD):
        return f"{who[seat]} answers the question for better cards."
    on_turn = who[order_of(table)[int(table["turn"])]]
    if phase == Phase.GOK and viewer in (None, seat):
        return f"{who[seat]} may show the cuckoo before {on_turn} decides."
    return f"{on_turn} is on turn to exchange."


# What has happened


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Returns what happened between two tables, as a seat may know it; see `Game.narrate`."""
    lines: list[str] = []
    old = events_of(before)
    if after["deals"] != before["deals"]:
        lines += _describe_deal(before, after, rules, who, seat)
        old = []
    elif before["phase"] == Phase.BUYIN:
        paid, buyer = _pot(after) - int(before["pot"]), who[int(before["seat"])]
        deed = does(buyer, f"buys back in for {chips(paid)}" if paid > 0 else "stays out")
        lines.append(f"{deed}.")
    new = events_of(after)
    undone = _count_undone(new) - _count_undone(old)
    for event in new[len(old) :]:
        lines.append(_describe_event(after, rules, who, event, seat))
        if event[0] in (Event.SVIN, Event.TALON_SVIN) and undone:
            lines[-1] += f" {counted(undone, 'swap is', 'swaps are')} undone."
    asked = int(before["seat"])
    if before["phase"] == Phase.GOK and len(new) == len(old) and seat in (None, asked):
        lines.append(f"{does(who[asked], 'keeps the cuckoo hidden')}.")
    if after["showdown"] and (not before["showdown"] or after["deals"] != before["deals"]):
        lines += _describe_showdown(after, who)
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(after, rules, who)
    return lines


def _describe_deal(
    before: Any, after: Any, rules: Rules, who: list[str], seat: int | None
) -> list[str]:
    lines = [f"Deal {int(after['deals'])}: {does(who[int(after['dealer'])], 'deals')}."]
    paid = _pot(after) - int(before["pot"])
    if paid and rules["episode"] == "match":
        stake = rules.number("stake")
        lines.append(
            f"{paid // stake} players put {chips(stake)} each into the pot: {_pot(after)}."
        )
    order = order_of(after)
    if seat is None:
        lines += columns([(who[s], KILLE_PACK.word(after["dealt"][s])) for s in order])
    elif seat in order:
        lines.append(f"{does(who[seat], 'gets')} {a(KILLE_PACK.word(after['dealt'][seat]))}.")
    return lines


def _describe_event(
    table: Any, rules: Rules, who: list[str], event: list[int], viewer: int | None
) -> str:
    kind, first, second, card_a, card_b, loser = event
    noun, call = KILLE_PACK.word(card_b), _called(call_at(event))
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
            known = known_to(table, viewer, card_a)
            struck = f"the {KILLE_PACK.word(card_a)}" if known else "the card"
            line += f" It strikes {struck}, which was dealt to {inside(who[loser])}:"
        line += f" {does(who[loser], 'is struck')}."
    return line


def _describe_cards(
    table: Any, rules: Rules, who: list[str], event: list[int], viewer: int | None
) -> str:
    """The cards of an exchange, as far as the viewer knows them, and how their killes rank."""
    kind, first, second, given, got, extra = event
    swap = kind == Event.EXCHANGE
    givers = ((given, first), (got, second if swap else -1))
    gives, gets = (
        _card_of(card, holder == viewer and who[holder] == YOU)
        if known_to(table, viewer, card)
        else ""
        for card, holder in givers
    )
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


def _card_of(card: int, yours: bool) -> str:
    word = KILLE_PACK.word(card)
    return f"your {word}" if yours else a(word)


def dealer_asks_for_cards(table: Any) -> bool:
    """Returns whether a showdown has come by itself, and not by a gok."""
    events = events_of(table)
    return bool(events) and events[-1][0] not in (Event.GOK_STOOD, Event.TALON_GOK, Event.CALL)


def _describe_showdown(table: Any, who: list[str]) -> list[str]:
    out = members(table["out"])
    lines = ["All cards are turned up."]
    if dealer_asks_for_cards(table):
        lines = [f"{does(who[int(table['dealer'])], 'says')}: {_called(SHOW_ALL)}"]
    reasons = {seat: f"out: {_why_out(table, seat)}" for seat in out}
    lines += columns(
        [(who[s], _card(table, int(table["hand"][s])), reasons.get(s, "")) for s in order_of(table)]
    )
    return lines if out else [*lines, nobody_out(table)]


def nobody_out(table: Any) -> str:
    """Returns why nobody is out at a showdown."""
    seats, why = order_of(table), ""
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
    """What those who are out pay in a single deal."""
    out, stake = members(table["out"]), chips(rules.number("stake"))
    if not out:
        return "Nobody pays."
    if len(out) == 1:
        return f"{does(who[out[0]], 'pays')} {stake}, shared by the others."
    return f"{listed([who[seat] for seat in out])} pay {stake} each, shared by the others."


# What there is to see


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Returns what a seat may see of a table, or everything; see `Game.view`."""
    return View(
        title=f"Byteskille, deal {int(table['deals'])}",
        viewer=seat,
        dealer=int(table["dealer"]),
        turn=_turn(table, seat),
        seats=tuple(_seat(table, other, seat) for other in range(len(who))),
        piles=_piles(table, seat),
        pot=float(table["pot"]) if rules["episode"] == "match" else None,
        question=to_decide(table, rules, who, seat),
        strip=_strip(table),
    )


def _strip(table: Any) -> tuple[Laid, ...]:
    """Returns the cards of a showdown, the lowest first."""
    if not table["showdown"]:
        return ()

    def rank(seat: int) -> int:
        card = int(table["hand"][seat])
        return -1 if rank_of_kille(table, card) == "low" else card >> 1

    return tuple(
        Laid(
            seat,
            f"open {seat} 0",
            face_of(KILLE_PACK, int(table["hand"][seat])),
            "".join(fate_of(table, seat)[:1]),
        )
        for seat in sorted(order_of(table), key=rank)
    )


def _turn(table: Any, viewer: int | None) -> int:
    """Whose turn it is; that a gok holder is asked, only that seat may know."""
    hidden = table["phase"] == Phase.GOK and viewer not in (None, table["seat"])
    return order_of(table)[int(table["turn"])] if hidden else int(table["seat"])


def _seat(table: Any, seat: int, viewer: int | None) -> Seat:
    present = table["deals"] == 0 or seat in order_of(table)
    cards = _cards(table, seat, viewer)
    lies_open = _zone(table, seat).startswith("open")
    return Seat(
        hand=() if lies_open else cards,
        played=cards if lies_open else (),
        words=(*deeds_of(table, seat), *fate_of(table, seat), *_buying(table, seat)),
        units=float(table["reward"][seat]),
        present=present,
    )


def _cards(table: Any, seat: int, viewer: int | None) -> tuple[Card, ...]:
    card = int(table["hand"][seat])
    if card < 0:
        return ()
    known = known_to(table, viewer, card)
    word = rank_of_kille(table, card) if known else ""
    faded = bool(fate_of(table, seat))
    return spread(KILLE_PACK, _zone(table, seat), [card], known=known, word=word, faded=faded)


def _buying(table: Any, seat: int) -> list[str]:
    """What a seat that is out has decided about buying in."""
    if seat in members(table["declined"]):
        return ["out"]
    is_out = seat not in members(table["players"]) or seat in members(table["out"])
    back = table["deals"] > 0 and is_out and seat in members(table["in_pot"])
    return ["back in"] if back else []


def _piles(table: Any, viewer: int | None) -> tuple[Pile, ...]:
    talon = Pile(TALON, KILLE_PACK.size - int(table["drawn"]))
    aside = _laid_aside(table)
    if not aside:
        return (talon,)
    last = aside[-1]
    top = face_of(KILLE_PACK, last) if known_to(table, viewer, last) else None
    return talon, Pile(ASIDE, len(aside), top)


def _laid_aside(table: Any) -> list[int]:
    return table["laid_aside"][: int(table["num_laid_aside"])].tolist()


# What moved and what was called


def change(before: Any, after: Any, rules: Rules, seat: int | None) -> Change:
    """Returns what moved and was called between two tables; see `Game.change`."""
    dealt = after["deals"] != before["deals"]
    zones = {} if dealt else _zones(before)
    calls = [*_calls(after, 0 if dealt else int(before["num_events"]))]
    shown = after["showdown"] and (dealt or not before["showdown"])
    if shown and dealer_asks_for_cards(after):
        calls.append(Call(int(after["dealer"]), *SHOW_ALL))
    return Change(moves_between(zones, _zones(after)), tuple(calls))


def _zones(table: Any) -> Zones:
    hands = {_zone(table, seat): [int(table["hand"][seat])] for seat in order_of(table)}
    return {ASIDE: _laid_aside(table), **hands}


def _zone(table: Any, seat: int) -> str:
    """Where the card of a seat lies."""
    lies_open = int(table["hand"][seat]) in members(table["shown"])
    return f"{'open' if lies_open else 'hand'} {seat}"


def _calls(table: Any, first: int) -> Iterator[Call]:
    """The calls at the events from one on; all of these belong to one action."""
    for number, event in enumerate(events_of(table)[first:]):
        kind, a, b, *_ = event
        drawn = Event.TALON_PASSED <= kind <= Event.TALON_TAKEN
        challenged = Event.PASSED <= kind <= Event.SVIN
        if kind == Event.STAND:
            yield Call(a, *SATISFIED)
        if number == 0 and (challenged or kind == Event.EXCHANGE):
            yield Call(a, *SWAP)
        words, meaning = call_at(event)
        if words:
            yield Call(-1 if drawn else b if challenged else a, words, meaning)


# What a person at the table is asked, and told at the end

MOST_NAMED = 2
"""Seats of which a verdict says why they are out; of the others only that they are."""


def question(table: Any, rules: Rules, who: list[str]) -> str:
    """Returns what the seat to act is asked; see `Game.question`."""
    phase, order, turn = int(table["phase"]), order_of(table), int(table["turn"])
    if phase == Phase.BUYIN:
        return f"Buy back in for {_price(table, rules)}?"
    if phase in (Phase.ANSWER_DEALER, Phase.ANSWER_THIRD):
        return f"{who[order[0]]} asks for better cards. Deal again?"
    if phase == Phase.GOK:
        return f"Show your cuckoo before {inside(does(who[order[turn]], 'decides'))}?"
    card = _word(table, int(table["seat"]))
    if turn + 1 == len(order):
        return f"Keep your {card}, or draw from the stock?"
    return f"Keep your {card}, or swap it with {who[order[turn + 1]]}?"


def choice(table: Any, rules: Rules, action: int, who: list[str]) -> str:
    """Returns what a button says; see `Game.choice`."""
    order, turn = order_of(table), int(table["turn"])
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


def verdict(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> str:
    """Returns why seats are out, once the cards lie open; see `Game.verdict`."""
    if not after["showdown"] or (before["showdown"] and after["deals"] == before["deals"]):
        return ""
    out = members(after["out"])
    if not out:
        return nobody_out(after)
    out.sort(key=lambda other: other != seat)  # the own fate first
    named = 1 if seat in out else MOST_NAMED
    why = [_why(after, who, other, mine=other == seat) for other in out[:named]]
    rest = [who[other] for other in out[named:]]
    if rest:
        why.append(f"{listed(rest)} {'is' if len(rest) == 1 else 'are'} out too.")
    return " ".join(why)


def _why(table: Any, who: list[str], seat: int, mine: bool) -> str:
    """Says why a seat is out, by what lies open and, if it is `mine`, by what it held before."""
    card = int(table["hand"][seat])
    if seat in members(table["chopped"]):
        return _struck(table, who, seat)
    if rank_of_kille(table, card) == "low":
        dealt = "A dealt harlequin" if int(table["dealt"][seat]) == card else "A harlequin"
        return f"{dealt} counts lowest: {inside(does(who[seat], 'is'))} out."
    if mine and (given := _given_for(table, seat, card)) >= 0:
        drew = f"{who[seat]} drew {a(_word(table, seat))} for your {KILLE_PACK.word(given)}"
        return f"{drew}; {_without_drawing(table, who, seat, given)}."
    equal = [other for other in members(table["out"]) if table["hand"][other] >> 1 == card >> 1]
    lowest = "one of the lowest" if len(equal) > 1 else "the lowest"
    which = f"{lowest}{_of_those_in(table, seat)}"
    return f"{owner(who[seat])} {_word(table, seat)} was {which}{_otherwise(table, who, seat)}."


def _of_those_in(table: Any, seat: int) -> str:
    """Says that a lowest card was not the lowest of all: who was struck may have held a lower."""
    rank = _rank(table, int(table["hand"][seat]))
    lower = [s for s in members(table["out"]) if _rank(table, int(table["hand"][s])) < rank]
    return " of those still in" if lower else ""


def _struck(table: Any, who: list[str], seat: int) -> str:
    for kind, first, second, _, _, loser in events_of(table):
        if kind == Event.HUSAR and first == seat:
            return f"{owner(who[second])} hussar struck {inside(who[seat])}."
        if kind == Event.TALON_HUSAR and first == seat:
            return f"The hussar in the stock struck {inside(who[seat])}."
        if kind in (Event.SVIN, Event.TALON_SVIN) and loser == seat:
            pig = (
                "The pig in the stock" if kind == Event.TALON_SVIN else f"{owner(who[second])} pig"
            )
            return f"{pig} undid the swaps and struck {inside(who[seat])}."
    return f"{does(who[seat], 'is')} out."


def _given_for(table: Any, seat: int, card: int) -> int:
    """Returns the card that a seat gave for one from the stock, -1 if it did not draw this one."""
    drawn = (Event.TALON_TAKEN, seat, card)
    found = [given for kind, first, _, given, got, _ in events_of(table)
             if (kind, first, got) == drawn]  # fmt: skip
    return found[-1] if found else -1


def _without_drawing(table: Any, who: list[str], seat: int, given: int) -> str:
    """Says who would have been out if a seat had kept the card that it gave to the stock."""
    struck = members(table["chopped"])
    others = [other for other in order_of(table) if other != seat and other not in struck]
    lowest = min(others, key=lambda other: _rank(table, int(table["hand"][other])), default=seat)
    below = _rank(table, int(table["hand"][lowest])) < given >> 1 < Kind.KI
    if lowest == seat or not below:
        return f"it was the lowest{_of_those_in(table, seat)}"
    card, kept = _word(table, lowest), KILLE_PACK.word(given)
    return f"with the {kept} {owner(who[lowest])} {card} was out"


def _rank(table: Any, card: int) -> int:
    return -1 if rank_of_kille(table, card) == "low" else card >> 1


def _otherwise(table: Any, who: list[str], seat: int) -> str:
    """Says where a lowest card came from, or what a swap would have brought, if that lies open."""
    card, order = int(table["hand"][seat]), order_of(table)
    shown = members(table["shown"])
    for kind, first, second, given, got, _ in reversed(events_of(table)):
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


# The rules in plain English


def describe_rules(rules: Rules, num_players: int) -> str:
    """Returns the rules of a table as text; see `Game.describe_rules`."""
    return manual(
        _opening(rules, num_players),
        section("Cards", [*describe_pack(highest=Kind.GO), _kille_in_short()]),
        section("A deal", _deal(rules, num_players)),
        section("What the card does that you demand", _answers(rules, num_players)),
        section("The talon", _talon(rules, num_players)),
        section("The rank of a kille", _kille(rules, num_players)),
        section("Calling with a gok", _call(rules, num_players)),
        section("Asking for better cards", _asking(rules, num_players)),
        _two_left(rules, num_players),
        section("Showdown: who is out", _showdown(rules)),
        section("Money", (_deal_money if is_single(rules) else _match_money)(rules, num_players)),
        _buying_in(rules, num_players),
        section("What you see", _seen()),
        explain_actions(_actions(rules, num_players)),
    )


# What applies at this table


def _two_only(rules: Rules, num_players: int) -> bool:
    """Whether every deal is one of two players, by the rules of the English article."""
    return num_players == 2 and rules["two_player"] == "wiki"


def _asks(rules: Rules, num_players: int) -> bool:
    """Whether forehand can ever ask for better cards."""
    few = num_players <= 3 or not is_single(rules)
    return rules["fraga"] == "forced" and few and rules.number("max_redeals") > 0


def _can_call(rules: Rules, num_players: int) -> bool:
    """Whether anybody can ever lay a gok open: two players by the article see it at once."""
    return rules["gok_call"] != "off" and not _two_only(rules, num_players)


def _buys(rules: Rules, num_players: int) -> bool:
    """Whether anybody can ever buy in."""
    fewest = {"none": 99, "svensk": 3, "wiki2": 4, "wiki3": 2 if rules["reentry_one_left"] else 3}
    return not is_single(rules) and num_players >= fewest[str(rules["reentry"])]


def _actions(rules: Rules, num_players: int) -> dict[str, str]:
    """The actions that can occur here, with their meanings."""
    words = ["stand", "swap"]
    if _can_call(rules, num_players):
        words += ["call", "wait"] if rules["gok_call"] == "any_time" else ["call"]
    if _asks(rules, num_players):
        words += ["ask", "yes", "no"]
        words += ["defer"] if num_players > 2 else []
    words += ["buy", "decline"] if _buys(rules, num_players) else []
    return {word: plain_letters(MEANINGS[word].rpartition("”: ")[2]) for word in words}


# Sections


def _opening(rules: Rules, num_players: int) -> str:
    aim = "Everybody has one card; whoever has the lowest when the cards are turned up is out"
    if is_single(rules):
        aim += " and pays. You play a single deal."
    else:
        aim += ". The last player who is in takes the pot."
    return f"Byteskille is a Swedish card game. {seats_at(num_players)} {aim}"


def _kille_in_short() -> str:
    code = KILLE_PACK.codes[Kind.KI]
    return (
        f"{code} kille (harlequin) has no fixed place: it ranks either low, below all others, or "
        "high, at the top; see below."
    )


def _deal(rules: Rules, num_players: int) -> list[str]:
    size = f"The other {KILLE_PACK.size - num_players} cards" if is_single(rules) else "The rest"
    return [
        "Each player gets one card, face down, and looks at their own card only. "
        f"{size} form the talon (the stock).",
        "Forehand, the nearest player to the dealer's left, decides first; then it goes on "
        "clockwise, and the dealer decides last.",
        "On your turn you stand, and keep your card, or you swap: you demand the card of the "
        "nearest player to your left who is in the deal. That player has no say: their card "
        "decides what happens.",
        "After the dealer's turn, or as soon as a gok ends the round, all cards are turned up.",
    ]


def _answers(rules: Rules, num_players: int) -> list[str]:
    return [
        "BL, BP, KR, a lilja (L1 to L12) or KI: the two cards change hands, face down; only a KI "
        "lies face up from then on. The player who had to give decides next, with the new card.",
        "VH or KA: it is shown and nothing is swapped. You must go on and demand the card of the "
        "player after its holder; after the dealer comes the talon. The holder has no turn of "
        "their own left in this deal.",
        "HU: it is shown and you are chopped: nothing is swapped, and you are out when the cards "
        f"are turned up.{'' if _two_only(rules, num_players) else _next_turn('HU')}",
        _svin(rules, num_players),
        "GO: it is shown, nothing is swapped, and the round is over at once.",
    ]


def _svin(rules: Rules, num_players: int) -> str:
    if _two_only(rules, num_players):
        return "SV: it is shown and you are chopped, as by HU; no exchange is undone."
    which = "All exchanges of this deal are"
    if rules["pig_scope"] == "card":
        which = "All exchanges of your card in this deal are"
    rank = "goes back to the rank that it had" if rules["undo_restores"] else "keeps its rank"
    return (
        f"SV: it is shown and chops your card. {which} undone, the last one first, and the player "
        "to whom your card was dealt is chopped, and will be out; that may be you. Players who get "
        f"a card back do not decide again. A kille in an exchange that is undone {rank}."
        f"{_next_turn('SV')}"
    )


def _next_turn(card: str) -> str:
    return f" The player after the holder of the {card} decides next."


def _talon(rules: Rules, num_players: int) -> list[str]:
    passed = "laid aside, and you draw the next card"
    if not rules["stock_redraw"]:
        passed = "laid aside, and you keep the card that you have"
    then = "has had their turn and does not decide any more"
    if rules["dealer_after_inn"]:
        then = "still has a turn of their own, unless a gok has ended the round"
    return [
        "The dealer has nobody to swap with and swaps with the top card of the talon. So does a "
        "player whom the dealer's VH or KA has sent on; the dealer then " + then + ".",
        f"A VH or KA drawn is shown and {passed}. A HU or SV drawn chops, and a GO drawn ends the "
        "round, as they do in a hand.",
        "Any other card is taken and the old one laid aside. Nobody else sees them, but for a KI.",
    ]


def _kille(rules: Rules, num_players: int) -> list[str]:
    beside = "as high as a GO" if rules["high_kille"] == "equal_gok" else "above a GO"
    from_talon = "A KI drawn from the talon ranks high."
    ranks = f"Low means below all other cards; high means {beside}."
    if _two_only(rules, num_players):
        return [from_talon, ranks]
    return [
        f"A KI that stays with the player to whom it was dealt ranks {rules['dealt_kille']}.",
        "A KI that is swapped for another card ranks low.",
        f"Two KI that are swapped for each other both rank {rules['meeting']}.",
        from_talon,
        ranks,
    ]


def _call(rules: Rules, num_players: int) -> list[str]:
    if not _can_call(rules, num_players):
        return ["You cannot lay a gok open yourself; it works when it is demanded."]
    lines = ["On your own turn you may call with a GO: you lay it open and the round is over."]
    if rules["gok_call"] == "any_time":
        lines.append(
            "If you hold a hidden GO you are also asked before each turn of another player: call, "
            "or wait and keep it hidden. Nobody else notices that you are asked."
        )
    return lines


def _asking(rules: Rules, num_players: int) -> list[str]:
    if not _asks(rules, num_players):
        return ["Nobody can ask for other cards."]
    most = rules.number("max_redeals")
    lines = ["If two players are in, forehand may ask the dealer for better cards before deciding."]
    if num_players == 2:
        lines = ["Forehand may ask the dealer for better cards before deciding."]
    elif num_players == 3 and is_single(rules):
        lines = ["Forehand may ask the dealer for better cards before deciding. " + _three(rules)]
    else:
        lines.append(f"If three players are in, it is the same. {_three(rules)}")
    if num_players == 2 or not is_single(rules):
        lines.append("With two, the dealer says yes or no.")
    lines.append(
        "Yes: the same dealer deals all cards again, and forehand may ask again, until "
        f"{most} of these questions have been granted in a deal. No: the cards are played."
    )
    return lines


def _three(rules: Rules) -> str:
    may = "says yes or no" if rules["fraga3_dealer_accept"] else "says no"
    return f"With three, the dealer {may}, or leaves the answer to the third player."


def _two_left(rules: Rules, num_players: int) -> str:
    if rules["two_player"] != "wiki" or (num_players > 2 and is_single(rules)):
        return ""
    return section(
        "With two players in the deal",
        [
            "If one of them is dealt a KI, the same dealer deals again at once.",
            "Otherwise, if one of them is dealt a GO, the cards are turned up at once.",
            "Whoever meets a SV or HU by swapping, in a hand or in the talon, is chopped, and the "
            "cards are turned up at once; no exchange is undone.",
        ],
    )


def _showdown(rules: Rules) -> list[str]:
    compared = "Among the others"
    if not rules["lowest_excludes_chopped"]:
        compared = "Among all others, the cards of the chopped included"
    return [
        "Whoever is chopped is out, and so is whoever holds a KI that ranks low.",
        f"{compared}, the player with the lowest card is out; if several share it, all of them.",
        "If that would be everybody: with a chopped player, only the chopped and the low KI are "
        "out; if that is still everybody, or nobody is chopped, nobody is out.",
    ]


def _deal_money(rules: Rules, num_players: int) -> list[str]:
    stake = rules.number("stake")
    lines = [
        f"There is no pot. Each player who is out pays {chips(stake)}, and those who stay share "
        f"what was paid equally: if one of the {num_players} is out, each of the others gains "
        f"{chips(stake / (num_players - 1))}. If nobody is out, nobody pays."
    ]
    if _asks(rules, num_players) or _two_only(rules, num_players):
        most = rules.number("max_deals")
        lines.append(f"Once {most} deals have been thrown in, it ends and nobody pays.")
    return lines


def _match_money(rules: Rules, num_players: int) -> list[str]:
    stake, pots = chips(rules.number("stake")), rules.number("pots")
    ante = f"For each pot every player pays {stake} once, before its first deal."
    if rules["ante"] == "deal":
        ante = f"Before each deal every player who is in pays {stake} into the pot."
    length = "The match ends when the pot is won."
    if pots > 1:
        length = f"The match ends when {pots} pots are won; for each, everybody is in again."
    return [
        ante,
        "Whoever is out sits out the following deals. The last player in takes the whole pot.",
        f"{_next_dealer(rules, num_players)} {length}",
        f"After {rules.number('max_deals')} deals, those that were dealt again included, the match "
        "is cut off, and those who are in share the pot equally in whole chips.",
        "Your result is all that you have taken minus all that you have paid.",
    ]


def _next_dealer(rules: Rules, num_players: int) -> str:
    """Who deals next; when players bought in, it matters who counts."""
    when = "after buying in" if rules["next_dealer"] == "after" else "before anybody buys in"
    counted = f", {when}" if _buys(rules, num_players) else ""
    return f"The next dealer is the nearest player to the dealer's left who is in{counted}."


def _buying_in(rules: Rules, num_players: int) -> str:
    if not _buys(rules, num_players):
        return ""
    ways = {"svensk": _two_occasions, "wiki2": _two_occasions, "wiki3": _after_each}
    lines = ways[str(rules["reentry"])](rules)
    if rules["ante"] == "deal":
        plus = "comes on top of" if rules["reentry_plus_ante"] else "is included in"
        lines.append(f"The next deal's payment {plus} the price.")
    lines.append(
        "Those who may buy in are asked openly, one after another, clockwise from the dealer's "
        "left. Half of an odd pot is rounded up."
    )
    return section("Buying in again", lines)


def _two_occasions(rules: Rules) -> list[str]:
    wiki = rules["reentry"] == "wiki2"
    first = "exactly three" if wiki else "three or two"
    second = "the whole pot" if wiki and rules["wiki2_second"] == "full" else "half the pot"
    who = "everybody who is out and bought in the first time"
    if not wiki and rules["second_includes_new"]:
        who = "everybody who is out and did not decline the first time"
    return [
        f"The first time that a deal leaves {first} players in, everybody who is out may buy in "
        f"for {chips(2 * rules.number('stake'))}.",
        f"If somebody did, the next time that a deal leaves two players in, {who} may buy in for "
        f"{second}.",
    ]


def _after_each(rules: Rules) -> list[str]:
    when = "After each deal that leaves at least two players in"
    if rules["reentry_one_left"]:
        when = "After each deal, also one that leaves a single player in"
    return [
        f"{when}, those who have just gone out may buy in. It costs {chips(rules.number('stake'))} "
        "the first time, half the pot the second and the whole pot the third, by your own count "
        "in this pot; then never again. Whoever declines stays out of this pot.",
    ]


def _seen() -> list[str]:
    return [
        "Everybody sees who stands and swaps, with whom, every card that is shown, every kille "
        "that moves, and who is chopped. At the showdown all cards in hands are seen.",
        "After an exchange both players know both cards. So if you had to give your card and got a "
        "higher one, the other player holds the lower one, and standing is nearly always safe.",
    ]
