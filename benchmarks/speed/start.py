"""Rows for starting: importing and compiling, each in fresh interpreters."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from speed.rows import Row, row


def _fresh(code: str, cache: str | None = None) -> float:
    """Returns the seconds that a fresh interpreter prints."""
    environment = {**os.environ, **({"KILLE_CACHE_DIR": cache} if cache else {})}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout.strip().splitlines()[-1])


def _help() -> float:
    """Returns the seconds of `kille --help` from start to end."""
    start = time.perf_counter()
    words = [sys.executable, "-m", "kille_training.cli.main", "--help"]
    subprocess.run(words, capture_output=True, check=True)
    return time.perf_counter() - start


def bench_start(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Importing, the first compilation, a warm start, and help, each in fresh interpreters."""
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
    yield row("kille --help", [_help() for _ in range(repeats)], "s", "0.3")
