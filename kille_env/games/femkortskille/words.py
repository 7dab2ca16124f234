"""Femkortskille in words: results, views, events, choices. Its rules in words: manual.md."""

from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.seats import seat_or_none
from kille_env.cards.sets import members
from kille_env.cards.words import KNOCK
from kille_env.core.spec import Rules
from kille_env.games.femkortskille.rules import ACTIONS, End, Phase, Said
from kille_env.tricktaking import words as tricks
from kille_env.words.text import chips, columns, counted, does, inside, listed, owner
from kille_env.words.view import Call, View

RESULT_KEYS = ("kind", "winner", "tricks", "pot", "chips", "next_dealer")
_DEEDS = {Said.FOLDED: "folds", Said.KNOCKED: "knocks to play", Said.CHECKED: "waits"}

_PLATE = {**_DEEDS, Said.FOLDED: "folded", Said.KNOCKED: "knocks"}


def result(table: Any, rules: Rules) -> dict[str, Any]:
    """Return the record notation's result of the deal that has just ended."""
    seats = range(int(table["num_players"]))
    return {
        "kind": End(table["end"]).name.lower(),
        "winner": seat_or_none(table["winner"]),
        "tricks": [int(seat) for seat in table["won"][: int(table["trick"])]],
        "pot": int(table["shown_pot"]),
        "chips": [int(table["chips"][seat]) for seat in seats],
        "next_dealer": int(table["next_dealer"]),
    }


# Events


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Return the events between two tables, as a seat may know them; see `Texts.narrate`."""
    if after["deals"] != before["deals"]:
        return [
            f"Deal {int(after['deals'])}: {does(who[int(after['dealer'])], 'deals')}.",
            f"Everybody pays {chips(rules.number('ante'))}; the pot is {chips(int(after['pot']))}.",
            *tricks.describe_dealt(after, who, seat),
        ]
    if before["phase"] == Phase.PLAY:
        lines = tricks.describe_play(before, after, who)
    else:
        actor = int(before["seat"])
        field = "said1" if before["said1"][actor] == Said.NOTHING else "said2"
        lines = [f"{does(who[actor], _DEEDS[Said(after[field][actor])])}."]
        if after["phase"] == Phase.PLAY:
            lines += _describe_drawing(after, who, seat)
    if after["phase"] <= Phase.OVER:
        lines.append(_verdict(after, who, seat))
    return lines + (tricks.describe_last(after, who) if after["phase"] == Phase.OVER else [])


def _describe_drawing(table: Any, who: list[str], seat: int | None) -> list[str]:
    """Describe the cards that the knockers have drawn."""
    drawn = {s: table["drawn_cards"][s] for s in range(len(who)) if table["drawn_cards"][s]}
    if not drawn:
        return []
    number = counted(len(members(next(iter(drawn.values())))), "card", "cards")
    lines = [f"{listed([who[s] for s in drawn])} draw {number} each."]
    if seat is None:
        return lines + columns([(who[s], tricks.names_of(cards)) for s, cards in drawn.items()])
    own = [f"{does(who[seat], 'gets')} {tricks.names_of(drawn[seat])}."] if seat in drawn else []
    return lines + own


def _verdict(table: Any, who: list[str], seat: int | None) -> str:
    """Return why a deal ended as it did."""
    pot, winner = int(table["shown_pot"]), int(table["winner"])
    if table["end"] == End.ALL_CHECKED:
        return f"Nobody knocked: the pot of {chips(pot)} stays."
    takes = does(who[winner], "takes")
    if table["end"] != End.PLAYED:
        return f"{takes} the pot of {chips(pot)}: nobody else knocked."
    losers = [s for s in members(table["knockers"]) if s != winner]
    last = int(table["trick"]) - 1
    cards = {s: KILLE_PACK.word(table["played"][last, s]) for s in (winner, *losers)}
    best = f"{owner(who[winner])} {cards[winner]}"
    pay = f"{listed([inside(who[s]) for s in losers])} pay {pot} each"
    if len(losers) == 1:
        pay = f"{inside(does(who[losers[0]], 'pays'))} {pot}"
    how = f"beat {inside(owner(who[seat]))} {cards[seat]} in" if seat in losers else "won"
    return f"{best} {how} the last trick. {takes} the pot of {pot}; {pay}."


# The view and the choices


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Return the table as a seat may see it, or everything; see `Texts.view`."""
    said = [(Said(table["said1"][s]), Said(table["said2"][s])) for s in range(len(who))]
    knock = [Call(s, KNOCK, "I play for the pot") for s in members(table["knockers"])]
    ended = table["deals"] > 0 and table["phase"] <= Phase.OVER
    shown = tricks.view_of(
        "Femkortskille", table, seat, who,
        [[_PLATE[word] for word in words if word != Said.NOTHING] for words in said],
        history=_describe_drawing(table, who, seat),
        calls=knock,
        verdict=_verdict(table, who, seat) if ended else "",
    )  # fmt: skip
    asked = seat in (None, shown.turn) and table["phase"] > Phase.OVER
    return shown._replace(question=_question(table, rules, who)) if asked else shown


def _question(table: Any, rules: Rules, who: list[str]) -> str:
    """Return the question to the seat to act."""
    if table["phase"] == Phase.PLAY:
        otherwise = "any card" if rules["follow"] == "any" else "your lowest card"
        return tricks.ask_for_card(table, who, otherwise)
    if table["knockers"]:
        names = listed([who[seat] for seat in members(table["knockers"])])
        return f"{names} knocked. Knock too, or fold?"
    return "Knock, wait or fold?"


def choice(table: Any, rules: Rules, action: int, who: list[str]) -> str:
    """Return the text of a button; see `Texts.choice`."""
    word, pot = ACTIONS[action], int(table["pot"])
    if word == "knock":
        return f"Knock: play for {pot}, losing costs {pot}"
    ends = table["seat"] == table["dealer"]  # nobody has knocked, and nobody is asked any more
    wait = "Wait: nobody knocks, the pot stays" if ends else "Wait"
    return {"check": wait, "fold": "Fold"}.get(word) or tricks.say_action(table, word)
