"""The games in text: what a language model is told, and how its answer is read."""

import re

import pytest

import kille_env
from kille_env.adapters.text import ask_again, decision_prompt, numbered, read_answer, rules_prompt

TWO = ("stand", "swap")
CARDS = ("play L3", "play *6C", "discard", "discard HU L12")

READ = [
    (TWO, "2", "swap"),
    (TWO, " **2.** \n", "swap"),
    (TWO, "swap", "swap"),
    (TWO, '"Swap."', "swap"),
    (TWO, "2. swap", "swap"),
    (TWO, "My card is low.\n\nAnswer: 2", "swap"),
    (TWO, "**Answer:** swap", "swap"),
    (TWO, "**answer: 2. Swap**", "swap"),
    (TWO, "Answer: swap\nNo, wait.\nAnswer: stand\nI am sure.", "stand"),
    (TWO, "<think>Answer: 2?</think>\nAnswer: 1", "stand"),
    (("2", "1"), "Answer: 2", "2"),  # a text before a number
    (CARDS, "Answer: play *6C", "play *6C"),
    (CARDS, "Answer: discard HU L12", "discard HU L12"),
    (CARDS, "Answer: discard", "discard"),
    (TWO, "", None),
    (TWO, "0", None),
    (TWO, "3", None),
    (TWO, "-1", None),
    (TWO, "2" * 5_000, None),
    (TWO, "2. stand", None),
    (TWO, "stand or swap", None),
    (TWO, "I swap.", None),
    (TWO, "To swap is best.\nswap", None),
    (TWO, "Answer: swap\nAnswer: perhaps", None),
    (TWO, "Answer: 2 because my card is low", None),
    (TWO, "Answer:\nswap", None),
    (TWO, "My answer: swap", None),
    (CARDS, "Answer: L3", None),
    (CARDS, "Answer: discard L12 HU", None),
]


@pytest.mark.parametrize(("legal", "answer", "meant"), READ)
def test_an_answer_is_read(legal: tuple[str, ...], answer: str, meant: str | None) -> None:
    index = read_answer(answer, legal)
    assert (None if index is None else legal[index]) == meant


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("I swap.", 'Your answer has no line "Answer: ...".'),
        ("Answer: fold", "Your answer says 'fold', not an action, in \"Answer: ...\"."),
    ],
)
def test_another_answer_is_asked_for_with_what_was_wrong(answer: str, wrong: str) -> None:
    again = ask_again(answer, TWO)
    assert again.startswith(wrong) and numbered(TWO) in again
    assert read_answer(again.splitlines()[-1], TWO) == 0


@pytest.mark.parametrize("game", kille_env.list_games())
@pytest.mark.compiled
def test_numbers_and_texts_of_a_prompt_are_read_back(game: str) -> None:
    """Each legal action of many positions, in the ways that the prompt asks for."""
    batch = kille_env.make_batch(game, 64, seed=3, restart=False)
    batch.reset()
    for _ in range(20):
        for table in range(0, 64, 8):
            if batch.seat[table] < 0:
                continue
            legal = batch.legal_texts(table)
            for index, text in enumerate(legal):
                for answer in (text, f"{index + 1}", f"{index + 1}. {text}"):
                    assert read_answer(answer, legal) == index, (answer, legal)
                    assert read_answer(f"So:\nAnswer: {answer}", legal) == index, (answer, legal)
        batch.step(batch.mask.argmax(axis=1))


@pytest.mark.compiled
def test_a_prompt_has_what_the_seat_sees_and_its_actions() -> None:
    batch = kille_env.make_batch("byteskille", 2, 3, episode="deal", seed=1)
    batch.reset(deck=["L1", "L2", "KI"], dealer=2)
    prompt = decision_prompt(batch, 1)
    assert re.search(r"^  seat 0 \(you\)  1$", prompt, re.MULTILINE)
    assert re.search(r"^  seat 1 +\?$", prompt, re.MULTILINE)
    assert re.search(r"^  seat 2 +\?$", prompt, re.MULTILINE)
    assert prompt.endswith(numbered(batch.legal_texts(1)))
    other = decision_prompt(batch, 1, seat=2)
    assert "harlequin" in other.splitlines()[3]
    assert other.endswith("You have nothing to decide now.")


def test_the_rules_prompt_says_how_to_answer() -> None:
    prompt = rules_prompt("byteskille", {"episode": "deal"}, 3)
    assert prompt.startswith(
        kille_env.registry.describe_rules("byteskille", num_players=3, episode="deal")
    )
    assert read_answer(prompt.splitlines()[-1], TWO) == 0


def test_a_prompt_does_not_tell_that_another_seat_is_asked_in_secret() -> None:
    def prompt(hands: str) -> tuple[int, str]:
        batch = kille_env.make_batch("byteskille", 1, 4, episode="deal")
        batch.reset(deck=hands.split(), dealer=3)
        return int(batch.seat[0]), decision_prompt(batch, seat=0)

    asked, hidden = prompt("L5 L6 GO L8")
    assert asked == 2
    assert prompt("L5 L6 L7 L8") == (0, hidden)
    assert "Your legal actions:\n1. stand" in hidden
