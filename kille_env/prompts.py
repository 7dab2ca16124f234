"""What a language model is told at a table, and how its answer is read.

A prompt is plain text: the rules once (`rules_prompt`), then for each decision what the seat sees
and its legal actions, numbered from 1 (`decision_prompt`). An answer is read leniently
(`read_answer`), but never guessed: one that names nothing legal, or several actions, is None. What
None costs is up to who asks, and stands in docs/language_models.md.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.pack import Pack
from kille_env.core.spec import Rules
from kille_env.core.text import plain_letters
from kille_env.registry import describe_rules

HOW_TO_ANSWER = (
    "At each of your turns you are told what you see and which actions are legal, numbered from 1. "
    "Think if you like; then end with a line that holds the number or the text of one of these "
    "actions, such as:\nAnswer: 1"
)


def rules_prompt(
    game: str, rules: Rules | Mapping[str, Any] | str | None = None, num_players: int | None = None
) -> str:
    """Returns the rules of a game as they hold at a table, and how answers are to be given.

    Args:
        game: The game.
        rules: Name of a preset, mapping of switches, or resolved rules; None is the default.
        num_players: P, seats of the table; None is the game's default.
    """
    return f"{describe_rules(game, rules, num_players)}\n\n{HOW_TO_ANSWER}"


def decision_prompt(batch: Batch, table: int = 0, seat: int | None = None) -> str:
    """Returns what a seat sees, and its legal actions, numbered from 1.

    Args:
        batch: The tables.
        table: Which of them.
        seat: Who looks; None is the seat to act. A seat that is not to act, as far as it knows,
            gets no actions: that another seat is asked in secret first does not show.
    """
    seat = int(batch.seat[table]) if seat is None else seat
    seen = batch.describe(table, seat)
    mask = batch.legal_actions(seat)[table]
    if not mask.any():
        return f"{seen}\n\nYou have nothing to decide now."
    texts = [batch.action_text(action, table) for action in np.flatnonzero(mask).tolist()]
    return f"{seen}\n\nYour legal actions:\n{numbered(texts)}"


def numbered(texts: Sequence[str]) -> str:
    """Returns legal actions as a list that is numbered from 1, as `read_answer` reads it."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


# Reading an answer


def read_answer(answer: str, legal: Sequence[str], pack: Pack | None = None) -> int | None:
    """Returns which legal action an answer names.

    Numbers count from 1, as in the prompt. Texts are found whatever their case, quotes or Markdown:
    in JSON, after "Answer:", on a line of their own, in "I choose ...", in the last line, or
    anywhere. What is declared goes before what is only mentioned, and the last declaration counts.

    Args:
        answer: What the model has written.
        legal: The texts of the legal actions, `Batch.legal_texts`.
        pack: The cards, `spec.pack`, whose names are then read as well as their codes.

    Returns:
        An index into `legal`; None if the answer names nothing legal, or more than one action.
    """
    reader = _Reader(legal, pack)
    for part, binding in _parts(_THOUGHTS.sub("", answer).rpartition("</think>")[2]):
        named = reader.named(part, declared=binding is not None)
        if named or binding:
            return named.pop() if len(named) == 1 and min(named) >= 0 else None
    return None


_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)  # may be cut off
_KEY = r"(?:final[_ ]?)?(?:answer|action|move|choice|decision|play)(?:[_ ](?:text|number))?"
_JSON = re.compile(rf"""["']{_KEY}["']\s*:\s*(?:"([^"]*)"|'([^']*)'|(\d+))""", re.IGNORECASE)
_TAGGED = re.compile(
    r"<(?:answer|action|move)>(.*?)</|\\boxed\{(?:\\text\{)?([^{}]*)\}", re.IGNORECASE | re.DOTALL
)
_BRACKETED = re.compile(r"\[([^\[\]\n]{1,40})\]")
_MARKED = re.compile(
    r"\b(?:answer|action|move|choice|decision)[*_`]*\s*(?:(?:is|would be|will be)\b\s*:?|:|=)"
    r"[*_`\s]*([^\n]+)",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\b(?:I|we|let's|let me)(?:\s*['’](?:ll|d|m)|\s+(?:will|would|shall|am|should))?"
    r"(?:\s+(?:now|therefore|thus|so|going))*"
    r"(?:\s+(?:choose|chose|pick|select|decide|opt|go with|go for|take|say))?\b([^\n.;!?]+)"
)


