"""Trees of Byteskille deals against full enumeration, the environment and OpenSpiel."""

import contextlib
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability

import kille_env
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
from kille_training.solving.trees.values import (
    best_response,
    check_strategy,
    expected_values,
    uniform,
)
from reference.trees import build_deal, build_stage, numbered

pytestmark = pytest.mark.compiled

PRESETS = ("svensk", "wikipedia")
ODD = {
    "preset": "wikipedia",
    "gok_call": "any_time",
    "dealer_after_inn": True,
    "stock_redraw": True,
    "pig_scope": "all",
    "undo_restores": False,
    "two_player": "ordinary",
}
# Every kind of card twice over the seats of a small table, and some plain ones.
SMALL = ["BL", "BL", "L4", "L9", "VH", "KA", "SV", "HU", "GO", "GO", "KI", "KI"]
FEW = ["BL", "L4", "SV", "VH", "GO", "KI", "KI"]


def a_strategy(stage: Stage, seed: int) -> np.ndarray:
    """Return a random strategy; some actions are never taken."""
    rng = np.random.default_rng(seed)
    rows = rng.random(stage.masks.shape) ** 4 * (rng.random(stage.masks.shape) < 0.8) + 1e-9
    rows *= stage.masks
    return (rows / rows.sum(axis=1, keepdims=True))[stage.masks != 0]


def matched(small: Stage, large: Stage, strategy: np.ndarray) -> np.ndarray:
    """Return a strategy of one tree for another tree with the same information sets."""
    numbers = {
        (int(seat), row.tobytes()): i
        for i, (seat, row) in enumerate(zip(small.tree.player, small.states, strict=True))
    }
    moved = np.zeros(large.tree.num_sequences)
    for i, (seat, row) in enumerate(zip(large.tree.player, large.states, strict=True)):
        number = numbers[int(seat), row.tobytes()]
        moved[large.tree.first[i] : large.tree.first[i + 1]] = strategy[
            small.tree.first[number] : small.tree.first[number + 1]
        ]
    return moved


def assert_same_game(one: Stage, other: Stage) -> None:
    assert one.tree.num_infosets == other.tree.num_infosets
    for seed in range(3):
        strategy = a_strategy(one, seed)
        moved = matched(one, other, strategy)
        for seat in range(one.num_players):
            mine = best_response(one.tree, strategy, seat)
            theirs = best_response(other.tree, moved, seat)
            assert mine.on_policy == pytest.approx(theirs.on_policy, abs=1e-12)
            assert mine.value == pytest.approx(theirs.value, abs=1e-12)


@pytest.mark.parametrize(
    ("seats", "rules", "cards"),
    [
        (2, "svensk", ()),
        (2, "wikipedia", ()),
        (2, ODD, ()),
        (3, "svensk", SMALL),
        (3, "wikipedia", ()),
        (3, {"dealer_after_inn": True}, SMALL),
        (4, "svensk", ["BL", "BL", "L4", "SV", "HU", "GO", "KI", "KI"]),
    ],
)
def test_nodes_are_a_zero_sum_game_with_perfect_recall_and_the_same(seats, rules, cards) -> None:
    stage, whole = (build_stage(seats, rules, cards=cards, nodes=nodes) for nodes in (False, True))
    assert whole.nodes is not None
    whole.nodes.check_recall()
    assert np.abs(whole.tree.payoff.sum(axis=1)).max() < 1e-12
    assert stage.num_deals == whole.num_deals == (whole.nodes.parent == 0).sum()
    assert stage.information_sets[0] == (whole.tree.player == 0).sum()
    assert stage.again.any() == whole.again.any()
    np.testing.assert_array_equal(stage.states, whole.states)
    assert_same_game(stage, whole)


