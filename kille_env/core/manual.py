"""The parts of a manual: the rules of a game in plain English, for people and language models."""

from collections.abc import Iterable, Mapping

from kille_env.core.spec import GameSpec, Rules


def section(title: str, lines: Iterable[str]) -> str:
    """Returns a heading and a list below it; lines that are empty are left out."""
    return "\n".join([f"{title}:", *(f"- {line}" for line in lines if line)])


def manual(*parts: str) -> str:
    """Returns the parts of a manual one behind the other; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)


def explain_actions(meanings: Mapping[str, str]) -> str:
    """Returns the section that says what each action means, by the first word of its text."""
    return section("Actions", (f'"{word}": {meaning}.' for word, meaning in meanings.items()))


def describe_by_facts(spec: GameSpec, rules: Rules, num_players: int) -> str:
    """Returns what a spec says of the rules, for games that have no text of their own."""
    meanings = {word: spec.meanings.get(word, "") for word in _verbs(spec)}
    known = {word: meaning for word, meaning in meanings.items() if meaning}
    return manual(
        f"{spec.title}, {num_players} players.",
        " ".join(spec.notes),
        explain_actions(known) if known else section("Actions", meanings),
        section("Rules", _switches(spec, rules)),
    )


def _verbs(spec: GameSpec) -> list[str]:
    """Returns the first words of the actions, in their order."""
    return list(dict.fromkeys(action.partition(" ")[0] for action in spec.actions))


def _switches(spec: GameSpec, rules: Rules) -> list[str]:
    """Returns what every switch is set to."""
    values = [("episode", "a whole match, or one deal")]
    values += [(switch.name, switch.meaning) for switch in spec.switches]
    return [f"{meaning} ({name}): {_value(rules, name)}" for name, meaning in values]


def _value(rules: Rules, name: str) -> str:
    value = rules[name]
    return {True: "yes", False: "no", None: "none"}.get(value) or str(value)  # type: ignore[arg-type]
