"""One default table for each game, and a word about every other one."""

import importlib
import io
import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import kille_env
import kille_training as kt
from kille_agents.tabular import TabularPolicy, save_tabular
from kille_env import Table
from kille_env.errors import ConfigError, PolicyError
from kille_env.records import read_records
from kille_env.records.notation import check_record
from kille_training.settings import TableSettings
from kille_training.solving.solution import settings_of
from kille_training.tables import seat

GAMES = ("byteskille", "femkortskille", "knack", "krypkille", "kungsholmskille")


@pytest.mark.parametrize("game", GAMES)
def test_every_tool_has_the_same_default_table(game: str) -> None:
    usual = Table.of(game)
    assert usual.rules["episode"] == "deal"
    assert usual.num_players == kille_env.spec(game).default_players
    assert kille_env.make_batch(game).table == usual
    assert kille_env.make(game).table == usual
    assert kille_env.SeatVectorEnv(game, 2).table == usual
    environment = gymnasium.make(f"kille_env/{game}-v{usual.version}")
    assert environment.unwrapped.table == usual  # type: ignore[attr-defined]
    assert seat(["rule_of_thumb"], game).table == usual
    assert TableSettings(game).table() == usual
    if game == "byteskille":
        assert settings_of(game).table == usual


OTHERS: dict[str, tuple[str, Any]] = {
    "sb3 all seats": ("sb3_contrib", lambda game: kille_env.sb3.SelfPlayVecEnv(game, 2).table),
    "sb3 one seat": ("sb3_contrib", lambda game: kille_env.sb3.SeatVecEnv(game, 2).table),
    "open_spiel": (
        "pyspiel",
        lambda game: importlib.import_module("kille_env.adapters.open_spiel").load(game).table,
    ),
}


@pytest.mark.parametrize("tool", OTHERS)
def test_every_library_has_the_same_default_table(tool: str) -> None:
    library, made = OTHERS[tool]
    pytest.importorskip(library)
    for game in GAMES:
        assert made(game) == Table.of(game)


def _printed(kille: Any, *words: Any) -> Table:
    return Table.read({"version": 0, **json.loads(kille(*words, "--json").out)})


def test_every_command_has_the_same_default_table(
    kille: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, path = Table.of("knack"), tmp_path / "record.jsonl"
    kille("record", "knack", "--out", path)
    (record,) = read_records(path)
    assert Table.read({"version": 0, **record}) == usual
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n" * 40))
    kille("play", "knack", "--out", tmp_path / "played.jsonl")
    assert Table.read({"version": 0, **read_records(tmp_path / "played.jsonl")[0]}) == usual
    assert _printed(kille, "evaluate", "rule_of_thumb", "--game", "knack", "--deals", 2) == usual


def test_a_best_response_is_learned_at_the_default_table() -> None:
    found = kt.best_response("uniform", "knack", decisions=600, seeds=1, deals=2)
    assert found.table == Table.of("knack")


def test_results_name_the_default_table_and_their_score() -> None:
    usual = Table.of("knack")
    found = kt.evaluate("rule_of_thumb", "knack", deals=2)
    compared = kt.compare("rule_of_thumb", "uniform", "knack", by=0.5, most=2)
    played = kt.play_tournament(["rule_of_thumb", "uniform"], "knack", deals=2)
    for result in (found, compared, played):
        assert result.table == usual
        assert str(usual) in str(result) == repr(result)
        assert result.as_dict()["score"] in str(result)
    assert (found.score, found.seed) == ("earned", kt.evaluate.__kwdefaults__["seed"])  # type: ignore[attr-defined]
    defaults = [each.__kwdefaults__["seed"] for each in (kt.compare, kt.play_tournament)]
    assert defaults == [found.seed] * 2


def test_a_record_that_leaves_the_episode_out_is_a_match() -> None:
    record = {
        "format": "kille-record/1",
        "game": "byteskille",
        "num_players": 3,
        "first_dealer": 0,
        "deals": [],
    }
    for rules in ({}, {"rules": None}, {"rules": {"stake": 4}}):
        assert check_record({**record, **rules})[1]["episode"] == "match"
    assert check_record({**record, "rules": {"episode": "deal"}})[1]["episode"] == "deal"


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    policy = kt.solve("byteskille", 2, target=0.5).policy
    assert isinstance(policy, TabularPolicy)
    return save_tabular(policy, tmp_path_factory.mktemp("solved") / "policy.npz")


MEASURED = {
    "evaluate": lambda player, **how: kt.evaluate(player, deals=2, exact=False, **how),
    "nash_conv": kt.nash_conv,
    "compare": lambda player, **how: kt.compare(player, "uniform", by=0.5, most=2, **how),
    "play_tournament": lambda player, **how: kt.play_tournament(
        {"solved": player, "uniform": "uniform"}, deals=2, **how
    ),
}


REFUSED = {
    "evaluate": PolicyError,
    "nash_conv": PolicyError,
    "compare": ConfigError,  # which names the entrant and its seats before the reason
    "play_tournament": ConfigError,
}


@pytest.mark.parametrize("tool", MEASURED)
def test_another_table_is_refused_or_said(tool: str, solved: Path) -> None:
    measure, refused = MEASURED[tool], REFUSED[tool]
    assert measure(solved).table == Table.of("byteskille", 2)
    with pytest.raises(refused, match=r"stake 4 instead of 2.*transfer=True"):
        measure(solved, rules={"stake": 4})
    with pytest.raises(refused, match="3 seats instead of 2"):
        measure(solved, num_players=3)
    with pytest.raises(refused, match="knack instead of byteskille") as told:
        measure(solved, game="knack")
    assert "transfer" not in str(told.value)
    found = measure(solved, rules={"stake": 4}, transfer=True)
    assert found.table == Table.of("byteskille", 2, {"stake": 4})
    assert f"transferred from {Table.of('byteskille', 2)}" in str(found)


def test_a_player_is_measured_where_it_was_made() -> None:
    class Model:
        tables = (Table.of("byteskille", 3, "wikipedia"),)
        name = "model"

        def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
            return mask / mask.sum(axis=1, keepdims=True)

    assert seat([Model()]).table == Table.of("byteskille", 3, "wikipedia")
    with pytest.raises(PolicyError, match="4 seats instead of 3"):
        seat([Model()], num_players=4)


def test_exact_nash_conv_names_its_table_and_score_in_json() -> None:
    found = kt.nash_conv("rule_of_thumb", "byteskille", 2).as_dict()
    assert (found["game"], found["num_players"], found["score"]) == ("byteskille", 2, "earned")
    assert found["rules"] == Table.of("byteskille", 2).rules.as_dict()
