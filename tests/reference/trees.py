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
