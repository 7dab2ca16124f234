"""Deals of Byteskille: their stages, the players that are measured on them, and bad input."""

import contextlib
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kille_env
from kille_agents import as_policy
from kille_agents.catalog import load_policy
from kille_agents.rules_of_thumb.byteskille import ByteskilleRuleOfThumb
from kille_agents.tabular import TabularPolicy, load_tabular, save_tabular
from kille_agents.tabular.deals import FORMAT
from kille_agents.tabular.files import write_arrays
from kille_env.errors import CardError, KilleError, PolicyError, RulesError
from kille_env.play.policy import UniformPolicy
from kille_env.registry import spec
from kille_training.solving.policies import nash_conv, policy_of, strategies_of, strategy_of
from kille_training.solving.stages import DealStages, Stage, observe
from kille_training.solving.trees.values import best_response, uniform
from reference.trees import a_strategy, build_deal, build_stage, in_tree

pytestmark = pytest.mark.compiled

# Every kind of card twice over the seats of a small table, and some plain ones.
SMALL = ["BL", "BL", "L4", "L9", "VH", "KA", "SV", "HU", "GO", "GO", "KI", "KI"]


def test_deals_without_calls_and_questions_have_the_known_number_of_information_sets() -> None:
    # Forehand knows its card. With two, the dealer knows besides whether forehand stood, or has
    # seen the card that it got for its own, which was not one of the five matadors: 21 + 16 * 21.
    rules = {"fraga": "off", "gok_call": "off"}
    assert build_stage(2, rules).information_sets == (21, 21 + 16 * 21)
    three = build_stage(3, rules)
    assert three.num_deals == 21**3 - 21
    assert three.information_sets[:2] == (21, 21 + 16 * 21)


# Questions


def test_stages_differ_by_what_the_seats_see_only() -> None:
    rules = {"max_redeals": 2}
    deal = build_deal(3, rules)
    assert len(deal.stages) == 3
    assert not deal.stages[-1].again.any()
    grown = build_stage(3, rules, granted=1)
    shared = deal.stages[1]
    np.testing.assert_array_equal(shared.states, grown.states)
    np.testing.assert_array_equal(shared.observations, grown.observations)
    np.testing.assert_array_equal(shared.tree.ends, grown.tree.ends)


def test_the_cap_on_hands_ends_a_deal_that_is_dealt_again_without_payment() -> None:
    deal = build_deal(2, {"max_deals": 2})
    assert len(deal.stages) == 2
    last = deal.stages[1]
    assert not last.again.any()
    assert last.masks[:, 4].any()  # forehand may still ask


def test_a_response_looks_ahead_into_the_hands_to_come() -> None:
    # The stages in one tree, by hand: the best response of a seat to uniform play.
    deal = build_deal(2, {"max_redeals": 1}, cards=SMALL)
    measured = nash_conv(UniformPolicy(), deal)
    first, second = deal.stages
    for seat in range(2):
        later = best_response(second.tree, uniform(second.tree), seat).value
        payoff = first.tree.payoff.copy()
        payoff[:, seat] += first.again * later
        tree = first.tree._replace(payoff=payoff)
        best = best_response(tree, uniform(tree), seat).value
        assert measured.improvement[seat] + measured.values[seat] == pytest.approx(best)