def _parts(answer: str) -> Iterator[tuple[str, bool | None]]:
    """Yields what may hold the choice, the most binding first.

    With each part, whether the search ends with it even if it names no legal action; None for a
    part that declares nothing, so that a bare number in it says little.
    """
    for pattern in (_JSON, _TAGGED, _MARKED):
        if found := list(pattern.finditer(answer)):
            yield next(filter(None, found[-1].groups()), ""), True
            return
    bracketed = set(_BRACKETED.findall(answer))
    if len(bracketed) == 1:  # as TextArena's games want it; several may be a list
        yield bracketed.pop(), False
    lines = [line for line in answer.splitlines() if re.search(r"\w", line)]
    short = [len(line.split()) <= MOST_WORDS for line in lines]
    if lines and short[-1]:
        yield lines[-1], False
    yield from ((match[1], False) for match in reversed(list(_CHOSEN.finditer(answer))))
    if sum(short) == 1 and short[0]:  # not the first of a list
        yield lines[0], False
    yield from ((text, None) for text in (*lines[-1:], answer))


class _Reader:
    """Finds legal actions in a piece of an answer."""

    def __init__(self, legal: Sequence[str], pack: Pack | None) -> None:
        self._legal = list(legal)
        self._names = _names(pack) if pack else {}
        self._texts = [_tokens(text, {}) for text in legal]
        self._lower = [_lower(tokens) for tokens in self._texts]
        self._verbs = {tokens[0] for tokens in self._lower if len(tokens) > 1}

    def named(self, part: str, declared: bool) -> set[int]:
        """Returns indices of the actions that a part names; -1 stands for one that is not legal."""
        if part.strip() in self._legal:
            return {self._legal.index(part.strip())}
        tokens = _tokens(part, self._names)
        found = self._number(tokens) if declared else self._numbers_in(part)
        found |= self._full_texts(_lower(tokens), tokens)
        return found or self._cards_alone(tokens, declared)

    def _number(self, tokens: list[str]) -> set[int]:
        """Reads the number that a declaration begins with: "2", "#2.", "option 2: swap"."""
        head = tokens[0] if tokens else ""
        after = tokens[1:2]
        if not head.isdecimal() or head in self._legal:
            return set()
        known = {tokens[0] for tokens in self._lower}
        if after and after[0].isalpha() and after[0].lower() not in _AFTER_NUMBERS | known:
            return set()
        return {self._index(head)}

    def _numbers_in(self, part: str) -> set[int]:
        return {self._index(number) for number in _NUMBERED.findall(part)}

    def _index(self, number: str) -> int:
        few = number if len(number) <= MOST_DIGITS else "0"  # a model may repeat one without end
        return int(few) - 1 if 0 < int(few) <= len(self._legal) else -1

    def _full_texts(self, lower: list[str], tokens: list[str]) -> set[int]:
        """Finds whole texts, unless they are negated or name another card than a legal one."""
        found, at = set(), 0
        while at < len(lower):
            fits = [i for i, t in enumerate(self._lower) if lower[at : at + len(t)] == t]
            which = max(fits, key=lambda i: len(self._lower[i]), default=-1)
            end = at + (len(self._lower[which]) if which >= 0 else 1)
            takes_cards = lower[at] in self._verbs and end < len(tokens) and _is_code(tokens[end])
            if (which >= 0 or takes_cards) and not _negated(lower[:at]):
                found.add(-1 if takes_cards else which)
            at = end
        return found

    def _cards_alone(self, tokens: list[str], declared: bool) -> set[int]:
        """Finds cards without their verb, "L3" for "play L3", where only one action has them."""
        arguments = [tuple(t[1:]) for t in self._lower]
        only = len(tokens) == 1
        found = set()
        for run in _runs_of_codes(tokens, only):
            fits = [i for i, cards in enumerate(arguments) if cards == run]
            found.add(fits[0] if len(fits) == 1 else -1)
            if declared:  # what follows the first card gives reasons
                break
        return found if declared else found - {-1}


