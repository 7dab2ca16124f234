"""Runs tests in virtual environments of their own: other libraries, oldest versions, other Pythons.

    python tests/environments.py libraries [GROUP ...]   # all groups of `GROUPS`, or some
    python tests/environments.py oldest [ARGUMENT ...]   # of pytest
    python tests/environments.py pythons [PYTHON ...]    # each from 3.11 on that is found, or some
    python tests/environments.py base                    # what `pip install .` brings: no extra
    python tests/environments.py wheel [PYTHON ...]      # the wheel in dist/: bare, newest, oldest

An environment is made once, and again when pyproject.toml or constraints.txt has changed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
GROUPS: dict[str, dict[str, str]] = {
    "rllib": {"rllib": "ray[rllib]>=2.60 dm-tree>=0.1.9"},
    "agilerl": {"agilerl": "agilerl>=2.58 peft>=0.21"},
    "torch": {
        "torchrl": "torchrl>=0.14",
        "tianshou": "tianshou>=2.0",
        "supersuit": "supersuit>=3.9",
    },
    # The first version of pygambit with wheels.
    "truth": {"gambit": "pygambit==17.0.0b2", "croissant": "mlcroissant>=1.1"},
    "jax": {"jax": "jax>=0.10 optax>=0.2"},
    "peers": {"peers": ""},
}
"""Libraries that fit into one environment: the name of their tests, and requirements that are also
in the recipe's own `pip install`; those of `peers` are the extra."""

TOOLS = ("pytest", "pytest-randomly", "pytest-timeout", "pytest-xdist")
ELSEWHERE = ("torch",)
"""What `oldest` leaves at the pinned version: older builds are gigabytes."""

QUICK = (
    "tests/env", "tests/adapters", "tests/agents", "tests/training/test_train.py",
    "tests/training/test_evaluate.py", "tests/training/test_settings.py",
    "tests/training/test_statistics_intervals.py", "tests/training/test_report.py",
)  # fmt: skip
"""What the oldest versions and other Pythons are tested with."""


