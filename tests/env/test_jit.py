"""The kernel cache: warm when nothing changed, never stale when anything did, never in the way."""

import errno
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
from enum import IntEnum
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.caching import FunctionCache

import kille_env
from kille_env.core import compiler, jit, loops
from kille_env.core.digest import UnstableError, sources_of

PACKAGE = Path(kille_env.__file__).parent
ROOT = PACKAGE.parent


def run(*words, paths, **environment):
    """Run Python in a process of its own; returns its output and what it says beside it."""
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        cwd=paths[0],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",  # Python itself misses an edit that keeps the time
            **environment,
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


# Warm and never stale

MODULES = {
    "__init__.py": "",
    "helper.py": """
from kille_env.core.jit import kernel

STEP = 1

@kernel
def helper(x):
    return x + STEP
""",
    "main.py": """
from kille_env.core.jit import announce_compilation, kernel
from tiny.helper import helper

@kernel
def tenfold(x):
    return 10 * helper(x)

if __name__ == "__main__":
    from tiny.main import tenfold

    with announce_compilation("tiny"):
        print(tenfold(4), sum(tenfold.compiled.stats.cache_hits.values()))
""",
    "last.py": """
from kille_env.core.jit import kernel

@kernel
def last(table):
    return table["last"]
""",
    "race.py": '''
"""Two processes compile a kernel for a table each, and save it as closely together as can be."""

import multiprocessing
import os
import subprocess
import sys

import numpy as np

from tiny.last import last

SIZES = (3, 30)


def read(number):
    table = np.zeros(1, [("first", "u8", (SIZES[number],)), ("last", "i8")])
    table["last"] = 5 + number
    return int(last(table[0]))


def one_of_two(number, here, first, done):
    """Process 1 has looked and waits; 0 saves its first file; 1 saves all; 0 saves the rest."""
    replace, saved = os.replace, []

    def together(*places):
        if not saved and number == 1:
            here.set()
            assert first.wait(60)
        elif number == 0:
            assert (done if saved else here).wait(60)
        replace(*places)
        saved.append(places)
        if number == 0:
            first.set()

    os.replace = together
    assert read(number) == 5 + number
    done.set() if number == 1 else first.set()


if __name__ == "__main__":
    if len(sys.argv) == 1:
        context = multiprocessing.get_context("spawn")
        events = [context.Event() for _ in range(3)]
        racers = [context.Process(target=one_of_two, args=(n, *events)) for n in range(2)]
        [racer.start() for racer in racers]
        [racer.join() for racer in racers]
        assert not any(racer.exitcode for racer in racers)
        subprocess.run([sys.executable, "-m", "tiny.race", "again"], check=True)
    else:
        print(read(0), read(1), sum(last.compiled.stats.cache_hits.values()))
''',
}


@pytest.fixture
def tiny(tmp_path):
    """Return how to run a package of two modules, one of which calls a kernel of the other."""
    (tmp_path / "tiny").mkdir()
    for name, text in MODULES.items():
        (tmp_path / "tiny" / name).write_text(text)

    def start(module="main"):
        folder = str(tmp_path / "cache")
        out, said = run("-m", f"tiny.{module}", paths=[tmp_path, ROOT], KILLE_CACHE_DIR=folder)
        return *map(int, out.split()), said

    return start


@pytest.mark.compiled
def test_the_first_start_says_what_it_does_and_others_are_warm_until_a_source_changes(
    tiny, tmp_path
):
    value, hits, said = tiny()
    assert (value, hits) == (50, 0)
    assert "kille-env: compiling tiny (once" in said
    assert "kille-env: tiny compiled in" in said
    assert tiny() == (50, 1, "")
    # An edit in another module is never missed.
    helper = tmp_path / "tiny" / "helper.py"
    before = helper.stat()
    helper.write_text(helper.read_text().replace("STEP = 1", "STEP = 3"))
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))  # not even with the same time
    assert tiny()[:2] == (70, 0)
    helper.write_text(helper.read_text().replace("STEP = 3", "STEP = 1"))
    assert tiny()[:2] == (50, 1)  # the first cache is still there


@pytest.mark.compiled
def test_two_processes_that_save_at_once_never_get_each_others_code(tiny):
    assert tiny("race") == (5, 6, 2, "")


# Keys: all that a kernel reads


def key(function):
    return sources_of(function).digest


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


def ping(x):
    return pong(x) + 1


