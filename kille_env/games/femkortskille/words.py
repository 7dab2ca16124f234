"""Femkortskille in words and pictures: results, tables as seats see them, events, the rules."""

from typing import Any

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.seats import seat_or_none
from kille_env.cards.sets import members
from kille_env.cards.words import KNOCK, describe_pack
from kille_env.core.spec import Rules
from kille_env.games.femkortskille.rules import ACTIONS, End, Phase, Said
from kille_env.tricktaking import words as tricks
from kille_env.tricktaking.words import (
    RESULT,
    WINS_TRICK,
    ask_for_card,
    describe_end,
    describe_heading,
    moves_of,
    say_action,
    to_decide,
    view_of,
)
from kille_env.words.manual import explain_actions, is_single, manual, seats_at, section
from kille_env.words.text import chips, columns, counted, does, inside, listed, owner
from kille_env.words.view import Call, Change, View

MEANINGS = {
    "knock": "play for the pot, with more cards; who then loses pays as much as it holds",
    "check": "wait: when somebody has knocked you are asked once more",
    "fold": "throw the cards in",
    "play": "play this card to the trick",
}
NOTES = (
    "Whoever wins the last trick wins the pot; the tricks before it are worth nothing.",
    "A player who cannot head a trick plays any card, unless other rules were chosen.",
    *tricks.CARD_NOTES,
)
RESULT_KEYS = ("kind", "winner", "tricks", "pot", "chips", "next_dealer")
_DEEDS = {Said.FOLDED: "folds", Said.KNOCKED: "knocks to play", Said.CHECKED: "waits"}

_PLATE = {**_DEEDS, Said.FOLDED: "folded", Said.KNOCKED: "knocks"}


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
    rows = []
    for other, name in enumerate(who):
        hand = tricks.describe_hand(table, other, seat, "dealt", "then")
        rows.append((name, hand, ", ".join(deeds_of(table, other))))
    return tricks.describe_table("Femkortskille", table, who, rows, history, asked(table))


def deeds_of(table: Any, seat: int) -> list[str]:
    """Returns what a seat has said in the deal: "waits", "knocks"."""
    words = (Said(table[field][seat]) for field in ("said1", "said2"))
    return [_PLATE[word] for word in words if word != Said.NOTHING]


def asked(table: Any) -> str:
    """Returns what the seat to act has to decide."""
    if table["phase"] == Phase.PLAY:
        return tricks.plays_to(table)
    return f"knocks{' or' if table['knockers'] else ', checks or'} folds"


# What has happened


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Returns what happened between two tables, as a seat may know it; see `Game.narrate`."""
    if after["deals"] != before["deals"]:
        return _describe_deal(after, rules, who, seat)
    if before["phase"] == Phase.PLAY:
        lines = tricks.describe_play(before, after, who)
    else:
        lines = [_describe_word(before, after, who)]
        if after["phase"] == Phase.PLAY:
            lines += _describe_drawing(after, rules, who, seat)
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(after, who)
    return lines


def _describe_deal(after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    return [
        f"Deal {int(after['deals'])}: {does(who[int(after['dealer'])], 'deals')}.",
        f"Everybody pays {chips(rules.number('ante'))}; the pot is {chips(int(after['pot']))}.",
        *tricks.describe_dealt(after, who, seat),
    ]


def _describe_word(before: Any, after: Any, who: list[str]) -> str:
    actor = int(before["seat"])
    word = int(after["said1" if before["said1"][actor] == Said.NOTHING else "said2"][actor])
    return f"{does(who[actor], _DEEDS[Said(word)])}."


def _describe_drawing(after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    got = [(who[s], tricks.names_of(after["drawn_cards"][s])) for s in range(len(who))]
    knockers = [s for s in range(len(who)) if after["drawn_cards"][s]]
    number = "one card" if rules["draws"] == 1 else "two cards"
    lines = [f"{listed([who[s] for s in knockers])} draw {number} each."]
    if seat is None:
        return lines + columns([got[s] for s in knockers])
    return [*lines, f"{does(who[seat], 'gets')} {got[seat][1]}."] if seat in knockers else lines


def _describe_end(after: Any, who: list[str]) -> list[str]:
    pot, winner = chips(int(after["shown_pot"])), int(after["winner"])
    if after["end"] == End.ALL_CHECKED:
        lines = [f"Nobody knocked: the pot of {pot} stays."]
    elif after["end"] == End.PLAYED:
        losers = [inside(who[s]) for s in members(after["knockers"]) if s != winner]
        pay = f"{listed(losers)} pay as much again each"
        if len(losers) == 1:
            pay = f"{inside(does(who[_other(after, winner)], 'pays'))} as much again"
        lines = [f"{does(who[winner], 'wins')} the pot of {pot}; {pay}."]
    else:
        lines = [f"{does(who[winner], 'wins')} the pot of {pot} without play."]
    return lines + (tricks.describe_last(after, who) if after["phase"] == Phase.OVER else [])


def _other(table: Any, winner: int) -> int:
    """Returns the first of those who played for the pot and have lost."""
    return next(seat for seat in members(table["knockers"]) if seat != winner)


# What there is to see


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Returns what a seat may see of a table, or everything; see `Game.view`."""
    words = [deeds_of(table, other) for other in range(len(who))]
    return view_of("Femkortskille", table, seat, words, to_decide(table, who, asked(table)))


def change(before: Any, after: Any, rules: Rules, seat: int | None) -> Change:
    """Returns what moved and was called between two tables; see `Game.change`."""
    knocked = before["phase"] == Phase.SPEAK and after["knockers"] != before["knockers"]
    calls = (Call(int(before["seat"]), KNOCK, "I play for the pot"),) if knocked else ()
    return Change(moves_of(before, after, seat), calls)


