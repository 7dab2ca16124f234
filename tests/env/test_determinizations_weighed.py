"""Determinizations that are weighed: too many to list, or not all equally likely.

At a full table they are counted place after place. Where Krypkille's discards were shuffled in
again, own ones may be in the new talon or drawn from it, in more ways for some places than others.
"""

import importlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import kille_env
from env import knack_tables, trick_tables
from env.counted import BY_CHANCE, draw, p_value
from env.trick_tables import Table
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.games.krypkille import SPEC

GAME = "krypkille"
SIX = range(6)
FIVE_EACH = {"max_discards": 5}

# A full table of a game in which what is played says what else is held


def ways(may: np.ndarray, kinds: Iterable[int]) -> int:
    """In how many ways each place gets a card that may lie there.

    Args:
        may: [places, kinds] which kind of card may lie where.
        kinds: How many cards there are of each kind.
    """
    count = Counter({tuple(kinds): 1})
    for row in may:
        after: Counter[tuple[int, ...]] = Counter()
        for left, number in count.items():
            for kind in np.flatnonzero(row):
                if left[kind]:
                    rest = (*left[:kind], left[kind] - 1, *left[kind + 1 :])
                    after[rest] += number * left[kind]
        count = after
    return sum(count.values())


def pair_chances(may: np.ndarray, first: int, second: int) -> np.ndarray:
    """How likely cards lie on two places, [cards, cards].

    Args:
        may: [places, cards] which card may lie where; as many places as cards.
        first: A place.
        second: Another one.
    """
    kinds, kind_of = np.unique(may, axis=1, return_inverse=True)
    kind_of = kind_of.ravel()
    rest, number = np.delete(kinds, (first, second), axis=0), np.bincount(kind_of)
    chances = np.zeros(kinds.shape[1:] * 2)
    for one, other in np.ndindex(chances.shape):
        left = number.copy()
        left[one] -= 1
        left[other] -= 1
        if kinds[first, one] and kinds[second, other] and left.min() >= 0:
            chances[one, other] = ways(rest, left.tolist())
    of_cards = chances[np.ix_(kind_of, kind_of)]
    np.fill_diagonal(of_cards, 0)
    return of_cards / of_cards.sum()


def pair_p_value(may: np.ndarray, drawn: np.ndarray, first: int, second: int) -> float:
    """The p-value of the cards drawn for two places; 0 if they cannot lie there.

    Args:
        may: [places, cards] which card may lie where.
        drawn: [K, places] the number of the card that lies there.
        first: A place.
        second: Another one.
    """
    chances, counts = pair_chances(may, first, second), np.zeros(may.shape)
    np.add.at(counts, (drawn[:, first], drawn[:, second]), 1)
    if counts[chances == 0].any():
        return 0.0
    likely = chances > 0
    return float(chisquare(counts[likely], counts.sum() * chances[likely]).pvalue)


def place_after_place(may: np.ndarray, number: int, seed: int) -> np.ndarray:
    """What a wrong sampler draws: to each place any card that may lie there and is left.

    Args:
        may: [places, cards] which card may lie where.
        number: How many; what comes to an end with no card for a place is thrown away.
        seed: Seed.
    """
    rng, drawn = np.random.default_rng(seed), []
    while len(drawn) < number:
        left, one = np.ones(len(may), dtype=bool), []
        for row in may:
            choice = np.flatnonzero(row & left)
            if len(choice) == 0:
                break
            one.append(rng.choice(choice))
            left[one[-1]] = False
        else:
            drawn.append(one)
    return np.array(drawn)


Places = list[tuple[int, int]]
"""Whose hidden cards a seat does not see, and which card lies there; the talon is seat -1."""


def allowed(table: Table, places: Places) -> np.ndarray:
    """[places, places] Which hidden card may lie where: the decisions stay legal with it there.

    Each place is judged alone: the slow twin plays with one card more in the pack.
    """
    match_of = importlib.import_module(f"reference.{table.game}").Match
    words = [text for text in table.actions if not text.startswith("play")]
    may = np.ones((len(places), len(places)), dtype=bool)
    for row, (owner, old) in enumerate(places):
        for column, (_, new) in enumerate(places if owner >= 0 else ()):
            before, after = table.spec.pack.code(old), table.spec.pack.code(new)
            match = match_of(
                table.players, table.rules.as_dict(), table.first_dealer, lambda: table.decks[0]
            )
            for text in words:
                match.play(text)
            match.hand[owner][match.hand[owner].index(before)] = after
            try:
                for text in table.actions[len(words) :]:
                    mine = match.seat == owner and text == f"play *{before}"
                    match.play(f"play *{after}" if mine else text)
            except ValueError:
                may[row, column] = False
    return may