# Players


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (np.nan, "no probability.*seat . .you. cuckoo.*Legal: stand, swap, call"),
        (np.eye(10)[8], "an illegal action.*seat . .you. cuckoo.*Legal: stand, swap, call"),
        (np.eye(10)[0] / 2, "a sum other than 1.*seat . .you. cuckoo"),
    ],
)
def test_a_player_that_goes_wrong_with_a_gok_is_told_where(wrong: Any, told: str) -> None:
    def going_wrong(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        gok = observation[:, [5 + 19]] == 1
        return np.where(gok, wrong * np.ones(10), mask / mask.sum(axis=1, keepdims=True))

    stage = build_stage(3, {"preset": "wikipedia", "gok_call": "own_turn"})
    with pytest.raises(PolicyError, match=told):
        nash_conv(as_policy(going_wrong), DealStages((stage,)))


def test_a_player_of_another_table_is_refused() -> None:
    other = build_stage(3)
    table = policy_of([uniform(other.tree)], DealStages((other,)))
    with pytest.raises(PolicyError, match="made for another table"):
        nash_conv(table, DealStages((build_stage(2),)))


@pytest.mark.parametrize("rules", ["svensk", "wikipedia"])
def test_a_saved_strategy_plays_the_same(tmp_path: Path, rules: str) -> None:
    deal = build_deal(2, {"preset": rules, "max_redeals": 2})
    strategies = [in_tree(stage, a_strategy(stage, 7)) for stage in deal.stages]
    table = policy_of(strategies, deal, "drawn", seed=7)
    resolved = deal.stages[0].rules
    path = save_tabular(table, tmp_path / "drawn")
    loaded = load_tabular(path)
    assert isinstance(loaded, TabularPolicy)
    assert (rules == "wikipedia") == (deal.stages[0].thrown_in > 0)
    assert (loaded.name, loaded.metadata.made) == ("drawn", {"seed": 7})
    for given, got in zip(strategies, strategies_of(loaded, deal), strict=True):
        np.testing.assert_allclose(got, given, atol=1e-15)
    with pytest.raises(PolicyError, match="stake 4 instead of 2"):
        load_policy(path, "byteskille", 2, kille_env.spec("byteskille").resolve(resolved, stake=4))
    # It can sit at a table of the environment.
    batch = kille_env.make_batch("byteskille", num_tables=64, num_players=2, rules=resolved, seed=1)
    batch.reset()
    for _ in range(20):
        batch.step(loaded.probabilities(batch.observation, batch.mask).argmax(axis=1))


def test_what_one_observation_says_of_several_sets_is_their_mean() -> None:
    stage = build_stage(3)
    assert len(np.unique(stage.observations, axis=0)) < stage.tree.num_infosets
    strategy = in_tree(stage, a_strategy(stage, 2))
    deal = DealStages((stage,))
    table = policy_of([strategy], deal)
    again = policy_of([strategy_of(table, stage)], deal)
    np.testing.assert_allclose(again.action_probabilities, table.action_probabilities, atol=1e-12)
    # Threshold players look at the observation only, so nothing of them is lost.
    threshold = strategy_of(ByteskilleRuleOfThumb(3, stage.rules), stage)
    kept = strategy_of(policy_of([threshold], deal), stage)
    np.testing.assert_allclose(kept, threshold, atol=1e-12)


def test_broken_tables_are_refused(tmp_path: Path) -> None:
    stage = build_stage(2, {"fraga": "off"})
    table = policy_of([uniform(stage.tree)], DealStages((stage,)))
    stored = table.action_probabilities
    path = save_tabular(table, tmp_path / "table.npz")
    whole = path.read_bytes()
    for damaged in (
        whole[:-200],
        b"",
        *(whole[:at] + b"kille" + whole[at + 5 :] for at in range(0, len(whole), 60)),
    ):
        path.write_bytes(damaged)
        with contextlib.suppress(PolicyError):  # padding and names of files may say anything
            load_tabular(path)
    path.write_bytes(whole[:-200])
    with pytest.raises(PolicyError, match="is no tabular policy"):
        load_tabular(path)
    for changed, told in (
        ({"num_players": "two"}, "num_players is 'two', expected int"),
        ({"rules": None}, "rules is None, expected dict"),
        ({"format": "other"}, "its format is 'other'"),
    ):
        about = {"format": FORMAT, **asdict(table.metadata), **changed}
        arrays = {"observations": table.observations, "probabilities": stored}
        write_arrays(path, about, arrays)
        with pytest.raises(PolicyError, match=told):
            load_tabular(path)
    for chances, told in (
        (np.full(stored.shape, np.nan), "a value that is no probability"),
        (np.full(stored.shape, "often"), "probabilities is no array of numbers"),
    ):
        arrays = {"observations": table.observations, "probabilities": chances}
        write_arrays(path, {"format": FORMAT, **asdict(table.metadata)}, arrays)
        with pytest.raises(PolicyError, match=told):
            load_tabular(path)
    np.savez(path, about=np.array([{"format": 1}], dtype=object))
    with pytest.raises(PolicyError, match="is no tabular policy"):
        load_tabular(path)
    twice = np.concatenate([table.observations, table.observations[:1]])
    with pytest.raises(PolicyError, match="twice"):
        TabularPolicy(table.metadata, twice, np.concatenate([stored, stored[:1]]))
    with pytest.raises(PolicyError, match="1 of 1 decisions cannot occur in the single deal"):
        table.probabilities(1 - table.observations[:1] // 255, np.ones((1, 10), dtype=np.int8))


# Bad input


def test_a_tree_too_large_is_refused_before_it_is_built() -> None:
    for seats, size in ((5, ""), (20, r"e\+")):
        with pytest.raises(KilleError, match=rf"{seats} seats has about .*{size}.* GiB"):
            build_deal(seats)
    with pytest.raises(KilleError, match=r"more than the limit of 0.000977"):
        build_stage(3, memory_limit=2**20)


RULES = spec("byteskille").resolve(None, episode="deal")


@cache
def known() -> Stage:
    """Return a hand of a small pack."""
    return build_stage(2, RULES, cards=["L1", "L1", "L2", "VH", "KI"])


REFUSED: tuple[tuple[Callable[[], object], type[KilleError], str], ...] = (
    (
        lambda: build_stage(3, cards=["BL", "L1", "L2", "VH", "VH", "KA"]),
        KilleError,
        "a larger pack",
    ),
    (lambda: build_stage(2, cards=["L1", "L1", "L1", "L2", "L3"]), CardError, "one L1 too many"),
    (
        lambda: build_deal(2, {"max_redeals": 2000, "max_deals": 3000}),
        KilleError,
        "fewer than 1000",
    ),
    (lambda: build_stage(2, granted=-1), RulesError, "granted is -1"),
    (lambda: build_stage(2, granted=17), RulesError, "granted is 17, .* 0 to 16"),
    (lambda: build_stage(3, shared=(0, 3)), RulesError, "shared is 3, .* 0 to 2"),
    (lambda: build_stage(2, spec("knack").resolve(None)), RulesError, "knack"),
    (lambda: observe(known().positions, RULES, 3, known().tree.player), RulesError, "3 seats"),
    (lambda: observe(np.zeros(3), RULES, 2, np.zeros(3, int)), RulesError, "tables of byteskille"),
    (lambda: observe(known().positions, RULES, 2, np.array([0])), RulesError, "one for each of"),
    (lambda: observe(known().positions, RULES, 2, known().tree.player + 1), RulesError, "0 to 1"),
)


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_what_no_kernel_may_see_is_refused(
    call: Callable[[], object], error: type[KilleError], words: str
) -> None:
    with pytest.raises(error, match=words):
        call()
