import json

import pytest

import kille_training as kt
from kille_env.registry import spec
from kille_training.arena.compare import bounds_of
from kille_training.arena.store import Store
from kille_training.cli.main import main
from kille_training.statistics.sequential import ABOVE, BELOW, Hypotheses, SequentialTest


def test_the_better_one_is_found_out():
    found = kt.compare("rule_of_thumb", "uniform", by=0.02)
    assert found.verdict == ABOVE and 0 < found.decided_after <= 1000
    assert found.low < found.mean < found.high
    assert kt.compare("uniform", "rule_of_thumb", by=0.02).verdict == BELOW


def test_equals_differ_by_less():
    found = kt.compare("kille_agents.rules_of_thumb:rule_of_thumb", "rule_of_thumb", by=0.02)
    assert found.mean == 0.0 and found.verdict == BELOW


def test_it_is_the_test_of_the_scores_that_are_kept(tmp_path):
    looks = []
    words = {"by": 0.001, "most": 2600, "out": tmp_path / "c"}
    found = kt.compare("byteskille/caller", "rule_of_thumb", looked=looks.append, **words)
    assert [look.deals for look in looks] == [1000, 2000, 2600] and found == looks[-1]
    with Store(tmp_path / "c", readonly=True) as store:
        scores = store.observations()[3].scores[:, 0]
    assert found.sentences()[0] == "Among copies of rule_of_thumb: not decided."
    bounds = bounds_of(spec("byteskille").resolve(), 3)
    again = SequentialTest(Hypotheses(0.0, 0.001, *bounds, most=2600))
    again.feed(scores)
    assert (again.verdict, again.deals, again.mean) == (found.verdict, found.deals, found.mean)
    assert kt.compare("byteskille/caller", "rule_of_thumb", **words) == found


@pytest.mark.parametrize("num_players", [2, 3])
def test_a_folder_of_the_other_question_answers_this_one(tmp_path, num_players):
    words = {"num_players": num_players, "by": 0.02}
    there = kt.compare("rule_of_thumb", "uniform", out=tmp_path / "c", **words)
    back = kt.compare("uniform", "rule_of_thumb", out=tmp_path / "c", **words)
    alone = kt.compare("uniform", "rule_of_thumb", **words)
    assert (there.verdict, back.verdict) == (ABOVE, BELOW)
    assert back == alone


def test_bounds_hold_for_every_deal():
    kt.compare("uniform", "byteskille/maniac", num_players=2, rules="wikipedia", by=0.02)


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
