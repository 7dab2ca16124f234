"""Knack in words: results, views, events, choices. Its rules in words: manual.md.

Everything that is shown to a seat follows the same rule as its observation: a card is named if it
was played open or turned up, or if it is the seat's own.

A complete trick lies until somebody leads to the next; then its cards go to "won S". A card that
was led face down is known to its leader alone. A hand that was thrown in stays where it is, faded.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from kille_env.cards.sets import members
from kille_env.cards.words import KNOCK, TURNED_UP, clockwise, spread, trick_zones
from kille_env.core.arguments import check_keys
from kille_env.core.spec import Rules
from kille_env.errors import RulesError
from kille_env.games.knack.rules import (
    CARDS,
    KNACK_PACK,
    START_SIZES,
    SUIT_NAMES,
    SUITS,
    TRICKS,
    Action,
    Phase,
)
from kille_env.words.text import chips, columns, counted, does, inside, listed, signed
from kille_env.words.view import TALON, Call, Card, Laid, Pile, Seat, View, Zones

RESULT_KEYS = ("trump", "turn_up", "joined", "tricks", "chips", "bets", "next_dealer")
"""The keys of `result`, in the order in which a record writes them."""

MOST_AT_START = 10**12
_ORDINALS = ("first", "second", "third")


# The result of a deal


def result(table: Any, rules: Rules) -> dict[str, Any]:
    """Return the record notation's result of the deal that has just ended."""
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
    """Return the gains and losses of the seats by the deal, a final sharing apart."""
    unit = rules.number("unit")
    worth = unit * (1 + int(table["played_for"]))
    chips = [int(won) * worth for won in table["tricks"][: int(table["num_players"])]]
    for seat in _failed(table):
        chips[seat] -= TRICKS * worth
    chips[int(table["dealer"])] -= TRICKS * unit
    return chips


def _failed(table: Any) -> list[int]:
    """Return the seats that joined and have no trick, once the deal has ended."""
    return [seat for seat in members(table["joined"]) if table["tricks"][seat] == 0]


def bets_of(table: Any, rules: Rules) -> list[int]:
    """Return the bets on the table in units, the smallest first."""
    stake = TRICKS * rules.number("unit")
    piles = range(int(table["num_sizes"]))
    sizes, counts = table["bet_sizes"].tolist(), table["bet_counts"].tolist()
    return [stake * sizes[pile] for pile in piles for _ in range(counts[pile])]


# The start of a match, and its chance besides the cards


def set_up(table: Any, rules: Rules, start: Mapping[str, Any]) -> None:
    """Put a party that has just begun where `start` says; a key that is missing changes nothing."""
    check_keys(start, ("bets", "remainder_to"))
    piles = _parse_bets(start["bets"], rules) if "bets" in start else {}
    if "remainder_to" in start:
        _check_remainder_to(start["remainder_to"], int(table["num_players"]), rules)
        table["remainder_to"] = start["remainder_to"]
    if "bets" in start:
        table["bet_sizes"][:], table["bet_counts"][:] = 0, 0
        table["num_sizes"] = len(piles)
        for place, size in enumerate(sorted(piles)):
            table["bet_sizes"][place], table["bet_counts"][place] = size, piles[size]


def _parse_bets(bets: Any, rules: Rules) -> dict[int, int]:
    """Return the number of bets of each size in stakes of three units."""
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
    """Return the seat that drew the undivided rest at the end of the party, if one did."""
    if table["phase"] == Phase.OVER and table["remainder"] > 0:
        return {"remainder_to": int(table["remainder_to"])}
    return {}


# Events


