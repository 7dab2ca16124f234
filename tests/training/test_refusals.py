"""A user's odd argument, file or code ends with one sentence that names it."""

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