def main() -> int:
    """Run what the command line asks for; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=list(RUNS))
    what, rest = parser.parse_known_args()
    return RUNS[what.what](rest)


def libraries(groups: Sequence[str]) -> int:
    """Test environments and recipes with other libraries, one environment for each group."""
    unknown = set(groups) - set(GROUPS)
    if unknown:
        sys.exit(f"there is no group {', '.join(unknown)}; possible are {', '.join(GROUPS)}")
    failed = []
    for group in groups or GROUPS:
        wanted = " ".join(GROUPS[group].values()).split()
        folder = ROOT / ".venv-libraries" / group
        extras = ".[train]" if wanted else f".[train,{group}]"
        python = environment(folder, sys.executable, extras, *wanted)
        versions(python, ["torch", *(re.split(r"[\[<>=!]", each)[0] for each in wanted)])
        tests = [f"tests/libraries/test_{name}.py" for name in GROUPS[group]]
        if pytest(python, tests):
            failed.append(group)
    print(f"libraries: {', '.join(failed)} failed" if failed else "libraries: all passed")
    return bool(failed)


def oldest(arguments: Sequence[str]) -> int:
    """Tests the lowest declared version of every dependency, all together."""
    python = environment(ROOT / ".venv-oldest", sys.executable, ".[train]", *lowest())
    versions(python, [line.partition("==")[0] for line in (*lowest(), *ELSEWHERE)])
    # Old versions warn of what new ones of their own dependencies change.
    return pytest(python, ["-W", "default", "-m", "not slow", *(arguments or QUICK)])


def pythons(asked: Sequence[str]) -> int:
    """Tests every Python from 3.11 on that is found."""
    failed = []
    for found, name in interpreters(asked):
        python = environment(ROOT / ".venv-pythons" / found, name, ".[train]")
        print(f"Python {found}", flush=True)
        if pytest(python, ["-m", "not slow", *QUICK]):
            failed.append(found)
    print(f"failed: {', '.join(failed) or 'none'}")
    return bool(failed)


def base(_: Sequence[str]) -> int:
    """Use what `pip install .` brings."""
    return smoke(ROOT / ".venv-base", sys.executable, str(ROOT))


def wheel(asked: Sequence[str]) -> int:
    """Use the wheel in dist/."""
    built = sorted((ROOT / "dist").glob("*.whl"))
    if not built:
        sys.exit("there is no wheel in dist/: build one with `make wheel`")
    bare, train, failed = str(built[-1]), f"{built[-1]}[train]", []
    for found, name in interpreters(asked):
        for what, needed in (("bare", [bare]), ("newest", [train]), ("oldest", [train, *lowest()])):
            folder = ROOT / ".venv-wheel" / f"{found}-{what}"
            failed += [f"{found}, {what}"] if smoke(folder, name, *needed) else []
    print(f"the wheel failed on: {', '.join(failed) or 'none'}")
    return bool(failed)


RUNS = {
    "libraries": libraries, "oldest": oldest, "pythons": pythons, "base": base, "wheel": wheel,
}  # fmt: skip


def smoke(folder: Path, interpreter: str, *requirements: str) -> int:
    """Run `tests/smoke.py` in a new environment that has nothing else; return its exit status."""
    shutil.rmtree(folder, ignore_errors=True)  # the sources may be others
    python = environment(folder, interpreter, *requirements, tools=())
    with tempfile.TemporaryDirectory() as elsewhere:
        program = [python, "-P", "-W", "default", str(ROOT / "tests" / "smoke.py")]
        return subprocess.call(program, cwd=elsewhere)


def interpreters(asked: Sequence[str]) -> list[tuple[str, str]]:
    """Return versions and names of the Pythons asked for, or of all that are found."""
    names = asked or [name for name in map("python3.{}".format, range(11, 20)) if works(name)]
    code = "import sys; print('.'.join(map(str, sys.version_info[:3])))"
    return [(output([name, "-c", code]), name) for name in names]


def lowest() -> list[str]:
    """Return the lowest declared version of every dependency, but for `ELSEWHERE`."""
    measure, (_, *train) = map(DECLARED["optional-dependencies"].get, ("measure", "train"))
    names = [*DECLARED["dependencies"], *measure, *train]  # the first of `train` is `measure`
    return [name for name in map(pinned, names) if name.partition("==")[0] not in ELSEWHERE]


def pinned(requirement: str) -> str:
    """Return the lowest version that a requirement allows, "name==version"."""
    found = re.match(r"([\w.\[\]-]+)>=([\w.]+)", requirement)
    if found is None:
        sys.exit(f"{requirement!r} in pyproject.toml has no lowest version")
    return f"{found[1]}=={found[2]}"


def works(python: str) -> bool:
    """Return whether an interpreter is there and run; a shim of a version manager may not."""
    return shutil.which(python) is not None and not subprocess.call(
        [python, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def environment(
    folder: Path, interpreter: str, *requirements: str, tools: Sequence[str] = TOOLS
) -> str:
    """Make an environment with this package, and torch at its pinned version if it trains."""
    python, made = str(folder / "bin" / "python"), folder / ".made"
    wanted = [ROOT / "pyproject.toml", ROOT / "constraints.txt"]
    if made.is_file() and all(made.stat().st_mtime > file.stat().st_mtime for file in wanted):
        return python
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    torch = next(line for line in pins if line.startswith("torch=="))
    install = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run([interpreter, "-m", "venv", str(folder)])
    pinned_torch = [torch] if "[train" in requirements[0] else []
    if pinned_torch:
        run([*install, torch])  # by itself, so that nothing brings another build
    editable = ["--editable"] if requirements[0].startswith(".") else []
    run([*install, *pinned_torch, *editable, *requirements, *tools])
    made.touch()
    return python


def versions(python: str, names: Sequence[str]) -> None:
    """Print the versions of libraries; fails if one is not there."""
    code = "import sys, importlib.metadata as m\nfor n in sys.argv[1:]: print(n, m.version(n))"
    run([python, "-c", code, *names])


def pytest(python: str, arguments: Sequence[str]) -> int:
    """Run tests; returns the exit status."""
    environ = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [python, "-m", "pytest", "-q", *arguments]
    return subprocess.call(command, cwd=ROOT, env=environ)


def run(command: Sequence[str]) -> None:
    """Run a command, and end with its status if it fails."""
    print("+", *command, flush=True)
    if status := subprocess.call(command, cwd=ROOT):
        sys.exit(status)


def output(command: Sequence[str]) -> str:
    """Return what a command prints."""
    return subprocess.check_output(command, text=True).strip()


if __name__ == "__main__":
    sys.exit(main())
