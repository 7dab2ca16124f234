"""The rule of thumb of Byteskille: keep a card that is good enough, get rid of the rest.

The reasons, in the order in which they are looked at:

1. *Another seat is worse off.* A seat that was made to swap knows what it gave away. If that was
   lower than what it got, and its new holder has had its turn, the seat cannot be the lowest any
   more: stand.
2. *A gok, a high kille and the matadors stand*, the gok without calling: it cannot lose, the others
   may still be chopped, and every seat that goes out pays it. Between turns it waits for the same
   reason.
3. *A low kille goes*, because it is out at the showdown whatever the others hold. Two players keep
   it: with them it makes the deal a draw.
4. *Otherwise the card is compared with a threshold*, by how many were dealt in, how many of them
   still come after the seat, and whether it holds the card that it was dealt. With many players
   some seat holds a really low card, so little is needed to stand; the dealer needs most, because
   all before it have had their chance to get rid of one.

The thresholds are measured, not guessed: every seat has played every card both ways, over the same
deals and against players with the thresholds so far, until they settled. They are measured for
single deals of the preset `svensk` and used everywhere.

Questions (fragekille): a seat that would swap asks for better cards, because a refusal costs it
nothing. The answer is no: a seat that asks has said that its card is bad. (Agreeing with a card
below half the threshold, or below the whole of it, lost 0.09 and 0.13 units per deal with two
players, 0.005 and 0.007 with three, over 20,000 duplicate deals.)

Buying in depends on the pot: it buys where an equal share of it would be worth more than the price.
"""

from typing import ClassVar

import numpy as np

from kille_agents.rules_of_thumb.choices import count, first_legal, first_one
from kille_agents.rules_of_thumb.habits import Condition, Habit, Seen, measured_by
from kille_agents.rules_of_thumb.rule_of_thumb import RuleOfThumb
from kille_env.cards.pack import Kind
from kille_env.core.jit import kernel
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.games.byteskille.rules import Action

MOST_TO_COME = 19
KILLE = int(Kind.KI)
STAND, SWAP, WAIT, ASK = (int(Action[a]) for a in ("STAND", "SWAP", "WAIT", "ASK"))
NO, BUY, DECLINE = int(Action.NO), int(Action.BUY), int(Action.DECLINE)
TURN, GOK_WAITS, BUYING_IN = 0, 1, 4  # of the observation's phases
READS = (
    "phase", "card", "card_high", "card_dealt", "pot", "price", "in_hand", "on_turn", "to_come",
    "chopped", "known",
)  # fmt: skip
PHASE, CARD, CARD_HIGH, CARD_DEALT, POT, PRICE = range(1, 7)
IN_HAND, ON_TURN, TO_COME, CHOPPED, KNOWN = range(7, 12)
FIRST_THRESHOLD = 12

# Lowest type to stand with, one row a number of players dealt in, from 2; the entries are for 0, 1,
# 2, ... players still to come. Types: 0 blaren, 1 blompottan, 2 kransen, 3 to 14 lilja 1 to 12.
DEALT: tuple[tuple[int, ...], ...] = (
    (10, 9),
    (9, 8, 7),
    (9, 8, 7, 7),
    (8, 7, 8, 7, 6),
    (7, 7, 7, 7, 6, 6),
    (6, 6, 7, 7, 7, 6, 5),
    (6, 5, 5, 6, 4, 5, 5, 5),
    (6, 5, 5, 5, 6, 4, 4, 4, 3),
    (6, 4, 5, 5, 5, 5, 4, 4, 3, 3),
    (5, 5, 4, 5, 5, 5, 5, 4, 3, 3, 4),
    (5, 5, 5, 4, 5, 4, 4, 4, 4, 3, 4, 3),
    (5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 3, 4, 4),
    (4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 4),
    (4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 2, 3),
    (4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 4, 4, 3, 2, 3),
    (4, 3, 3, 3, 4, 4, 4, 3, 4, 4, 4, 3, 3, 4, 2, 2, 3),
    (3, 3, 3, 3, 3, 4, 4, 3, 3, 3, 3, 2, 3, 2, 3, 3, 3, 3),
    (3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 3, 2, 2, 2, 3, 3),
    (3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 3, 3, 2, 2, 2, 2),
)
"""For a seat that holds the card that it was dealt."""
TAKEN: tuple[tuple[int, ...], ...] = (
    (7, 0),
    (10, 7, 0),
    (8, 7, 7, 0),
    (7, 7, 7, 5, 0),
    (7, 7, 6, 6, 6, 0),
    (6, 6, 6, 6, 6, 5, 0),
    (6, 6, 6, 6, 5, 5, 5, 0),
    (6, 6, 5, 6, 6, 5, 5, 5, 0),
    (5, 5, 5, 5, 5, 5, 5, 4, 4, 0),
    (5, 5, 5, 5, 4, 5, 5, 4, 4, 4, 0),
    (5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0),
    (4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0),
    (4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 4, 3, 0),
    (4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 4, 3, 0),
    (3, 3, 3, 3, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0),
    (3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0),
    (3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0),
    (3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0),
    (3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0),
)
"""For a seat that holds a card from a swap, and that knows of no lower one."""


