"""A person at the table: `kille play`."""

import io
import json
import os
import sys
from contextlib import suppress

import pytest

from kille_env.errors import PolicyError
from kille_env.records import read_records, replay
from kille_env.registry import Table
from kille_training.table.advice import Choice
from kille_training.table.sitting import Sitting
from kille_training.table.terminal import _meant


@pytest.fixture
def play(kille, monkeypatch):
    """Play with typed lines, and return what is printed."""

    def run(lines: str, *words: object, game: str = "byteskille", ends: int = 0):
        typed = "".join(f"{line.strip()}\n" for line in lines.split(",") if lines)
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        return kille("play", game, "--seed", 3, *words, ends=ends)

    return run


def test_a_single_deal_from_beginning_to_end(play, tmp_path):
    path = tmp_path / "mine.jsonl"
    out = play("k, e", "--rules", "episode=deal", "--out", path).out
    for words in ("Byteskille, deal 1, ", "[Keep my 1]", "You keep the card.", "Your 1 was the"):
        assert words in out
    for words in ("End of the deal: ", "Another deal?", "You played 1 deal: "):
        assert words in out
    (record,) = read_records(path)
    bots = [f"{name} (rule_of_thumb)" for name in ("Bertil", "Cecilia", "David")]
    assert record["names"] == ["You", *bots]
    assert record["seed"] == 3 and replay(record).differences == []


@pytest.mark.parametrize("lines", ["q", "", "k, q", "?, q"])
def test_leaving_is_no_error(lines, play):
    printed = play(lines, "--rules", "episode=match")
    assert printed.out.endswith("Goodbye.\n")
    assert "Traceback" not in printed.err


def test_an_interrupt_says_goodbye_and_ends_with_130(play, monkeypatch):
    class Keyboard(io.StringIO):
        def readline(self, *_):
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Keyboard())
    monkeypatch.setattr(io, "StringIO", lambda *_: Keyboard())
    assert play("k", ends=130).out.endswith("Goodbye.\n")


def test_what_was_played_is_written_when_an_opponent_fails(play, tmp_path, monkeypatch):
    def fail(self, action=None):
        raise PolicyError("the language model does not answer")

    path = tmp_path / "mine.jsonl"
    monkeypatch.setattr(Sitting, "play", fail)
    printed = play("k", "--out", path, ends=1)
    assert "kille: the language model does not answer" in printed.err
    (record,) = read_records(path)
    assert replay(record).returns is None


def test_cards_are_named_by_their_words(play, tmp_path):
    path = tmp_path / "mine.jsonl"
    seen = play("q", game="krypkille").out
    assert "Change up to 3 cards? [cards] [Keep all cards]" in seen
    out = play("12 cuckoo, 7 5, q", "--out", path, "--players", 3, game="krypkille")
    assert "“12 cuckoo” is not one of the choices." in out.out
    (record,) = read_records(path)
    assert [0, "discard L5 L7"] in record["deals"][0]["actions"]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("k", ["Keep all cards"]),
        ("keep", ["Keep all cards"]),
        ("7", ["Change the 7"]),
        ("7 7", ["Change both 7s and 7"]),
        ("1", ["Change the 1"]),
        ("harl 1", ["Change the 1 and harlequin"]),
        ("6d", ["Lead the 6♦"]),
        ("6d down", ["Lead the 6♦ face down"]),
        ("6", ["Lead the 6♦", "Lead the 6♥"]),
        ("6c", []),
        ("lead", ["Lead the 6♦", "Lead the 6♥"]),
        ("9", []),
        ("a", []),
    ],
)
def test_typed_words_mean_the_shortest_choice_that_holds_them_all(line, meant):
    labels = [
        "Keep all cards", "Change the 7", "Change both 7s and 7", "Change the 1", "Change the 12",
        "Change the 1 and harlequin", "Change the 1, 7 and harlequin", "Lead the 6♦",
        "Lead the 6♦ face down", "Lead the 6♥",
    ]  # fmt: skip
    found = [Choice(action=i, label=x, text="", cards=[]) for i, x in enumerate(labels)]
    assert [one["label"] for one in _meant(line, found)] == meant


def test_a_word_for_two_cards_asks_which(play):
    options = ("--seed", 5, "--rules", "episode=match")
    out = play("k, 6, x, 6d, q", *options, game="knack").out
    assert (
        "Which one: Play the 6♦ or Play the 6♥?" in out and "“x” is not one of the choices." in out
    )
    assert "You play the six of diamonds." in out


@pytest.mark.skipif(sys.platform == "win32", reason="has no terminals of this kind")
def test_a_terminal_hears_at_once_and_shows_no_keys_before_it_asks():
    import pty

    child, terminal = pty.fork()
    if child == 0:
        words = ["-m", "kille_training.cli.main", "play", "knack", "--seed", "3"]
        os.execv(sys.executable, [sys.executable, *words])
    shown = b""
    while b"\n" not in shown:
        shown += os.read(terminal, 4096)
    assert shown == b"Knack: setting the table ...\r\n"
    os.write(terminal, b"typed too early\n")
    while not shown.endswith(b"> "):
        shown += os.read(terminal, 4096)
    assert b"typed" not in shown and shown.count(b"> ") == 1
    os.write(terminal, b"q\n")
    with suppress(OSError):  # the terminal ends with the program
        while more := os.read(terminal, 4096):
            shown += more
    assert shown.endswith(b"> q\r\nGoodbye.\r\n") and os.waitpid(child, 0)[1] == 0


def test_help_and_hints(play):
    out = play("?, h, q").out
    assert "From the lowest up: mask, flowerpot" in out
    assert "Keep my" in out or "Swap with" in out


@pytest.mark.parametrize(
    ("game", "line"),
    [
        ("kungsholmskille", "Heading is compulsory"),
        ("knack", "From the lowest up, in each suit: 6, 7, 8, 9, 10, J, Q, K, A."),
        ("knack", "must lead the ace of trumps"),
        ("knack", "sets a bet of 3 chips on the table"),
    ],
)
def test_help_has_the_rules_of_tricks_and_money(play, game, line):
    out = play("?, q", game=game).out
    assert line in out and "Money:" in out
    assert f"All rules: kille games {game} --manual" in out


def test_the_conversation_moves_to_standard_error_with_json(play):
    printed = play("k, e", "--rules", "episode=deal", "--json")
    result = json.loads(printed.out)
    assert str(Table.read(result["table"])) == "byteskille, 4 seats, single deals, preset svensk"
    assert len(result["matches"]) == 1
    assert "Another deal?" in printed.err


def test_cards_of_others_stay_hidden_until_the_showdown(play):
    out = play("q").out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("  Bertil")] == ["?"]