def test_deals_without_calls_and_questions_have_the_known_number_of_information_sets() -> None:
    # Forehand knows its card. With two, the dealer knows besides whether forehand stood, or has
    # seen the card that it got for its own, which was not one of the five matadors: 21 + 16 * 21.
    rules = {"fraga": "off", "gok_call": "off"}
    assert build_stage(2, rules).information_sets == (21, 21 + 16 * 21)
    three = build_stage(3, rules)
    assert three.num_deals == 21**3 - 21
    assert three.information_sets[:2] == (21, 21 + 16 * 21)


def played(rules, seats: int, num_tables: int) -> tuple[np.ndarray, np.ndarray]:
    """Play deals at random in the environment: what each seat earned, and the standard error."""
    batch = kille_env.make_batch(
        "byteskille", num_tables, num_players=seats, rules=rules, seed=3, restart=False
    )
    batch.reset(dealer=seats - 1)
    rng, money = np.random.default_rng(5), np.zeros((num_tables, seats))
    while True:
        batch.step((rng.random(batch.mask.shape) * batch.mask).argmax(axis=1))
        money += batch.reward
        if batch.over.all():
            return money.mean(axis=0), money.std(axis=0) / num_tables**0.5


@pytest.mark.parametrize(
    ("seats", "rules"),
    [
        *((seats, {"preset": rules, "fraga": "off"}) for seats in (2, 3) for rules in PRESETS),
        (2, {"fraga": "off", **ODD}),
        (3, {"max_redeals": 2}),
    ],
)
def test_uniform_play_is_worth_what_the_environment_pays(seats: int, rules) -> None:
    deal = build_deal(seats, rules)
    expected = nash_conv(UniformPolicy(), deal).values
    paid, error = played(deal.stages[0].rules, seats, 100_000)
    assert (np.abs(paid - expected) < 4.5 * error).all()
    assert error.max() < 0.008


@pytest.mark.parametrize("rules", ["svensk", ODD], ids=["svensk", "odd"])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_strategy_is_worth_what_every_order_of_a_small_pack_pays(seats: int, rules) -> None:
    """The environment plays all orders and every choice, so draws are neither averaged nor merged.

    That holds for whatever is done after them: the strategy is random.
    """
    cards = ["BL", "L4" if seats == 4 else "VH", "KA", "SV", "GO", "KI", "KI"]
    rules = {"fraga": "off", **(rules if rules is ODD else {"preset": rules})}
    stage = build_stage(seats, rules, cards=cards)
    strategy = a_strategy(stage, 4)
    chances = {
        (int(seat), state.tobytes()): row
        for seat, state, row in zip(
            stage.tree.player, stage.states, stage.by_action(strategy), strict=True
        )
    }
    decks = sorted(set(permutations(cards)))
    batch = kille_env.make_batch(
        "byteskille", len(decks), num_players=seats, rules=stage.rules, restart=False
    )
    batch.reset(dealer=seats - 1, deck=decks)
    weight, total = np.full(len(decks), 1 / len(decks)), np.zeros(seats)
    going = np.arange(len(decks))
    while len(going):
        batch, weight = batch.take(going), weight[going]
        rows, actions = np.nonzero(batch.mask)
        known = zip(batch.seat[rows], batch.information_state()[rows], actions, strict=True)
        weight = weight[rows] * [
            chances[int(seat), state.tobytes()][action] for seat, state, action in known
        ]
        batch = batch.take(rows)
        batch.step(actions)
        total += (weight * batch.over) @ batch.reward
        going = np.flatnonzero(~batch.over)
    np.testing.assert_allclose(total, expected_values(stage.tree, strategy), atol=1e-12)


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


# OpenSpiel


class Exported:
    """A stage as OpenSpiel plays it."""

    def __init__(self, stage: Stage, path: Path) -> None:
        assert stage.nodes is not None
        self.efg = numbered(stage.nodes)
        self.efg.write(path)
        self.game = pyspiel.load_game("efg_game", {"filename": str(path)})

    def policy(self, strategy: np.ndarray):
        return pyspiel.TabularPolicy(self.efg.policy_of(strategy, self.game))


def improvements(stage: Stage, strategy: np.ndarray) -> list[float]:
    """What each seat gains by its best response."""
    responses = [best_response(stage.tree, strategy, seat) for seat in range(stage.num_players)]
    return [response.value - response.on_policy for response in responses]