def pong(x):
    return ping(x) + 2


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
        (reader(np.dtype("i1, i4")), reader(np.dtype("i4, i1"))),
        (reader(np.int64), reader(np.uint64)),
        (reader(Kind), reader(IntEnum("Kind", {"A": 2}, module=__name__))),
        (reader(Kind.A), reader(1)),
        (reader(Pair(1, 2)), reader(Pair(2, 1))),
        (reader(reader(1)), reader(reader(2))),
        (reader(jit.kernel(reader(1))), reader(jit.kernel(reader(2)))),
        (of_module(MODULE), of_module(OTHER_MODULE)),
        (lambda x: x + 1, lambda x: x + 2),
        (ping, pong),
        (lambda x=1: x, lambda x=2: x),
        (lambda x: [x + y for y in x], lambda x: [x - y for y in x]),
        [jit.bind(loops.view_tables, {"view": reader(value)}) for value in (1, 2)],
    ],
)
def test_what_a_kernel_reads_is_in_its_key(one, other):
    assert key(one) == key(one)
    assert key(one) != key(other)


@pytest.mark.compiled
def test_what_cannot_be_recognized_in_another_process_has_no_key_and_is_not_kept():
    for value in (object(), [1], {"a": 1}, np.array([object()]), Path):
        with pytest.raises(UnstableError):
            key(reader(value))
        assert jit.kernel(reader(value)).compiled.stats.cache_path is None  # pyright: ignore


KEYS = """
import json
from kille_env import load_game
from kille_env.play import kernels, policy, streams
from kille_env.core import digest, jit
jit.Kernel.compiled = property(lambda kernel: kernel)  # the compiler is not needed
game, choose = load_game("byteskille"), policy.UniformPolicy.kernel.choose
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


@pytest.mark.compiled
def test_an_edit_makes_cold_what_reads_it_and_nothing_else(tmp_path):
    suite = tmp_path / "kille_env"
    shutil.copytree(PACKAGE, suite, ignore=shutil.ignore_patterns("__pycache__"))
    before = json.loads(run("-c", KEYS, paths=[tmp_path])[0])
    for name, cold in EDITS.items():
        file = suite / name
        file.write_text(file.read_text() + "\n")
        after = json.loads(run("-c", KEYS, paths=[tmp_path])[0])
        assert {kernel for kernel in after if after[kernel] != before[kernel]} == cold, name
        before = after


def test_the_digest_of_a_package_covers_every_file_and_its_name(tmp_path):
    def changed():
        digest = jit.source_digest.__wrapped__(tmp_path)
        return digest not in seen and not seen.append(digest)

    seen = []
    first, second = tmp_path / "a.py", tmp_path / "sub" / "b.py"
    second.parent.mkdir()
    first.write_text("x = 1\n")
    second.write_text("y = 1\n")
    assert changed()
    second.write_text("y = 2\n")
    assert changed()
    second.rename(tmp_path / "sub" / "c.py")
    assert changed()
    first.unlink()
    assert changed()
    (tmp_path / "notes.txt").write_text("no source")
    assert not changed()


# Folders


@pytest.fixture
def base(tmp_path, monkeypatch):
    """A folder of caches of its own."""
    monkeypatch.setenv("KILLE_CACHE_DIR", str(tmp_path / "base"))
    monkeypatch.setattr(jit, "cache_base", jit.cache_base.__wrapped__)
    monkeypatch.setattr(jit, "_in_use", set())
    return tmp_path / "base"


@pytest.mark.compiled
def test_code_that_is_compiled_in_another_way_has_a_place_of_its_own(base, monkeypatch):
    def place():
        return jit.kernel(lambda x: x + 1).compiled.stats.cache_path  # pyright: ignore

    usual = place()
    assert place() == usual
    for target, name, value in [
        (compiler.settings, "BOUNDSCHECK", 0 if compiler.settings.BOUNDSCHECK else 1),
        (compiler.settings, "OPT", 0),
        (compiler, "VERSIONS", ("0.1",)),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(target, name, value)
            assert place() != usual


def test_a_folder_that_cannot_be_written_is_replaced_by_one_that_can(base, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("KILLE_CACHE_DIR", str(tmp_path / "file" / "x"))
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(tmp_path))
    chosen = jit.cache_base()
    assert chosen and chosen.parent == tmp_path and chosen.name.startswith("kille-env-")


def test_numbas_own_setting_chooses_the_folder_too(base, tmp_path, monkeypatch):
    monkeypatch.delenv("KILLE_CACHE_DIR")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert jit.cache_base() == tmp_path / "numba"


def test_without_any_folder_nothing_is_cached_and_everything_works(base, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("KILLE_CACHE_DIR", str(tmp_path / "file" / "x"))
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(tmp_path / "file"))
    assert jit.cache_base() is None
    assert jit.kernel_folder("x") is None

    numbas = compiler.settings.CACHE_DIR
    assert jit.kernel(lambda x: 2 * x)(4) == 8
    assert numbas == compiler.settings.CACHE_DIR  # kernels of other packages stay where they are


def test_kernels_that_were_not_used_for_longest_are_forgotten_but_never_ones_own(base, monkeypatch):
    monkeypatch.setattr(jit, "KEPT_KERNELS", 3)
    own = jit.kernel_folder("own")
    assert own is not None
    os.utime(own, (0, 0))
    for number in range(5):
        old = base / f"kernels-{number}"
        old.mkdir()
        os.utime(old, (1000 + number, 1000 + number))
    newest = jit.kernel_folder("new")
    assert newest is not None
    kept = {folder.name for folder in base.iterdir()}
    assert kept == {own.name, newest.name, "kernels-2", "kernels-3", "kernels-4"}


# What is said


@pytest.mark.compiled
def test_what_is_compiled_is_said_and_nothing_else(base, capsys):
    double = jit.kernel(lambda x: 2 * x)
    with jit.announce_compilation("facts"):
        pass
    with pytest.raises(RuntimeError), jit.announce_compilation("tiny"):
        double(4)
        raise RuntimeError
    assert gc.isenabled()
    assert "compiled in" not in capsys.readouterr().err
    with jit.announce_compilation("floats"):
        double(4.0)
    said = capsys.readouterr().err
    assert "compiling floats (once" in said and "floats compiled in" in said
    with jit.announce_compilation("floats"):
        double(4.0)
    assert capsys.readouterr().err == ""


def test_nothing_is_said_where_nothing_is_compiled(capsys, monkeypatch):
    monkeypatch.setattr(jit, "PLAIN", True)
    with jit.announce_compilation("tiny"):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.compiled
def test_ctrl_c_ends_with_a_whole_kernel(base):
    double = jit.kernel(lambda x: 2 * x)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        with (
            pytest.raises(KeyboardInterrupt),
            compiler.before_compiling(lambda: signal.raise_signal(signal.SIGINT)),
        ):
            double(4)
        assert double.compiled.signatures  # pyright: ignore
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


# A full disk


@pytest.fixture
def full_disk(monkeypatch):
    """Let every attempt to keep compiled code fail; returns how often that was."""
    tries = []

    def save(*_):
        tries.append(1)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(FunctionCache, "save_overload", save)
    monkeypatch.setattr(jit, "_unwritable", cache(jit._unwritable.__wrapped__))
    return tries


@pytest.mark.compiled
def test_a_full_disk_is_said_once_and_everything_works(base, full_disk, monkeypatch, capsys):
    assert jit.kernel(lambda x: 2 * x)(4) == 8
    assert jit.kernel(lambda x: 3 * x)(4) == 12
    assert len(full_disk) == 2

    def mkdir(path, **_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(jit, "cache_base", lambda: base)
    monkeypatch.setattr(Path, "mkdir", mkdir)  # no room for a folder either
    assert jit.kernel_folder("x") is None
    assert jit.kernel(lambda x: 4 * x)(4) == 16
    said = capsys.readouterr().err
    assert said.count("compiled code cannot be kept (No space left on device") == 1
    assert "KILLE_CACHE_DIR" in said


# Another Numba

ANOTHER_NUMBA = """
import hashlib, sys
import numpy as np
from kille_env.core import jit
jit.TRIED = tuple(sys.argv[1:])
import kille_env
from kille_env.core.machine import *

