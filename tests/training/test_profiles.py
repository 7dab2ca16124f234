"""Profiles, one policy for each seat: exact values against plain sums, and units at the table."""

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import kille_training as kt
from kille_agents.rules_of_thumb.byteskille import ByteskilleRuleOfThumb
from kille_env.errors import ConfigError, PolicyError
from kille_env.play.policy import UniformPolicy
from kille_env.registry import make_batch, spec
from kille_training.solving.grow import grow_stage
from kille_training.solving.policies import strategies_of
from kille_training.solving.trees.values import expected_values, nash_conv, uniform
from reference.scripts import script
from reference.small_games import kuhn
from reference.trees import build_deal

TYPES = 21


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


# Collusion


RULES = spec("byteskille").resolve({"episode": "deal", "fraga": "off"})
PACK = ("BL", "L2", "L6", "GO", "L9", "KI")


def brute_force(policy, pair, deciding):
    """Return what a pair earns at best where `deciding` choose by what they know together.

    All orders of the pack are tables of their own, so nothing is left to chance but lots.
    """
    decks = [list(deck) for deck in permutations(PACK, 5)]
    batch = make_batch("byteskille", len(decks), 3, rules=RULES, seed=0, restart=False)
    batch.reset(deck=decks, dealer=2)
    return _best(batch, np.full(len(decks), 1 / len(decks)), policy, pair, deciding)


def _best(batch, weight, policy, pair, deciding):
    while (others := ~batch.over & ~np.isin(batch.seat, deciding)).any():
        # Both ways that lots can fall stay in one batch: that somebody was asked can be a secret.
        chances = np.zeros(batch.mask.shape)
        chances[~others, 0] = 1.0
        rows = np.flatnonzero(others)
        chances[rows] = policy.probabilities(batch.observation[rows], batch.mask[rows])
        row, action = np.nonzero(chances)
        weight = weight[row] * chances[row, action]
        acts = others[row]
        batch = batch.take(row)
        batch.apply(action, acts)
    over = batch.over
    value = float(weight[over] @ batch.tables["reward"][over][:, list(pair)].sum(axis=1))
    asked = np.flatnonzero(~over)
    if not len(asked):
        return value
    told = [batch.information_state(np.full(batch.num_tables, seat)) for seat in deciding]
    knows = np.column_stack([batch.seat[:, None].astype(np.uint8), *told])[asked]
    different, number = np.unique(knows, axis=0, return_inverse=True)
    for known in range(len(different)):
        group = asked[number.ravel() == known]
        values = []
        for action in np.flatnonzero(batch.mask[group[0]]):
            part = batch.take(group)
            part.apply(np.full(part.num_tables, action))
            values.append(_best(part, weight[group], policy, pair, deciding))
        value += max(values)
    return value


@pytest.mark.parametrize(
    ("policy", "pair"),
    [(ByteskilleRuleOfThumb(3, RULES), (1, 2)), (UniformPolicy(), (0, 2))],
    ids=["threshold, 1 and 2", "uniform, 0 and 2"],
)
def test_sharing_is_worth_what_brute_force_finds(policy, pair):
    deal = build_deal(3, RULES, cards=PACK)
    found = script("benchmarks/collusion.py").earnings(policy, pair, deal, PACK)
    assert found.shared == pytest.approx(brute_force(policy, pair, pair))
    # One responds for the common purse, the other keeps to its policy: not more than agreed.
    alone = max(brute_force(policy, pair, (seat,)) for seat in pair)
    assert found.own <= alone + 1e-12 <= found.agreed + 2e-12 <= found.shared + 3e-12


def test_brute_force_finds_what_a_tree_without_sharing_earns():
    """The check is checked: where nobody decides freely it is the value of the policies."""
    policy = ByteskilleRuleOfThumb(3, RULES)
    deal = build_deal(3, RULES, cards=PACK)
    values = expected_values(deal.stages[0].tree, strategies_of(policy, deal)[0])
    assert brute_force(policy, (0, 1), ()) == pytest.approx(values[0] + values[1])


def test_who_shares_forgets_nothing_and_knows_more():
    plain, shared = (
        build_deal(3, RULES, cards=PACK, shared=pair, nodes=True).first_stage
        for pair in ((), (0, 2))
    )
    assert plain.nodes is not None and shared.nodes is not None
    shared.nodes.check_recall()
    assert shared.tree.num_players == 2, "the two are the last player, and the third is the first"
    assert shared.tree.num_infosets > plain.tree.num_infosets
    assert shared.nodes.num_nodes == plain.nodes.num_nodes
    third = (plain.tree.player == 1).sum()
    assert (shared.tree.player == 0).sum() == third, "the third learns nothing"


@pytest.mark.parametrize("pair", [(0, 1), (0, 2)])
def test_two_as_one_earn_the_sum_where_points_do_not_sum_to_zero(pair):
    """In Krypkille a seat earns its points less the mean of all three."""
    rules = spec("krypkille").resolve({"preset": "tiny", "pack": "BL+L4+L8+KI"})
    plain, both = grow_stage(3, rules).tree, grow_stage(3, rules, shared=pair).tree
    separate, joint = (expected_values(tree, uniform(tree)) for tree in (plain, both))
    assert joint[1] == pytest.approx(separate[list(pair)].sum())
    assert joint.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 2)])
def test_two_in_poker_see_both_cards_and_the_third_learns_nothing(pair):
    alone, both = kuhn(3), kuhn(3, pair)
    third = ({0, 1, 2} - {*pair}).pop()
    of_third, same = (
        [one.information[number] for number in np.flatnonzero(one.tree.player == seat)]
        for one, seat in ((alone, third), (both, 0))
    )
    assert same == of_third
    # Two cards of four: 12 hands where one of the two alone saw 4.
    assert (both.tree.player == 1).sum() == 3 * (alone.tree.player != third).sum()
    measured, joint = (nash_conv(one.tree, uniform(one.tree)) for one in (alone, both))
    own = measured.values[list(pair)].sum()
    assert joint.values[1] == pytest.approx(own)
    hands = [(alone.tree, np.zeros(len(alone.tree.payoff)))]
    found = script("benchmarks/collusion.py").agreed((uniform(alone.tree),), hands, pair)
    assert own < found <= own + joint.improvement[1] + 1e-12
