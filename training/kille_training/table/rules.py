"""The rules of a table for the person who plays: three sentences, the ranking, then everything."""

import re
from collections.abc import Mapping
from typing import Any

from kille_env.core.game import Game
from kille_env.core.spec import Rules
from kille_env.words.text import plain_letters

SENTENCES = {
    "byteskille": (
        "Everybody holds one card: keep it, or make your left neighbor swap.",
        "The lowest card is out, and may buy back in.",
        "The last one in takes the pot.",
    ),
    "kungsholmskille": (
        "Play tricks down to one card, and keep a low one.",
        "Show it: if it is the lowest, you take the pot.",
        "If it is not, you pay as much again.",
    ),
    "krypkille": (
        "Play tricks down to one card, then guess whose last card is the lowest.",
        "Points are bad.",
        "Who has too many is out; the last one in wins.",
    ),
    "knack": (
        "Look at three cards and the trumps: knock if you can win a trick.",
        "The dealer pays for each trick.",
        "Who knocks and takes none pays.",
    ),
    "femkortskille": (
        "Look at your first cards: knock, or fold.",
        "Knockers draw more cards and play tricks.",
        "The last trick takes the pot, and the losers pay as much again.",
    ),
}
"""Each game in three sentences; the first one alone says what it is about."""
BUTTONS = {
    "stand": "Keep", "swap": "Swap", "call": "Show the cuckoo", "wait": "Keep it hidden",
    "ask": "Ask for better cards", "yes": "Deal again", "no": "Play on",
    "defer": "Let the third decide", "buy": "Buy back in", "decline": "Stay out",
    "bud": "Pass", "knock": "Knock", "stay": "Stay in", "fold": "Fold", "check": "Wait",
    "discard": "Change", "play": "Play, lead", "show": "Show", "declare": "My card is the lowest",
    "pass": "Say nothing",
}  # fmt: skip
"""What the buttons of an action say, by its word in records."""
_CODES = re.compile(r"\b([TJQKA6-9][CDHS]|L\d+|seat \d+|BL|BP|KR|VH|KA|SV|HU|GO|KI)\b")
_WORDS = {"talon": "stock", "chopped": "struck", "chops": "strikes", "chop": "strike"}
_PLURALS = {"gok": "cuckoo", "kille": "harlequin", "husar": "hussar", "svin": "pig"}


def rules_for(game: Game, rules: Rules, num_players: int) -> dict[str, Any]:
    """Returns the rules of a table as a page or a terminal shows them.

    Returns:
        "sentences"; "ranking", codes of cards from the lowest up, those of one suit if there are
        suits; "buttons", what the choices mean, by their words in records; "sections", titles with
        lines: the manual without seat numbers and codes.
    """
    facts, pack = game.spec, game.spec.pack
    words = _words(dict(zip(map(plain_letters, pack.names), pack.words or pack.names, strict=True)))
    parts = game.describe_rules(rules, num_players).split("\n\n")
    sections = []
    for part in parts[1:]:
        title, *lines = part.split("\n")
        kept = [_told(line.removeprefix("- "), words) for line in lines if not _CODES.search(line)]
        if kept and title != "Your actions:":
            sections.append([_told(title.rstrip(":"), words), kept])
    first, *_ = [*facts.notes, ""]
    suited = all(len(code) == 2 and code[1] in "CDHS" for code in pack.codes)
    ranking = list({code[0]: code for code in pack.codes}.values() if suited else pack.codes)
    if chosen := rules.as_dict().get("pack"):
        ranking = [code for code in ranking if code in str(chosen).split("+")]
    return {
        "sentences": " ".join(SENTENCES.get(facts.name, (first,))),
        "ranking": ranking,
        "buttons": {
            verb: f"{BUTTONS.get(verb, verb)}: {_plain(text, words).replace(' (with a mark)', '')}"
            for verb, text in facts.meanings.items()
        },
        "sections": sections,
    }


def _words(cards: Mapping[str, str]) -> dict[str, str]:
    """Returns what words of the manual become: cards as sentences call them, the longest first."""
    plain = {name: word for name, word in cards.items() if " " not in name}
    return dict(sorted((plain | _WORDS | _PLURALS).items(), key=lambda one: -len(one[0])))


def _told(line: str, words: Mapping[str, str]) -> str:
    line = _plain(line, words)
    return line[:1].upper() + line[1:]


def _plain(line: str, words: Mapping[str, str]) -> str:
    line = re.sub(r"\blilja (\d+)", r"\1", plain_letters(line)).replace("*", "mark")
    for name, word in words.items():
        line = re.sub(rf"\b{name}(s?)\b", rf"{word}\1", line)
    return line
