"""The map of swaps and the pictures."""

import numpy as np
import pytest

from kille_agents import ThresholdPolicy, UniformPolicy
from kille_env.cards.pack import GO, KI
from kille_env.registry import make_batch, spec
from kille_training.evaluation.swap_map import swap_map

RULES = spec("byteskille").resolve(episode="deal")


def test_the_map_of_the_rule_of_thumb_is_its_thresholds():
    policy = ThresholdPolicy(3, RULES)
    found = swap_map(policy, 3, RULES, decisions=60_000)
    for place in range(3):
        swapped = found.dealt[place, :GO]
        known = ~np.isnan(swapped)
        expected = np.arange(GO) < policy.thresholds[0, 3, 2 - place]
        assert np.array_equal(swapped[known] == 1.0, expected[known])
        assert found.dealt[place, GO] == 0.0
        assert found.dealt[place, KI] == 1.0
    assert np.isnan(found.taken[0]).all()  # nobody can take forehand's card before his turn
    asked = np.arange(GO) < policy.thresholds[0, 3, 2]
    assert np.array_equal(found.asks[:GO] == 1.0, asked)


def test_in_a_match_a_place_is_one_among_all_the_players():
    rules = spec("byteskille").resolve(episode="match")
    batch = make_batch("byteskille", 1, 3, rules=rules)
    part = {part.name: part.slice for part in batch.spec.observation(3)}

    class SwapsWhenSomebodyIsOut:
        name = "heads-up"

        def probabilities(self, observation, mask):
            chances = mask / mask.sum(axis=1, keepdims=True)
            short = observation[:, part["in_hand"]].sum(axis=1) < 3
            turn = mask[:, batch.spec.actions.index("swap")] == 1
            chances[turn] = np.eye(mask.shape[1])[batch.spec.actions.index("stand")]
            chances[turn & short] = np.eye(mask.shape[1])[batch.spec.actions.index("swap")]
            self.met = getattr(self, "met", False) or bool((turn & short).any())
            return chances

    policy = SwapsWhenSomebodyIsOut()
    found = swap_map(policy, 3, rules, decisions=200_000)
    assert policy.met
    assert np.nanmax(found.dealt) == 0.0


def test_a_coin_is_even_everywhere():
    found = swap_map(UniformPolicy(), 4, RULES, decisions=40_000)
    ordinary = found.dealt[:, :GO]
    assert np.allclose(ordinary[~np.isnan(ordinary)], 0.5)
    assert np.isnan(found.asks).all()  # with four nobody may ask


def test_progress_adds_up():
    counted = []
    swap_map(UniformPolicy(), 3, RULES, decisions=10_000, progress=counted.append)
    assert sum(counted) == pytest.approx(10_000, abs=2048)


def test_pictures_are_the_same_twice():
    pytest.importorskip("matplotlib")
    from kille_training.reports.plots import learning_curve, swap_heat_map

    found = swap_map(ThresholdPolicy(3, RULES), 3, RULES, decisions=8192)
    rows = [
        {
            "decisions": str(n),
            "against": "uniform",
            "play": play,
            "mean": "0.1",
            "low": "0",
            "high": "0.2",
        }
        for n in (1000, 2000)
        for play in ("argmax", "sampled")
    ]
    assert swap_heat_map(found, found) == swap_heat_map(found, found)
    assert learning_curve(rows, "deal") == learning_curve(rows, "deal")
    assert learning_curve([], "deal").startswith("<svg")
