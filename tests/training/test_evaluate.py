"""Duplicate deals: unbiased, paired, and honest about their number."""

import numpy as np
import pytest

import kille_training
from kille_agents.catalog import load_policy
from kille_agents.rules_of_thumb.byteskille import ByteskilleRuleOfThumb
from kille_env.core.keys import deal_seeds
from kille_env.errors import KilleError
from kille_env.play.policy import UniformPolicy
from kille_env.registry import make_batch, spec
from kille_training.evaluation.duplicate import estimates, payoff, payoff_table
from kille_training.evaluation.exact import exact_rows
from kille_training.labels import most_apart

DEAL = spec("byteskille").resolve(episode="deal")


class First:
    """Always plays the first legal action."""

    name = "first"

    def probabilities(self, observation, mask):
        return np.eye(mask.shape[1])[mask.argmax(axis=1)]


@pytest.mark.parametrize(
    ("game", "num_players", "episode"),
    [
        *(("byteskille", seats, "deal") for seats in (2, 3, 13)),
        ("byteskille", 5, "match"),
        *((*table, way) for table in (("krypkille", 4), ("knack", 5)) for way in ("deal", "match")),
    ],
)
def test_a_player_earns_exactly_nothing_from_himself(game, num_players, episode):
    rules = spec(game).resolve(episode=episode)
    steady = load_policy("rule_of_thumb", game, num_players, rules)
    for policy, play in ((steady, "greedy"), (UniformPolicy(), "sampled")):
        row = payoff(policy, policy, num_players, rules, play=play, deals=30, seed=3)
        assert row.estimate.mean == 0.0 and row.estimate.low == -row.estimate.high < 0.0
        assert row.estimate.groups == 30
        gains = [part.mean for part in row.by_position]
        assert sum(gains) == pytest.approx(0.0, abs=1e-7)
        # Where rewards do not sum to zero, it gains nothing in any position; else some are better.
        assert any(gains) == spec(game).zero_sum


def test_the_interval_is_students_over_groups():
    (found,) = estimates(np.array([[0.0], [2.0], [4.0], [6.0]]), 0.0)
    # mean 3, standard deviation sqrt(20 / 3), t(0.975; 3) = 3.182446; nothing leans
    assert found.mean == 3.0
    assert found.high - found.mean == pytest.approx(3.182446 * np.sqrt(20 / 3 / 4), rel=1e-6)
    with pytest.raises(KilleError, match="2 deals or more"):
        estimates(np.array([[1.0]]), 6.0)


@pytest.mark.parametrize("game", ["byteskille", "krypkille"])
def test_it_equals_a_plain_loop_over_single_tables(game):
    """Where rewards do not sum to zero, it is paid what it gains over the baseline."""
    rules, deals, seed = spec(game).resolve(episode="deal"), 7, 11
    players = First(), load_policy("rule_of_thumb", game, 3, rules)
    row = payoff(*players, 3, rules, play="greedy", deals=deals, seed=seed)

    def earned(deal, focal):
        """What each seat gets, with the first player in the focal one, and who dealt."""
        batch = make_batch(game, 1, 3, rules=rules, restart=False, seed=int(deal))
        batch.reset()
        total, dealer = np.zeros(3), int(batch.tables["dealer"][0])
        while batch.seat[0] >= 0:
            player = players[int(batch.seat[0] != focal)]
            chances = player.probabilities(batch.observation, batch.mask)
            batch.step(chances.argmax(axis=1))
            total += batch.reward[0]
        return total, dealer

    gains, places = np.zeros((deals, 3)), np.zeros((deals, 3))
    for number, deal in enumerate(deal_seeds(seed, 3, np.arange(deals))):
        usual = np.zeros(3) if spec(game).zero_sum else earned(deal, -1)[0]
        for seat in range(3):
            total, dealer = earned(deal, seat)
            gains[number, seat] = total[seat] - usual[seat]
            places[number, (seat - dealer - 1) % 3] = gains[number, seat]
    assert row.estimate == estimates(gains.mean(axis=1).round(9)[:, None], most_apart(rules, 3))[0]
    assert [part.mean for part in row.by_position] == pytest.approx(places.mean(axis=0))


