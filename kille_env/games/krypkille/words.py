"""Krypkille in words and pictures: results, a table as a seat sees it, what happened, the rules.

A whole trick is played at once; the score sheet stands on the plates.
"""

from collections.abc import Mapping
from typing import Any

from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.cards.seats import seat_or_none
from kille_env.cards.sets import members
from kille_env.cards.words import describe_pack, kinds_without
from kille_env.core.arguments import amounts, check_keys
from kille_env.core.spec import Rules
from kille_env.errors import RulesError
from kille_env.games.krypkille.rules import ACTIONS, FIRST_WORTH, Phase, who_is_out
from kille_env.tricktaking import words as tricks
from kille_env.tricktaking.words import (
    WINS_TRICK,
    last_card,
    most_discards,
    moves_of,
    num_tricks,
    say_action,
    to_decide,
    view_of,
)
from kille_env.words.manual import explain_actions, is_single, manual, seats_at, section
from kille_env.words.text import columns, counted, does, inside, listed, owner
from kille_env.words.view import Call, Change, View

MEANINGS = {
    "discard": "exchange these cards; alone: keep all",
    "play": "lead this card; the others follow by themselves",
    "declare": "say that your last card is the lowest: if it is not, you score a penalty",
    "pass": "do not say so; if nobody does, it is the lowest card that scores",
}
NOTES = (
    "Points are bad: with 50 you are out, unless other rules were chosen; the last one in wins.",
    "All cards but one are played in tricks, and the last cards are scored. A player who cannot "
    "head a trick plays their lowest card; one who can does so with the lowest card that does.",
    *tricks.CARD_NOTES,
)
RESULT_KEYS = (
    "tricks",
    "played",
    "declarer",
    "last",
    "points",
    "scores",
    "out",
    "next_dealer",
    "winner",
)


def result(table: Any, rules: Rules) -> dict[str, Any]:
    """Returns the record notation's result of the deal that has just ended."""
    seats, number = range(int(table["num_players"])), num_tricks(rules)
    played = members(table["in_play"])
    return {
        "tricks": table["won"][:number].tolist(),
        "played": [[_code(trick[seat]) for seat in seats] for trick in table["played"][:number]],
        "declarer": seat_or_none(table["declarer"]),
        "last": [tricks.codes_of(table["hand"][s])[0] if s in played else None for s in seats],
        "points": [int(table["points"][s]) if s in played else None for s in seats],
        "scores": [int(table["scores"][s]) for s in seats],
        "out": who_is_out(table, rules),
        "next_dealer": seat_or_none(table["next_dealer"]),
        "winner": members(table["winners"]),
    }


def _code(card: Any) -> str | None:
    return KILLE_PACK.code(card) if card >= 0 else None


# Texts of actions, and how a match starts


def action_text(table: Any, action: int) -> str:
    """Returns the text of an action of the seat to act; discards name their cards."""
    return tricks.action_text(table, ACTIONS[action])


def set_up(table: Any, rules: Rules, start: Mapping[str, Any]) -> None:
    """Puts a match that has just begun where it stands: `{"scores": [12, 49, 0, 30]}`.

    Raises:
        RulesError: An unknown key; scores that are no whole numbers from 0, one a seat; or fewer
            than two seats that are in.
    """
    check_keys(start, ("scores",))
    scores = amounts(start, "scores", int(table["num_players"]))
    if scores is None:
        return
    limit = rules.number("limit")
    if sum(score < limit for score in scores) < 2:
        raise RulesError(
            f"'scores' of the start is {scores!r}; expected at least two below the limit of {limit}"
        )
    table["scores"][: len(scores)] = scores


# The table as a seat sees it


def describe(table: Any, rules: Rules, seat: int | None, who: list[str], history: bool) -> str:
    """Returns the text of a table as a seat sees it, or with every card; see `Game.describe`."""
    rows = []
    for other, name in enumerate(who):
        points = counted(int(table["scores"][other]), "point", "points")
        hand = tricks.describe_hand(table, other, seat, "discarded", "got", history)
        rows.append((name, points, hand, ", ".join(deeds_of(table, rules, other))))
    return tricks.describe_table("Krypkille", table, who, rows, history, asked(table, rules))


def deeds_of(table: Any, rules: Rules, seat: int) -> list[str]:
    """Returns what a seat has done in the deal: "2 new", "passed"."""
    deeds = ["out"] if seat in who_is_out(table, rules) else []
    if table["exchanged"][seat] >= 0:
        deeds.append(f"{int(table['exchanged'][seat])} new")
    if seat in members(table["passed"]):
        deeds.append("passed")
    if table["declarer"] == seat:
        deeds.append("lowest?")
    return deeds


def asked(table: Any, rules: Rules) -> str:
    """Returns what the seat to act has to decide."""
    if table["phase"] == Phase.DISCARD:
        return f"may discard up to {counted(most_discards(rules), 'card', 'cards')}"
    return tricks.plays_to(table) if table["phase"] == Phase.LEAD else "declares or passes"


