"""What every file of settings may hold, and which sentence refuses the rest."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Literal

import pytest

from kille_env.errors import ConfigError
from kille_training.settings import (
    FolderName,
    List,
    OneSize,
    Sizes,
    as_yaml,
    build,
    load,
    parse,
    settings,
)


@settings
class Part:
    kind: Literal["red", "green"] = "red"
    numbers: List[int] = (1, 2)


@settings
class Whole:
    name: FolderName = "whole"
    rate: float = 0.1
    one: OneSize = 3
    some: Sizes = (3,)
    part: Part = field(default_factory=Part)
    rules: Mapping[str, Any] = field(default_factory=dict)


def written(tmp_path, text):
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: &n [[x]]\nrules: {a: *n}", "an alias"),
        ("rules: " + "[" * 5_000, "nested"),
        ("rules: " + "{a: " * 5_000, "nested"),
        ("one: " + "9" * 5_000, "5,000 characters"),
        ("rate: 1e" + "9" * 5_000, "5,002 characters"),
        ("one: 0x" + "f" * 4_500, "4,502 characters"),
        ('name: "a\\0b"', "NUL"),
        ('name: "\\ud800"', "surrogate"),
        ("name: a\0b", "not valid YAML"),
        ("? [a]\n: b", "unhashable"),
        ("name: !!python/object:os.system {}", "could not determine a constructor"),
        ("2: 3", "2 is an unknown key"),
        ("name: 2026-99-99\nrate: 2026-02-31", "rate is '2026-02-31', expected a number"),
        ("#" + "x" * (1 << 20), "larger than 1 MiB"),
    ],
)
def test_what_no_settings_need_is_refused_in_a_sentence(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message) as refused:
        load(Whole, written(tmp_path, text))
    assert "settings.yaml" in str(refused.value)
    assert len(str(refused.value)) < 500


def test_numbers_with_an_exponent_need_no_point(tmp_path):
    assert load(Whole, written(tmp_path, "rate: 3e-4")).rate == 3e-4
    assert load(Whole, written(tmp_path, "rate: 1"), ["rate=2E3"]).rate == 2000.0


def test_a_number_of_seats_is_a_number_or_a_list():
    assert build(Whole, {"one": [4], "some": 5}, "x") == Whole(one=4, some=(5,))
    assert build(Whole, {"some": [2, 5]}, "x").some == (2, 5)
    with pytest.raises(ConfigError, match="expected one number of seats here"):
        build(Whole, {"one": [2, 3]}, "x")
    for wrong in ([], [2, 2]):
        with pytest.raises(ConfigError, match="each table size once"):
            build(Whole, {"some": wrong}, "x")


def test_settings_are_checked_however_they_are_made():
    for make in (
        lambda: Part(kind="blue"),
        lambda: replace(Part(), kind="blue"),
        lambda: build(Part, {"kind": "blue"}, "x"),
    ):
        with pytest.raises(ConfigError, match=r"kind is 'blue'\. Possible are: green, red"):
            make()
    with pytest.raises(ConfigError, match=r"^x: part.numbers is 'y', expected a whole number$"):
        build(Whole, {"part": {"numbers": ["y"]}}, "x")


def test_what_is_written_is_read_again_without_aliases():
    shared = {"b": [1, 2]}
    text = as_yaml({"rules": {"a": shared, "c": shared}})
    assert "&" not in text
    assert parse(text) == {"rules": {"a": shared, "c": shared}}
