"""What a language model is told, and how its answer is read."""

import pytest

import kille_env
from kille_env.cards.pack import KILLE_PACK
from kille_env.games.knack.table import KNACK_PACK
from kille_env.prompts import decision_prompt, numbered, read_answer, rules_prompt

TWO = ("stand", "swap")
GOK = ("stand", "swap", "call")
CARDS = ("play L3", "play L12", "play KI", "play GO")
DISCARDS = ("discard", "discard L3", "discard L5", "discard L3 L5", "discard HU L12")
SUITS = ("play 6C", "play TS", "play AS")
COVERED = ("play *6C", "play *TS")
WORDS = ("knock", "check", "fold")

READ = [
    # Numbers
    (TWO, "2", "swap"),
    (TWO, " 2. ", "swap"),
    (TWO, "#2", "swap"),
    (TWO, "(2)", "swap"),
    (TWO, "[2]", "swap"),
    (TWO, "**2**", "swap"),
    (TWO, "Option 2", "swap"),
    (TWO, "2. swap", "swap"),
    (TWO, "2) swap", "swap"),
    (TWO, "Answer: 1", "stand"),
    (TWO, "Answer: 2 because my card is low", "swap"),
    (TWO, "My card is low, so option 2 looks best here, I think, all things considered", "swap"),
    (TWO, "There are 3 players and 2 of them stood.\nAnswer: 1", "stand"),
    (TWO, "3", None),
    (TWO, "0", None),
    (TWO, "-7000000000000000000000", None),
    (TWO, "Answer: 9", None),
    (TWO, "2. stand", None),
    (TWO, "There are 2 players left in this deal and one of them has a gok", None),
    # Texts
    (TWO, "swap", "swap"),
    (TWO, "SWAP!", "swap"),
    (TWO, '"Swap"', "swap"),
    (TWO, "“swap”", "swap"),
    (TWO, "`swap`.", "swap"),
    (TWO, "**Swap**", "swap"),
    (TWO, "*swap*", "swap"),
    (TWO, "[swap]", "swap"),
    (
        TWO,
        "To stand would be to lose for certain, so this is what I do: [swap]",
        "swap",
    ),
    (TWO, "I know two ways, [stand] and also [swap], but not which of them is the better", None),
    (TWO, "I swap.", "swap"),
    (TWO, "I choose to swap.", "swap"),
    (TWO, "I'll stand.", "stand"),
    (TWO, "I’ll go with stand, since swapping is risky.", "stand"),
    (TWO, "I will not swap. I stand.", "stand"),
    (TWO, "I choose to stand rather than swap.", "stand"),
    (TWO, "I would swap instead of stand", "swap"),
    (TWO, "Let me think. Should I stand or swap? My card is high. I stand.", "stand"),
    (TWO, "I could swap.\nI could stand.\nFinal answer: stand", "stand"),
    (TWO, "Action: swap\nWait, no.\nAction: stand", "stand"),
    (TWO, "**Action:** swap", "swap"),
    (TWO, "**Answer: swap**", "swap"),
    (TWO, "Answer:\nswap", "swap"),
    (TWO, "My answer is swap", "swap"),
    (TWO, "The best move is: stand.", "stand"),
    (TWO, "My card is low.\n\nswap", "swap"),
    (TWO, "swap\n\nMy card is low, and to stand with it would mean to lose the stake.", "swap"),
    (TWO, "A low card. It is best to swap here, as whoever has the lowest pays.", "swap"),
    (TWO, "<think>I could stand or swap.</think>stand", "stand"),
    (TWO, "Should I stand? Or swap?</think>\n\nswap", "swap"),
    (TWO, "<think>I could stand. No, I swap.", None),
    (TWO, "Answer: " + "1" * 5_000, None),
    (TWO, "option " + "2" * 5_000, None),
    (TWO, "<answer>stand</answer>", "stand"),
    (TWO, r"so the answer is \boxed{swap}", "swap"),
    (TWO, r"\boxed{\text{2}}", "swap"),
    (TWO, "", None),
    (TWO, "???", None),
    (TWO, "I do not know.", None),
    (TWO, "fold", None),
    (TWO, "Answer: fold", None),
    (TWO, "stand or swap", None),
    (TWO, "Answer: stand or swap", None),
    (TWO, "I will not swap.", None),
    (TWO, "To swap is one way. To stand is another way. Both have their merits here.", None),
    (TWO, "1. stand\n2. swap\nBoth of these actions are legal, but neither looks good.", None),
    (TWO, "Answer: call", None),
    (GOK, "I call with the gök.", "call"),
    (GOK, "call", "call"),
    (WORDS, "My hand is weak, so I check.", "check"),
    (WORDS, "KNOCK", "knock"),
    # JSON
    (TWO, '{"action": "swap"}', "swap"),
    (TWO, '{"action": 2}', "swap"),
    (TWO, '```json\n{"thought": "stand or swap", "action": "stand"}\n```', "stand"),
    (TWO, "{'move': 'Swap'}", "swap"),
    (TWO, '{"answer": "2"}', "swap"),
    (TWO, '{"action": "fold"}', None),
    (TWO, '{"action": null}', None),
    (TWO, '{"reason": "low card", "action": "swap"', "swap"),
    # Cards
    (CARDS, "play L3", "play L3"),
    (CARDS, "Play l3", "play L3"),
    (CARDS, "L3", "play L3"),
    (CARDS, "l12", "play L12"),
    (CARDS, "ki", "play KI"),
    (CARDS, "go", "play GO"),
    (CARDS, "lilja 12", "play L12"),
    (CARDS, "I play the kille.", "play KI"),
    (CARDS, "I play the gök", "play GO"),
    (CARDS, "Answer: play gok", "play GO"),
    (CARDS, "I'll go with L3, since L12 may be needed later.", "play L3"),
    (CARDS, "I lead my L12 because HU has gone.", "play L12"),
    (CARDS, "play L4", None),
    (CARDS, "L4", None),
    (CARDS, "Answer: L1", None),
    (CARDS, "play", None),
    (DISCARDS, "discard", "discard"),
    (DISCARDS, "discard nothing", "discard"),
    (DISCARDS, "discard L5 L3", "discard L3 L5"),
    (DISCARDS, "Discard L3 and L5.", "discard L3 L5"),
    (DISCARDS, "discard l3, l5", "discard L3 L5"),
    (DISCARDS, "discard L12 and HU", "discard HU L12"),
    (DISCARDS, "discard L3", "discard L3"),
    (DISCARDS, "discard L9", None),
    (DISCARDS, "Answer: 4", "discard L3 L5"),
    (SUITS, "play 6c", "play 6C"),
    (SUITS, "6♣", "play 6C"),
    (SUITS, "six of clubs", "play 6C"),
    (SUITS, "I play the 10 of spades", "play TS"),
    (SUITS, "10S", "play TS"),
    (SUITS, "A♠", "play AS"),
    (SUITS, "As I said, the ten of spades", "play TS"),
    (COVERED, "play *6C", "play *6C"),
    (COVERED, "**play 6C**", "play *6C"),
    (COVERED, "Answer: *TS", "play *TS"),
]


