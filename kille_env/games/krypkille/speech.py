"""Krypkille in the words of people: what is asked, what buttons say, how a deal was scored."""

from typing import Any

from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.games.krypkille.rules import ACTIONS, Phase
from kille_env.tricktaking.words import last_card, most_discards, say_action
from kille_env.words.text import counted, does, inside, listed, owner


def question(table: Any, rules: Rules, who: list[str]) -> str:
    """Returns what the seat to act is asked; see `Game.question`."""
    if table["phase"] == Phase.DISCARD:
        return f"Change up to {counted(most_discards(rules), 'card', 'cards')}?"
    if table["phase"] == Phase.LEAD:
        return "Lead a card: who cannot beat it gives up their lowest."
    return "Who has the lowest last card?"


def choice(table: Any, rules: Rules, action: int, who: list[str]) -> str:
    """Returns what a button says; see `Game.choice`."""
    word = ACTIONS[action]
    if word == "declare":
        return f"My {last_card(table, int(table['seat']))} is the lowest"
    return "Say nothing" if word == "pass" else say_action(table, word, "Lead")


def verdict(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> str:
    """Returns how a deal was scored; see `Game.verdict`."""
    if after["phase"] > Phase.OVER or after["deals"] != before["deals"]:
        return ""
    played, declarer = members(after["in_play"]), int(after["declarer"])
    ranks = {s: members(after["hand"][s])[0] >> 1 for s in played}
    low = [s for s in played if ranks[s] == min(ranks.values())]
    whose = listed([inside(owner(who[s])) for s in low if s != declarer])
    card = last_card(after, low[0])
    if declarer < 0:
        first = f"Nobody spoke; {whose} {card} was the lowest."
    else:
        first = f"{who[declarer]} said the {last_card(after, declarer)} was the lowest"
        first += f"; {whose} {card} was." if declarer not in low else ", and it was."
        if declarer in low and len(low) > 1:
            first = f"{first[:-13]}, but {whose} {card} is equal."
    if seat not in played:
        return first
    points = counted(int(after["points"][seat]), "point", "points")
    return f"{first} {does(who[seat], 'gets')} {points}."
