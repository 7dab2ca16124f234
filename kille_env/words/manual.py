"""The parts of a manual: the rules of a game in plain English, for people and language models."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kille_env.core.spec import GameSpec, Rules


def section(title: str, lines: Iterable[str]) -> str:
    """Returns a heading and a list below it, without the lines that are empty."""
    return "\n".join([f"{title}:", *(f"- {line}" for line in lines if line)])


def manual(*parts: str) -> str:
    """Returns the parts of a manual one below the other, without those that are empty."""
    return "\n\n".join(part for part in parts if part)


def explain_actions(meanings: Mapping[str, str]) -> str:
    """Returns the section that says what each action means, by the first word of its text."""
    return section("Your actions", (f'"{word}": {text}.' for word, text in meanings.items()))


def seats_at(num_players: int) -> str:
    """Returns who sits where, and in which direction play goes."""
    last = num_players - 1
    return (
        f"{num_players} players sit at the table, seat 0 to seat {last}. Play goes clockwise, to "
        f"the left: seat 1 sits to the left of seat 0, and seat 0 to the left of seat {last}."
    )


def is_single(rules: "Rules") -> bool:
    """Returns whether a single deal is played, and no match."""
    return rules["episode"] == "deal"


def describe_by_facts(spec: "GameSpec", rules: "Rules", num_players: int) -> str:
    """Returns what a spec says of the rules, for games that have no manual of their own."""
    verbs = dict.fromkeys(action.partition(" ")[0] for action in spec.actions)
    meanings = {word: spec.meanings.get(word, "see the rules") for word in verbs}
    switches = {"episode": "a whole match, or one deal"}
    switches |= {switch.name: switch.meaning for switch in spec.switches}
    return manual(
        f"{spec.title}. {seats_at(num_players)}",
        "\n".join(spec.notes),
        explain_actions(meanings),
        section("Rules", (f"{name}: {rules[name]} ({text})" for name, text in switches.items())),
    )
