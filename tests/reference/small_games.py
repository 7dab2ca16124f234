"""Games from the literature as flat trees, for tests: their values are known.

The order of the actions and of the cards is OpenSpiel's, so that the trees are the same node by
node.
"""

from kille_training.solving.trees.tree import Chance, Decision, Flattened, Terminal, flatten


def kuhn(num_players: int = 2) -> Flattened:
    """Kuhn poker: one card each of P + 1, one bet of one chip over an ante of one."""
    return flatten(*kuhn_rules(num_players), num_players)


def kuhn_rules(num_players: int = 2):
    """Where Kuhn poker begins, and what may come of a state."""

    def expand(state):
        cards, bets = state
        if len(cards) < num_players:
            left = [card for card in range(num_players + 1) if card not in cards]
            return Chance([1 / len(left)] * len(left), [((*cards, card), "") for card in left])
        first = bets.find("b")
        if len(bets) == num_players if first < 0 else len(bets) == first + num_players:
            paid = [1 + int("b" in bets[seat::num_players]) for seat in range(num_players)]
            staying = [seat for seat in range(num_players) if first < 0 or paid[seat] == 2]
            winner = max(staying, key=lambda seat: cards[seat])
            return Terminal(
                [sum(paid) * (seat == winner) - paid[seat] for seat in range(num_players)]
            )
        seat = len(bets) % num_players
        return Decision(seat, (cards[seat], bets), [(cards, bets + "p"), (cards, bets + "b")])

    return ((), ""), expand


def leduc() -> Flattened:
    """Leduc poker: six cards of three ranks, two rounds, at most two raises of two and of four."""
    deck = range(6)
    fold, call, lift = "fcr"

    def pay(state):
        """What is at stake: chips of each seat, who has folded."""
        chips, folded = [1, 1], None
        for number, bets in enumerate(state[2:]):
            size = 2 + 2 * number
            for place, bet in enumerate(bets):
                seat = place % 2
                if bet == fold:
                    folded = seat
                elif bet == call:
                    chips[seat] = max(chips)
                else:
                    chips[seat] = max(chips) + size
        return chips, folded

    def closed(bets):
        return len(bets) >= 2 and bets[-1] == call

    def expand(state):
        cards, board, *rounds = state
        if len(cards) < 2:
            left = [card for card in deck if card not in cards]
            return Chance([1 / len(left)] * len(left), [((*cards, c), None, "", "") for c in left])
        chips, folded = pay(state)
        if folded is not None:
            won = chips[folded]
            return Terminal([-won, won] if folded == 0 else [won, -won])
        if closed(rounds[0]) and board is None:
            left = [card for card in deck if card not in cards]
            return Chance([1 / len(left)] * len(left), [(cards, c, rounds[0], "") for c in left])
        if closed(rounds[1]):
            strength = [(card // 2 == board // 2, card // 2) for card in cards]
            won = chips[0] * ((strength[0] > strength[1]) - (strength[0] < strength[1]))
            return Terminal([won, -won])
        now = 0 if board is None else 1
        bets = rounds[now]
        seat = len(bets) % 2
        actions = [call]
        if chips[seat] < max(chips):
            actions.insert(0, fold)
        if bets.count(lift) < 2:
            actions.append(lift)
        after = []
        for action in actions:
            later = list(rounds)
            later[now] += action
            after.append((cards, board, *later))
        return Decision(seat, (cards[seat], board, *rounds), after)

    return flatten(((), None, "", ""), expand, 2)


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
