"""Knack in the words of people: what is asked, what buttons say, how a deal ended."""

from typing import Any

from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.games.knack.rules import CARDS, KNACK_PACK, SUIT_NAMES, TRICKS, Action, Phase
from kille_env.games.knack.words import bets_of
from kille_env.words.text import chips, counted, does, inside, listed


def question(table: Any, rules: Rules, who: list[str]) -> str:
    """Returns what the seat to act is asked; see `Game.question`."""
    if table["phase"] == Phase.JOIN:
        return f"Knock to play for tricks, or fold? {_suit(table['trump']).title()} are trumps."
    if table["trick_size"] == 0:
        return "Lead a card."
    return f"Play a card: follow {_suit(table['led'])} if you can."


def _suit(number: Any) -> str:
    return SUIT_NAMES[int(number)]


def choice(table: Any, rules: Rules, action: int, who: list[str]) -> str:
    """Returns what a button says; see `Game.choice`."""
    unit = rules.number("unit")
    deals = f"the dealer's {TRICKS * unit}" if table["seat"] == table["dealer"] else ""
    if action == Action.KNOCK:
        lost = TRICKS * unit + sum(bets_of(table, rules)[:1])  # the smallest bet runs
        also = f"; {deals} besides" if deals else ""
        return f"Knock: {lost // TRICKS} per trick, none costs {lost}{also}"
    if action == Action.FOLD:
        return f"Fold{f': costs {deals}' if deals else ''}"
    card = KNACK_PACK.word((action - Action.PLAY) % CARDS)
    if action >= Action.PLAY_DOWN:
        return f"Lead the {card} face down"
    return f"{'Lead' if table['trick_size'] == 0 else 'Play'} the {card}"


def verdict(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> str:
    """Returns how a deal ended; see `Game.verdict`."""
    if after["phase"] > Phase.OVER or after["deals"] != before["deals"]:
        return ""
    worth = rules.number("unit") * (1 + int(after["played_for"]))
    won, lost = after["tricks"].tolist(), chips(TRICKS * worth)
    failed = [s for s in members(after["joined"]) if won[s] == 0]
    if after["leaders"][0] < 0:
        winner = int(after["winners"][0])  # a dealer pays itself nothing
        got = TRICKS * (worth - rules.number("unit") * (winner == after["dealer"]))
        deed = f"wins {chips(got)} without play" if got else "wins without play"
        first = f"{does(who[winner], deed)}: nobody else knocked."
    elif seat in failed:
        first = f"{who[seat]} knocked and took no trick: that costs {lost}."
    elif seat is not None and won[seat]:
        tricks = counted(won[seat], "trick", "tricks")
        first = f"{does(who[seat], 'takes')} {tricks}: {chips(won[seat] * worth)}."
    else:
        seats = [s for s in range(len(who)) if won[s]]
        tricks = counted(won[seats[0]], "trick", "tricks")
        takes = [f"{who[seats[0]]} takes {tricks}", *(f"{who[s]} {won[s]}" for s in seats[1:])]
        first = f"{listed(takes)}."
    others = [who[s] for s in failed if s != seat]
    none = f" {listed(others)} took none: that costs {lost}." if others else ""
    return first + none + _besides(after, rules, who, seat)


def _besides(table: Any, rules: Rules, who: list[str], seat: int | None) -> str:
    """Returns what the deal costs or brings a seat besides its tricks."""
    if seat is None:
        return ""
    text, own = "", table["leaders"][0] < 0 and int(table["winners"][0]) == seat
    if seat == table["dealer"] and not own:  # a dealer who wins without play pays itself
        text = (
            f" As dealer {inside(does(who[seat], 'pays'))} {chips(TRICKS * rules.number('unit'))}."
        )
    drawn = int(table["remainder"]) if int(table["remainder_to"]) == seat else 0
    if share := int(table["shared"]) // len(who) + drawn:
        text += f" The bets are shared: {chips(share)} for {inside(who[seat])}."
    return text
