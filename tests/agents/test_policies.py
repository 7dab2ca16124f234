"""The protocol, the built-in players, and how actions are drawn."""

import numpy as np
import pytest

from kille_agents import (
    ByteskilleRuleOfThumb,
    Policy,
    UniformPolicy,
    best_actions,
    check_probabilities,
    load_policy,
    sample_actions,
)
from kille_env.errors import PolicyError
from kille_env.registry import make_batch, spec

STAND, SWAP, CALL, WAIT, ASK, YES, NO, DEFER, BUY, DECLINE = range(10)


def table(cards, *actions, rules=None, episode="deal", num_players=None, dealer=None):
    """One table with these cards dealt (forehand first), after some actions by name."""
    players = num_players or len(cards)
    batch = make_batch("byteskille", 1, players, rules=rules, episode=episode, seed=1)
    batch.reset(deck=list(cards), dealer=players - 1 if dealer is None else dealer)
    for action in actions:
        batch.step(np.array([batch.spec.actions.index(action)]))
    return batch


def choice(batch, **options):
    """What the rule-of-thumb player does at a table, in words."""
    policy = ByteskilleRuleOfThumb(batch.num_players, batch.rules, **options)
    chances = policy.probabilities(batch.observation, batch.mask)
    check_probabilities("rule_of_thumb", chances, batch.mask)
    return batch.spec.actions[int(best_actions(chances)[0])]


@pytest.mark.parametrize("num_players", [2, 3, 5, 13, 20])
@pytest.mark.parametrize("preset", ["svensk", "wikipedia"])
@pytest.mark.parametrize("name", ["uniform", "rule_of_thumb"])
def test_built_in_players_finish_matches_at_every_table(name, preset, num_players):
    rules = spec("byteskille").resolve(preset)
    policy = load_policy(name, "byteskille", num_players, rules)
    assert isinstance(policy, Policy)
    batch = make_batch("byteskille", 16, num_players, rules=rules, seed=5)
    batch.reset()
    rng = np.random.default_rng(0)
    for _ in range(150):
        chances = policy.probabilities(batch.observation, batch.mask)
        check_probabilities(name, chances, batch.mask)
        batch.step(sample_actions(chances, rng))


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
    ],
)
def test_what_is_no_distribution_is_refused(chances, what):
    with pytest.raises(PolicyError, match=what):
        check_probabilities("p", np.array(chances), np.ones((1, 2), np.int8))


def test_an_illegal_action_with_a_chance_is_refused():
    with pytest.raises(PolicyError, match="illegal action in row 1"):
        check_probabilities("p", np.full((2, 2), 0.5), np.array([[1, 1], [1, 0]], np.int8))


class TestRuleOfThumb:
    def test_keeps_a_good_card_and_swaps_a_bad_one(self):
        assert choice(table(["L12", "L3", "L4", "L5"])) == "stand"
        assert choice(table(["BL", "L3", "L4", "L5"])) == "swap"

    def test_the_dealer_and_forehand_have_thresholds_of_their_own(self):
        policy = ByteskilleRuleOfThumb(3, spec("byteskille").resolve(episode="deal"))
        assert len(set(policy.thresholds[0, 3, :3])) > 1

    def test_needs_less_at_a_larger_table(self):
        policy = ByteskilleRuleOfThumb(20, spec("byteskille").resolve(episode="deal"))
        assert policy.thresholds[0, 20, 5] < policy.thresholds[0, 4, 2]

    def test_knows_that_somebody_is_worse_off(self):
        # Forehand gets L4 for its L2; the middle seat, which holds the L2 now, cannot know better.
        taken = table(["L2", "L4", "L5", "L6"], "swap")
        assert choice(taken) == "swap"  # it was made to take the L2 for its L4
        luckier = table(["L4", "L2", "L5", "L6"], "swap")
        assert choice(luckier) == "stand"  # the seat that swapped got its L2, and has had its turn

    def test_gives_a_dealt_kille_away_and_keeps_a_high_one(self):
        assert choice(table(["KI", "L5", "L6", "L7"])) == "swap"
        assert choice(table(["KI", "L5", "L6", "L7"], rules="wikipedia")) == "stand"

    def test_the_last_two_keep_a_kille(self):
        assert choice(table(["KI", "L5"]), asks=False) == "stand"

    def test_a_gok_stands_and_waits(self):
        assert choice(table(["GO", "L5", "L6", "L7"])) == "stand"
        asked = table(["L5", "L6", "GO", "L7"])
        assert asked.mask[0].nonzero()[0].tolist() == [CALL, WAIT]
        assert choice(asked) == "wait"

    def test_asks_with_a_bad_card_only(self):
        assert choice(table(["BL", "L5", "L6"])) == "ask"
        assert choice(table(["L12", "L5", "L6"])) == "stand"

    def test_refuses_whoever_asks(self):
        assert choice(table(["BL", "BL"], "ask")) == "no"
        assert choice(table(["BL", "BL", "BP"], "ask")) == "no"
        assert choice(table(["BL", "KR", "BP"], "ask", "defer")) == "no"

    def test_buys_where_a_share_is_worth_the_price(self):
        # Four at the table, forehand out with the blaren: three are left, the first occasion.
        batch = table(["BL", "L5", "L6", "L7"], *["stand"] * 4, episode="match")
        assert batch.legal_texts() == ["buy", "decline"]
        # The pot holds 8, buying costs 4: a quarter of 12 is less than that.
        assert choice(batch) == "decline"
        rich = table(
            ["BL", *[f"L{n}" for n in range(2, 9)]],
            *["stand"] * 8,
            episode="match",
            rules="wikipedia",
        )
        assert rich.legal_texts() == ["buy", "decline"]
        assert choice(rich) == "buy"  # eight have paid 2, the first re-entry costs 2

    def test_other_games_and_tables_are_refused(self):
        rules = spec("byteskille").resolve()
        batch = table(["BL", "L5", "L6", "L7"])
        with pytest.raises(PolicyError, match="made for another table"):
            ByteskilleRuleOfThumb(3, rules).probabilities(batch.observation, batch.mask)


def test_an_unknown_player_is_refused_with_a_suggestion():
    rules = spec("byteskille").resolve()
    with pytest.raises(PolicyError, match="Did you mean 'rule_of_thumb'"):
        load_policy("rule_of_tumb", "byteskille", 3, rules)
