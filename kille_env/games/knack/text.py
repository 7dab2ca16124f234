"""Knack as text: the result of a deal, starts, a table as a seat sees it, and what has happened.

Texts for people are in English, with the bet of the Swedish rules. Everything that is shown to a
seat follows the same rule as its observation: a card is named if it was played open or turned up,
or if it is the seat's own.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.core.starts import check_keys
from kille_env.core.text import columns, counted, listed, signed, units
from kille_env.errors import RulesError
from kille_env.games.knack.table import KNACK_PACK, START_SIZES, SUIT_NAMES, SUITS, TRICKS, Phase

MEANINGS = {
    "knock": "join: the dealer pays you for each trick, but without one you pay a bet",
    "fold": "throw the cards in",
    "play": "play this card; with a * it is led face down",
}
NOTES = (
    "The smallest of the bets on the table is shared among the tricks of a deal as well.",
    "Suit must be followed. The highest trump wins the trick, else the highest card of the suit "
    "led; a card led face down counts as a trump below the six.",
    "Codes are a rank (6 to 9, T for ten, J, Q, K, A the highest) and a suit (C, D, H, S).",
)
RESULT_KEYS = ("trump", "turn_up", "joined", "tricks", "chips", "bets", "next_dealer")
"""The keys of `result`, in the order in which a record writes them."""

MOST_AT_START = 10**12
_ORDINALS = ("first", "second", "third")


# The result of a deal


def result(table: Any, rules: Rules) -> dict[str, Any]:
    """Returns the record notation's result of the deal that has just ended."""
    return {
        "trump": SUITS[int(table["trump"])],
        "turn_up": KNACK_PACK.code(table["turn_up"]),
        "joined": members(table["joined"]),
        "tricks": table["winners"].tolist(),
        "chips": _chips(table, rules),
        "bets": bets_of(table, rules),
        "next_dealer": int(table["next_dealer"]),
    }


def _chips(table: Any, rules: Rules) -> list[int]:
    """What each seat won or lost by the deal, a final sharing apart."""
    unit = rules.number("unit")
    worth = unit * (1 + int(table["played_for"]))
    chips = [int(won) * worth for won in table["tricks"][: int(table["num_players"])]]
    for seat in _failed(table):
        chips[seat] -= TRICKS * worth
    chips[int(table["dealer"])] -= TRICKS * unit
    return chips


def _failed(table: Any) -> list[int]:
    """Who joined and has no trick, once the deal has ended."""
    return [seat for seat in members(table["joined"]) if table["tricks"][seat] == 0]


def bets_of(table: Any, rules: Rules) -> list[int]:
    """Returns the bets on the table in units, the smallest first."""
    stake = TRICKS * rules.number("unit")
    piles = range(int(table["num_sizes"]))
    sizes, counts = table["bet_sizes"].tolist(), table["bet_counts"].tolist()
    return [stake * sizes[pile] for pile in piles for _ in range(counts[pile])]


# What a record says about a match besides cards and actions


def set_up(table: Any, rules: Rules, start: Mapping[str, Any]) -> None:
    """Puts a party that has just begun where `start` says; what is not named stays.

    Args:
        table: The table.
        rules: Its rules.
        start: "bets", what lies on the table; "remainder_to", the seat that will draw what cannot
            be divided at the end.

    Raises:
        RulesError: It cannot start like that; nothing has changed.
    """
    check_keys(start, ("bets", "remainder_to"))
    piles = _checkbets_of(start["bets"], rules) if "bets" in start else {}
    if "remainder_to" in start:
        _check_remainder_to(start["remainder_to"], int(table["num_players"]), rules)
        table["remainder_to"] = start["remainder_to"]
    if "bets" in start:
        table["bet_sizes"][:], table["bet_counts"][:] = 0, 0
        table["num_sizes"] = len(piles)
        for place, size in enumerate(sorted(piles)):
            table["bet_sizes"][place], table["bet_counts"][place] = size, piles[size]


