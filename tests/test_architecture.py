"""What holds the house together: imports, the wheel, and that every game has all of its parts."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import kille_env

ROOT = Path(__file__).parents[1]
PACKAGES = {"kille_env", "kille_agents", "kille_training"}


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
    from kille_training.recipes import KINDS, recipes

    expected = {f"kille_training/configs/{k}/{name}.yaml" for k in KINDS for name in recipes(k)}
    assert "kille_training/configs/train/byteskille.yaml" in expected
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


@pytest.mark.compiled
def test_importing_the_library_loads_nothing_heavy() -> None:
    heavy = ["torch", "stable_baselines3", "matplotlib", "kille_agents", "kille_training"]
    code = f"import sys, kille_env; print([name for name in {heavy} if name in sys.modules])"
    path = {"PYTHONPATH": f"{ROOT}:{ROOT / 'agents'}:{ROOT / 'training'}"}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=path
    )
    assert found.stdout.strip() == "[]"


@pytest.mark.compiled
def test_importing_training_loads_nothing_heavy() -> None:
    heavy = ["torch", "matplotlib", "scipy", "kille_env", "pydantic", "click"]
    code = (
        "import sys, kille_training as kt\n"
        f"print([name for name in {heavy} if name in sys.modules], set(kt.__all__) <= set(dir(kt)))"
    )
    path = {"PYTHONPATH": f"{ROOT}:{ROOT / 'agents'}:{ROOT / 'training'}"}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=path
    )
    assert found.stdout.strip() == "[] True"


def test_every_function_of_training_is_there() -> None:
    import kille_training

    for name in kille_training.__all__:
        found = getattr(kille_training, name)
        function = found.__init__ if isinstance(found, type) else found
        assert function.__doc__ and "Args:" in function.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        _ = kille_training.trian


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
    if game == "byteskille":  # the largest: its turns and its manual stand by themselves
        parts |= {"exchange", "manual"}
    assert files == {"__init__.py", *(f"{part}.py" for part in parts)}
