import re
from pathlib import Path

import numpy as np
import pytest

import kille_training as kt
from kille_env.errors import ConfigError, PolicyError
from kille_training.arena.store import StoreError


def even(observation, mask):
    return mask / mask.sum(axis=1, keepdims=True)


class Last:
    """Takes the last legal action."""

    name = "last"

    def probabilities(self, observation, mask):
        chosen = np.zeros(mask.shape)
        chosen[np.arange(len(mask)), mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)] = 1.0
        return chosen


def test_functions_and_objects_play_like_the_players_that_they_are():
    found = kt.play_tournament(
        {"even": even, "chance": "uniform", "last": Last()}, num_players=[2, 3], deals=50
    )
    assert found.folder is None and found.names == ["chance", "even", "last"]
    assert set(found.standings) == set(found.crosstable) == set(found.observations) == {2, 3}
    rows = {row.name: row for row in found.standings[2]}
    assert rows["even"].mean == pytest.approx(rows["chance"].mean, abs=1e-12)
    last = rows["last"]
    assert last.mean is not None and last.mean < 0 and last.deals == 50
    assert np.isfinite(found.crosstable[2].mean[0, 2])
    text = str(found)
    assert "2 seats, units per deal" in text and "deals" in text and "last" in text
    assert {len(line) for line in text.splitlines()[1:4]} == {len(text.splitlines()[1])}


def test_a_way_to_play_can_be_given():
    found = kt.play_tournament(
        {"greedy": {"player": even, "play": "greedy"}, "even": even}, num_players=2, deals=10
    )
    assert [each.play for each in found.entrants] == ["sampled", "greedy"]


def test_a_folder_keeps_a_tournament_and_extends_it(tmp_path):
    words = {"num_players": 2, "out": tmp_path / "t"}
    first = kt.play_tournament(["rule_of_thumb", "uniform"], deals=10, **words)
    assert first.folder == tmp_path / "t" and len(first.observations[2]) == 10
    more = kt.play_tournament(["rule_of_thumb", "uniform"], deals=15, **words)
    assert len(more.observations[2]) == 15
    assert (more.observations[2].earned[:10] == first.observations[2].earned).all()


def test_results_of_another_object_are_not_extended(tmp_path):
    players = {"mine": even, "rule": "rule_of_thumb"}
    words = {"num_players": 2, "deals": 5, "out": tmp_path / "t"}
    kt.play_tournament(players, **words)
    with pytest.raises(StoreError, match="'mine' has changed"):
        kt.play_tournament(players, **words)


def test_objects_are_not_sent_to_other_processes(tmp_path):
    players = {"a": even, "b": "uniform"}
    with pytest.raises(ConfigError, match="cannot be sent to other processes; play in this one"):
        kt.play_tournament(players, num_players=2, workers=2, out=tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_what_is_no_player_is_refused():
    with pytest.raises((ConfigError, PolicyError), match="'a'"):
        kt.play_tournament({"a": 3, "b": "uniform"}, num_players=2)
    with pytest.raises(ConfigError, match="num_players"):
        kt.play_tournament(["uniform", "rule_of_thumb"], num_players=[3, 3])


def test_a_comparison_says_what_it_found():
    found = kt.compare("rule_of_thumb", even, num_players=2, by=0.05)
    assert (found.better, found.worse) == ("rule_of_thumb", "even")
    assert str(found).startswith("Among copies of even: rule_of_thumb earns more than +0")
    assert found.low < found.mean < found.high


def test_equal_players_with_one_name_can_be_compared():
    found = kt.compare(even, lambda observation, mask: even(observation, mask), num_players=2)
    assert found.mean == 0.0
    with pytest.raises(ConfigError, match="with itself"):
        kt.compare(even, even, num_players=2)


def test_the_page_on_tournaments_shows_python_that_runs(capsys):
    page = Path(__file__).parents[2] / "docs" / "tournaments.md"
    names = {}
    for snippet in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        exec(compile(snippet, page.name, "exec"), names)
    shown = capsys.readouterr().out
    assert "2 seats, units per deal" in shown and "Among copies of even" in shown
