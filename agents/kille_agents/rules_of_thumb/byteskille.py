"""The rule of thumb of Byteskille: keep what is good enough, get rid of the rest.

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

The thresholds are measured, not guessed: `benchmarks/thresholds.py` plays every seat's every card
both ways, over the same deals and against players with the thresholds so far, and repeats that
until they settle. They are measured for single deals of the preset `svensk` and used everywhere.

Questions (fragekille): a seat that would swap asks for better cards, because a refusal costs it
nothing. The answer is no: a seat that asks has said that its card is bad. (Agreeing with a card
below half the threshold, or below the whole of it, lost 0.09 and 0.13 units per deal with two
players, 0.005 and 0.007 with three, over 20,000 duplicate deals.)

Buying in depends on the pot: it buys where an equal share of it would be worth more than the price.
"""

import numpy as np

from kille_agents.rules_of_thumb.rule_of_thumb import Parts, RuleOfThumb
from kille_env.cards.pack import Kind
from kille_env.core.spec import Rules

MOST_TO_COME = 19

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


def threshold_array(
    dealt: tuple[tuple[int, ...], ...], taken: tuple[tuple[int, ...], ...]
) -> np.ndarray:
    """Returns the two tables as one array [2, 21, 20]: own card or not, dealt in, to come."""
    table = np.zeros((2, 21, 20), dtype=np.int64)
    for kind, rows in enumerate((dealt, taken)):
        for row in rows:
            table[kind, len(row), : len(row)] = row
    return table


class ByteskilleRuleOfThumb(RuleOfThumb):
    """Plays Byteskille by thresholds; see the module's text for the reasons."""

    game = "byteskille"
    what = "swaps what is lower than a threshold by position, table size and what it has seen"

    def __init__(
        self,
        num_players: int,
        rules: Rules,
        thresholds: np.ndarray | None = None,
        asks: bool = True,
    ) -> None:
        """Reads where the observation's parts lie.

        Args:
            num_players: Seats of the table.
            rules: Its rules.
            thresholds: Other thresholds, [2, 21, 20] as `threshold_array` returns them.
            asks: Whether it asks for better cards where it may.

        Raises:
            PolicyError: The rules are not Byteskille's.
        """
        super().__init__(num_players, rules)
        self.thresholds = threshold_array(DEALT, TAKEN) if thresholds is None else thresholds
        self.asks = asks

    def choose(self, parts: Parts, legal: np.ndarray) -> np.ndarray:
        """Returns how much it wants each action, [N, A]."""
        act, keeps = self.action, self.keeps(parts)
        wishes = np.zeros(legal.shape)
        wishes[:, act["stand"]], wishes[:, act["swap"]] = keeps, ~keeps
        wishes[:, act["ask"]] = np.where(keeps, -1.0, 2.0 if self.asks else -1.0)
        wishes[:, act["call"]] = -1.0
        wishes[:, act["no"]] = 1.0
        if legal[:, act["buy"]].any():
            wishes[:, act["buy"]] = np.where(_is_worth_it(parts), 1.0, -1.0)
        return wishes

    def keeps(self, parts: Parts) -> np.ndarray:
        """Returns whether it is content with its card, [N] bool."""
        card = parts["card"].argmax(axis=1)
        taken = 1 - parts["card_dealt"][:, 0].astype(np.int64)
        dealt_in = parts["in_hand"].sum(axis=1, dtype=np.int64)
        to_come = np.minimum(parts["to_come"].sum(axis=1, dtype=np.int64), MOST_TO_COME)
        good = (card >= self.thresholds[taken, dealt_in, to_come]) | knows_a_lower(parts)
        low_kille = (card == Kind.KI) & (parts["card_high"][:, 0] == 0)
        return np.where(low_kille, dealt_in == 2, good)


def knows_a_lower(parts: Parts) -> np.ndarray:
    """Returns whether a seat whose turn is over is known to hold a lower card, [N] bool."""
    known = parts["known"].astype(np.int64) - 1
    moved = parts["to_come"] | parts["on_turn"] | parts["chopped"] | (1 - parts["in_hand"])
    lower = (known >= 0) & (known < parts["card"].argmax(axis=1)[:, None]) & (moved == 0)
    return lower[:, 1:].any(axis=1)


def _is_worth_it(parts: Parts) -> np.ndarray:
    """Returns whether an equal share of the pot is worth more than buying in costs, [N] bool.

    How many stay in is a guess: all but one of the seats that were dealt a card, and the buyer.
    """
    powers = 1 << np.arange(16)
    pot, price = parts["pot"] @ powers, parts["price"] @ powers
    return pot + price > price * np.maximum(parts["in_hand"].sum(axis=1, dtype=np.int64), 2)
