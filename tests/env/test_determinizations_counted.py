"""Determinizations of every game: all that a seat cannot tell apart, each equally likely.

The positions of tests/rules/determinizations are counted first, then random hands under all
switches, both by `counted.Position`. Positions with too many determinizations to list are
in test_determinizations_weighed.py.
"""

import random
import re
from collections import Counter
from itertools import combinations, islice
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import kille_env
from env.counted import BY_CHANCE, Kinds, Position, draw, p_value
from env.test_rules import play, rows
from env.test_twins import random_rules
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.testing.determinization import check_determinizations, hands

FILES = sorted((Path(__file__).parents[1] / "rules" / "determinizations").glob("*.txt"))
CASE = re.compile(r"seat (\d+)(?: of (\d+))?: (.*)")
CASES = [
    pytest.param(path.stem, case, id=f"{path.stem}: {sentence}")
    for path in FILES
    for sentence, cases in rows(path)
    for case in cases
]
BOUNDED = (
    "L5 L3 L9 : 0 swap"  # what seat 0 has is no kille, what seat 1 has given no matador either
)


def position(game: str, viewer: int, case: str, *, talon: bool = False) -> Position:
    """Return a position of the tables of rules."""
    return Position(play(game, case).hand_so_far, viewer, talon=talon)


@pytest.mark.compiled
@pytest.mark.parametrize(("game", "case"), CASES)
def test_determinizations_are_those_that_look_the_same_to_the_seat_each_equally_likely(game, case):
    seat, number, table = CASE.fullmatch(case).groups()
    possible = position(game, int(seat), table).check()
    assert number is None or possible.total() == int(number)


@pytest.mark.compiled
@pytest.mark.parametrize("players", [2, 3, 4])
def test_so_are_those_of_random_hands(game, players):
    """Under all switches, where there are few enough to be listed."""
    spec, rng, checked = kille_env.spec(game), random.Random(players), 0
    while checked < 6:
        rules = random_rules(spec, rng, players)
        for hand in islice(hands(game, players, rules, rng.randrange(10**6)), 6):
            seat = rng.randrange(players)
            ways = [Position(hand, seat, discards=discards) for discards in (True, False)]
            few = [one for one in ways if 1 < one.number <= 3000]
            checked += bool(few and len(few[0].check()) > 1)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("game", "viewer", "case"),
    [
        ("byteskille", 2, BOUNDED),
        ("knack", 1, "AC 7C 7H | 6D 7D 8D / 6H : 0 knock, 1 knock, 0 AC, 1 6D, 0 7H"),
        ("femkortskille", 0, "@preset=tiny KI L8 | L2 BL / L11 L5 : 0 knock, 1 knock, 0 L8, 1 L2"),
    ],
)
def test_the_rest_of_the_pack_lies_as_randomly_as_the_hands(game, viewer, case):
    position(game, viewer, case, talon=True).check()


@pytest.mark.compiled
def test_places_with_different_bounds_are_dealt_exactly():
    position("byteskille", 2, BOUNDED).check(number=1_000_000)


@pytest.mark.compiled
@pytest.mark.parametrize("game", ["femkortskille", "kungsholmskille"])
def test_nobody_can_tell_which_of_its_cards_a_seat_was_dealt_and_which_it_drew(game):
    """Of those that it has played, too: every choice of so many is equally likely."""
    moves = {
        "femkortskille": "KI HU L9 | L2 L4 L5 / L6 L3 L7 L8 : 0 knock, 1 knock, 0 L9, 1 L2, 0 HU, "
        "1 L5, 0 KI, 1 L4",
        "kungsholmskille": "KI HU L9 L3 L1 | L2 L4 L5 L6 L8 / L7 L8 : 0 knock, 1 stay, 0 discard, "
        "1 discard L2 L4, 0 knock, 0 L9, 1 L5, 0 KI, 1 L6",
    }
    table = position(game, 0, moves[game]).now
    other = table.tables[0]
    held = [card for card in other["played"][:, 1].tolist() if card >= 0]
    number = len(held) + len(members(other["hand"][1]))
    drawn = draw(table, 0, 20_000)[0].tables
    later = [
        tuple(bool(cards >> card & 1) for card in [*held, *members(hand)])
        for cards, hand in zip(
            drawn["drawn_cards"][:, 1].tolist(), drawn["hand"][:, 1], strict=True
        )
    ]
    chosen = combinations(range(number), len(members(other["drawn_cards"][1])))
    expected = Counter(tuple(place in some for place in range(number)) for some in chosen)
    assert len(expected) == 10
    assert p_value(expected, later) > BY_CHANCE


# Who is asked in secret, in Byteskille


@pytest.mark.parametrize("case", ["L5 L3 L9", "L5 L3 GO : 2 wait"])
def test_in_a_determinization_those_are_asked_who_hold_a_gok_there(case, scale):
    batch = draw(play("byteskille", case).batch, 0, scale(2000, 200))[0]
    batch.apply(np.zeros(batch.num_tables, dtype=np.int64))
    asked = batch.tables["phase"] == batch.spec.phases.index("gok")
    gok = batch.spec.pack.codes.index("GO")
    assert np.array_equal(asked, batch.tables["hand"][:, 2] >> 1 == gok)
    assert asked.any()


@pytest.mark.parametrize(("seat", "acts", "phase"), [(0, 0, "turn"), (2, 0, "turn"), (1, 1, "gok")])
def test_only_a_seat_that_is_asked_itself_knows_that_somebody_is(seat, acts, phase, scale):
    batch = draw(play("byteskille", "L5 GO L9").batch, seat, scale(1000, 20))[0]
    assert (batch.seat == acts).all()
    assert (batch.tables["phase"] == batch.spec.phases.index(phase)).all()


