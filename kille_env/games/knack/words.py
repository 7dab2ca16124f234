"""Knack in words and pictures: results, a table as a seat sees it, what happened, the rules.

Texts for people are in English, with the bet of the Swedish rules. Everything that is shown to a
seat follows the same rule as its observation: a card is named if it was played open or turned up,
or if it is the seat's own.

A complete trick lies until somebody leads to the next; then its cards go to "won S". A card that
was led face down is known to its leader alone. A hand that was thrown in stays where it is, faded.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from kille_env.cards.sets import members
from kille_env.cards.words import (
    KNOCK,
    TALON,
    TURNED_UP,
    Zones,
    clockwise,
    hidden_hands,
    moves_between,
    spread,
    trick_zones,
)
from kille_env.core.arguments import check_keys
from kille_env.core.spec import Rules, member_names
from kille_env.errors import RulesError
from kille_env.games.knack.rules import (
    CARDS,
    KNACK_PACK,
    RANKS,
    START_SIZES,
    SUIT_NAMES,
    SUITS,
    TRICKS,
    Action,
    Phase,
    Rank,
)
from kille_env.words.manual import explain_actions, is_single, manual, seats_at, section
from kille_env.words.text import chips, columns, counted, does, inside, listed, signed
from kille_env.words.view import Call, Card, Change, Laid, Pile, Seat, View

MEANINGS = {
    "knock": "join: the dealer pays you for each trick, but without one you pay a bet",
    "fold": "throw the cards in",
    "play": "play this card, or lead it face down (with a *)",
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


def chances(rules: Rules, num_players: int) -> list[dict[str, Any]]:
    """Returns the seats that may draw what cannot be divided at the end of the party."""
    if rules["remainder"] != "draw":
        return [{}]
    return [{"remainder_to": seat} for seat in range(num_players)]


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
        return f"The bets of {chips(int(table['shared']))} have been shared."
    bets = bets_of(table, rules)
    if not bets:
        return "No bets on the table."
    return f"Bets on the table: {', '.join(map(str, bets))}; the running bet is {bets[0]}."


def _row(table: Any, who: list[str], seat: int, viewer: int | None) -> tuple[str, str, str]:
    """One seat: its name, its cards, what it did."""
    folded = seat in members(table["folded"])
    hidden = "" if folded else "?" * len(members(table["hand"][seat]))
    text = _names(table["hand"][seat]) if viewer in (None, seat) else hidden
    return (who[seat], text, ", ".join([*deeds_of(table, seat), *_taken(table, seat)]))


def deeds_of(table: Any, seat: int) -> list[str]:
    """Returns what a seat has said in the deal."""
    fields = {"joined": "knocks", "folded": "folded"}
    return [words for field, words in fields.items() if seat in members(table[field])]


def _taken(table: Any, seat: int) -> list[str]:
    won = int(table["tricks"][seat])
    return [counted(won, "trick", "tricks")] if won else []


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
        return "The match is over."
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
        lines = [f"{does(who[actor], 'knocks to play' if knocked else 'folds')}."]
    else:
        verb, trick = _verb(before), int(before["trick"])
        lines = [f"{does(who[actor], verb)} {_card_played(after, trick, actor, seat)}."]
        if after["winners"][trick] >= 0:
            winner = who[int(after["winners"][trick])]
            lines.append(f"{does(winner, 'takes')} the {_ORDINALS[trick]} trick.")
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(after, rules, who)
    return lines


def _describe_deal(table: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    dealer = does(who[int(table["dealer"])], "deals")
    lines = [f"Deal {int(table['deals'])}: {dealer}; {_trumps(table)}."]
    if bets := bets_of(table, rules):
        lines.append(f"{chips(bets[0])} extra at stake: the running bet.")
    if seat is not None:
        return [*lines, f"{does(who[seat], 'gets')} {_names(table['hand'][seat])}."]
    order = _order(table, (int(table["dealer"]) + 1) % len(who))
    return lines + columns([(who[other], _names(table["hand"][other])) for other in order])


def _describe_end(table: Any, rules: Rules, who: list[str]) -> list[str]:
    winner, dealer = who[int(table["winners"][0])], inside(who[int(table["dealer"])])
    lines = []
    if table["leaders"][0] < 0:
        lines.append(f"{does(winner, 'wins')} without play, as if with three tricks.")
    unit, size = rules.number("unit"), int(table["played_for"])
    from_bet = f" and {chips(size * unit)} of the running bet" if size else ""
    lines.append(f"A trick is worth {chips(unit)} from {dealer}{from_bet}.")
    if failed := _failed(table):
        bet = chips(TRICKS * unit * (1 + size))
        if len(failed) == 1:
            lines.append(f"{does(who[failed[0]], 'has')} no trick: {bet} onto the table.")
        else:
            lines.append(f"{listed([who[s] for s in failed])} have no trick: {bet} each.")
    won = _chips(table, rules)
    lines += columns([(who[s], signed(won[s])) for s in range(len(who))])
    if table["phase"] == Phase.OVER:
        return lines + _describe_sharing(table, rules, who)
    if bets := bets_of(table, rules):
        lines.append(f"Bets on the table: {', '.join(map(str, bets))}.")
    return lines


def _describe_sharing(table: Any, rules: Rules, who: list[str]) -> list[str]:
    total = int(table["shared"])
    if not total:
        return ["The match is over; there are no bets to share."]
    share = chips(total // len(who))
    line = f"The match is over; the bets of {chips(total)} are shared, {share} each."
    if table["remainder"]:
        lucky = does(who[int(table["remainder_to"])], "draws")
        line += f" {lucky} the {int(table['remainder'])} left over."
    elif table["left_on_table"]:
        line += f" What is left over stays on the table: {int(table['left_on_table'])}."
    return [line]


# What there is to see


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Returns what a seat may see of a table, or everything; see `Game.view`."""
    zones, bets = _zones(table), [] if table["shared"] else bets_of(table, rules)
    piles = [Pile(TALON, KNACK_PACK.size - int(table["drawn"]))]
    if table["turn_up"] >= 0:
        piles.append(Pile(TURNED_UP, 1, int(table["turn_up"])))
    trumps = [f"trumps {'♣♦♥♠'[int(table['trump'])]}"] if table["turn_up"] >= 0 else []
    return View(
        title=", ".join([heading(table, rules), *trumps]),
        viewer=seat,
        dealer=int(table["dealer"]),
        turn=int(table["seat"]),
        seats=tuple(_seat(table, zones, other, seat) for other in range(len(who))),
        piles=tuple(piles),
        pot=float(sum(bets)),
        question=to_decide(table, who),
        strip=_strip(table, zones, seat),
    )


