"""`kille solve`: the folder of a solution, and what can be done with it."""

import json
import re

import pytest

import kille_training
from kille_agents.catalog import load_policy
from kille_env.errors import KilleError, PolicyError
from kille_env.files import read_arrays, write_arrays
from kille_env.registry import Table, spec
from kille_training.cli.main import main
from kille_training.solving.byteskille.match_solving import match_nash_conv, match_strategy_of
from kille_training.solving.byteskille.matches import build_match
from kille_training.solving.policies import nash_conv, nash_conv_of, policy_of, strategies_of
from kille_training.solving.solution import Folder, SolveError, default_name
from kille_training.solving.solve import solve
from kille_training.solving.text import deal_text
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.values import uniform
from reference.trees import build_deal

pytestmark = pytest.mark.compiled

KEYS = [
    *("game", "num_players", "rules", "version", "nash_conv", "improvement", "value"),
    *("information_sets", "nodes", "deals", "iterations", "seconds"),
]
RULES = spec("byteskille").resolve({"max_redeals": 1}, episode="deal")
WORDS = ["solve", "byteskille", "--players", "2", "--rules", "max_redeals=1"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def solved(out, **how):
    return solve("byteskille", 2, **{"rules": RULES, "target": 1e-7, "out": out, **how})


def contents(folder):
    """What a folder holds, but for checkpoints and seconds."""
    files = (path for path in folder.path.iterdir() if not path.match("hand-*.npz"))
    found = {path.name: path.read_bytes() for path in files}
    return {**found, "solution.json": without_seconds(folder.path / "solution.json")}


def without_seconds(file):
    """What the file of a solution holds, but for the seconds."""
    found = json.loads(file.read_text())
    rows = [[granted, at, exact] for granted, at, _, exact in found.pop("progress")]
    return {**found, "seconds": None, "progress": rows}


def test_a_solved_deal_can_be_measured_and_played_with(here, capsys):
    assert main([*WORDS, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == KEYS
    assert found["nash_conv"] == pytest.approx(sum(found["improvement"]))
    assert -1e-15 < found["nash_conv"] < 1e-9
    assert found["value"] == pytest.approx([0.0488362927, -0.0488362927])
    assert found["information_sets"] == [44 + 22, 736 + 358]
    assert found["deals"] == 441
    folder = here / "runs" / "solved-byteskille-2-max_redeals=1"
    written = json.loads((folder / "solution.json").read_text())
    assert written.pop("progress")[-1][0] == 0  # questions granted before the first hand
    assert written == {key: found[key] for key in KEYS[4:]}  # the table is in settings.json
    assert sorted(path.name for path in folder.iterdir()) == [
        "hand-0.npz",
        "hand-1.npz",
        "policy.npz",
        "settings.json",
        "solution.json",
        "strategy.md",
    ]

    # The player in it is what was measured, by its folder or its file.
    for place in (folder, folder / "policy.npz"):
        loaded = load_policy(place, "byteskille", 2, RULES)
        assert loaded.name == "solved-byteskille-2-max_redeals=1"
        measured = nash_conv(loaded, build_deal(2, RULES))
        assert measured.total == found["nash_conv"]
    words = ["--baselines", "rule_of_thumb", "--deals", "300", "--json"]
    assert main(["evaluate", str(folder), *words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["num_players"], told["rules"]["max_redeals"]) == (2, 1)
    assert told["exact"][-1]["nash_conv"] == found["nash_conv"]
    assert told["rows"][0]["estimate"]["high"] > 0  # nobody wins against it in the long run

    # Called again, it shows what it has found; the words say so, too.
    before = contents(Folder(folder))
    assert main(WORDS) == 0
    assert "441 ways to deal" in capsys.readouterr().out
    assert contents(Folder(folder)) == before


def test_what_the_text_of_a_solution_says(here):
    solution = solved("solved")
    text = (here / "solved" / "strategy.md").read_text()
    assert solution.text == text
    assert "preset svensk with max_redeals=1." in text
    assert "0.0% of the decisions that come up are random." in text
    assert re.search(r"\(you\) 5; .* \(4\.5\d%\): \*\*swap\*\*", text)
    assert "Questions can be granted 1 times" in text


def test_solving_in_memory_returns_what_a_folder_holds(here):
    kept, alone = solved("solved-byteskille-2-max_redeals=1"), solved(None)
    assert {**alone.as_dict(), "seconds": 0.0} == {**kept.as_dict(), "seconds": 0.0}
    assert list(alone.as_dict()) == KEYS
    assert alone.text == kept.text
    assert alone.policy.name == kept.policy.name == "solved-byteskille-2-max_redeals=1"
    assert nash_conv(alone.policy, build_deal(2, RULES)).total == alone.nash_conv
    assert [path.name for path in here.iterdir()] == ["solved-byteskille-2-max_redeals=1"]
    again = solved("solved-byteskille-2-max_redeals=1")
    assert (again.as_dict(), again.progress) == (kept.as_dict(), kept.progress)


def test_a_match_is_solved_from_python():
    seen = []
    solution = solve(num_players=2, episode="match", rules={"max_redeals": 0}, observer=seen.append)
    assert solution.settings.rules["episode"] == "match"
    assert solution.nash_conv < 4e-4
    assert "a whole pot with 2 seats" in solution.text
    assert seen[-1].describe().lstrip().startswith("1 of 1 states")


def test_a_random_strategy_says_how_often():
    deal = build_deal(2, {"fraga": "off", "gok_call": "off"})
    stage = deal.stages[0]
    policy = policy_of([uniform(stage.tree)], deal)
    strategies = strategies_of(policy, deal)
    text = deal_text(strategies, deal, nash_conv_of(strategies, deal))
    assert "**stand 50% or swap 50%**" in text and "100.0% of the decisions" in text


def test_an_interrupted_solution_resumes_to_the_same_bytes(here, monkeypatch):
    whole, parts = Folder(here / "whole/solved"), Folder(here / "parts/solved")
    solved(whole.path)
    iterate, left = CFR._iterate, [0]

    def interrupting(solver, count):
        iterate(solver, 1)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(CFR, "_iterate", interrupting)
        for after in (1, 12, 100, 150):
            left[0] = after
            with pytest.raises(KeyboardInterrupt):
                solved(parts.path)
            assert parts.hand(1).is_file()
    solved(parts.path)
    assert contents(parts) == contents(whole)
    with monkeypatch.context() as patch:
        patch.setattr("kille_training.solving.solve.save_tabular", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solved("twice/solved", target=0.5)
    assert solved("twice/solved").nash_conv == solved(whole.path).nash_conv


def test_interrupted_it_says_how_to_resume(here, capsys, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("kille_training.solving.solve.save_tabular", interrupted)
        assert main(WORDS) == 130
    assert "nothing is lost; resume with: kille solve byteskille" in capsys.readouterr().err
    assert main(WORDS) == 0


def test_a_solution_is_sharpened_in_its_folder(here):
    rough = solved("solved", target=0.1)
    sharp = solved("solved", target=1e-7)
    assert sharp.nash_conv <= 1e-7 < rough.nash_conv
    assert sharp.iterations == solved(None, target=1e-7).iterations
    assert len(sharp.progress) > len(rough.progress)
    again = solved("solved", target=0.1)  # what is sharper is good enough
    assert (again.nash_conv, again.iterations) == (sharp.nash_conv, sharp.iterations)


def test_a_checkpoint_that_is_none_is_named(here):
    solved("solved", target=0.1)
    file = here / "solved" / "hand-1.npz"
    about, arrays = read_arrays(file)
    for name, wrong in (
        ("regret", arrays["regret"][1:]),
        ("average", -arrays["average"]),
        ("current", arrays["current"] * 2),
        ("rows", arrays["rows"][:, 1:]),
    ):
        write_arrays(file, about, {**arrays, name: wrong})
        with pytest.raises(KilleError, match=r"hand-1.npz is not a checkpoint; delete it"):
            solved("solved", target=1e-3)
    file.write_bytes(b"PK")
    with pytest.raises(KilleError, match=r"hand-1.npz is not a checkpoint; delete it"):
        solved("solved", target=1e-3)


def interrupted(*_arguments):
    raise KeyboardInterrupt


def test_a_hand_that_is_good_enough_is_taken_over(here):
    folder = Folder(here / "solved")
    rules = spec("byteskille").resolve({"max_redeals": 5}, episode="deal")
    solve(num_players=2, rules=rules, target=1e-6, out=folder.path)
    iterated = {row.granted for row in folder.read()[1]}
    assert {5, 4} <= iterated
    assert len(iterated) < 6
    table = load_policy(folder.path, "byteskille", 2, rules)
    assert nash_conv(table, build_deal(2, rules)).total < 1e-6


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        (None, "solved-krypkille-2"),
        ("tiny", "solved-krypkille-2-tiny"),
        ({"preset": "small", "max_discards": 2}, "solved-krypkille-2-small-max_discards=2"),
    ],
)
def test_the_default_folder_says_the_rules(rules, name):
    assert default_name(Table.of("krypkille", 2, rules)) == name


def test_few_iterations_are_few():
    solution = solved(None, iterations=7)
    assert 7 <= solution.iterations <= 14 and solution.nash_conv > 1e-4
    for argument in ("target", "iterations", "memory"):
        with pytest.raises(SolveError, match=f"{argument}.*expected .* got 'x'"):
            kille_training.solve("byteskille", 2, **{argument: "x"})


def test_a_folder_of_something_else_is_left_alone(here, capsys):
    solved("solved", iterations=3)
    with pytest.raises(SolveError, match=r"max_redeals is 1, not 2"):
        solved("solved", rules={"max_redeals": 2})
    (here / "other").mkdir()
    (here / "other" / "letter.txt").write_text("dear")
    with pytest.raises(SolveError, match="is not the folder of a solution"):
        solved("other")
    with pytest.raises(SolveError, match="is a file"):
        solved("other/letter.txt")
    assert main(["solve", "byteskille", "--players", "2", "--out", "other"]) == 1
    assert "--out: other is not the folder of a solution" in capsys.readouterr().err


def test_broken_files_are_named(here):
    folder = Folder(here / "solved")
    solved(folder.path, iterations=3)
    found, settings = folder.path / "solution.json", folder.path / "settings.json"
    whole = json.loads(found.read_text())
    broken = ({"value": "x"}, {"value": [1.0]}, {"nodes": None}, {"nash_conv": float("nan")})
    texts = (json.dumps({**whole, **wrong}) for wrong in (*broken, {"progress": [[1]]}))
    for text in ("{", "{}", *texts):
        found.write_text(text)
        with pytest.raises(KilleError, match=r"solution\.json is damaged"):
            solved(folder.path, iterations=3)
    settings.write_text("[]")
    with pytest.raises(KilleError, match=r"settings\.json is damaged"):
        solved(folder.path, iterations=3)
    policy = folder.path / "policy.npz"
    policy.write_bytes(policy.read_bytes()[:300])
    with pytest.raises(PolicyError, match="is no tabular policy"):
        load_policy(folder.path, "byteskille", 2, RULES)


def test_exact_measures_where_there_is_a_tree_only():
    for table, told in (
        ({"game": "knack", "num_players": 3}, "tree of a deal of knack with 3 seats has about"),
        ({"num_players": 5}, "with 5 seats has about"),
        ({"num_players": 2, "episode": "match"}, "single deals"),
    ):
        with pytest.raises(KilleError, match=told):
            kille_training.evaluate("uniform", **table, deals=2, exact=True)
    asked = {"num_players": 2, "deals": 2, "play": "greedy"}
    assert kille_training.evaluate("uniform", **asked, exact=False).exact is None
    exact = kille_training.evaluate("uniform", **asked).exact
    assert exact is not None and [row.play for row in exact] == ["greedy"]


def test_a_solved_match_can_be_measured_and_played_with(here, capsys):
    words = [*WORDS, "--rules", "episode=match"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == KEYS
    assert 0 <= found["nash_conv"] < 4e-4  # of a pot of 4 units
    folder = here / "runs" / "solved-byteskille-2-match-max_redeals=1"
    text = (folder / "strategy.md").read_text()
    assert "a whole pot with 2 seats" in text
    assert "A match has 2 states" in text and "lasts 1.13 hands" in text
    rules = spec("byteskille").resolve({"max_redeals": 1}, episode="match")
    loaded = load_policy(folder, "byteskille", 2, rules)
    match = build_match(2, rules)
    assert match_nash_conv(match_strategy_of(loaded, match), match).total == found["nash_conv"]
    assert main(["evaluate", str(folder), "--baselines", "uniform", "--deals", "50", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rules"]["episode"] == "match"
    assert told["exact"] is None
    assert told["rows"][0]["estimate"]["mean"] > 0
    assert main(words) == 0
    assert "Units per match" in capsys.readouterr().out
    with pytest.raises(PolicyError, match="episode 'deal' instead of 'match'"):
        load_policy(folder, "byteskille", 2, RULES)


def test_nash_conv_of_a_solution_is_not_below_zero():
    solution = kille_training.solve("byteskille", 3, rules="wikipedia", iterations=3000)
    measured = kille_training.nash_conv(solution.policy)
    assert "-" not in f"{solution.nash_conv:.6f}{measured.nash_conv:.6f}{measured.stakes:.6f}"
    assert "NashConv -" not in solution.text


@pytest.mark.parametrize("episode", ["deal", "match"])
def test_a_measurement_names_how_the_policy_plays(episode):
    for play in ("sampled", "greedy"):
        found = kille_training.nash_conv("uniform", "byteskille", 2, episode=episode, play=play)
        assert found.play == play
