"""What an installed kille-env must do anywhere: plays, trains, measures; run by its path alone.

python -P tests/smoke.py
"""

import importlib
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import gymnasium
from pettingzoo.test import api_test

import kille_env
from kille_env.extras import EXTRAS
from kille_training.cli.main import COMMANDS

QUICK = ("byteskille", "--players", "2")
CALLS = {
    "games": (("games",), ("games", "knack", "--manual"), ("games", "knack", "--json")),
    "players": (("players", "knack"), ("players", "knack/trained")),
    "play": (("play", *QUICK), ("play", *QUICK, "--opponents", "byteskille/trained")),
    "record": (("record", *QUICK, "rule_of_thumb", "search", "--out", "matches.jsonl"),),
    "replay": (("replay", "matches.jsonl"), ("replay", "matches.jsonl", "--check")),
}
"""Calls of the commands that need no extra."""
NEED = {
    "play --web": ("web", ("play", *QUICK, "--web")),
    "replay --html": ("measure", ("replay", "matches.jsonl", "--html", "page.html")),
    "evaluate": ("measure", ("evaluate", "uniform", "--deals", "2", "--players", "2")),
    "solve": ("measure", ("solve", *QUICK, "--set", "iterations=1")),
    "compare": ("measure", ("compare", "rule_of_thumb", "uniform", "--set", "most=10")),
    "tournament": ("measure", ("tournament", "byteskille", "--set", "matchmaking.deals=1")),
    "train": ("train", ("train", "demo")),
    "best-response": ("train", ("best-response", "uniform")),
    "benchmark": ("train", ("benchmark", "quick")),
}
"""Extra and call of the others."""
PUBLIC = ("kille_env", "kille_agents", "kille_training")


def play() -> None:
    """Try each game in each form."""
    for game in kille_env.list_games():
        api_test(kille_env.make(game), num_cycles=50)
        gymnasium.make(f"kille_env/{game}-v{kille_env.spec(game).version}").reset(seed=0)
        batch = kille_env.make_batch(game, 8, seed=0)
        batch.reset()
        for _ in range(20):
            batch.step(batch.mask.argmax(axis=1))


def commands() -> None:
    """Try each command: it works, or names the extra that it needs."""
    untried = set(COMMANDS) - set(CALLS) - set(NEED)
    assert not untried, f"no call of {', '.join(untried)}"
    for calls in CALLS.values():
        for words in calls:
            status, said = kille(words)
            assert status == 0, said
    for what, (extra, words) in NEED.items():
        if not all(map(find_spec, EXTRAS[extra].values())):
            status, said = kille(words)
            assert status == 1 and f'pip install ".[{extra}]"' in said, f"{what}: {said}"


def kille(words: tuple[str, ...]) -> tuple[int, str]:
    """Return the exit status of a command that reads the end of its input, and its output."""
    print("kille", *words, flush=True)
    program = [str(Path(sys.executable).parent / "kille"), *words]
    done = subprocess.run(program, input="", capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def public_names() -> None:
    """Try each public name: it is there, or names the extra that it needs."""
    for module in map(importlib.import_module, PUBLIC):
        for name in module.__all__:
            try:
                getattr(module, name)
            except ModuleNotFoundError as error:
                assert 'pip install ".[' in str(error), f"{module.__name__}.{name}: {error}"
                print(f"{module.__name__}.{name} needs an extra")


def train_and_measure() -> None:
    """Try one training run, one measurement, one exact one, one tournament."""
    import torch

    import kille_training as kt
    from kille_env.sb3 import Anneal, SeatPPO, SelfPlayVecEnv, save, settings

    torch.set_num_threads(1)
    venv = SelfPlayVecEnv("knack", num_tables=16, num_players=2)
    model = SeatPPO(**settings(venv), seed=0)
    model.learn(venv.num_envs * model.n_steps + 1, callback=Anneal())
    save(model, "model.zip")
    print(kt.evaluate(model, "knack", 2, deals=50))
    print(kt.nash_conv("uniform", "byteskille", 2))
    print(kt.play_tournament(["uniform", "rule_of_thumb"], "knack", num_players=2, deals=50))


def main() -> None:
    """Try what the installed extras allow."""
    installed = Path(sys.prefix) in Path(kille_env.__file__).parents
    assert installed, f"{kille_env.__file__} is not what was installed into {sys.prefix}"
    play()
    public_names()
    commands()
    trains = find_spec("torch") is not None
    if trains:
        train_and_measure()
    python = sys.version.split()[0]
    print(f"all well on Python {python}{'' if trains else ', without the extra train'}")


if __name__ == "__main__":
    main()
