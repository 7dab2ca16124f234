"""What `kille doctor` looks at: one function for each part of an installation."""

import importlib.util
import os
import platform
import re
import shutil
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import kille_env
from kille_env.core.jit import PLAIN, cache_folder
from kille_env.core.text import counted, listed
from kille_env.extras import EXTRAS

FINE, NOTE, WARNING, BROKEN = "fine", "note", "warning", "broken"
LEVELS = (BROKEN, WARNING, NOTE, FINE)
"""How bad a finding is, the worst first; only what is broken is an error."""

DISTRIBUTION = "kille-env"
GIB = 2**30
LITTLE_MEMORY, LITTLE_DISK = 2 * GIB, GIB
"""Bytes below which a warning is due: training and trees need gigabytes, runs and caches less."""


class Finding(NamedTuple):
    """One thing that was looked at.

    Attributes:
        part: What it belongs to, as "threads".
        what: The thing.
        found: What was found.
        level: One of `LEVELS`.
        mend: What to do about it; empty if nothing has to be done.
    """

    part: str
    what: str
    found: str
    level: str = FINE
    mend: str = ""


def examine() -> list[Finding]:
    """Returns everything that was found, part by part."""
    return [finding for check in CHECKS for finding in check()]


def to_mend(findings: list[Finding]) -> list[Finding]:
    """Returns what there is to mend, the worst first."""
    return sorted((one for one in findings if one.mend), key=lambda one: LEVELS.index(one.level))


# Versions


def versions() -> Iterator[Finding]:
    """Yields the versions of Python, of this suite and of what it always needs."""
    yield Finding("versions", "kille-env", kille_env.__version__)
    python = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield Finding("versions", "Python", python)
    needed = declared()
    if not needed:
        yield Finding("versions", "installed", "no: it runs from a folder", NOTE)
    for name in sorted(needed.get("", ())):
        yield _library("versions", name, needed[""][name], "", BROKEN)


def extras() -> Iterator[Finding]:
    """Yields the optional libraries by the extra that brings them."""
    needed = declared()
    for extra, brought in EXTRAS.items():
        install = f'pip install "{DISTRIBUTION}[{extra}]"'
        lacking = [name for name, module in brought.items() if not importable(module)]
        if lacking:
            found = f"not installed: {listed(lacking)}"
            mend = install if extra == "train" else ""
            yield Finding("extras", extra, found, NOTE, mend)
            continue
        for name in brought:
            yield _library("extras", name, needed.get(extra, {}).get(name, ""), extra, WARNING)


def _library(part: str, name: str, least: str, extra: str, level: str) -> Finding:
    what = f"{extra}: {name}" if extra else name
    try:
        version = metadata.version(name.partition("[")[0])
    except metadata.PackageNotFoundError:
        return Finding(part, what, "not installed", level, f"pip install {name}")
    if least and numbers(version) < numbers(least):
        mend = f'pip install --upgrade "{name}>={least}"'
        return Finding(part, what, f"{version}, older than {least}", level, mend)
    return Finding(part, what, version)


def importable(module: str) -> bool:
    """Returns whether a library is there; it is not imported, which can take seconds."""
    try:
        return importlib.util.find_spec(module.partition(".")[0]) is not None
    except ValueError:  # somebody has put a stand-in for it into sys.modules
        return False


def declared() -> dict[str, dict[str, str]]:
    """Returns the lowest version of each dependency, by extra ("" for the base)."""
    found: dict[str, dict[str, str]] = {}
    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return found
    for line in lines:
        wanted, _, marker = line.partition(";")
        name = re.match(r"[\w.-]+(\[[\w,]+\])?", wanted)
        least = re.search(r">=\s*([\w.]+)", wanted)
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)", marker)
        if name and least:
            found.setdefault(extra[1] if extra else "", {})[name[0]] = least[1]
    return found


def numbers(version: str) -> tuple[int, ...]:
    """Returns a version's numbers, to compare: "2.13.0+cpu" is (2, 13), as is "2.13"."""
    plain = re.match(r"[\d.]*", version)
    found = [int(part) for part in plain[0].split(".") if part] if plain else []
    while found and not found[-1]:
        found.pop()
    return tuple(found)


