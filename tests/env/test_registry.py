"""The games that there are, and what is said of those that there are not."""

import pytest

import kille_env
from kille_env import errors, registry


def test_an_unknown_game_is_refused_with_a_suggestion():
    with pytest.raises(errors.UnknownGameError, match="Did you mean 'byteskille'"):
        kille_env.make_batch("bytekille")
    with pytest.raises(errors.UnknownGameError, match=r"Choose one of: .*byteskille"):
        kille_env.spec("chess")


def test_a_game_is_loaded_once():
    assert kille_env.load_game("byteskille") is kille_env.load_game("byteskille")


def test_a_name_is_taken_once(monkeypatch):
    monkeypatch.setattr(registry, "_modules", dict(registry._modules))
    registry.register("mine", "some.module")
    registry.register("mine", "some.module")  # again the same: no matter
    with pytest.raises(errors.UnknownGameError, match=r"'mine' is taken by some\.module"):
        registry.register("mine", "another.module")
    assert "mine" in kille_env.list_games()


def test_a_game_goes_by_one_name(monkeypatch):
    """Else tables, policies and records of two games that call themselves alike would mix."""
    for held in ("_modules", "_versions"):
        monkeypatch.setattr(registry, held, dict(getattr(registry, held)))
    registry.register("long_knack", registry._modules["knack"])
    for use in (kille_env.load_game, kille_env.make_batch, kille_env.spec, kille_env.Table.of):
        with pytest.raises(errors.UnknownGameError, match="'long_knack' calls itself 'knack'"):
            use("long_knack")


def test_every_error_is_a_kille_error_and_a_value_error():
    kinds = [
        kind for kind in vars(errors).values() if getattr(kind, "__module__", "") == errors.__name__
    ]
    kinds = [kind for kind in kinds if isinstance(kind, type)]
    assert len(kinds) > 5
    assert all(issubclass(kind, errors.KilleError) for kind in kinds)
    assert issubclass(errors.KilleError, ValueError)


def test_did_you_mean_names_one_or_all():
    assert errors.did_you_mean("stak", ["stake", "ante"]) == "Did you mean 'stake'?"
    assert errors.did_you_mean("zzz", ["stake", "ante"]) == "Choose one of: ante, stake."
    assert errors.did_you_mean("zzz", []) == "There is nothing to choose from."


def test_what_is_lazy_is_there_and_what_is_not_is_missed():
    with pytest.raises(AttributeError, match="'nothing'"):
        kille_env.nothing  # noqa: B018


def test_a_table_says_what_it_is_and_how_another_differs():
    usual = kille_env.Table.of("byteskille", 3, "wikipedia", "deal")
    other = kille_env.Table.of("byteskille", 2, {**usual.rules.as_dict(), "stake": 4})
    assert str(usual) == "byteskille, 3 seats, single deals, preset wikipedia"
    assert usual.differences(usual) == []
    assert usual.differences(other) == ["2 seats instead of 3", "stake 4 instead of 2"]
    assert usual.differences(kille_env.Table.of("knack")) == ["knack instead of byteskille"]
    assert "stake=4" in str(other)
