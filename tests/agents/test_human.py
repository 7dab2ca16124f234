import io

import pytest

from kille_agents.human import COMMANDS, HELP, HINT, QUIT, UNDO, HasQuit, Human, understand

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
        ("he", HELP),
        ("h", HINT),
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
    assert "'stnad' is not understood. Possible are stand, swap and ask; ? is for help." in text
    assert "Enter alone decides nothing here." in text
    assert text.count("Your turn. [1 stand  2 swap  3 ask] > ") == 3


def test_enter_alone_makes_the_choice_that_the_question_names():
    player = human("")
    assert player.choose("Yours.", CHOICES, {}, default="stand") == "stand"
    assert player._out.getvalue() == "Yours. [1 stand  2 swap  3 ask] Enter: stand > "


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("buy", "'buy' is not possible now. Possible are stand, swap and ask; ? is for help."),
        ("s", "'s' could be stand or swap."),
        ("9", "There is no choice 9. Possible are stand, swap and ask; ? is for help."),
    ],
)
def test_a_word_that_is_not_legal_is_answered_by_what_is(line, answer):
    player = human(line, "ask")
    player.choose("", CHOICES, {}, vocabulary=[*CHOICES, "buy"])
    assert answer in player._out.getvalue()


def test_of_many_choices_an_answer_says_what_they_begin_with():
    player = human("x", "knock")
    player.choose("", ["knock", *(f"discard L{number}" for number in range(1, 10))], {})
    assert "Possible are knock and discard (9 ways); ? is for help." in player._out.getvalue()


def test_a_letter_is_a_command_where_no_choice_begins_with_it():
    assert [understand("h", ["hold"]), understand("h", ["hold", "hop"])] == ["hold", None]


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
