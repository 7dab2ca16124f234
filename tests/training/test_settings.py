"""Settings: documented, checked, written as they were read; and which sentence refuses the rest."""

import re
from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml

from kille_env.errors import ConfigError, RulesError
from kille_env.yaml_text import parse
from kille_training.learn.methods.maskable_ppo import Settings
from kille_training.learn.settings import (
    MeasureSettings,
    TableSettings,
    TrainSettings,
    load_settings,
)
from kille_training.settings import FolderName, List, as_yaml, build, load, plain, settings

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = sorted((ROOT / "configs" / "train").glob("*.yaml"))


@settings
class Part:
    kind: Literal["red", "green"] = "red"
    numbers: List[int] = (1, 2)


@settings
class Whole:
    name: FolderName = "whole"
    rate: float = 0.1
    one: int = 3
    part: Part = field(default_factory=Part)
    rules: Mapping[str, Any] = field(default_factory=dict)


@pytest.fixture
def written(tmp_path):
    """Write a file of settings."""

    def write(text):
        path = tmp_path / "settings.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: &n [[x]]\nrules: {a: *n}", "an alias"),
        ("seed: 1\nseed: 2", "the key seed is written twice"),
        ("rules: {1: a, '1': b}", "the key 1 is written twice"),
        ("rules: {yes: a}", "a key is read as True, put it in quotes"),
        ("rules: " + "[" * 5_000, "nested too deep"),
        ("rules: " + "{a: " * 5_000, "nested too deep"),
        ("one: " + "9" * 5_000, "5000 digits"),
        ("one: [2, 3]", r"one is \[2, 3\], expected a whole number"),
        ("rate: 1e" + "9" * 5_000, "rate is inf, expected a finite number"),
        ("one: 0x" + "f" * 4_500, "4300 digits"),
        ('name: "a\\0b"', "name of a folder"),
        ('name: "\\ud800"', "Invalid JSON"),
        ("name: a\0b", "not valid YAML"),
        ("? [a]\n: b", "a key is read as"),
        ("name: !!python/object:os.system {}", "could not determine a constructor"),
        ("2: 3", "2 is an unknown key"),
        ("rate: 2026-02-03", "rate is .2026-02-03., expected a number"),
        ("#" + "x" * (1 << 20), "more than 1 MiB"),
    ],
)
def test_what_no_settings_need_is_refused_in_a_sentence(written, text, message):
    with pytest.raises(ConfigError, match=message) as refused:
        load(Whole, written(text))
    assert "settings.yaml" in str(refused.value)
    assert len(str(refused.value)) < 500


def test_another_file_is_no_file_of_settings(tmp_path):
    (tmp_path / "k.jsonl").write_text('{"game": "knack"}\n{"game": "knack"}\n')
    with pytest.raises(ConfigError, match=r"k\.jsonl is not a file of settings .*name a recipe"):
        load(Whole, tmp_path / "k.jsonl")


def test_settings_are_checked_however_they_are_made():
    for make in (
        lambda: Part(kind="blue"),
        lambda: replace(Part(), kind="blue"),
        lambda: build(Part, {"kind": "blue"}, "x: "),
    ):
        with pytest.raises(ConfigError, match=r"kind is 'blue', expected 'red' or 'green'"):
            make()
    with pytest.raises(ConfigError, match=r"^x: part.numbers is 'y', expected a whole number$"):
        build(Whole, {"part": {"numbers": ["y"]}}, "x: ")


def test_what_is_written_is_read_again_without_aliases():
    shared = {"b": [1, 2]}
    text = as_yaml({"rules": {"a": shared, "c": shared}})
    assert "&" not in text
    assert parse(text, "x") == {"rules": {"a": shared, "c": shared}}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_committed_settings_load_and_survive_being_written(path):
    found = load_settings(path)
    again = yaml.safe_load(yaml.safe_dump(plain(found)))
    assert build(TrainSettings, again, "again: ") == found


@pytest.mark.parametrize("cls", [TrainSettings, TableSettings, Settings, MeasureSettings])
def test_every_field_is_documented(cls):
    documented = re.findall(r"^ *(\w+): ", cls.__doc__, re.MULTILINE)
    assert documented == [part.name for part in fields(cls)]


def test_the_committed_recipe_shows_every_key():
    content = yaml.safe_load((ROOT / "configs" / "train" / "byteskille.yaml").read_text())
    for name, value in vars(TrainSettings()).items():
        if name == "made_with":
            continue
        assert name in content
        if is_dataclass(value):
            assert set(content[name]) == {part.name for part in fields(value)}


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
        ("learner: {form: stream}", "expected 'streams' or 'seats'"),
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
def test_what_cannot_be_used_is_refused_in_words(written, text, message):
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        load_settings(written(text))


def test_rules_and_seats_that_do_not_exist_are_refused(written):
    with pytest.raises(RulesError, match="gok_call"):
        load_settings(written("table: {rules: {gok_cal: off}}"))
    with pytest.raises(RulesError, match="2 to 20"):
        TrainSettings(table=TableSettings(num_players=21))


def test_overrides_win_over_the_file_and_options_over_both(written):
    found = load_settings(
        written("seed: 3\nlearner: {decisions: 10, learning_rate: 3e-4}"),
        ["learner.decisions=20", "learner.layers=[8]", "table.rules.gok_call='off'", "seed=4"],
        seed=5,
        name=None,
    )
    assert (found.seed, found.decisions, found.hyperparameters().layers) == (5, 20, (8,))
    assert found.learner["learning_rate"] == 3e-4  # YAML 1.1 reads this as text
    assert found.table.resolve()["gok_call"] == "off"
    assert found.name == "byteskille"


@pytest.mark.parametrize(
    "override", ["learner.decisions", "=3", "seed.x=3", "learner.decisons=3", "seed=["]
)
def test_overrides_that_are_none_are_refused(written, override):
    with pytest.raises(ConfigError):
        load_settings(written("seed: 3"), [override])


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(tmp_path / "none.yaml")


def test_another_method_keeps_the_decisions_of_a_recipe_alone(written):
    path = written("learner: {decisions: 10, gamma: 0.9}")
    found = load_settings(path, ["method=mmd", "learner.steps=2"])
    assert (found.decisions, found.hyperparameters().steps) == (10, 2)
    assert "gamma" not in found.learner
    with pytest.raises(ConfigError, match=r"yaml: learner.gamma is an unknown key"):
        load_settings(written("method: mmd\nlearner: {gamma: 0.9}"))


def test_blanks_around_a_key_change_nothing(written):
    path = written("learner: {decisions: 10, learning_rate: 0.9}")
    assert load_settings(path, ["method =mmd"]) == load_settings(path, {"method": "mmd"})
