"""`kille train` and `evaluate` from the outside."""

import re
import shutil
import signal
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")

from kille_env.errors import ConfigError
from kille_training.cli.main import main
from kille_training.learn.measuring import measure_run
from kille_training.learn.runs import Run
from kille_training.progress import Bars
from reference.scripts import printed

TINY = """
name: tiny
table: {num_players: 2}
learner: {decisions: 512, num_tables: 16, n_steps: 8, batch_size: 64, n_epochs: 1, layers: [8]}
measure: {every: 256, deals: 10, final_deals: 20}
"""


@pytest.fixture
def config(tmp_path, monkeypatch):
    (tmp_path / "tiny.yaml").write_text(TINY)
    return "tiny.yaml"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a run that has been trained and measured."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "tiny.yaml").write_text(TINY)
    words = ["--out", str(folder / "tiny"), "--seed", "3"]
    assert main(["train", str(folder / "tiny.yaml"), *words]) == 0
    return folder / "tiny"


@pytest.fixture
def run(trained, config, tmp_path):
    """A copy of it in the folder that commands run in."""
    return shutil.copytree(trained, tmp_path / "runs/tiny")


def test_evaluate(run, answer, kille):
    found = answer("evaluate", "runs/tiny", "--deals", "30")
    assert found["num_players"] == 2
    assert [row["estimate"]["groups"] for row in found["rows"]] == [30] * len(found["rows"])
    words = ["--baselines", "runs/tiny", "--deals", "9"]
    printed = kille("evaluate", "runs/tiny", *words)
    assert "units per deal" in printed.out.lower()
    assert "measuring" in printed.err


def test_a_file_beside_a_policy_takes_no_table_from_it(config, refused, tmp_path):
    (tmp_path / "policy.json").write_text("{}")
    for content in (b"", b"no zip"):
        (tmp_path / "model.zip").write_bytes(content)
        said = refused("evaluate", "model.zip")
        assert "model.zip is no model of Stable-Baselines3: 'File is not a zip file'" in said
    assert "tiny.yaml is no policy" in refused("evaluate", "tiny.yaml")


def test_a_run_resumes_where_it_stopped_and_shows_what_it_found(
    config, kille, refused, monkeypatch, tmp_path
):
    stop = iter([False, False, True])  # after the second update
    shown = Bars.__call__

    def shown_and_stopped(self, job, parts, total):
        shown(self, job, parts, total)
        if next(stop, False):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Bars, "__call__", shown_and_stopped)
    stopped = kille("train", config, ends=130)
    assert stopped.err.count("resume with: kille train tiny.yaml") == 1
    said = "runs/tiny has made 256 of 512 decisions; finish it first: kille train runs/tiny"
    with pytest.raises(ConfigError, match=said):
        measure_run(Run(Path("runs/tiny")))
    measured = kille("evaluate", "runs/tiny", "--deals", "2").out
    assert said in measured and "byteskille" in measured
    first = kille("train", config)
    assert "its report in runs/tiny/report.html" in first.out
    files = [path for path in (tmp_path / "runs/tiny").iterdir() if path.is_file()]
    before = [path.read_bytes() for path in files]
    for again in (kille("train", config), kille("train", "runs/tiny")):  # it is finished
        assert (again.out, again.err) == (first.out, "")
    assert [path.read_bytes() for path in files] == before
    said = refused("train", config, "--set", "seed=2")
    assert "holds a run with other settings (seed is 1, not 2)" in said
    (tmp_path / config).write_text(TINY.replace("final_deals: 20", "final_deals: 30"))
    edited = Path("runs/tiny/config.yaml")
    edited.write_text(edited.read_text().replace("final_deals: 20", "final_deals: 30"))
    for words in (["train", config], ["train", "runs/tiny"]):
        said = refused(*words)
        assert "measured over 20 deals" in said and "delete it to measure again" in said

    page = (tmp_path / "runs/tiny/report.html").read_text()
    assert page.count("<svg") == 2  # how it learned, for wide and narrow screens
    assert all(word in page for word in ("uniform", "rule_of_thumb", "ent_coef_end", "kille-env"))
    outside = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?!#|data:)([^"')\s>]+)""", page)
    assert not outside, "the report must need nothing beside it"


def test_the_demo_is_a_recipe(config, kille, answer, monkeypatch, tmp_path):
    (tmp_path / "configs/train").mkdir(parents=True)
    (tmp_path / "configs/train/demo.yaml").write_text(TINY)
    monkeypatch.setattr("kille_training.settings._FOLDERS", (tmp_path / "configs",))
    assert answer("train", "demo")["run"] == "runs/tiny"
    printed = kille("train", "demo", "--set", "table.episode=match", "--out", "runs/pots")
    assert "units per match against" in printed.err and "matches" in printed.out


def test_a_player_that_does_not_exist_is_missed_before_training(config, refused):
    said = refused("train", config, "--set", "measure.baselines=[rule_of_thum]")
    assert "Did you mean 'rule_of_thumb'" in said
    assert "training" not in said
    assert not Path("runs").exists()


def test_an_interruption_before_the_run_began_promises_nothing(config, kille, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("kille_training.learn.training.learner_of", stop)
    assert "nothing was written" in kille("train", config, ends=130).err


def test_the_report_of_a_measured_run_needs_no_torch(run):
    (run / "report.html").unlink()
    code = f"import kille_training as kt; kt.train({str(run)!r})"
    printed(code, without=("torch", "sb3_contrib", "stable_baselines3"))
    assert (run / "report.html").is_file()


@pytest.mark.parametrize(
    ("phase", "place"),
    [
        ("measuring", "kille_training.evaluation.api.payoff_table"),
        ("measuring exactly", "kille_training.evaluation.exact.exact_rows"),
    ],
)
def test_every_phase_says_how_to_resume_once(run, kille, monkeypatch, phase, place):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    (run / "report.html").unlink()
    (run / "evaluation.json").unlink()
    monkeypatch.setattr(place, stop)
    said = kille("train", "runs/tiny", ends=130).err
    assert phase in said
    assert said.count("resume with: kille train runs/tiny") == 1
    assert said.count("interrupted") == 1


def test_settings_of_a_run_that_unfold_are_refused(refused):
    Path("runs/bad").mkdir(parents=True)
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    Path("runs/bad/config.yaml").write_text("a0: &a0 [x]\n" + "\n".join(levels) + "\n")
    assert "an alias (*) is refused, write the value out" in refused("train", "runs/bad")