@pytest.mark.parametrize(
    ("seats", "rules", "cards"),
    [(2, "svensk", ()), (2, "wikipedia", ()), (3, "svensk", FEW), (3, "wikipedia", SMALL)],
)
def test_nash_conv_of_random_strategies_is_openspiels(
    tmp_path: Path, seats: int, rules: str, cards
) -> None:
    stage = build_stage(seats, rules, cards=cards, nodes=True)
    exported = Exported(stage, tmp_path / "stage.efg")
    for seed in range(20):
        strategy = a_strategy(stage, seed)
        theirs = pyspiel.nash_conv(exported.game, exported.policy(strategy), False)
        assert sum(improvements(stage, strategy)) == pytest.approx(theirs, abs=1e-9)


def test_what_each_seat_gains_is_openspiels(tmp_path: Path) -> None:
    stage = build_stage(3, cards=FEW, nodes=True)
    exported, strategy = Exported(stage, tmp_path / "stage.efg"), a_strategy(stage, 1)
    theirs = exploitability.nash_conv(
        exported.game, exported.policy(strategy), return_only_nash_conv=False
    )
    gains = improvements(stage, strategy)
    np.testing.assert_allclose(gains, theirs.player_improvements, atol=1e-9)


def test_each_seat_can_have_its_own_player() -> None:
    stage = build_stage(3, "wikipedia")
    threshold, evenly = ByteskilleRuleOfThumb(3, stage.rules), UniformPolicy()
    strategy = strategy_of([threshold, evenly, threshold], stage)
    owner = np.repeat(stage.tree.player, np.diff(stage.tree.first))
    np.testing.assert_array_equal(strategy[owner == 1], uniform(stage.tree)[owner == 1])
    alone = strategy_of(threshold, stage)
    np.testing.assert_array_equal(strategy[owner != 1], alone[owner != 1])
    check_strategy(stage.tree, strategy)
    with pytest.raises(PolicyError, match="2 policies for 3 seats"):
        strategy_of([threshold, evenly], stage)


class _Wrong:
    """Goes wrong where its observation says that it holds a gok."""

    name = "wrong"

    def __init__(self, how: str) -> None:
        self.how = how

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        says = UniformPolicy().probabilities(observation, mask)
        gok = observation[:, 5 + 19] == 1
        if self.how == "shape":
            return says[:, 1:]
        if self.how == "number":
            says[gok] = np.nan
        elif self.how == "illegal":
            says[gok, 0], says[gok, 8] = 0.5, 0.5
            says[gok, 1:8] = 0.0
        else:
            says[gok] *= 0.5
        return says


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("number", "no probability.*seat . .you. cuckoo.*Legal: stand, swap, call"),
        ("illegal", "an illegal action.*seat . .you. cuckoo.*Legal: stand, swap, call"),
        ("sum", "a sum other than 1.*seat . .you. cuckoo"),
        ("shape", "expected"),
    ],
)
def test_a_player_that_goes_wrong_is_told_where(how: str, told: str) -> None:
    stage = build_stage(3, {"preset": "wikipedia", "gok_call": "own_turn"})
    with pytest.raises(PolicyError, match=told):
        nash_conv(_Wrong(how), DealStages((stage,)))


def test_a_player_of_another_table_is_refused() -> None:
    stage = build_stage(2)
    other = build_stage(3)
    table = policy_of([uniform(other.tree)], DealStages((other,)))
    with pytest.raises(PolicyError, match="made for another table"):
        nash_conv(table, DealStages((stage,)))


@pytest.mark.parametrize("rules", PRESETS)
def test_a_saved_strategy_plays_the_same(tmp_path: Path, rules: str) -> None:
    deal = build_deal(2, {"preset": rules, "max_redeals": 2})
    strategies = [a_strategy(stage, 7) for stage in deal.stages]
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
    strategy = a_strategy(stage, 2)
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
