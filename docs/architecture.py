"""The packages' rooms and the import contracts in docs/architecture.md.

A room is a module or a folder directly in a package, its text is the first sentence of its
docstring, and it stands above every room that it imports when it is loaded. Folders are listed.
"""

import ast
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from blocks import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
PACKAGES = ("training/kille_training", "agents/kille_agents", "kille_env")
"""The folders of the packages, from the one on top."""
ALIASES = {"sb3"}  # rooms that only re-export a module


def rooms(folder: Path) -> str:
    """Return the table of a package: each room stands above those that it imports."""
    doors = {
        path.stem: path / "__init__.py" if path.is_dir() else path
        for path in sorted(folder.iterdir())
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    for name in ("__init__", *ALIASES):
        doors.pop(name, None)
    imports = {}
    for name, door in doors.items():
        files = door.parent.rglob("*.py") if door.name == "__init__.py" else [door]
        found = {room for file in files for room in _imported(folder.name, file)}
        imports[name] = sorted(found & doors.keys() - {name})
    order = [*TopologicalSorter(imports).static_order()][::-1]
    shown = [name for name in order if doors[name].name == "__init__.py"]
    return table((f"`{folder.name}`", "purpose"), [(f"`{n}`", _purpose(doors[n])) for n in shown])


def _purpose(door: Path) -> str:
    doc = ast.get_docstring(ast.parse(door.read_text(encoding="utf-8"))) or ""
    return " ".join(doc.split("\n\n")[0].split()).partition(". ")[0].rstrip(".")


def _imported(package: str, file: Path) -> Iterator[str]:
    """Yield the rooms of a package that a file imports when it is loaded."""
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


def contracts() -> str:
    """Return the names of the import contracts as a list."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return "\n".join(f"- {each['name']}" for each in settings["tool"]["importlinter"]["contracts"])


def all_rooms() -> str:
    """Return the tables of all packages."""
    return "\n\n".join(rooms(ROOT / folder) for folder in PACKAGES)


BLOCKS = {PAGE: {"rooms": all_rooms, "contracts": contracts}}
