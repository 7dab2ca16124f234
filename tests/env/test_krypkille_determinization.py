"""Determinizer of Krypkille after a reshuffle, against every way in which cards can lie."""

from collections import Counter
from itertools import chain, combinations, permutations, product
from typing import Any

import numpy as np
import pytest

import kille_env
from env.arrangements import BY_CHANCE
from env.hidden_cards import draw, forced, p_value, plays_of
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.games.krypkille import SPEC

GAME = "krypkille"
SIX = range(6)
FIVE_EACH = {"max_discards": 5}


# Discards that were shuffled in again


def reshuffled(rng: np.random.Generator, tricks: int, **rules: Any) -> Batch:
    """Returns a table of six, some tricks after an exchange in which the talon has run out."""
    while True:
        batch = kille_env.make_batch(
            GAME, 1, 6, rules=rules, seed=int(rng.integers(2**32)), restart=False
        )
        batch.reset()
        while batch.tables["phase"][0] == SPEC.phases.index("discard"):
            batch.step([rng.choice(np.flatnonzero(batch.mask[0])[-6:])])
        for _ in range(tricks):
            batch.step([rng.choice(np.flatnonzero(batch.mask[0]))])
        if batch.tables["again_end"][0]:
            return batch


def sources(table: Any) -> tuple[dict[int, list[int]], list[int]]:
    """Returns how many cards seats have from the pack and each new talon; what became of theirs.

    "[Where] the talon is empty, the discards that the others have made so far, as far as they have
    not come back already, are shuffled and become the new one."
    """
    left, talon, waiting, become = 12, 0, [], [0] * 6
    drawn = {(int(table["dealer"]) + 1 + step) % 6: [0, 0, 0] for step in SIX}
    for seat in drawn:
        for _ in range(table["exchanged"][seat]):
            if left == 0:
                talon += 1
                left = sum(int(table["exchanged"][other]) for other in waiting)
                for other in waiting:
                    become[other] = talon
                waiting = []
            left -= 1
            drawn[seat][talon] += 1
        waiting.append(seat)
    return drawn, become


@pytest.mark.parametrize("rules", [{}, FIVE_EACH])
def test_a_determinization_can_be_played_as_it_says(rules):
    rng = np.random.default_rng(7)
    for number in range(12):
        batch = reshuffled(rng, number % 5, **rules)
        for seat in rng.choice(6, 2, replace=False).tolist():
            drawn, _ = draw(batch, seat, 1)
            again = played_again(drawn)
            for viewer in SIX:
                same = drawn.information_state(viewer) == again.information_state(viewer)
                assert same.all()
                assert (drawn.full_state(viewer) == again.full_state(viewer)).all()
            shown = drawn.information_state(seat) == batch.information_state(seat)
            assert shown.all()
            assert (drawn.observe(seat) == batch.observe(seat)).all()
            assert drawn.describe(0, seat) == batch.describe(0, seat)


def played_again(drawn: Batch) -> Batch:
    """Deals a determinization's cards in the order of its pack, and does what was done in it."""
    table, code = drawn.tables[0], SPEC.pack.code
    batch = kille_env.make_batch(GAME, 1, 6, rules=drawn.rules, seed=1, restart=False)
    deck = [*table["deck"].tolist(), *table["again"][: table["again_end"]].tolist()]
    batch.reset(dealer=int(table["dealer"]), deck=[code(card) for card in deck])
    while batch.tables["phase"][0] == SPEC.phases.index("discard"):
        cards = [code(card) for card in members(table["discarded"][batch.seat[0]])]
        batch.step([batch.find_action(" ".join(["discard", *cards]))])
    for trick in range(table["trick"]):
        card = table["played"][trick][batch.seat[0]]
        batch.step([batch.find_action(f"play {code(card)}")])
    return batch


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("seed", "tricks", "rules"),
    [(1, 1, {}), (2, 2, {}), (3, 3, {}), (4, 4, {}), (5, 1, FIVE_EACH), (6, 3, FIVE_EACH)],
)
def test_own_discards_may_be_wherever_cards_of_the_new_talon_are(seed, tricks, rules):
    rng = np.random.default_rng(seed)
    tried = 0
    while tried < 2:
        few = FewHidden(reshuffled(rng, tricks, **rules), rng)
        possible = few.possible() if few.usable else Counter()
        if len(possible) > 1:
            tried += 1
            drawn = [few.outcome(row) for row in draw(few.batch, few.viewer, 20_000)[1].tolist()]
            assert p_value(possible, drawn) > BY_CHANCE


