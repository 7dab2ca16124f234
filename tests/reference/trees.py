"""Trees of Byteskille by a preset or switches, for tests."""

from collections.abc import Mapping
from typing import Any

from kille_env.core.spec import Rules
from kille_env.registry import spec
from kille_training.solving import build
from kille_training.solving.stages import DealStages, Stage


def _resolved(rules: Rules | str | Mapping[str, Any] | None) -> Rules:
    return spec("byteskille").resolve(rules, episode="deal")


def build_deal(num_players: int, rules: Any = None, **grown: Any) -> DealStages:
    """Returns the trees of a deal; see `solving.build`."""
    return build.build_deal(num_players, _resolved(rules), **grown)


def build_stage(num_players: int, rules: Any = None, **grown: Any) -> Stage:
    """Returns the tree of its first hand."""
    return build.grow_stage(num_players, _resolved(rules), **grown)
