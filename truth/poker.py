"""Kuhn and Leduc poker as trees: games of other authors, whose values are known.

The order of actions and cards is OpenSpiel's, so the trees are the same node by node.
"""

from collections import Counter
from dataclasses import replace

from kille_training.solving.trees.tree import Chance, Decision, Flattened, Terminal, flatten

FOLD, CALL, RAISE = "fcr"


def kuhn(num_players: int = 2, pair: tuple[int, ...] = ()) -> Flattened:
    """Return Kuhn poker: one card each of P + 1, one bet of one chip over an ante of one."""
    return together(*kuhn_rules(num_players), num_players, pair)


def kuhn_rules(num_players: int = 2):
    """Return the first state of Kuhn poker, and the function that expands a state."""

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


def leduc(num_players: int = 2, pair: tuple[int, ...] = (), *, suits: bool = False) -> Flattened:
    """Return Leduc poker: P + 1 ranks twice, two rounds, at most two raises of two and of four.

    Cards of a rank are one card, unless `suits` tells them apart.
    """
    seats = range(num_players)
    pack = Counter(card if suits else card // 2 for card in range(2 * num_players + 2))

    def rank(card):
        return card // 2 if suits else card

    def draw(drawn, after):
        left = pack - Counter(drawn)
        return Chance([n / left.total() for n in left.values()], [after(card) for card in left])

    def at(bets, staying):
        """Return chips of this round, seats that stay, those to act, and raises."""
        chips, waiting, raises = [0] * num_players, list(staying), 0
        for bet in bets:
            seat = waiting.pop(0)
            if bet == FOLD:
                staying = [one for one in staying if one != seat]
            elif bet == CALL:
                chips[seat] = max(chips)
            else:
                chips[seat], raises = max(chips) + 1, raises + 1
                later = staying[staying.index(seat) + 1 :]
                waiting = later + [one for one in staying if one < seat]
        return chips, staying, waiting, raises

    def expand(state):
        cards, board, *rounds = state
        if len(cards) < num_players:
            return draw(cards, lambda card: ((*cards, card), None, "", ""))
        first, staying, waiting, raises = at(rounds[0], list(seats))
        paid = [1 + 2 * chips for chips in first]
        if not waiting and len(staying) > 1:
            if board is None:
                return draw(cards, lambda card: (cards, card, rounds[0], ""))
            second, staying, waiting, raises = at(rounds[1], staying)
            paid = [chips + 4 * more for chips, more in zip(paid, second, strict=True)]
        if len(staying) == 1 or not waiting:
            strength = {
                seat: (board is not None and rank(cards[seat]) == rank(board), rank(cards[seat]))
                for seat in staying
            }
            best = max(strength.values())
            winners = [seat for seat in staying if strength[seat] == best]
            return Terminal(
                [sum(paid) / len(winners) * (seat in winners) - paid[seat] for seat in seats]
            )
        seat, now = waiting[0], int(board is not None)
        behind = paid[seat] < max(paid)
        actions = FOLD * behind + CALL + RAISE * (raises < 2)
        after = [
            (cards, board, *(bets + action * (number == now) for number, bets in enumerate(rounds)))
            for action in actions
        ]
        return Decision(seat, (cards[seat], board, *rounds), after)

    return together(((), None, "", ""), expand, num_players, pair)


def together(root, expand, num_players: int, pair: tuple[int, ...]) -> Flattened:
    """Return a game in which a pair of seats, if any, is the last player and sees both cards."""
    if not pair:
        return flatten(root, expand, num_players)
    alone = [seat for seat in range(num_players) if seat not in pair]

    def shown(state):
        found, cards = expand(state), state[0]
        if isinstance(found, Terminal):
            paid = [found.payoff[seat] for seat in alone]
            return Terminal([*paid, sum(found.payoff[seat] for seat in pair)])
        if isinstance(found, Chance):
            return found
        if found.player not in pair:
            return replace(found, player=alone.index(found.player))
        known = *(cards[seat] for seat in pair), *found.information[1:]
        return Decision(len(alone), known, found.states)

    return flatten(root, shown, num_players - 1)
