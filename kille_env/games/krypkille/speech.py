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
    return f"Is your {last_card(table, int(table['seat']))} the lowest last card?"


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
    others = [inside(owner(who[s])) for s in low if s != declarer]
    theirs = f"{listed(others)} {last_card(after, low[0])} {'was' if len(others) == 1 else 'were'}"
    wrong = declarer not in low or (bool(others) and bool(rules["tie_beats_declarer"]))
    if declarer < 0:
        first = f"Nobody spoke; {theirs} the lowest"
    else:
        whose = "your" if declarer == seat else "the"
        first = f"{who[declarer]} said {whose} {last_card(after, declarer)} was the lowest"
        how = f"; {theirs} {'equal' if declarer in low else 'lower'}"
        first += how if wrong else ", and it was"
    if seat not in played:
        return f"{first}."
    points = int(after["points"][seat])
    amount = counted(points, "point", "points")
    if seat == declarer or (declarer < 0 and seat in low):
        extra = rules.number("wrong_declarer_extra")
        if declarer >= 0 and wrong and 0 < extra < points:
            amount = f"{points - extra} + {extra} points"
        return f"{first}: {amount}."
    card = f" for your {last_card(after, seat)}" if points and seat not in low else ""
    return f"{first}. {does(who[seat], 'gets')} {amount}{card}."
