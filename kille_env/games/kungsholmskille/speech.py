"""Kungsholmskille in the words of people: what is asked, what buttons say, how a deal ended."""

from typing import Any

from kille_env.core.spec import Rules
from kille_env.games.kungsholmskille.rules import ACTIONS, End, Phase
from kille_env.tricktaking.words import ask_for_card, last_card, most_discards, say_action
from kille_env.words.text import chips, counted, does, inside, owner


def question(table: Any, rules: Rules, who: list[str]) -> str:
    """Returns what the seat to act is asked; see `Game.question`."""
    phase = int(table["phase"])
    if phase == Phase.PLAY:
        return ask_for_card(table, who, "your lowest card")
    if phase == Phase.EXCHANGE:
        return f"Change up to {counted(most_discards(rules), 'card', 'cards')}?"
    if phase == Phase.FOLD:
        return f"{who[int(table['knocker'])]} knocked. Stay in, or fold?"
    if phase == Phase.SHOW:
        return f"Show your {last_card(table, int(table['seat']))}?"
    if phase == Phase.BUD2:
        return "With the new cards: knock again to play, or pass?"
    return "Knock to play this deal, or pass?"


def choice(table: Any, rules: Rules, action: int, who: list[str]) -> str:
    """Returns what a button says; see `Game.choice`."""
    word, pot = ACTIONS[action], int(table["pot"])
    if word == "bud":
        return "Keep it hidden" if table["phase"] == Phase.SHOW else "Pass (bud)"
    if word == "show":
        card = last_card(table, int(table["seat"]))
        return f"Show my {card}: lowest wins {pot}, else you pay {pot}"
    words = {"knock": "Knock: play this deal", "stay": "Stay in", "fold": "Fold"}
    return words.get(word) or say_action(table, word)


def verdict(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> str:
    """Returns how a deal ended; see `Game.verdict`."""
    if after["phase"] > Phase.OVER or after["deals"] != before["deals"]:
        return ""
    pot, winner = int(after["shown_pot"]), int(after["winner"])
    if after["end"] == End.BUD_ROUND:
        return f"All passed: the pot of {chips(pot)} stays."
    if after["end"] != End.SHOWING:
        return f"{does(who[winner], 'takes')} the pot of {chips(pot)}: all others folded."
    shower, best = int(after["shower"]), last_card(after, winner)
    wins = f"{inside(does(who[winner], 'wins'))} the pot of {pot}"
    if winner == shower:
        return f"{owner(who[winner])} {best} was the lowest: {wins}."
    pays = f"{inside(does(who[shower], 'pays'))} as much"
    shown = last_card(after, shower)
    lower = f"{inside(owner(who[winner]))} {best} was {'equal' if best == shown else 'lower'}"
    return f"{who[shower]} showed the {shown}; {lower}: {wins}, {pays}."
