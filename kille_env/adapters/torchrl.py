# pyright: reportMissingImports=false, reportUntypedBaseClass=false
"""TorchRL: one seat of each of many tables, as one batched environment.

    env = SeatEnv("byteskille", 1024, num_players=3, episode="deal")

It has batch size [N], float32 features in 0 to 1 (`observation="box"`: uint8) and bool action
masks, which its action spec follows, so that random actions are legal. TorchRL resets finished
tables itself, through "_reset".

At a cap the rules pay everything out and nothing is left to estimate. So such an end is *truncated*
and *terminated*, and no value of the last observation is added. The mask of a match that is over is
all ones, since one of zeros has no distribution.
"""

from __future__ import annotations  # the site documents this without TorchRL

from typing import Any, Unpack

import numpy as np

from kille_env.adapters.spaces import Observations
from kille_env.core import arguments
from kille_env.core.floats import FEATURES
from kille_env.extras import needs
from kille_env.play.options import SeatOptions, check_names
from kille_env.play.seats import SeatTables
from kille_env.registry import Table

with needs("torchrl"):
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase

__all__ = ["SeatEnv"]


class SeatEnv(EnvBase):
    """N tables, one seat of each for the caller: what every algorithm for one agent takes.

    A row's decisions are those of its seat, and all that the seat earns until its next one is the
    reward of the last. Players inside play the other seats; `kille_env.LiveOpponent` plays them by
    the network that learns. Keys: "observation" [N, F], "action_mask" [N, A], "action" [N],
    "reward" [N, 1] in units, "done", "terminated" and "truncated" [N, 1].

    Attributes:
        num_players: P.
    """

    def __init__(
        self,
        game: str,
        num_tables: int = 1024,
        num_players: int | None = None,
        *,
        observation: str = "float",
        **options: Unpack[SeatOptions],
    ) -> None:
        """Sets up the tables.

        Args:
            game: Name of the game.
            num_tables: N.
            num_players: P, the game's default for None.
            observation: "float": float32 in 0 to 1; "box": the features as uint8; "seats": see
                `kille_env.core.floats`.
            **options: See `kille_env.play.options.SeatOptions`; an illegal action raises by
                default.

        Raises:
            KilleError: See `kille_env.play.seats.SeatTables`.
        """
        check_names(SeatEnv, options, game)
        tables = SeatTables(game, num_tables, num_players, **options)
        spec = tables.batch.spec
        shown = Observations(observation, spec, tables.num_players, FEATURES)
        size, actions = (tables.num_tables,), spec.num_actions
        super().__init__(device="cpu", batch_size=size)
        self.tables, self.num_players = tables, tables.num_players
        self._shown = shown.read
        self._seed: int | None = None
        self.action_spec = Composite(
            action=Categorical(actions, size, dtype=torch.int64), shape=size
        )
        self.observation_spec = Composite(
            observation=_features(shown.space, size),
            action_mask=Binary(actions, (*size, actions), dtype=torch.bool),
            shape=size,
        )
        self.reward_spec = Composite(reward=Unbounded((*size, 1), dtype=torch.float32), shape=size)
        flags = ("done", "terminated", "truncated")
        self.done_spec = Composite(
            {flag: Categorical(2, (*size, 1), dtype=torch.bool) for flag in flags}, shape=size
        )

    @property
    def table(self) -> Table:
        """The game, seats and rules."""
        return self.tables.table

    def _set_seed(self, seed: int | None) -> None:
        self._seed = None if seed is None else arguments.seed(seed)

    def _reset(self, tensordict: TensorDictBase | None = None, **__: Any) -> TensorDictBase:
        seed, self._seed = self._seed, None
        self.tables.begin(seed, _asked(tensordict))
        return self._state({})

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        tables = self.tables
        tables.step(tensordict["action"].numpy(), ~tables.over)
        return self._state({"reward": tables.reward.astype(np.float32)})

    def _state(self, more: dict[str, np.ndarray]) -> TensorDictBase:
        """Returns what there is to see; the action spec learns the masks."""
        tables, over = self.tables, self.tables.over
        mask = torch.from_numpy(tables.mask() != 0)
        mask[torch.from_numpy(over.copy())] = True
        self.input_spec["full_action_spec"]["action"].update_mask(mask)
        flags = {"done": over, "terminated": over, "truncated": tables.truncated & over}
        columns = {
            key: torch.from_numpy(row.copy())[:, None] for key, row in {**more, **flags}.items()
        }
        seen = torch.from_numpy(self._shown(tables.observation()))
        return TensorDict({"observation": seen, "action_mask": mask, **columns}, self.batch_size)


def _features(space: Any, shape: tuple[int, ...]) -> Bounded:
    """Returns the spec of observations, given the space of one."""
    low, high = (
        torch.as_tensor(np.broadcast_to(bound, shape + space.shape).copy())
        for bound in (space.low, space.high)
    )
    return Bounded(low, high, high.shape, dtype=high.dtype)


def _asked(tensordict: TensorDictBase | None) -> np.ndarray | None:
    """Returns which tables a reset is for, [N] bool; None is all of them."""
    asked = None if tensordict is None else tensordict.get("_reset", None)
    if asked is None or bool(asked.all()):
        return None
    return asked.reshape(-1).numpy().copy()
