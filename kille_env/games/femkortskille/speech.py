"""Femkortskille in the words of people: what is asked, what buttons say, how a deal ended."""

from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.games.femkortskille.rules import ACTIONS, End, Phase
from kille_env.tricktaking.words import ask_for_card, say_action
from kille_env.words.text import chips, does, inside, listed, owner


def question(table: Any, rules: Rules, who: list[str]) -> str:
    """Returns what the seat to act is asked; see `Game.question`."""
    if table["phase"] == Phase.PLAY:
        otherwise = "any card" if rules["follow"] == "any" else "your lowest card"
        return ask_for_card(table, who, otherwise)
    if table["knockers"]:
        names = listed([who[seat] for seat in members(table["knockers"])])
        return f"{names} knocked. Knock too, or fold?"
    return "Knock, wait or fold?"


def choice(table: Any, rules: Rules, action: int, who: list[str]) -> str:
    """Returns what a button says; see `Game.choice`."""
    word, pot = ACTIONS[action], int(table["pot"])
    if word == "knock":
        return f"Knock: play for {pot}, losing costs {pot}"
    ends = table["seat"] == table["dealer"]  # nobody has knocked, and nobody is asked any more
    wait = "Wait: nobody knocks, the pot stays" if ends else "Wait"
    return {"check": wait, "fold": "Fold"}.get(word) or say_action(table, word)


def verdict(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> str:
    """Returns how a deal ended; see `Game.verdict`."""
    if after["phase"] > Phase.OVER or after["deals"] != before["deals"]:
        return ""
    pot, winner = int(after["shown_pot"]), int(after["winner"])
    if after["end"] == End.ALL_CHECKED:
        return f"Nobody knocked: the pot of {chips(pot)} stays."
    takes = does(who[winner], "takes")
    if after["end"] != End.PLAYED:
        return f"{takes} the pot of {chips(pot)}: nobody else knocked."
    losers = [s for s in members(after["knockers"]) if s != winner]
    last = int(after["trick"]) - 1
    cards = {s: KILLE_PACK.word(after["played"][last, s]) for s in (winner, *losers)}
    best = f"{owner(who[winner])} {cards[winner]}"
    pay = f"{listed([inside(who[s]) for s in losers])} pay {pot} each"
    if len(losers) == 1:
        pay = f"{inside(does(who[losers[0]], 'pays'))} {pot}"
    how = f"beat your {cards[seat]} in" if seat in losers else "won"
    return f"{best} {how} the last trick. {takes} the pot of {pot}; {pay}."
