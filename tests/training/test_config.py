"""Settings: documented, checked, and written as they were read."""

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
import yaml

from kille_env.errors import ConfigError, RulesError
from kille_training.learning.settings import (
    LearnerSettings,
    MeasureSettings,
    TableSettings,
    TrainSettings,
    load_settings,
)
from kille_training.settings import build, plain

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = sorted([*(ROOT / "configs" / "train").glob("*.yaml"), ROOT / "configs" / "demo.yaml"])


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_committed_settings_load_and_survive_being_written(path):
    settings = load_settings(path)
    assert (
        build(TrainSettings, yaml.safe_load(yaml.safe_dump(plain(settings))), "again") == settings
    )


@pytest.mark.parametrize("cls", [TrainSettings, TableSettings, LearnerSettings, MeasureSettings])
def test_every_field_is_documented(cls):
    documented = re.findall(r"^ *(\w+): ", cls.__doc__, re.MULTILINE)
    assert documented == [field.name for field in fields(cls)]


def test_the_committed_recipe_shows_every_key():
    content = yaml.safe_load((ROOT / "configs" / "train" / "byteskille.yaml").read_text())
    for field in fields(TrainSettings):
        if field.name == "made_with":
            continue
        assert field.name in content
        inner = getattr(TrainSettings(), field.name)
        if is_dataclass(inner):
            assert set(content[field.name]) == {part.name for part in fields(inner)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lerner: {}", "lerner is an unknown key. Did you mean 'learner'"),
        ("learner: {n_step: 3}", "learner.n_step is an unknown key. Did you mean 'n_steps'"),
        ("learner: 3", "expected keys with values"),
        ("learner: {n_steps: many}", "n_steps is 'many', expected a whole number"),
        ("learner: {n_steps: true}", "expected a whole number"),
        ("learner: {n_steps: 0}", "expected at least 1"),
        ("learner: {anneal: 1}", "expected true or false"),
        ("learner: {layers: 64}", "expected a list"),
        ("learner: {layers: []}", "learner.layers is \\[\\], expected at least one entry"),
        ("learner: {form: stream}", "Did you mean 'streams'"),
        ("learner: {gamma: 1.5}", "learner.gamma is 1.5, expected at most 1"),
        ("learner: {ent_coef: .nan}", "learner.ent_coef is nan, expected a finite number"),
        ("learner: {learning_rate: .inf}", "learner.learning_rate is inf, expected a finite"),
        ("checkpoint_seconds: .inf", "checkpoint_seconds is inf, expected a finite number"),
        ("learner: {num_tables: 1, n_steps: 5, batch_size: 4}", "no spread"),
        ("table: {rules: {episode: deal}}", "table.episode"),
        ("name: a/b", "name of a folder"),
        ("seed: -1", "expected at least 0"),
        ("- 1", "no settings"),
        ("a: [", "not valid YAML"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(tmp_path, text, message):
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        load_settings(tmp_path / "c.yaml")


def test_rules_and_seats_that_do_not_exist_are_refused(tmp_path):
    (tmp_path / "c.yaml").write_text("table: {rules: {gok_cal: off}}")
    with pytest.raises(RulesError, match="gok_call"):
        load_settings(tmp_path / "c.yaml")
    with pytest.raises(RulesError, match="2 to 20"):
        TrainSettings(table=TableSettings(num_players=21))


def test_overrides_win_over_the_file_and_options_over_both(tmp_path):
    (tmp_path / "c.yaml").write_text("seed: 3\nlearner: {decisions: 10, learning_rate: 3e-4}")
    settings = load_settings(
        tmp_path / "c.yaml",
        ["learner.decisions=20", "learner.layers=[8]", "table.rules.gok_call='off'", "seed=4"],
        seed=5,
        name=None,
    )
    assert (settings.seed, settings.learner.decisions, settings.learner.layers) == (5, 20, (8,))
    assert settings.learner.learning_rate == 3e-4  # YAML 1.1 reads this as text
    assert settings.table.resolve()["gok_call"] == "off"
    assert settings.name == "byteskille"


@pytest.mark.parametrize(
    "override", ["learner.decisions", "=3", "seed.x=3", "learner.decisons=3", "seed=["]
)
def test_overrides_that_are_none_are_refused(tmp_path, override):
    (tmp_path / "c.yaml").write_text("seed: 3")
    with pytest.raises(ConfigError):
        load_settings(tmp_path / "c.yaml", [override])


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(tmp_path / "none.yaml")
