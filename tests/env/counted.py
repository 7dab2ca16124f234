"""All determinizations of a table, counted by playing again, against those that are drawn.

The cards that a seat has not seen are laid in every way where they matter: in hands, among discards
and cards laid aside, face down. `Hand.possible` plays the hand again with each and says which look
the same to the seat; the kernels that draw have no part in it. Two cards of a type are two cards:
ways to lay them are counted, and each way is equally likely.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations_with_replacement
from math import comb, prod
from typing import Any

import numpy as np
from scipy.stats import chisquare

from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.testing.determinization import Hand

NUMBER = 30_000
BY_CHANCE = 1e-4
"""A p-value that a right sampler comes below once in ten thousand tests."""

Kinds = tuple[int, ...]


class Position:
    """What a seat cannot know of a hand."""

    def __init__(
        self, hand: Hand, viewer: int, *, discards: bool = True, talon: bool = False
    ) -> None:
        """Look at a hand."""
        self.hand, self.viewer, self.now = hand, viewer, hand.states[-1]
        self.copies = self.now.spec.pack.copies
        seen = seen_by(hand, viewer)
        self.hidden = [card for card in range(self.now.spec.pack.size) if card not in seen]
        table = self.now.tables[0]
        names = table.dtype.names
        others = [seat for seat in range(self.now.num_players) if seat != viewer]
        places = [cards_of(table["hand"][seat]) for seat in others]
        if "discarded" in names and discards:
            places += [members(table["discarded"][seat]) for seat in others]
        if "laid_aside" in names:
            places += [[card] for card in table["laid_aside"].tolist()[: table["num_laid_aside"]]]
        if "face_down" in names:
            places.append(cards_of(table["face_down"]))
        if talon:
            places.append(table["deck"][-1:].tolist())
        self.groups = [group for cards in places if (group := sorted({*cards} & {*self.hidden}))]

    @property
    def number(self) -> int:
        """At most so many outcomes there are."""
        kinds = len({card // self.copies for card in self.hidden})
        return prod(comb(kinds + len(group) - 1, len(group)) for group in self.groups)

    def possible(self) -> Counter[Kinds]:
        """The kinds of cards that can lie where it matters, and in how many ways."""
        kinds, ways = zip(*self._all(), strict=True)
        found: Counter[Kinds] = Counter()
        for first in range(0, len(kinds), 2000):
            some = slice(first, first + 2000)
            cards = np.array([self._laid(each) for each in kinds[some]])
            same = self.hand.possible(self.viewer, cards)
            found |= {k: w for k, w, s in zip(kinds[some], ways[some], same, strict=True) if s}
        return found

    def _all(self) -> Iterator[tuple[Kinds, int]]:
        """All kinds that can lie there, each group's from the lowest up, and the ways."""
        free = Counter(card // self.copies for card in self.hidden)
        return _lay(free, [len(group) for group in self.groups])

    def _laid(self, kinds: Kinds) -> np.ndarray:
        """[pack] Which card lies where each lay, if these kinds lie where it matters."""
        places = [card for group in self.groups for card in group]
        left = list(self.hidden)
        cards = np.arange(self.now.spec.pack.size, dtype=np.int8)
        for place, kind in zip(places, kinds, strict=True):
            cards[place] = left.pop(next(i for i, c in enumerate(left) if c // self.copies == kind))
        cards[[card for card in self.hidden if card not in places]] = left
        return cards

    def drawn(self, number: int = NUMBER) -> Counter[Kinds]:
        """The kinds of cards that lie there in determinizations, and how often."""
        cards = draw(self.now, self.viewer, number)[1]
        known = np.setdiff1d(np.arange(cards.shape[1]), self.hidden)
        assert (cards[:, known] == known).all()
        kinds = [np.sort(cards[:, group] // self.copies, axis=1) for group in self.groups]
        rows, numbers = np.unique(np.concatenate(kinds, axis=1), axis=0, return_counts=True)
        return Counter(dict(zip(map(tuple, rows.tolist()), numbers.tolist(), strict=True)))

    def each(self, counts: Counter[Kinds]) -> list[Counter[Kinds]]:
        """Count each group alone."""
        alone, first = list[Counter[Kinds]](), 0
        for group in self.groups:
            alone.append(Counter())
            for kinds, number in counts.items():
                alone[-1][kinds[first : first + len(group)]] += number
            first += len(group)
        return alone

    def check(self, number: int = NUMBER) -> Counter[Kinds]:
        """Compare what is drawn with what is possible, all at once and group by group."""
        expected, counts = self.possible(), self.drawn(number)
        assert p_value(expected, counts) > BY_CHANCE
        for one, other in zip(self.each(expected), self.each(counts), strict=True):
            assert p_value(one, other) > BY_CHANCE
        return expected


def seen_by(hand: Hand, viewer: int) -> set[int]:
    """Return the cards that a seat has held, that lie open, and that are left out."""
    batch = hand.states[-1]
    table = batch.tables[0]
    seen = {*batch.spec.left_out(batch.rules)}
    for state in hand.states:
        seen.update(cards_of(state.tables["hand"][0, viewer]))
    for field in ("shown", "face_up"):
        seen.update(members(table[field]) if field in table.dtype.names else ())
    if "face_down" in table.dtype.names:
        seen |= {int(table["turn_up"]), *table["played"].ravel().tolist()} - {table["face_down"]}
    return seen


def cards_of(field: Any) -> list[int]:
    """Return the cards of a field: of a set, or the one or none whose number it is."""
    return members(field) if field.dtype == np.uint64 else [int(field)] * int(field >= 0)


def _lay(free: Counter[int], sizes: Sequence[int]) -> Iterator[tuple[Kinds, int]]:
    """Yield the kinds of cards that groups can get, one after the other, and in how many ways."""
    if not sizes:
        yield (), 1
        return
    for kinds in combinations_with_replacement(sorted(free), sizes[0]):
        taken = Counter(kinds)
        ways = prod(comb(free[kind], number) for kind, number in taken.items())
        if ways:
            for rest, more in _lay(free - taken, sizes[1:]):
                yield (*kinds, *rest), ways * more


def draw(batch: Batch, seat: int, number: int) -> tuple[Batch, np.ndarray]:
    """Return determinizations of the first table, [number, pack] which card lies where c lay."""
    drawn = batch.take(np.zeros(number, dtype=np.int64))
    keys = np.random.default_rng(number).integers(2**63, size=number, dtype=np.uint64)
    return drawn, drawn.resample(seat, keys)


def p_value(expected: Counter[Any], drawn: Iterable[Hashable]) -> float:
    """Return how likely draws are to fit their chances no better, by chi-square."""
    seen = Counter(drawn)
    if not seen.keys() <= expected.keys():
        return 0.0
    factor = sum(seen.values()) / sum(expected.values())
    cells, rare = [], np.zeros(2)
    for outcome, weight in expected.items():
        cell = np.array([seen[outcome], weight * factor])
        if cell[1] < 5:
            rare += cell
        else:
            cells.append(cell)
    if rare[1] > 0:  # what is too rare to be counted alone
        cells.append(rare)
    numbers, means = np.array(cells).T
    return float(chisquare(numbers, means).pvalue) if len(cells) > 1 else 1.0