def _checkbets_of(bets: Any, rules: Rules) -> dict[int, int]:
    """Returns how many bets there are of each size in stakes of three units."""
    stake = TRICKS * rules.number("unit")
    expected = f"expected a list of multiples of {stake}, as a bet is"
    if not isinstance(bets, (list, tuple)):
        raise RulesError(f"'bets' is {bets!r}; {expected}")
    for bet in bets:
        if type(bet) is not int or bet <= 0 or bet % stake:
            raise RulesError(f"'bets' holds {bet!r}; {expected}")
    piles = Counter(bet // stake for bet in bets)
    if len(piles) > START_SIZES:
        raise RulesError(
            f"'bets' holds {len(piles)} different amounts; expected at most {START_SIZES}"
        )
    if sum(bets) > MOST_AT_START:
        raise RulesError(f"'bets' add up to {sum(bets)}; expected at most {MOST_AT_START}")
    return piles


def _check_remainder_to(seat: Any, num_players: int, rules: Rules) -> None:
    if rules["remainder"] != "draw":
        raise RulesError(
            f"'remainder_to' is {seat!r}, but nobody draws with remainder={rules['remainder']!r}; "
            "expected no such key"
        )
    if type(seat) is not int or not 0 <= seat < num_players:
        raise RulesError(f"'remainder_to' is {seat!r}; expected a seat from 0 to {num_players - 1}")


def chance(table: Any, rules: Rules) -> dict[str, Any]:
    """Returns who drew what could not be divided at the end of the party, if anybody did."""
    if table["phase"] == Phase.OVER and table["remainder"] > 0:
        return {"remainder_to": int(table["remainder_to"])}
    return {}


# The table as a seat sees it


def describe(table: Any, rules: Rules, seat: int | None, who: list[str], history: bool) -> str:
    """Returns the text of a table as a seat sees it, or with every card; see `Game.describe`."""
    head = f"{heading(table, rules)}, dealer {who[int(table['dealer'])]}"
    head += f", {_trumps(table)}" if table["turn_up"] >= 0 else ""
    lines = [head, _bets_in_words(table, rules)]
    if table["deals"] > 0:
        if history:
            lines += _describe_tricks(table, who, seat)
        lines += columns([_row(table, who, other, seat) for other in range(len(who))])
    return "\n".join([*lines, to_decide(table, who)])


def heading(table: Any, rules: Rules) -> str:
    """Returns the game and the deal: "Knack, deal 2 of 4"."""
    party = rules["deals"] or int(table["num_players"])
    deals = 1 if rules["episode"] == "deal" else party
    return f"Knack, deal {int(table['deals'])} of {deals}"


def _trumps(table: Any) -> str:
    card, suit = KNACK_PACK.name(table["turn_up"]), SUIT_NAMES[int(table["trump"])]
    return f"the {card} is turned up, {suit} are trumps"


def _bets_in_words(table: Any, rules: Rules) -> str:
    if table["shared"]:
        return f"The bets of {units(int(table['shared']))} have been shared."
    bets = bets_of(table, rules)
    if not bets:
        return "No bets on the table."
    return f"Bets on the table: {', '.join(map(str, bets))}; the running bet is {bets[0]}."


def _row(table: Any, who: list[str], seat: int, viewer: int | None) -> tuple[str, str, str]:
    """One seat: its name, its cards, what it did."""
    folded = seat in members(table["folded"])
    hidden = "" if folded else "?" * len(members(table["hand"][seat]))
    text = _names(table["hand"][seat]) if viewer in (None, seat) else hidden
    notes = deeds_of(table, seat)
    if won := int(table["tricks"][seat]):
        notes.append(counted(won, "trick", "tricks"))
    return (who[seat], text, ", ".join(notes))


def deeds_of(table: Any, seat: int) -> list[str]:
    """Returns what a seat has said in the deal."""
    fields = {"joined": "has joined", "folded": "has folded"}
    return [words for field, words in fields.items() if seat in members(table[field])]


def _names(cards: Any) -> str:
    return ", ".join(map(KNACK_PACK.name, members(cards)))


def _describe_tricks(table: Any, who: list[str], viewer: int | None) -> list[str]:
    """The tricks so far, a line each, in the order of play."""
    lines = []
    for trick, leader in enumerate(table["leaders"].tolist()):
        plays = [
            f"{who[seat]} {_card_played(table, trick, seat, viewer)}"
            for seat in _order(table, leader)
            if leader >= 0 and table["played"][trick, seat] >= 0
        ]
        if plays:
            winner = int(table["winners"][trick])
            won = f" -- {who[winner]} takes it" if winner >= 0 else ""
            lines.append(f"The {_ORDINALS[trick]} trick: {', '.join(plays)}{won}.")
    return lines


def _order(table: Any, first: int) -> list[int]:
    """The seats clockwise from one."""
    number = int(table["num_players"])
    return [(first + step) % number for step in range(number)]


def _card_played(table: Any, trick: int, seat: int, viewer: int | None) -> str:
    """A card that lies on the table; its leader alone knows the one that lies face down."""
    card = int(table["played"][trick, seat])
    if card != table["face_down"]:
        return f"the {KNACK_PACK.name(card)}"
    known = viewer in (None, seat)
    return f"a card face down (the {KNACK_PACK.name(card)})" if known else "a card face down"


def to_decide(table: Any, who: list[str]) -> str:
    """Returns who has to decide what."""
    phase, seat = int(table["phase"]), int(table["seat"])
    if phase == Phase.OVER:
        return "The party is over."
    if phase == Phase.DEAL:
        return "Cards are to be dealt."
    if phase == Phase.JOIN:
        return f"{who[seat]} knocks or folds."
    return f"{who[seat]} {_verb(table)} to the {_ORDINALS[int(table['trick'])]} trick."


def _verb(table: Any) -> str:
    return "leads" if table["trick_size"] == 0 else "plays"


# What has happened


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Returns what happened between two tables, as a seat may know it; see `Game.narrate`."""
    if after["deals"] != before["deals"]:
        return _describe_deal(after, rules, who, seat)
    actor = int(before["seat"])
    if before["phase"] == Phase.JOIN:
        knocked = actor in members(after["joined"])
        lines = [f"{who[actor]} {'knocks' if knocked else 'folds'}."]
    else:
        verb, trick = _verb(before), int(before["trick"])
        lines = [f"{who[actor]} {verb} {_card_played(after, trick, actor, seat)}."]
        if after["winners"][trick] >= 0:
            winner = who[int(after["winners"][trick])]
            lines.append(f"{winner} takes the {_ORDINALS[trick]} trick.")
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(after, rules, who)
    return lines


def _describe_deal(table: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    dealer = who[int(table["dealer"])]
    lines = [f"Deal {int(table['deals'])}: {dealer} deals; {_trumps(table)}."]
    if bets := bets_of(table, rules):
        lines.append(f"The running bet is {units(bets[0])}.")
    if seat is not None:
        return [*lines, f"{who[seat]} gets {_names(table['hand'][seat])}."]
    order = _order(table, (int(table["dealer"]) + 1) % len(who))
    return lines + columns([(who[other], _names(table["hand"][other])) for other in order])


def _describe_end(table: Any, rules: Rules, who: list[str]) -> list[str]:
    winner, dealer = who[int(table["winners"][0])], who[int(table["dealer"])]
    lines = []
    if table["leaders"][0] < 0:
        lines.append(f"{winner} wins without play, as if with three tricks.")
    unit, size = rules.number("unit"), int(table["played_for"])
    from_bet = f" and {units(size * unit)} of the running bet" if size else ""
    lines.append(f"A trick is worth {units(unit)} from {dealer}{from_bet}.")
    if failed := _failed(table):
        each = " each" if len(failed) > 1 else ""
        verb = "has" if len(failed) == 1 else "have"
        bet = units(TRICKS * unit * (1 + size))
        lines.append(f"{listed([who[s] for s in failed])} {verb} no trick: a bet of {bet}{each}.")
    chips = _chips(table, rules)
    lines += columns([(who[s], signed(chips[s])) for s in range(len(who))])
    if table["phase"] == Phase.OVER:
        return lines + _describe_sharing(table, rules, who)
    if bets := bets_of(table, rules):
        lines.append(f"Bets on the table: {', '.join(map(str, bets))}.")
    return lines


def _describe_sharing(table: Any, rules: Rules, who: list[str]) -> list[str]:
    total = int(table["shared"])
    if not total:
        return ["The party is over; there are no bets to share."]
    share = units(total // len(who))
    line = f"The party is over; the bets of {units(total)} are shared, {share} each."
    if table["remainder"]:
        line += f" {who[int(table['remainder_to'])]} draws the {int(table['remainder'])} left over."
    elif table["left_on_table"]:
        line += f" What is left over stays on the table: {int(table['left_on_table'])}."
    return [line]