# The machine


def cache() -> Iterator[Finding]:
    """Yields where compiled kernels are kept, and which games are warm."""
    if PLAIN:
        mend = "unset NUMBA_DISABLE_JIT, unless you look for an error in a kernel"
        yield Finding("cache", "compiler", "off: some hundred times slower", WARNING, mend)
        return
    folder = cache_folder(Path(kille_env.__file__).parent)
    chosen = os.environ.get("KILLE_CACHE_DIR")
    if folder is None:
        mend = "set KILLE_CACHE_DIR to a folder that can be written: every start compiles again"
        yield Finding("cache", "folder", "none can be written", BROKEN, mend)
        return
    if chosen and not folder.is_relative_to(chosen):
        mend = "make KILLE_CACHE_DIR a folder that can be written"
        yield Finding("cache", "KILLE_CACHE_DIR", f"cannot write {chosen}", WARNING, mend)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    yield Finding("cache", "folder", f"{folder}, {size / 2**20:.0f} MiB")
    warm = sorted(marker.name.removeprefix("compiled-") for marker in folder.glob("compiled-*"))
    cold = [game for game in kille_env.list_games() if game not in warm]
    if warm:
        yield Finding("cache", "warm", listed(warm))
    if cold:
        found = f"{listed(cold)}: the first use compiles for half a minute or so"
        yield Finding("cache", "cold", found, NOTE)


def threads() -> Iterator[Finding]:
    """Yields how many processors there are, and the settings of threads."""
    usable = processors()
    yield Finding("threads", "processors", f"{usable} usable of {os.cpu_count()}")
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        asked = os.environ.get(name, "")
        if asked.isdecimal() and int(asked) > usable:
            mend = f"set {name} to at most {usable}; 1 is best for small networks"
            yield Finding("threads", name, f"{asked}, more than processors", WARNING, mend)
        elif asked:
            yield Finding("threads", name, asked)
    if not os.environ.get("OMP_NUM_THREADS") and usable > 1:
        mend = "set OMP_NUM_THREADS=1 for training loops of your own: small networks get faster"
        found = f"not set: torch takes up to {counted(usable, 'thread', 'threads')}"
        yield Finding("threads", "OMP_NUM_THREADS", found, NOTE, mend)


def processors() -> int:
    """Returns how many processors this process may use, a container's quota included."""
    count = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    quota, _, period = _line("/sys/fs/cgroup/cpu.max").partition(" ")
    if quota.isdecimal() and period.isdecimal():
        count = min(count, max(1, -(-int(quota) // int(period))))
    return count


def memory() -> Iterator[Finding]:
    """Yields how much memory is free; nothing where the system does not say."""
    found = re.search(r"MemAvailable:\s+(\d+) kB", _text("/proc/meminfo"))
    if found is None:
        return
    free, most = int(found[1]) * 1024, _line("/sys/fs/cgroup/memory.max")
    if most.isdecimal():
        used = int(_line("/sys/fs/cgroup/memory.current") or 0)
        # The group counts files that were read, which are dropped when memory is needed.
        cached = re.search(r"^inactive_file (\d+)$", _text("/sys/fs/cgroup/memory.stat"), re.M)
        free = min(free, int(most) - used + (int(cached[1]) if cached else 0))
    little = free < LITTLE_MEMORY
    mend = "free some memory: training, and trees of four seats, need gigabytes" if little else ""
    yield Finding("memory", "free", f"{free / GIB:.1f} GiB", WARNING if little else FINE, mend)


def disk() -> Iterator[Finding]:
    """Yields how much room there is for runs."""
    free = shutil.disk_usage(Path.cwd()).free
    little = free < LITTLE_DISK
    mend = "free some space: runs, records and caches are written here" if little else ""
    found = f"{free / GIB:.1f} GiB in {Path.cwd()}"
    yield Finding("disk", "free", found, WARNING if little else FINE, mend)


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:  # another system, or no such control group
        return ""


def _line(path: str) -> str:
    return _text(path).strip()


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    versions, extras, cache, threads, memory, disk
)  # fmt: skip
"""Every check, in the order in which they are shown."""
