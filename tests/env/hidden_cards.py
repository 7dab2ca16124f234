"""Determinizer of the trick games by brute force: all ways in which a few hidden cards can lie.

A hand is played again with every other card in its hidden places. Ways in which the seat sees the
same are counted: they are what determinizations must be drawn from. The kernels that draw them have
no part in it.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import chisquare

import kille_env
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.tricktaking.tricks import SLOTS

NUMBER = 20_000

Types = tuple[tuple[int, ...], ...]


class Position:
    """A random hand of a trick game, stopped where the others hold few cards.

    Attributes:
        viewer: The seat whose determinizations are looked at.
        batch: The table.
        places: By group, positions in the pack of the hidden cards that are looked at: the hands of
            the others, clockwise from seat 0, then their discards.
    """

    def __init__(
        self, game: str, players: int, seed: int, hidden: int, discards: bool = False, **rules: Any
    ) -> None:
        self.spec = kille_env.spec(game)
        self.rules = self.spec.resolve({"episode": "match", **rules})
        self.players, self.discards = players, discards
        self.left_out = self.spec.left_out(self.rules)
        rng = np.random.default_rng(seed)
        self.viewer = int(rng.integers(players))
        while not self._play(rng, hidden):
            pass
        self.places = self._places()

    def _play(self, rng: np.random.Generator, hidden: int) -> bool:
        """Plays a hand until the others hold so many cards, with nobody out."""
        self.batch = self._make(1)
        self.dealer = int(rng.integers(self.players))
        self.batch.reset(dealer=self.dealer, deck=[self._shuffled(rng)])
        self.script: list[tuple[int, int, list[int] | None]] = []
        while not self.batch.over[0] and self.batch.tables["deals"][0] == 1:
            table = self.batch.tables[0]
            held = [len(members(h)) for s, h in enumerate(table["hand"]) if s != self.viewer]
            if sum(held) == hidden:
                return True
            legal = [int(a) for a in np.flatnonzero(self.batch.mask[0])]
            wanted = [a for a in legal if self.spec.actions[a] in ("knock", "stay")]
            action = int(rng.choice(wanted or legal))
            self._step(action)
        return False

    def _step(self, action: int) -> None:
        before = self.batch.tables[0].copy()
        seat = int(before["seat"])
        self.batch.step([action])
        after = self.batch.tables[0]
        thrown = None
        if self.spec.actions[action].startswith("discard"):
            deck = self._deck(before)
            thrown = [deck.index(card) for card in members(after["discarded"][seat])]
        self.script.append((seat, action, thrown))

    def _places(self) -> list[list[int]]:
        table = self.batch.tables[0]
        deck = self._deck(table)
        others = [seat for seat in range(self.players) if seat != self.viewer]
        fields = ["hand", "discarded"] if self.discards else ["hand"]
        return [
            [deck.index(card) for card in members(table[field][seat])]
            for field in fields
            for seat in others
        ]

    def _deck(self, table: Any) -> list[int]:
        """The cards that are played with, in the order of the pack."""
        return table["deck"][len(self.left_out) :].tolist()

    def _make(self, number: int) -> Batch:
        return kille_env.make_batch(
            self.spec.name, number, self.players, rules=self.rules, seed=0, restart=False
        )

    def _shuffled(self, rng: np.random.Generator) -> list[str]:
        return rng.permutation(self.spec.pack.codes_without(self.left_out)).tolist()

    def possible(self) -> Counter[Hashable]:
        """The types that the hidden places can have, and in how many ways, by playing again."""
        table = self.batch.tables[0]
        deck = self._deck(table)[: table["drawn"] - len(self.left_out)]
        own = int(table["dealt"][self.viewer] | table["drawn_cards"][self.viewer])
        known = own | int(table["face_up"])
        known |= sum(1 << card for card in self.left_out)
        free = Counter(card // 2 for card in range(42) if not known >> card & 1)
        hidden = [place for group in self.places for place in group]
        rest = [p for p, card in enumerate(deck) if not known >> card & 1 and p not in hidden]
        packs, ways = [], []
        for types in product(sorted(free), repeat=len(hidden)):
            left, way = free.copy(), 1
            for kind in types:
                way *= left[kind]
                left[kind] -= 1
            if way > 0:
                pack = [card // 2 for card in deck]
                for place, kind in zip([*hidden, *rest], [*types, *left.elements()], strict=False):
                    pack[place] = kind
                packs.append(pack)
                ways.append(way)
        found: Counter[Hashable] = Counter()
        for pack, way, same in zip(packs, ways, self._look_the_same(np.array(packs)), strict=True):
            if same:
                found[self._outcome(pack)] += way
        return found

    def _outcome(self, pack: Any) -> Types:
        return tuple(tuple(sorted(int(pack[place]) for place in group)) for group in self.places)

    def _look_the_same(self, packs: np.ndarray) -> np.ndarray:
        """[K] bool: whether the same decisions lead to what looks the same, with other cards."""
        batch, alive = self._make(len(packs)), np.ones(len(packs), dtype=np.bool_)
        codes = self.spec.pack.codes
        batch.reset(dealer=self.dealer, deck=[[codes[kind] for kind in pack] for pack in packs])
        discard = self.spec.actions.index("discard")
        for seat, action, thrown in self.script:
            actions = np.full(len(packs), action)
            if thrown is not None:
                for row in np.flatnonzero(alive):
                    kinds = [card // 2 for card in members(batch.tables["hand"][row][seat])]
                    slots = _slots(kinds, [int(packs[row][place]) for place in thrown])
                    actions[row] = discard + SLOTS.tolist().index(slots)
            alive &= batch.seat == seat
            alive &= batch.mask[np.arange(len(packs)), actions] != 0
            batch.apply(actions, which=alive)
        for view in ("information_state", "observe", "legal_actions"):
            mine = getattr(self.batch, view)(self.viewer)
            alive &= (getattr(batch, view)(self.viewer) == mine).all(axis=1)
        return alive

    def drawn(self, number: int = NUMBER) -> list[Types]:
        """Determinizations that were drawn, as `possible` has them."""
        deck = np.array(self._deck(self.batch.tables[0]))
        return [self._outcome(row[deck] // 2) for row in draw(self.batch, self.viewer, number)[1]]


def _slots(hand: list[int], thrown: list[int]) -> int:
    """The discard that throws these types out of a hand; of equal cards the lower slot goes."""
    slots, left = 0, Counter(thrown)
    for slot, kind in enumerate(hand):
        if left[kind]:
            slots, left[kind] = slots | 1 << slot, left[kind] - 1
    return slots


def draw(batch: Batch, seat: int, number: int) -> tuple[Batch, np.ndarray]:
    """Returns determinizations of the first table, [number, pack] which card lies where c lay."""
    drawn = batch.take(np.zeros(number, dtype=np.int64))
    keys = np.random.default_rng(number).integers(2**63, size=number, dtype=np.uint64)
    return drawn, drawn.resample(seat, keys)


def p_value(expected: Counter[Hashable], drawn: Iterable[Hashable]) -> float:
    """Returns how likely draws are to fit their chances no better, by chi-square.

    Args:
        expected: How likely each outcome is, up to a factor.
        drawn: The draws; one that is not expected gives 0.
    """
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


# Which cards a player may hold who has played these


Plays = list[list[tuple[int, int]]]


def plays_of(table: Any) -> Plays:
    """Returns who has played what, trick by trick in the order of play."""
    players, tricks = members(table["in_play"]), []
    for leader, cards in zip(table["lead"].tolist(), table["played"].tolist(), strict=True):
        order = [seat for seat in players if seat >= leader] + [s for s in players if s < leader]
        tricks.append([(seat, cards[seat]) for seat in order if cards[seat] >= 0])
    return tricks


def forced(plays: Plays, hands: dict[int, list[int]]) -> bool:
    """Whether players who hold these cards in the end were forced to play what they have played.

    "If he has an equal or higher card he plays the lowest of them. If he does not, he plays the
    lowest card of the hand."
    """
    now = {seat: list(cards) for seat, cards in hands.items()}
    for trick in reversed(plays):
        for number, (seat, card) in reversed(list(enumerate(trick))):
            now.setdefault(seat, []).append(card)
            if number > 0:
                highest = max(other // 2 for _, other in trick[:number])
                able = [held for held in now[seat] if held // 2 >= highest]
                if card // 2 != min(able or now[seat]) // 2:
                    return False
    return True
