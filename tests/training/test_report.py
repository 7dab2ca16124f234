"""What a report shows: the map of swaps, plots, tables and verdicts."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from kille_agents.rules_of_thumb.byteskille import ByteskilleRuleOfThumb
from kille_env.cards.pack import Kind
from kille_env.errors import KilleError
from kille_env.play.policy import UniformPolicy
from kille_env.registry import Table, make_batch, spec
from kille_training.evaluation.duplicate import Estimate, Row
from kille_training.evaluation.exact import ExactNashConv
from kille_training.evaluation.swap_map import swap_map
from kille_training.reports import pages, palette, plots
from kille_training.reports.report import report
from kille_training.reports.training import verdicts

TABLE = Table.of("byteskille", 2)

RULES = spec("byteskille").resolve(episode="deal")


def test_the_map_of_the_rule_of_thumb_is_its_thresholds():
    policy = ByteskilleRuleOfThumb(3, RULES)
    found = swap_map(policy, 3, RULES, decisions=60_000)
    for place in range(3):
        swapped = found.dealt[place, : Kind.GO]
        known = ~np.isnan(swapped)
        expected = np.arange(Kind.GO) < policy.thresholds[0, 3, 2 - place]
        assert np.array_equal(swapped[known] == 1.0, expected[known])
        assert found.dealt[place, Kind.GO] == 0.0
        assert found.dealt[place, Kind.KI] == 1.0
    assert np.isnan(found.taken[0]).all()  # nobody can take forehand's card before its turn
    asked = np.arange(Kind.GO) < policy.thresholds[0, 3, 2]
    assert np.array_equal(found.asks[: Kind.GO] == 1.0, asked)


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


def test_uniform_play_swaps_half_of_the_time_everywhere():
    found = swap_map(UniformPolicy(), 4, RULES, decisions=40_000)
    ordinary = found.dealt[:, : Kind.GO]
    assert np.allclose(ordinary[~np.isnan(ordinary)], 0.5)
    assert np.isnan(found.asks).all()  # with four nobody may ask


def test_progress_adds_up():
    counted = []
    swap_map(UniformPolicy(), 3, RULES, decisions=10_000, progress=counted.append)
    assert sum(counted) == pytest.approx(10_000, abs=2048)


def measured(*baselines):
    return [
        {
            "decisions": str(decisions),
            "against": against,
            "play": play,
            "mean": "0.1",
            "low": "0",
            "high": "0.2",
        }
        for against in baselines
        for play in ("greedy", "sampled")
        for decisions in (1000, 2000)
    ]


def test_equal_plots_are_equal_bytes():
    found = swap_map(ByteskilleRuleOfThumb(3, RULES), 3, RULES, decisions=8192)
    rows = measured("uniform")
    assert plots.swap_heat_map(found, found) == plots.swap_heat_map(found, found)
    assert plots.learning_curve(rows, "deal") == plots.learning_curve(rows, "deal")
    assert plots.learning_curve([], "deal").startswith("<svg")


def colours(svg):
    return set(re.findall("#[0-9a-f]{6}", svg))


def test_greedy_and_sampled_play_have_one_colour_each_on_all_plots():
    points = [
        {"decisions": str(decisions), "play": play, "nash_conv": "0.5"}
        for play in ("greedy", "sampled")
        for decisions in (1000, 2000)
    ]
    ways = {palette.GREEDY, palette.SAMPLED}
    for svg in (
        plots.learning_curve(measured("uniform", "a $x_ & <b>"), "units per deal"),
        plots.nash_conv_curve(points, "units per deal"),
    ):
        assert ways <= colours(svg) <= {value for value, _ in palette.COLOURS.values()}
        assert not colours(palette.themed(svg)), "a page chooses light or dark colours itself"
    only = plots.nash_conv_curve(points[2:], "units per deal")
    assert palette.GREEDY not in colours(only)


def test_names_with_markup_mathematics_and_other_letters_can_be_drawn():
    names = ["<b> $x_", "日本 🂡"]
    rows = [{**row, "against": name} for name in names for row in measured(name)]
    svg = plots.learning_curve(rows, "units per deal")
    assert "&lt;b&gt; $x_" in svg and "日本" in svg


def test_the_verdict_says_who_is_better():
    rows = [
        Row("me", "greedy", "luck", Estimate(0.1, 0.05, 0.15, 20), ()),
        Row("me", "greedy", "rule", Estimate(0.1, -0.05, 0.25, 20), ()),
        Row("me", "greedy", "best", Estimate(-0.1, -0.15, -0.05, 20), ()),
    ]
    found = verdicts(
        rows, [ExactNashConv("me", "greedy", 0.2, (0.1, 0.1), (0.5, -0.5), 2, TABLE)], "units"
    )
    assert [verdict.tone for verdict in found] == ["better", "", "worse", ""]
    assert [verdict.text.split(":")[0] for verdict in found[:3]] == [
        "Better than luck",
        "Even with rule",
        "Worse than best",
    ]
    assert "NashConv 0.20000" in found[3].text


def test_a_page_that_cannot_be_written_says_where_else_it_could_be(tmp_path):
    with pytest.raises(KilleError, match=r"cannot write the page .*--out"):
        pages.write(tmp_path / "missing" / "report.html", b"")


def test_a_folder_of_neither_kind_has_no_report(tmp_path):
    with pytest.raises(KilleError, match="is no run"):
        report(tmp_path)
    with pytest.raises(KilleError, match="not a tournament"):
        report(tmp_path, exact=True)
