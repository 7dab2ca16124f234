"""Kungsholmskille in words: results, views, events, choices. Its rules in words: manual.md."""

from collections.abc import Mapping
from typing import Any

from kille_env.cards.seats import seat_or_none
from kille_env.cards.words import KNOCK
from kille_env.core.arguments import amount, amounts, check_keys
from kille_env.core.spec import Rules
from kille_env.games.kungsholmskille.rules import ACTIONS, End, Phase, Said
from kille_env.tricktaking import words as tricks
from kille_env.tricktaking.words import last_card
from kille_env.words.text import chips, columns, counted, does, inside, listed, owner
from kille_env.words.view import Call, View

BUD = "Bud!", "I would rather have new cards"
RESULT_KEYS = ("kind", "shower", "winner", "pot", "tricks", "last", "owed", "chips", "next_dealer")
_WORDS = {
    "said1": {Said.YIELDED: "passed", Said.CLAIMED: "knocks"},
    "stayed": {Said.YIELDED: "folded", Said.CLAIMED: "stays"},
    "exchanged": {},
    "said2": {Said.YIELDED: "passed", Said.CLAIMED: "knocks"},
    "showed": {Said.YIELDED: "passed", Said.CLAIMED: "shows"},
}
"""Words on a plate, by field in the order of a deal."""


def result(table: Any, rules: Rules) -> dict[str, Any]:
    """Return the record notation's result of the deal that has just ended."""
    seats = range(int(table["num_players"]))
    return {
        "kind": End(table["end"]).name.lower(),
        "shower": seat_or_none(table["shower"]),
        "winner": seat_or_none(table["winner"]),
        "pot": int(table["shown_pot"]),
        "tricks": [int(seat) for seat in table["won"][: int(table["trick"])]],
        "last": [_last_shown(table, seat) for seat in seats],
        "owed": [int(table["owed"][seat]) for seat in seats],
        "chips": [int(table["chips"][seat]) for seat in seats],
        "next_dealer": int(table["next_dealer"]),
    }


def _last_shown(table: Any, seat: int) -> str | None:
    """Return the last card of a seat that has turned it up."""
    shown = tricks.codes_of(int(table["hand"][seat]) & int(table["face_up"]))
    return shown[0] if shown else None


def set_up(table: Any, rules: Rules, start: Mapping[str, Any]) -> None:
    """Put a match that has just begun where it stands: `{"pot": 6, "owed": [2, 2, 2]}`."""
    num_players = int(table["num_players"])
    check_keys(start, ("pot", "owed"))
    pot, owed = amount(start, "pot"), amounts(start, "owed", num_players)
    if pot is not None:
        table["pot"] = pot
    if owed is not None:
        table["owed"][:num_players] = owed


