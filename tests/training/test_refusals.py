"""A user's odd command, argument, file or code ends with one sentence that names it."""

import io
import sys
from pathlib import Path
from sysconfig import get_path

import click
import numpy as np
import pytest

import kille_env
import kille_training as kt
from kille_env.errors import FileError
from kille_training.cli import main as command
from kille_training.cli.main import guarded
from refusals import refused as is_refused

TWO = ("uniform", "rule_of_thumb")


def record(path):
    recorder = kille_env.Recorder(kille_env.make_batch("knack", 1, 2, restart=False))
    recorder.reset(seed=1)
    kille_env.write_records([recorder.record()], path)


WRITES = {
    "tournament": lambda path: kt.play_tournament(
        [*TWO], "knack", num_players=2, deals=4, out=path
    ),
    "compare": lambda path: kt.compare(*TWO, game="knack", num_players=2, most=10, out=path),
    "train": lambda path: kt.train("knack", out=path),
    "seeds": lambda path: kt.train("knack", out=path, seeds=2),
    "solve": lambda path: kt.solve("byteskille", 2, iterations=2, out=path),
    "export_efg": lambda path: kt.export_efg("byteskille", 2, path),
    "records": record,
}
DRAWS = {
    "tournament": lambda seed: kt.play_tournament(
        [*TWO], "knack", num_players=2, deals=4, seed=seed
    ),
    "compare": lambda seed: kt.compare(*TWO, game="knack", num_players=2, most=10, seed=seed),
    "evaluate": lambda seed: kt.evaluate("uniform", "knack", 2, deals=4, seed=seed, exact=False),
    "train": lambda seed: kt.train("knack", seed=seed),
}
ODD_SEEDS = [np.array(3), np.array(3.5), np.array([1, 2]), "3", True, -1, 2**64]


@pytest.mark.parametrize("write", WRITES)
def test_a_path_that_cannot_be_written_is_named(tmp_path, write):
    (tmp_path / "file").touch()
    words = r"file.* cannot be written: .*; name another place, or"
    is_refused(WRITES[write], words, tmp_path / "file" / "below", kind=FileError)


@pytest.mark.parametrize("seed", ODD_SEEDS, ids=str)
@pytest.mark.parametrize("draw", DRAWS)
def test_an_odd_seed_is_refused_by_name(draw, seed):
    is_refused(DRAWS[draw], "seed", seed)


