import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import kille_training as kt
from env.players import even
from kille_env.errors import ConfigError, KilleError, PolicyError
from kille_training.arena.store import StoreError

SCRIPT = """
import sys

import numpy as np

import kille_training as kt

WEIGHTS = np.array([0.7, 0.3])


def weighted(observation, mask):
    shares = mask * np.resize(WEIGHTS, mask.shape[1])
    return shares / shares.sum(axis=1, keepdims=True)


class Half:
    def __init__(self, num_players, rules):
        self.num_players = num_players

    def probabilities(self, observation, mask):
        return (weighted(observation, mask) + mask / mask.sum(axis=1, keepdims=True)) / 2


players = {"weighted": weighted, "half": Half, "made": Half(2, None), "rule": "rule_of_thumb"}
for words in sys.argv[1:]:
    workers, out, deals = words.split(",")
    found = kt.play_tournament(
        players, num_players=2, deals=int(deals), workers=int(workers), out=out, batch_tables=64
    )
    print(workers, "worked", found, sep="\\n")
"""


class Last:
    """Takes the last legal action."""

    name = "last"

    def probabilities(self, observation, mask):
        chosen = np.zeros(mask.shape)
        chosen[np.arange(len(mask)), mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)] = 1.0
        return chosen


def test_functions_and_objects_play_like_the_players_that_they_are():
    found = kt.play_tournament(
        {"even": even, "chance": "uniform", "last": Last()}, num_players=2, deals=50
    )
    assert found.names == ["chance", "even", "last"]
    rows = {row.name: row for row in found.ranked}
    last = rows["last"]
    assert last.mean is not None and last.mean < 0 and last.observations == 100
    assert found.cross.mean[0, 1] == pytest.approx(0.0, abs=1e-12)  # even is uniform
    assert rows["even"].mean == pytest.approx(rows["chance"].mean, abs=1e-12)
    text = str(found)
    assert "2 seats" in text and "units per deal" in text and "last" in text
    assert {len(line) for line in text.splitlines()[1:5]} == {len(text.splitlines()[1])}


def test_a_way_to_play_can_be_given():
    found = kt.play_tournament(
        {"greedy": {"player": even, "play": "greedy"}, "even": even}, num_players=2, deals=10
    )
    assert [each.play for each in found.entrants] == ["sampled", "greedy"]


def test_results_are_data_frames():
    found = kt.play_tournament(
        {"even": even, "rule": "rule_of_thumb", "last": Last()}, num_players=2, deals=20
    )
    standings = found.frame()
    assert standings["place"].tolist() == [1, 2, 3]
    assert all(line.best <= line.place <= line.worst for line in standings.itertuples())
    for row, line in zip(found.ranked, standings.itertuples(), strict=True):
        assert (row.name, row.mean, row.observations) == (
            line.entrant, line.mean, line.observations
        )  # fmt: skip
        assert line.high - line.mean == pytest.approx(row.half)
    cells = found.cells
    assert len(cells) == 3 * 2
    cell = cells.set_index(["row", "column"]).loc[("rule", "last")]
    number = found.names.index
    table = found.cross
    assert cell["mean"] == table.mean[number("rule"), number("last")]
    assert cell["above_high"] == table.above.high[number("rule"), number("last")]
    crosstable = found.crosstable()
    assert crosstable.loc["rule", "last"] == cell["mean"] == -crosstable.loc["last", "rule"]
    order = standings["entrant"].tolist()
    assert crosstable.index.tolist() == crosstable.columns.tolist() == order
    ratings = found.ratings()
    assert ratings.index[0] == order[0] and (ratings["low"] < ratings["elo"]).to_numpy().all()


@pytest.mark.parametrize(
    ("players", "words"),
    [
        ("uniform", "expected names of players in a list"),
        (["uniform", "rule_of_thumb", "uniform"], "two entrants are called 'uniform'; give each"),
        ({"a": 3, "b": "uniform"}, "'a'"),
    ],
)
def test_what_are_no_entrants_is_refused(players, words):
    with pytest.raises((ConfigError, PolicyError), match=words):
        kt.play_tournament(players, "knack", num_players=2)


def test_a_notebook_shows_standings():
    found = kt.play_tournament({"<even>": even, "rule": "rule_of_thumb"}, num_players=2, deals=20)
    shown = found._repr_html_()
    assert "&lt;even&gt;" in shown and "<even>" not in shown
    assert shown.count("<tr>") == 3 and "2 seats" in shown


def test_without_a_folder_results_last_as_long_as_what_is_returned():
    found = kt.play_tournament(["rule_of_thumb", "uniform"], num_players=2, deals=5)
    folder = found.folder
    assert (folder / "report.html").is_file()
    del found
    gc.collect()
    assert not folder.parent.exists()


