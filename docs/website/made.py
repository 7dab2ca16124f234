"""Pages generated from code: commands from their help, settings from their classes, the API."""

import dataclasses
import inspect
import re
from collections.abc import Iterator, Sequence
from importlib import import_module

import click
from click.testing import CliRunner
from tables import in_full

import kille_env
from kille_training.arena.settings import TournamentSettings
from kille_training.cli.main import kille
from kille_training.learn.method import method_named, method_names
from kille_training.learn.settings import TrainSettings

SETTINGS = {
    "Training": (TrainSettings, "`kille train` and `kt.train`"),
    "Tournaments": (TournamentSettings, "`kille tournament` and `kt.play_tournament`"),
}
"""User-facing settings with their readers."""

ROOTS = ("kille_env", "kille_agents", "kille_training")

API = {
    "environments": (
        "Environments",
        "The library: games as environments for PettingZoo, Gymnasium and Stable-Baselines3.",
        ("kille_env", "kille_env.gym", "kille_env.sb3"),
    ),
    "players": (
        "Players",
        "Policies, search, networks and tabular policies.",
        ("kille_agents",),
    ),
    "training": (
        "Training and measuring",
        "`import kille_training as kt`: a function for each command that computes something.",
        ("kille_training",),
    ),
    "games": (
        "Games of your own",
        "Facts, cards, tables, and the contract that every game keeps.",
        ("kille_env.author",),
    ),
    "libraries": (
        "Other libraries",
        "One module for each outside API.",
        tuple(f"kille_env.adapters.{name}" for name in ("open_spiel", "text")),
    ),
    "solving": (
        "Solving",
        "Finite games as flat arrays, regret minimization over them, and exact values.",
        tuple(f"kille_training.solving.trees.{name}" for name in ("tree", "cfr", "values")),
    ),
}
"""Pages of the API: title, description and public modules."""


def pages() -> dict[str, str]:
    """Return the made pages by their paths in the site, in the order of the navigation."""
    made = {
        "reference/commands.md": _commands(),
        "reference/settings.md": _settings(),
        "reference/layouts.md": _layouts(),
        "reference/api.md": _contents_of_api(),
    }
    return made | {f"reference/api/{name}.md": _api(*page) for name, page in API.items()}


def _commands() -> str:
    """Return a page with the `--help` of every command."""
    intro = "The output of `--help`; [Commands and Python](../python.md) shows typical calls."
    parts = [f"# Commands in full\n\n{intro}"]
    for path, context in _each_command(("kille",), kille, None):
        parts.append(f"## {' '.join(path)}\n\n```text\n{context.get_help()}\n```")
    return "\n\n".join(parts) + "\n"


def _each_command(
    path: tuple[str, ...], command: click.Command, parent: click.Context | None
) -> Iterator[tuple[tuple[str, ...], click.Context]]:
    context = click.Context(command, parent, info_name=path[-1], terminal_width=100)
    if not isinstance(command, click.Group):
        yield path, context
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None, name
        yield from _each_command((*path, name), below, context)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _settings() -> str:
    """Return a page with every key of the settings: its default and its meaning."""
    intro = (
        "Made of the dataclasses that check them. A file has these keys, nested as they are here; "
        "`--set KEY=VALUE` overrides one, with dots between the levels."
    )
    parts, head = [f"# Settings in full\n\n{intro}"], "| key | default | meaning |\n|---|---|---|"
    for title, (cls, readers) in SETTINGS.items():
        rows = "\n".join(_rows(cls, ""))
        parts.append(f"## {title}\n\nRead by {readers}.\n\n{head}\n{rows}")
    for name in method_names():
        rows = "\n".join(_rows(method_named(name).Settings, "learner."))
        parts.append(f"## Method {name}\n\nBelow `learner` in training.\n\n{head}\n{rows}")
    return "\n\n".join(parts) + "\n"


def _rows(cls: type, above: str) -> Iterator[str]:
    """Yield a row of the table for each key of a class of settings, with nested keys."""
    meanings = {k: text for part in reversed(cls.__mro__) for k, text in attributes(part).items()}
    for key in dataclasses.fields(cls):  # type: ignore[arg-type]
        default = key.default
        if default is dataclasses.MISSING and key.default_factory is not dataclasses.MISSING:
            default = key.default_factory()
        if dataclasses.is_dataclass(default):
            yield f"| **`{above}{key.name}`** |  | {_cell(meanings[key.name])} |"
            yield from _rows(type(default), f"{above}{key.name}.")
            continue
        shown = "needed" if default is dataclasses.MISSING else f"`{_cell(_yaml(default))}`"
        yield f"| `{above}{key.name}` | {shown} | {_cell(meanings[key.name])} |"


def _yaml(value: object) -> str:
    """Return a default in the syntax of a file."""
    if isinstance(value, str):
        return value or '""'
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_yaml, value))}]"
    return {"None": "null", "True": "true", "False": "false"}.get(str(value), str(value))


def attributes(cls: type) -> dict[str, str]:
    """Return the documentation of each attribute of a class."""
    _, _, section = inspect.cleandoc(cls.__doc__ or "").partition("Attributes:\n")
    section = re.split(r"\n(?=\S)", section)[0]
    found = re.findall(r"(?ms)^    (\w+): (.*?)(?=^    \w+: |\Z)", section)
    return {name: " ".join(meaning.split()) for name, meaning in found}


def _layouts() -> str:
    """Return a page with each game's switches, and its features: places, sizes, bounds."""
    parts = ["# Rules and layouts in full\n\nMade of the specs; P is the number of seats."]
    for game in kille_env.list_games():
        spec, rules = kille_env.spec(game), CliRunner().invoke(kille, ["games", game]).output
        parts += [f"## {spec.title}", f"### Rules\n\n```text\n{rules}```"]
        parts += [f"### {name}\n\n{made}" for name, made in in_full(spec)]
    return "\n\n".join(parts) + "\n"


def _contents_of_api() -> str:
    lines = [f"- [{title}](api/{name}.md): {what}" for name, (title, what, _) in API.items()]
    names = "\n".join(f"api/{name}" for name in API)
    return (
        "# API\n\nWhat is public, from its docstrings. "
        "Shapes: N tables, P seats, A actions, F features.\n\n"
        + "\n".join(lines)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def _api(title: str, what: str, modules: Sequence[str]) -> str:
    parts = [f"# {title}\n\n{what}"]
    for module in modules:
        # Document names exported by a package's root only there.
        others = {name for root in ROOTS if root != module for name in import_module(root).__all__}
        options = f"   :members:\n   :exclude-members: {', '.join(sorted(others))}"
        parts.append(f"## `{module}`\n\n```{{eval-rst}}\n.. automodule:: {module}\n{options}\n```")
    return "\n\n".join(parts) + "\n"
