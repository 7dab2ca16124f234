"""Byteskille in the words of people: what is asked, what buttons say, why somebody is out."""

from typing import Any

from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.games.byteskille.rules import Action, Event, Phase, price
from kille_env.games.byteskille.words import events_of, nobody_out, order_of, rank_of_kille
from kille_env.words.text import a, does, inside, listed, owner

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
