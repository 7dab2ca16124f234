import json

import pytest

from kille_env.registry import spec
from kille_training.arena.compare import bounds_of, compare_settings, play_comparison
from kille_training.arena.store import Store
from kille_training.arena.tournament import Folder
from kille_training.cli.main import main
from kille_training.statistics.sequential import ABOVE, BELOW, Hypotheses, SequentialTest


def run(path, better, worse, hypotheses=None, looked=None, num_players=3, rules=None):
    chosen = compare_settings(
        "c", better, worse, game="byteskille", num_players=num_players, rules=rules or {},
        episode="deal", seed=1, workers=0, time_limit=60.0,
    )  # fmt: skip
    bounds = bounds_of(chosen.table.resolve(), num_players)
    hypotheses = hypotheses or Hypotheses(0.0, 0.02, *bounds)
    return play_comparison(Folder(path), chosen, hypotheses, looked or (lambda _: None))


def test_the_better_one_is_found_out(tmp_path):
    found = run(tmp_path / "c", "rule_of_thumb", "uniform")
    assert found.verdict == ABOVE and 0 < found.decided_after <= 1000
    assert found.low < found.mean < found.high
    assert run(tmp_path / "d", "uniform", "rule_of_thumb").verdict == BELOW


def test_equals_differ_by_less(tmp_path):
    found = run(tmp_path / "c", "kille_agents.rules_of_thumb:rule_of_thumb", "rule_of_thumb")
    assert found.mean == 0.0 and found.verdict == BELOW


def test_it_is_the_test_of_the_scores_that_are_kept(tmp_path):
    looks = []
    hypotheses = Hypotheses(0.0, 0.001, *bounds_of(spec("byteskille").resolve(), 3), most=2600)
    found = run(tmp_path / "c", "byteskille/caller", "rule_of_thumb", hypotheses, looks.append)
    assert [look.deals for look in looks] == [1000, 2000, 2600] and found == looks[-1]
    with Store(tmp_path / "c", readonly=True) as store:
        scores = store.observations()[3].scores[:, 0]
    assert found.sentences()[0] == "Among copies of rule_of_thumb: not decided."
    again = SequentialTest(hypotheses)
    again.feed(scores)
    assert (again.verdict, again.deals, again.mean) == (found.verdict, found.deals, found.mean)
    assert run(tmp_path / "c", "byteskille/caller", "rule_of_thumb", hypotheses) == found


@pytest.mark.parametrize("num_players", [2, 3])
def test_a_folder_of_the_other_question_answers_this_one(tmp_path, num_players):
    there = run(tmp_path / "c", "rule_of_thumb", "uniform", num_players=num_players)
    back = run(tmp_path / "c", "uniform", "rule_of_thumb", num_players=num_players)
    alone = run(tmp_path / "d", "uniform", "rule_of_thumb", num_players=num_players)
    assert (there.verdict, back.verdict) == (ABOVE, BELOW)
    assert back == alone


def test_bounds_hold_for_every_deal(tmp_path):
    run(
        tmp_path / "c", "uniform", "byteskille/maniac", num_players=2, rules={"preset": "wikipedia"}
    )


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["uniform", "uniform"], "compared with itself"),
        (["uniform", "rule_of_tumb"], "rule_of_tumb"),
        (["uniform", "rule_of_thumb", "--by", "0"], "low < high"),
        (["uniform", "rule_of_thumb", "--most", "1"], "expected 2 deals or more"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path, capsys, words, complaint):
    assert main(["compare", *words, "--out", str(tmp_path / "runs")]) == 1
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_the_command_says_who_is_better(tmp_path, capsys):
    words = ["compare", "rule_of_thumb", "uniform", "--game", "knack", "--players", "2"]
    words += ["--out", str(tmp_path), "--workers", "0"]
    assert main(words) == 0
    assert "Among copies of uniform: rule_of_thumb earns more than +0" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == ABOVE
    assert found["run"] == str(tmp_path / "knack-2-seats-rule_of_thumb-against-uniform")
