"""Rows of a table of figures, the clock, random choices, and the machine of a measurement."""

import contextlib
import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

Spread = tuple[float, float, float]  # median, the least and the largest of several runs


@dataclass(frozen=True)
class Row:
    """A measured figure."""

    what: str
    value: float
    low: float
    high: float
    unit: str
    times: Spread | None = None
    includes: str = ""


def spread(runs: Iterable[float]) -> Spread:
    """Return the median, the least and the largest of a figure's runs."""
    values = list(runs)
    return statistics.median(values), min(values), max(values)


def row(what: str, runs: Iterable[float], unit: str, **more: Any) -> Row:
    """Return the row of a figure's runs; `more` are further attributes of `Row`."""
    return Row(what, *spread(runs), unit, **more)


def seconds(repeats: int, work: Callable[..., object], *arguments: Any) -> list[float]:
    """Return the seconds of repeated calls."""
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        work(*arguments)
        spent.append(time.perf_counter() - start)
    return spent


def random_actions(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return uniform legal actions [N] for masks [N, A]."""
    return (mask * rng.random(mask.shape, dtype=np.float32)).argmax(axis=1)


def machine() -> dict[str, str]:
    """Return the machine and the versions of libraries."""
    from kille_training.settings import versions

    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        named = re.search(r"(?m)^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text())
        model = named[1] if named else model
    about = {"cpu": model, "cores": str(os.cpu_count()), "pettingzoo": version("pettingzoo")}
    return about | versions()
