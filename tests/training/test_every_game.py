"""Every verb of the command line for every game. What a verb does besides is tested on one."""

import io
from pathlib import Path

import pytest

import kille_env
from kille_env.records import read_records, replay

CONFIGS = Path(__file__).parents[2] / "configs" / "train"
TINY = {
    "learner.decisions": 1024,
    "learner.num_tables": 8,
    "learner.n_steps": 64,
    "learner.batch_size": 128,
    "learner.n_epochs": 1,
    "learner.layers": "[8]",
    "measure.every": 512,
    "measure.deals": 4,
    "measure.final_deals": 6,
}


def test_games(kille, answer, game):
    spec = kille_env.spec(game)
    told = kille("games", game).out
    assert spec.title in told
    assert all(switch.name in told for switch in spec.switches)
    (found,) = answer("games", game)["games"].values()
    assert found["players"]["default"] == spec.default_players
    assert found["switches"].keys() == {switch.name for switch in spec.switches}


@pytest.mark.parametrize("episode", ["deal", "match"])
def test_record_and_replay(kille, answer, game, episode):
    kille("record", game, "--deals", 2, "--rules", f"episode={episode}", "--out", "x.jsonl")
    assert kille("replay", "x.jsonl", "--check").out == "2 matches replayed, nothing differs\n"
    told = kille("replay", "x.jsonl").out
    assert told.count(f"End of the {episode}:") == 2
    seats = kille_env.spec(game).default_players
    assert f"{episode.capitalize()} 1: {game}, {seats} players" in told
    returns = [record["returns"] for record in read_records("x.jsonl")]
    programs = answer("replay", "x.jsonl")["matches"]
    assert [match["returns"] for match in programs] == returns


@pytest.mark.parametrize("choice", ["1", "2"])
def test_play(kille, game, choice, monkeypatch):
    # The same number again and again, or the first choice where there is no second one.
    monkeypatch.setattr("sys.stdin", io.StringIO(f"?\n{choice}\n1\n" * 30))
    monkeypatch.setenv("COLUMNS", "80")
    told = kille("play", game, "--seed", 3, "--rules", "episode=deal", "--out", "x.jsonl").out
    assert "leave the table" in told  # the help
    assert "End of the deal: You " in told
    assert "You played " in told
    prompts = [line.rpartition("> ")[2] for line in told.splitlines()]  # what follows on a line
    assert max(map(len, prompts)) < 80
    for record in read_records("x.jsonl"):
        assert replay(record).differences == []
        assert record["names"][0] == "human"


def test_evaluate(kille, answer, game):
    spec = kille_env.spec(game)
    words = ["rule_of_thumb", "--game", game, "--baselines", "uniform", "--episode", "deal"]
    found = answer("evaluate", *words, "--deals", 60)
    assert (found["game"], found["num_players"]) == (game, spec.default_players)
    row = found["rows"][0]
    assert row["estimate"]["low"] > 0
    assert len(row["by_position"]) == spec.default_players
    told = kille("evaluate", *words, "--deals", 5).out
    # Krypkille's points do not sum to zero: the gain over the other player is shown.
    measure = "Gain" if game == "krypkille" else "Units"
    score = "beyond the baseline" if game == "krypkille" else "earned"
    assert told.startswith(
        f"rule_of_thumb at {kille_env.Table.of(game)}\n{measure} per deal, {score}, 95% interval"
    )


@pytest.mark.filterwarnings("ignore:You have specified a mini-batch size")
def test_train_and_report(kille, answer, game, monkeypatch):
    pytest.importorskip("sb3_contrib")
    monkeypatch.setattr("kille_training.reports.byteskille.DECISIONS", 2048)
    words = [word for key, value in TINY.items() for word in ("--set", f"{key}={value}")]
    found = answer("train", CONFIGS / f"{game}.yaml", *words)
    assert found["run"] == f"runs/{game}"
    assert found["rules"]["episode"] == "deal"
    assert {row["against"] for row in found["rows"]} > {"uniform"}
    assert answer("evaluate", found["run"], "--deals", 3)["game"] == game
    kille("report", found["run"])
    page = Path(found["run"], "report.html").read_text(encoding="utf-8")
    spec = kille_env.spec(game)
    assert f"<h1>{spec.title}, {found['num_players']} seats: {game}</h1>" in page
    told, other = ("gain", "units") if game == "krypkille" else ("units", "gain")
    assert f">{told} per deal<" in page
    assert f">{other} per deal<" not in page
    # Each picture twice, for wide and narrow screens; Byteskille has exact values and swaps, too.
    assert page.count("<svg") == (6 if game == "byteskille" else 2)
