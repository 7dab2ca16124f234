"""Hogkort ("high card"): the smallest game, made to be copied. See docs/add_a_game.md.

Rules. Everybody is dealt a card of the Kille pack. From forehand to the dealer each keeps it
(`stand`) or changes it once for the next card of the talon (`draw`). Then the cards are turned up:
those with the highest card (the kille is above the gok) share one unit from everybody else. The
deal passes on to the left; a match is `deals` deals. Source: none, it was made up for this page.
"""

from typing import Any

import numpy as np

from kille_env.cards.arrange import deal_places, relabel_cards, whole_pack
from kille_env.cards.pack import KILLE_PACK, draw, take_pack
from kille_env.cards.sets import card_bit
from kille_env.cards.words import spread
from kille_env.core.jit import kernel
from kille_env.core.spec import GameSpec, Part, Rules, Switch, lay_out
from kille_env.core.table import DEAL, OVER, new_deal, new_match, table_dtype
from kille_env.words.view import TALON, Pile, Seat, View

MAX_PLAYERS = 6
ACTIONS = ("stand", "draw")
STAND, DRAW = range(2)
PHASES = ("deal", "over", "turn")
TURN = 2
SINGLE_DEAL = 1

TABLE = table_dtype(
    MAX_PLAYERS,
    KILLE_PACK.size,
    [
        ("dealt", np.int8, (MAX_PLAYERS,)),  # by seat: the card that it was dealt, -1 none
        ("hand", np.int8, (MAX_PLAYERS,)),  # by seat: the card that it has now
        ("drew", np.int8, (MAX_PLAYERS,)),  # by seat: whether it has changed it
    ],
)


@kernel
def begin(table, rules, dealer):
    """Begin a match."""
    new_match(table, dealer)
    table["dealt"][:] = -1
    table["hand"][:] = -1
    table["drew"][:] = 0


@kernel
def deal(table, rules):
    """Deal one card each, forehand first."""
    new_deal(table)
    take_pack(table)
    table["drew"][:] = 0
    num_players = int(table["num_players"])
    for step in range(1, num_players + 1):
        seat = (int(table["dealer"]) + step) % num_players
        card = draw(table)
        table["dealt"][seat] = card
        table["hand"][seat] = card
    table["phase"] = TURN
    table["seat"] = (int(table["dealer"]) + 1) % num_players


@kernel
def legal_actions(table, rules, seat, out):
    """Allow the seat on turn both actions."""
    out[:] = seat == table["seat"]


@kernel
def apply(table, rules, action):
    """Play an action of the seat to act."""
    seat = int(table["seat"])
    if action == DRAW:
        table["hand"][seat] = draw(table)
        table["drew"][seat] = 1
    if seat == table["dealer"]:
        settle(table, rules)
    else:
        table["seat"] = (seat + 1) % int(table["num_players"])


@kernel
def settle(table, rules):
    """Pay the highest card and continue with the next deal, or end the match."""
    num_players = int(table["num_players"])
    highest, winners = -1, 0
    for seat in range(num_players):
        rank = int(table["hand"][seat]) >> 1
        if rank > highest:
            highest, winners = rank, 0
        winners += rank == highest
    for seat in range(num_players):
        won = int(table["hand"][seat]) >> 1 == highest
        table["reward"][seat] += (num_players - winners) / winners if won else -1.0
    over = rules["episode"] == SINGLE_DEAL or table["deals"] >= rules["deals"]
    table["phase"] = OVER if over else DEAL
    table["seat"] = -1
    table["dealer"] = (int(table["dealer"]) + 1) % num_players


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the observation."""
    return lay_out(
        Part("card", 21, "own card, from blaren to kille (one-hot)"),
        Part("to_come", num_players, "acts now or later; entry 0 is the seat itself"),
        Part("drew", num_players, "has changed its card"),
    )


@kernel
def observe(table, rules, seat, out):
    """Write the observation of a seat."""
    out[:] = 0
    num_players = int(table["num_players"])
    if table["hand"][seat] >= 0:
        out[int(table["hand"][seat]) >> 1] = 1
    for step in range(num_players):
        other = (seat + step) % num_players
        if table["phase"] == TURN:
            out[21 + step] = _position(table, other) >= _position(table, int(table["seat"]))
        out[21 + num_players + step] = table["drew"][other]


@kernel
def _position(table, seat):
    """Return the position of a seat, 0 for forehand."""
    num_players = int(table["num_players"])
    return (seat - int(table["dealer"]) - 1 + num_players) % num_players


def information_state_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the information state."""
    return lay_out(
        *observation_parts(num_players),
        Part("dealt", 1, "the card that the seat was dealt: 1 blaren to 21 kille, 0 none", 21),
        Part("open_cards", num_players, "cards at the showdown, likewise", 21),
        Part("dealer", num_players, "is the dealer"),
        Part("deals", 2, "deals so far, two base-256 digits, lowest first", 255),
    )


