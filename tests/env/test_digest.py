"""What the key of a kernel covers: all that the kernel reads, so that it is never mixed up."""

import ast
import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

import kille_env
from kille_agents.catalog import as_policy, players_of
from kille_env.core import jit, loops
from kille_env.core.digest import UnstableError, sources_of
from kille_env.core.game import LOOPS, VIEWS
from kille_env.play import kernels, rollouts

ROOT = Path(kille_env.__file__).parent


def key(function):
    return sources_of(function).digest


# What counts


class Kind(IntEnum):
    A = 1


class Pair(NamedTuple):
    a: int
    b: int


def reader(value):
    """Return a function that reads a value."""

    def read():
        return value

    return read


MODULE, OTHER_MODULE = ModuleType("rules"), ModuleType("rules")
MODULE.STEP, OTHER_MODULE.STEP = 1, 2  # pyright: ignore[reportAttributeAccessIssue]


def of_module(rules):
    return lambda: rules.STEP


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (reader(1), reader(2)),
        (reader(1), reader(True)),
        (reader(0.0), reader(-0.0)),
        (reader("1"), reader(b"1")),
        (reader((1, (2, 3))), reader((1, 2, 3))),
        (reader(np.int8(1)), reader(np.int64(1))),
        (reader(np.arange(3)), reader(np.arange(3)[::-1].copy())),
        (reader(np.arange(4)), reader(np.arange(4).reshape(2, 2))),
        (reader(np.zeros((2, 2))), reader(np.zeros((2, 2), order="F"))),
        (
            reader(np.dtype([("a", "i1"), ("b", "i4")])),
            reader(np.dtype([("a", "i4"), ("b", "i1")])),
        ),
        (reader(np.int64), reader(np.uint64)),
        (reader(Kind), reader(IntEnum("Kind", {"A": 2}, module=__name__))),
        (reader(Kind.A), reader(1)),
        (reader(Pair(1, 2)), reader(Pair(2, 1))),
        (reader(reader(1)), reader(reader(2))),
        (reader(jit.kernel(reader(1))), reader(jit.kernel(reader(2)))),
        (of_module(MODULE), of_module(OTHER_MODULE)),
        (lambda x: x + 1, lambda x: x + 2),
        (lambda x=1: x, lambda x=2: x),
        (lambda x: [x + y for y in x], lambda x: [x - y for y in x]),
        [jit.bind(loops.view_tables, {"view": reader(value)}) for value in (1, 2)],
    ],
)
def test_what_a_kernel_reads_is_in_its_key(one, other):
    assert key(one) == key(one)
    assert key(one) != key(other)


def test_what_calls_itself_or_another_one_in_a_circle_has_a_key():
    functions = {}
    functions["f"] = jit.bind(_f, functions)
    functions["g"] = jit.bind(_g, functions)
    assert key(functions["f"]) != key(functions["g"])


def _f():
    return g()  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


def _g():
    return f()  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


@pytest.mark.parametrize("value", [object(), [1], {"a": 1}, np.array([object()]), Path])
def test_what_cannot_be_recognized_in_another_process_has_no_key(value):
    with pytest.raises(UnstableError):
        key(reader(value))


@pytest.mark.compiled
def test_a_kernel_without_a_key_is_compiled_and_not_kept():
    table = jit.kernel(reader(object()))
    assert table.compiled.stats.cache_path is None  # pyright: ignore[reportFunctionMemberAccess]


# Nothing is forgotten


def modules_with_kernels():
    """Yield the modules of the suite that define or bind kernels."""
    for package in ("kille_env", "kille_agents", "kille_training"):
        folders = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(folders, f"{package}."):
            if module.name == "kille_env.core.device":  # needs the extra gpu
                continue
            spec = module.module_finder.find_spec(module.name, None)  # pyright: ignore
            text = Path(spec.origin).read_text() if spec and spec.origin else ""
            if "core.jit import" in text and any(w in text for w in ("@kernel", "loop(", "bind(")):
                yield importlib.import_module(module.name), ast.parse(text)


def functions_read(module, tree):
    """Yield the functions and kernels that the functions of a module read by name."""
    for node in ast.walk(tree):
        names = [word.id for word in ast.walk(node) if isinstance(word, ast.Name)]
        for name in {*names} if isinstance(node, ast.FunctionDef) else ():
            value = getattr(vars(module).get(name), "py_func", vars(module).get(name))
            if hasattr(value, "__code__"):
                yield node.name, value


@pytest.mark.compiled
def test_every_kernel_has_a_key_with_the_files_of_all_that_it_calls():
    met = 0
    for module, tree in modules_with_kernels():
        kernels = {
            name: value for name, value in vars(module).items() if isinstance(value, jit.Kernel)
        }
        for value in kernels.values():
            assert value.py_func.__code__.co_filename in sources_of(value).files
        for name, read in functions_read(module, tree):
            if name in kernels:
                met += 1
                assert read.__code__.co_filename in sources_of(kernels[name]).files, name
    assert met > 500


def code_file(kernel):
    return kernel.py_func.__code__.co_filename


def policies(game):
    """Yield the players of a game that are kernels."""
    rules, players = kille_env.spec(game).resolve(), kille_env.spec(game).default_players
    for name in players_of(game):
        if getattr(player := as_policy(name, game, players, rules), "kernel", None) is not None:
            yield player


