"""Games from the literature as flat trees, for tests: their values are known.

The order of the actions and of the cards is OpenSpiel's, so that the trees are the same node by
node.
"""

from kille_training.solving.trees.tree import Chance, Decision, Flattened, Terminal, flatten
from reference.scripts import script

poker = script("truth/poker.py")
kuhn, kuhn_rules = poker.kuhn, poker.kuhn_rules


def leduc() -> Flattened:
    """Leduc poker with six different cards, as OpenSpiel has it."""
    return poker.leduc(suits=True)


def liars_dice(sides: int = 6) -> Flattened:
    """Liar's Dice with one die each; the highest face is wild.

    A bid (quantity, face) must exceed the last one; who doubts it wins if it is too high.
    """
    bids = [(quantity, face) for quantity in (1, 2) for face in range(sides)]

    def expand(state):
        dice, said = state
        if len(dice) < 2:
            return Chance([1 / sides] * sides, [((*dice, face), said) for face in range(sides)])
        if said and said[-1] == len(bids):
            quantity, face = bids[said[-2]]
            there = sum(die in (face, sides - 1) for die in dice)
            caller = (len(said) - 1) % 2
            won = 1 if (there < quantity) == (caller == 0) else -1
            return Terminal([won, -won])
        seat = len(said) % 2
        lowest = said[-1] + 1 if said else 0
        highest = len(bids) + 1 if said else len(bids)
        after = [(dice, (*said, bid)) for bid in range(lowest, highest)]
        return Decision(seat, (dice[seat], said), after)

    return flatten(((), ()), expand, 2)


def coin(
    chances: tuple[float, float] = (1 / 3, 2 / 3), won: tuple[float, float, float] = (-1, 2.5, -3)
) -> Flattened:
    """Player 1 sees a coin and may pay to end it; player 2 guesses the coin."""

    def expand(state):
        if not state:
            return Chance(chances, [(0,), (1,)])
        if len(state) == 1:
            return Decision(0, state, [(*state, 0), (*state, 1)])
        if len(state) == 2 and state[1] == 1:
            return Decision(1, "guess", [(*state, 0), (*state, 1)])
        pays = won[0 if len(state) == 2 else 1 + (state[2] == state[0])]
        return Terminal([pays, -pays])

    return flatten((), expand, 2)
