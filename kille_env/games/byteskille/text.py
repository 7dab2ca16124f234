"""Byteskille as text: the result of a hand, a table as a seat sees it, and what has happened.

Texts for people are in English, with the calls of the Swedish rules. Everything that is shown to a
seat follows the same rule as its observation: a card is named if it lies open or if the seat has
held it.
"""

from collections.abc import Callable, Sequence
from typing import Any

from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.core.text import columns, counted, listed, units
from kille_env.games.byteskille.settle import (
    price,
)
from kille_env.games.byteskille.table import UNDONE, Action, Deed, Event, Phase, Redeal

MEANINGS = {
    "stand": "keep your card",
    "swap": "swap with the player to your left; as dealer with the talon",
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
    "From the lowest up: blaren, blompottan, kransen, lilja 1 to 12, värdshus, kavall, svin, "
    "husar, gök; where the kille stands depends on the rules.",
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

_CHALLENGED = (Event.PASSED, Event.GOK_STOOD, Event.HUSAR, Event.SVIN)
_TALON_SHOWN = (Event.TALON_PASSED, Event.TALON_GOK, Event.TALON_HUSAR, Event.TALON_SVIN)
_DEEDS = (
    (Deed.STOOD, "stood"),
    (Deed.SWAPPED, "swapped"),
    (Deed.GAVE, "had to give"),
    (Deed.DREW, "went to the talon"),
)
_CALLS = {
    Event.GOK_STOOD: "“Kuku står, ingen byta får!”",
    Event.HUSAR: "“Husar hugger!”",
    Event.SVIN: "“Svinhugg går igen!”",
    Event.TALON_GOK: "“Kuku står, ingen byta får!”",
    Event.TALON_HUSAR: "“Husar hugger!”",
    Event.TALON_SVIN: "“Svinhugg går igen!”",
}


# The result of a hand


def result(table: Any, rules: Rules) -> dict[str, Any]:
    """Returns the record notation's result of the hand that has just ended."""
    events = _events(table)
    redealt = int(table["redeal"]) != Redeal.NONE
    winner = int(table["winner"])
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
        "low_kille": [] if redealt else [s for s in _order(table, sort=True) if _is_low(table, s)],
        "out": members(table["out"]),
        "left": members(table["left"]),
        "final": [None if redealt or card < 0 else KILLE_PACK.code(card) for card in _hands(table)],
        "redeal": Redeal(table["redeal"]).name.lower() if redealt else None,
        "pot": int(table["shown_pot"]),
        "next_dealer": int(table["next_dealer"]),
        "winner": None if winner < 0 else winner,
    }


def _reveal(event: Sequence[int]) -> list[Any] | None:
    """A matador that was challenged, a gok that was called, an open card from the talon."""
    kind, a, b, card_a, card_b, _ = event
    if kind in _CHALLENGED:
        return [b, KILLE_PACK.code(card_b)]
    if kind in _TALON_SHOWN or (kind == Event.TALON_TAKEN and card_b >> 1 == Kind.KI):
        return ["talon", KILLE_PACK.code(card_b)]
    return [a, KILLE_PACK.code(card_a)] if kind == Event.CALL else None


def _events(table: Any) -> list[list[int]]:
    return table["events"][: int(table["num_events"])].tolist()


def _hands(table: Any) -> list[int]:
    return table["hand"][: int(table["num_players"])].tolist()


def _order(table: Any, sort: bool = False) -> list[int]:
    """Seats of the hand, forehand first, or in ascending order."""
    order = table["order"][: int(table["num_players_dealt"])].tolist()
    return sorted(order) if sort else order


def _is_high(table: Any, kille: int) -> bool:
    return bool(int(table["high"]) >> (kille & 1) & 1)


def _is_low(table: Any, seat: int) -> bool:
    card = int(table["hand"][seat])
    return card >> 1 == Kind.KI and not _is_high(table, card)


def _count_undone(events: Sequence[Sequence[int]]) -> int:
    exchanges = (Event.EXCHANGE, Event.TALON_TAKEN)
    return sum(kind in exchanges and extra & UNDONE != 0 for kind, *_, extra in events)


def _is_shown(table: Any, card: int) -> bool:
    return bool(int(table["shown"]) >> card & 1)


def _known(table: Any, seat: int | None, card: int) -> bool:
    """Whether a seat (None: somebody who sees everything) knows what a card is."""
    if card < 0:
        return False
    return seat is None or _is_shown(table, card) or bool(int(table["known_by"][card]) >> seat & 1)


