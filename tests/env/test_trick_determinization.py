"""Determinizers of the trick games against every way in which a few hidden cards can lie."""

import random
from collections import Counter

import numpy as np
import pytest

import kille_env
from env.arrangements import BY_CHANCE
from env.hidden_cards import NUMBER, Position, draw, p_value
from env.test_twins import random_rules
from kille_env.cards.sets import members
from kille_env.testing.determinization import check_determinizations

MOST = {
    game: kille_env.spec(game).max_players
    for game in ("femkortskille", "kungsholmskille", "krypkille")
}
SEATS = [
    pytest.param(game, players, marks=() if players in (3, most) else pytest.mark.slow)
    for game, most in MOST.items()
    for players in range(2, most + 1)
]


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("game", "rules"),
    [
        ("kungsholmskille", {"forced_beat": "any"}),
        ("kungsholmskille", {"forced_beat": "lowest"}),
        ("krypkille", {}),
    ],
)
@pytest.mark.parametrize(
    ("players", "hidden", "discards", "seed"),
    [(2, 1, False, 1), (2, 1, True, 2), (2, 2, False, 3), (3, 2, False, 4), (4, 3, False, 5)],
)
def test_every_determinization_is_equally_likely(game, rules, players, hidden, discards, seed):
    position = Position(game, players, seed, hidden, discards, **rules)
    possible = position.possible()
    assert len(possible) > 1
    assert p_value(possible, position.drawn()) > BY_CHANCE


@pytest.mark.compiled
@pytest.mark.parametrize("game", ["krypkille", "kungsholmskille"])
@pytest.mark.parametrize(
    ("preset", "players", "hidden", "discards", "seed"),
    [
        ("tiny", 2, 1, True, 1),
        ("tiny", 3, 2, True, 2),
        ("small", 2, 2, True, 3),
        ("small", 3, 4, False, 4),
    ],
)
def test_every_determinization_of_a_small_sibling_is_equally_likely(
    game, preset, players, hidden, discards, seed
):
    position = Position(game, players, seed, hidden, discards, preset=preset)
    possible = position.possible()
    assert len(possible) > 1
    assert p_value(possible, position.drawn()) > BY_CHANCE


@pytest.mark.compiled
def test_to_draw_types_instead_of_cards_is_found_out():
    position = Position("kungsholmskille", 3, 4, 2)
    possible = position.possible()
    assert len(set(possible.values())) > 1  # of some types one card is left, of others two
    found = list(possible)
    drawn = np.random.default_rng(0).integers(len(found), size=NUMBER)
    assert p_value(possible, [found[number] for number in drawn]) < BY_CHANCE


@pytest.mark.compiled
def test_nobody_can_tell_whether_a_last_card_was_dealt_or_drawn():
    position = Position("kungsholmskille", 2, 2, 1)
    table, other = position.batch.tables[0], 1 - position.viewer
    number = int(table["exchanged"][other])
    assert number > 0
    expected: Counter = Counter()
    for held, ways in position.possible().items():
        expected[held, True] = ways * number
        expected[held, False] = ways * (5 - number)
    batch, _ = draw(position.batch, position.viewer, NUMBER)
    hand, drawn = batch.tables["hand"][:, other], batch.tables["drawn_cards"][:, other]
    outcomes = [
        (((members(one)[0] // 2,),), bool(one & later))
        for one, later in zip(hand.tolist(), drawn.tolist(), strict=True)
    ]
    assert p_value(expected, outcomes) > BY_CHANCE


@pytest.mark.parametrize(("game", "players"), SEATS)
def test_determinizations_could_be_and_look_the_same(game, players, scale):
    spec, rng = kille_env.spec(game), random.Random(players)
    lowest = {"femkortskille": {"follow": "lowest"}, "kungsholmskille": {"forced_beat": "lowest"}}
    for rules in (spec.resolve(lowest.get(game)), random_rules(spec, rng, players)):
        check_determinizations(game, players, rules, scale(500, 100), players)
