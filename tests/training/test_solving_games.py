"""The builder that grows deals of any game: against other builders, OpenSpiel and play."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import kille_env
import kille_training as kt
from env.players import even
from kille_env.adapters.open_spiel import Form, Position
from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.play.decisions import Decisions
from kille_env.play.policy import UniformPolicy
from kille_env.registry import spec
from kille_training.evaluation.exact import exact_rows
from kille_training.solving.grow import build_deal, grow_stage
from kille_training.solving.policies import as_strategy
from kille_training.solving.policies import nash_conv as nash_conv_of_deal
from kille_training.solving.stages import Stage, known_by
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.sequence_game import payoffs_of
from kille_training.solving.trees.tree import Chance, Decision, Terminal, flatten
from kille_training.solving.trees.values import (
    best_response,
    choice_values,
    expected_values,
    greedy,
    infoset_reach,
    losses,
    nash_conv,
    uniform,
)
from reference.trees import a_strategy, in_tree

pytestmark = pytest.mark.compiled

FEW = ("BL", "L4", "L4", "KA", "HU", "SV", "VH", "GO", "KI", "KI")
FEWER = ("BL", "VH", "KA", "SV", "GO", "KI", "KI")
ODD = {
    "preset": "wikipedia",
    "gok_call": "any_time",
    "dealer_after_inn": True,
    "stock_redraw": True,
    "pig_scope": "all",
    "undo_restores": False,
    "two_player": "ordinary",
}


def keys_of(stage: Stage) -> list[tuple[int, bytes]]:
    """Return who decides in each information set, and what it knows."""
    seats = stage.tree.player.tolist()
    return [(s, k.tobytes()) for s, k in zip(seats, stage.states, strict=True)]


def assert_same_game(one: Stage, other: Stage) -> None:
    """Two trees have the same choices, values, best responses and reach.

    A seat may know in the other which of its cards it drew, and have no choice.
    """
    here, there = keys_of(one), keys_of(other)
    choice = other.masks.sum(axis=1) > 1
    assert sorted(here) == sorted({key for key, free in zip(there, choice, strict=True) if free})
    seen = dict(zip(here, one.observations, strict=True))
    for key, observation, free in zip(there, other.observations, choice, strict=True):
        assert not free or (observation == seen[key]).all()
    for seed in range(3):
        known = a_strategy(one, seed)
        mine, theirs = in_tree(one, known), in_tree(other, known)
        for seat in range(one.num_players):
            response = best_response(one.tree, mine, seat)
            expected = best_response(other.tree, theirs, seat)
            assert response.value == pytest.approx(expected.value, abs=1e-12)
            assert response.on_policy == pytest.approx(expected.on_policy, abs=1e-12)
            gained = expected.value - expected.on_policy
            assert losses(one.tree, mine, seat).sum() == pytest.approx(gained, abs=1e-12)
            assert_same_worth(one, mine, other, theirs, seat)
        values = expected_values(other.tree, theirs)
        np.testing.assert_allclose(expected_values(one.tree, mine), values, atol=1e-12)
        reach = summed(there, infoset_reach(other.tree, theirs))
        expected = [reach[key] for key in here]
        np.testing.assert_allclose(infoset_reach(one.tree, mine), expected, atol=1e-12)


def summed(keys: list[tuple[int, bytes]], numbers: np.ndarray) -> dict[tuple[int, bytes], float]:
    """Return the sum of the numbers of each key."""
    found = defaultdict[tuple[int, bytes], float](float)
    for key, number in zip(keys, numbers.tolist(), strict=True):
        found[key] += number
    return found


def assert_same_worth(
    one: Stage, mine: np.ndarray, other: Stage, theirs: np.ndarray, seat: int
) -> None:
    """A seat's choices are worth the same in two trees, and are reached as often."""
    units, often = choice_values(one.tree, mine, seat)
    here, rows = keys_of(one), dict(zip(keys_of(one), one.by_action(units), strict=True))
    units, there = choice_values(other.tree, theirs, seat)
    reach = summed(keys_of(other), there)
    np.testing.assert_allclose(often, [reach[key] for key in here], rtol=1e-9, atol=1e-15)
    for key, row in zip(keys_of(other), other.by_action(units), strict=True):
        if key in rows:
            np.testing.assert_allclose(rows[key], row, rtol=1e-6, atol=1e-6)