def _strip(table: Any, zones: Zones, viewer: int | None) -> tuple[Laid, ...]:
    """Returns the trick that lies, in the order of play, its best card marked."""
    cards = {int(zone[6:]): cards[0] for zone, cards in zones.items() if zone[:6] == "trick "}
    hidden, trick = int(table["face_down"]), int(table["trick"])
    won = int(table["winners"][trick - 1]) if trick == TRICKS or table["trick_size"] == 0 else -1
    best = won if won >= 0 else int(table["holder"])
    return tuple(
        Laid(seat, f"trick {seat}", card if viewer in (None, seat) or card != hidden else None,
             best=seat == best)
        for seat, card in cards.items()
    )  # fmt: skip


def _seat(table: Any, zones: Zones, seat: int, viewer: int | None) -> Seat:
    folded, known = seat in members(table["folded"]), viewer in (None, seat)
    in_trick = (
        Card(f"trick {seat}", card if known or card != table["face_down"] else None)
        for card in zones.get(f"trick {seat}", ())
    )
    return Seat(
        hand=spread(
            KNACK_PACK, f"hand {seat}", zones.get(f"hand {seat}", ()), known=known, faded=folded
        ),
        played=tuple(in_trick),
        words=(*deeds_of(table, seat), *_taken(table, seat)),
        tricks=int(table["tricks"][seat]) if table["num_joined"] else None,
        units=float(table["reward"][seat]),
        present=not folded,
    )


def change(before: Any, after: Any, rules: Rules, seat: int | None) -> Change:
    """Returns what moved and was called between two tables; see `Game.change`."""
    if after["deals"] != before["deals"]:
        return Change(moves_between({}, _zones(after)))
    hidden = hidden_hands(clockwise(after), seat)
    joined = set(members(after["joined"])) - set(members(before["joined"]))
    calls = tuple(Call(other, KNOCK, "I am in") for other in joined)
    return Change(moves_between(_zones(before), _zones(after), hidden), calls)


def _zones(table: Any) -> Zones:
    seats, trick = clockwise(table), int(table["trick"])
    lying = trick if trick < TRICKS and table["trick_size"] > 0 else trick - 1
    turned_up = [int(table["turn_up"])] if table["turn_up"] >= 0 else []
    hands = {f"hand {seat}": members(table["hand"][seat]) for seat in seats}
    tricks = trick_zones(table["played"], table["leaders"], table["winners"], lying, len(seats))
    return {**tricks, **hands, TURNED_UP: turned_up}


# What a person at the table is asked, and told at the end


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


# The rules in plain English

RANK_NAMES = member_names(Rank)


def describe_rules(rules: Rules, num_players: int) -> str:
    """Returns the rules of a table as text; see `Game.describe_rules`."""
    return manual(
        f"Knack is a Swedish card game. {seats_at(num_players)} With {TRICKS} cards you decide "
        f"whether you join; the dealer pays for each of the {TRICKS} tricks, but whoever joins and "
        "takes none pays a bet.",
        section("Cards", _cards(rules)),
        section("A deal", _deal()),
        section("Tricks", _tricks(rules)),
        section("Leading", _leads(num_players)),
        section("Money", _money(rules)),
        section("The end", _end(rules, num_players)),
        section("What you see", _seen(num_players)),
        explain_actions(_actions(num_players)),
    )


