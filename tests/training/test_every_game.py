"""Every verb of the command line for every game. What a verb does besides is tested on one."""

from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest

import kille_env
from kille_env.records import read_records, replay
from kille_training.table import terminal

CONFIGS = Path(__file__).parents[2] / "configs" / "train"
TINY = {
    "table.num_players": 2,  # a tree of Byteskille with more seats takes seconds
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


@pytest.mark.parametrize("number", [1, pytest.param(0, marks=pytest.mark.slow)])
def test_play(kille, game, number, monkeypatch):
    offered: list[str] = []
    plain = terminal.choices

    def choices(*of):
        found = plain(*of)
        offered[:] = [found[min(number, len(found) - 1)]["label"]]
        return found

    def lines():
        yield "?"
        for _ in range(40):  # the same choice again and again, or the last one
            yield offered.pop() if offered else "again"

    answers = lines()
    monkeypatch.setattr(terminal, "choices", choices)
    stdin = SimpleNamespace(
        isatty=lambda: False, readline=lambda: "".join(f"{line}\n" for line in islice(answers, 1))
    )
    monkeypatch.setattr("sys.stdin", stdin)
    told = kille("play", game, "--seed", 3, "--rules", "episode=deal", "--out", "x.jsonl").out
    assert f"All rules: kille games {game} --manual" in told  # the help
    assert "End of the deal: " in told
    assert "You played " in told
    records = list(read_records("x.jsonl"))
    assert records
    for record in records:
        assert replay(record).differences == []
        assert record["names"][0] == "You"


def test_evaluate(kille, answer, game):
    words = ["rule_of_thumb", "--game", game, "--baselines", "uniform", "--players", 2]
    words += ["--rules", "episode=deal"]
    found = answer("evaluate", *words, "--deals", 60)
    assert (found["game"], found["num_players"]) == (game, 2)
    row = found["rows"][0]
    assert row["estimate"]["low"] > 0
    assert len(row["by_position"]) == 2
    told = kille("evaluate", *words, "--deals", 5).out
    # Krypkille's points do not sum to zero: the gain over the other player is shown.
    measure = "Gain" if game == "krypkille" else "Units"
    score = "beyond the baseline" if game == "krypkille" else "earned"
    assert told.startswith(
        f"rule_of_thumb at {kille_env.Table.of(game, 2)}\n{measure} per deal, {score}, 95% interval"
    )


@pytest.mark.filterwarnings("ignore:You have specified a mini-batch size")
def test_train_and_report(kille, answer, game):
    pytest.importorskip("sb3_contrib")
    words = [word for key, value in TINY.items() for word in ("--set", f"{key}={value}")]
    found = answer("train", CONFIGS / f"{game}.yaml", *words)
    assert found["run"] == f"runs/{game}"
    assert found["rules"]["episode"] == "deal"
    assert {row["against"] for row in found["rows"]} > {"uniform"}
    assert answer("evaluate", found["run"], "--deals", 3)["game"] == game
    page = Path(found["run"], "report.html").read_text(encoding="utf-8")
    spec = kille_env.spec(game)
    assert f"<h1>{spec.title}, {found['num_players']} seats: {game}</h1>" in page
    told, other = ("gain", "units") if game == "krypkille" else ("units", "gain")
    assert f">{told} per deal<" in page
    assert f">{other} per deal<" not in page
    # Each picture twice, for wide and narrow screens; Byteskille has exact values, too.
    assert page.count("<svg") == (4 if game == "byteskille" else 2)