# Events


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Return the events between two tables, as a seat may know them; see `Texts.narrate`."""
    if after["deals"] != before["deals"]:
        return _describe_deal(before, after, who, seat)
    if before["phase"] == Phase.PLAY:
        lines = tricks.describe_play(before, after, who)
    elif before["phase"] == Phase.EXCHANGE:
        lines = [tricks.describe_exchange(after, who, int(before["seat"]), seat)]
    else:
        lines = [_describe_word(before, after, who)]
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(after, who)
    return lines


def _describe_deal(before: Any, after: Any, who: list[str], seat: int | None) -> list[str]:
    lines = [f"Deal {int(after['deals'])}: {does(who[int(after['dealer'])], 'deals')}."]
    paid = [int(before["owed"][s]) for s in range(len(who))]
    if any(paid):
        line = _amounts(who, paid, "Everybody pays", "pays")
        lines.append(f"{line}; the pot is {chips(int(after['pot']))}.")
    return lines + tricks.describe_dealt(after, who, seat)


def _describe_word(before: Any, after: Any, who: list[str]) -> str:
    actor, phase = int(before["seat"]), int(before["phase"])
    name = who[actor]
    if phase == Phase.FOLD:
        return f"{does(name, 'stays' if after['stayed'][actor] == Said.CLAIMED else 'folds')}."
    field = {Phase.BUD1: "said1", Phase.BUD2: "said2"}.get(Phase(phase), "showed")
    if after[field][actor] == Said.YIELDED:
        deed = "passes" if field != "showed" else "keeps the last card hidden"
        return f"{does(name, deed)} (“{BUD[0]}”)."
    return f"{does(name, 'shows the last card' if field == 'showed' else 'knocks to play')}."


def _describe_end(table: Any, who: list[str]) -> list[str]:
    lines = []
    if table["end"] == End.SHOWING:
        shown = [s for s in range(len(who)) if _last_shown(table, s)]
        rows = [(who[s], tricks.names_of(table["hand"][s])) for s in shown]
        lines += ["The last cards are turned up.", *columns(rows)]
    lines.append(_verdict(table, who))
    if table["phase"] == Phase.OVER:
        return lines + tricks.describe_last(table, who)
    owed = [int(table["owed"][s]) for s in range(len(who))]
    if any(owed):
        lines.append(f"{_amounts(who, owed, 'Everybody pays', 'pays')} next deal.")
    return lines


def _verdict(table: Any, who: list[str]) -> str:
    """Return why a deal ended as it did."""
    pot, winner = int(table["shown_pot"]), int(table["winner"])
    if table["end"] == End.BUD_ROUND:
        return f"All passed: the pot of {chips(pot)} stays."
    if table["end"] != End.SHOWING:
        return f"{does(who[winner], 'takes')} the pot of {chips(pot)}: all others folded."
    shower, best = int(table["shower"]), last_card(table, winner)
    wins = f"{inside(does(who[winner], 'wins'))} the pot of {pot}"
    if winner == shower:
        return f"{owner(who[winner])} {best} was the lowest: {wins}."
    pays = f"{inside(does(who[shower], 'pays'))} as much"
    shown = last_card(table, shower)
    lower = f"{inside(owner(who[winner]))} {best} was {'equal' if best == shown else 'lower'}"
    return f"{who[shower]} showed the {shown}; {lower}: {wins}, {pays}."


def _amounts(who: list[str], amounts: list[int], all_alike: str, verb: str) -> str:
    """Return how much each pays or owes; `all_alike` begins a sentence of equal amounts."""
    if len(set(amounts)) == 1:
        return f"{all_alike} {chips(amounts[0])}"
    return listed([f"{does(who[s], verb)} {chips(n)}" for s, n in enumerate(amounts) if n])


# The view and the choices


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Return the table as a seat may see it, or everything; see `Texts.view`."""
    last = {}
    if table["end"] == End.SHOWING:
        last = {s: "" for s in range(len(who)) if table["hand"][s] & table["face_up"]}
    ended = table["deals"] > 0 and table["phase"] <= Phase.OVER
    shown = tricks.view_of(
        "Kungsholmskille", table, seat, who, [_plate(table, other) for other in range(len(who))],
        history=tricks.describe_exchanges(table, who, seat),
        last=last,
        calls=_calls(table),
        verdict=_verdict(table, who) if ended else "",
    )  # fmt: skip
    asked = seat in (None, shown.turn) and table["phase"] > Phase.OVER
    return shown._replace(question=_question(table, rules, who)) if asked else shown


def _plate(table: Any, seat: int) -> list[str]:
    """Return the deeds of a seat: "passed", "2 new", and the amount that it owes."""
    words = [_WORDS[field].get(Said(table[field][seat])) if field != "exchanged"
             else f"{int(table[field][seat])} new" if table[field][seat] >= 0 else None
             for field in _WORDS]  # fmt: skip
    owed = 0 if table["phase"] == Phase.OVER else int(table["owed"][seat])
    return [word for word in (*words, f"pays {owed}" if owed else None) if word]


def _calls(table: Any) -> list[Call]:
    calls = []
    for field in ("said1", "said2", "showed"):
        for seat in range(int(table["num_players"])):
            if table[field][seat] == Said.YIELDED:
                calls.append(Call(seat, *BUD))
            elif table[field][seat] == Said.CLAIMED and field != "showed":
                calls.append(Call(seat, KNOCK, "I ask for play"))
    return calls


def _question(table: Any, rules: Rules, who: list[str]) -> str:
    """Return the question to the seat to act."""
    phase = int(table["phase"])
    if phase == Phase.PLAY:
        return tricks.ask_for_card(table, who, "your lowest card")
    if phase == Phase.EXCHANGE:
        return f"Change up to {counted(tricks.most_discards(rules), 'card', 'cards')}?"
    if phase == Phase.FOLD:
        return f"{who[int(table['knocker'])]} knocked. Stay in, or fold?"
    if phase == Phase.SHOW:
        return f"Show your {last_card(table, int(table['seat']))}?"
    if phase == Phase.BUD2:
        return "With the new cards: knock again to play, or pass?"
    return "Knock to play this deal, or pass?"


def choice(table: Any, rules: Rules, action: int, who: list[str]) -> str:
    """Return the text of a button; see `Texts.choice`."""
    word, pot = ACTIONS[action], int(table["pot"])
    if word == "bud":
        return "Keep it hidden" if table["phase"] == Phase.SHOW else "Pass (bud)"
    if word == "show":
        card = last_card(table, int(table["seat"]))
        return f"Show my {card}: lowest wins {pot}, else you pay {pot}"
    words = {"knock": "Knock: play this deal", "stay": "Stay in", "fold": "Fold"}
    return words.get(word) or tricks.say_action(table, word)
