"""Beliefs about skill."""

import numpy as np
import pytest
from openskill.models import PlackettLuce

from kille_env.errors import KilleError
from kille_training.statistics.skill import Beliefs, climb


class TestBeliefs:
    def test_are_openskill_table_after_table(self):
        model = PlackettLuce()
        a, b, c = (model.rating() for _ in range(3))
        (a,), (c,), (b,) = model.rate([[a], [c], [b]], ranks=[0, 1, 2])
        (a,), (b,), (c,) = model.rate([[a], [b], [c]], ranks=[0, 0, 2])
        members = np.array([[0, 2, 1], [0, 1, 2]])
        scores = np.array([[2.0, 0.5, -2.5], [1.0, 1.0, -2.0]])
        found = climb(Beliefs.of(3), members, scores)
        assert found.mean == pytest.approx([a.mu, b.mu, c.mu])
        assert found.deviation == pytest.approx([a.sigma, b.sigma, c.sigma])
        assert found.cautious == pytest.approx(found.mean - 3 * found.deviation)

    def test_go_on_where_they_stopped_and_grow(self):
        rng = np.random.default_rng(1)
        members = np.argsort(rng.random((40, 4)), axis=1)[:, :3]
        scores = rng.normal(size=members.shape)
        whole = climb(Beliefs.of(4), members, scores)
        half = climb(Beliefs.of(4), members[:17], scores[:17])
        again = climb(half, members[17:], scores[17:])
        assert (again.mean == whole.mean).all() and (again.deviation == whole.deviation).all()
        grown = again.grown(6)
        assert (grown.mean[:4] == whole.mean).all() and grown.mean[4:].tolist() == [25.0, 25.0]

    def test_find_the_order_of_the_strengths(self):
        rng = np.random.default_rng(3)
        truth = np.array([1.0, 0.3, -0.3, -1.0])
        members = np.argsort(rng.random((400, 4)), axis=1)[:, :3]
        found = climb(Beliefs.of(4), members, truth[members] + rng.gumbel(size=members.shape))
        assert np.argsort(-found.mean).tolist() == [0, 1, 2, 3]

    def test_refuse_copies(self):
        with pytest.raises(KilleError, match="different ones"):
            climb(Beliefs.of(2), np.array([[0, 1, 0]]), np.zeros((1, 3)))