class FewHidden:
    """A table of six after a reshuffle, with all but a few hidden cards laid open.

    A determinization has a weight: of all ways in which a player can have got five cards, the share
    in which those that had been the viewer's are from the new talon.
    """

    def __init__(self, batch: Batch, rng: np.random.Generator, number: int = 6) -> None:
        self.batch = batch
        table = batch._tables[0]
        self.drawn, become = sources(table)
        self.viewer = int(rng.choice([seat for seat in SIX if become[seat]]))
        self.talon = become[self.viewer]
        self.mine = set(members(table["discarded"][self.viewer]))
        self.plays = plays_of(table)
        owner = {card: seat for trick in self.plays for seat, card in trick}
        own = {card for card, seat in owner.items() if seat == self.viewer}
        own |= set(members(table["hand"][self.viewer]))
        # Where hidden cards are: a seat, "talon" or "elsewhere".
        where: dict[int, Any] = {}
        for seat in SIX:
            if seat != self.viewer:
                where |= dict.fromkeys(members(table["hand"][seat]), seat)
                if not become[seat]:
                    where |= dict.fromkeys(members(table["discarded"][seat]), "elsewhere")
        undrawn = table["again"][table["drawn"] - 42 : table["again_end"]].tolist()
        last = self.talon == max(become)
        where |= dict.fromkeys(undrawn, "talon" if last else "elsewhere")
        order = sorted(where, key=lambda card: (card not in self.mine, rng.random()))
        for card in order[number:]:
            seat = where.pop(card)
            if seat in SIX:
                table["hand"][seat] &= ~np.uint64(1 << card)
            table["face_up"] |= np.uint64(1 << card)
        self.where = where
        self.open = {card: seat for card, seat in owner.items() if seat != self.viewer}
        twins = {card ^ 1 for card in self.mine}
        self.usable = not (self.mine | twins) & set(order[number:]) and self.mine & set(where)
        # Open cards that may be either copy: the viewer does not know where the other one is.
        kinds = {card // 2 for card in self.mine if card ^ 1 not in self.mine | own}
        pairs = [[card for card in self.open if card // 2 == kind] for kind in sorted(kinds)]
        self.unclear = [pair for pair in pairs if pair]

    def possible(self) -> Counter:
        """How likely each outcome is, up to a factor."""
        found: Counter = Counter()
        for swaps in product((False, True), repeat=len(self.unclear)):
            put, cards = dict.fromkeys(chain(*self.unclear)), set(self.where)
            for swapped, pair in zip(swaps, self.unclear, strict=True):
                put |= {card: card ^ swapped for card in pair}
                if swapped and len(pair) == 1:  # the other copy is hidden
                    cards ^= {pair[0], pair[0] ^ 1}
            for order in permutations(sorted(cards)):
                put |= dict(zip(self.where, order, strict=True))
                weight = self._weight(put)
                if weight:
                    found[self.outcome(put)] += weight
        return found

    def _weight(self, put: dict[int, int]) -> float:
        held: dict[int, list[int]] = {seat: [] for seat in SIX if seat != self.viewer}
        now: dict[int, list[int]] = {seat: [] for seat in held}
        for place, where in self.where.items():
            if where in held:
                held[where].append(put[place])
                now[where].append(put[place])
            elif where == "elsewhere" and put[place] in self.mine:
                return 0.0
        for card, seat in self.open.items():
            held[seat].append(put.get(card, card))
        if not forced(self.plays, now):
            return 0.0
        weight = 1.0
        for seat, cards in held.items():
            number = len(self.mine.intersection(cards))
            ways = list(combinations(range(5), self.drawn[seat][self.talon]))
            weight *= sum(set(range(number)) <= set(way) for way in ways) / len(ways)
        return weight

    def outcome(self, put: Any) -> Any:
        """Who holds what, where own discards are in the talon, and what was played in truth."""
        hands = [
            sorted(put[place] for place, where in self.where.items() if where == seat)
            for seat in SIX
        ]
        talon = [put[p] for p, where in self.where.items() if where == "talon"]
        back = [card for card in talon if card in self.mine]
        return str((hands, back, [put[card] for pair in self.unclear for card in pair]))
