"""Rows for starting: importing and compiling, each in fresh interpreters."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from kille_env.errors import KilleError
from speed.rows import Row, row

LISTS = ("games", "players")
WRONG = "play --no-such-option"
SHARE = """
from numba.core.event import install_recorder
with install_recorder("numba:compile") as seen:
    {start}
depth, shared, total = 0, 0.0, 0.0
for stamp, event in seen.buffer:
    depth += 1 if event.is_start else -1
    if depth == 1 and event.is_start:
        begun = stamp
    elif depth == 0:
        total += stamp - begun
        shared += (stamp - begun) * (not event.data["dispatcher"].__name__.endswith({game!r}))
print(100 * shared / total)
"""
"""Prints the percentage of a compilation that kernels take which are bound to no game."""


def _fresh(code: str, cache: str | None = None) -> float:
    """Returns the seconds that a fresh interpreter prints."""
    environment = {**os.environ, **({"KILLE_CACHE_DIR": cache} if cache else {})}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout.strip().splitlines()[-1])


def _ended(*words: str, status: int = 0) -> float:
    """Returns the seconds of a Python program from start to end."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode != status:
        raise KilleError(f"python {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return seconds


def _commands_that_print(repeats: int) -> Iterator[Row]:
    """All help, a list of each kind and a wrong option, beside an interpreter that does nothing."""
    kille = ("-m", "kille_training.cli.main")
    listed = subprocess.run([sys.executable, *kille, "--help"], capture_output=True, text=True)
    commands = re.findall(r"^  ([a-z][a-z-]+)  ", listed.stdout.partition("Commands:")[2], re.M)
    printing = ["--help", *LISTS, WRONG, *(f"{command} --help" for command in commands)]
    bare = row("a bare interpreter", [_ended("-c", "pass") for _ in range(repeats)], "s")
    yield bare
    rows = [row(f"kille {words}", _each(words, kille, repeats), "s", "0.3") for words in printing]
    yield from rows
    slowest = max(each.value for each in rows) / bare.value
    yield row("the slowest of them, in starts of a bare interpreter", [slowest], "starts")


def _each(words: str, kille: tuple[str, ...], repeats: int) -> list[float]:
    return [_ended(*kille, *words.split(), status=int(words == WRONG)) for _ in range(repeats)]


def bench_start(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Importing, the first compilation, a warm start, and commands, each in fresh interpreters."""
    clock = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
    imported = [_fresh(clock.format("import kille_env")) for _ in range(repeats)]
    yield row("import kille_env", imported, "s", "0.5")
    start = (
        f"import kille_env; b = kille_env.make_batch({game!r}, 8, {players}, seed=0); b.reset(); "
        "b.step(b.mask.argmax(axis=1))"
    )
    first, warm = [], []
    for _ in range(min(repeats, 3)):
        with tempfile.TemporaryDirectory() as cache:
            first.append(_fresh(clock.format(start), cache))
            warm += [_fresh(clock.format(start), cache) for _ in range(2)]
    yield row("first compilation: import, reset, step", first, "s", "20")
    yield row("warm start: import, reset, step", warm, "s", "1")
    with tempfile.TemporaryDirectory() as cache:
        share = _fresh(SHARE.format(start=start, game=game), cache)
    yield row("of the first compilation: kernels bound to no game", [share], "%")
    yield from _commands_that_print(repeats)