MOST_WORDS = 4
MOST_DIGITS = 9
_AFTER_NUMBERS = {"because", "since", "as", "for", "which", "i", "so"}
_NEGATORS = {"not", "never", "cannot", "instead", "rather", "than", "over"} | {
    word.replace("'", "") for word in ("can't", "don't", "won't", "wouldn't")
}
_FILLERS = {
    *(
        "a",
        "an",
        "and",
        "action",
        "by",
        "card",
        "cards",
        "choice",
        "is",
        "it",
        "just",
        "move",
        "my",
    ),
    *("now", "number", "of", "option", "the", "then", "to", "with"),
}
_NUMBERED = re.compile(r"(?:\b(?:option|number|action|choice|move)\s*|#)(\d+)\b", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z]\d{1,2}|\d[A-Za-z]|[A-Z]{2}")
_PLAYING_CARD = re.compile(
    r"\b(10|[6-9TJQKA])\s*(?:of\s+)?(clubs?|diamonds?|hearts?|spades?|[♣♦♥♠]|(?<=10)[CDHS])",
    re.IGNORECASE,
)
_SUITS = dict(zip("♣♦♥♠", "CDHS", strict=True))


def _tokens(text: str, names: Mapping[str, str]) -> list[str]:
    """Splits a text into words, numbers and signs; cards that stand together are sorted."""
    plain = re.sub("['’`*_]", "", plain_letters(text))
    for name, code in names.items():
        plain = re.sub(rf"\b{name}\b", code, plain, flags=re.IGNORECASE)
    plain = _PLAYING_CARD.sub(_code_of, plain)
    words = re.findall(r"\w+|[.,;!?\n]", plain)
    kept = [word for word in words if word.lower() not in _FILLERS] or words
    return _sorted_codes([w for n, w in enumerate(kept) if w != "," or not _between(kept, n)])


def _code_of(card: re.Match[str]) -> str:
    suit = _SUITS.get(card[2], card[2][0].upper())
    return ("T" if card[1] == "10" else card[1].upper()) + suit


def _between(words: list[str], n: int) -> bool:
    return 0 < n < len(words) - 1 and _is_code(words[n - 1]) and _is_code(words[n + 1])


def _sorted_codes(words: list[str]) -> list[str]:
    runs = groupby(words, _is_code)
    return [w for codes, run in runs for w in (sorted(run, key=str.lower) if codes else run)]


def _runs_of_codes(words: list[str], any_case: bool) -> list[tuple[str, ...]]:
    runs = groupby(words, lambda word: any_case or _is_code(word))
    return [tuple(_lower(run)) for codes, run in runs if codes]


def _is_code(word: str) -> bool:
    """Returns whether a word looks like a card: L3, 6C, KI, but not "go" or "as"."""
    return _CODE.fullmatch(word) is not None


def _negated(before: list[str]) -> bool:
    """Returns whether the last words before an action say that it is not meant."""
    return not _NEGATORS.isdisjoint(before[-2:])


def _lower(words: Iterable[str]) -> list[str]:
    return [word.lower() for word in words]


def _names(pack: Pack) -> dict[str, str]:
    """Returns the code of each card by its name in ASCII, longer names first."""
    names = dict(zip(map(plain_letters, pack.names), pack.codes, strict=True))
    return dict(sorted(names.items(), key=lambda item: -len(item[0])))
