# pyright: reportMissingImports=false, reportUntypedBaseClass=false
"""TorchRL: many tables as one batched environment, and decisions as a TensorDict.

    env = SeatEnv("byteskille", 1024, num_players=3, episode="deal")  # one seat of each table
    env = SelfPlayEnv("byteskille", 1024, num_players=3)  # every seat, as a group of agents

Both have batch size [N], float32 features in 0 to 1 (`observation="box"`: uint8) and bool action
masks, which their action specs follow, so that random actions are legal. TorchRL resets finished
tables itself, through "_reset".

At a cap the rules pay everything out and nothing is left to estimate. So such an end is *truncated*
and *terminated*, and no value of the last observation is added. The mask of a match that is over is
all ones, since one of zeros has no distribution.
"""

from __future__ import annotations  # the site documents this without TorchRL

import inspect
from typing import Any, Unpack

import numpy as np

from kille_env.adapters.spaces import Observations
from kille_env.core import arguments
from kille_env.extras import needs
from kille_env.play.experience import Transitions
from kille_env.play.options import SeatOptions, TableOptions, check_names
from kille_env.play.seats import SeatTables
from kille_env.registry import Table, make_batch

with needs("torchrl"):
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase

__all__ = ["SeatEnv"]


OBSERVATION = ("float", "box", "seats")
Arrays = dict[str, np.ndarray]


class _Tables(EnvBase):
    """What both forms share: specs of one row per table, or per seat of each table.

    Attributes:
        num_players: P.
        group: The group of agents that the rows are in, None for one row per table.
    """

    group: str | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Shows the arguments of the class, which TorchRL's metaclass hides."""
        super().__init_subclass__(**options)
        _, *own = inspect.signature(cls.__init__).parameters.values()
        cls.__signature__ = inspect.Signature(own)

    def __init__(self, observations: Observations, num_actions: int, shape: tuple[int, ...]):
        """Sets the specs.

        Args:
            observations: How an observation is shown.
            num_actions: A.
            shape: [N], or [N, P].
        """
        super().__init__(device="cpu", batch_size=shape[:1])
        self._shown = observations.read
        self._seed: int | None = None
        self.action_spec = self._grouped(
            shape, action=Categorical(num_actions, shape, dtype=torch.int64)
        )
        self.observation_spec = self._grouped(
            shape,
            observation=_features(observations.space, shape),
            action_mask=Binary(num_actions, (*shape, num_actions), dtype=torch.bool),
            **self._more_specs(shape),
        )
        self.reward_spec = self._grouped(shape, reward=Unbounded((*shape, 1), dtype=torch.float32))
        flags = ("done", "terminated", "truncated")
        once = (shape[0], 1)
        self.done_spec = Composite(
            {flag: Categorical(2, once, dtype=torch.bool) for flag in flags}, shape=shape[:1]
        )

    def _more_specs(self, shape: tuple[int, ...]) -> dict[str, Any]:
        return {}

    def _grouped(self, shape: tuple[int, ...], **specs: Any) -> Composite:
        rows = Composite(specs, shape=shape)
        return rows if self.group is None else Composite({self.group: rows}, shape=shape[:1])

    def _show(self, rows: Arrays, ended: Arrays) -> TensorDictBase:
        """Returns arrays of the rows and flags of the tables [N]; the action spec learns masks."""
        size = self.batch_size
        told = {name: torch.from_numpy(array) for name, array in rows.items()}
        spec = self.input_spec["full_action_spec"]
        (spec if self.group is None else spec[self.group])["action"].update_mask(
            told["action_mask"]
        )
        flags = {name: torch.from_numpy(array)[:, None] for name, array in ended.items()}
        if self.group is None:
            return TensorDict({**told, **flags}, size)
        agents = TensorDict(told, told["action_mask"].shape[:-1])
        return TensorDict({self.group: agents, **flags}, size)

    def _set_seed(self, seed: int | None) -> None:
        self._seed = None if seed is None else arguments.seed(seed)

    def _take_seed(self) -> int | None:
        """Returns the seed of the coming reset, once."""
        seed, self._seed = self._seed, None
        return seed


