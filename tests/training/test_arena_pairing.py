"""Pairing by information: who meets whom next on a ladder."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit

from kille_training.arena.ladder.pairing import PLACEMENT, next_tables


def lots(seed=0):
    return np.random.default_rng(seed)


def known(entrants):
    return np.zeros(entrants, dtype=bool)


def spread(strength, met):
    """The covariance of strengths in the model of Bradley and Terry, around their mean."""
    entrants = len(strength)
    chance = expit(strength[:, None] - strength)
    information = met * chance * (1 - chance)
    prior = expit(strength) * (1 - expit(strength))
    total = np.diag(information.sum(axis=1) + prior) - information
    centre = np.eye(entrants) - 1 / entrants
    return centre @ np.linalg.inv(total) @ centre


def test_the_pair_of_which_least_is_known_meets():
    covariance = np.diag([0.01, 0.4, 0.01, 0.4, 0.01])
    assert next_tables(np.zeros(5), covariance, known(5), 2, 1, 20, lots()) == [(1, 3)]


def test_a_foregone_conclusion_is_not_played():
    strength, covariance = np.array([6.0, 0.1, 0.0, -6.0]), 0.05 * np.eye(4)
    assert next_tables(strength, covariance, known(4), 2, 1, 1, lots()) == [(1, 2)]


def test_the_table_is_the_one_that_takes_most_off_the_mean_variance():
    rng = np.random.default_rng(5)
    root = rng.normal(size=(7, 7))
    centre = np.eye(7) - 1 / 7
    covariance = 0.02 * centre @ root @ root.T @ centre
    strength = rng.normal(size=7)
    (found,) = next_tables(strength, covariance, known(7), 2, 1, 9, lots())

    def left(pair):
        d = np.zeros(7)
        d[list(pair)] = 1, -1
        v = d @ covariance @ d
        p = expit((strength @ d) / np.sqrt(1 + np.pi / 8 * v))
        information = np.linalg.pinv(covariance) + 9 * p * (1 - p) * np.outer(d, d)
        return np.trace(np.linalg.pinv(information))

    assert found == min(combinations(range(7), 2), key=left)


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_tables_of_a_round_differ_and_have_different_members(seats):
    covariance = np.diag(np.linspace(0.01, 1.0, 6))
    found = next_tables(np.linspace(-1, 1, 6), covariance, known(6), seats, 50, 20, lots())
    every = list(combinations(range(6), seats))
    assert sorted(found) == every  # each of them once, and then there are no more


def test_a_newcomer_meets_one_of_each_part_of_the_field():
    strength = np.array([np.nan, 3.0, 2.0, 1.0, 0.0, -1.0, -2.0])
    covariance = 0.01 * np.eye(7)
    covariance[0] = covariance[:, 0] = np.nan
    new = np.arange(7) == 0
    seen = set()
    for seed in range(60):
        first = next_tables(strength, covariance, new, 3, 1, 20, lots(seed))[0]
        assert first[0] == 0 and first[1] in (1, 2, 3) and first[2] in (4, 5, 6)
        seen.add(first)
    assert len(seen) == 9


def test_where_nobody_is_known_everybody_meets_by_lot():
    nothing = np.full(7, np.nan)
    found = next_tables(nothing, np.full((7, 7), np.nan), ~known(7), 3, 3, 20, lots())
    assert len(found) == 3 and {who for table in found for who in table} == set(range(7))
    assert found != next_tables(nothing, np.full((7, 7), np.nan), ~known(7), 3, 3, 20, lots(1))


@pytest.mark.parametrize("seats", [2, 4])
def test_ratings_are_narrower_than_with_tables_by_lot(seats):
    entrants, deals, rounds = 16, 20, 15
    left = {"information": 0.0, "lot": 0.0}
    wanted = entrants // seats
    for seed in range(3):
        truth = np.random.default_rng(seed).normal(0, 1.2, entrants)
        for way in left:
            met = np.zeros((entrants, entrants))
            for number in range(rounds):
                new = met.sum(axis=1) < PLACEMENT * deals * (seats - 1)
                if way == "lot":
                    new[:] = True
                covariance = spread(truth, met)
                draw = np.random.default_rng([seed, number])
                for table in next_tables(truth, covariance, new, seats, wanted, deals, draw):
                    for one, other in combinations(table, 2):
                        met[one, other] += deals
                        met[other, one] += deals
            assert met.sum() == rounds * wanted * seats * (seats - 1) * deals
            left[way] += np.trace(spread(truth, met))
    assert left["information"] < 0.9 * left["lot"]
