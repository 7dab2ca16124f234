import json
from dataclasses import replace

import numpy as np
import pytest

import kille_training as kt
from kille_env.errors import ConfigError, KilleError
from kille_env.files import read_arrays, write_arrays
from kille_env.play.policy import UniformPolicy
from kille_env.play.seating import SeatedPolicies, play_out
from kille_env.registry import Table, list_games, make_batch, spec
from kille_training.arena.compare import Comparison, Scores
from kille_training.arena.play import identified
from kille_training.arena.store import StoreError
from kille_training.cli.main import main
from kille_training.labels import bounds_of, uncut_of
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
    words = {"num_players": 3, "by": 0.001, "most": 2600, "out": tmp_path / "c"}
    found = kt.compare("byteskille/caller", "rule_of_thumb", observer=looks.append, **words)
    assert [look.played for look in looks] == [1000, 2000, 2600] and found == looks[-1]
    assert found.answer() == (
        "Not decided after 2,600 deals: among copies of rule_of_thumb, byteskille/caller may earn "
        "+0 units per deal or less, or +0.001 or more."
    )
    again = SequentialTest(Hypotheses(0.0, 0.001, -2.0, 4.0, most=2600))
    with Scores(tmp_path / "c" / "comparison.npz", readonly=True) as kept:
        again.feed(kept.scores)
    assert (again.verdict, again.deals, again.mean) == (found.verdict, found.played, found.mean)
    assert again.interval() == (found.low, found.high)
    assert kt.compare("byteskille/caller", "rule_of_thumb", **words) == found


def test_matches_are_decided_though_they_could_move_thousands(tmp_path):
    words = {"game": "kungsholmskille", "num_players": 3, "episode": "match", "by": 0.2}
    found = kt.compare("rule_of_thumb", "kungsholmskille/loose", out=tmp_path / "c", **words)
    assert found.verdict == ABOVE and found.played < 20_000
    assert found.hypotheses.greatest > 2000
    assert -60 < found.bounds[0] < found.bounds[1] < 60 and found.cut == 0
    assert "units per match" in found.estimate() and "deal" not in str(found)


def test_a_folder_keeps_its_question(tmp_path):
    kt.compare("rule_of_thumb", "byteskille/tipsy", by=0.01, most=200, out=tmp_path / "c")
    asked = {"better": "rule_of_thumb", "worse": "byteskille/tipsy", "by": 0.01}
    more = kt.compare(**asked, out=tmp_path / "c")  # "most" may be more
    assert more.played == 1000 and more == kt.compare(**asked)
    for words, said in (
        ({"worse": "uniform"}, "worse 'byteskille/tipsy' instead of 'uniform'"),
        ({"seed": 5}, "seed 1000003 instead of 5"),
        ({"num_players": 2}, "holds results with other settings: 4 seats instead of 2"),
        ({"low": 0.1}, r"low 0.0 instead of 0.1; high 0.01 instead of 0.11"),
    ):
        with pytest.raises(ConfigError, match=said):
            kt.compare(**{**asked, **words}, out=tmp_path / "c")


def test_two_that_begin_at_once_do_not_mix(tmp_path, monkeypatch):
    words = {"better": "rule_of_thumb", "worse": "uniform", "by": 0.5, "out": tmp_path / "c"}

    def meanwhile(*given):
        monkeypatch.undo()
        with pytest.raises(StoreError, match="is playing in"):
            kt.compare(**words, seed=5)
        return identified(*given)

    monkeypatch.setattr("kille_training.arena.compare.identified", meanwhile)
    kt.compare(**words, seed=6)


def test_interrupted_anywhere_it_ends_with_the_same_bytes(tmp_path):
    def stop(found):
        raise KeyboardInterrupt

    words = {"num_players": 2, "by": 0.001, "most": 2600}
    whole = kt.compare("byteskille/caller", "rule_of_thumb", out=tmp_path / "a", **words)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            kt.compare(
                "byteskille/caller", "rule_of_thumb", out=tmp_path / "b", observer=stop, **words
            )
    assert kt.compare("byteskille/caller", "rule_of_thumb", out=tmp_path / "b", **words) == whole
    one, other = (tmp_path / name / "comparison.npz" for name in "ab")
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("config", "table", "num_players"), 10**15, "is damaged"),
        (("config", "table", "rules"), {"stake": "x"}, "is damaged"),
        (("entrants",), [], "entrants"),
        (("made_with",), None, "made_with"),
    ],
)
def test_what_no_comparison_writes_is_refused(tmp_path, path, value, words):
    kt.compare("rule_of_thumb", "uniform", num_players=2, by=0.1, out=tmp_path / "c")
    file = tmp_path / "c" / "comparison.npz"
    about, arrays = read_arrays(file)
    *keys, last = path
    part = about
    for key in keys:
        part = part[key]
    part[last] = value
    write_arrays(file, about, arrays)
    with pytest.raises(StoreError, match=words):
        Scores(file, readonly=True)