def walked(num_players: int, rules: Rules, cards: tuple[str, ...] = ()) -> Stage:
    """Return a deal's tree with nodes, by a plain walk over the positions of OpenSpiel's adapter.

    What cannot be divided is left on the table, and a seat's share of it is added here.
    """
    form, table, zero_sum = (
        Form(rules.game, num_players, rules, cards, 0),
        {},
        spec(rules.game).zero_sum,
    )

    def expand(position: Position) -> Terminal | Chance | Decision:
        if position.doing is not None:
            total = sum(position.left.values())
            shares = [count / total for count in position.left.values()]
            return Chance(shares, [position.after(kind) for kind in position.left])
        if position.player < 0:
            pay = position.table["reward"][0, :num_players].copy()
            if "left_on_table" in pay_fields:
                pay += position.table["left_on_table"][0] / num_players
            return Terminal(pay if zero_sum else pay - pay.mean())
        game, size = form.game, spec(rules.game).information_state(num_players)
        wide = size[-1].offset + size[-1].size
        known = form.look(game.information_state, position.table, position.player, wide, np.uint8)
        key = position.player, known.tobytes()
        table.setdefault(key, position)
        after = [position.after(action) for action in position.legal]
        return Decision(position.player, known.tobytes(), after)

    pay_fields = spec(rules.game).table.names or ()
    found = flatten(form.start, expand, num_players)
    seats = found.tree.player.tolist()
    met = [table[key] for key in zip(seats, found.information, strict=True)]
    masks = np.zeros((len(met), spec(rules.game).num_actions), np.int8)
    for row, position in zip(masks, met, strict=True):
        row[position.legal] = 1
    return Stage(
        rules=rules, num_players=num_players, num_deals=0, num_nodes=found.nodes.num_nodes,
        tree=found.tree, masks=masks, positions=np.concatenate([each.table for each in met]),
        again=np.zeros(0), outcomes=np.zeros(0),
    )  # fmt: skip


SMALLEST = {"preset": "tiny", "pack": "BL+L8+KI"}


@pytest.mark.parametrize(
    ("game", "seats", "rules"),
    [
        ("krypkille", 2, SMALLEST),
        ("krypkille", 3, {**SMALLEST, "max_discards": 0, "allpass_lowest": 3}),
        pytest.param("kungsholmskille", 2, SMALLEST, marks=pytest.mark.slow),
        ("femkortskille", 2, SMALLEST),
        pytest.param("knack", 2, {"pack": "QH+KH+AH+JS+QS+KS+AS"}, marks=pytest.mark.slow),
        ("byteskille", 2, {"fraga": "off", "two_player": "ordinary"}),
        ("byteskille", 2, {"fraga": "off", **ODD}),
        ("byteskille", 3, {"fraga": "off"}),
        ("byteskille", 3, {"fraga": "off", **ODD}),
    ],
)
def test_it_is_the_game_that_a_plain_walk_finds(game: str, seats: int, rules: dict) -> None:
    cards = (FEW if seats == 2 else FEWER) if game == "byteskille" else ()
    left = {"remainder": "left"} if game == "knack" else {}  # and shared by the walk
    plain = walked(seats, spec(game).resolve({**rules, **left}), cards)
    assert_same_game(grow_stage(seats, spec(game).resolve(rules), cards=cards), plain)
    if game == "byteskille":  # elsewhere nodes recall draws, which the walk forgets
        whole = grow_stage(seats, spec(game).resolve(rules), cards=cards, nodes=True)
        assert whole.nodes is not None
        whole.nodes.check_recall()
        assert np.abs(whole.tree.payoff.sum(axis=1)).max() < 1e-12
        assert_same_game(whole, plain)


@pytest.mark.parametrize(
    ("game", "seats", "rules"),
    [
        *((game, 2, "tiny") for game in ("krypkille", "kungsholmskille", "femkortskille", "knack")),
        ("byteskille", 2, {"fraga": "off", **ODD}),
        ("byteskille", 3, {"fraga": "off"}),
        ("byteskille", 3, {"max_redeals": 2}),
    ],
)
def test_uniform_play_earns_what_the_tree_says(game: str, seats: int, rules: Any) -> None:
    rules = spec(game).resolve(rules, episode="deal")
    expected = nash_conv_of_deal(UniformPolicy(), build_deal(seats, rules)).values
    batch = kille_env.make_batch(game, 20_000, seats, rules=rules, seed=4, restart=False)
    batch.reset(dealer=seats - 1)
    rng, earned = np.random.default_rng(5), np.zeros((20_000, seats))
    while not batch.over.all():
        batch.step((rng.random(batch.mask.shape) * batch.mask).argmax(axis=1))
        earned += batch.reward
    if not spec(game).zero_sum:
        earned -= earned.mean(axis=1, keepdims=True)
    wide = 4.0 * earned.std(axis=0) / np.sqrt(len(earned))
    assert (np.abs(earned.mean(axis=0) - expected) < wide).all()