THRESHOLDS = np.zeros((2, 21, 20), dtype=np.int64)
"""Both tables, [2, 21, 20]: own card or not, dealt in, to come."""
for _kind, _rows in enumerate((DEALT, TAKEN)):
    for _row in _rows:
        THRESHOLDS[_kind, len(_row), : len(_row)] = _row


def turn(content: Condition, calls: bool = False) -> Habit:
    """Return the habit of swapping a card unless `content`, and of asking first.

    With `calls`, a gok ends the round at once.
    """

    def habit(seen: Seen) -> np.ndarray:
        bad = ~content(seen)
        return seen.wishes(stand=0.5, swap=bad, ask=2.0 * bad, call=4.0 * calls)

    return habit


def card(seen: Seen) -> np.ndarray:
    """Return the type of the card in hand, [n]."""
    return seen["card"].argmax(axis=1)


def low_kille(seen: Seen) -> np.ndarray:
    """Return whether it holds a kille that is out at the showdown, [n] bool."""
    return (seen["card"][:, Kind.KI] != 0) & (seen["card_high"][:, 0] == 0)


def position(seen: Seen) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of seats dealt in, and of those that come after the seat, [n] each."""
    to_come = seen["to_come"].sum(axis=1, dtype=np.int64)
    return seen["in_hand"].sum(axis=1, dtype=np.int64), np.minimum(to_come, MOST_TO_COME)


def knows_a_lower(seen: Seen) -> np.ndarray:
    """Return whether a seat past its turn is known to hold a lower card, [n] bool."""
    return lower_seat(seen) > 0


def usual(seen: Seen) -> np.ndarray:
    """Return whether the rule of thumb is content with its card, [n] bool."""
    return _contented(seen) != 0


@kernel
def choose(seen, mask, numbers, _uniform):
    """Choose an action by the reasons above."""
    phase = first_one(seen, numbers[PHASE], 5)
    if phase == GOK_WAITS:
        return first_legal(mask, WAIT)
    if phase == BUYING_IN:
        return first_legal(mask, BUY if _pays(seen, numbers) else DECLINE)
    if phase != TURN:
        return first_legal(mask, NO)
    if _is_content(seen, numbers):
        return first_legal(mask, STAND)
    if mask[ASK] != 0:
        return ASK
    return first_legal(mask, SWAP)


@kernel
def _lower_seat(seen, numbers):
    """Return the first seat past its turn that is known to hold a lower card, or 0."""
    own = first_one(seen, numbers[CARD], 21)
    for seat in range(1, numbers[0]):
        moves = seen[numbers[TO_COME] + seat] != 0 or seen[numbers[ON_TURN] + seat] != 0
        rests = seen[numbers[IN_HAND] + seat] != 0 and seen[numbers[CHOPPED] + seat] == 0
        known = np.int64(seen[numbers[KNOWN] + seat]) - 1
        if rests and not moves and 0 <= known < own:
            return seat
    return 0


@kernel
def _is_content(seen, numbers):
    """Return whether its card reaches the threshold, or a lower one is known."""
    own, dealt = first_one(seen, numbers[CARD], 21), count(seen, numbers[IN_HAND], numbers[0])
    if own == KILLE and seen[numbers[CARD_HIGH]] == 0:
        return dealt == 2
    taken = 0 if seen[numbers[CARD_DEALT]] != 0 else 1
    to_come = min(count(seen, numbers[TO_COME], numbers[0]), MOST_TO_COME)
    row = (taken * 21 + dealt) * 20 + to_come
    return _lower_seat(seen, numbers) > 0 or own >= numbers[FIRST_THRESHOLD + row]


lower_seat = measured_by(_lower_seat)
_contented = measured_by(_is_content)


@kernel
def _pays(seen, numbers):
    """Return whether an equal share of the pot is worth more than buying in costs."""
    # The number that stays in is a guess: all but one of the seats dealt in, and the buyer.
    pot, price, dealt = 0, 0, 0
    for k in range(16):
        pot += np.int64(seen[numbers[POT] + k]) << k
        price += np.int64(seen[numbers[PRICE] + k]) << k
    for seat in range(numbers[0]):
        dealt += seen[numbers[IN_HAND] + seat]
    return pot + price > price * max(dealt, 2)


class ByteskilleRuleOfThumb(RuleOfThumb):
    """Play Byteskille by thresholds; see the module's text for the reasons."""

    game = "byteskille"
    what = "swaps what is lower than a threshold by position, table size and what it has seen"
    chooses: ClassVar = choose
    reads: ClassVar = READS

    def __init__(
        self,
        num_players: int,
        rules: Rules,
        thresholds: np.ndarray = THRESHOLDS,
        **instead: Habit,
    ) -> None:
        """Set thresholds [2, 21, 20] in place of `THRESHOLDS`; see `RuleOfThumb`."""
        given = np.asarray(thresholds)
        if given.shape != THRESHOLDS.shape or given.dtype.kind not in "iu":
            raise PolicyError(
                f"thresholds are {given.dtype} {list(given.shape)}, expected whole numbers "
                f"{list(THRESHOLDS.shape)}, as kille_agents.rules_of_thumb.byteskille.THRESHOLDS"
            )
        self.thresholds = thresholds
        super().__init__(num_players, rules, **instead)

    def settings(self) -> list[int]:
        """Return its thresholds."""
        return self.thresholds.ravel().tolist()
