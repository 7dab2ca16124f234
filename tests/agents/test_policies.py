"""The protocol, the built-in players, and how actions are drawn."""

import numpy as np
import pytest

from kille_agents.catalog import describe_player, load_policy
from kille_env.errors import PolicyError
from kille_env.play.policy import UniformPolicy, check_probabilities, pick_actions, sample_actions
from kille_env.registry import spec


def test_the_kernel_of_uniform_play_draws_what_its_probabilities_say():
    rng, player = np.random.default_rng(0), UniformPolicy()
    mask = (rng.random((2000, 11)) < rng.random((2000, 1))).astype(np.int8)
    mask[np.arange(2000), rng.integers(11, size=2000)] = 1
    seen = np.zeros((2000, 4), np.uint8)
    shares = player.probabilities(seen, mask)
    edges = np.cumsum(shares, axis=1)[np.arange(2000), rng.integers(11, size=2000)]
    for chances in (rng.random(2000), np.minimum(edges, np.nextafter(1.0, 0.0)), np.zeros(2000)):
        drawn = [
            player.kernel.choose(row, legal, np.zeros(1, np.int64), chance)
            for row, legal, chance in zip(seen, mask, chances, strict=True)
        ]
        assert drawn == pick_actions(shares, chances).tolist()


@pytest.mark.parametrize(
    "returned", [None, "text", 3, [[0.5, 0.5]], np.array([["a", "b"]]), np.array([[0.5j, 0.5]]), {}]
)
def test_what_is_no_array_of_numbers_is_refused(returned):
    with pytest.raises(
        PolicyError, match=r"expected probabilities as an array of numbers \(1, 2\)"
    ):
        check_probabilities("p", returned, np.ones((1, 2), np.int8))


def test_uniform_gives_every_legal_action_the_same():
    mask = np.array([[1, 1, 0], [0, 0, 1]], dtype=np.int8)
    chances = UniformPolicy().probabilities(np.zeros((2, 4), np.uint8), mask)
    assert chances.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    with pytest.raises(PolicyError, match="row 1"):
        UniformPolicy().probabilities(np.zeros((2, 4), np.uint8), np.array([[1], [0]], np.int8))


def test_sampling_follows_the_probabilities_and_never_takes_an_impossible_action():
    chances = np.tile([[0.0, 0.25, 0.75, 0.0]], (40_000, 1))
    drawn = np.bincount(sample_actions(chances, np.random.default_rng(3)), minlength=4)
    assert drawn[0] == drawn[3] == 0
    assert abs(drawn[1] / 40_000 - 0.25) < 0.01


def test_sampling_survives_a_draw_that_is_rounded_up_to_the_whole():
    class Highest:
        def random(self, size):
            return np.full(size, np.nextafter(1.0, 0.0))

    tiny = np.array([[5e-324, 0.0]])  # times almost 1 this is itself again
    assert sample_actions(tiny, Highest()).tolist() == [0]


@pytest.mark.parametrize(
    ("chances", "what"),
    [
        ([[np.nan, 1.0]], "no probability"),
        ([[-0.5, 1.5]], "no probability"),
        ([[0.5, 0.4]], "sum other than 1"),
        ([[0.5]], "shape"),
        ([[0.5, 0.5], [0.5, 0.5]], "illegal action in row 1: 0.5 for action 1; expected prob"),
    ],
)
def test_what_is_no_distribution_is_refused(chances, what):
    mask = np.array([[1, 1], [1, 0]], np.int8)
    with pytest.raises(PolicyError, match=what):
        check_probabilities("p", np.array(chances), mask[: len(chances)])


@pytest.mark.parametrize(
    ("name", "known"), [("rule_of_tumb", "rule_of_thumb"), ("knack/manic", "knack/maniac")]
)
def test_an_unknown_player_is_refused_with_a_suggestion(name, known):
    with pytest.raises(PolicyError, match=f"Did you mean '{known}'"):
        load_policy(name, "knack", 3, spec("knack").resolve())
    with pytest.raises(PolicyError, match=f"Did you mean '{known}'"):
        describe_player(name)