@kernel
def information_state(table, rules, seat, out):
    """Write the information of a seat, with perfect recall of the deal."""
    num_players = int(table["num_players"])
    at = 21 + 2 * num_players
    observe(table, rules, seat, out[:at])
    out[at:] = 0
    out[at] = (int(table["dealt"][seat]) >> 1) + 1  # -1 >> 1 is -1: no card is 0
    shown = table["seat"] < 0
    for step in range(num_players):
        other = (seat + step) % num_players
        if shown:
            out[at + 1 + step] = (int(table["hand"][other]) >> 1) + 1
        out[at + 1 + num_players + step] = other == table["dealer"]
    out[at + 1 + 2 * num_players] = table["deals"] & 255
    out[at + 2 + 2 * num_players] = (table["deals"] >> 8) & 255


def full_state_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the full-information state."""
    hands = Part("hands", num_players, "every seat's card: 1 blaren to 21 kille, 0 none", 21)
    return lay_out(*observation_parts(num_players), hands)


@kernel
def full_state(table, rules, seat, out):
    """Write the full state, seen from a seat."""
    num_players = int(table["num_players"])
    at = 21 + 2 * num_players
    observe(table, rules, seat, out[:at])
    for step in range(num_players):
        out[at + step] = (int(table["hand"][(seat + step) % num_players]) >> 1) + 1


@kernel
def resample(table, rules, seat, cards):
    """Draw a determinization: an arrangement of cards consistent with a seat's information.

    The seat knows its dealt and its current card, and nothing of the others.
    """
    known = card_bit(table["dealt"][seat]) | card_bit(table["hand"][seat])
    hidden = whole_pack(cards) & ~known
    deal_places(table, hidden, hidden, hidden, cards)


@kernel
def relabel(table, rules, cards):
    """Replace every card c in the table by `cards[c]`."""
    relabel_cards(table["dealt"], cards)
    relabel_cards(table["hand"], cards)
    relabel_cards(table["deck"], cards)


def result(table: np.record, rules: Rules) -> dict[str, Any]:
    """Return the result of the hand that has just ended."""
    seats = range(int(table["num_players"]))
    return {
        "final": [KILLE_PACK.code(table["hand"][seat]) for seat in seats],
        "drew": [seat for seat in seats if table["drew"][seat]],
        "next_dealer": int(table["dealer"]),
    }


def view(table: np.record, rules: Rules, seat: int | None, who: list[str]) -> View:
    """Return the table as a seat sees it, or (None) with every card."""
    seats = []
    for other in range(len(who)):
        card, known = int(table["hand"][other]), seat in (None, other) or table["seat"] < 0
        seats.append(
            Seat(
                hand=spread(KILLE_PACK, f"hand {other}", [card] if card >= 0 else [], known=known),
                words=("drew",) if table["drew"][other] else (),
                units=float(table["reward"][other]),
            )
        )
    return View(
        title=f"Hogkort, deal {int(table['deals'])}",
        viewer=seat,
        dealer=int(table["dealer"]),
        turn=int(table["seat"]),
        seats=tuple(seats),
        piles=(Pile(TALON, KILLE_PACK.size - int(table["drawn"])),),
        question="Keep your card, or draw another?",
    )


def reward_range(rules: Rules, num_players: int) -> tuple[float, float]:
    """Return bounds of an episode: a hand costs 1, or wins 1 of each other seat."""
    hands = float(rules.number("deals")) if rules["episode"] != SINGLE_DEAL else 1.0
    return -hands, hands * (num_players - 1)


SPEC = GameSpec(
    name="hogkort",
    title="Hogkort",
    version=0,
    pack=KILLE_PACK,
    min_players=2,
    max_players=MAX_PLAYERS,
    default_players=3,
    actions=ACTIONS,
    phases=PHASES,
    presets=("standard",),
    switches=(Switch("deals", "deals in a match", 5, minimum=1),),
    table=TABLE,
    observation=observation_parts,
    information_state=information_state_parts,
    full_state=full_state_parts,
    reward_range=reward_range,
    zero_sum=True,
    max_decisions=lambda rules, num_players: num_players,
)
