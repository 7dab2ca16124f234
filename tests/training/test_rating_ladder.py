"""The online ladder, and which ratings predict."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from openskill.models import PlackettLuce

from kille_env.errors import KilleError
from kille_training.statistics.ladder import climb, spread
from kille_training.statistics.plackett_luce import fit
from kille_training.statistics.prediction import gain, held_out, log_loss
from kille_training.statistics.rankings import rankings_of


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
        (b,), (a,) = model.rate([[b], [a]], ranks=[0, 0])
        ladder = climb(rankings_of([[[0], [2], [1]], [[0, 1]]], 3))
        assert ladder.mean == pytest.approx([a.mu, b.mu, c.mu])
        assert ladder.deviation == pytest.approx([a.sigma, b.sigma, c.sigma])
        assert ladder.cautious == pytest.approx(ladder.mean - 3 * ladder.deviation)

    def test_depends_on_the_order_and_says_how_much(self):
        tables = simulated(np.array([0.5, 0, -0.5]), 40, 3, seed=1, each=2)
        forwards, backwards = climb(tables), climb(tables, np.arange(40)[::-1])
        assert np.abs(forwards.mean - backwards.mean).max() > 0.01
        assert (spread(tables, orders=4, seed=1) > 0.01).all()
        assert (
            spread(tables, orders=4, seed=1).tobytes() == spread(tables, orders=4, seed=1).tobytes()
        )
        assert climb(tables).mean.tobytes() == forwards.mean.tobytes()

    def test_tables_of_a_deal_stay_together_in_other_orders(self):
        tables = simulated(np.array([1.0, 0, -1]), 12, 3, seed=2, each=6)
        swapped = climb(tables, np.roll(np.arange(12), 6)).mean
        apart = np.abs(climb(tables).mean - swapped)
        # There are two orders; k of six drawn are the one.
        ratio = (spread(tables, orders=6, seed=3) / apart) ** 2 * 30
        assert ratio == pytest.approx([ratio[0]] * 3)
        assert min(abs(ratio[0] - k * (6 - k)) for k in (1, 2, 3)) < 1e-6

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

    def test_predicts_by_the_scale_of_each_table(self):
        tables = rankings_of([[[0], [1]], [[1], [2], [0]]], 3)
        ladder = climb(tables)
        variance = ladder.deviation**2 + ladder.beta**2
        scale = np.sqrt([variance[:2].sum(), variance.sum()])
        assert ladder.strength(tables) == pytest.approx(ladder.mean / scale[:, None])


class TestPrediction:
    def test_loss_of_knowing_nothing_is_the_logarithm_of_all_orders(self):
        tables = rankings_of([[[0], [1], [2]], [[2], [1], [0]], [[0, 1, 2]]], 3)
        loss = log_loss(tables, np.zeros(3))
        assert loss.order == pytest.approx(np.log(6))
        assert loss.first == pytest.approx(np.log(3))
        assert loss.tables == pytest.approx([np.log(6)] * 3)

    def test_loss_of_strengths_for_each_table(self):
        tables = rankings_of([[[0], [1]], [[1], [0]], [[0, 1]]], 2)
        strength = np.array([[1.5, 0.5], [1, 3], [4, 1]])
        chances = [
            np.exp(1) / (1 + np.exp(1)),
            np.exp(2) / (1 + np.exp(2)),
            np.exp(3) / (1 + np.exp(3)),
        ]
        expected = [-np.log(chances[0]), -np.log(chances[1])]
        expected += [-(np.log(chances[2]) + np.log(1 - chances[2])) / 2]
        loss = log_loss(tables, strength)
        assert loss.order == loss.first == pytest.approx(np.mean(expected))

    def test_batch_ratings_beat_the_ladder_and_the_ladder_beats_nothing(self):
        truth = np.linspace(-1, 1, 8)
        losses = held_out(simulated(truth, 1500, 4, seed=5, each=3))
        assert losses["uniform"].order == pytest.approx(np.log(24))
        assert len(losses["Plackett-Luce"].tables) == 300
        assert len(set(losses["Plackett-Luce"].cluster)) == 100
        assert losses["Plackett-Luce"].order < losses["OpenSkill, stretched"].order
        assert losses["OpenSkill, stretched"].order < losses["uniform"].order
        assert losses["OpenSkill"].order < losses["uniform"].order
        won = gain(losses["Plackett-Luce"], losses["uniform"])
        assert won.mean[0] == pytest.approx(losses["uniform"].order - losses["Plackett-Luce"].order)
        assert won.low[0] > 0 and won.deals.tolist() == [100]

    def test_the_last_deals_are_what_is_held_out(self):
        early = [[[0], [1]], [[1], [0]]] * 8
        late = [[[0], [1]], [[0], [1]], [[2], [0]], [[0], [1]]]  # a stranger at one of them
        losses = held_out(rankings_of(early + late, 3))
        assert len(losses["Plackett-Luce"].tables) == 3
        even = fit(rankings_of(early, 3), bootstraps=0).strength
        assert even[:2] == pytest.approx([0, 0])
        assert losses["Plackett-Luce"].order == pytest.approx(np.log(2))

    @pytest.mark.parametrize(
        ("orders", "share", "message"),
        [
            ([[[0], [1]]], 1.5, "share of 1.5"),
            ([[[0], [1]]], 0.2, "1 deals cannot be split"),
            ([[[0], [1]], [[2], [3]]], 0.5, "nobody of the first deals"),
        ],
    )
    def test_refuses_what_cannot_be_split(self, orders, share, message):
        with pytest.raises(KilleError, match=message):
            held_out(rankings_of(orders, 4), share)


def test_the_benchmark_prints_every_rating_of_every_archive(monkeypatch, capsys):
    path = Path(__file__).parents[2] / "benchmarks" / "ratings.py"
    described = importlib.util.spec_from_file_location("ratings_benchmark", path)
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    monkeypatch.setattr(sys, "argv", ["ratings.py", "--tables", "400", "--bootstraps", "2"])
    module.main()
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("OpenSkill, stretched") for line in lines) == 2
    assert sum("80 tables of 20 deals held out" in line for line in lines) == 2
    assert "30 entrants, 400 tables of 5" in lines[0]
