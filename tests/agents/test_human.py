import io

import pytest

from kille_agents.human import COMMANDS, HELP, QUIT, UNDO, HasQuit, Human, understand

CHOICES = ["stand", "swap", "ask"]


def human(*lines: str) -> Human:
    """A person who types these lines and then closes the input."""
    typed = iter(lines)

    def read() -> str:
        try:
            return next(typed) + "\n"
        except StopIteration:
            raise EOFError from None

    return Human(read, io.StringIO())


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("stand", "stand"),
        (" SWAP \n", "swap"),
        ("sw", "swap"),
        ("a", "ask"),
        ("2", "swap"),
        ("s", None),  # stand or swap
        ("4", None),
        ("0", None),
        ("", None),
        ("stands", None),
        ("?", HELP),
        ("h", HELP),
        ("u", UNDO),
        ("undo", UNDO),
        ("q", QUIT),
    ],
)
def test_a_line_is_the_word_its_beginning_or_its_number(line, word):
    assert understand(line, CHOICES) == word


def test_an_action_that_is_spelled_like_a_command_is_the_action():
    assert understand("undo", ["undo"]) == "undo"


def test_a_mistyped_line_is_asked_for_again():
    player = human("stnad", "", "st")
    assert player.choose("Your turn.", CHOICES, {}) == "stand"
    text = player._out.getvalue()
    assert "'stnad' is not understood. ? is for help." in text
    assert text.count("Your turn. [1 stand  2 swap  3 ask] > ") == 3


def test_help_says_what_every_word_means():
    player = human("?", "1")
    assert player.choose("", CHOICES, {"swap": "give your card away"}) == "stand"
    text = player._out.getvalue()
    assert "2  swap     give your card away" in text
    assert all(meaning in text for meaning in COMMANDS.values())


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("discard", "discard"),
        ("l3 ki", "discard L3 KI"),
        ("KI L3", "discard L3 KI"),  # cards have no order
        ("discard ki l3", "discard L3 KI"),
        ("l3", "discard L3"),
        ("l3 l3", "discard L3 L3"),
        ("ki", None),  # never alone here
        ("discard l", None),
    ],
)
def test_cards_alone_are_understood_in_any_order(line, word):
    choices = ["discard", "discard L3", "discard L3 L3", "discard L3 KI"]
    assert understand(line, choices) == word


def test_long_lines_are_broken_between_words(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    player = human()
    player.say("whoever can must head the highest card of the trick\n  a line\n  " + "word " * 10)
    assert player._out.getvalue().splitlines() == [
        "whoever can must head the highest card",
        "  of the trick",
        "  a line",
        "  word word word word word word word",
        "    word word word",
    ]


def test_taking_back_is_left_to_the_table():
    assert human("u").choose("", CHOICES, {}) == UNDO


@pytest.mark.parametrize("lines", [("q",), ("quit",), ("xx",), ()])
def test_leaving(lines):
    with pytest.raises(HasQuit):
        human(*lines).choose("", CHOICES, {})


def test_standard_input_and_output(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("swap\n"))
    player = Human()
    assert player.choose("?", CHOICES, {}) == "swap"
    with pytest.raises(HasQuit):
        player.choose("?", CHOICES, {})
    assert capsys.readouterr().out.count("[1 stand") == 2