def _cards(rules: Rules) -> list[str]:
    cards = [card for card in range(CARDS) if not rules.number("pack") >> card & 1]
    ranks = [
        f"{KNACK_PACK.codes[rank][0]} {RANK_NAMES[rank]}"
        for rank in sorted({card % RANKS for card in cards})
    ]
    suits = [f"{SUITS[s]} {SUIT_NAMES[s]}" for s in sorted({card // RANKS for card in cards})]
    each = f"{len(ranks)} ranks in {len(suits)} suits, one card of each"
    if len(cards) < len(ranks) * len(suits):
        each = " ".join(map(KNACK_PACK.code, cards))
    return [
        f"There are {len(cards)} cards: {each}. A code is the rank and the suit: "
        f"{KNACK_PACK.code(cards[0])} is the {KNACK_PACK.name(cards[0])}.",
        f"Ranks, from the lowest to the highest: {', '.join(ranks)}.",
        f"Suits: {', '.join(suits)}.",
    ]


def _deal() -> list[str]:
    return [
        f"Everybody gets {TRICKS} cards. The next card is turned up: its suit is trumps. That card "
        "is out of play, and so is the rest of the pack.",
        "From forehand on, the player to the dealer's left, and clockwise, everybody knocks "
        "(joins) or folds (drops out of this deal).",
        f"If only one joins, that player wins without play, as if with all {TRICKS} tricks. If all "
        "before the dealer fold, the dealer wins so, and is not asked.",
    ]


def _tricks(rules: Rules) -> list[str]:
    cannot = "If you hold none of it, you play any card."
    if rules["must_trump"]:
        cannot = "If you hold none of it, you must play a trump; without a trump, any card."
    return [
        "Those who have joined play. Forehand is now the first of them on the dealer's left, and "
        "leads to the first trick; the winner of a trick leads to the next.",
        f"You must follow the suit that was led. {cannot}",
        "The highest trump wins the trick; without one, the highest card of the suit led.",
    ]


def _leads(num_players: int) -> list[str]:
    many = [
        "If three or more have joined, the leader of the first trick otherwise leads a trump, and "
        "without a trump any card.",
        "If three or more have joined, the leader of the second trick leads a trump. Without one, "
        "a card is led face down: it counts as a trump below the six, so the others must follow "
        "with trumps, and it wins if nobody has one. It is never shown.",
    ]
    return [
        "The leader of the first trick must lead the ace of trumps if they hold it, and so the "
        "king of trumps if the ace is the card turned up.",
        "If two have joined, the leader of the first trick otherwise leads any card.",
        "If two have joined, the leader of the second trick leads a trump from the jack up, any of "
        "them; without one, any card.",
        *(many if num_players > 2 else []),
    ]


def _money(rules: Rules) -> list[str]:
    unit = rules.number("unit")
    bet = TRICKS * unit
    lines = [
        f"The dealer pays {chips(unit)} for each trick to whoever took it, {chips(bet)} in all; "
        "also a dealer who has folded. For their own tricks they pay themselves.",
        f"Whoever has joined and taken no trick sets a bet of {chips(bet)} on the table. Whoever "
        "folds pays nothing, but for the dealer's payment.",
    ]
    if is_single(rules):
        return lines
    return [
        *lines,
        "While bets lie on the table, the smallest is the running bet. A deal is played for it as "
        f"well: each of the {TRICKS} tricks takes an equal part of it. A new bet is then "
        f"{chips(bet)} and as much as the running bet. The other bets wait for the next deals.",
    ]


def _end(rules: Rules, num_players: int) -> list[str]:
    rest = "One player, drawn at random, gets what cannot be divided."
    if rules["remainder"] == "left":
        rest = "What cannot be divided stays on the table."
    if is_single(rules):
        length = "You play a single deal. The bets that were set in it"
    else:
        deals = num_players if rules["deals"] is None else rules.number("deals")
        length = (
            "The deal passes to the next player on the left. The match is a party of "
            f"{counted(deals, 'deal', 'deals')}. The bets that then lie on the table"
        )
    return [
        f"{length} are shared equally by all {num_players} players, in whole chips. {rest}",
        "Your result is all that you get minus all that you pay.",
    ]


def _seen(num_players: int) -> list[str]:
    down = ", but for one that is led face down" if num_players > 2 else ""
    return [
        "Everybody sees the card turned up, who joins, every card that is played"
        f"{down}, and the bets. Hands, also folded ones, stay hidden.",
        "Whoever does not follow suit has none of it left.",
    ]


def _actions(num_players: int) -> dict[str, str]:
    return MEANINGS if num_players > 2 else {**MEANINGS, "play": "play this card"}
