"""What a report shows: the map of swaps, plots, tables and verdicts."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from kille_env.registry import Table, spec
from kille_training.evaluation.duplicate import Estimate, Row
from kille_training.evaluation.results import ExactNashConv
from kille_training.learn.page import distance, distances, learning_curve, nash_conv_curve, verdict
from kille_training.pages import page
from kille_training.pages.page import LogScale, Scale

TABLE = Table.of("byteskille", 2)

RULES = spec("byteskille").resolve(episode="deal")


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
    rows = measured("uniform")
    assert learning_curve(rows, "deal") == learning_curve(rows, "deal")
    assert learning_curve([], "deal").startswith("<svg")


def colors(svg):
    return set(re.findall("#[0-9a-f]{6}", svg))


def test_greedy_and_sampled_play_have_one_color_each_on_all_plots():
    points = [
        {"decisions": str(decisions), "play": play, "nash_conv": "0.5"}
        for play in ("greedy", "sampled")
        for decisions in (1000, 2000)
    ]
    ways = {page.GREEDY, page.SAMPLED}
    for svg in (
        learning_curve(measured("uniform", "a $x_ & <b>"), "units per deal"),
        nash_conv_curve(points, 2, {"the rule of thumb": 0.012}),
    ):
        assert ways <= colors(svg) <= {value for value, _ in page.COLORS.values()}
        assert not colors(page.themed(svg)), "a page chooses light or dark colors itself"
    only = nash_conv_curve(points[2:], 2, {"the rule of thumb": 0.012})
    assert page.GREEDY not in colors(only) and ">the rule of thumb<" in only


def test_names_with_markup_mathematics_and_other_letters_can_be_drawn():
    names = ["<b> $x_", "日本 🂡"]
    rows = [{**row, "against": name} for name in names for row in measured(name)]
    svg = learning_curve(rows, "units per deal")
    assert "&lt;b&gt; $x_" in svg and "日本" in svg


def test_the_verdict_says_who_is_better():
    for low, high, tone, word in (
        (0.05, 0.15, "better", "Better than"),
        (-0.05, 0.25, "", "Even with"),
        (-0.15, -0.05, "worse", "Worse than"),
    ):
        mean = (low + high) / 2
        row = Row("me", "greedy", "rule", Estimate(mean, low, high, 20), ())
        first = Row("me", "greedy", "luck", Estimate(9.0, 8.0, 10.0, 20), ())
        found = verdict([first, row], "units per deal")
        assert (found.tone, len(found.text.split()) <= 20) == (tone, True)
        assert found.text == f"{word} rule: {mean:+.3f} units per deal in greedy play."


def test_how_far_a_policy_is_from_perfect_comes_first():
    rows = [
        ExactNashConv("me", play, stakes * 2, (0.1, 0.1), (0.5, -0.5), 2, TABLE)
        for play, stakes in (("greedy", 0.00712), ("sampled", 0.02))
    ]
    found = distance(rows, {"the rule of thumb": 0.0123, "random play": 0.912})
    assert found.text == (
        "0.0071 stakes from an equilibrium in greedy play; "
        "the rule of thumb 0.012, random play 0.91."
    )


def test_a_stake_is_explained_where_it_stands():
    row = ExactNashConv("me", "greedy", 0.7, (0.1, 0.1), (0.5, -0.5), 2, TABLE)
    caption = distances([row], {"random play": 0.912}, 2)["caption"]
    assert "the gain of each seat" in caption and "1 stake = 2 chips" in caption


def test_text_of_a_plot_on_a_phone_is_large_enough():
    svg = learning_curve([], "units per deal", page.NARROW)
    points = float(re.search(r'width="([\d.]+)pt"', svg)[1])
    assert 9 * 364 / points >= 11, "pixels of text on a screen 390 wide, with its margins"


def test_a_chart_shows_zero_and_everything_that_is_known():
    scale = Scale.over(np.array([0.021, np.nan, 0.5]), np.array([np.inf]))
    assert scale.ticks == pytest.approx([0.0, 0.2, 0.4])
    where = [float(scale.at(value)[:-1]) for value in (-9, 0, 0.021, 0.5, 9)]
    assert where[0] == 0 and where[-1] == 100 and where == sorted(where)
    assert 0 < where[1] < where[2] < where[3] < 100
    assert float(scale.length(0, 0.5)[:-1]) == pytest.approx(where[3] - where[1], abs=0.02)
    assert Scale.over(np.array([np.nan])).ticks  # nothing is known


def test_a_logarithmic_chart_gives_each_power_of_ten_as_much_room():
    scale = LogScale.over(np.array([0.0071, 0.91]))
    assert scale.ticks == pytest.approx([0.001, 0.01, 0.1, 1.0]) and scale.zero is None
    where = [float(scale.at(value)[:-1]) for value in (0.001, 0.01, 0.1, 1.0)]
    assert where == pytest.approx([0, 33.33, 66.67, 100])
    assert scale.at(0.0) == "0.00%"
