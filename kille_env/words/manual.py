"""The rules of a game in plain English, for people and language models, from its `manual.md`.

    let tricks = hand - 1

    Krypkille is a Swedish card game. {seats} players sit at the table.

    ## Tricks
    - {tricks|trick} decide which card you keep.
    - [if seats > 2] Each trick goes around the table.
      [if must_trump] A player who has a trump must play it.

A line begins a paragraph, a section ("## ") or an item of a list ("- "), or continues one (two
blanks). `[if ...]` keeps a line where the condition holds, a section with all its lines. `{...}`
inserts a value, `{...|chip}` a number of things: "1 chip", "2 chips". Conditions and values name
`seats`, `episode`, the switches and their values, `let` lines, and facts about the pack.
"""

import re
from collections.abc import Mapping
from importlib import resources
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kille_env.words.text import counted

if TYPE_CHECKING:
    from kille_env.core.spec import GameSpec, Rules

FILE = "manual.md"
_LINE = re.compile(r"(## |- |  )?(?:\[if ([^]]+)\] ?)?(.*)")


def is_single(rules: "Rules") -> bool:
    """Return whether a single deal is played, and no match."""
    return rules["episode"] == "deal"


def describe_rules(module: ModuleType, spec: "GameSpec", rules: "Rules", num_players: int) -> str:
    """Return the rules of a table as text: the manual in a game's package, or else its switches."""
    file = resources.files(module) / FILE if hasattr(module, "__path__") else None
    if file is None or not file.is_file():
        return describe_switches(spec, rules, num_players)
    return render(file.read_text(encoding="utf-8"), _values(spec, rules, num_players))


def render(text: str, values: Mapping[str, Any]) -> str:
    """Return a manual for some values; `kille_env.words.manual` says how it is written."""
    names, sections, kept, on = dict(values), [list[str]()], True, True
    for line in text.splitlines():
        if line.startswith("let "):
            name, _, term = line.removeprefix("let ").partition(" = ")
            names[name] = _value(term, names)
            continue
        lead, condition, words = _LINE.fullmatch(line).groups()  # type: ignore[union-attr]
        holds = condition is None or bool(_value(condition, names))
        if lead == "## ":
            kept = holds
            sections += [[f"{words}:"]] if holds else []
        elif words and lead != "  ":
            on = kept and holds
            sections[-1] += [f"{lead or ''}{_insert(words, names)}"] if on else []
        elif words and on and holds:
            sections[-1][-1] += f" {_insert(words, names)}"
    return "\n\n".join("\n".join(lines) for lines in sections if not lines[-1].endswith(":"))


def _value(term: str, names: Mapping[str, Any]) -> Any:
    # The terms are a game's own, as its code is; "=" compares, because nothing is assigned.
    return eval(re.sub(r"(?<![<>!])=", "==", term), {"__builtins__": {}}, dict(names))


def _insert(words: str, names: Mapping[str, Any]) -> str:
    """Return words with their values in place."""

    def text(match: re.Match[str]) -> str:
        term, _, noun = match[1].partition("|")
        value = _value(term, names)
        if isinstance(value, float):
            if not value.is_integer():
                return f"{value:.2f} {noun}s" if noun else f"{value:.2f}"
            value = int(value)
        return counted(value, noun, f"{noun}s") if noun else str(value)

    return re.sub(r"\{([^}]+)\}", text, words)


def _values(spec: "GameSpec", rules: "Rules", num_players: int) -> dict[str, Any]:
    """Return the names that conditions and values can use."""
    pack, left_out = spec.pack, spec.left_out(rules)
    kinds = [c // pack.copies for c in range(0, pack.size, pack.copies) if c not in left_out]
    ranking = [
        f"{pack.codes[kind]} {pack.names[kind]}"
        + ("" if (word := pack.word(kind * pack.copies)) in pack.names[kind] else f" ({word})")
        for kind in kinds
    ]
    own = {value: value for switch in spec.switches for value in switch.values}
    return {
        **{value: value for value in own if isinstance(value, str)},
        **{"deal": "deal", "match": "match", "min": min},
        **rules.as_dict(),
        "seats": num_players,
        "cards": [pack.codes[kind] for kind in kinds],
        "num_cards": pack.copies * len(kinds),
        "num_types": len(kinds),
        "ranking": ", ".join(ranking),
    }


def describe_switches(spec: "GameSpec", rules: "Rules", num_players: int) -> str:
    """Return the facts about a game without a manual: its actions and its switches."""
    verbs = dict.fromkeys(action.partition(" ")[0] for action in spec.actions)
    switches = {"episode": "a whole match, or one deal"}
    switches |= {switch.name: switch.meaning for switch in spec.switches}
    actions = (f'- "{verb}".' for verb in verbs)
    lines = (f"- {name}: {rules[name]} ({text})." for name, text in switches.items())
    return "\n".join(
        [f"{spec.title}. {num_players} players sit at the table.", "", "Your actions:", *actions,
         "", "Rules:", *lines]
    )  # fmt: skip
