"""Copies play on exactly."""

import copy
import pickle

import pytest

import kille_env
from env.batches import STAND, SWAP, batch, history, shown, step
from kille_env.core.batch import Batch


def plays_on_alike(one, other, steps=40):
    """Whether two batches show the same from here on."""
    assert shown(one) == shown(other)
    assert one.tables.tobytes() == other.tables.tobytes()
    assert history(one, steps) == history(other, steps)
    return True


def under_way(**options):
    tables = batch(5, 4, **options)
    tables.reset()
    for number in range(23):
        step(tables, number)
    return tables


COPIES = {
    "clone": Batch.clone,
    "pickle": lambda tables: pickle.loads(pickle.dumps(tables)),
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("restart", [True, False])
def test_a_copy_plays_on_exactly(way, restart):
    tables = under_way(restart=restart)
    assert plays_on_alike(COPIES[way](tables), tables)


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_is_its_own(way):
    tables = under_way()
    twin = COPIES[way](tables)
    before = shown(tables), tables.tables.tobytes()
    history(twin, 10)
    twin.reset(seed=99)
    assert (shown(tables), tables.tables.tobytes()) == before


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_of_a_batch_that_was_never_reset_is_as_good_as_new(way):
    tables = batch()
    twin = COPIES[way](tables)
    for one in (tables, twin):
        one.reset()
    assert plays_on_alike(tables, twin, 10)


def test_a_copy_in_mid_hand_with_a_stacked_deck_draws_the_given_cards():
    tables = batch(1, 4)
    tables.reset(deck=["L5", "L6", "L7", "L2", "L9"], dealer=3)
    twin = tables.clone()
    for one in (tables, twin):
        for action in (STAND, STAND, STAND, SWAP):
            one.apply([action])
        assert kille_env.spec("byteskille").pack.code(one.tables["hand"][0, 3]) == "L9"
