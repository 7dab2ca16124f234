"""Deals for OpenSpiel: the tree as an `.efg` file, and policies in both directions."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from kille_agents.tabular import TabularPolicy
from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.extras import needs
from kille_env.files import make_folder
from kille_env.play.policy import PlayerLike, Policy, resolve
from kille_env.registry import spec
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import (
    policy_of,
    strategies_of,
    strategy_of,
)
from kille_training.solving.size import MEMORY_LIMIT
from kille_training.solving.solution import settings_of
from kille_training.solving.solve import solve
from kille_training.solving.stages import DealStages
from kille_training.solving.trees.efg import EfgTree
from kille_training.solving.trees.values import expected_values


@dataclass(frozen=True, eq=False)
class ExportedDeal:
    """A single deal as an `.efg` file.

    The tree is that of the first hand. If forehand's question is granted and the cards are dealt
    again, it pays the values of the following hands.

    Attributes:
        path: The file.
        efg: The tree in the file.
        deal: The deal.
        continuation: [P] value of dealing again, in units; zeros without granted questions.
        later: The equilibrium strategies [S] of the following hands, which define it.
    """

    path: Path
    efg: EfgTree
    deal: DealStages
    continuation: np.ndarray
    later: tuple[np.ndarray, ...]

    def load(self) -> Any:
        """Return the file as a game of OpenSpiel."""
        return _open_spiel().load_game("efg_game", {"filename": str(self.path)})

    def player(self, policy: Any, name: str = "open_spiel") -> TabularPolicy:
        """Return a policy of OpenSpiel as a player for every hand of the deal."""
        strategy = self.efg.strategy_of(policy, self.load())
        return policy_of((strategy, *self.later), self.deal, name)

    def policy(self, player: PlayerLike) -> Any:
        """Return a player's policy in the tree as a `pyspiel.TabularPolicy`."""
        return _open_spiel().TabularPolicy(self.efg.policy_of(self._strategy(player), self.load()))

    def write_policy(self, player: PlayerLike) -> Path:
        """Write a policy's probabilities beside the tree, for truth/check.py."""
        path = self.path.with_suffix(".policy")
        self.efg.write_policy(self._strategy(player), path)
        return path

    def _strategy(self, player: PlayerLike) -> np.ndarray:
        stage = self.deal.first_stage
        found = resolve(player, stage.rules.game, stage.num_players, stage.rules)
        return strategy_of(cast(Policy, found), stage)


def export_efg(
    game: str,
    num_players: int,
    path: str | Path,
    *,
    rules: Rules | str | Mapping[str, Any] | None = None,
    memory: float = MEMORY_LIMIT / 2**30,
) -> ExportedDeal:
    """Write the exact tree of a single deal as an `.efg` file, for OpenSpiel and Gambit.

    If a question can be granted (`fraga`, with two or three seats), a deal is several hands, each a
    tree. The file holds the first one; the others are solved to a NashConv of 1e-9, and dealing
    again pays their values.

    Example:
        >>> import kille_training as kt
        >>> exported = kt.export_efg("byteskille", 2, "deal.efg", rules={"fraga": "off"})

    Args:
        game: The game; of the five-card games and Knack only small tables have a tree that fits.
        num_players: P.
        path: The file; its folder is made.
        rules: A preset, switches or resolved rules.
        memory: GiB that the tree may take.

    Returns:
        The file and its tree: `load()` is the game, `player(policy)` brings a policy back, and
        `policy(player)` takes one there.

    Raises:
        KilleError: There is no single finite tree of this table; the message says why.
        FileError: The file cannot be written.
    """
    settings = settings_of(game, num_players, rules)
    if settings.rules["episode"] != "deal":
        raise KilleError(
            "a match is one tree per state, not a single tree; export a single deal (episode=deal)"
        )
    resolved = settings.resolve()
    deal = build_deal(settings.num_players, resolved, memory_limit=int(memory * 2**30), nodes=True)
    later: tuple[np.ndarray, ...] = ()
    continuation = np.zeros(settings.num_players)
    if len(deal.stages) > 1:
        solved = solve(game, settings.num_players, rules=resolved, memory=memory)
        later = strategies_of(solved.policy, deal)[1:]
        for stage, strategy in zip(reversed(deal.stages[1:]), reversed(later), strict=True):
            continuation = expected_values(stage.worth(continuation), strategy)
    efg = _labelled(deal, continuation)
    path = Path(path)
    make_folder(path.parent)
    efg.write(path)
    return ExportedDeal(path, efg, deal, continuation, later)


def _open_spiel() -> Any:
    with needs("openspiel"):
        import pyspiel
    return pyspiel


def _labelled(deal: DealStages, continuation: np.ndarray) -> EfgTree:
    """Return the tree of the first hand with names of actions and information sets."""
    stage = deal.first_stage
    table = spec(deal.rules.game)
    actions = np.array(table.actions)[np.nonzero(stage.masks)[1]].tolist()
    names = [stage.describe(number) for number in range(stage.tree.num_infosets)]
    rules = ", ".join(f"{name}={value}" for name, value in stage.rules.values.items())
    title = f"{table.title}, a deal with {stage.num_players} seats: {rules}"
    assert stage.nodes is not None  # grown with nodes
    nodes = stage.nodes._replace(payoff=stage.worth(continuation).payoff)
    return EfgTree(nodes, actions, names, title)
