import ast
import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

from kille_env.errors import KilleError, MissingLibraryError
from kille_env.extras import EXTRAS, missing
from reference.scripts import printed

ROOT = Path(__file__).parents[2]
MODULES = {name for brought in EXTRAS.values() for name in brought.values()}
OPTIONAL = {name.partition(".")[0] for name in MODULES}
AGAIN = {"numpy", "kille-env[train]", "kille-env[measure]"}
"""What an extra may name again: a library that it caps, the extra that it goes with."""
GIVEN_A_TORCH_MODULE = {"kille_env/play/functions.py"}
"""Files that import torch only when they have been given something of it."""


def test_the_table_of_extras_is_that_of_the_distribution():
    with (ROOT / "pyproject.toml").open("rb") as file:
        declared = tomllib.load(file)["project"]["optional-dependencies"]
    for ours in ("dev", "interop", "peers"):  # not of the product
        del declared[ours]
    names = {
        extra: {line.partition(">=")[0] for line in lines} - AGAIN
        for extra, lines in declared.items()
    }
    assert names == {extra: set(brought) for extra, brought in EXTRAS.items()}


def test_the_error_names_library_user_and_install_line():
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module("no_such_library")
    caught.value.__traceback__ = None  # nobody of ours
    found = missing(caught.value, "render")
    assert str(found) == (
        "this needs no_such_library, which is not installed: "
        'in your clone of kille-env, pip install ".[render]"'
    )
    assert isinstance(found, ModuleNotFoundError) and isinstance(found, KilleError)
    assert found.name == "no_such_library"


def test_without_optional_libraries_every_module_works_or_gives_the_install_line():
    found = printed(
        """import importlib, pkgutil, sys
import kille_agents, kille_env
modules = [
    one.name
    for package in (kille_env, kille_agents)
    for one in pkgutil.walk_packages(package.__path__, package.__name__ + ".", onerror=lambda _: 0)
]
for name in modules:
    if name.startswith("kille_env.adapters.sb3_"):
        continue  # parts of kille_env.sb3
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(name, error)
print(len(modules))
""",
        without=OPTIONAL,
    )
    *refused, count = found.splitlines()
    assert int(count) > 50
    assert any(line.startswith("kille_env.adapters.sb3 ") for line in refused)
    for line in refused:
        assert 'which is not installed: in your clone of kille-env, pip install ".[' in line, line


def test_without_extras_functions_and_commands_name_the_one_that_they_need():
    found = printed(
        """import importlib, pkgutil, sys
import kille_training as kt
from kille_training.cli.main import COMMANDS, main
for name in kt.__all__:
    try:
        getattr(kt, name)
    except ModuleNotFoundError as error:
        print(f"{name}: {error}")
    else:
        print(f"{name}: works")
sys.stderr = sys.stdout
print(main(["train", "nowhere"]), main(["games"]), sep="; ")
""",
        without=OPTIONAL,
    )
    lines = [line for line in found.splitlines() if "pip install" in line or "works" in line]
    extras = {line.partition(":")[0]: line.partition(".[")[2].rstrip(']"') for line in lines}
    measuring = ("compare", "evaluate", "export_efg", "nash_conv", "play_tournament", "solve")
    learning = ("NashConvCallback", "best_response", "train", "kille")
    needed = dict.fromkeys(measuring, "measure") | dict.fromkeys(learning, "train")
    assert extras == needed | {"load_tree": ""}  # it reads files with NumPy alone
    assert found.splitlines()[-1] == "1; 0"


def imports_inside_functions() -> list[tuple[str, int, str, bool]]:
    """Return (file, line, module, whether `needs` names the extra) of optional libraries."""
    found = []
    for package in ("kille_env", "agents/kille_agents"):
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text())
            guarded = {
                id(node)
                for block in ast.walk(tree)
                if isinstance(block, ast.With)
                and any("needs(" in ast.unparse(item) for item in block.items)
                for node in ast.walk(block)
            }
            for scope in ast.walk(tree):
                if not isinstance(scope, ast.FunctionDef):
                    continue
                for node in ast.walk(scope):
                    for name in imported(node):
                        if name.partition(".")[0] in OPTIONAL:
                            where = str(path.relative_to(ROOT))
                            found.append((where, node.lineno, name, id(node) in guarded))
    return found


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [str(node.module)]
    return [one.name for one in node.names] if isinstance(node, ast.Import) else []


def test_imports_inside_functions_give_the_install_line():
    found = imports_inside_functions()
    assert any(where in GIVEN_A_TORCH_MODULE for where, *_ in found)
    bare = [one for one in found if not one[-1] and one[0] not in GIVEN_A_TORCH_MODULE]
    assert bare == []


def test_ray_is_asked_for_with_its_extra(monkeypatch):
    from kille_training.pool import cluster

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingLibraryError, match=r"install \"\.\[ray\]\""):
        cluster.import_ray()
