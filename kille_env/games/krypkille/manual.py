"""Krypkille's rules in plain English, as they hold at a table."""

from kille_env.cards.manual import describe_pack
from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.core.manual import explain_actions, is_single, manual, seats_at, section
from kille_env.core.spec import Rules
from kille_env.core.text import counted
from kille_env.games.krypkille.table import FIRST_WORTH, TRICKS
from kille_env.games.krypkille.text import MEANINGS
from kille_env.tricktaking.manual import WINS_TRICK
from kille_env.tricktaking.tricks import HAND

GUESSES = {
    "declare": "show your last card and say that it is the lowest",
    "pass": "say nothing, and keep your last card hidden for now",
}


def describe_rules(rules: Rules, num_players: int) -> str:
    """Returns the rules of a table as text; see `Game.describe_rules`."""
    return manual(
        f"Krypkille is a Swedish card game. {seats_at(num_players)} Points are bad. After {TRICKS} "
        "tricks everybody has one card left: keep it low, and know whether it is the lowest.",
        section("Cards", [*describe_pack(), _denominations(rules)]),
        section("A deal", _deal(rules, num_players)),
        section("Tricks", _tricks()),
        section("Guessing", _guessing()),
        section("Points of a deal", _points(rules, num_players)),
        section("What is at stake", _stake(rules)),
        section("What you see", _seen()),
        explain_actions(MEANINGS | GUESSES),
    )


def _denominations(rules: Rules) -> str:
    """What cards cost: the rank decides who wins, the denomination only what is scored."""
    worth = [f"{KILLE_PACK.codes[k]} {max(0, k - FIRST_WORTH)}" for k in range(Kind.KI)]
    worth.append(f"{KILLE_PACK.codes[Kind.KI]} {rules.number('kille_denomination')}")
    return f"For the points each card has a denomination besides its rank: {', '.join(worth)}."


def _deal(rules: Rules, num_players: int) -> list[str]:
    most = rules.number("max_discards")
    discards = f"discards up to {counted(most, 'card', 'cards')} and gets as many new ones at once"
    if most == 0:
        discards = "is asked for discards, but may keep all cards only"
    elif most == HAND:
        discards = f"discards any number of the {HAND} cards and gets as many new ones at once"
    lines = [
        f"Everybody gets {HAND} cards.",
        f"From the player to the dealer's left on, clockwise, everybody {discards}.",
    ]
    if num_players * (HAND + most) > KILLE_PACK.size:
        lines.append(_shortage(rules))
    return lines


def _shortage(rules: Rules) -> str:
    if rules["talon_shortage"] == "cap":
        return "The talon may run short: nobody may discard more cards than it holds."
    return (
        "The talon may run out: then the discards that the others have made so far are shuffled "
        "and become the new talon."
    )


def _tricks() -> list[str]:
    return [
        f"{TRICKS} tricks are played. The player to the dealer's left leads to the first.",
        "Only the leader chooses, and may lead any card. The others play by themselves: if you "
        "hold cards that are as high as the highest of the trick or higher, the lowest of these "
        "is played; if you hold none, the lowest card of your hand.",
        WINS_TRICK,
        "Tricks are worth nothing by themselves. They decide which card you keep as your last.",
    ]


def _guessing() -> list[str]:
    return [
        f"From the winner of trick {TRICKS} on, clockwise, each player declares that their last "
        "card is the lowest, or passes. The first declaration ends the guessing; so does the last "
        "pass. Then all last cards are shown.",
    ]


def _points(rules: Rules, num_players: int) -> list[str]:
    return [_right(rules), _wrong(rules, num_players), _all_passed(rules)]


def _right(rules: Rules) -> str:
    lowest = "lower than all others" if rules["tie_beats_declarer"] else "the lowest, alone or not"
    return (
        f"If somebody has declared, and their card is {lowest}: the declarer scores "
        f"{_score(rules, 'right_declarer')}, each of the others {_worth(rules, 'right_others')}."
    )


def _wrong(rules: Rules, num_players: int) -> str:
    other = "lower or equal" if rules["tie_beats_declarer"] else "lower"
    pays = _score(rules, "wrong_declarer_extra")
    if rules["wrong_declarer_base"] == "denomination":
        pays = f"the denomination of the card and {pays} more"
    rest = f", and the rest {_worth(rules, 'wrong_others')}" if num_players > 2 else ""
    return (
        f"If somebody has declared, and another card is {other}: the declarer scores {pays}, each "
        f"of the others who has the lowest card {_score(rules, 'wrong_lowest')}{rest}."
    )


def _all_passed(rules: Rules) -> str:
    return (
        f"If all have passed: each player who has the lowest card scores "
        f"{_score(rules, 'allpass_lowest')}, each of the others {_score(rules, 'allpass_others')}."
    )


def _score(rules: Rules, switch: str) -> str:
    return counted(rules.number(switch), "point", "points")


def _worth(rules: Rules, switch: str) -> str:
    return "the denomination of their card" if rules[switch] == "denomination" else "0 points"


def _stake(rules: Rules) -> list[str]:
    if is_single(rules):
        return ["You play a single deal. Your result is minus the points that you score in it."]
    limit, deals = rules.number("limit"), rules.number("max_deals")
    return [
        f"Everybody's points are added up over the deals. Whoever reaches {limit} is out. The last "
        "player who is in wins the match.",
        f"If all who are left reach {limit} in the same deal, the lowest total among them wins, "
        "and equal totals share.",
        "The deal passes to the next player on the left who is in. After "
        f"{counted(deals, 'deal', 'deals')} the match is cut off, and those who are in share it.",
        "Your result is 1 if you win the match, your share of 1 if you share it, and else 0.",
    ]


def _seen() -> list[str]:
    return [
        "Everybody sees how many cards each player discards, every card that is played, who "
        "passes and declares, and the scores. Hands, discards and the talon are hidden.",
        "What players play is forced, and tells much: whoever did not head a trick has no card "
        "that would have done so, and none below the card that they played; whoever headed it has "
        "none between the highest card before and their own.",
    ]