# What has happened


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Returns what happened between two tables, as a seat may know it; see `Game.narrate`."""
    if after["deals"] != before["deals"]:
        deal = f"Deal {int(after['deals'])}: {does(who[int(after['dealer'])], 'deals')}."
        return [deal, *tricks.describe_dealt(after, who, seat)]
    lines = [_describe_action(before, after, who, seat)]
    if after["trick"] == num_tricks(rules) > before["trick"]:
        lines.append(f"{does(who[int(after['seat'])], 'speaks')} first: whose last card is lowest?")
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(before, after, rules, who)
    return lines


def _describe_action(before: Any, after: Any, who: list[str], seat: int | None) -> str:
    """The decision that lies between two tables, as a seat has seen it."""
    actor, phase = int(before["seat"]), int(before["phase"])
    if phase == Phase.DISCARD:
        return tricks.describe_exchange(after, who, actor, seat, "changes")
    if phase == Phase.LEAD:
        return tricks.describe_trick(after, who, int(before["trick"]))
    if after["declarer"] == actor:
        card = tricks.names_of(after["hand"][actor])
        return f"{does(who[actor], 'says')} the {card} is the lowest."
    return f"{does(who[actor], 'says')} nothing."


def _describe_end(before: Any, after: Any, rules: Rules, who: list[str]) -> list[str]:
    """The last cards and the score sheet; then who is out, and who has won."""
    seats = members(after["in_play"])
    lines = ["The last cards are shown."]
    lines += columns(
        [
            (
                who[s],
                tricks.names_of(after["hand"][s]),
                f"{int(after['points'][s])} points",
                f"{int(after['scores'][s])} in all",
            )
            for s in seats
        ]
    )
    out = [who[s] for s in who_is_out(after, rules) if s in seats]
    if rules["episode"] == "match" and out:
        lines.append(f"{does(out[0], 'is') if len(out) == 1 else f'{listed(out)} are'} out.")
    if after["phase"] != Phase.OVER or rules["episode"] == "deal":
        return lines
    winners = [who[s] for s in members(after["winners"])]
    if winners:
        deed = does(winners[0], "wins") if len(winners) == 1 else f"{listed(winners)} share"
        lines.append(f"{deed} the match.")
    else:
        deals = counted(int(after["deals"]), "deal", "deals")
        lines.append(f"The match is cut off after {deals}: those who are in share it.")
    return lines


# What there is to see


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Returns what a seat may see of a table, or everything; see `Game.view`."""
    words = [deeds_of(table, rules, other) for other in range(len(who))]
    limit = rules.number("limit")
    scores = [f"{int(table['scores'][other])}/{limit}" for other in range(len(who))]
    question = to_decide(table, who, asked(table, rules))
    last = {}
    if table["phase"] <= Phase.OVER and table["trick"] == num_tricks(rules):
        points = table["points"].tolist()
        last = {s: counted(points[s], "point", "points") for s in members(table["in_play"])}
    return view_of("Krypkille", table, seat, words, question, last, scores)


def change(before: Any, after: Any, rules: Rules, seat: int | None) -> Change:
    """Returns what moved and was called between two tables; see `Game.change`."""
    passed = set(members(after["passed"])) - set(members(before["passed"]))
    calls = tuple(Call(other, "Pass!", "My card is not the lowest") for other in passed)
    return Change(moves_of(before, after, seat), calls)


# What a person at the table is asked, and told at the end


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


# The rules in plain English

GUESSES = {
    "declare": "show your last card and say that it is the lowest",
    "pass": "say nothing, and keep your last card hidden for now",
}


def describe_rules(rules: Rules, num_players: int) -> str:
    """Returns the rules of a table as text; see `Game.describe_rules`."""
    after = counted(num_tricks(rules), "trick", "tricks")
    return manual(
        f"Krypkille is a Swedish card game. {seats_at(num_players)} Points are bad. After {after} "
        "everybody has one card left: keep it low, and know whether it is the lowest.",
        section("Cards", [*describe_pack(rules.number("pack")), _denominations(rules)]),
        section("A deal", _deal(rules, num_players)),
        section("Tricks", _tricks(rules)),
        section("Guessing", _guessing(rules)),
        section("Points of a deal", _points(rules, num_players)),
        section("What is at stake", _stake(rules)),
        section("What you see", _seen()),
        explain_actions(MEANINGS | GUESSES),
    )


def _denominations(rules: Rules) -> str:
    """What cards cost: the rank decides who wins, the denomination only what is scored."""
    points = {k: max(0, k - FIRST_WORTH) for k in kinds_without(rules.number("pack"))}
    points |= {k: rules.number("kille_denomination") for k in points if k == Kind.KI}
    worth = [f"{KILLE_PACK.codes[k]} {cost}" for k, cost in points.items()]
    return f"For the points each card has a denomination besides its rank: {', '.join(worth)}."


def _deal(rules: Rules, num_players: int) -> list[str]:
    hand, most = rules.number("hand"), most_discards(rules)
    discards = f"discards up to {counted(most, 'card', 'cards')} and gets as many new ones at once"
    if most == 0:
        discards = "is asked for discards, but may keep all cards only"
    elif most == hand:
        discards = f"discards any number of the {hand} cards and gets as many new ones at once"
    lines = [
        f"Everybody gets {hand} cards.",
        f"From the player to the dealer's left on, clockwise, everybody {discards}.",
    ]
    if num_players * (hand + most) > 2 * len(kinds_without(rules.number("pack"))):
        lines.append("The talon may run short: nobody may discard more cards than it holds.")
    return lines


def _tricks(rules: Rules) -> list[str]:
    number = num_tricks(rules)
    played = f"{number} tricks are" if number > 1 else "1 trick is"
    return [
        f"{played} played. The player to the dealer's left leads to the first.",
        "Only the leader chooses, and may lead any card. The others play by themselves: if you "
        "hold cards that are as high as the highest of the trick or higher, the lowest of these "
        "is played; if you hold none, the lowest card of your hand.",
        WINS_TRICK,
        "Tricks are worth nothing by themselves. They decide which card you keep as your last.",
    ]


def _guessing(rules: Rules) -> list[str]:
    return [
        f"From the winner of trick {num_tricks(rules)} on, clockwise, each player declares that "
        "their last card is the lowest, or passes. The first declaration ends the guessing; so "
        "does the last pass. Then all last cards are shown.",
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
