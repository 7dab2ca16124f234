"""What users import is listed, has examples that run, and is all that pages import."""

import ast
import contextlib
import doctest
import importlib.util
import io
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from reference.documented import NOTEBOOKS, PAGES, ROOT, blocks, named

ROOTS = ("kille_env", "kille_env.sb3", "kille_agents", "kille_training")
KITS = (
    "kille_env.author",  # a game of one's own
    "kille_env.adapters.open_spiel",
    "kille_env.adapters.text",  # language models
    "kille_env.gym",
    "kille_training.solving.trees.tree",  # trees of other games
    "kille_training.solving.trees.cfr",
    "kille_training.solving.trees.values",
)
"""Modules beside the roots, each for one outside library or one purpose of its own."""
PACKAGES = ("kille_env", "kille_agents", "kille_training")
VERSIONED = re.compile(r"_v\d+$")
"""The end of a module's name by PettingZoo's convention."""
NAMES = [(module, name) for module in ROOTS for name in importlib.import_module(module).__all__]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:You have specified a mini-batch size")
@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda word: word)
def test_every_public_name_has_an_example_that_runs(
    module: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    thing: Any = getattr(importlib.import_module(module), name)
    test = doctest.DocTestParser().get_doctest(thing.__doc__, {}, name, None, None)
    assert test.examples, f"{module}.{name} has no example"
    said = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        found = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.write)
    assert found.failed == 0, said.getvalue()


def sources() -> Iterator[tuple[str, str]]:
    """Yield the Python of pages, notebooks and recipes, with where it stands."""
    for page in PAGES:
        for block in blocks(page):
            if block.language == "python":
                yield block.where, block.text
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                lines = "".join(cell["source"]).splitlines()
                yield named(path), "\n".join(line for line in lines if not line.startswith("%"))
    for path in sorted((ROOT / "training" / "recipes").glob("*.py")):
        yield named(path), path.read_text(encoding="utf-8")


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what code takes from the packages: module and name, by `from` or as an attribute."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module.split(".")[0] in PACKAGES:
                yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in ROOTS:
                    known[alias.asname or alias.name] = alias.name
                elif alias.name.split(".")[0] in PACKAGES:
                    yield alias.name.rpartition(".")[0], alias.name.rpartition(".")[2]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in known:
            yield known[node.value.id], node.attr  # type: ignore


@cache
def listed(module: str) -> set[str]:
    """Return `__all__` of a module, or what it defines; outside libraries may be missing."""
    spec = importlib.util.find_spec(module)
    assert spec and spec.origin
    body = ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return {node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def is_public(module: str, name: str) -> bool:
    """Return whether a name is listed where it is imported from."""
    known = module in (*ROOTS, *KITS)
    return known and (name in listed(module) or name == "sb3" or bool(VERSIONED.search(name)))


def test_pages_notebooks_and_recipes_import_public_names_only() -> None:
    private = [
        (where, *each)
        for where, source in sources()
        for each in imports(ast.parse(source))
        if not is_public(*each)
    ]
    assert not private


def test_a_private_import_is_found() -> None:
    tree = ast.parse("import kille_env as k\nfrom kille_env.core.jit import bind\nk.load_game('x')")
    assert [each for each in imports(tree) if not is_public(*each)] == [
        ("kille_env.core.jit", "bind"),
        ("kille_env", "load_game"),
    ]
