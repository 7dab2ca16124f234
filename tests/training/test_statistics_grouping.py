"""What is certain about the order of entrants, and how stable what follows from a table is."""

import numpy as np
import pytest

from kille_training.statistics.intervals import Intervals
from kille_training.statistics.standings import differences, group, units
from kille_training.statistics.tally import Tally
from reference.tallies import everywhere, tallied


def gaps(mean, error):
    """Differences of means whose errors are given."""
    mean = np.array(mean, float)
    found = mean[:, None] - mean
    np.fill_diagonal(found, np.nan)
    error = np.broadcast_to(np.array(error, float), found.shape)
    return Intervals(found, found, found, error, np.full(found.shape, 1e6), np.ones(found.shape))


def field(strength, deals, rng, noise=1.0):
    """All pairs at the same deals."""
    pairs = np.array([(a, b) for b in range(len(strength)) for a in range(b)])
    members = np.tile(pairs, (deals, 1))
    gap = strength[members[:, 0]] - strength[members[:, 1]] + rng.normal(0, noise, len(members))
    made = Tally.empty(2, len(strength))
    deal = np.repeat(np.arange(deals), len(pairs))
    made.add(members, deal, everywhere(np.column_stack([gap, -gap]) / 2))
    return made


def grouping(tally):
    return group(units(tally).mean, differences(tally))


class TestGrouping:
    def test_of_what_is_far_apart_is_an_order(self):
        told = group(np.array([0.0, 3, 1, 2]), gaps([0, 3, 1, 2], 0.1))
        assert told.best.tolist() == told.worst.tolist() == [4, 1, 3, 2]

    def test_of_neighbours_overlaps(self):
        # Neighbours are one standard error apart; Holm's bound for six pairs is 2.6 of them.
        told = group(np.array([4.0, 3, 2, 1]), gaps([4, 3, 2, 1], 0.8))
        assert told.best.tolist() == [1, 1, 1, 2] and told.worst.tolist() == [3, 4, 4, 4]
        assert np.argwhere(told.clear).tolist() == [[0, 3]]

    def test_of_what_cannot_be_told_apart_is_one_group(self):
        told = group(np.array([1.0, np.nan, 2]), gaps([1, np.nan, 2], 9))
        assert told.best.tolist() == [1, 0, 1] and told.worst.tolist() == [2, 0, 2]

    def test_of_nobody_and_of_one_deal(self):
        assert grouping(Tally.empty(2, 2)).worst.tolist() == [0, 0]
        told = grouping(tallied([[0, 1]], [[1, -1]]))
        assert told.worst.tolist() == [2, 2]

    @pytest.mark.compiled
    def test_places_are_wrong_in_one_of_twenty_tournaments_at_most(self):
        rng = np.random.default_rng(5)
        strength = np.array([0.0, 0.0, 0.0, 0.2, 0.5])
        true_best, true_worst = np.array([3, 3, 3, 2, 1]), np.array([5, 5, 5, 2, 1])
        wrong, narrow = [], []
        for _ in range(400):
            told = grouping(field(strength, 60, rng))
            # Of equals, any order is true.
            wrong.append(((told.best > true_best) | (told.worst < true_worst)).any())
            narrow.append(told.worst[4] == 1)
        assert np.mean(wrong) <= 0.08 and np.mean(narrow) > 0.5