def _pot(table: Any) -> int:
    """The pot after the hand's payments in, before it is paid out."""
    return int(
        table["shown_pot"] if table["phase"] == Phase.OVER or table["winner"] >= 0 else table["pot"]
    )


# The table as a seat sees it


def describe(table: Any, rules: Rules, seat: int | None, who: list[str], history: bool) -> str:
    """Returns the text of a table as a seat sees it, or with every card; see `Game.describe`."""
    lines = [_headline(table, rules, who)]
    lines += columns([_row(table, who, other, seat) for other in range(len(who))])
    if history and table["num_events"] > 0:
        lines.append("The hand so far:")
        lines += [
            f"  {_describe_event(table, rules, who, event, seat)}" for event in _events(table)
        ]
    return "\n".join([*lines, _to_decide(table, rules, who, seat)])


def _headline(table: Any, rules: Rules, who: list[str]) -> str:
    parts = [f"Byteskille, hand {int(table['deals'])}", f"dealer {who[int(table['dealer'])]}"]
    if rules["episode"] == "match":
        parts.append(f"pot {units(int(table['pot']))}")
    return ", ".join([*parts, f"{KILLE_PACK.size - int(table['drawn'])} cards in the talon"])


def _row(table: Any, who: list[str], seat: int, viewer: int | None) -> tuple[str, str, str]:
    """One seat: its name, its card, what it did."""
    order = _order(table)
    if seat not in order or table["deals"] == 0:
        return (who[seat], "", "is not in" if table["deals"] else "")
    card = int(table["hand"][seat])
    line = _card(table, card) if _known(table, viewer, card) else "?"
    if _is_shown(table, card) and not table["showdown"]:
        line += ", open"
    notes = [text for deed, text in _DEEDS if int(table["deeds"][seat]) & deed]
    if table["phase"] in (Phase.TURN, Phase.GOK) and seat == order[int(table["turn"])]:
        notes.append("is on turn")
    if seat in members(table["out"]):
        notes.append(f"is out: {_reason(table, seat)}")
    elif seat in members(table["chopped"]):
        notes.append("is chopped")
    return (who[seat], line, ", ".join(notes))


def _card(table: Any, card: int) -> str:
    name = KILLE_PACK.name(card)
    if card >> 1 == Kind.KI:
        name += " (high)" if _is_high(table, card) else " (low)"
    return name


def _reason(table: Any, seat: int) -> str:
    if seat in members(table["chopped"]):
        return "chopped"
    return "low kille" if _is_low(table, seat) else "lowest card"


def _to_decide(table: Any, rules: Rules, who: list[str], viewer: int | None) -> str:
    """Who decides what; only a gok holder, and who sees everything, may know of being asked."""
    phase, seat = int(table["phase"]), int(table["seat"])
    if phase == Phase.OVER:
        return "The match is over."
    if phase == Phase.DEAL:
        return "Cards are to be dealt."
    if phase == Phase.BUYIN:
        return f"{who[seat]} may buy in for {units(int(price(table, rules.record[0], seat)))}."
    if phase in (Phase.ANSWER_DEALER, Phase.ANSWER_THIRD):
        return f"{who[seat]} answers the question for better cards."
    on_turn = who[_order(table)[int(table["turn"])]]
    if phase == Phase.GOK and viewer in (None, seat):
        return f"{who[seat]} may call with the gök before {on_turn} decides."
    return f"{on_turn} is on turn to exchange."


