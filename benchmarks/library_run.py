"""One measured run of a recipe in the virtual environment of its library; see `libraries.py`.

`python benchmarks/library_run.py '{"recipe": "ppo", ...}'` prints one JSON object: the CPU seconds
of training, exact NashConv in stakes, and the versions of the libraries.
"""

import importlib
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kille_training as kt


def measured(recipe: str, distributions: list[str], **asked: Any) -> dict[str, Any]:
    """Train and measure."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "training" / "recipes"))
    train = importlib.import_module(recipe).train
    train(**{**asked, "decisions": 1})  # exclude compilation and imports from the time
    began = time.process_time()
    player = train(**asked)
    found: dict[str, Any] = {"seconds": round(time.process_time() - began, 3)}
    for play in ("sampled", "greedy"):
        measure = kt.nash_conv(player, asked["game"], asked["num_players"], play=play)
        found[play] = round(measure.stakes, 9)
    return found | {"versions": {name: version(name) for name in distributions}}


if __name__ == "__main__":
    print(json.dumps(measured(**json.loads(sys.argv[1]))))