def test_intervals_cover_the_truth_as_often_as_they_say():
    players = ByteskilleRuleOfThumb(2, DEAL), UniformPolicy()
    truth = payoff(*players, 2, DEAL, deals=60_000, seed=999).estimate.mean
    rows = [payoff(*players, 2, DEAL, deals=60, seed=seed) for seed in range(120)]
    covered = np.mean([row.estimate.low <= truth <= row.estimate.high for row in rows])
    assert 0.88 <= covered <= 0.99


def test_a_table_has_a_line_for_each_baseline_and_way_to_play():
    counted = []
    rows = payoff_table(
        UniformPolicy(), [UniformPolicy(), First()], 3, DEAL,
        deals=10, seed=0, progress=counted.append,
    )  # fmt: skip
    assert [(row.against, row.play) for row in rows] == [
        ("uniform", "greedy"),
        ("uniform", "sampled"),
        ("first", "greedy"),
        ("first", "sampled"),
    ]
    assert sum(counted) == 40


def test_a_deterministic_player_has_one_row():
    counted = []
    (row,) = payoff_table(
        First(), [UniformPolicy()], 3, DEAL, deals=10, seed=0, progress=counted.append
    )
    assert row.play == "deterministic"
    assert sum(counted) == 20
    both = [
        payoff(First(), UniformPolicy(), 3, DEAL, play=play, deals=10)
        for play in ("greedy", "sampled")
    ]
    assert row.estimate == both[0].estimate == both[1].estimate
    (exact,) = exact_rows(First(), 2, DEAL, ("greedy", "sampled"))
    assert exact.play == "deterministic"


@pytest.mark.parametrize(
    ("measure", "options", "said"),
    [
        ("evaluate", {"deals": 0}, "deals is 0, expected a whole number from 2"),
        ("evaluate", {"deals": 2.5}, "deals is 2.5"),
        ("evaluate", {"deals": "x"}, "deals is 'x'"),
        ("evaluate", {"seed": -1}, "a seed is a whole number"),
        ("evaluate", {"seed": True}, "a seed is a whole number"),
        ("evaluate", {"baselines": []}, "baselines is empty"),
        ("evaluate", {"play": "best"}, "play is 'best', expected one of greedy, sampled"),
        ("best_response", {"decisions": 0}, "decisions is 0, expected at least 1"),
        ("play_tournament", {"deals": 0}, "deals is 0, expected at least 2"),
    ],
)
def test_what_cannot_be_measured_is_refused_by_the_name_of_the_setting(measure, options, said):
    players = ["uniform", "rule_of_thumb"] if measure == "play_tournament" else "uniform"
    with pytest.raises(KilleError, match=said):
        getattr(kille_training, measure)(players, "byteskille", num_players=2, **options)


def test_an_own_reward_is_measured_in_place_of_units():
    asked = {"num_players": 3, "baselines": "uniform", "deals": 100, "play": "greedy"}

    def rows(game, reward=None, **more):
        found = kille_training.evaluate(
            "rule_of_thumb", game, **{"exact": False, **asked, **more}, reward=reward
        )
        return found.rows[0].estimate, str(found)

    (units, _), (double, text) = rows("byteskille"), rows("byteskille", lambda units: 2 * units)
    assert double.mean == pytest.approx(2 * units.mean) and "by a reward of your own" in text
    won = rows("knack", lambda units: (units > 0).astype(float))[0]
    assert 0.34 < won.low < won.mean < won.high < 1.0  # a third is won by equals
    others, text = rows("knack", lambda units: units.sum(axis=1, keepdims=True) - units)
    assert "worse than uniform" not in text
    assert others.mean < 0.0 < rows("knack", lambda units: units)[0].mean
    with pytest.raises(KilleError, match="NashConv is in units"):
        rows("byteskille", lambda units: units, exact=True)
    with pytest.raises(KilleError, match="reward is 'careful', expected a function"):
        rows("byteskille", "careful")


def test_what_is_worse_than_uniform_says_so():
    table = {"game": "krypkille", "num_players": 2, "baselines": "uniform", "deals": 300}
    first, ours, uniform = (
        str(kille_training.evaluate(player, **table))
        for player in (First(), "rule_of_thumb", "uniform")
    )
    assert "deterministic: worse than uniform play" in first
    assert "worse" not in ours
    assert "greedy: worse than uniform play" in uniform  # that is always its first action