# What a person at the table is asked, and told at the end


def question(table: Any, rules: Rules, who: list[str]) -> str:
    """Returns what the seat to act is asked; see `Game.question`."""
    if table["phase"] == Phase.PLAY:
        otherwise = "any card" if rules["follow"] == "any" else "your lowest card"
        return ask_for_card(table, who, otherwise)
    if table["knockers"]:
        names = listed([who[seat] for seat in members(table["knockers"])])
        return f"{names} knocked. Knock too, or fold?"
    return "Knock, wait or fold?"


def choice(table: Any, rules: Rules, action: int, who: list[str]) -> str:
    """Returns what a button says; see `Game.choice`."""
    word, pot = ACTIONS[action], int(table["pot"])
    if word == "knock":
        return f"Knock: play for {pot}, losing costs {pot}"
    ends = table["seat"] == table["dealer"]  # nobody has knocked, and nobody is asked any more
    wait = "Wait: nobody knocks, the pot stays" if ends else "Wait"
    return {"check": wait, "fold": "Fold"}.get(word) or say_action(table, word)


def verdict(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> str:
    """Returns how a deal ended; see `Game.verdict`."""
    if after["phase"] > Phase.OVER or after["deals"] != before["deals"]:
        return ""
    pot, winner = int(after["shown_pot"]), int(after["winner"])
    if after["end"] == End.ALL_CHECKED:
        return f"Nobody knocked: the pot of {chips(pot)} stays."
    takes = does(who[winner], "takes")
    if after["end"] != End.PLAYED:
        return f"{takes} the pot of {chips(pot)}: nobody else knocked."
    losers = [s for s in members(after["knockers"]) if s != winner]
    last = int(after["trick"]) - 1
    cards = {s: KILLE_PACK.word(after["played"][last, s]) for s in (winner, *losers)}
    best = f"{owner(who[winner])} {cards[winner]}"
    pay = f"{listed([inside(who[s]) for s in losers])} pay {pot} each"
    if len(losers) == 1:
        pay = f"{inside(does(who[losers[0]], 'pays'))} {pot}"
    how = f"beat your {cards[seat]} in" if seat in losers else "won"
    return f"{best} {how} the last trick. {takes} the pot of {pot}; {pay}."


# The rules in plain English


def describe_rules(rules: Rules, num_players: int) -> str:
    """Returns the rules of a table as text; see `Game.describe_rules`."""
    ante = rules.number("ante")
    return manual(
        f"Femkortskille is a Swedish card game. {seats_at(num_players)} Decide with "
        f"{_dealt(rules)} whether you play for the pot; if you do, only the last of "
        f"{_tricks_in_all(rules)} tricks counts.",
        section("Cards", [*describe_pack(rules.number("pack")), "No card has a power of its own."]),
        section("A deal", _deal(rules, num_players)),
        section("Tricks", _tricks(rules)),
        section("Money", [*_money(ante, num_players), *describe_end(rules, "equally"), RESULT]),
        section("What you see", _seen()),
        explain_actions(MEANINGS),
    )


def _dealt(rules: Rules) -> str:
    return counted(rules.number("hand"), "card", "cards")


def _tricks_in_all(rules: Rules) -> int:
    return rules.number("hand") + rules.number("draws")


def _deal(rules: Rules, num_players: int) -> list[str]:
    ante = rules.number("ante")
    return [
        f"Before {'the' if is_single(rules) else 'every'} deal everybody pays {chips(ante)} into "
        "the pot.",
        f"Everybody gets {_dealt(rules)}. Forehand, the player to the dealer's left, speaks first, "
        "then the others clockwise: each knocks (plays for the pot), folds (drops out of this "
        "deal) or, while nobody has knocked, checks (waits).",
        "When all have spoken and somebody has knocked, those who checked are asked once more, in "
        "the same order, and knock or fold.",
        "If nobody has knocked, the deal is over" + ("." if is_single(rules) else _carried()),
        "If one has knocked and all others have folded, that player takes the pot without play.",
        f"If several have knocked, each of them gets "
        f"{counted(rules.number('draws'), 'more card', 'more cards')}, and they play "
        f"{_tricks_in_all(rules)} tricks.",
    ]


def _carried() -> str:
    return ": the pot stays, the next player deals, and everybody pays into it again."


def _tricks(rules: Rules) -> list[str]:
    otherwise = "any card" if rules["follow"] == "any" else "your lowest card"
    return [
        "The first of the knockers on the dealer's left leads to the first trick, with any card.",
        describe_heading(True, otherwise),
        WINS_TRICK,
        f"The winner of trick {_tricks_in_all(rules)} wins the pot. The tricks before it are worth "
        "nothing, but their winner leads to the next.",
    ]


def _money(ante: int, num_players: int) -> list[str]:
    pot = ante * num_players
    return [
        f"The winner of the last trick takes the pot, and every other knocker pays the winner as "
        f"much again as the pot held. With a pot of {chips(pot)}, the antes of one deal, each "
        f"knocker who loses pays {pot} besides the ante, and the winner gets {pot} from the pot "
        f"and {pot} from each of them.",
        f"Whoever has folded loses the ante of {chips(ante)}, no more.",
    ]


def _seen() -> list[str]:
    return [
        "Everybody hears the words and sees the cards that are played. Hands, also folded ones, "
        "stay hidden.",
        "Whoever did not head a trick has only cards below its highest one.",
    ]
