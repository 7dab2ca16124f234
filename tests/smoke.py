"""What an installed kille-env must do anywhere: plays, trains, measures; run by its path alone.

python -P tests/smoke.py
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import gymnasium
from pettingzoo.test import api_test

import kille_env


def play() -> None:
    """Try each game in each form."""
    for game in kille_env.list_games():
        api_test(kille_env.make(game), num_cycles=50)
        gymnasium.make(f"kille_env/{game}-v{kille_env.spec(game).version}").reset(seed=0)
        batch = kille_env.make_batch(game, 8, seed=0)
        batch.reset()
        for _ in range(20):
            batch.step(batch.mask.argmax(axis=1))
    kille = [str(Path(sys.executable).parent / "kille"), "games"]
    print(subprocess.check_output(kille, text=True))


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
    checkout = Path(__file__).resolve().parents[1]
    assert checkout not in Path(kille_env.__file__).parents, "this is the checkout, not the wheel"
    play()
    trains = find_spec("torch") is not None
    if trains:
        train_and_measure()
    python = sys.version.split()[0]
    print(f"all well on Python {python}{'' if trains else ', without the extra train'}")


if __name__ == "__main__":
    main()