@pytest.mark.compiled
def test_every_loop_has_a_key_with_the_files_of_all_that_is_bound(game):
    own = kille_env.load_game(game)

    def file_of(kernel):
        return code_file(getattr(own.module, kernel))

    def files(loop):
        return sources_of(loop.py_func).files

    for name in VIEWS:
        assert {loops.__file__, file_of(VIEWS[name])} <= files(getattr(own, name))
    for name in {*LOOPS} - {"open", "show", "step", "masks_of_all"}:
        assert {loops.__file__, file_of(name)} <= files(getattr(own, name))
    shown = {loops.__file__, *map(file_of, ("observe", "legal_actions"))}
    stepped = shown | set(map(file_of, ("begin", "deal", "apply")))
    assert shown <= files(own.show) and stepped <= files(own.step)
    assert {loops.__file__, *map(file_of, ("begin", "deal"))} <= files(own.open)
    for player in policies(game):
        chosen = {code_file(player.kernel.choose)}
        assert chosen | {kernels.__file__} <= files(
            kernels.bound(kernels.choose_rows, player.kernel.choose)
        )
        played = files(kernels.bound(kernels.play_on, player.choose, own))
        assert chosen | stepped | {kernels.__file__} <= played
        if player.deterministic:
            used = ("apply", "deal", "observe"), ("resample", "relabel", "observe")
            for loop, names in zip(rollouts._loops(own, player.choose), used, strict=True):
                assert chosen | {rollouts.__file__, *map(file_of, names)} <= files(loop)


# In processes


def run(code, *paths, **environment):
    """Run code in a process of its own; returns what it prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=paths[0],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


KEYS = """
import json
from kille_env import load_game
from kille_env.play import kernels, policy, streams
from kille_env.core import digest, jit
jit.Kernel.compiled = property(lambda kernel: kernel)  # the compiler is not needed
game, choose = load_game("byteskille"), policy.UniformPolicy.choose
print(json.dumps({name: digest.sources_of(loop).digest for name, loop in {
    "byteskille": game.step,
    "knack": load_game("knack").step,
    "rounds": kernels.bound(kernels.play_on, choose, game),
    "choices": kernels.bound(kernels.choose_rows, choose),
    "streams": streams._run_backwards,
}.items()}))
"""

EDITS = {
    "games/byteskille/rules.py": {"byteskille", "rounds"},
    "cards/pack.py": {"byteskille", "knack", "rounds"},
    "play/policy.py": {"rounds", "choices"},
    "play/streams.py": {"rounds", "streams"},
    "adapters/gym.py": set(),
    "core/compiler.py": {"byteskille", "knack", "rounds", "choices", "streams"},
}
"""Files, and the kernels that an edit there compiles anew."""


@pytest.fixture
def suite(tmp_path):
    """A copy of the package."""
    ignore = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(ROOT, tmp_path / "copy" / "kille_env", ignore=ignore))


@pytest.mark.compiled
def test_an_edit_makes_cold_what_reads_it_and_nothing_else(suite):
    before = run(KEYS, suite.parent)
    for name, cold in EDITS.items():
        file = suite / name
        file.write_text(file.read_text() + "\n")
        after = run(KEYS, suite.parent)
        assert {kernel for kernel in after if after[kernel] != before[kernel]} == cold, name
        before = after


POLICIES = """
import numpy as np
from kille_env.core.jit import kernel

class Player:
    name, numbers, deterministic = "player", np.zeros(1, np.int64), True

    def __init__(self, choose):
        self.choose = choose

    def probabilities(self, observation, mask):
        raise NotImplementedError

@kernel
def first(seen, mask, numbers, chance):
    return 0

@kernel
def last(seen, mask, numbers, chance):
    return mask.shape[0] - 1

def always(action):
    @kernel
    def choose(seen, mask, numbers, chance):
        return action
    return choose
"""

MIXED = """
import json
import kille_env, numpy as np, policies
from kille_env.play.rollouts import earnings
from kille_env.play.kernels import choices

players = [policies.Player(one) for one in
    (policies.first, policies.last, policies.always(0), policies.always(1))]
seen, mask = np.zeros((1, 3), np.uint8), np.ones((1, 2), np.int8)
chosen = [int(choices(player, seen, mask)[0]) for player in players]
searched, shown = [], []
for name in ("one_game", "other_game"):
    kille_env.registry.register(name, name)
    batch = kille_env.make_batch(name, 1, num_players=2, seed=1)
    tables = np.zeros(1, batch.tables.dtype)
    tables["num_players"], tables["phase"], tables["hand"], tables["dealer"] = 2, 2, 7, 1
    out = np.zeros((1, 2), np.int8)
    batch.game.mask(tables, np.array(batch.rules.record)[None], np.zeros(1, np.int8), out)
    shown.append(out[0].tolist())
    for player in players if name == "one_game" else ():
        batch.arrays.tables[:] = tables
        one, numbers = np.zeros(1, np.int64), np.zeros((2, 1), np.int64)
        asked = one, one, one, None, player.choose, numbers, ("", "")
        searched.append(int(earnings(batch, *asked).any()))
print(json.dumps([chosen, searched, shown]))
"""


@pytest.mark.compiled
def test_kernels_of_one_name_play_as_themselves_in_every_process(tmp_path):
    game = (Path(__file__).parents[2] / "docs" / "hogkort.py").read_text()
    mine = 'out[:] = seat == table["seat"]'
    assert mine in game
    named = 'name="hogkort"'
    assert named in game
    (tmp_path / "one_game.py").write_text(game.replace(named, 'name="one_game"'))
    other = game.replace(named, 'name="other_game"').replace(mine, "out[:] = seat")
    (tmp_path / "other_game.py").write_text(other)
    (tmp_path / "policies.py").write_text(POLICIES)
    cache = {"KILLE_CACHE_DIR": str(tmp_path / "cache")}
    for environment in (cache, cache):
        chosen, searched, shown = run(MIXED, tmp_path, ROOT.parent, **environment)
        assert chosen == searched == [0, 1, 0, 1]
        assert shown == [[1, 1], [0, 0]]
