"""Draws docs/architecture.svg, and lists the import contracts in docs/architecture.md.

    python docs/architecture.py            write both again (`make docs`)
    python docs/architecture.py --check    exit with 1 and name the files that are stale

Everything in the picture comes from the code: a room is a module or a folder directly in a package,
its text is the first sentence of its docstring, and it stands above every room that it imports when
it is loaded.
"""

import ast
import sys
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from blocks import filled, write

ROOT = Path(__file__).parents[1]
PAGE, PICTURE = ROOT / "docs" / "architecture.md", ROOT / "docs" / "architecture.svg"
PACKAGES = {
    "kille_training": (ROOT / "training" / "kille_training", "#f6e7d8", "#b98b5e"),
    "kille_agents": (ROOT / "agents" / "kille_agents", "#e6eede", "#7f9a68"),
    "kille_env": (ROOT / "kille_env", "#eef3f8", "#6f8fae"),
}
"""Where the packages are, from the one on top, with the colours of their boxes."""
ALIASES = {"kille_env.sb3"}
"""Rooms that are only another name for a module of another one."""

WIDTH, MARGIN, GAP = 1000, 16, 10
LETTER, LINE = 6.1, 15
"""Width of a letter and height of a line of small text."""


@dataclass(frozen=True)
class Room:
    """A room of a package.

    Attributes:
        name: Its name in the package.
        text: What it is for.
        imports: The rooms of its package that it imports.
    """

    name: str
    text: str
    imports: frozenset[str]


def rooms(package: str, folder: Path) -> dict[str, Room]:
    """Returns the rooms of a package by name."""
    found = {}
    for path in sorted(folder.iterdir()):
        door = path / "__init__.py" if path.is_dir() else path
        name = path.stem
        if door.suffix != ".py" or not door.is_file() or name == "__init__":
            continue
        if f"{package}.{name}" in ALIASES:
            continue
        files = path.rglob("*.py") if path.is_dir() else [path]
        imported = {room for file in files for room in _imported(package, file)}
        doc = ast.get_docstring(ast.parse(door.read_text(encoding="utf-8"))) or ""
        sentence = (
            " ".join(doc.split("\n\n")[0].split()).partition(". ")[0].rstrip(".").replace("`", "")
        )
        found[name] = Room(name, sentence, frozenset(imported - {name}))
    known = found.keys()
    return {name: Room(name, room.text, room.imports & known) for name, room in found.items()}


def _imported(package: str, file: Path) -> Iterator[str]:
    """Gives the rooms of a package that a file imports when it is loaded."""
    waiting: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        waiting += ast.iter_child_nodes(node)
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == package and len(parts) > 1:
                yield parts[1]


def levels(found: Mapping[str, Room]) -> list[list[Room]]:
    """Returns rooms in rows from the top; a room imports only rooms of rows below its own.

    Raises:
        ValueError: Rooms import each other in a circle.
    """
    height: dict[str, int] = {}

    def climb(name: str, path: tuple[str, ...] = ()) -> int:
        if name in path:
            raise ValueError(f"imports go in a circle: {' -> '.join((*path, name))}")
        if name not in height:
            below = [climb(other, (*path, name)) for other in sorted(found[name].imports)]
            height[name] = 1 + max(below, default=-1)
        return height[name]

    for name in found:
        climb(name)
    return [
        [room for name, room in found.items() if height[name] == level]
        for level in reversed(range(1 + max(height.values())))
    ]


def draw() -> str:
    """Returns the picture."""
    parts: list[str] = []
    top = MARGIN
    for package, (folder, fill, stroke) in PACKAGES.items():
        inner: list[str] = []
        y = top + 38
        for row in levels(rooms(package, folder)):
            for some in _split(row):
                y = _draw_row(some, y, stroke, inner) + GAP
        height = y + 4 - top
        parts += [
            f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{height}" rx="8" '
            f'fill="{fill}" stroke="{stroke}"/>',
            f'<text x="{2 * MARGIN}" y="{top + 25}" font-weight="bold" font-size="16">'
            f"{package}</text>",
            *inner,
        ]
        top += height + 2 * GAP
    label = "The packages and their rooms; each imports only what stands below it"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" '
            f'font-family="Helvetica, Arial, sans-serif" font-size="12" role="img" '
            f'aria-label="{label}">',
            f'<rect width="{WIDTH}" height="{top}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _split(row: list[Room], most: int = 5) -> list[list[Room]]:
    """Returns a row in lines of about equal length."""
    lines = -(-len(row) // most)
    size = -(-len(row) // lines)
    return [row[start : start + size] for start in range(0, len(row), size)]


def _draw_row(row: list[Room], y: int, stroke: str, parts: list[str]) -> int:
    """Draws rooms side by side and returns where their row ends."""
    left, right = 2 * MARGIN, WIDTH - 2 * MARGIN
    width = (right - left - GAP * (len(row) - 1)) / len(row)
    letters = int((width - 20) / LETTER)
    texts = [textwrap.wrap(room.text, letters) for room in row]
    uses = [
        textwrap.wrap(f"imports {', '.join(sorted(room.imports))}", letters) if room.imports else []
        for room in row
    ]
    lines = max(len(a) + len(b) for a, b in zip(texts, uses, strict=True))
    height = 28 + LINE * lines + 4
    for place, room in enumerate(row):
        x = left + place * (width + GAP)
        parts.append(
            f'<rect x="{x:g}" y="{y}" width="{width:g}" height="{height}" rx="6" fill="#ffffff" '
            f'stroke="{stroke}"/>'
        )
        parts.append(
            f'<text x="{x + 10:g}" y="{y + 19}" font-weight="bold" font-size="14">'
            f"{room.name}</text>"
        )
        shown = [(line, "#333333") for line in texts[place]]
        shown += [(line, "#77808a") for line in uses[place]]
        for number, (line, colour) in enumerate(shown):
            parts.append(
                f'<text x="{x + 10:g}" y="{y + 36 + LINE * number}" fill="{colour}">'
                f"{escape(line)}</text>"
            )
    return y + height


def contracts() -> str:
    """Returns the names of the import contracts as a list."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return "\n".join(f"- {each['name']}" for each in settings["tool"]["importlinter"]["contracts"])


def built() -> dict[Path, str]:
    """Returns what each file should hold."""
    return {PICTURE: draw(), PAGE: filled(PAGE, {"contracts": contracts})}


if __name__ == "__main__":
    sys.exit(write(built(), "--check" in sys.argv[1:]))