def test_an_end_is_its_sequences_its_chance_and_the_number_of_a_payoff() -> None:
    """So trees of a hundred million ends fit into memory; `check_deal` counts on it."""
    tree = grow_stage(2, spec("krypkille").resolve("tiny")).tree
    ends = len(tree.chance)
    assert tree.ends.nbytes + tree.chance.nbytes == 20 * ends
    assert len(tree.payoff) < 0.01 * ends
    likely = payoffs_of(tree, uniform(tree))
    assert likely.min() > 0.0 and likely.sum() == pytest.approx(1.0, abs=1e-12)


def test_a_small_table_is_as_hard_as_its_page_says() -> None:
    """Figures of a model of the same table that was written apart from this code."""
    stage = grow_stage(2, spec("krypkille").resolve("tiny"))
    assert nash_conv(stage.tree, uniform(stage.tree)).total == pytest.approx(14.1, abs=0.05)
    solver = CFR(stage.tree, "pcfr+")
    found = solver.run(3000, until=1e-4)
    assert found is not None and found.total <= 1e-4
    pure = greedy(stage.tree, solver.average)
    assert nash_conv(stage.tree, pure).total == pytest.approx(0.52, abs=0.02)


def test_one_door_solves_measures_and_plays_a_small_table(tmp_path) -> None:
    table = {"game": "krypkille", "num_players": 2, "rules": "tiny"}
    solution = kt.solve(**table, target=0.5, out=tmp_path / "solved")
    assert 0.0 < solution.nash_conv <= 0.51 and "Krypkille" in solution.text
    found = kt.evaluate(tmp_path / "solved", deals=200, baselines=["uniform"], losses=3)
    assert found.exact is not None and len(found.losses) == 3
    (sampled,) = (row for row in found.exact if row.play == "sampled")
    assert sampled.nash_conv == pytest.approx(solution.nash_conv, abs=1e-9)
    assert kt.nash_conv(even, **table).nash_conv == pytest.approx(14.14, abs=0.01)
    with pytest.raises(KilleError, match="krypkille with 4 seats has about"):
        kt.nash_conv("uniform", "krypkille", 4)


class ReadsDraws:
    """A player that minds which of its cards it drew; its observation does not say it."""

    name, keyless = "reads draws", True

    def decide(self, decisions: Decisions) -> np.ndarray:
        return by_draws(decisions.draw(1).tables, decisions.mask)


def by_draws(tables: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return what it does at tables, [N, A]: later actions the more, the higher its draw."""
    drawn = tables["drawn_cards"][np.arange(len(tables)), tables["seat"]].astype(np.float64)
    weight = mask * (1.0 + np.log2(1.0 + drawn)[:, None] * np.arange(mask.shape[1]))
    return weight / weight.sum(axis=1, keepdims=True)


def test_a_player_that_minds_its_draws_is_measured_in_a_tree_that_knows_them() -> None:
    rules = spec("krypkille").resolve("tiny", episode="deal")
    plain = grow_stage(2, rules, nodes=True)
    strategy = as_strategy(by_draws(plain.positions, plain.masks), plain.masks, plain.tree)
    found = kt.nash_conv(ReadsDraws(), "krypkille", 2, rules="tiny")
    assert float(found) == pytest.approx(nash_conv(plain.tree, strategy).total, abs=1e-9)
    with pytest.raises(KilleError, match="grow it with recall=True"):
        exact_rows(ReadsDraws(), 2, rules, ("sampled",), deal=build_deal(2, rules))  # type: ignore[arg-type]


@pytest.mark.parametrize("game", ["krypkille", "kungsholmskille", "femkortskille", "knack"])
def test_all_that_a_forgetful_set_holds_is_observed_alike(game: str) -> None:
    batch = kille_env.make_batch(game, 512, 2, rules="tiny", episode="deal", seed=3)
    batch.reset()
    rng, seen = np.random.default_rng(4), {}
    for _ in range(40):
        states = known_by(batch.tables, batch.rules, 2, batch.seat)
        for seat, state, observation in zip(batch.seat, states, batch.observation, strict=True):
            known = seen.setdefault((seat, state.tobytes()), observation.tobytes())
            assert known == observation.tobytes()
        batch.step((batch.mask * rng.random(batch.mask.shape)).argmax(axis=1))
    assert len(seen) > 1000
