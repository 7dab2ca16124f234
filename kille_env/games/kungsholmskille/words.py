"""Kungsholmskille in words and pictures: results, tables as seats see them, events, the rules."""

from collections.abc import Mapping
from typing import Any

from kille_env.cards.seats import seat_or_none
from kille_env.cards.words import KNOCK, describe_pack
from kille_env.core.arguments import amount, amounts, check_keys
from kille_env.core.spec import Rules
from kille_env.games.kungsholmskille.rules import ACTIONS, ANTE, End, Phase, Said
from kille_env.tricktaking import words as tricks
from kille_env.tricktaking.words import (
    RESULT,
    WINS_TRICK,
    ask_for_card,
    describe_end,
    describe_heading,
    last_card,
    most_discards,
    moves_of,
    num_tricks,
    say_action,
    to_decide,
    view_of,
)
from kille_env.words.manual import explain_actions, is_single, manual, seats_at, section
from kille_env.words.text import chips, columns, counted, does, inside, listed, owner
from kille_env.words.view import Call, Change, View

MEANINGS = {
    "bud": "rather have new cards; at the showing: keep the last card hidden",
    "knock": "ask for play",
    "stay": "play on",
    "fold": "throw the cards in",
    "discard": "exchange these cards; alone: keep all",
    "play": "play this card to the trick",
    "show": "turn the last card up: the lowest wins, and the wrong one pays",
}
NOTES = (
    "All cards but one are played in tricks; the lowest last card wins the pot, if somebody shows.",
    "A player who cannot head a trick plays their lowest card.",
    *tricks.CARD_NOTES,
)
BUD = "Bud!", "I would rather have new cards"
RESULT_KEYS = ("kind", "shower", "winner", "pot", "tricks", "last", "owed", "chips", "next_dealer")


def result(table: Any, rules: Rules) -> dict[str, Any]:
    """Returns the record notation's result of the deal that has just ended."""
    seats = range(int(table["num_players"]))
    return {
        "kind": End(table["end"]).name.lower(),
        "shower": seat_or_none(table["shower"]),
        "winner": seat_or_none(table["winner"]),
        "pot": int(table["shown_pot"]),
        "tricks": [int(seat) for seat in table["won"][: int(table["trick"])]],
        "last": [_last_card(table, seat) for seat in seats],
        "owed": [int(table["owed"][seat]) for seat in seats],
        "chips": [int(table["chips"][seat]) for seat in seats],
        "next_dealer": int(table["next_dealer"]),
    }


def _last_card(table: Any, seat: int) -> str | None:
    """The last card of a seat that has turned it up."""
    shown = tricks.codes_of(int(table["hand"][seat]) & int(table["face_up"]))
    return shown[0] if shown else None


# Texts of actions, and how a match starts


def action_text(table: Any, action: int) -> str:
    """Returns the text of an action of the seat to act; discards name their cards."""
    return tricks.action_text(table, ACTIONS[action])


def set_up(table: Any, rules: Rules, start: Mapping[str, Any]) -> None:
    """Puts a match that has just begun where it stands: `{"pot": 6, "owed": [2, 2, 2]}`.

    Raises:
        RulesError: An unknown key, or amounts that are no whole numbers from 0, one a seat.
    """
    num_players = int(table["num_players"])
    check_keys(start, ("pot", "owed"))
    pot, owed = amount(start, "pot"), amounts(start, "owed", num_players)
    if pot is not None:
        table["pot"] = pot
    if owed is not None:
        table["owed"][:num_players] = owed


# The table as a seat sees it


def describe(table: Any, rules: Rules, seat: int | None, who: list[str], history: bool) -> str:
    """Returns the text of a table as a seat sees it, or with every card; see `Game.describe`."""
    rows = []
    for other, name in enumerate(who):
        hand = tricks.describe_hand(table, other, seat, "discarded", "got", history)
        rows.append((name, hand, ", ".join(deeds_of(table, other))))
    return tricks.describe_table(
        "Kungsholmskille", table, who, rows, history, asked(table, rules, who)
    )


_WORDS = {
    "said1": {Said.YIELDED: "passed", Said.CLAIMED: "knocks"},
    "stayed": {Said.YIELDED: "folded", Said.CLAIMED: "stays"},
    "said2": {Said.YIELDED: "passed", Said.CLAIMED: "knocks"},
    "showed": {Said.YIELDED: "passed", Said.CLAIMED: "shows"},
}


def deeds_of(table: Any, seat: int) -> list[str]:
    """Returns what a seat has said and done in the deal: "passed", "2 new"."""
    said = {field: _WORDS[field].get(Said(table[field][seat])) for field in _WORDS}
    number = int(table["exchanged"][seat])
    exchanged = f"{number} new" if number >= 0 else None
    deeds = (said["said1"], said["stayed"], exchanged, said["said2"], said["showed"])
    return [deed for deed in deeds if deed]