def test_a_folder_keeps_a_tournament_and_extends_it(tmp_path):
    words = {"num_players": 2, "out": tmp_path / "t"}
    first = kt.play_tournament(["rule_of_thumb", "uniform"], deals=10, **words)
    assert first.folder == tmp_path / "t" and first.tally.observations == 10
    more = kt.play_tournament(["rule_of_thumb", "uniform"], deals=15, **words)
    assert more.tally.observations == 15
    assert (more.tally.total[:10] == first.tally.total[:10]).all()
    assert first.caution is None and first.as_dict()["caution"] is None
    assert more.caution.startswith(
        "Extended, and finished 2 times: the intervals are valid for a single look"
    )
    assert more.caution in str(more) and more.caution in more.report.read_text()
    again = kt.play_tournament(["rule_of_thumb", "uniform"], deals=15, **words)
    assert again.caution == more.caution, "the same deals are no further look"


def test_players_that_differed_in_no_deal_have_an_interval():
    found = kt.play_tournament({"one": "uniform", "other": even}, num_players=2, deals=50)
    assert [row.mean for row in found.ranked] == [0, 0]
    assert all((row.half or 0.0) > 0.0 for row in found.ranked)


def test_an_object_that_is_the_same_goes_on_and_a_changed_one_is_refused(tmp_path):
    def weighted(weight):
        first = np.eye(1, 30)[0] * weight
        return lambda observation, mask: even(observation, mask * (1 + first[: mask.shape[1]]))

    words = {"num_players": 2, "out": tmp_path / "t"}
    kt.play_tournament({"mine": weighted(1), "last": Last()}, deals=5, **words)
    renamed = weighted(1)
    renamed.__name__ = "renamed"
    more = kt.play_tournament({"mine": renamed, "last": Last()}, deals=8, **words)
    assert more.tally.observations == 8
    with pytest.raises(StoreError, match=r"'mine' has changed.*`fingerprint`"):
        kt.play_tournament({"mine": weighted(2), "last": Last()}, deals=8, **words)


def dice(observation, mask):
    return even(observation, mask * np.random.default_rng().random(mask.shape))


def test_a_player_that_draws_at_random_plays_without_a_folder_and_that_is_said(tmp_path):
    players, words = {"mine": dice, "rule": "rule_of_thumb"}, {"num_players": 2, "deals": 5}
    with pytest.raises(ConfigError, match=r"'mine' .*draws at random, .*play without a folder"):
        kt.play_tournament(players, out=tmp_path / "t", **words)
    found = kt.play_tournament(players, **words)
    assert found.as_dict()["remarks"] == {"mine": "draws at random or keeps state"}
    assert "mine draws at random or keeps state." in found.report.read_text(encoding="utf-8")
    assert "mine draws at random or keeps state" in str(found)
    assert "rule draws" not in str(found)
    compared = kt.compare(dice, "rule_of_thumb", num_players=2, by=0.2, most=100)
    assert "dice draws at random or keeps state." in str(compared)
    with pytest.raises(ConfigError, match=r"'dice' .*draws at random"):
        kt.compare(dice, "rule_of_thumb", num_players=2, by=0.2, most=100, out=tmp_path / "c")


def test_an_object_that_cannot_be_sent_plays_in_this_process():
    class Locked(Last):
        def __init__(self):
            self.lock = threading.Lock()

    players, words = {"mine": Locked(), "rule": "rule_of_thumb"}, {"num_players": 2, "deals": 5}
    assert kt.play_tournament(players, **words).names == ["mine", "rule"]
    with pytest.raises(KilleError, match="'mine' cannot be sent to other processes"):
        kt.play_tournament(players, workers=1, **words)


def test_the_command_says_where_objects_go_on(tmp_path, refused):
    kt.play_tournament({"mine": even, "b": "uniform"}, num_players=2, deals=5, out=tmp_path / "t")
    said = refused("tournament", tmp_path / "t", "--set", "matchmaking.deals=9")
    assert "'mine' is a Python object even" in said and "kille_training.play_tournament(" in said


@pytest.mark.compiled
def test_objects_of_a_script_play_in_other_processes_and_resume(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    paths = os.pathsep.join(entry for entry in sys.path if entry)

    def run(*words):
        done = subprocess.run(
            [sys.executable, script, *words], cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("2,a,5")
    by_others, here = run("2,a,12", "0,b,12").split("0\nworked\n")
    same, caution, rest = by_others.partition("Extended, and finished 2 times")
    assert same == f"2\nworked\n{here}" and caution and rest.count("\n") == 1


def test_equal_players_with_one_name_can_be_compared():
    found = kt.compare(even, lambda observation, mask: even(observation, mask), num_players=2)
    assert found.mean == 0.0
    with pytest.raises(ConfigError, match="with itself"):
        kt.compare(even, even, num_players=2)


def test_a_game_has_its_usual_seats_where_nobody_names_seats():
    found = kt.play_tournament({"mine": even, "base": "rule_of_thumb"}, game="knack", deals=20)
    assert found.table.num_players == 4  # fewer entrants than seats sit down in copies
    copies = kt.play_tournament({"mine": even, "base": "rule_of_thumb"}, fill="copies", deals=20)
    three = kt.play_tournament({"a": even, "b": "rule_of_thumb", "c": Last()}, deals=20)
    assert copies.table.num_players == three.table.num_players == 4
