"""One run of a recipe, measured: `python benchmarks/library_run.py '{"recipe": "ppo", ...}'`.

Prints one JSON object: the processor seconds of the training, how many of them were spent inside
the environment, exact NashConv in stakes, and the versions of the libraries. `libraries.py` calls
it in the virtual environment of each recipe.

The library's own ceiling is what it would reach on an environment that costs nothing: the same run
without the seconds inside the environment, opponents' answers included. Where the environment calls
the learner's policy (`collect`), these seconds are the library's.
"""

import importlib
import importlib.metadata
import json
import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import kille_training as kt

RECIPES = Path(__file__).parents[1] / "training" / "recipes"


class Meter:
    """Adds up the processor seconds that are spent inside some functions.

    Attributes:
        seconds: So far.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._inside, self._since = False, 0.0

    def _switch(self, inside: bool) -> bool:
        """Counts from now on, or no longer; returns what held before."""
        now, before = time.process_time(), self._inside
        if before:
            self.seconds += now - self._since
        self._inside, self._since = inside, now
        return before

    def around(self, function: Callable[..., Any], inside: bool = True) -> Callable[..., Any]:
        """Returns a function whose seconds count, or (`inside=False`) do not."""

        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            before = self._switch(inside)
            try:
                return function(*arguments, **options)
            finally:
                self._switch(before)

        return call

    def watch(self, door: str) -> None:
        """Counts the seconds inside a method from now on.

        Args:
            door: "module:Class.method"; "module:Class.method(argument)" leaves out what the
                function costs that is passed as that argument.
        """
        module, _, path = door.partition(":")
        owner, _, method = path.partition(".")
        method, _, argument = method.rstrip(")").partition("(")
        kind = getattr(importlib.import_module(module), owner)
        function = getattr(kind, method)
        if not argument:
            setattr(kind, method, self.around(function))
            return

        @wraps(function)
        def call(self_: Any, *arguments: Any, **options: Any) -> Any:
            names = function.__code__.co_varnames[1 : 1 + len(arguments)]
            given = dict(zip(names, arguments, strict=True)) | options
            if callable(given[argument]):
                given[argument] = self.around(given[argument], inside=False)
            return function(self_, **given)

        setattr(kind, method, call)


def load(recipe: str) -> Callable[..., Any]:
    """Returns the function `train` of a recipe."""
    sys.path.insert(0, str(RECIPES))
    return importlib.import_module(recipe).train


def measured(
    recipe: str, doors: list[str], distributions: list[str], **asked: Any
) -> dict[str, Any]:
    """Trains and measures.

    Args:
        recipe: Its name.
        doors: What its environment is entered by, see `Meter.watch`.
        distributions: Libraries whose versions are told.
        **asked: game, num_players, decisions, seed.
    """
    meter, train = Meter(), load(recipe)
    for door in doors:
        meter.watch(door)
    train(**{**asked, "decisions": 1})  # what is compiled or imported at the first use is not timed
    meter.seconds = 0.0
    began = time.process_time()
    player = train(**asked)
    seconds, inside = time.process_time() - began, meter.seconds
    found: dict[str, Any] = {"seconds": round(seconds, 3), "inside": round(inside, 3)}
    for play in ("sampled", "greedy"):
        measure = kt.nash_conv(player, asked["game"], asked["num_players"], play=play)
        found[play] = round(measure.stakes, 9)
    found["versions"] = {name: importlib.metadata.version(name) for name in distributions}
    return found


if __name__ == "__main__":
    print(json.dumps(measured(**json.loads(sys.argv[1]))))
