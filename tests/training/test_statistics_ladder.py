"""The online ladder, and the benchmark of ratings."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from openskill.models import PlackettLuce

from kille_training.statistics.ladder import climb
from reference.orders import rankings_of


def simulated(strength, tables, seats, seed, each=1):
    generator = np.random.default_rng(seed)
    orders = []
    for _ in range(tables):
        seated = generator.permutation(len(strength))[:seats]
        luck = strength[seated] + generator.gumbel(size=seats)
        orders.append([[player] for player in seated[np.argsort(-luck)].tolist()])
    return rankings_of(orders, len(strength), np.arange(tables) // each)


class TestLadder:
    def test_is_openskill_table_after_table(self):
        model = PlackettLuce()
        a, b, c = (model.rating() for _ in range(3))
        (a,), (c,), (b,) = model.rate([[a], [c], [b]], ranks=[0, 1, 2])
        (a,), (b,), (c,) = model.rate([[a], [b], [c]], ranks=[0, 0, 2])
        ladder = climb(rankings_of([[[0], [2], [1]], [[0, 1], [2]]], 3))
        assert ladder.mean == pytest.approx([a.mu, b.mu, c.mu])
        assert ladder.deviation == pytest.approx([a.sigma, b.sigma, c.sigma])
        assert ladder.cautious == pytest.approx(ladder.mean - 3 * ladder.deviation)

    def test_gives_copies_the_mean_of_what_they_would_have(self):
        model = PlackettLuce()
        (first,), (second,), (third,) = model.rate(
            [[model.rating()] for _ in range(3)], ranks=[0, 1, 2]
        )
        ladder = climb(rankings_of([[[0], [1], [0]]], 2))
        assert ladder.mean == pytest.approx([(first.mu + third.mu) / 2, second.mu])
        assert ladder.deviation[0] == pytest.approx((first.sigma + third.sigma) / 2)

    def test_finds_the_order_of_the_strengths(self):
        truth = np.array([1.0, 0.3, -0.3, -1.0])
        ladder = climb(simulated(truth, 400, 3, seed=3))
        assert np.argsort(-ladder.mean).tolist() == [0, 1, 2, 3]


def test_the_benchmark_prints_every_archive(monkeypatch, capsys):
    path = Path(__file__).parents[2] / "benchmarks" / "ratings.py"
    described = importlib.util.spec_from_file_location("ratings_benchmark", path)
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    monkeypatch.setattr(sys, "argv", ["ratings.py", "--tables", "400", "--bootstraps", "2"])
    module.main()
    lines = capsys.readouterr().out.splitlines()
    assert sum("tau" in line for line in lines) == 2
    assert "30 entrants, 400 tables of 5" in lines[0]
