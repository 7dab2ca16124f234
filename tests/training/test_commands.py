"""`kille train`, `evaluate`, `demo` and `report` from the outside."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")

import kille_env
from kille_env.errors import ConfigError
from kille_training.cli.main import main
from kille_training.cli.progress import ProgressDisplay
from kille_training.learning.api import check_same
from kille_training.learning.runs import Run
from kille_training.learning.settings import load_settings

TINY = """
name: tiny
learner: {decisions: 512, num_tables: 16, n_steps: 8, batch_size: 64, n_epochs: 1, layers: [8]}
measure: {every: 256, deals: 10, final_deals: 20}
"""


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kille_training.reports.byteskille.DECISIONS", 8192)
    (tmp_path / "tiny.yaml").write_text(TINY)
    return "tiny.yaml"


def answer(capsys):
    """The one object on standard output."""
    return json.loads(capsys.readouterr().out)


def test_train_evaluate_report(config, capsys):
    assert main(["train", config, "--name", "mine", "--seed", "3", "--json"]) == 0
    found = answer(capsys)
    assert found["run"] == "runs/mine"
    assert found["deals"] == 20
    assert {row["against"] for row in found["rows"]} == {"uniform", "rule_of_thumb"}

    assert main(["evaluate", "runs/mine", "--deals", "30", "--json"]) == 0
    found = answer(capsys)
    assert found["num_players"] == 3
    assert [row["estimate"]["groups"] for row in found["rows"]] == [30] * len(found["rows"])

    assert (
        main(
            ["evaluate", "runs/mine", "--against", "runs/mine", "--play", "greedy", "--deals", "9"]
        )
        == 0
    )
    printed = capsys.readouterr()
    assert "units per deal" in printed.out.lower()
    assert "measuring" in printed.err

    assert main(["report", "runs/mine"]) == 0
    assert "runs/mine/report.html" in capsys.readouterr().out


def test_built_in_players_are_evaluated_without_any_run(config, capsys):
    words = [
        "--players",
        "5",
        "--episode",
        "match",
        "--rules",
        "wikipedia",
        "--deals",
        "20",
        "--json",
    ]
    assert main(["evaluate", "rule_of_thumb", "--against", "uniform", *words]) == 0
    found = answer(capsys)
    assert found["rules"]["preset"] == "wikipedia"
    assert all(row["estimate"]["mean"] > 0 for row in found["rows"])


def test_an_agent_is_refused_at_another_table(config, capsys):
    assert main(["train", config, "--json"]) == 0
    for words, difference in (
        (["--players", "4"], "made for 3 seats, not 4"),
        (["--episode", "match"], "its rule episode is 'deal', not 'match'"),
        (["--rules", "gok_call=off"], "its rule gok_call is 'any_time', not 'off'"),
        (["--rules", "wikipedia"], "its rule ante is 'pot', not 'deal'"),
    ):
        capsys.readouterr()
        assert main(["evaluate", "runs/tiny", *words]) == 1
        assert difference in capsys.readouterr().err


def test_a_file_beside_a_policy_takes_no_table_from_it(config, capsys, tmp_path):
    (tmp_path / "policy.json").write_text("{}")
    (tmp_path / "model.zip").write_bytes(b"")
    assert main(["evaluate", "model.zip"]) == 1
    assert "--trust" in capsys.readouterr().err
    assert main(["evaluate", "tiny.yaml"]) == 1
    assert "tiny.yaml is no policy" in capsys.readouterr().err


def test_what_cannot_be_done_says_what_to_do(config, capsys, tmp_path):
    for words, message in (
        (["train", config, "--set", "learner.n_step=3"], "Did you mean 'n_steps'"),
        (["train", config, "--set", "nonsense"], "expected KEY=VALUE"),
        (["train", "none.yaml"], "is no file, no folder and no recipe"),
        (["train", str(tmp_path)], "is no run"),
        (["train", str(tmp_path), "--seed", "3"], "keeps its name"),
        (["evaluate", "rule_of_tumb"], "Did you mean 'rule_of_thumb'"),
        (["evaluate", "rule_of_thumb", "--game", "bytskille"], "Did you mean 'byteskille'"),
        (["report", str(tmp_path)], "is no run"),
        (["demo", "--config", "none.yaml"], "cannot be read"),
    ):
        assert main(words) == 1
        captured = capsys.readouterr()
        assert message in " ".join(captured.err.split()), words
        assert captured.out == ""


def test_the_demo_resumes_where_it_stopped_and_shows_what_it_found(
    config, capsys, monkeypatch, tmp_path
):
    stop = iter([False, True])
    shown = ProgressDisplay.updated

    def shown_and_stopped(self, row, total):
        shown(self, row, total)
        if next(stop, False):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ProgressDisplay, "updated", shown_and_stopped)
    assert main(["demo", "--config", config]) == 130
    assert capsys.readouterr().err.count("resume with: kille demo --config tiny.yaml") == 1
    assert main(["demo", "--config", config]) == 0
    first = capsys.readouterr()
    assert "The report is in runs/tiny/report.html" in first.out
    before = {
        path: path.read_bytes() for path in (tmp_path / "runs/tiny").iterdir() if path.is_file()
    }
    assert main(["demo", "--config", config]) == 0  # nothing is left to do but to show it
    again = capsys.readouterr()
    assert (again.out, again.err) == (first.out, "")
    assert all(path.read_bytes() == content for path, content in before.items())
    assert main(["demo", "--config", config, "--set", "seed=2"]) == 1
    assert "holds a run with other settings (seed is 1, not 2)" in capsys.readouterr().err

    page = (tmp_path / "runs/tiny/report.html").read_text()
    assert page.count("<svg") == 4  # learning and swaps, for wide and narrow screens
    assert (
        "uniform" in page
        and "rule_of_thumb" in page
        and "ent_coef_end" in page
        and "kille-env" in page
    )
    outside = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?!#|data:)([^"')\s>]+)""", page)
    assert not outside, "the report must need nothing beside it"


