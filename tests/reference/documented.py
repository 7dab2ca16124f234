"""What the docs promise: blocks of pages, and commands in blocks, texts, notebooks and help.

A block under `<!-- not run: REASON -->` is one that no test can run; CONTRIBUTING.md says what is
checked of it all the same.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from kille_training.cli.main import kille

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(ROOT.glob("[a-z]*/README.md")),
]
SETTINGS = sorted((ROOT / "configs").rglob("*.yaml"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SOURCES = [
    path
    for folder in ("kille_env", "agents", "training", "benchmarks", "docs", "notebooks")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
SHELL = ("sh", "bash", "shell", "console")
PROGRAMS = ("kille", "make", "python", "pip")
"""Programs whose commands are checked wherever they are named."""

_FENCE = re.compile(
    r"(?:<!-- not run: (?P<reason>[^>]+) -->\s*)?^(?P<indent> *)```(?P<language>\S*)[^\n]*\n"
    r"(?P<text>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)
_NAMED = re.compile(rf"`((?:{'|'.join(PROGRAMS)}) [^`]+)`")
_COMMENTED = re.compile(rf"^#\s+((?:{'|'.join(PROGRAMS)}) .+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `reason` says why no test can run it."""

    where: str
    language: str
    text: str
    reason: str


@dataclass(frozen=True)
class Command:
    """A line for the shell; `reason` says why no test can run it."""

    where: str
    text: str
    reason: str = ""


def named(path: Path) -> str:
    """Return the name of a file of the checkout."""
    return path.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text, found = page.read_text(encoding="utf-8"), []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start("text"))
        indent = len(match["indent"])
        lines = "".join(each[indent:] or "\n" for each in match["text"].splitlines(keepends=True))
        reason = (match["reason"] or "").strip()
        found.append(Block(f"{named(page)}:{line}", match["language"], lines, reason))
    return found


def commands() -> list[Command]:
    """Return what stands on lines of its own: in shell blocks, settings and examples of help."""
    found: dict[str, Command] = {}
    for command in (*_in_blocks(), *_in_settings(), *_in_help()):
        found.setdefault(command.text, command)
    return list(found.values())


def _in_blocks() -> Iterator[Command]:
    for page in PAGES:
        for block in blocks(page):
            if block.language in SHELL:
                for line in block.text.replace("\\\n", " ").splitlines():
                    if text := re.sub(r"(^|\s)#.*", "", line).strip():
                        yield Command(block.where, text, block.reason)


def _in_settings() -> Iterator[Command]:
    for path in SETTINGS:
        for text in _COMMENTED.findall(path.read_text(encoding="utf-8")):
            yield Command(named(path), text)


def _in_help() -> Iterator[Command]:
    for name, command in every_command():
        example = re.match(r"Example: (.*?)(?:\. |$)", command.epilog or "")
        assert example, f"the help of {name} shows no example"
        yield Command(f"{name} --help", example[1])


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Yield `kille` and all its commands, by their names."""
    waiting: list[tuple[str, click.Command]] = [("kille", kille)]
    while waiting:
        name, command = waiting.pop(0)
        yield name, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for each in command.list_commands(context):
                inner = command.get_command(context, each)
                assert inner is not None
                waiting.append((f"{name} {each}", inner))


def mentions() -> list[Command]:
    """Return what is named in the middle of texts and sources, between backticks."""
    found: dict[str, Command] = {}
    for where, text in _texts():
        for mention in _NAMED.findall(text):
            plain = " ".join(mention.split())
            found.setdefault(plain, Command(where, plain))
    return list(found.values())


def _texts() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        yield named(page), re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for path in (*SETTINGS, *SOURCES):
        yield named(path), path.read_text(encoding="utf-8")
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                yield named(path), "".join(cell["source"])
    for name, command in every_command():
        texts = [command.help, command.epilog, *(getattr(p, "help", "") for p in command.params)]
        yield f"{name} --help", "\n".join(text for text in texts if text)