# What has happened


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Returns what happened between two tables, as a seat may know it; see `Game.narrate`."""
    lines: list[str] = []
    old = _events(before)
    if after["deals"] != before["deals"]:
        lines += _describe_deal(before, after, rules, who, seat)
        old = []
    elif before["phase"] == Phase.BUYIN:
        lines.append(_describe_buying(before, after, who))
    new = _events(after)
    undone = _count_undone(new) - _count_undone(old)
    for event in new[len(old) :]:
        lines.append(_describe_event(after, rules, who, event, seat))
        if event[0] in (Event.SVIN, Event.TALON_SVIN) and undone:
            lines[-1] += f" {counted(undone, 'exchange is', 'exchanges are')} undone."
    asked = int(before["seat"])
    if before["phase"] == Phase.GOK and len(new) == len(old) and seat in (None, asked):
        lines.append(f"{who[asked]} keeps the gök hidden.")
    if after["showdown"] and (not before["showdown"] or after["deals"] != before["deals"]):
        lines += _describe_showdown(after, who)
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(after, rules, who)
    return lines


def _describe_deal(
    before: Any, after: Any, rules: Rules, who: list[str], seat: int | None
) -> list[str]:
    lines = [f"Hand {int(after['deals'])}: {who[int(after['dealer'])]} deals."]
    paid = _pot(after) - int(before["pot"])
    if paid and rules["episode"] == "match":
        stake = int(rules["stake"])  # type: ignore[arg-type]
        lines.append(
            f"{paid // stake} players put {units(stake)} each into the pot: {_pot(after)}."
        )
    order = _order(after)
    if seat is None:
        lines += columns([(who[s], KILLE_PACK.name(after["dealt"][s])) for s in order])
    elif seat in order:
        lines.append(f"{who[seat]} gets {KILLE_PACK.name(after['dealt'][seat])}.")
    return lines


def _describe_buying(before: Any, after: Any, who: list[str]) -> str:
    seat = int(before["seat"])
    paid = _pot(after) - int(before["pot"])
    if paid > 0:
        return f"{who[seat]} buys in for {units(paid)}."
    return f"{who[seat]} does not buy in."


def _describe_event(
    table: Any, rules: Rules, who: list[str], event: Sequence[int], seat: int | None
) -> str:
    return _DESCRIBE[event[0]](table, rules, who, event, seat)


def _describe_stand(
    table: Any, rules: Rules, who: list[str], event: Sequence[int], seat: int | None
) -> str:
    return f"{who[event[1]]} stands."


def _describe_exchange(
    table: Any, rules: Rules, who: list[str], event: Sequence[int], seat: int | None
) -> str:
    _, a, b, card_a, card_b, extra = event
    line = f"{who[a]} swaps with {who[b]}"
    known = [
        f"{verb} {KILLE_PACK.name(card)}"
        for verb, card in (("gives", card_a), ("gets", card_b))
        if _known(table, seat, card)
    ]
    line += f" ({', '.join(known)})." if known else ", face down."
    killes = (card_a >> 1 == Kind.KI) + (card_b >> 1 == Kind.KI)
    if killes == 2:
        line += f" Killemöte: both killes rank {rules['meeting']}."
    elif killes == 1:
        line += " The kille ranks low."
    return line + (" [undone]" if extra & UNDONE else "")


def _describe_passed(
    table: Any, rules: Rules, who: list[str], event: Sequence[int], seat: int | None
) -> str:
    _, a, b, _, card_b, _ = event
    card = KILLE_PACK.name(card_b)
    return f"{who[a]} wants to swap with {who[b]}, who shows {card}: {_past(card_b)}"


def _past(card: int) -> str:
    return "“Kavall förbi!”" if card >> 1 == Kind.KA else "“Värdshus förbi!”"


def _describe_challenge(
    table: Any, rules: Rules, who: list[str], event: Sequence[int], seat: int | None
) -> str:
    """A gok, husar or svin in a hand or from the talon."""
    kind, a, b, card_a, card_b, loser = event
    if kind in _TALON_SHOWN:
        line = f"{who[a]} draws {KILLE_PACK.name(card_b)} from the talon"
    else:
        line = f"{who[a]} wants to swap with {who[b]}, who shows {KILLE_PACK.name(card_b)}"
    line += f": {_CALLS[Event(kind)]}"
    if card_b >> 1 == Kind.GO:
        return f"{line} The round is over."
    if kind in (Event.HUSAR, Event.TALON_HUSAR) or loser == a:
        return f"{line} {who[a]} is chopped."
    card = KILLE_PACK.name(card_a) if _known(table, seat, card_a) else "the card"
    return f"{line} It chops {card}, which was dealt to {who[loser]}: {who[loser]} is chopped."


def _describe_talon_passed(
    table: Any, rules: Rules, who: list[str], event: Sequence[int], seat: int | None
) -> str:
    line = f"{who[event[1]]} draws {KILLE_PACK.name(event[4])} from the talon: {_past(event[4])} "
    return line + ("Another card is drawn." if rules["stock_redraw"] else "There is no exchange.")


def _describe_talon_taken(
    table: Any, rules: Rules, who: list[str], event: Sequence[int], seat: int | None
) -> str:
    _, a, _, card_a, card_b, extra = event
    line = f"{who[a]} exchanges with the talon"
    known = [
        f"{verb} {KILLE_PACK.name(card)}"
        for verb, card in (("lays aside", card_a), ("takes", card_b))
        if _known(table, seat, card)
    ]
    line += f" ({', '.join(known)})." if known else ", face down."
    if card_b >> 1 == Kind.KI:
        line += " A kille from the talon ranks high."
    return line + (" [undone]" if extra & UNDONE else "")


def _describe_call(
    table: Any, rules: Rules, who: list[str], event: Sequence[int], seat: int | None
) -> str:
    return f"{who[event[1]]} lays the gök on the table: “På rygg!”"


def _describe_ask(
    table: Any, rules: Rules, who: list[str], event: Sequence[int], seat: int | None
) -> str:
    return f"{who[event[1]]} asks: “Bättre kort?”"


def _describe_answer(
    table: Any, rules: Rules, who: list[str], event: Sequence[int], seat: int | None
) -> str:
    if event[2] == Action.YES:
        return f"{who[event[1]]} answers: “Accepteras!”"
    if event[2] == Action.DEFER:
        return f"{who[event[1]]} answers: “Det beror på!”"
    return f"{who[event[1]]} answers: “Omöjligt!”"


_DESCRIBE: dict[int, Callable[..., str]] = {
    Event.STAND: _describe_stand,
    Event.EXCHANGE: _describe_exchange,
    Event.PASSED: _describe_passed,
    Event.GOK_STOOD: _describe_challenge,
    Event.HUSAR: _describe_challenge,
    Event.SVIN: _describe_challenge,
    Event.TALON_PASSED: _describe_talon_passed,
    Event.TALON_GOK: _describe_challenge,
    Event.TALON_HUSAR: _describe_challenge,
    Event.TALON_SVIN: _describe_challenge,
    Event.TALON_TAKEN: _describe_talon_taken,
    Event.CALL: _describe_call,
    Event.ASK: _describe_ask,
    Event.ANSWER: _describe_answer,
}


def _describe_showdown(table: Any, who: list[str]) -> list[str]:
    events = _events(table)
    ended_by_gok = not events or events[-1][0] in (Event.GOK_STOOD, Event.TALON_GOK, Event.CALL)
    dealer = who[int(table["dealer"])]
    lines = ["All cards are turned up." if ended_by_gok else f"{dealer}: “Upp till bevis!”"]
    out = members(table["out"])
    rows = [
        (
            who[s],
            _card(table, int(table["hand"][s])),
            f"out: {_reason(table, s)}" if s in out else "",
        )
        for s in _order(table)
    ]
    lines += columns(rows)
    if not out:
        lines.append("Everybody would be out, so nobody is.")
    return lines


def _describe_end(table: Any, rules: Rules, who: list[str]) -> list[str]:
    if table["redeal"] != Redeal.NONE:
        why = (
            ""
            if table["redeal"] == Redeal.QUESTION
            else "A kille was dealt to one of the last two. "
        )
        lines = [f"{why}The cards are thrown in; {who[int(table['dealer'])]} deals again."]
    elif rules["episode"] == "deal":
        lines = _describe_single_deal(table, rules, who)
    elif table["winner"] >= 0:
        lines = [f"{who[int(table['winner'])]} wins the pot of {units(int(table['shown_pot']))}."]
    else:
        left = listed([who[seat] for seat in members(table["in_pot"])])
        lines = [f"In for the next hand: {left}. {who[int(table['next_dealer'])]} deals."]
    return (
        lines
        if not table["truncated"]
        else lines[: int(table["winner"] >= 0)] + _describe_cut(table, who)
    )


def _describe_cut(table: Any, who: list[str]) -> list[str]:
    lines = [f"The match is cut off after {int(table['deals'])} hands."]
    pot, rest = int(table["shown_pot"]), int(table["left_on_table"])
    if pot and table["winner"] < 0:
        sharers = listed([who[seat] for seat in members(table["in_pot"])])
        over = f"; {rest} stay on the table." if rest else "."
        lines.append(f"{sharers} share the pot of {units(pot)}{over}")
    return lines


def _describe_single_deal(table: Any, rules: Rules, who: list[str]) -> list[str]:
    out = members(table["out"])
    if not out:
        return ["Nobody pays."]
    stake = units(int(rules["stake"]))  # type: ignore[arg-type]
    if len(out) == 1:
        return [f"{who[out[0]]} pays {stake}, shared by the others."]
    return [f"{listed([who[seat] for seat in out])} pay {stake} each, shared by the others."]
