"""The recipe in one file: it learns, it is repeatable, and processes share one learner."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kille_training as kt
from kille_env import make_batch
from reference.scripts import script

ROOT = Path(__file__).parents[2]


@pytest.fixture
def ppo(monkeypatch: pytest.MonkeyPatch) -> Any:
    recipe = script("training/recipes/ppo.py")
    monkeypatch.setattr(recipe, "TABLES", 128)
    return recipe


def test_it_learns(ppo: Any) -> None:
    assert kt.nash_conv(ppo.train(num_players=2, decisions=40_000), "byteskille", 2).stakes < 0.15


def test_same_seed_same_player_in_every_game(ppo: Any, game: str) -> None:
    batch = make_batch(game, 16, 3, seed=1)
    batch.reset()
    seen = batch.observation.copy(), batch.mask.copy()
    found = [np.asarray(ppo.train(game, 3, 800, seed)(*seen)) for seed in (1, 1, 2)]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


TOGETHER = """
import hashlib, sys
import ppo

class Kept(ppo.Learner):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        kept.append(self)

def spy(batch, policy):
    played = plain(batch, policy)
    seen.append(played.observation.tobytes())
    return played

kept, seen, plain = [], [], ppo.collect
ppo.Learner, ppo.collect, ppo.TABLES = Kept, spy, 64
ppo.train("byteskille", 2, 2_000, 7)
weights = b"".join(values.numpy().tobytes() for values in kept[0].state_dict().values())
print(len(seen), *(hashlib.sha256(b).hexdigest() for b in (weights, b"".join(seen))), flush=True)
"""


@pytest.mark.compiled
def test_processes_play_different_deals_and_hold_the_same_weights(tmp_path: Path) -> None:
    file = tmp_path / "together.py"
    file.write_text(TOGETHER)
    places = (ROOT, ROOT / "agents", ROOT / "training", ROOT / "training" / "recipes")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    found = subprocess.run(
        [*command, "--redirects=3", f"--log-dir={tmp_path / 'logs'}", str(file)],
        env={**os.environ, "PYTHONPATH": ":".join(map(str, places)), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    (one, other) = [path.read_text().split() for path in sorted(tmp_path.rglob("stdout.log"))]
    assert one[0] == other[0] and int(one[0]) > 1
    assert one[1] == other[1]
    assert one[2] != other[2]