class SeatEnv(_Tables):
    """N tables, one seat of each for the caller: what every algorithm for one agent takes.

    A row's decisions are those of its seat, and all that the seat earns until its next one is the
    reward of the last. Players inside play the other seats; `kille_env.LiveOpponent` plays them by
    the network that learns. Keys: "observation" [N, F], "action_mask" [N, A], "action" [N],
    "reward" [N, 1] in units, "done", "terminated" and "truncated" [N, 1].
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
        spec, self.num_players = tables.batch.spec, tables.num_players
        shown = Observations(observation, spec, tables.num_players, OBSERVATION)
        super().__init__(shown, spec.num_actions, (tables.num_tables,))
        self.tables = tables

    @property
    def table(self) -> Table:
        """The game, seats and rules that are played now."""
        return self.tables.table

    def _reset(self, tensordict: TensorDictBase | None = None, **__: Any) -> TensorDictBase:
        self.tables.begin(self._take_seed(), _asked(tensordict))
        return self._state({})

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        tables = self.tables
        tables.step(tensordict["action"].numpy(), ~tables.over)
        return self._state({"reward": tables.reward.astype(np.float32)[:, None]})

    def _state(self, more: Arrays) -> TensorDictBase:
        tables = self.tables
        mask = tables.mask().astype(np.bool_)
        mask[tables.over] = True
        seen = {"observation": self._shown(tables.observation()), "action_mask": mask}
        over = tables.over.copy()
        ended = {"done": over, "terminated": over.copy(), "truncated": tables.truncated & over}
        return self._show({**seen, **more}, ended)


class SelfPlayEnv(_Tables):
    """N tables with every seat an agent of the group "agents", one of which acts in each step.

    It has the keys that TorchRL's wrapper of PettingZoo gives one group of agents, for N tables:
    ("agents", "observation") [N, P, F], what each seat sees; ("agents", "mask") [N, P] bool, the
    seat that acts; ("agents", "action_mask") [N, P, A], all ones for seats that do not act, whose
    actions are ignored; ("agents", "action") [N, P]; ("agents", "reward") [N, P, 1], units that
    each seat earned in the step; and "done", "terminated", "truncated" [N, 1] of the table.

    So a seat's return is the sum of its own rewards over all later steps: estimate advantages seat
    by seat along time with gamma = 1, and learn policies from rows with a true "mask" only.

    Attributes:
        skipped: [N] matches without any decision that were passed over before the one at the table.
    """

    group = "agents"

    def __init__(
        self,
        game: str,
        num_tables: int = 1024,
        num_players: int | None = None,
        *,
        observation: str = "float",
        **options: Unpack[TableOptions],
    ) -> None:
        """Sets up the tables; the arguments are those of `SeatEnv`.

        Args:
            game: Name of the game.
            num_tables: N.
            num_players: P, the game's default for None.
            observation: "float", "box" or "seats".
            **options: See `kille_env.play.options.TableOptions`.

        Raises:
            KilleError: See `kille_env.make_batch`.
        """
        check_names(SelfPlayEnv, options, game)
        batch = make_batch(game, num_tables, num_players, restart=False, **options)
        self.num_players = batch.num_players
        self.group_map = {self.group: [f"player_{seat}" for seat in range(batch.num_players)]}
        shown = Observations(observation, batch.spec, batch.num_players, OBSERVATION)
        super().__init__(shown, batch.spec.num_actions, (batch.num_tables, batch.num_players))
        self.batch = batch
        self.skipped = np.zeros(batch.num_tables, dtype=np.int64)

    @property
    def table(self) -> Table:
        """The game, seats and rules that are played now."""
        return self.batch.table

    def _more_specs(self, shape: tuple[int, ...]) -> dict[str, Any]:
        return {"mask": Categorical(2, shape, dtype=torch.bool)}

    def _reset(self, tensordict: TensorDictBase | None = None, **__: Any) -> TensorDictBase:
        chosen = _asked(tensordict)
        self.batch.reset(self._take_seed(), which=chosen)
        self.skipped[slice(None) if chosen is None else chosen] = 0
        self.skipped += self.batch.begin_next(chosen)
        return self._state({})

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        batch = self.batch
        actions = tensordict[self.group, "action"].numpy()
        acting = np.maximum(batch.seat, 0)
        batch.step(actions[np.arange(len(acting)), acting], ~batch.over)
        return self._state({"reward": batch.reward.astype(np.float32)[..., None]})

    def _state(self, more: Arrays) -> TensorDictBase:
        batch, over = self.batch, self.batch.over
        seats = np.arange(self.num_players)
        acts = batch.seat[:, None] == seats
        legal = np.where(acts[..., None], batch.mask[:, None], True).astype(np.bool_)
        seen = np.stack([batch.observe(seat) for seat in seats], axis=1)
        rows = {"observation": self._shown(seen), "action_mask": legal, "mask": acts, **more}
        ended = {"done": over, "terminated": over.copy(), "truncated": batch.truncated & over}
        return self._show(rows, ended)


def to_tensordict(decisions: Transitions) -> TensorDict:
    """Returns decisions as transitions for replay buffers and losses, batch size [D].

    Each is one of a seat's stream, whose "next" is the same seat's next decision. Keys as in
    `SeatEnv`, and "action_log_prob" [D], "table", "seat", "position", "following" [D].
    """
    of = {name: torch.as_tensor(array) for name, array in decisions._asdict().items()}
    truncated = of["truncated"][:, None]
    done = truncated | of["terminated"][:, None]
    nothing = torch.zeros_like(done)
    flags = {"done": done, "terminated": done.clone(), "truncated": truncated}
    after = {
        "observation": of["next_observation"],
        "action_mask": of["next_mask"].bool() | done,
        "reward": of["reward"].float()[:, None],
        **flags,
    }
    here = {
        "observation": of["observation"],
        "action_mask": of["mask"].bool(),
        "action": of["action"],
        "action_log_prob": of["log_probability"].float(),
        **{name: nothing.clone() for name in flags},
        **{name: of[name] for name in ("table", "seat", "position", "following")},
    }
    size = [len(done)]
    return TensorDict({**here, "next": TensorDict(after, size)}, size)


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
