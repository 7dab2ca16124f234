"""A person at the table: `kille play`."""

import io
import json
import re
import time
from contextlib import nullcontext

import pytest

from kille_env.errors import PolicyError
from kille_env.records import read_records, replay
from kille_training.cli import console
from kille_training.people.sitting import Sitting


@pytest.fixture
def play(kille, monkeypatch):
    """Plays with typed lines, and returns what is printed."""

    def run(lines: str, *words: object, ends: int = 0):
        typed = "".join(f"{line}\n" for line in lines.split())
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        return kille("play", "byteskille", "--seed", 3, *words, ends=ends)

    return run


def test_a_single_deal_from_beginning_to_end(play, tmp_path):
    path = tmp_path / "mine.jsonl"
    out = play("stand enough", "--rules", "episode=deal", "--out", path).out
    assert "You stand." in out
    assert "“Upp till bevis!”" in out
    assert re.search(r"End of the (deal|match): You [+-]?[\d.]+, Bertil", out)
    assert re.search(r"You played 1 (deal|match) to the end; balance", out)
    (record,) = read_records(path)
    bots = [f"{name} (rule_of_thumb)" for name in ("Bertil", "Cecilia", "David")]
    assert record["names"] == ["human", *bots]
    assert record["seed"] == 3
    assert replay(record).differences == []


@pytest.mark.parametrize("lines", ["q", "", "stand q", "help q"])
def test_leaving_is_no_error(lines, play):
    printed = play(lines)
    assert printed.out.endswith("Goodbye!\n")
    assert "Traceback" not in printed.err


def test_an_interrupt_says_goodbye_and_ends_with_130(play, monkeypatch):
    def interrupt() -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("kille_agents.human._read_line", interrupt)
    printed = play("", ends=130)
    assert printed.out.endswith("Goodbye!\n")
    assert "Traceback" not in printed.err


def test_what_was_played_is_written_when_an_opponent_fails(play, tmp_path, monkeypatch):
    def think(self):
        raise PolicyError("the language model does not answer")

    path = tmp_path / "mine.jsonl"
    monkeypatch.setattr(Sitting, "think", think)
    printed = play("stand", "--seat", 1, "--seed", 5, "--out", path, ends=1)
    assert "kille: the language model does not answer" in printed.err
    assert printed.out.endswith(f"Goodbye!\nThe matches are in {path}.\n")
    (record,) = read_records(path)
    assert replay(record).returns is None


def test_a_mistyped_line_can_be_taken_back(play, tmp_path):
    path = tmp_path / "mine.jsonl"
    rules = ("--rules", "episode=deal", "--out", path)
    first = play("stand enough", *rules).out
    record = path.read_bytes()
    # Taken back after the deal was over, and played again as before: the same cards, the same end.
    out = play("swap undo stand enough", *rules).out
    assert "Taken back." in out
    assert path.read_bytes() == record
    assert out.splitlines()[-10:] == first.splitlines()[-10:]


def test_taking_back_goes_over_several_decisions(play, tmp_path):
    path = tmp_path / "mine.jsonl"
    play("swap swap swap undo undo undo stand q", "--out", path)
    again = path.read_bytes()
    play("stand q", "--out", path)
    assert again == path.read_bytes()


def test_the_same_seed_is_the_same_match(play, tmp_path):
    path = tmp_path / "mine.jsonl"
    words = ("--rules", "episode=deal", "--opponents", "byteskille/drunk", "--out", path)
    written = set()
    for lines in ("stand enough", "swap undo stand enough"):
        play(lines, *words)
        written.add(path.read_bytes())
    assert len(written) == 1


def test_an_action_that_is_not_possible_now_is_said_to_be_so(play):
    out = play("buy quux q").out
    assert "'buy' is not possible now. Possible are stand and swap; ? is for help." in out
    assert "'quux' is not understood. Possible are stand and swap; ? is for help." in out


def test_enter_stands_and_begins_another_match(play, monkeypatch, tmp_path, kille):
    path = tmp_path / "mine.jsonl"
    monkeypatch.setattr("sys.stdin", io.StringIO("\n\nstand\nenough\n"))
    words = ("byteskille", "--seed", 3, "--rules", "episode=deal", "--out", path)
    assert "[1 stand  2 swap] Enter: stand > " in kille("play", *words).out
    assert [record["seed"] for record in read_records(path)] == [3, 4]


def test_enter_decides_nothing_where_every_choice_gives_something_away(play, kille, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("\n\nq\n"))
    out = kille("play", "knack", "--seed", 3, "--seat", 1).out
    assert "Enter alone decides nothing here. Possible are knock and fold; ? is for help." in out


def test_your_name_is_in_the_records_and_nobody_else_has_it(play, tmp_path):
    path = tmp_path / "mine.jsonl"
    play("q", "--name", " Cecilia ", "--out", path)
    (record,) = read_records(path)
    theirs = [f"{name} (rule_of_thumb)" for name in ("Bertil", "Astrid", "David")]
    assert record["names"] == ["Cecilia", *theirs]


