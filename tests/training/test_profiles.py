"""Profiles, one policy for each seat: exact values against plain sums, and units at the table."""

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kille_env
import kille_training as kt
from kille_env import registry
from kille_env.errors import ConfigError, PolicyError

DOCS = Path(__file__).parents[2] / "docs"
TYPES = 21


@pytest.fixture
def hogkort(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The example game of the docs, whose deals of two seats plain sums can measure."""
    monkeypatch.syspath_prepend(str(DOCS))
    kille_env.registry.register("hogkort", "hogkort")
    yield "hogkort"
    registry._modules.pop("hogkort", None)
    registry._versions.pop("hogkort", None)
    sys.modules.pop("hogkort", None)


class Drawing:
    """Draws with a probability by its card, and by whether the other seat has drawn."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.chances = name, np.random.default_rng(seed).random((2, TYPES))

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        drew, card = observation[:, -1].astype(int), observation[:, :TYPES].argmax(axis=1)
        draws = self.chances[drew, card]
        return np.stack([1.0 - draws, draws], axis=1)


def plain_sums(forehand: np.ndarray, dealer: np.ndarray) -> tuple[list[float], list[float]]:
    """Values and gains of a profile: draws of forehand by card, of the dealer by draw and card."""
    kinds, own = np.arange(TYPES), np.zeros((2, 2, TYPES, TYPES))  # units of forehand
    weight = np.zeros((TYPES, TYPES))
    for first, second in product(kinds, kinds):
        left = np.full(TYPES, 2.0)
        weight[first, second] = left[first] / 42
        left[first] -= 1
        weight[first, second] *= left[second] / 41
        left[second] -= 1
        win = np.sign(kinds[:, None] - kinds)
        pairs = np.outer(left, left) - np.diag(left)
        own[0, 0, first, second] = win[first, second]
        own[1, 0, first, second] = left / 40 @ win[:, second]
        own[0, 1, first, second] = left / 40 @ win[first]
        own[1, 1, first, second] = (pairs / (40 * 39) * win).sum()
    f, g = np.stack([1.0 - forehand, forehand]), np.stack([1.0 - dealer, dealer])
    by_action = np.einsum("fs,adfs,das->af", weight, own, g)
    value = float((f * by_action).sum())
    best_first = float(by_action.max(axis=0).sum())
    against = -np.einsum("fs,af,adfs->das", weight, f, own)
    best_second = float(against.max(axis=0).sum())
    return [value, -value], [best_first - value, best_second + value]


def test_a_profile_is_worth_what_plain_sums_say(hogkort: str) -> None:
    one, other = Drawing("one", 1), Drawing("other", 2)
    for first, second in ((one, other), (other, one), (one, one)):
        found = kt.nash_conv([first, second], hogkort)
        values, gains = plain_sums(first.chances[0], second.chances)
        assert found.policy == f"{first.name}, {second.name}"
        np.testing.assert_allclose(found.value, values, atol=1e-12)
        np.testing.assert_allclose(found.improvement, gains, atol=1e-12)
    alone = kt.nash_conv(one, hogkort, 2)
    assert (alone.value, alone.improvement) == (found.value, found.improvement)
    measured = kt.evaluate([one, other], hogkort, deals=20_000, play="sampled")
    values, _ = plain_sums(one.chances[0], other.chances)
    for row, value in zip(measured.rows, values, strict=True):
        assert row.estimate.low < value < row.estimate.high
    assert [row.policy for row in measured.rows] == ["one", "other"]
    assert measured.exact is not None
    np.testing.assert_allclose(measured.exact[0].value, values, atol=1e-12)
    assert "dealer" in str(measured)


def test_what_is_no_profile_is_refused() -> None:
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (["uniform"], {}, "one policy per seat, got 1"),
        (["uniform"] * 3, {"num_players": 2}, "3 policies for 2 seats"),
        (["uniform", "nobody"], {}, "there is no player 'nobody'"),
    ]
    for policies, options, words in cases:
        for measure in (kt.nash_conv, kt.evaluate):
            with pytest.raises(PolicyError, match=words):
                measure(policies, "byteskille", **options)  # type: ignore[operator]
    with pytest.raises(ConfigError, match="leave out baselines"):
        kt.evaluate(["uniform", "uniform"], "byteskille", baselines="uniform")
    with pytest.raises(PolicyError, match="one policy for all seats"):
        kt.nash_conv(["uniform", "rule_of_thumb"], "byteskille", episode="match")
