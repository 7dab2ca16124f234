"""Determinizations of Byteskille: all that a seat cannot tell apart, equally likely.

Named positions first. The cards that a seat cannot know are marked, "L5 VH? L3?", and every way to
lay other cards there is played through by the slow twin. Those ways that look the same to the seat
are counted: they are what the kernel must draw from. Then random hands under all switches.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from env.hidden_cards import draw, p_value
from env.tables import Table, play
from env.test_twins import random_rules
from env.trick_tables import NoMoreCards
from kille_env.core.batch import Batch
from kille_env.games.byteskille import SPEC
from kille_env.testing.determinization import Hand, check_determinizations, hands
from reference.byteskille import Match

NUMBER, FINELY = 50_000, 1_000_000
LEAST = 1e-4  # what is less likely than this is no chance
CODES = SPEC.pack.codes
Types = tuple[str, ...]


class Position:
    """A hand in which some cards are marked as those that a seat cannot know.

    Args:
        viewer: The seat.
        cards: The cards, forehand's first, and "?" behind those that the seat cannot know.
        script: The decisions.
        talon: The cards that were drawn, likewise marked.
        before: Cards and decisions of earlier hands.
        rules: Switches.
    """

    def __init__(
        self,
        viewer: int,
        cards: str,
        script: str = "",
        talon: str = "",
        before: tuple[tuple[str, str], ...] = (),
        **rules: Any,
    ) -> None:
        self.viewer, self.script = viewer, [line.split() for line in script.split(",") if line]
        given = [*cards.split(), *talon.split()]
        self.codes = [card.rstrip("?") for card in given]
        self.places = [place for place, card in enumerate(given) if card.endswith("?")]
        players = len((before[0][0] if before else cards).split())
        self.table = Table(players, **rules)
        for earlier, decisions in before:
            self.table.deal(earlier).act(decisions)
        self.earlier = len(self.table.actions)
        number = len(cards.split())
        self.table.deal(" ".join(self.codes[:number]), " ".join(self.codes[number:])).act(script)
        assert self.table.record["drawn"] == len(given), "the talon names the cards that are drawn"

    def possible(self) -> Counter[Types]:
        """The cards that may lie in the marked places, and in how many ways, by the slow twin."""
        true = self._view(self.codes)
        assert true is not None
        seen = [code for place, code in enumerate(self.codes) if place not in self.places]
        found: Counter[Types] = Counter()
        for kinds, ways in _ways(_left(seen), len(self.places)):
            codes = list(self.codes)
            for place, kind in zip(self.places, kinds, strict=True):
                codes[place] = kind
            if self._view(codes, true) == true:
                found[kinds] = ways
        return found

    def _view(self, codes: list[str], true: Any = None) -> Any:
        """What the seat sees once all has been decided as it was; None if that is not possible.

        With `true`, what others decided in secret is left open: whoever is asked waits.
        """
        decks = iter([*self.table.decks[:-1], codes])
        twin = Match.__new__(Match)

        def next_deck() -> list[str]:
            try:
                return next(decks)
            except StopIteration:
                raise NoMoreCards from None

        try:
            twin.__init__(
                self.table.players, self.table.rules.as_dict(), self.table.first_dealer, next_deck
            )
            for text in self.table.actions[: self.earlier]:
                twin.play(text)
            for seat, text in self.script:
                if true is not None:
                    while twin.phase == "gok" and twin.seat not in (int(seat), self.viewer):
                        twin.play("wait")
                    if text == "wait" and int(seat) != self.viewer:
                        continue
                if twin.seat != int(seat) or text not in twin.legal():
                    return None
                twin.play(text)
            while twin.phase == "gok" and true not in (None, twin.view(self.viewer)):
                twin.play("wait")
        except (NoMoreCards, ValueError):  # more cards would have been dealt, or drawn
            return None
        return twin.view(self.viewer)

    def drawn(self, number: int) -> Counter[Types]:
        """Draws determinizations; counts what lies in the marked places."""
        rest = [place for place in range(len(self.codes)) if place not in self.places]
        counts: Counter[Types] = Counter()
        for first in range(0, number, NUMBER):
            keys = np.arange(first, min(first + NUMBER, number))
            batch = self.table.batch.take(np.zeros(len(keys), dtype=np.int64))
            batch.resample(self.viewer, keys)
            kinds = batch.tables["deck"] >> 1
            assert (kinds[:, rest] == [CODES.index(self.codes[place]) for place in rest]).all()
            counts += count(kinds[:, self.places])
        return counts


def count(kinds: np.ndarray) -> Counter[Types]:
    """Counts the rows of kinds of cards."""
    rows, numbers = np.unique(kinds, axis=0, return_counts=True)
    codes = [tuple(CODES[kind] for kind in row) for row in rows.tolist()]
    return Counter(dict(zip(codes, numbers.tolist(), strict=True)))


def _ways(left: dict[str, int], places: int) -> Iterator[tuple[Types, int]]:
    """All kinds of cards that can be laid in places, one after the other, and the ways to do so."""
    if places == 0:
        yield (), 1
        return
    for code, number in left.items():
        if number:
            for kinds, ways in _ways({**left, code: number - 1}, places - 1):
                yield (code, *kinds), number * ways


def _left(seen: Iterable[str]) -> dict[str, int]:
    """How many cards of each kind are left of a pack."""
    left = dict.fromkeys(CODES, 2)
    for code in seen:
        left[code] -= 1
    return left


AFTER: dict[str, Any] = {"dealer_after_inn": True}
WIKI: dict[str, Any] = {"preset": "wikipedia"}
FIRST_HAND = ("L5 L6 L7 L1", "0 stand, 1 stand, 2 stand, 3 stand")

BOUNDED = "what others exchange is no kille, what was asked for no matador"
POSITIONS: dict[str, tuple[Any, ...]] = {
    # Seat, cards, decisions, cards drawn from the talon, rules.
    "nothing has happened": (0, "L5 L3? L9?"),
    "the dealer knows no more": (2, "KI? GO? L9", "1 wait, 0 stand"),
    "a seat between": (1, "L5? GO L9?", "1 wait, 0 stand"),
    "two players": (0, "L5 L3?"),
    "two players, the dealer": (1, "L5? L3", "0 stand"),
    "two players by the English article: no kille, no gok": (0, "L5 L3?", "", "", WIKI),
    "likewise for the dealer": (1, "HU? L3", "0 stand", "", WIKI),
    "three by the English article: all cards": (0, "L5 KI? L9?", "", "", WIKI),
    BOUNDED: (2, "L5? L3? L9", "0 swap"),
    "who gave a card follows it": (0, "L5 L3 L9? BL?", "0 swap, 1 swap"),
    "a matador passed on unseen": (2, "HU? L3? L9", "0 swap, 1 stand"),
    "a card given twice": (3, "L5? L3? L9? BL", "0 swap, 1 swap"),
    "both copies are not here": (2, "L5? L3? L9", "0 swap, 1 stand"),
    "behind an inn": (3, "L5? VH L3? L7", "0 swap"),
    "a husar": (3, "L5? HU L3? L9", "0 swap"),
    "a kille chopped by a husar": (2, "KI? HU L3 L9?", "0 swap"),
    "a svin, and nothing to undo": (2, "KI? SV L3 L9?", "0 swap"),
    "a svin that undoes": (3, "L5? L6? SV L9", "0 swap, 1 swap"),
    "a svin that undoes, for one who was in it": (0, "L5 L6 SV L9?", "0 swap, 1 swap"),
    "an open kille": (2, "KI L3? L9", "0 swap"),
    "an open kille and a hidden one": (3, "KI L3? KI? L9", "0 swap"),
    "killemote": (2, "KI KI L3 L9?", "0 swap"),
    "killes rank high": (2, "L5? KI L3 L9?", "0 swap", "", {"dealt_kille": "high"}),
    "a holder is asked": (1, "L5? GO L9?"),
    "a holder is asked, another one was": (2, "L5? GO? GO", "1 wait"),
    "another is asked": (2, "L5? GO? L9"),
    "the player on turn, while another is asked": (0, "L5 GO? L9?"),
    "a holder whom another's question hides": (2, "L5? GO? GO"),
    "a holder has waited": (1, "L5? GO L9?", "1 wait"),
    "a gok given away": (0, "GO L3 L9? L4?", "0 swap"),
    "on turn, after others waited": (1, "L5 L3 GO? L9?", "2 wait, 0 swap"),
    "nobody may call": (0, "L5 GO? GO?", "", "", {"gok_call": "off"}),
    "forehand asks": (1, "L5? L3 L9?", "0 ask"),
    "the dealer defers": (2, "L5? L3? L9", "0 ask, 2 defer"),
    "the answer is no": (0, "L5 L3? L9?", "0 ask, 2 no"),
    "a drawn card and one laid aside": (2, "L5? L6? VH", "0 swap, 1 swap", "L7?", AFTER),
    "drawn cards for the dealer": (2, "L5? L6? VH", "0 stand, 1 swap", "L7?", AFTER),
    "drawn cards for a bystander": (0, "L5 L6? VH", "0 stand, 1 swap", "L7?", AFTER),
    "drawn cards for who gave one of them": (0, "L5 L6 VH", "0 swap, 1 swap", "L7?", AFTER),
    "a matador is laid aside": (2, "L5? HU? VH", "0 stand, 1 swap", "L7?", AFTER),
    "a kille drawn": (2, "L5? L6? VH", "0 stand, 1 swap", "KI", AFTER),
    "a kille laid aside": (0, "L5 KI VH", "0 stand, 1 swap", "L7?", AFTER),
    "a cavalier drawn first": (2, "L5? L6? VH", "0 stand, 1 swap", "KA L7?", AFTER),
    "a cavalier drawn, and that is all": (
        *(2, "L5? L6? VH", "0 stand, 1 swap", "KA"),
        {"stock_redraw": False, **AFTER},
    ),
    "a husar drawn": (2, "L5? KI? VH", "0 stand, 1 swap", "HU", AFTER),
    "a svin drawn": (2, "L5? L6? VH", "0 swap, 1 swap", "SV", AFTER),
    "two by the English article, one draws": (1, "L5? VH", "0 swap", "L7?", {**WIKI, **AFTER}),
    "laid aside, buying in": (1, "L5 L6 L7 L2?", "0 stand, 1 stand, 2 stand, 3 swap", "BL"),
    "laid aside after an exchange, buying in": (
        *(0, "L5 L6 L7? L9", "0 stand, 1 stand, 2 swap, 3 swap"),
        "BL",
    ),
    "laid aside by an inn's holder's left, buying in": (
        *(0, "L5 L6 L7? VH", "0 stand, 1 stand, 2 swap"),
        "BL",
    ),
}


def build(name: str) -> Position:
    given = POSITIONS[name]
    viewer, cards, script, talon, rules = given + ("", "", {})[len(given) - 2 :]
    return Position(viewer, cards, script, talon, **rules)


def each(counts: Counter[Types], place: int) -> Counter[Types]:
    """Counts one place alone."""
    alone: Counter[Types] = Counter()
    for kinds, number in counts.items():
        alone[kinds[place : place + 1]] += number
    return alone


def check_position(position: Position, number: int = NUMBER) -> None:
    """Compares many determinizations with all that are possible: jointly, and place by place."""
    expected, counts = position.possible(), position.drawn(number)
    assert p_value(expected, counts) > LEAST
    for place in range(len(position.places)):
        assert p_value(each(expected, place), each(counts, place)) > LEAST


@pytest.mark.compiled
@pytest.mark.parametrize("name", POSITIONS)
def test_determinizations_are_those_that_look_the_same_to_the_seat_each_equally_likely(name):
    check_position(build(name))


@pytest.mark.parametrize(
    ("viewer", "cards"), [(0, "L8? KI L9"), (1, "L8 KI L9?"), (3, "L8? KI L9?")]
)
def test_one_who_is_out_knows_what_is_public_only(viewer, cards, scale):
    """Seat 3 went out by the first hand; of the second it sees no card but the kille that moved."""
    rules: dict[str, Any] = {"reentry": "none"}
    position = Position(viewer, cards, "1 swap", before=(FIRST_HAND,), **rules)
    assert position.table.in_pot == {0, 1, 2}
    check_position(position, scale(NUMBER, 300))


def test_a_hand_that_was_dealt_again_tells_nothing(scale):
    before = (("L5 GO KI", "1 wait, 0 ask, 2 defer, 1 yes"),)
    check_position(Position(0, "L5 GO? L9?", before=before), scale(NUMBER, 300))


def test_the_rest_of_the_pack_lies_as_randomly_as_the_hands(scale):
    """The last card of the pack, while another seat has shown that it holds no matador."""
    number = scale(NUMBER, 300)
    position = Position(2, "L5? L3? L9", "0 swap")
    batch = draw(position.table.batch, 2, number)[0]
    last = count(batch.tables["deck"][:, -1:] >> 1)
    expected = Counter[Types]()
    for kinds, ways in position.possible().items():
        for code, left in _left(["L9", *kinds]).items():
            expected[code,] += ways * left
    assert p_value(expected, last) > LEAST


@pytest.mark.compiled
def test_places_with_different_bounds_are_dealt_exactly():
    position = build(BOUNDED)
    assert p_value(position.possible(), position.drawn(FINELY)) > LEAST


@pytest.mark.parametrize(("cards", "script"), [("L5 L3 L9", ""), ("L5 L3 GO", "2 wait")])
def test_in_a_determinization_those_are_asked_who_hold_a_gok_there(cards, script, scale):
    batch = draw(play(cards, script).batch, 0, scale(2000, 200))[0]
    batch.apply(np.zeros(batch.num_tables, dtype=np.int64))
    asked = batch.tables["phase"] == SPEC.phases.index("gok")
    assert np.array_equal(asked, batch.tables["hand"][:, 2] >> 1 == CODES.index("GO"))
    assert asked.any()


@pytest.mark.parametrize("seat", [0, 2])
def test_in_a_determinization_nobody_is_asked_of_whom_the_seat_cannot_know(seat, scale):
    batch = draw(play("L5 GO L9").batch, seat, scale(1000, 20))[0]
    assert (batch.seat == 0).all()
    assert (batch.tables["phase"] == SPEC.phases.index("turn")).all()


def test_a_holder_who_is_asked_is_asked_in_each_of_its_determinizations(scale):
    batch = draw(play("L5 GO L9").batch, 1, scale(1000, 20))[0]
    assert (batch.seat == 1).all()
    assert (batch.tables["phase"] == SPEC.phases.index("gok")).all()


# Relabelling


@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_with_the_two_copies_of_each_card_exchanged_all_goes_on_alike(players, scale):
    """Open cards, the ranks of killes now and before, who has held what: all of it moves along."""
    turns, moved = random.Random(players), 0
    for number in range(scale(60, 12)):
        rules = random_rules(SPEC, turns)
        hand = next(hands("byteskille", players, rules, number))
        one, other = hand.states[-1].clone(), hand.states[-1].clone()
        copies = np.arange(SPEC.pack.size, dtype=np.int8)[None] ^ 1
        other.game.relabel(other._tables, other._rules, copies)
        while not one.over[0] and one.tables["deals"][0] == hand.states[0].tables["deals"][0]:
            for seat in range(players):
                for view in ("observe", "information_state", "legal_actions", "full_state"):
                    assert np.array_equal(getattr(one, view)(seat), getattr(other, view)(seat))
            moved += int(one.tables["shown"][0] != other.tables["shown"][0])
            action = [turns.choice(np.flatnonzero(one.mask[0]).tolist())]
            one.step(action)
            other.step(action)
            assert np.array_equal(one.reward, other.reward)
    assert moved


# Random hands, all switches


def test_determinizations_of_random_hands_can_be(scale):
    rng = random.Random(7)
    for number in range(scale(60, 4)):
        players = rng.choice((2, 2, 3, 3, 4, 5, 7, 13, 20))
        rules = random_rules(SPEC, rng)
        check_determinizations("byteskille", players, rules, scale(250, 8), number)


def what_it_saw(hand: Hand, seat: int) -> int:
    """The cards that a seat has held or that lie open, a set."""
    table = hand.states[-1].tables[0]
    held = {int(state.tables["hand"][0, seat]) for state in hand.states} - {-1}
    return int(table["shown"]) | sum(1 << card for card in held)


@pytest.mark.compiled
@pytest.mark.parametrize("players", [2, 3, 5])
def test_determinizations_of_random_hands_lie_like_those_that_shuffling_finds(players):
    """Shuffles whatever a seat has not seen, and keeps what would have looked the same to it."""
    rng, turns = np.random.default_rng(players), random.Random(players)
    chances: list[float] = []
    for number in range(5):
        rules = random_rules(SPEC, turns)
        for hand in islice(hands("byteskille", players, rules, number), 4):
            seat, last = turns.randrange(players), hand.states[-1]
            seen = what_it_saw(hand, seat)
            hidden = [card for card in range(SPEC.pack.size) if not seen >> card & 1]
            cards = np.tile(np.arange(SPEC.pack.size, dtype=np.int8), (1500, 1))
            cards[:, hidden] = rng.permuted(cards[:, hidden], axis=1)
            possible = cards[hand.possible(seat, cards)]
            drawn = last.take(np.zeros(1500, dtype=np.int64)).resample(seat, np.arange(1500))
            for card in set(last.drawn_cards().tolist()) & set(hidden):
                chances.append(alike(possible[:, card] >> 1, drawn[:, card] >> 1))
    assert len(chances) > 10
    assert min(chances) * len(chances) > LEAST


def alike(one: np.ndarray, other: np.ndarray) -> float:
    """The chance that two samples of whole numbers differ as much as these; rare ones as one."""
    _, kinds = np.unique(np.concatenate([one, other]), return_inverse=True)
    halves = np.split(kinds, [len(one)])
    counts = np.stack([np.bincount(half, minlength=kinds.max() + 1) for half in halves])
    rare = counts.sum(axis=0) < 20
    cells = np.concatenate([counts[:, ~rare], counts[:, rare].sum(axis=1, keepdims=True)], axis=1)
    return float(chi2_contingency(cells[:, cells.any(axis=0)]).pvalue)


def least_alike(one: Batch, other: Batch, seat: int, fields: Iterable[str]) -> tuple[float, int]:
    """Compares 1000 determinizations each of two tables that a seat cannot tell apart.

    Returns:
        The least chance of all fields that can differ, and how many those are.
    """
    samples = []
    for first, table in ((0, one), (1000, other)):
        batch = table.take(np.zeros(1000, dtype=np.int64))
        batch.resample(seat, np.arange(first, first + 1000))
        samples.append(batch.tables)
    chances = [1.0]
    for field in fields:
        mine, theirs = (sample[field].reshape(1000, -1) for sample in samples)
        for column in np.flatnonzero((mine != theirs).any(axis=0)):
            chances.append(alike(mine[:, column], theirs[:, column]))
    return min(chances), len(chances)


FIELDS = set(SPEC.table.names or ()) - {"seed", "match_key", "rng"}


@pytest.mark.compiled
def test_a_determinization_does_not_tell_the_table_that_it_was_drawn_for():
    turns = random.Random(0)
    for players in (2, 3, 5):
        rules = random_rules(SPEC, turns)
        for hand in islice(hands("byteskille", players, rules, players), 4):
            seat, here = turns.randrange(players), hand.states[-1]
            there = here.clone()
            there.resample(seat, [players])
            chance, number = least_alike(here, there, seat, FIELDS)
            assert chance * number > LEAST


@pytest.mark.compiled
@pytest.mark.parametrize("script", ["", "1 wait"])
def test_a_determinization_does_not_tell_whether_another_was_asked(script):
    here, there = play("L5 GO L9", script), play("L5 L3 L9")
    chance, number = least_alike(here.batch, there.batch, 0, FIELDS)
    assert chance * number > LEAST


@pytest.mark.compiled
def test_a_determinization_does_not_tell_who_held_what_in_an_earlier_hand():
    one, other = (
        Table(4, reentry="none").deal(cards).act(FIRST_HAND[1]).deal("L2 L3 L4")
        for cards in ("L5 L6 L7 L1", "L7 L6 L5 L1")
    )
    chance, number = least_alike(one.batch, other.batch, 0, ["held"])
    assert chance * number > LEAST


# A wrong sampler is noticed


def kinds_not_cards(expected: dict[Types, int]) -> list[float]:
    """All kinds of cards equally likely, though two cards of a kind can come in two ways."""
    return [1.0 for _ in expected]


def free_places_first(expected: dict[Types, int]) -> list[float]:
    """The first place is dealt before the second, into which fewer of the cards may come."""
    firsts, left = each(Counter(expected), 0), _left(["L9"])
    return [ways * left[kinds[0]] / firsts[kinds[:1]] for kinds, ways in expected.items()]


@pytest.mark.parametrize("wrong", [kinds_not_cards, free_places_first])
def test_a_sampler_that_is_nearly_right_is_noticed(wrong):
    expected = build(BOUNDED).possible()
    rng = np.random.default_rng(0)

    def multinomial(weights: list[float]) -> Counter[Types]:
        chances = np.array(weights) / sum(weights)
        return Counter(dict(zip(expected, rng.multinomial(FINELY, chances).tolist(), strict=True)))

    assert p_value(expected, multinomial([float(ways) for ways in expected.values()])) > LEAST
    assert p_value(expected, multinomial(wrong(expected))) < LEAST


def test_an_impossible_determinization_is_noticed():
    expected = build("a husar").possible()
    assert ("HU", "HU") not in expected
    assert p_value(expected, [("HU", "HU")]) == 0