@pytest.mark.compiled
def test_a_holder_knows_no_more_while_another_is_asked():
    expected = position("byteskille", 2, "@gok_call=off L5 GO GO").possible()
    assert p_value(expected, position("byteskille", 2, "L5 GO GO").drawn()) > BY_CHANCE


# Any table


def test_determinizations_of_random_hands_can_be(game, scale):
    spec, rng = kille_env.spec(game), random.Random(7)
    for number in range(scale(20, 2)):
        players = rng.choice((2, 3, 4, rng.randint(2, spec.max_players), spec.max_players))
        rules = random_rules(spec, rng, players)
        check_determinizations(game, players, rules, scale(250, 8), number)


@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_with_the_two_copies_of_each_card_exchanged_all_goes_on_alike(players, scale):
    """Open cards, the ranks of killes now and before, who has held what: all of it moves along."""
    spec, turns, moved = kille_env.spec("byteskille"), random.Random(players), 0
    for number in range(scale(60, 12)):
        rules = random_rules(spec, turns)
        hand = next(hands("byteskille", players, rules, number))
        one, other = hand.states[-1].clone(), hand.states[-1].clone()
        copies = np.arange(spec.pack.size, dtype=np.int8)[None] ^ 1
        other.game.relabel(other.arrays.tables, other.arrays.rules, copies)
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


# What a determinization tells of the table that it was drawn for


def alike(one: np.ndarray, other: np.ndarray) -> float:
    """The chance that two samples of numbers differ as much as these; rare ones as one."""
    _, kinds = np.unique(np.concatenate([one, other]), return_inverse=True)
    halves = np.split(kinds, [len(one)])
    counts = np.stack([np.bincount(half, minlength=kinds.max() + 1) for half in halves])
    rare = counts.sum(axis=0) < 20
    cells = np.concatenate([counts[:, ~rare], counts[:, rare].sum(axis=1, keepdims=True)], axis=1)
    cells = cells[:, cells.any(axis=0)]
    return float(chi2_contingency(cells).pvalue) if cells.shape[1] > 1 else 1.0


def check_alike(one: Batch, other: Batch, seat: int) -> None:
    """Compare every field of 1000 determinizations each of two tables that look the same."""
    samples = [table.take(np.zeros(1000, dtype=np.int64)) for table in (one, other)]
    for number, batch in enumerate(samples):
        batch.resample(seat, np.arange(1000) + 1000 * number)
    chances = [1.0]
    for field in set(one.spec.table.names or ()) - {"seed", "match_key", "rng"}:
        mine, theirs = (batch.tables[field].reshape(1000, -1) for batch in samples)
        for column in np.flatnonzero((mine != theirs).any(axis=0)):
            chances.append(alike(mine[:, column], theirs[:, column]))
    assert min(chances) * len(chances) > BY_CHANCE


@pytest.mark.compiled
@pytest.mark.parametrize("players", [2, 3, 5])
@pytest.mark.parametrize("game", ["byteskille", "knack"])
def test_a_determinization_does_not_tell_the_table_that_it_was_drawn_for(game, players):
    turns = random.Random(players)
    rules = random_rules(kille_env.spec(game), turns, players)
    for hand in islice(hands(game, players, rules, players), 4):
        seat, here = turns.randrange(players), hand.states[-1]
        there = here.clone()
        there.resample(seat, [players])
        check_alike(here, there, seat)


STAND = ": 0 stand, 1 stand, 2 stand, 3 stand & L2 L3 L4"


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("L5 GO L9", "L5 L3 L9"),
        ("L5 GO L9 : 1 wait", "L5 L3 L9"),
        (f"@reentry=none L5 L6 L7 L1 {STAND}", f"@reentry=none L7 L6 L5 L1 {STAND}"),
    ],
    ids=["who is asked", "who was asked", "who held what in an earlier hand"],
)
def test_a_determinization_of_byteskille_does_not_tell(one, other):
    check_alike(play("byteskille", one).batch, play("byteskille", other).batch, 0)


# A wrong sampler is noticed


def kinds_not_cards(place: Position, expected: Counter[Kinds]) -> list[float]:
    """All kinds of cards equally likely, though two cards of a kind can come in two ways."""
    return [1.0 for _ in expected]


def free_places_first(place: Position, expected: Counter[Kinds]) -> list[float]:
    """The second place is dealt before the first, into which fewer of the cards may come."""
    seconds, free = place.each(expected)[1], Counter(card // place.copies for card in place.hidden)
    return [ways * free[kinds[1]] / seconds[kinds[1:]] for kinds, ways in expected.items()]


@pytest.mark.compiled
@pytest.mark.parametrize("wrong", [kinds_not_cards, free_places_first])
def test_a_sampler_that_is_nearly_right_is_noticed(wrong):
    place = position("byteskille", 2, BOUNDED)
    expected = place.possible()
    rng = np.random.default_rng(0)

    def drawn(weights: list[float]) -> Counter[Kinds]:
        counts = rng.multinomial(1_000_000, np.array(weights) / sum(weights))
        return Counter(dict(zip(expected, counts.tolist(), strict=True)))

    assert p_value(expected, drawn([float(ways) for ways in expected.values()])) > BY_CHANCE
    assert p_value(expected, drawn(wrong(place, expected))) < BY_CHANCE
    assert p_value(expected, [(99, 99)]) == 0