def _cards(rules: Rules) -> str:
    return counted(most_discards(rules), "card", "cards")


def asked(table: Any, rules: Rules, who: list[str]) -> str:
    """Returns what the seat to act has to decide."""
    phase = int(table["phase"])
    if phase in (Phase.BUD1, Phase.BUD2):
        return "says bud or knocks"
    if phase == Phase.FOLD:
        return f"stays or folds: {who[int(table['knocker'])]} has knocked"
    if phase == Phase.EXCHANGE:
        return f"may exchange up to {_cards(rules)}"
    return tricks.plays_to(table) if phase == Phase.PLAY else "says bud or shows the last card"


# What has happened


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Returns what happened between two tables, as a seat may know it; see `Game.narrate`."""
    if after["deals"] != before["deals"]:
        return _describe_deal(before, after, who, seat)
    if before["phase"] == Phase.PLAY:
        lines = tricks.describe_play(before, after, who)
    elif before["phase"] == Phase.EXCHANGE:
        lines = [tricks.describe_exchange(after, who, int(before["seat"]), seat, "changes")]
    else:
        lines = [_describe_word(before, after, who)]
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(before, after, rules, who)
    return lines


def _describe_deal(before: Any, after: Any, who: list[str], seat: int | None) -> list[str]:
    lines = [f"Deal {int(after['deals'])}: {does(who[int(after['dealer'])], 'deals')}."]
    paid = [int(before["owed"][s]) for s in range(len(who))]
    if any(paid):
        line = _amounts(who, paid, "Everybody pays", "pays")
        lines.append(f"{line}; the pot is {chips(int(after['pot']))}.")
    return lines + tricks.describe_dealt(after, who, seat)


def _describe_word(before: Any, after: Any, who: list[str]) -> str:
    actor, phase = int(before["seat"]), int(before["phase"])
    name = who[actor]
    if phase == Phase.FOLD:
        return f"{does(name, 'stays' if after['stayed'][actor] == Said.CLAIMED else 'folds')}."
    field = {Phase.BUD1: "said1", Phase.BUD2: "said2"}.get(Phase(phase), "showed")
    if after[field][actor] == Said.YIELDED:
        deed = "passes" if field != "showed" else "keeps the last card hidden"
        return f"{does(name, deed)} (“{BUD[0]}”)."
    return f"{does(name, 'shows the last card' if field == 'showed' else 'knocks to play')}."


def _describe_end(before: Any, after: Any, rules: Rules, who: list[str]) -> list[str]:
    seats, pot = range(len(who)), chips(int(after["shown_pot"]))
    lines = []
    if after["end"] == End.BUD_ROUND:
        lines.append(f"All passed: the pot of {pot} stays.")
    elif after["end"] == End.SHOWING:
        rows = [(who[s], tricks.names_of(after["hand"][s])) for s in seats if _last_card(after, s)]
        lines += ["The last cards are turned up.", *columns(rows)]
        winner, shower = int(after["winner"]), int(after["shower"])
        if winner == shower:
            lines.append(f"{does(who[winner], 'has')} the lowest card: the pot of {pot}.")
        else:
            pays = inside(does(who[shower], "pays"))
            lines.append(f"{does(who[winner], 'wins')} the pot of {pot}; {pays} as much again.")
    else:
        lines.append(f"{does(who[int(after['winner'])], 'wins')} the pot of {pot} without play.")
    if after["phase"] == Phase.OVER:
        return lines + tricks.describe_last(after, who)
    owed = [int(after["owed"][s]) for s in seats]
    if any(owed):
        line = _amounts(who, owed, "Everybody pays", "pays")
        lines.append(f"{line} next deal.")
    return lines


def _amounts(who: list[str], amounts: list[int], all_alike: str, verb: str) -> str:
    """Says who pays or owes how much; `all_alike` begins the sentence if all amounts are equal."""
    if len(set(amounts)) == 1:
        return f"{all_alike} {chips(amounts[0])}"
    return listed([f"{does(who[s], verb)} {chips(n)}" for s, n in enumerate(amounts) if n])


# What there is to see

_ROUNDS: dict[int, str] = {Phase.BUD1: "said1", Phase.BUD2: "said2", Phase.SHOW: "showed"}


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Returns what a seat may see of a table, or everything; see `Game.view`."""
    words = [[*deeds_of(table, other), *_pays(table, other)] for other in range(len(who))]
    last = {}
    if table["end"] == End.SHOWING:
        last = {s: "" for s in range(len(who)) if table["hand"][s] & table["face_up"]}
    question = to_decide(table, who, asked(table, rules, who))
    return view_of("Kungsholmskille", table, seat, words, question, last)


def _pays(table: Any, seat: int) -> list[str]:
    """What a seat pays when the next deal is dealt, if there is one."""
    owed = 0 if table["phase"] == Phase.OVER else int(table["owed"][seat])
    return [f"pays {owed}"] if owed else []