def test_a_hint_says_what_advisers_would_do_and_changes_nothing(play, tmp_path):
    path = tmp_path / "mine.jsonl"
    rules = ("--rules", "episode=deal", "--opponents", "byteskille/drunk", "--players", 2)
    rules = (*rules, "--out", path)
    plain = play("stand enough", *rules).out
    assert "rule_of_thumb" not in plain
    before = path.read_bytes()
    hinted = play("h hint stand h enough", *rules, "--advisers", "uniform,search").out
    assert path.read_bytes() == before
    assert len(re.findall(r"> +uniform +search", hinted)) == 2
    assert len(re.findall(r"^  1 stand +33% ", hinted, re.MULTILINE)) == 2
    assert "There is nothing to decide at the table." in hinted
    always = play("stand enough", *rules, "--hint").out
    assert path.read_bytes() == before
    assert re.search(
        r"^ +byteskille/solved +rule_of_thumb +units on average\n", always, re.MULTILINE
    )


def test_nothing_to_take_back(play):
    assert "There is nothing to take back." in play("undo q").out


def test_another_match_has_the_next_seed(play, tmp_path):
    path = tmp_path / "mine.jsonl"
    play("stand again stand undo stand enough", "--rules", "episode=deal", "--out", path)
    assert [record["seed"] for record in read_records(path)] == [3, 4]


def test_cards_of_others_stay_hidden_until_the_showdown(play):
    out = play("q", "--seat", 0).out
    table = re.compile("  (Bertil|Cecilia|David) ")
    shown = [line.split(maxsplit=1) for line in out.splitlines() if table.match(line)]
    assert len(shown) == 3
    # The forehand of this hand has taken seat 0's kille, which lies open.
    assert all(words[1].startswith("?") or "open" in words[1] for words in shown)
    assert sum(words[1].startswith("?") for words in shown) == 2


def test_the_conversation_moves_to_standard_error_with_json(play):
    printed = play("stand enough", "--rules", "episode=deal", "--json")
    told = json.loads(printed.out)
    assert (told["game"], told["seat"], len(told["matches"])) == ("byteskille", 0, 1)
    assert sum(told["matches"][0]["returns"]) == pytest.approx(0)
    assert "You stand." in printed.err


def test_every_opponent_can_be_named(play):
    out = play("q", "--players", 3, "--opponents", "uniform,rule_of_thumb", "--seat", 1).out
    assert "With you: Astrid (uniform), Cecilia (rule_of_thumb)." in out


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def shown_at_once(monkeypatch):
    monkeypatch.setattr(console, "SECONDS_BEFORE_SIGN", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_sign_that_somebody_thinks_is_shown_on_a_terminal_and_cleared(shown_at_once):
    file, sign = Terminal(), "Bertil is thinking"
    with console.waiting(sign, file):
        while sign not in file.getvalue():
            time.sleep(0.001)
    erased = "\r\x1b[1A\x1b[2K"  # up to the line of the sign, and erased
    assert file.getvalue().endswith(erased)
    assert file.getvalue().count("\x1b[?25h") == 1  # the cursor is back


def test_no_sign_is_shown_to_a_file_or_when_it_is_quick(shown_at_once, monkeypatch):
    file = io.StringIO()
    with console.waiting("Bertil is thinking", file):
        time.sleep(0.01)
    monkeypatch.setattr(console, "SECONDS_BEFORE_SIGN", 60.0)
    quick = Terminal()
    with console.waiting("Bertil is thinking", quick):
        pass
    assert (file.getvalue(), quick.getvalue()) == ("", "")


def test_who_is_asked_in_secret_is_not_told_to_be_thinking(monkeypatch, play):
    signs = []
    monkeypatch.setattr(console, "waiting", lambda sign, file: signs.append(sign) or nullcontext())
    shown = set()

    def think(self):
        view = self.batch.game.view(self.batch.tables[0], self.batch.rules, 0)
        shown.add((self.seat, view.turn))
        return plain(self)

    plain = Sitting.think
    monkeypatch.setattr(Sitting, "think", think)
    for seed in range(40, 52):
        play("stand enough", "--rules", "episode=deal", "--seed", seed)
    assert any(seat != turn for seat, turn in shown)  # a gök holder was asked
    names = {-1: "Somebody", 0: "Somebody", 1: "Bertil", 2: "Cecilia", 3: "David"}
    assert set(signs) == {f"{names[turn]} is thinking" for _, turn in shown}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seat", 4], "your seat is 4, expected one from 0 to 3"),
        (["--opponents", "uniform,uniform"], "names 2 players for 3 seats"),
        (["--opponents", "nobody"], "there is no player 'nobody'"),
        (["--rules", "stake=3"], "even whole number"),
        (["--name", "a\x1b[31m"], "1 to 30 characters that can be printed"),
        (["--out", "/nowhere/x.jsonl"], "the folder /nowhere does not exist; make it"),
        (["--advisers", "nobody"], "there is no player 'nobody'"),
    ],
)
def test_an_impossible_table_is_refused(words, message, refused):
    assert message in refused("play", "byteskille", *words)