@jit.kernel
def bits(word, out):
    prefetch(out, 0)
    store_bits(word, out, jit.index(0))
    store_pairs(word, out, 64)
    store_four(word, out, jit.index(100))
    return bits_set(word), zeros_below(word), zeros_above(word)

seen = hashlib.sha256()
for word in (0, 1, 5 << 40, 2**63, 12345678901234567, 2**64 - 1):
    out = np.zeros(110, np.uint8)
    counts = bits(np.uint64(word), out)
    seen.update(np.array(counts).tobytes() + out.tobytes())
kille_env.registry.register("hogkort", "hogkort")
batch = kille_env.make_batch("hogkort", 16, seed=5, episode="match")
batch.reset()
for step in range(40):
    seen.update(batch.observation.tobytes() + batch.mask.tobytes())
    batch.step((np.arange(16) + step) % 2)
    seen.update(batch.reward.tobytes())
print(hashlib.sha256(seen.digest() + batch.tables.tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.compiled
def test_a_numba_that_was_not_tried_compiles_in_its_own_way_to_the_same_bytes():
    paths = [ROOT, ROOT / "docs"]
    played, said = run("-c", ANOTHER_NUMBA, "0.1.", paths=paths)
    assert "RuntimeWarning: kille-env compiles kernels in a slower way" in said
    assert played == run("-c", ANOTHER_NUMBA, paths=paths, NUMBA_DISABLE_JIT="1")[0]


def test_a_missing_private_part_of_numba_is_no_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "kille_env.core.compiler", None)
    monkeypatch.delattr("kille_env.core.compiler", raising=False)
    with pytest.warns(RuntimeWarning, match="import of kille_env.core.compiler halted"):
        assert jit._compiler.__wrapped__().__name__ == "kille_env.core.plain"
