"""Femkortskille as text: results for records, the table as a seat sees it, what happened."""

from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.seats import seat_or_none
from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.core.text import columns, listed, units
from kille_env.games.femkortskille.table import End, Phase, Said
from kille_env.tricktaking.text import CARD_NOTES, codes_of, describe_last, describe_trick, names_of

MEANINGS = {
    "knock": "play for the pot, with two more cards; who then loses pays as much as it holds",
    "check": "wait: when somebody has knocked you are asked once more",
    "fold": "throw the cards in",
    "play": "play this card to the trick",
}
NOTES = (
    "Whoever wins the fifth trick wins the pot; the tricks before it are worth nothing.",
    "A player who cannot head a trick plays any card, unless other rules were chosen.",
    *CARD_NOTES,
)
RESULT_KEYS = ("kind", "winner", "tricks", "pot", "chips", "next_dealer")
_DEEDS = {Said.FOLDED: "folds", Said.KNOCKED: "knocks", Said.CHECKED: "checks"}


def result(table: Any, rules: Rules) -> dict[str, Any]:
    """Returns the record notation's result of the deal that has just ended."""
    seats = range(int(table["num_players"]))
    return {
        "kind": End(table["end"]).name.lower(),
        "winner": seat_or_none(table["winner"]),
        "tricks": [int(seat) for seat in table["won"][: int(table["trick"])]],
        "pot": int(table["shown_pot"]),
        "chips": [int(table["chips"][seat]) for seat in seats],
        "next_dealer": int(table["next_dealer"]),
    }


# The table as a seat sees it


def describe(table: Any, rules: Rules, seat: int | None, who: list[str], history: bool) -> str:
    """Returns the text of a table as a seat sees it, or with every card; see `Game.describe`."""
    lines = [
        f"Femkortskille, deal {int(table['deals'])}, dealer {who[int(table['dealer'])]}, "
        f"pot {units(int(table['pot']))}"
    ]
    lines += columns([_row(table, who, other, seat) for other in range(len(who))])
    past = int(table["trick"]) if history else 0
    lines += [describe_trick(table, who, number) for number in range(past)]
    if table["phase"] == Phase.PLAY and table["highest"] >= 0:
        lines.append(describe_trick(table, who, int(table["trick"])))
    return "\n".join([*lines, _to_decide(table, who)])


def _row(table: Any, who: list[str], seat: int, viewer: int | None) -> tuple[str, str, str]:
    """One seat: its name, its cards, what it said."""
    cards = codes_of(table["hand"][seat])
    shown = " ".join(cards if viewer in (None, seat) else "?" * len(cards))
    if viewer in (None, seat) and table["drawn_cards"][seat]:
        dealt, got = (" ".join(codes_of(table[f][seat])) for f in ("dealt", "drawn_cards"))
        shown += f" (dealt {dealt}, then {got})"
    said = [Said(word).name.lower() for word in _said(table, seat) if word != Said.NOTHING]
    return (who[seat], shown.strip(), ", ".join(said))


def _to_decide(table: Any, who: list[str]) -> str:
    phase = int(table["phase"])
    if phase == Phase.OVER:
        return "The match is over."
    if phase == Phase.DEAL:
        return "Cards are to be dealt."
    seat = who[int(table["seat"])]
    if phase == Phase.SPEAK:
        return f"{seat} knocks{' or' if table['knockers'] else ', checks or'} folds."
    number = int(table["trick"]) + 1
    return f"{seat} {'leads to' if table['highest'] < 0 else 'plays to'} trick {number}."


# What has happened


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Returns what happened between two tables, as a seat may know it; see `Game.narrate`."""
    if after["deals"] != before["deals"]:
        return _describe_deal(after, rules, who, seat)
    lines = [_describe_action(before, after, who)]
    if before["phase"] == Phase.SPEAK and after["phase"] == Phase.PLAY:
        lines += _describe_drawing(after, who, seat)
    if after["trick"] != before["trick"]:
        lines.append(f"{who[int(after['won'][int(before['trick'])])]} wins the trick.")
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(after, who)
    return lines


def _describe_deal(after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    lines = [
        f"Deal {int(after['deals'])}: {who[int(after['dealer'])]} deals.",
        f"Everybody pays {units(rules.number('ante'))}; the pot is {units(int(after['pot']))}.",
    ]
    if seat is None:
        rows = [(who[s], names_of(after["dealt"][s])) for s in range(len(who))]
        return lines + columns(rows)
    return [*lines, f"{who[seat]} gets {names_of(after['dealt'][seat])}."]


def _describe_action(before: Any, after: Any, who: list[str]) -> str:
    """The decision that lies between two tables."""
    actor = int(before["seat"])
    if before["phase"] == Phase.PLAY:
        card = KILLE_PACK.name(after["played"][int(before["trick"]), actor])
        return f"{who[actor]} {'leads' if before['highest'] < 0 else 'plays'} {card}."
    word = int(after["said1" if before["said1"][actor] == Said.NOTHING else "said2"][actor])
    return f"{who[actor]} {_DEEDS[Said(word)]}."


def _describe_drawing(after: Any, who: list[str], seat: int | None) -> list[str]:
    got = [(who[s], names_of(after["drawn_cards"][s])) for s in range(len(who))]
    knockers = [s for s in range(len(who)) if after["drawn_cards"][s]]
    lines = [f"{listed([who[s] for s in knockers])} get two more cards each."]
    if seat is None:
        return lines + columns([got[s] for s in knockers])
    return [*lines, f"{who[seat]} gets {got[seat][1]}."] if seat in knockers else lines


def _describe_end(after: Any, who: list[str]) -> list[str]:
    pot, winner = units(int(after["shown_pot"])), int(after["winner"])
    if after["end"] == End.ALL_CHECKED:
        lines = [f"Nobody has knocked: the pot of {pot} stays."]
    elif after["end"] == End.PLAYED:
        losers = [who[s] for s in members(after["knockers"]) if s != winner]
        pay = "pays as much again" if len(losers) == 1 else "pay as much again each"
        lines = [f"{who[winner]} wins the pot of {pot}; {listed(losers)} {pay}."]
    else:
        lines = [f"{who[winner]} wins the pot of {pot} without play."]
    return lines + (describe_last(after, who) if after["phase"] == Phase.OVER else [])


def _said(table: Any, seat: int) -> tuple[int, int]:
    return int(table["said1"][seat]), int(table["said2"][seat])
