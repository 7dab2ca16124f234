"""Players with memory: it belongs to a seat and a match, and to the tree of a hand exactly."""

from typing import Any

import numpy as np
import pytest

import kille_env
import kille_training as kt
from env.players import SIZE, Recalling
from env.test_playing import tables_of as seeded
from kille_agents.greedy import in_play
from kille_agents.objects import player_of
from kille_env.core.batch import Batch
from kille_env.errors import PolicyError
from kille_env.play.decisions import Decisions
from kille_env.play.policy import UniformPolicy, decide, pick_actions
from kille_env.play.seating import SeatedPolicies, play_out
from kille_training.evaluation.duplicate import payoff
from kille_training.solving.policies import nash_conv, sets_before, strategy_of
from kille_training.solving.stages import Stage
from reference.trees import build_deal

RULES = kille_env.spec("byteskille").resolve(episode="deal", rules={"fraga": "off"})


class Wrapped:
    """A policy without memory, with a memory that it does not read."""

    name, memory_size = "uniform", 2

    def decide(self, decisions: Decisions) -> np.ndarray:
        decisions.memory = decisions.memory + 1
        return UniformPolicy().probabilities(decisions.observation, decisions.mask)


def tables_of(seeds: Any, game: str = "byteskille", **options: Any) -> Batch:
    return seeded(seeds, game=game, **{"episode": "match", **options})


def by_hand(seed: int, game: str) -> np.ndarray:
    """The units of one table of the player in seat 1 and uniform ones, with a dict of memories."""
    batch, player, total = tables_of([seed], game), Recalling(), np.zeros(3)
    others = SeatedPolicies(batch, [UniformPolicy()], np.array([0, -1, 0]))
    memory = np.zeros((1, SIZE), np.float32)
    while batch.seat[0] >= 0:
        actions = others.actions()
        if batch.seat[0] == 1:
            _, _, _, chances = others.due()
            found, memory = player.answer(batch.observation, batch.mask, memory)
            actions = pick_actions(found, chances)
        others.step(actions)
        total += batch.reward[0]
    return total.round(9)


@pytest.mark.parametrize("game", ["byteskille", "knack"])
def test_units_are_those_of_a_slow_account_for_any_number_of_tables(game: str) -> None:
    seeds, seating = np.arange(40, 46), np.array([1, 0, 1])
    lineup = [Recalling(), UniformPolicy()]
    together = play_out(SeatedPolicies(tables_of(seeds, game), lineup, seating))
    for seed, units in zip(seeds, together, strict=True):
        alone = play_out(SeatedPolicies(tables_of([seed], game), lineup, seating))
        assert alone[0].tobytes() == units.tobytes()
        assert by_hand(seed, game).tolist() == units.tolist()


def test_every_seat_has_a_memory_of_its_own_and_a_new_match_clears_it() -> None:
    seen: list[np.ndarray] = []

    class Noting(Recalling):
        def decide(self, decisions: Decisions) -> np.ndarray:
            seen.append(decisions.memory.copy())
            return super().decide(decisions)

    batch = tables_of(range(4), "knack", restart=True)
    players = SeatedPolicies(batch, [Noting()], np.zeros(3, int))
    expected: dict[tuple[int, int], np.ndarray] = {}
    for _ in range(300):
        rows, seats, _, _ = players.due()
        before, matches = batch.seat.copy(), batch.tables["matches"].copy()
        known = [expected.get(key, np.zeros(SIZE)) for key in zip(rows, seats, strict=True)]
        observation = batch.observation.copy()
        players.actions()  # asking alone changes nothing
        players.run()
        assert np.array_equal(seen[-1], known)
        assert np.array_equal(seen[-2], known)
        _, after = Recalling().answer(observation, batch.mask, seen[-1])
        expected |= {(row, before[row]): after[row] for row in rows}
        began = np.flatnonzero(batch.tables["matches"] != matches)
        expected = {key: each for key, each in expected.items() if key[0] not in began}
    assert batch.tables["matches"].max() > 1


def test_a_memory_that_is_not_read_changes_nothing() -> None:
    deal = build_deal(2, RULES)
    exact = [nash_conv(each, deal) for each in (Wrapped(), UniformPolicy())]
    assert exact[0].improvement.tobytes() == exact[1].improvement.tobytes()
    assert exact[0].values.tobytes() == exact[1].values.tobytes()
    rows = [
        payoff(each, UniformPolicy(), 3, RULES, deals=50) for each in (Wrapped(), UniformPolicy())
    ]
    assert rows[0] == rows[1]


def remembered(stage: Stage, information_set: int, before: np.ndarray) -> np.ndarray:
    """The memory behind a set, by going back set by set."""
    memory = np.zeros((1, SIZE), np.float32)
    if before[information_set] >= 0:
        memory = remembered(stage, before[information_set], before)
    here = slice(information_set, information_set + 1)
    seen = stage.observations[here], stage.masks[here]
    return Recalling().answer(*seen, memory)[1]


def test_the_tree_holds_what_a_player_remembers() -> None:
    stage = build_deal(2, RULES).first_stage
    before = sets_before(stage.tree)
    found = stage.by_action(strategy_of(Recalling(), stage))
    assert (before >= 0).any()
    for each in range(stage.tree.num_infosets):
        earlier = np.zeros((1, SIZE), np.float32)
        if before[each] >= 0:
            earlier = remembered(stage, int(before[each]), before)
        seen = stage.observations[each : each + 1], stage.masks[each : each + 1]
        wanted, _ = Recalling().answer(*seen, earlier)
        np.testing.assert_allclose(found[each], wanted[0], rtol=0, atol=1e-15)


def test_the_value_in_the_tree_is_what_play_earns() -> None:
    found = nash_conv([Recalling(), UniformPolicy()], build_deal(2, RULES))
    rows = payoff(Recalling(), UniformPolicy(), 2, RULES, deals=4000)
    forehand = rows.by_position[0]
    assert abs(forehand.mean - found.values[0]) < 2 * (forehand.high - forehand.low) / 2


def test_a_deal_of_several_hands_is_refused_in_a_tree_but_not_in_play() -> None:
    with pytest.raises(PolicyError, match=r"recalling remembers.*fraga: off"):
        kt.nash_conv(Recalling(), "byteskille", 2)
    found = kt.evaluate(Recalling(), "byteskille", 2, episode="deal", baselines="uniform", deals=20)
    assert found.exact is None
    measured = kt.evaluate(Recalling(), num_players=2, rules=RULES, baselines="uniform", deals=20)
    assert measured.exact is not None
    assert {row.play for row in measured.exact} == {"greedy", "sampled"}


def test_what_a_player_with_memory_cannot_do_is_refused() -> None:
    batch = tables_of(range(2))
    with pytest.raises(PolicyError, match="recalling remembers the match"):
        decide(Recalling(), Decisions(batch, np.arange(2), np.zeros(2, np.uint64)))

    class Short(Wrapped):
        def decide(self, decisions: Decisions) -> np.ndarray:
            found = super().decide(decisions)
            decisions.memory = decisions.memory[:, :1]
            return found

    with pytest.raises(PolicyError, match=r"memory of shape .*, expected .*memory_size is 2"):
        SeatedPolicies(batch, [Short()], np.zeros(3, int)).play()
    greedy: Any = in_play(Recalling(), "greedy")
    assert greedy.memory_size == SIZE
    assert player_of(Recalling()) is not None
