"""Determinizer of Kungsholmskille against every way in which a few hidden cards can lie."""

import random
from collections import Counter

import numpy as np
import pytest

from env.hidden_cards import LEAST, NUMBER, Position, draw, p_value
from env.test_twins import random_rules
from kille_env.cards.sets import members
from kille_env.games.kungsholmskille import SPEC
from kille_env.testing.determinization import check_determinizations

GAME = "kungsholmskille"


@pytest.mark.compiled
@pytest.mark.parametrize("beat", ["any", "lowest"])
@pytest.mark.parametrize(
    ("players", "hidden", "discards", "seed"),
    [(2, 1, False, 1), (2, 1, True, 2), (2, 2, False, 3), (3, 2, False, 4), (3, 3, False, 5)],
)
def test_every_determinization_is_equally_likely(players, hidden, discards, seed, beat):
    position = Position(GAME, players, seed, hidden, discards, forced_beat=beat)
    arrangements = position.arrangements()
    assert len(arrangements) > 1
    assert p_value(arrangements, position.drawn()) > LEAST


@pytest.mark.compiled
def test_to_draw_types_instead_of_cards_is_found_out():
    position = Position(GAME, 3, 4, 2)
    arrangements = position.arrangements()
    assert len(set(arrangements.values())) > 1  # of some types one card is left, of others two
    found = list(arrangements)
    drawn = np.random.default_rng(0).integers(len(found), size=NUMBER)
    assert p_value(arrangements, [found[number] for number in drawn]) < LEAST


@pytest.mark.compiled
def test_nobody_can_tell_whether_a_last_card_was_dealt_or_drawn():
    position = Position(GAME, 2, 2, 1)
    table, other = position.batch.tables[0], 1 - position.viewer
    number = int(table["exchanged"][other])
    assert number > 0
    expected: Counter = Counter()
    for held, ways in position.arrangements().items():
        expected[held, True] = ways * number
        expected[held, False] = ways * (5 - number)
    determinizations, _ = draw(position.batch, position.viewer, NUMBER)
    hand, drawn = (
        determinizations.tables["hand"][:, other],
        determinizations.tables["drawn_cards"][:, other],
    )
    outcomes = [
        (((members(one)[0] // 2,),), bool(one & later))
        for one, later in zip(hand.tolist(), drawn.tolist(), strict=True)
    ]
    assert p_value(expected, outcomes) > LEAST


@pytest.mark.parametrize("players", range(SPEC.min_players, SPEC.max_players + 1))
def test_determinizations_could_be_and_look_the_same(players):
    rng = random.Random(players)
    for rules in (SPEC.resolve({"forced_beat": "lowest"}), random_rules(SPEC, rng)):
        check_determinizations(GAME, players, rules, 200, players)
