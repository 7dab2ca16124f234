"""What holds the house together: imports, the wheel, and that every game has all of its parts."""

import ast
import graphlib
import importlib
import importlib.util
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

import kille_env
from reference.scripts import printed, script

ROOT = Path(__file__).parents[1]
PACKAGES = {"kille_env", "kille_agents", "kille_training"}
PATHS = f"{ROOT}:{ROOT / 'agents'}:{ROOT / 'training'}"


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    built = subprocess.run([*command, str(ROOT)], capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.mark.compiled
def test_wheel_holds_exactly_the_three_packages(wheel_files: list[str]) -> None:
    tops = {name.partition("/")[0] for name in wheel_files}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES


@pytest.mark.compiled
def test_wheel_holds_every_tracked_file_of_the_packages(wheel_files: list[str]) -> None:
    # Templates and py.typed are easily forgotten, and a checkout does not miss them.
    roots = [ROOT / "kille_env", ROOT / "agents/kille_agents", ROOT / "training/kille_training"]
    expected = {
        file.relative_to(root.parent).as_posix()
        for root in roots
        for file in root.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert expected <= set(wheel_files)
    assert {f"{package}/py.typed" for package in PACKAGES} <= expected


@pytest.mark.compiled
def test_wheel_holds_the_recipes(wheel_files: list[str]) -> None:
    from kille_training.settings import KINDS, recipes

    expected = {f"kille_training/configs/{k}/{name}.yaml" for k in KINDS for name in recipes(k)}
    assert "kille_training/configs/train/byteskille.yaml" in expected
    expected |= {f"kille_env/configs/rules/{name}.yaml" for name in kille_env.list_rule_spaces()}
    expected.add("kille_env/configs/rules/held_out.jsonl")
    assert expected <= set(wheel_files)


@pytest.mark.parametrize("folder", ["agents", "training"])
def test_outer_folders_are_no_packages(folder: str) -> None:
    assert not (ROOT / folder / "__init__.py").exists()


@pytest.mark.compiled
def test_imports_keep_to_the_layers() -> None:
    checked = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


NAME = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+(?::\w+)?")


def hidden_imports(module: str, tree: ast.AST) -> Iterator[str]:
    """Yield what a module imports by a text, or by a name that its package's root gives away."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if NAME.fullmatch(node.value):
                yield node.value.replace(":", ".")
        elif isinstance(node, ast.ImportFrom) and node.module in PACKAGES:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in PACKAGES:
            yield ast.unparse(node)


def module_behind(name: str, modules: set[str]) -> str | None:
    """Return the module that a dotted name leads to, through a lazy root if need be."""
    if name in modules:
        return name
    parent, _, attribute = name.rpartition(".")
    if parent in PACKAGES:
        found = getattr(importlib.import_module(parent), attribute, None)
        parent = getattr(found, "__module__", None) or getattr(found, "__name__", None)
    return parent if parent in modules else None


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Which module imports which, by statements, texts and lazy roots."""
    graph = grimp.build_graph(*sorted(PACKAGES), exclude_type_checking_imports=True)
    modules = set(graph.modules)
    for module in modules - PACKAGES:  # a root gives away what it likes
        spec = importlib.util.find_spec(module)
        assert spec and spec.origin
        for name in hidden_imports(module, ast.parse(Path(spec.origin).read_text("utf-8"))):
            imported = module_behind(name, modules)
            if imported not in (None, module, *PACKAGES):
                graph.add_import(importer=module, imported=imported)
    return graph


def test_no_modules_import_each_other(graph: grimp.ImportGraph) -> None:
    imported = {
        module: graph.find_modules_directly_imported_by(module) - PACKAGES
        for module in graph.modules - PACKAGES
    }
    graphlib.TopologicalSorter(imported).prepare()  # raises a CycleError, which names a circle


def test_imports_by_text_and_through_lazy_roots_keep_to_the_layers_too(
    graph: grimp.ImportGraph,
) -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in config["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers":
            layers = [
                grimp.Layer(*map(str.strip, layer.split("|"))) for layer in contract["layers"]
            ]
            broken = graph.find_illegal_dependencies_for_layers(
                layers, containers=set(contract.get("containers", ()))
            )
            assert not broken, [(one.importer, one.imported) for one in broken]


LIBRARY = """
import kille_env
for game in kille_env.list_games():  # facts and manuals need no compiler
    kille_env.spec(game), kille_env.registry.describe_rules(game)
"""
HEAVY = ("torch", "matplotlib", "click")
BEYOND_LIBRARY = (
    *HEAVY,
    *("numba", "llvmlite", "gymnasium", "pettingzoo", "stable_baselines3", "tqdm"),
    *("kille_agents", "kille_training"),
)
BEYOND_TRAINING = (*HEAVY, "scipy", "kille_env", "pydantic")


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        (LIBRARY, BEYOND_LIBRARY),
        ("import kille_training as kt; assert {*kt.__all__} <= {*dir(kt)}", BEYOND_TRAINING),
    ],
)
def test_importing_loads_nothing_heavy(code: str, heavy: tuple[str, ...]) -> None:
    code = f"import sys\n{code}\nprint(*set({heavy}) & sys.modules.keys())"
    assert printed(code, PYTHONPATH=PATHS).strip() == ""


def test_every_function_of_training_is_there() -> None:
    import kille_training

    for name in kille_training.__all__:
        found = getattr(kille_training, name)
        function = found.__init__ if isinstance(found, type) else found
        assert function.__doc__ and "Args:" in function.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        _ = kille_training.trian


def test_what_other_environments_test_is_there() -> None:
    assert all((ROOT / path).exists() for path in script("tests/environments.py").QUICK)


@pytest.mark.parametrize("game", kille_env.list_games())
@pytest.mark.parametrize(
    "pattern",
    [
        "docs/games/{game}.md",
        "tests/reference/{game}.py",
        "tests/golden/{game}*.txt",
        "tests/env/test_{game}*.py",
        "configs/train/{game}.yaml",
    ],
)
def test_every_game_has_its_page_twin_golden_text_test_and_recipe(game: str, pattern: str) -> None:
    path = pattern.format(game=game)
    assert list(ROOT.glob(path)), f"{game} has no {path}; see docs/add_a_game.md"


@pytest.mark.parametrize("game", kille_env.list_games())
def test_every_game_has_the_same_files(game: str) -> None:
    files = {file.name for file in (ROOT / "kille_env/games" / game).glob("*.py")}
    parts = {"spec", "rules", "observe", "determinize", "words"}
    assert files == {"__init__.py", *(f"{part}.py" for part in parts)}


UPDATE = """
import kille_training.cli.train
from kille_training.learn.runs import open_run
from kille_training.learn.training import Training
Training(*open_run("demo", set={"measure.every": 0, "learner.num_tables": 64})).update()
"""
TRAINING = f"""
{UPDATE}
import kille_training.learn.page
kt.evaluate("uniform", "knack", 4, baselines="uniform", deals=2, play="sampled")
"""
EXACT = f"{TRAINING}\nimport kille_training.evaluation.exact\n"
TOURNAMENT = """
from pathlib import Path
import kille_training.cli.tournament
from kille_training.arena.page import write_tournament_page
from kille_training.arena.settings import Folder
kt.play_tournament(["uniform", "rule_of_thumb"], "knack", num_players=2, deals=5, out="run")
write_tournament_page(Folder(Path("run")))
"""
ANY = "labels progress results settings cli.command"
"""What each command loads of training."""
UPDATES = f"""
    {ANY} cli.train learn.method learn.methods.maskable_ppo learn.runs learn.settings learn.training
"""
EVERY = f"{ANY} tables statistics.intervals pages.page"
"""What each run loads that measures and has a page."""
LEARNS = f"""
    {UPDATES} {EVERY} pages.plots solving.size evaluation.api evaluation.duplicate
    evaluation.profiles evaluation.results learn.measuring learn.page
"""
MEASURES_EXACTLY = f"""
    {LEARNS} evaluation.exact solving.arrays solving.grow solving.policies
    solving.stages solving.walk solving.trees.sequence_game solving.trees.tree solving.trees.values
"""
PLAYS = f"""
    {EVERY} cli.tournament arena.entrants arena.page arena.play arena.results arena.schedule
    arena.settings arena.store arena.tournament
    pool.jobs statistics.plackett_luce statistics.standings statistics.tally
"""


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("code", "modules"),
    [(UPDATE, UPDATES), (TRAINING, LEARNS), (EXACT, MEASURES_EXACTLY), (TOURNAMENT, PLAYS)],
)
def test_a_run_loads_only_the_modules_that_it_uses(code: str, modules: str, tmp_path: Path) -> None:
    code = f"import sys, kille_training as kt{code}\nprint(*sys.modules)"
    found = printed(code, cwd=tmp_path, PYTHONPATH=PATHS).split()
    expected = {f"kille_training.{name}" for name in modules.split()}
    rooms = {"kille_training", *(name.rpartition(".")[0] for name in expected)}
    rooms |= {room.rpartition(".")[0] for room in rooms}
    loaded = {name for name in found if name.split(".")[0] == "kille_training"}
    assert loaded - rooms == expected
