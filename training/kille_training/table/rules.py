"""The rules of a table for a person: a summary, the ranking of cards, and the full rules."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kille_env.core.game import Game
from kille_env.core.pack import Pack
from kille_env.core.spec import Rules
from kille_env.words.manual import is_single
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
        "Play tricks down to one card, then claim that yours is the lowest, or say nothing.",
        "Points are bad.",
        "With too many you are out; the last one in wins.",
    ),
    "knack": (
        "Look at three cards and the trumps: knock if you can win a trick.",
        "The dealer pays for each trick.",
        "If you knock and take no trick, you pay.",
    ),
    "femkortskille": (
        "Look at your first cards: knock, or fold.",
        "Knockers draw more cards and play tricks.",
        "The last trick takes the pot, and the losers pay as much again.",
    ),
}
"""Each game in three sentences; the first is its summary."""
_SINGLE = {
    "byteskille": ("The lowest card is out and pays.", "The players still in share the payment."),
    "krypkille": ("Points are bad.", "They are what you lose."),
}
"""The sentences after the first for a single deal."""
BUTTONS = {
    "stand": "Keep", "swap": "Swap", "call": "Show the cuckoo", "wait": "Keep it hidden",
    "ask": "Ask for better cards", "yes": "Deal again", "no": "Play on",
    "defer": "Let the third decide", "buy": "Buy back in", "decline": "Stay out",
    "bud": "Pass", "knock": "Knock", "stay": "Stay in", "fold": "Fold", "check": "Wait",
    "discard": "Change", "play": "Play, lead", "show": "Show", "declare": "My card is the lowest",
    "pass": "Say nothing",
}  # fmt: skip
"""Labels of the buttons, by the word of an action in records."""
_ABOUT_CODES = re.compile(r"with code|A number alone|A code is|^Ranks, from|^Suits: |\bseat \d")
"""Lines of the manual about codes and numbers of seats."""
_WORDS = {"talon": "stock", "chopped": "struck", "chops": "strikes", "chop": "strike"}
_WORDS |= {"gok": "cuckoo", "kille": "harlequin", "husar": "hussar", "svin": "pig", "lilja": "card"}


def rules_for(game: Game, rules: Rules, num_players: int) -> dict[str, Any]:
    """Return the rules of a table for a page or a terminal.

    Keys: "sentences"; "ranking", codes of cards from the lowest up, of one suit if there are suits;
    "order", the ranking as text; "unplaced", whether some cards have no place in it; "powers" of
    cards, by code; "buttons", meanings of choices, by action word; "sections", titles with lines:
    the manual without numbers of seats and codes.
    """
    pack = game.spec.pack
    words = _words(pack)
    sections, unplaced, powers = [], {}, {}
    text = game.describe_rules(rules, num_players)
    meanings = dict(re.findall(r'^- "(\w+)": (.*)\.$', text, re.MULTILINE))
    for part in text.split("\n\n")[1:]:
        title, *lines = part.split("\n")
        lines = [line.removeprefix("- ") for line in lines]
        lines = [line for line in lines if not _ABOUT_CODES.search(line)]
        for line in lines:
            if placeless := re.match(r"([A-Z]{2}) \w+ \(\w+\) has no fixed place", line):
                unplaced[placeless[1]] = _told(line.partition(";")[0], words) + "."
            for code, text in _powers(line):
                powers[code] = f"{powers.get(code, '')} {_told(text, words)}".strip()
        if lines and title != "Your actions:":
            sections.append([_told(title.rstrip(":"), words), [_told(one, words) for one in lines]])
    suited = all(len(code) == 2 and code[1] in "CDHS" for code in pack.codes)
    ranking = list({code[0]: code for code in pack.codes}.values() if suited else pack.codes)
    if chosen := rules.as_dict().get("pack"):
        ranking = [code for code in ranking if code in str(chosen).split("+")]
    ranking = [code for code in ranking if code not in unplaced]
    named = dict(zip(pack.codes, pack.words or pack.names, strict=True))
    order = ", ".join(named[code][:-1] if suited else named[code] for code in ranking)
    first = f"From the lowest up{', in each suit' if suited else ''}: {order}."
    return {
        "sentences": _sentences(game, rules, "buy" in meanings),
        "ranking": ranking,
        "order": " ".join([first, *unplaced.values()]),
        "unplaced": bool(unplaced),
        "powers": powers,
        "buttons": {
            verb: _button(BUTTONS.get(str(verb), str(verb)), _plain(text, words))
            for verb, text in meanings.items()
        },
        "sections": sections,
    }


def _sentences(game: Game, rules: Rules, buys: bool) -> str:
    """Return the sentences about a game that apply to a table."""
    facts = game.spec
    first, *rest = SENTENCES.get(facts.name, ("",))
    if is_single(rules):
        rest = [*_SINGLE.get(facts.name, rest)]
    text = " ".join([first, *rest])
    return text if buys else text.replace(", and may buy back in", "")


def faces(pack: Pack, told: Mapping[str, Any]) -> dict[str, str]:
    """Return the description of each card by code: both names, its rank and its power."""
    ranking, found = told["ranking"], {}
    for code, name in both_names(pack).items():
        alike = {code, code[0] + ranking[0][-1]}  # the other suits rank like the one that is shown
        rank = next((number for number, one in enumerate(ranking, 1) if one in alike), 0)
        place = f", {rank} of {len(ranking)} from the lowest" if rank else ""
        found[code] = f"{name}{place}. {told['powers'].get(code, '')}".strip()
    return found


def both_names(pack: Pack) -> dict[str, str]:
    """Return the names of each card in English and on its face, by code."""
    lines = zip(pack.codes, pack.words or pack.names, pack.names, strict=True)
    return {code: word if word == name else f"{word} ({name})" for code, word, name in lines}


def _powers(line: str) -> Iterator[tuple[str, str]]:
    """Yield the powers of cards in a line of the manual, by code."""
    head, _, text = line.partition(": ")
    if placeless := re.match(r"(?:A|Two) ([A-Z]{2}) (?:that|drawn) ", line):
        yield placeless[1], line
    elif re.fullmatch(r"[A-Z]{2}( or [A-Z]{2})*", head):
        for code in head.split(" or "):
            yield code, f"If you demand it, {text}"


def _button(label: str, text: str) -> str:
    text = text.replace(" (with a mark)", "").replace("; alone: keep all", ", or keep all")
    text = re.sub(rf"^{label}(: |, and |$)", "", text, flags=re.IGNORECASE)
    return f"{label}: {text}" if text else label


def _words(pack: Pack) -> dict[str, str]:
    """Return replacements of words of the manual, the longest first."""
    named = list(zip(pack.codes, pack.names, pack.words or pack.names, strict=True))
    words = _WORDS | {code: word for code, _, word in named}
    words |= {one: word for _, name, word in named for one in (name, plain_letters(name))}
    return dict(sorted(words.items(), key=lambda one: -len(one[0])))


def _told(line: str, words: Mapping[str, str]) -> str:
    line = _plain(line, words)
    return line[:1].upper() + line[1:]


def _plain(line: str, words: Mapping[str, str]) -> str:
    line = re.sub(r"\b[A-Z]{2} \w+ \((\w+)\)", r"The \1", line.replace("*", "mark"))
    line = re.sub(r"(?:L(\d+) \1, )+", "numbers as many as they say, ", line)
    line = re.sub(r"\b(Two|two) ([A-Z]{2})\b", r"\1 \2s", line)
    for name, word in words.items():
        line = re.sub(rf"\b{name}(s?)\b", rf"{word}\1", line)
    return re.sub(r"\b([Aa]) (?=inn\b)", r"\1n ", line.replace("stock (the stock)", "stock"))