def test_what_are_no_scores_is_refused(tmp_path):
    kt.compare("rule_of_thumb", "uniform", num_players=2, by=0.1, out=tmp_path / "c")
    file = tmp_path / "c" / "comparison.npz"
    about, _ = read_arrays(file)
    for bad in (np.array([9], np.uint8), np.zeros((2, 2)), np.array(["x"])):
        write_arrays(file, about, {"scores": bad})
        with pytest.raises(StoreError, match="its scores are"):
            Scores(file, readonly=True)


def test_a_rejected_hypothesis_is_an_open_end():
    asked = "a", "b", Table.of("byteskille", 2), Hypotheses(0.0, 0.05, -2.0, 2.0)
    found = Comparison(*asked, BELOW, 900, 1000, 0.02, -0.0141, 0.05, (-2.0, 2.0), 0)
    assert found.interval() == "-0.0141 to below +0.05"
    assert replace(found, high=0.04).interval() == "-0.0141 to +0.0400"
    above = replace(found, verdict=ABOVE, low=0.0, high=0.03)
    assert above.interval() == "above +0 to +0.0300"


def test_verdict_and_interval_agree_in_words():
    asked = "a", "b", Table.of("byteskille", 3), Hypotheses(0.0, 0.01, -2.0, 4.0)
    found = Comparison(*asked, ABOVE, 900, 1000, 0.004, 0.0000012, 0.009, (-2.0, 4.0), 0)
    assert found.interval() == "+0.000001 to +0.0090"
    assert found.sentences() == [
        "Among copies of b, a earns more than +0 units per deal. Decided after 900 deals, with a "
        "chance of error of at most 0.05.",
        "+0.0040 units per deal, beyond the table's mean, over 1,000 deals; 90% interval "
        "+0.000001 to +0.0090, valid whenever you stop.",
    ]
    cut = replace(found, cut=2, bounds=(-48.0, 60.0))
    assert cut.sentences()[-1] == "Scores of 2 deals were clipped to -48 or +60 units."


@pytest.mark.parametrize("game", list_games())
@pytest.mark.parametrize("episode", ["deal", "match"])
def test_bounds_hold_for_every_episode(game, episode):
    """Uniform play among itself, the wildest that there is: every seat's score is inside."""
    for seats in (2, 3):
        rules = spec(game).resolve({"episode": episode})
        least, greatest = bounds_of(rules, seats)
        batch = make_batch(game, 300, seats, rules=rules, seed=0, restart=False)
        seating = np.zeros((300, seats), dtype=np.int64)
        earned = play_out(SeatedPolicies(batch, (UniformPolicy(),), seating))
        scores = earned - earned.mean(axis=1, keepdims=True)
        assert least <= scores.min() and scores.max() <= greatest
        assert (uncut_of(rules, seats) is None) == (episode == "deal")


@pytest.mark.parametrize(
    ("odd", "complaint"),
    [
        *(({name: "x"}, f"{name} is 'x', expected a number") for name in ("by", "low", "alpha")),
        ({"seed": -1}, "seed is -1"),
        ({"most": 2.5}, "most is 2.5"),
        ({"bounds": (1,)}, "bounds is"),
    ],
)
def test_odd_arguments_are_named(odd, complaint):
    with pytest.raises(KilleError, match=complaint):
        kt.compare("uniform", "rule_of_thumb", "byteskille", 2, **odd)


def test_numbers_of_numpy_are_numbers():
    given = {"by": np.float64(0.5), "seed": np.int64(3), "most": np.int32(40)}
    found = kt.compare("uniform", "rule_of_thumb", "byteskille", 2, **given)
    plain = {name: value.item() for name, value in given.items()}
    assert (
        found.as_dict()
        == kt.compare("uniform", "rule_of_thumb", "byteskille", 2, **plain).as_dict()
    )


def test_the_command_says_who_is_better(tmp_path, capsys):
    words = ["compare", "rule_of_thumb", "uniform", "--game", "knack", "--players", "2"]
    words += ["--out", str(tmp_path / "c"), "--set", "workers=0"]
    assert main(words) == 0
    assert "Among copies of uniform, rule_of_thumb earns more than +0" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == ABOVE
    assert found["run"] == str(tmp_path / "c")
