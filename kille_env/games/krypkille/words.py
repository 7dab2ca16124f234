"""Krypkille in words: results, views, events, choices. Its rules in words: manual.md.

A whole trick is played at once; the score sheet stands on the plates.
"""

from collections.abc import Mapping
from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.seats import seat_or_none
from kille_env.cards.sets import members
from kille_env.core.arguments import amounts, check_keys
from kille_env.core.spec import Rules
from kille_env.errors import RulesError
from kille_env.games.krypkille.rules import ACTIONS, Phase, retired, who_is_out
from kille_env.tricktaking import words as tricks
from kille_env.tricktaking.words import last_card, most_discards, num_tricks
from kille_env.words.text import YOU, columns, counted, does, inside, listed, owner
from kille_env.words.view import Call, View

RESULT_KEYS = (
    *("tricks", "played", "declarer", "last", "points", "scores", "out", "next_dealer", "winner"),
)


def result(table: Any, rules: Rules) -> dict[str, Any]:
    """Return the record notation's result of the deal that has just ended."""
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


def set_up(table: Any, rules: Rules, start: Mapping[str, Any]) -> None:
    """Put a match that has just begun where it stands: `{"scores": [12, 49, 0, 30]}`."""
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


# Events


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Return the events between two tables, as a seat may know them; see `Texts.narrate`."""
    if after["deals"] != before["deals"]:
        deal = f"Deal {int(after['deals'])}: {does(who[int(after['dealer'])], 'deals')}."
        return [deal, *tricks.describe_dealt(after, who, seat)]
    lines = [_describe_action(before, after, who, seat)]
    if after["trick"] == num_tricks(rules) > before["trick"]:
        lines.append(f"{does(who[int(after['seat'])], 'speaks')} first: whose last card is lowest?")
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(after, rules, who, seat)
    return lines


def _describe_action(before: Any, after: Any, who: list[str], seat: int | None) -> str:
    """Describe the decision that lies between two tables, as a seat has seen it."""
    actor, phase = int(before["seat"]), int(before["phase"])
    if phase == Phase.DISCARD:
        return tricks.describe_exchange(after, who, actor, seat)
    if phase == Phase.LEAD:
        return tricks.describe_trick(after, who, int(before["trick"]))
    if after["declarer"] == actor:
        card = tricks.names_of(after["hand"][actor])
        return f"{does(who[actor], 'says')} the {card} is the lowest."
    return f"{does(who[actor], 'says')} nothing."


def _describe_end(table: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Describe the last cards and the score sheet, the seats that are out and the winner."""
    seats = members(table["in_play"])
    lines = ["The last cards are shown."]
    lines += columns(
        [
            (
                who[s],
                tricks.names_of(table["hand"][s]),
                counted(int(table["points"][s]), "point", "points"),
                f"{int(table['scores'][s])} in all",
            )
            for s in seats
        ]
    )
    lines.append(_verdict(table, rules, who, seat))
    out = [who[s] for s in who_is_out(table, rules) if s in seats]
    if rules["episode"] == "match" and out:
        lines.append(f"{does(out[0], 'is') if len(out) == 1 else f'{listed(out)} are'} out.")
    if table["phase"] != Phase.OVER or rules["episode"] == "deal":
        return lines
    winners = [who[s] for s in members(table["winners"])]
    if winners:
        deed = does(winners[0], "wins") if len(winners) == 1 else f"{listed(winners)} share"
        lines.append(f"{deed} the match.")
    else:
        deals = counted(int(table["deals"]), "deal", "deals")
        lines.append(f"The match is cut off after {deals}: the players still in share it.")
    return lines


def _verdict(table: Any, rules: Rules, who: list[str], seat: int | None) -> str:
    """Return how a deal was scored."""
    played, declarer = members(table["in_play"]), int(table["declarer"])
    ranks = {s: members(table["hand"][s])[0] >> 1 for s in played}
    low = [s for s in played if ranks[s] == min(ranks.values())]
    others = [inside(owner(who[s])) for s in low if s != declarer]
    theirs = f"{listed(others)} {last_card(table, low[0])} {'was' if len(others) == 1 else 'were'}"
    wrong = declarer not in low or (bool(others) and bool(rules["tie_beats_declarer"]))
    if declarer < 0:
        first = f"Nobody spoke; {theirs} the lowest"
    else:
        own = "your" if who[declarer] == YOU else "its"
        whose = own if declarer == seat else "the"
        first = f"{who[declarer]} said {whose} {last_card(table, declarer)} was the lowest"
        how = f"; {theirs} {'equal' if declarer in low else 'lower'}"
        first += how if wrong else ", and it was"
    if seat not in played:
        return f"{first}."
    points = int(table["points"][seat])
    amount = counted(points, "point", "points")
    if seat == declarer or (declarer < 0 and seat in low):
        extra = rules.number("wrong_declarer_extra")
        if declarer >= 0 and wrong and 0 < extra < points:
            amount = f"{points - extra} + {extra} points"
        return f"{first}: {amount}."
    whose = "your" if who[seat] == YOU else "its"
    card = f" for {whose} {last_card(table, seat)}" if points and seat not in low else ""
    return f"{first}. {does(who[seat], 'gets')} {amount}{card}."


# The view and the choices


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Return the table as a seat may see it, or everything; see `Texts.view`."""
    limit, last, verdict = rules.number("limit"), {}, ""
    if table["phase"] <= Phase.OVER and table["trick"] == num_tricks(rules):
        points = table["points"].tolist()
        last = {s: counted(points[s], "point", "points") for s in members(table["in_play"])}
        verdict = _verdict(table, rules, who, seat)
    shown = tricks.view_of(
        "Krypkille", table, seat, who, [_plate(table, rules, s) for s in range(len(who))],
        history=tricks.describe_exchanges(table, who, seat),
        last=last,
        scores=[f"{int(table['scores'][other])}/{limit}" for other in range(len(who))],
        calls=[Call(s, "Pass!", "My card is not the lowest") for s in members(table["passed"])],
        verdict=verdict,
    )  # fmt: skip
    out = retired(table, rules)
    seats = (one._replace(retired=number in out) for number, one in enumerate(shown.seats))
    asked = seat in (None, shown.turn) and table["phase"] > Phase.OVER
    question = _question(table, rules) if asked else ""
    return shown._replace(seats=tuple(seats), question=question)


def _plate(table: Any, rules: Rules, seat: int) -> list[str]:
    """Return the deeds of a seat: "2 new", "passed"."""
    deeds = ["out"] if seat in who_is_out(table, rules) else []
    if table["exchanged"][seat] >= 0:
        deeds.append(f"{int(table['exchanged'][seat])} new")
    if seat in members(table["passed"]):
        deeds.append("passed")
    if table["declarer"] == seat:
        deeds.append("lowest?")
    return deeds


def _question(table: Any, rules: Rules) -> str:
    """Return the question to the seat to act."""
    if table["phase"] == Phase.DISCARD:
        return f"Change up to {counted(most_discards(rules), 'card', 'cards')}?"
    if table["phase"] == Phase.LEAD:
        return "Lead a card: players who cannot beat it play their lowest."
    return f"Is your {last_card(table, int(table['seat']))} the lowest last card?"


def choice(table: Any, rules: Rules, action: int, who: list[str]) -> str:
    """Return the text of a button; see `Texts.choice`."""
    word = ACTIONS[action]
    if word == "declare":
        return f"My {last_card(table, int(table['seat']))} is the lowest"
    return "Say nothing" if word == "pass" else tricks.say_action(table, word, "Lead")
