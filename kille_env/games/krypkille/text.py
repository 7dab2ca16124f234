"""Krypkille as text: results for records, the table as a seat sees it, what happened."""

from collections.abc import Mapping
from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.seats import seat_or_none
from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.core.starts import amounts, check_keys
from kille_env.core.text import columns, counted, listed
from kille_env.errors import RulesError
from kille_env.games.krypkille.settle import who_is_out
from kille_env.games.krypkille.table import ACTIONS, TRICKS, Phase
from kille_env.tricktaking import text as tricks
from kille_env.tricktaking.tricks import HAND

MEANINGS = {
    "discard": "exchange these cards; alone: keep all",
    "play": "lead this card; the others follow by themselves",
    "declare": "say that your last card is the lowest: if it is not, you score most",
    "pass": "do not say so; if nobody does, it is the lowest card that scores",
}
NOTES = (
    "Points are bad: with 50 you are out, unless other rules were chosen; the last one in wins.",
    "Four tricks are played, and the last cards are scored. A player who cannot head a trick "
    "plays their lowest card; one who can does so with the lowest card that does.",
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
    seats = range(int(table["num_players"]))
    played = members(table["in_play"])
    return {
        "tricks": table["won"].tolist(),
        "played": [[_code(trick[seat]) for seat in seats] for trick in table["played"]],
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


def knows_action(text: Any) -> bool:
    """Returns whether a text can be an action's."""
    return tricks.knows_action(text, ACTIONS, HAND)


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
    """Returns what a seat has done in the deal: "discarded 2", "passed"."""
    deeds = ["is out"] if seat in who_is_out(table, rules) else []
    if table["exchanged"][seat] >= 0:
        deeds.append(f"discarded {int(table['exchanged'][seat])}")
    if seat in members(table["passed"]):
        deeds.append("passed")
    if table["declarer"] == seat:
        deeds.append("declared")
    return deeds


def asked(table: Any, rules: Rules) -> str:
    """Returns what the seat to act has to decide."""
    if table["phase"] == Phase.DISCARD:
        return f"may discard up to {counted(rules.number('max_discards'), 'card', 'cards')}"
    return tricks.plays_to(table) if table["phase"] == Phase.LEAD else "declares or passes"


# What has happened


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Returns what happened between two tables, as a seat may know it; see `Game.narrate`."""
    if after["deals"] != before["deals"]:
        deal = f"Deal {int(after['deals'])}: {who[int(after['dealer'])]} deals."
        return [deal, *tricks.describe_dealt(after, who, seat)]
    lines = [_describe_action(before, after, who, seat)]
    if after["trick"] == TRICKS > before["trick"]:
        lines.append(f"{who[int(after['seat'])]} begins the guessing.")
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(before, after, rules, who)
    return lines


def _describe_action(before: Any, after: Any, who: list[str], seat: int | None) -> str:
    """The decision that lies between two tables, as a seat has seen it."""
    actor, phase = int(before["seat"]), int(before["phase"])
    if phase == Phase.DISCARD:
        more = ""
        if after["shuffled_in"] != before["shuffled_in"]:
            more = "; the talon runs out, and the others' discards are shuffled for a new one"
        return tricks.describe_exchange(after, who, actor, seat, "discards", more)
    if phase == Phase.LEAD:
        return tricks.describe_trick(after, who, int(before["trick"]))
    if after["declarer"] == actor:
        return f"{who[actor]} declares with {tricks.names_of(after['hand'][actor])}."
    return f"{who[actor]} passes."


def _describe_end(before: Any, after: Any, rules: Rules, who: list[str]) -> list[str]:
    """The last cards and the score sheet; then who is out, and who has won."""
    seats = members(after["in_play"])
    lines = ["The last cards are shown."]
    lines += columns(
        [
            (
                who[s],
                tricks.names_of(after["hand"][s]),
                f"+{int(after['points'][s])}",
                _total(after, s),
            )
            for s in seats
        ]
    )
    out = [who[s] for s in who_is_out(after, rules) if s in seats]
    if rules["episode"] == "match" and out:
        lines.append(f"{listed(out)} {'is' if len(out) == 1 else 'are'} out.")
    if after["phase"] != Phase.OVER or rules["episode"] == "deal":
        return lines
    winners = [who[s] for s in members(after["winners"])]
    if winners:
        lines.append(f"{listed(winners)} {'wins' if len(winners) == 1 else 'share'} the match.")
    else:
        deals = counted(int(after["deals"]), "deal", "deals")
        lines.append(f"The match is cut off after {deals}: those who are in share it.")
    return lines


def _total(table: Any, seat: int) -> str:
    return f"now {int(table['scores'][seat])}"
