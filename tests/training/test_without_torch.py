"""Measuring where torch is not installed: own networks as policy folders, in a fresh process."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

import kille_training as kt
from kille_agents import save_policy
from kille_env.core.spec import width
from kille_env.play.functions import FunctionPolicy
from kille_env.registry import spec
from reference.scripts import printed

TORCH = ("torch", "stable_baselines3", "sb3_contrib")
IMPORTS = "import kille_training as kt\nfrom kille_training.cli.main import main\n"
TABLE: dict[str, Any] = {"num_players": 2, "rules": {"fraga": "off"}}
ASKED: Any = {"observation": "float", "returns": "logits"}


def without_torch(code: str) -> list[str]:
    return printed(IMPORTS + code, without=TORCH).split("\n")


def test_an_own_network_is_measured_where_torch_is_not_installed(tmp_path: Path) -> None:
    torch.manual_seed(0)
    game = spec("byteskille")
    features, actions = width(game.observation(2)), game.num_actions
    network = FunctionPolicy(torch.nn.Linear(features, actions), **ASKED)
    folder = save_policy(network, tmp_path / "mine", "byteskille", **TABLE)
    runs = tmp_path / "runs"
    play = (
        f"kt.play_tournament({{'mine': {str(folder)!r}, 'rule': 'rule_of_thumb'}}, 'byteskille', "
        f"deals=DEALS, out={str(runs)!r}, **{TABLE!r})"
    )
    said = without_torch(
        f"print(float(kt.nash_conv({str(folder)!r})))\n"
        f"found = kt.evaluate({str(folder)!r}, baselines='uniform', deals=50, play='sampled')\n"
        "print(found.rows[0].estimate.mean)\n"
        f"print(len({play.replace('DEALS', '20')}.frame()))\n"
    )
    exact = float(kt.nash_conv(network, "byteskille", **TABLE))
    assert float(said[0]) == pytest.approx(exact, abs=1e-5)
    wanted = kt.evaluate(
        network, "byteskille", baselines="uniform", deals=50, play="sampled", **TABLE
    )
    assert float(said[1]) == pytest.approx(wanted.rows[0].estimate.mean, abs=1e-9)
    assert said[2] == "2"

    again = without_torch(  # another process adds to what the first has kept
        f"found = {play.replace('DEALS', '30')}\nprint(found.tally.observations)\n"
        f"print(main(['evaluate', {str(folder)!r}, '--deals', '10', '--json']))"
    )
    assert again[0] == "30" and again[-2] == "0"
