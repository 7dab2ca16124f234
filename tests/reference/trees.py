"""Trees of Byteskille by a preset or switches, for tests."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kille_env.core.spec import Rules
from kille_env.registry import spec
from kille_training.solving import grow
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.efg import EfgTree
from kille_training.solving.trees.tree import FlatTree


def _resolved(rules: Rules | str | Mapping[str, Any] | None) -> Rules:
    return spec("byteskille").resolve(rules, episode="deal")


def build_deal(num_players: int, rules: Any = None, **grown: Any) -> DealStages:
    """Return the trees of a deal; see `solving.grow`."""
    return grow.build_deal(num_players, _resolved(rules), **grown)


def build_stage(num_players: int, rules: Any = None, **grown: Any) -> Stage:
    """Return the tree of its first hand."""
    return grow.grow_stage(num_players, _resolved(rules), **grown)


def numbered(tree: FlatTree) -> EfgTree:
    """Return a tree whose information sets have numbers for names, and so have the actions."""
    places = np.arange(tree.num_sequences) - np.repeat(tree.first[:-1], np.diff(tree.first))
    return EfgTree(tree, list(map(str, places)), list(map(str, range(tree.num_infosets))))


def a_strategy(stage: Stage, seed: int) -> dict[tuple[int, bytes], np.ndarray]:
    """Return a random strategy by what the seats know; some actions are never taken."""
    found = {}
    for seat, state, mask in zip(stage.tree.player, stage.states, stage.masks, strict=True):
        rng = np.random.default_rng([seed, seat, *state])
        row = (rng.random(len(mask)) ** 4 * (rng.random(len(mask)) < 0.8) + 1e-9) * mask
        found[int(seat), state.tobytes()] = row / row.sum()
    return found


def in_tree(stage: Stage, strategy: dict[tuple[int, bytes], np.ndarray]) -> np.ndarray:
    """Return it for a tree, [S]; sets without a choice may be missing in it."""
    rows = [
        strategy.get((int(seat), state.tobytes()), mask)
        for seat, state, mask in zip(stage.tree.player, stage.states, stage.masks, strict=True)
    ]
    return np.array(rows)[stage.masks != 0]