def check_full_table(
    table: Table, seat: int, places: Places, pairs: Sequence[tuple[int, int]], number: int = 30_000
) -> None:
    """Checks how often cards were drawn for pairs of places; that it can fail is checked, too.

    Args:
        table: The table; none of its discards are hidden.
        seat: Whose determinizations.
        places: The hidden ones.
        pairs: Numbers of places that are looked at together.
        number: How many are drawn.
    """
    may, cards = allowed(table, places), np.array([card for _, card in places])
    lies = draw(table.batch, seat, number)[1][:, cards]
    drawn = (lies[:, :, None] == cards).argmax(axis=2)
    assert (cards[drawn] == lies).all()
    assert may[np.arange(len(cards)), drawn].all()
    assert min(pair_p_value(may, drawn, *pair) for pair in pairs) > BY_CHANCE
    wrong = place_after_place(may, 2000, seed=0)
    assert min(pair_p_value(may, wrong, *pair) for pair in pairs) < BY_CHANCE / 1000


def knack_table() -> Table:
    """Eleven players before the third trick; thirteen cards are hidden, one of them face down."""
    table = knack_tables.play(
        "QC TS 9H | 9D JD 7S | KC JH 8C | QS 8H 7H | 6C TC 6S | AC KS 9S | AD JS TH | 6H JC KH | "
        "KD 8D 8S | QH AS 7D | AH TD 6D",
        turn_up="QD",
    )
    table.knock(*range(11))
    return table.act(
        "0 QC, 1 7S, 2 KC, 3 8H, 4 TC, 5 AC, 6 JS, 7 JC, 8 8S, 9 AS, 10 AH, "
        "5 *9S, 6 AD, 7 KH, 8 8D, 9 7D, 10 TD, 0 9H, 1 9D, 2 JH, 3 QS, 4 6S"
    )


def places_at_knack(table: Table, seat: int) -> Places:
    """Whose hidden cards a seat does not see, and which card lies there."""
    codes = table.spec.pack.codes
    match = table._twin()
    places = [(s, card) for s in range(table.players) if s != seat for card in match.hand[s]]
    places += [(s, card) for s, card in match.hidden.items() if s != seat]
    places += [(-1, card) for card in table.decks[0][3 * table.players + 1 :]]
    return [(s, codes.index(card)) for s, card in places]


def femkortskille_table() -> Table:
    """Eight players in the fourth trick, forty cards dealt; seat 1 has not seen fifteen cards."""
    hands = (
        "L5 L6 SV | BL GO GO | L4 L7 L9 | BL L2 L6 | BP L7 HU | L11 VH KA | L3 L5 HU | L4 L10 L11"
    )
    script = (
        "5 knock, 6 knock, 7 knock, 0 knock, 1 knock, 2 knock, 3 knock, 4 knock, "
        "5 L9, 6 HU, 7 L1, 0 L5, 1 GO, 2 L4, 3 BL, 4 KI, 4 HU, 5 L10, 6 BP, 7 L1, 0 L6, 1 GO, "
        "2 L7, 3 KR, 1 BL, 2 L12, 3 L2, 4 BP, 5 KA, 6 KR, 7 L4, 0 SV, 0 L12"
    )
    talon = "L9 L10 BP KR L1 L1 L12 KA L3 L8 L12 SV KR L8 L2 KI"
    return trick_tables.play("femkortskille", hands, script, talon, dealer=4, follow="lowest")


@pytest.mark.compiled
def test_hands_of_a_full_table_are_drawn_as_often_as_there_are_ways_to_deal_the_others():
    table = knack_table()
    pairs = tuple(zip(range(13), (1, 2, 3, 10, 5, 6, 7, 8, 9, 11, 12, 0, 4), strict=True))
    check_full_table(table, 8, places_at_knack(table, 8), pairs)
    table = femkortskille_table()
    hands, deck = table.record["hand"], table.record["deck"].tolist()
    places = [(seat, card) for seat in range(8) if seat != 1 for card in members(hands[seat])]
    places += [(-1, card) for card in deck[table.record["drawn"] :]]
    assert len(places) == 15
    pairs = tuple((place, (3 * place + 1) % 15) for place in range(15) if place != 7)
    check_full_table(table, 1, places, pairs)


# Discards that were shuffled in again


def reshuffled(rng: np.random.Generator, tricks: int, waiting: int = 0, **rules: Any) -> Batch:
    """Returns a table of six, some tricks after an exchange in which the talon has run out.

    Or the exchange is not over, and some seats wait for it.
    """
    while True:
        batch = kille_env.make_batch(
            GAME, 1, 6, rules=rules, seed=int(rng.integers(2**32)), restart=False
        )
        batch.reset()
        while (batch.tables["exchanged"][0] < 0).sum() > waiting:
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
    for number in range(18):
        waiting = int(number > 11)
        batch = reshuffled(rng, 0 if waiting else number % 5, waiting, **rules)
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
    for _ in range((table["exchanged"] >= 0).sum()):
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
        table = batch.arrays.tables[0]
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