MODULE = """
import sys

def divides(observation, mask): return 1 / 0
def leaves(observation, mask): sys.exit(3)
def uniform(observation, mask): return mask / mask.sum(axis=1, keepdims=True)

class Named:
    @property
    def name(self): return 1 / 0
    def probabilities(self, observation, mask): return mask
"""


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Modules of a user in the working folder."""
    monkeypatch.syspath_prepend(str(tmp_path))
    files = {"odd_players": MODULE, "odd_exit": "raise SystemExit(4)", "odd_division": "1 / 0"}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    yield
    for name in files:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("player", "words"),
    [
        ("odd_players:divides", "odd_players.py, line 4, in divides: ZeroDivisionError"),
        ("odd_players:leaves", "odd_players.py, line 5, in leaves: SystemExit: 3"),
        ("odd_players:Named", "odd_players.py, line 10, in name: ZeroDivisionError"),
        ("odd_players:uniform.__code__.x", "no 'uniform.__code__.x'"),
        ("odd_exit:x", "'odd_exit:x' cannot be imported: SystemExit: 4"),
        ("odd_division:x", "'odd_division:x' cannot be imported: ZeroDivisionError"),
        ("os:_exit.x", "the module 'os' has no '_exit.x'"),
        ("no_such:" + "a" * 100_000, "... ("),
    ],
)
def test_the_players_code_is_named(modules, refused, player, words):
    said = refused("evaluate", player, "--game", "knack", "--deals", "4")
    assert words in said
    assert "Traceback" not in said
    assert len(said) < 2_200


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch):
    here = str(Path(__file__).parent)
    monkeypatch.setattr(
        command, "get_path", lambda name: here if name == "stdlib" else get_path(name)
    )

    @click.command()
    def wrong():
        raise KeyError("ours")

    with pytest.raises(KeyError, match="ours"):
        guarded(wrong, [])


def test_too_little_memory_is_a_sentence(capsys):
    @click.command()
    def greedy():
        raise MemoryError("8 EiB")

    assert guarded(greedy, []) == 1
    assert "out of memory (8 EiB)" in capsys.readouterr().err


def test_a_terminal_without_swedish_letters_gets_them_spelt_out(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))

    @click.command()
    def speak():
        print("Gök ± 1")

    assert guarded(speak, []) == 0
    assert written.getvalue().split() == [b"G\\xf6k", b"\\xb1", b"1"]
    monkeypatch.undo()


LINES = {
    "gams": "There is no command 'gams'. Did you mean 'games'?",
    "games byteskill": "there is no game 'byteskill'. Did you mean 'byteskille'?",
    "games --manual": "kille games GAME --manual",
    "games byteskille --rules stake=6": "needs --manual",
    "games byteskille --manual --rules stake=3": "an even whole number",
    "record byteskill --out x": "Did you mean 'byteskille'?",
    "record byteskille": "Missing option '--out'",
    "record byteskille --out x --rules gok_cal=off": "'gok_call'",
    "record byteskille --out x --rules norsk": "no preset 'norsk'",
    "record byteskille --out x --rules pots=two": "whole number from 1",
    "record byteskille --out x --rules pots=1 --rules pots=2": "'pots' is given twice",
    "record byteskille --out x --players 21": "2 to 20",
    "record byteskille --out x uniform uniform": "2 players are named",
    "record byteskille --out x unifor": "'uniform'",
    "record byteskille --out no/such/folder/x": "does not exist",
    "record byteskille --out x --deals 0": "0 is not in the range",
    "replay no-such-file": "no-such-file cannot be read (No such file",
    "train knack --set learner.n_step=3": "Did you mean 'n_steps'",
    "train knack --set nonsense": "expected KEY=VALUE",
    "train none.yaml": "is not a file, a folder or a recipe",
    "train .": "is not a run",
    "train . --seed 3": "a run with its own settings",
    "evaluate rule_of_tumb": "Did you mean 'rule_of_thumb'",
    "evaluate rule_of_thumb --game bytskille": "Did you mean 'byteskille'",
    "players knack/manic": "Did you mean 'knack/maniac'",
    "players rule_of_thumb": "kille players rule_of_thumb --game",
    "players --game knck": "knack",
    "players knack --game krypkille": "name one of them",
    "players knack/tight --game krypkille": "knack/tight plays knack, not krypkille",
    "play byteskille --json --players 1": "1",
    "play byteskille --json --opponents nobody": "nobody",
    "play byteskille --json --opponents uniform,uniform": "2 players are named for 3 seats",
    "play byteskille --json --out /no/such/folder/x.jsonl": "does not exist",
    "play byteskille --json --out .": "is a folder",
    "compare uniform uniform --out x": "compared with itself",
    "compare uniform rule_of_tumb --out x": "rule_of_tumb",
    "compare uniform rule_of_thumb --by 0 --out x": "by is 0.0; expected more than 0",
    "compare uniform rule_of_thumb --by 9 --out x": "expected least < low < high < greatest",
    "compare uniform rule_of_thumb --set most=1 --out x": "most is 1; expected 2 deals or more",
    "best-response rule_of_thum": "Did you mean 'rule_of_thumb'",
    "best-response uniform --players 99": "99",
    "best-response uniform --game kungsholm": "Did you mean 'kungsholmskille'",
    "best-response uniform --set play=dumb": "play",
    "best-response uniform --deals 1": "deals",
    "best-response uniform --rules fraga=perhaps": "fraga",
    "solve byteskille --players 5": "kille: the tree of a deal of byteskille with 5 seats",
    "solve byteskille --players 6": "2 to 4 seats fit into 6 GiB",
    "solve byteskille --players 3 --set memory=0.001": "--set memory=GIB) allows it",
    "solve byteskille --players 1": "--players: byteskille is played by 2 to 20, got 1",
    "solve knack --players 2": "The rules tiny and small fit with 2 seats, some with 3",
    "solve bytskille": "Did you mean 'byteskille'",
    "solve byteskille --target 0": "--target: expected a positive number",
    "solve byteskille --target nan": "expected a positive number",
    "solve byteskille --rules fraga=maybe": "fraga",
    "solve byteskille --set method=cfr++": "cfr++",
    "solve byteskille --set iterations=0": "--set iterations: expected at least 1",
    "solve byteskille --set memory=0": "--set memory: expected a positive number of GiB",
    "solve byteskille --rules episode=evening": "episode",
    "solve byteskille --set memory=much": "memory is 'much'",
    "solve byteskille --set methodx=cfr": "Did you mean 'method'",
    "solve byteskille --rules episode=match --set iterations=5": (
        "--set iterations: is for the hands of a deal"
    ),
    "solve byteskille --rules episode=match --rules pots=2": "pots is 2",
    "solve krypkille --rules episode=match": "--rules episode: only byteskille is solved",
    "solve byteskille --rules episode=match --players 20": "with 20 seats has about",
}


@pytest.mark.parametrize("line", LINES)
def test_a_wrong_command_says_what_is_possible_and_writes_nothing(line, refused, tmp_path):
    assert LINES[line] in refused(*line.split())
    assert not any(tmp_path.iterdir())


ODD = [
    "",
    "9" * 5_000,
    "nan",
    "-1",
    "nobody",
    "folder",
    "bytes",
    "\udcff\u202e",
    "deep.json",
    "../..",
]
PLACES = [
    ["games", ...],
    ["games", "byteskille", "--manual", "--rules", ...],
    ["players", "uniform", "--game", ...],
    ["record", "byteskille", ..., "--out", "no/such/folder"],
    ["record", "byteskille", "--deals", ..., "--out", "no/such/folder"],
    ["replay", ..., "--check"],
    ["evaluate", ..., "--deals", "1"],
    ["evaluate", "uniform", "--players", ..., "--deals", "1"],
    ["train", ...],
    ["train", "byteskille", "--set", ...],
    ["solve", "byteskille", "--players", ..., "--target", "-1"],
    ["benchmark", ...],
    ["compare", "uniform", "rule_of_thumb", "--set", ...],
]


@pytest.mark.parametrize("place", PLACES, ids=lambda words: " ".join(map(str, words[:3])))
def test_odd_words_are_refused_in_a_short_sentence(place, tmp_path, monkeypatch, capsys):
    (tmp_path / "here" / "folder").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    Path("bytes").write_bytes(bytes(range(256)))
    Path("deep.json").write_text("[" * 5_000)
    for word in ODD:
        assert command.main([word if each is ... else each for each in place]) == 1
        said = capsys.readouterr().err
        assert "Traceback" not in said and 0 < len(said) < 2_600