def test_the_demo_for_whole_pots_is_a_run_of_its_own(config, capsys):
    assert main(["demo", "--config", config, "--match", "--json"]) == 0
    printed = capsys.readouterr()
    assert "units per match against" in printed.err
    found = json.loads(printed.out)
    assert found["run"] == "runs/demo-match"
    assert found["rules"]["episode"] == "match"
    assert main(["demo", "--config", config, "--match"]) == 0
    assert "matches" in capsys.readouterr().out
    with pytest.raises(ConfigError, match=r"table\.episode is 'match', not 'deal'"):
        check_same(Run(Path(found["run"])), load_settings(Path(config), name="demo-match"))


def test_a_player_that_does_not_exist_is_missed_before_training(config, capsys):
    assert main(["train", config, "--set", "measure.against=[rule_of_thum]"]) == 1
    captured = capsys.readouterr()
    assert "Did you mean 'rule_of_thumb'" in captured.err
    assert "training" not in captured.err
    assert not Path("runs").exists()


def test_an_interruption_before_the_run_began_promises_nothing(config, capsys, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("kille_training.learning.training.make_model", stop)
    assert main(["train", config]) == 130
    assert "nothing was written" in capsys.readouterr().err


def test_the_report_of_a_measured_run_needs_no_torch(config, capsys, tmp_path):
    assert main(["train", config]) == 0
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'sb3_contrib', 'stable_baselines3'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "import kille_training.reports.byteskille as page\n"
        "from kille_training.cli.main import main\n"
        "page.DECISIONS = 8192\n"
        "sys.exit(main(['report', 'runs/tiny']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs/tiny/report.html").is_file()


def test_an_interrupted_run_says_how_to_resume(config, capsys, monkeypatch):
    monkeypatch.setattr(
        ProgressDisplay, "updated", lambda self, row, total: signal.raise_signal(signal.SIGTERM)
    )
    assert main(["train", config]) == 130
    assert capsys.readouterr().err.count("resume with: kille train runs/tiny") == 1
    assert main(["report", "runs/tiny"]) == 1
    assert "finish it first: kille train runs/tiny" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["train", "evaluate", "demo", "report"])
def test_help_shows_an_example(command, capsys):
    assert main([command, "--help"]) == 0
    assert f"Example: kille {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("phase", "place"),
    [
        ("measuring", "kille_training.evaluation.api.payoff_table"),
        ("measuring exactly", "kille_training.evaluation.api.exact_rows"),
        ("reporting", "kille_training.reports.training.write_run_page"),
    ],
)
def test_every_phase_says_how_to_resume_once(config, capsys, monkeypatch, phase, place):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(place, stop)
        assert main(["demo", "--config", config]) == 130
    said = capsys.readouterr().err
    assert phase in said
    assert said.count("resume with: kille demo --config tiny.yaml") == 1
    assert said.count("interrupted") == 1


def test_settings_of_a_run_that_unfold_are_refused(config, capsys):
    Path("runs/bad").mkdir(parents=True)
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    Path("runs/bad/config.yaml").write_text("a0: &a0 [x]\n" + "\n".join(levels) + "\n")
    assert main(["train", "runs/bad"]) == 1
    assert "an alias (*); write the value out" in capsys.readouterr().err


def test_games_are_one_line_each(capsys):
    assert main(["games"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for game in kille_env.list_games():
        (line,) = [line for line in lines if line.startswith(f"{game} ")]
        assert kille_env.spec(game).title in line
    assert len(lines) == len(kille_env.list_games()) + 3