@pytest.mark.parametrize(("legal", "answer", "meant"), READ)
def test_an_answer_is_read(legal: tuple[str, ...], answer: str, meant: str | None) -> None:
    pack = KNACK_PACK if legal in (SUITS, COVERED) else KILLE_PACK
    index = read_answer(answer, legal, pack)
    assert (None if index is None else legal[index]) == meant


@pytest.mark.parametrize("game", kille_env.list_games())
@pytest.mark.compiled
def test_numbers_and_texts_of_a_prompt_are_read_back(game: str) -> None:
    """Each legal action of many positions, in the ways that the prompt asks for."""
    batch = kille_env.make_batch(game, 64, seed=3, restart=False)
    batch.reset()
    pack = batch.spec.pack
    for _ in range(20):
        for table in range(0, 64, 8):
            if batch.seat[table] < 0:
                continue
            legal = batch.legal_texts(table)
            for index, text in enumerate(legal):
                assert read_answer(text, legal) == index
                for answer in (f"Answer: {index + 1}", f"{index + 1}. {text}", f"I {text}."):
                    assert read_answer(answer, legal, pack) == index, (answer, legal)
        batch.step(batch.mask.argmax(axis=1))


@pytest.mark.compiled
def test_a_prompt_has_what_the_seat_sees_and_its_actions() -> None:
    batch = kille_env.make_batch("byteskille", 2, 3, episode="deal", seed=1)
    batch.reset(deck=["L1", "L2", "KI"], dealer=2)
    prompt = decision_prompt(batch, 1)
    assert "seat 0 (you)" in prompt
    assert "lilja 1" in prompt
    assert "lilja 2" not in prompt
    assert prompt.endswith(numbered(batch.legal_texts(1)))
    other = decision_prompt(batch, 1, seat=2)
    assert "kille" in other.splitlines()[3]
    assert other.endswith("You have nothing to decide now.")


def test_the_rules_prompt_says_how_to_answer() -> None:
    prompt = rules_prompt("byteskille", {"episode": "deal"}, 3)
    assert prompt.startswith(kille_env.describe_rules("byteskille", num_players=3, episode="deal"))
    example = prompt.splitlines()[-1]
    assert read_answer(example, TWO) == 0


def test_a_prompt_does_not_tell_that_another_seat_is_asked_in_secret():
    def prompt(hands: str) -> tuple[int, str]:
        batch = kille_env.make_batch("byteskille", 1, 4, episode="deal")
        batch.reset(deck=hands.split(), dealer=3)
        return int(batch.seat[0]), decision_prompt(batch, seat=0)

    asked, hidden = prompt("L5 L6 GO L8")
    assert asked == 2
    assert prompt("L5 L6 L7 L8") == (0, hidden)
    assert "Your legal actions:\n1. stand" in hidden