def change(before: Any, after: Any, rules: Rules, seat: int | None) -> Change:
    """Returns what moved and was called between two tables; see `Game.change`."""
    return Change(moves_of(before, after, seat), _calls(before, after))


def _calls(before: Any, after: Any) -> tuple[Call, ...]:
    field, actor = _ROUNDS.get(int(before["phase"])), int(before["seat"])
    if field is None:
        return ()
    if after[field][actor] == Said.YIELDED:
        return (Call(actor, *BUD),)
    return () if field == "showed" else (Call(actor, KNOCK, "I ask for play"),)


# What a person at the table is asked, and told at the end


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


# The rules in plain English

SHARING = "equally in whole chips (a remainder stays on the table)"


def describe_rules(rules: Rules, num_players: int) -> str:
    """Returns the rules of a table as text; see `Game.describe_rules`."""
    return manual(
        f"Kungsholmskille is a Swedish card game. {seats_at(num_players)} After "
        f"{counted(num_tricks(rules), 'trick', 'tricks')} everybody has one card left; the "
        "lowest of these wins the pot, if somebody shows.",
        section("Cards", [*describe_pack(rules.number("pack")), "No card has a power of its own."]),
        section("A deal", _deal(rules, num_players)),
        section("Tricks", _tricks(rules)),
        section("Showing", _showing(rules)),
        section("Money", [*_money(num_players), *describe_end(rules, SHARING), RESULT]),
        section("Owed for the next deal", _owed(num_players)) if not is_single(rules) else "",
        section("What you see", _seen()),
        explain_actions(MEANINGS),
    )


def _deal(rules: Rules, num_players: int) -> list[str]:
    fold = "Forehand may fold like the others."
    if not rules["forehand_may_fold"]:
        fold = "Forehand must stay."
    return [
        f"Everybody gets {rules.number('hand')} cards. Forehand is the player to the dealer's "
        "left.",
        "From forehand on, clockwise, everybody says bud (would rather have a new deal) or knocks "
        "(asks for play). If all say bud, it is a bud round: the deal is over.",
        "As soon as one knocks, the others, from the knocker's left on, stay in or fold, also "
        f"those who have said bud. {fold} If forehand has folded, the nearest player to the left "
        "who is in becomes forehand. If all fold, the knocker takes the pot without play.",
        f"From forehand on everybody who is in discards up to {_cards(rules)} and gets as "
        "many new ones.",
        "Then everybody who is in says bud or knocks again, from forehand on. If all say bud, it "
        "is a bud round. At the first knock the tricks begin; nobody can fold any more.",
    ]


def _tricks(rules: Rules) -> list[str]:
    return [
        f"{counted(num_tricks(rules), 'trick is', 'tricks are')} played. Forehand leads to the "
        "first, with any card.",
        describe_heading(rules["forced_beat"] == "any", "your lowest card"),
        WINS_TRICK,
        "Tricks are worth nothing by themselves. They decide which card you keep as your last.",
    ]


def _showing(rules: Rules) -> list[str]:
    return [
        f"From the winner of trick {num_tricks(rules)} on, clockwise, each says bud or "
        "shows the last card. If all say bud, it is a bud round, and the cards stay "
        "hidden. As soon as one shows, all who are in turn up theirs.",
        "If the card of the one who has shown is lower than all others, that player wins the pot.",
        "If another card is equal or lower, its holder wins the pot, and the one who has shown "
        "pays them as much again as the pot holds. The lowest card wins; of two others who share "
        f"it, the one who sits later, counted from the winner of trick {num_tricks(rules)}.",
    ]


def _money(num_players: int) -> list[str]:
    pot = ANTE * num_players
    return [
        f"Before the first deal everybody pays {chips(ANTE)} into the pot: {chips(pot)} in all. "
        f"Whoever shows wrongly for this pot pays {pot} to the winner, who gets {2 * pot}.",
        "Whoever folds, or loses without having shown, pays nothing more in this deal.",
        "After a bud round the pot stays.",
    ]


def _owed(num_players: int) -> list[str]:
    three = "" if num_players == 2 else _three_in_the_showing()
    two = "After a showing of two players, the loser pays 3 and everybody else 1, the winner too."
    return [
        "What you owe is paid into the pot when the next deal begins, and lapses at the end of the "
        "match.",
        "After a bud round before the exchange, or when nobody has folded: 1 chip each. After a "
        "later one for which somebody has folded: 1 from each who has folded, nothing from others.",
        "After a pot that was won without play: 1 each, from the winner too.",
        three,
        two,
    ]


def _three_in_the_showing() -> str:
    return (
        "After a showing of three or more players: 2 from each of them but the winner, nothing "
        "from the winner and those who folded."
    )


def _seen() -> list[str]:
    return [
        "Everybody hears bud and knocks, and sees who folds, how many cards each player exchanges "
        "and every card that is played. Hands and discards stay hidden.",
        "Whoever did not head a trick has no card that would have done so, and none below the "
        "card that they played.",
    ]
