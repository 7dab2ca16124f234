"""What each library reaches in the same time: `python benchmarks/libraries.py`.

Every recipe of `training/recipes/` but `sb3_recurrent_ppo`, whose memory has no exact NashConv by
the default rules, trains on single deals of Byteskille, for about 100 processor seconds, with
several seeds; then its exact NashConv is computed. How many decisions fit into that time is
measured first, once for each recipe and number of seats, and kept, so all seeds make equally many.
A recipe of a library that has a virtual environment of its own (`make test-libraries` makes them)
runs in there; one whose library is missing is left out, with a line that says so.

Every finished run is a line of `--out` and is not repeated, so the benchmark can be stopped and
resumed. `python docs/learning.py` makes the page of them.
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curves import Journal

ROOT = Path(__file__).parents[1]
RUN = Path(__file__).with_name("library_run.py")
GROUPS = ROOT / ".venv-libraries"

STREAMS = (
    "kille_env.adapters.sb3:SelfPlayVecEnv.step_wait",
    "kille_env.adapters.sb3:SelfPlayVecEnv.action_masks",
)
SEATS = (
    "kille_env.adapters.sb3:SeatVecEnv.step_wait",
    "kille_env.adapters.sb3:SeatVecEnv.action_masks",
)
COLLECT = (
    "kille_env.play.experience:Collector.__init__(policy)",
    "kille_env.play.experience:Collector.collect",
    "kille_env.play.experience:Collector.finish",
)
TORCHRL = ("kille_env.adapters.torchrl:SeatEnv._step",)
TIANSHOU = (*COLLECT, "kille_env.adapters.tianshou:SeatCollector._collect")
BATCH = ("kille_env.core.batch:Batch.step", "kille_env.core.batch:Batch.reset")


@dataclass(frozen=True)
class Recipe:
    """What is measured.

    Attributes:
        libraries: Distributions whose versions are told, the library itself first.
        group: Its virtual environment below `.venv-libraries`; empty for the one that runs this.
        doors: Where it enters the environment, see `library_run.Meter.watch`.
        first: Decisions of the run that measures the speed, some seconds of it.
    """

    libraries: tuple[str, ...]
    group: str
    doors: tuple[str, ...]
    first: int = 300_000

    @property
    def python(self) -> Path:
        """The interpreter that it runs in."""
        own = Path(sys.executable)
        return GROUPS / self.group / "bin" / "python" if self.group else own


SB3, CONTRIB = ("stable-baselines3", "torch"), ("sb3-contrib", "stable-baselines3", "torch")
RECIPES = {
    "ppo": Recipe(("torch",), "", COLLECT),
    "sb3_maskable_ppo": Recipe(CONTRIB, "", STREAMS),
    "sb3_ppo": Recipe(SB3, "", SEATS),
    "sb3_dqn": Recipe(SB3, "", SEATS),
    "torchrl_ppo": Recipe(("torchrl", "tensordict", "torch"), "torch", TORCHRL),
    "tianshou_ppo": Recipe(("tianshou", "torch"), "torch", TIANSHOU),
    "rllib_ppo": Recipe(("ray", "torch"), "rllib", COLLECT),
    "agilerl_ppo": Recipe(("agilerl", "torch"), "agilerl", COLLECT),
    "jax_ppo": Recipe(("jax", "optax"), "jax", BATCH, first=1_500_000),  # it compiles first
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recipes", nargs="*", help="Recipes; all by default.")
    parser.add_argument("--players", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=100.0)
    parser.add_argument("--out", type=Path, default=Path("runs/libraries.jsonl"))
    options = parser.parse_args()
    if unknown := set(options.recipes) - set(RECIPES):
        parser.error(f"there is no recipe {unknown.pop()!r}; there are {', '.join(RECIPES)}")
    journal = Journal(options.out)
    for name in options.recipes or RECIPES:
        if not RECIPES[name].python.exists():
            group = RECIPES[name].group
            print(f"{name}: left out; first: make test-libraries ARGS={group}", file=sys.stderr)
            continue
        for players in options.players:
            for seed in range(options.seeds + 1):
                _measure(journal, name, players, seed, options.seconds)


def _measure(journal: Journal, name: str, players: int, seed: int, seconds: float) -> None:
    """Makes a run unless it is there; the one with seed 0 measures the speed."""
    key = {"recipe": name, "num_players": players, "seed": seed}
    settings = {"game": "byteskille", "seconds": seconds}
    if journal.has(key, settings):
        return
    decisions = RECIPES[name].first
    if seed:
        (first,) = (line for line in journal.lines if line == line | {**key, "seed": 0})
        decisions = round(first["decisions"] / first["seconds"] * seconds, -4)
    found = _run(name, num_players=players, decisions=int(decisions), seed=seed)
    journal.add(key, settings, decisions=int(decisions), **found)
    print(
        f"{name}, {players} seats, seed {seed}: {decisions:,.0f} decisions in "
        f"{found['seconds']:.0f} s, {found['inside']:.0f} s of them in the environment; NashConv "
        f"{found['sampled']:.4f} sampled, {found['greedy']:.4f} greedy",
        flush=True,
    )


def _run(name: str, **asked: Any) -> dict[str, Any]:
    recipe = RECIPES[name]
    told = {
        "recipe": name,
        "doors": recipe.doors,
        "distributions": recipe.libraries,
        "game": "byteskille",
        **asked,
    }
    rooms = os.pathsep.join(str(ROOT / room) for room in (".", "agents", "training"))
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": rooms}
    command = [str(recipe.python), str(RUN), json.dumps(told)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    return json.loads(ended.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
