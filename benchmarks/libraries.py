"""NashConv of each library after the same time: `python benchmarks/libraries.py`.

Every recipe of `training/recipes/` trains on single deals of Byteskille, for about 100 CPU seconds,
with several seeds; then its exact NashConv is computed. The number of decisions in that time is
measured once for each recipe and number of seats (seed 0), so that it is the same for all seeds. A
recipe runs in the virtual environment of its library, if there is one (`make test-libraries`); one
without its library is skipped, with a message.

Every finished run is a line of `--out` and is not repeated. `python docs/pages.py learning` makes
the page.
"""

import argparse
import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

from journal import ROOT, Journal

RUN = Path(__file__).with_name("library_run.py")
GROUPS = ROOT / ".venv-libraries"
SEATS, SECONDS = (2, 3), 100.0
SB3, CONTRIB = ("stable-baselines3", "torch"), ("sb3-contrib", "stable-baselines3", "torch")
RECIPES: dict[str, tuple[tuple[str, ...], str]] = {
    "ppo": (("torch",), ""),
    "mappo": (("torch",), ""),
    "sb3_maskable_ppo": (CONTRIB, ""),
    "sb3_ppo": (SB3, ""),
    "sb3_dqn": (SB3, ""),
    "torchrl_ppo": (("torchrl", "tensordict", "torch"), "torch"),
    "tianshou_ppo": (("tianshou", "torch"), "torch"),
    "rllib_ppo": (("ray", "torch"), "rllib"),
    "agilerl_ppo": (("agilerl", "torch"), "agilerl"),
    "jax_ppo": (("jax", "optax"), "jax"),
}
"""Distributions with reported versions, the library itself first, and the virtual environment below
`.venv-libraries`; empty for the current one."""
FIRST = {"jax_ppo": 1_500_000}
"""Decisions of the run that measures the speed, by recipe; 300,000 by default."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("runs/libraries.jsonl"))
    options = parser.parse_args()
    journal = Journal(options.out)
    for name, (distributions, group) in RECIPES.items():
        python = GROUPS / group / "bin" / "python" if group else Path(sys.executable)
        if not python.exists():
            print(f"{name}: left out; first: make test-libraries ARGS={group}", file=sys.stderr)
            continue
        for seats, seed in product(SEATS, range(options.seeds + 1)):
            key = {"recipe": name, "num_players": seats, "seed": seed}
            settings = {"game": "byteskille", "seconds": SECONDS}
            if journal.has(key, settings):
                continue
            decisions = FIRST.get(name, 300_000)
            if seed:
                (first,) = (line for line in journal.lines if line == line | key | {"seed": 0})
                decisions = round(first["decisions"] / first["seconds"] * SECONDS, -4)
            asked = {"game": "byteskille", "decisions": int(decisions), **key}
            found = _run(python, {"distributions": distributions, **asked})
            journal.add(key, settings, decisions=int(decisions), **found)
            print(json.dumps(key | found), flush=True)


def _run(python: Path, asked: dict[str, Any]) -> dict[str, Any]:
    rooms = os.pathsep.join(str(ROOT / room) for room in (".", "agents", "training"))
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": rooms}
    command = [str(python), str(RUN), json.dumps(asked)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    return json.loads(ended.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