def narrate(before: Any, after: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    """Return the events between two tables, as a seat may know them; see `Texts.narrate`."""
    if after["deals"] != before["deals"]:
        return _describe_deal(after, rules, who, seat)
    actor = int(before["seat"])
    if before["phase"] == Phase.JOIN:
        knocked = actor in members(after["joined"])
        lines = [f"{does(who[actor], 'knocks to play' if knocked else 'folds')}."]
    else:
        verb, trick = "leads" if before["trick_size"] == 0 else "plays", int(before["trick"])
        lines = [f"{does(who[actor], verb)} {_card_played(after, trick, actor, seat)}."]
        if after["winners"][trick] >= 0:
            winner = who[int(after["winners"][trick])]
            lines.append(f"{does(winner, 'takes')} the {_ORDINALS[trick]} trick.")
    if after["phase"] <= Phase.OVER:
        lines += _describe_end(after, rules, who, seat)
    return lines


def _describe_deal(table: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    dealer = does(who[int(table["dealer"])], "deals")
    card, suit = KNACK_PACK.name(table["turn_up"]), SUIT_NAMES[int(table["trump"])]
    lines = [f"Deal {int(table['deals'])}: {dealer}; the {card} is turned up, {suit} are trumps."]
    if bets := bets_of(table, rules):
        lines.append(f"{chips(bets[0])} extra at stake: the running bet.")
    if seat is not None:
        return [*lines, f"{does(who[seat], 'gets')} {_names(table['hand'][seat])}."]
    return lines + columns([(who[s], _names(table["hand"][s])) for s in clockwise(table)])


def _names(cards: Any) -> str:
    return ", ".join(map(KNACK_PACK.name, members(cards)))


def _card_played(table: Any, trick: int, seat: int, viewer: int | None) -> str:
    """Return a card on the table; its leader alone knows the one that lies face down."""
    card = int(table["played"][trick, seat])
    if card != table["face_down"]:
        return f"the {KNACK_PACK.name(card)}"
    known = viewer in (None, seat)
    return f"a card face down (the {KNACK_PACK.name(card)})" if known else "a card face down"


def _describe_end(table: Any, rules: Rules, who: list[str], seat: int | None) -> list[str]:
    lines, won = [_verdict(table, rules, who, seat)], _chips(table, rules)
    lines += columns([(who[s], signed(won[s])) for s in range(len(who))])
    if table["phase"] == Phase.OVER:
        return [*lines, _describe_sharing(table, who)]
    if bets := bets_of(table, rules):
        lines.append(f"Bets on the table: {', '.join(map(str, bets))}.")
    return lines


def _describe_sharing(table: Any, who: list[str]) -> str:
    total = int(table["shared"])
    if not total:
        return "The match is over; there are no bets to share."
    share = chips(total // len(who))
    line = f"The match is over; the bets of {chips(total)} are shared, {share} each."
    if table["remainder"]:
        lucky = does(who[int(table["remainder_to"])], "draws")
        line += f" {lucky} the {int(table['remainder'])} left over."
    elif table["left_on_table"]:
        line += f" The remainder stays on the table: {int(table['left_on_table'])}."
    return line


def _verdict(table: Any, rules: Rules, who: list[str], seat: int | None) -> str:
    """Return how a deal ended: with the tricks of a seat, or of all."""
    worth = rules.number("unit") * (1 + int(table["played_for"]))
    won, lost, failed = table["tricks"].tolist(), chips(TRICKS * worth), _failed(table)
    if table["leaders"][0] < 0:
        winner = int(table["winners"][0])  # a dealer pays itself nothing
        got = TRICKS * (worth - rules.number("unit") * (winner == table["dealer"]))
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
        first = f"{listed(takes)}, {chips(worth)} for each."
    others = [who[s] for s in failed if s != seat]
    none = f" {listed(others)} took none: that costs {lost}." if others else ""
    return first + none + _besides(table, rules, who, seat)


def _besides(table: Any, rules: Rules, who: list[str], seat: int | None) -> str:
    """Return the costs and gains of a seat besides its tricks."""
    if seat is None:
        return ""
    text, own = "", table["leaders"][0] < 0 and int(table["winners"][0]) == seat
    if seat == table["dealer"] and not own:  # a dealer who wins without play pays itself
        pays = inside(does(who[seat], "pays"))
        text = f" As dealer {pays} {chips(TRICKS * rules.number('unit'))}."
    drawn = int(table["remainder"]) if int(table["remainder_to"]) == seat else 0
    if share := int(table["shared"]) // len(who) + drawn:
        text += f" The bets are shared: {chips(share)} for {inside(who[seat])}."
    return text


# The view and the choices


def view(table: Any, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Return the table as a seat may see it, or everything; see `Texts.view`."""
    zones, bets = _zones(table), [] if table["shared"] else bets_of(table, rules)
    turn_up, trumps = int(table["turn_up"]), "♣♦♥♠"[int(table["trump"])]
    deals = 1 if rules["episode"] == "deal" else rules["deals"] or len(who)
    title = f"Knack, deal {int(table['deals'])} of {deals}"
    talon = Pile(TALON, KNACK_PACK.size - int(table["drawn"]))
    turn, phase = int(table["seat"]), table["phase"]
    return View(
        title=f"{title}, trumps {trumps}" if turn_up >= 0 else title,
        viewer=seat,
        dealer=int(table["dealer"]),
        turn=turn,
        seats=tuple(_seat(table, zones, other, seat) for other in range(len(who))),
        piles=(talon, Pile(TURNED_UP, 1, turn_up)) if turn_up >= 0 else (talon,),
        pot=float(sum(bets)),
        question=_question(table) if phase > Phase.OVER and seat in (None, turn) else "",
        strip=_strip(table, zones, seat),
        history=(_bets_in_words(table, bets), *_describe_tricks(table, who, seat)),
        calls=tuple(Call(other, KNOCK, "I am in") for other in members(table["joined"])),
        verdict=_verdict(table, rules, who, seat) if table["deals"] and phase <= Phase.OVER else "",
        zones=zones if seat is None else {},
    )


def _strip(table: Any, zones: Zones, viewer: int | None) -> tuple[Laid, ...]:
    """Return the trick that lies, in the order of play, its best card marked."""
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
        words=_plate(table, seat),
        tricks=int(table["tricks"][seat]) if table["num_joined"] else None,
        units=float(table["reward"][seat]),
        present=not folded,
    )


def _plate(table: Any, seat: int) -> tuple[str, ...]:
    """Return the deeds of a seat, and its tricks."""
    fields, won = {"joined": "knocks", "folded": "folded"}, int(table["tricks"][seat])
    deeds = [words for field, words in fields.items() if seat in members(table[field])]
    return (*deeds, counted(won, "trick", "tricks")) if won else tuple(deeds)


def _bets_in_words(table: Any, bets: list[int]) -> str:
    if table["shared"]:
        return f"The bets of {chips(int(table['shared']))} have been shared."
    if not bets:
        return "No bets on the table."
    return f"Bets on the table: {', '.join(map(str, bets))}; the running bet is {bets[0]}."


def _describe_tricks(table: Any, who: list[str], viewer: int | None) -> list[str]:
    """Describe the tricks that no longer lie on the table, in the order of play."""
    lines = []
    for trick, leader in enumerate(table["leaders"].tolist()[: max(0, _lying(table))]):
        plays = (
            f"{who[seat]} {_card_played(table, trick, seat, viewer)}"
            for seat in ((leader + step) % len(who) for step in range(len(who)))
            if table["played"][trick, seat] >= 0
        )
        winner = inside(does(who[int(table["winners"][trick])], "takes"))
        lines.append(f"The {_ORDINALS[trick]} trick: {', '.join(plays)}; {winner} it.")
    return lines


def _lying(table: Any) -> int:
    """Return the number of the trick that lies on the table, -1 if none does."""
    trick = int(table["trick"])
    return trick if trick < TRICKS and table["trick_size"] > 0 else trick - 1


def _zones(table: Any) -> Zones:
    seats, lying = clockwise(table), _lying(table)
    turned_up = [int(table["turn_up"])] if table["turn_up"] >= 0 else []
    hands = {f"hand {seat}": members(table["hand"][seat]) for seat in seats}
    tricks = trick_zones(table["played"], table["leaders"], table["winners"], lying, len(seats))
    return {**tricks, **hands, TURNED_UP: turned_up}


def _question(table: Any) -> str:
    """Return the question to the seat to act."""
    if table["phase"] == Phase.JOIN:
        suit = SUIT_NAMES[int(table["trump"])].title()
        return f"Knock to play for tricks, or fold? {suit} are trumps."
    if table["trick_size"] == 0:
        return "Lead a card."
    return f"Play a card: follow {SUIT_NAMES[int(table['led'])]} if you can."


def choice(table: Any, rules: Rules, action: int, who: list[str]) -> str:
    """Return the text of a button; see `Texts.choice`."""
    unit = rules.number("unit")
    dealer = TRICKS * unit if table["seat"] == table["dealer"] else 0
    if action == Action.KNOCK:
        lost = TRICKS * unit + sum(bets_of(table, rules)[:1])  # the smallest bet runs
        also = f"; you also pay {dealer} as dealer" if dealer else ""
        return f"Knock: +{lost // TRICKS} per trick, -{lost} if none{also}"
    if action == Action.FOLD:
        return f"Fold: you pay {dealer} as dealer" if dealer else "Fold"
    card = KNACK_PACK.word((action - Action.PLAY) % CARDS)
    if action >= Action.PLAY_DOWN:
        return f"Lead the {card} face down"
    return f"{'Lead' if table['trick_size'] == 0 else 'Play'} the {card}"
