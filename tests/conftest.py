"""What every test can ask for: the registered games, and how much work is fair.

The suite runs three ways: compiled; as plain Python (NUMBA_DISABLE_JIT=1, some hundred times
slower) for coverage and errors that name a line; with every index checked (NUMBA_BOUNDSCHECK=1).
Tests that play many games ask `scale` how many.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

os.environ.setdefault("KILLE_PLAIN_START", "0")  # tests/env/test_start.py says what that leaves out

import kille_env

PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
SHARE = float(os.environ.get("KILLE_TEST_SCALE", "0.02" if PLAIN else "1"))


@pytest.fixture(scope="session")
def scale() -> Callable[..., int]:
    """Return `scale(n, least=1)`: n compiled, a fiftieth as plain Python, never below `least`."""

    def scaled(n: int, least: int = 1) -> int:
        return max(least, round(n * SHARE))

    return scaled


@pytest.fixture(params=kille_env.list_games())
def game(request: pytest.FixtureRequest) -> str:
    """The name of every registered game in turn."""
    return request.param


@pytest.fixture
def hogkort(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the example game of the docs, which is registered for a test."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "docs")
    for held in ("_modules", "_versions"):
        monkeypatch.setattr(kille_env.registry, held, dict(getattr(kille_env.registry, held)))
    kille_env.registry.register("hogkort", "hogkort")
    return "hogkort"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked `compiled` when nothing is."""
    if PLAIN:
        skip = pytest.mark.skip(reason="needs compiled kernels to end in time")
        for item in items:
            if item.get_closest_marker("compiled"):
                item.add_marker(skip)
