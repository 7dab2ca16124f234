"""Experience that never leaves the GPU: `kille_env.collect` at the tables of a `DeviceBatch`.

Decisions, credit and order are those of `kille_env.play.experience`, in tensors of torch. What
`SeatStreams` keeps in arrays is kept in tensors here, since they lie on another machine; the rule
of credit is that of `kille_env.play.streams`: its kernels, a thread for each table.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kille_env.core.arguments import one_of
from kille_env.core.device import DeviceBatch, cuda, launch, on_device
from kille_env.core.floats import FEATURES, reading_of
from kille_env.errors import PolicyError, RulesError
from kille_env.extras import needs
from kille_env.play.kernels import decision_key, uniform_of
from kille_env.play.policy import SUM_TOLERANCE
from kille_env.play.streams import END, OPEN, Transitions, end_decisions, open_decisions

with needs("train"):
    import torch

Policy = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From observations [M, F] and masks [M, A] to probabilities [M, A], tensors of the GPU."""


class TensorTransitions(Transitions):
    """D decisions as tensors of the GPU; see `Transitions`."""

    def advantages(
        self, values: Any, next_values: Any = None, *, gamma: float = 1.0, gae_lambda: float = 1.0
    ) -> Any:
        """Return generalized advantage estimates along each seat's stream, [D] float64.

        The arguments are those of `Transitions.advantages`. `collect` returns whole matches, so no
        next values are missing and `next_values` are not read.
        """
        following: Any = self.following
        later, ahead = following >= 0, following.clamp(min=0)
        values = values.double()
        found = self.reward + gamma * torch.where(later, values[ahead], 0.0) - values
        decay = gamma * gae_lambda
        while later.any():  # each pass adds what twice as many later decisions say
            found = found + decay * torch.where(later, found[ahead], 0.0)
            following = torch.where(later, following[ahead], END)
            later, ahead, decay = following >= 0, following.clamp(min=0), decay * decay
        return found


def collect(
    batch: DeviceBatch, policy: Policy, *, observation: str = "float", seed: int | None = None
) -> TensorTransitions:
    """Begin matches at all tables and play each to its end, on the GPU; see `kille_env.collect`."""
    if not callable(policy):
        raise PolicyError(
            f"on a GPU a policy is a function of tensors, got {type(policy).__name__}; "
            "players need device='cpu'"
        )
    before, batch.restart = batch.restart, False
    try:
        batch.reset(seed)
        return _Collection(batch, policy, observation).play()
    finally:
        batch.restart = before


class _Collection:
    """One match at every table, and its decisions."""

    def __init__(self, batch: DeviceBatch, policy: Policy, observation: str) -> None:
        shape = (batch.num_tables, batch.num_players)
        self._batch, self._policy = batch, policy
        self._read = _reader(batch, observation)
        self._decided = cuda.to_device(np.zeros(shape, np.int64))
        self._open = cuda.to_device(np.full(shape, -1))
        self._credit, self._undecided = (cuda.to_device(np.zeros(shape)) for _ in range(2))
        self._reward = torch.zeros(batch.num_tables, dtype=torch.float64, device="cuda")
        self._next = torch.full((batch.num_tables,), OPEN, device="cuda")
        self._count = 0

    def play(self) -> TensorTransitions:
        """Play every table to its end; return all decisions."""
        batch, blocks = self._batch, []
        seats, terminated, truncated = map(_tensor, (batch.seat, batch.terminated, batch.truncated))
        playing = torch.ones(batch.num_tables, dtype=torch.bool, device="cuda")
        actions = torch.zeros(batch.num_tables, dtype=torch.int64, device="cuda")
        while playing.any():
            rows = torch.nonzero(seats >= 0)[:, 0]
            if len(rows):
                blocks.append(self._decide(rows, seats[rows].long()))
                actions[rows] = blocks[-1][2]
            batch.step(actions)
            ended = playing & (terminated | truncated)
            playing &= ~ended
            self._pay(ended)
        batch.check()
        return self._gather(blocks)

    def _decide(self, rows: torch.Tensor, seats: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Ask the policy; return a block of columns, [M] rows each."""
        batch, size = self._batch, len(rows)
        first, self._count = self._count, self._count + size
        while len(self._next) < self._count:
            self._reward = torch.cat([self._reward, torch.zeros_like(self._reward)])
            self._next = torch.cat([self._next, torch.full_like(self._next, OPEN)])
        uniforms = torch.empty(size, dtype=torch.float64, device="cuda")
        position = torch.empty_like(rows)
        own = self._decided, self._open, self._credit
        arrays = map(_array, (rows, seats, uniforms, position, self._reward, self._next))
        launch(_kernels()["open"], size, batch.tables, first, batch.num_players, *own, *arrays)
        seen, mask = _tensor(batch.observation)[rows], _tensor(batch.mask)[rows]
        # Decisions are collected to be learned from later: a graph for each of them would fill the
        # memory.
        with torch.no_grad():
            probabilities = self._policy(self._read(seen), mask)
        probabilities = _checked(probabilities, mask)
        cumulative = probabilities.cumsum(1)
        drawn = uniforms * cumulative[:, -1]
        action = (cumulative <= drawn[:, None]).sum(1)
        beyond = action == mask.shape[1]  # the product was rounded up to the whole sum
        action = torch.where(beyond, probabilities.argmax(1), action)
        odds = probabilities.gather(1, action[:, None])[:, 0]
        return seen, mask, action, odds.log(), rows, seats, position

    def _pay(self, ended: torch.Tensor) -> None:
        """Credit the rewards of a step."""
        batch = self._batch
        arrays = (
            self._open,
            self._credit,
            self._undecided,
            *map(_array, (self._reward, self._next)),
        )
        launch(_kernels()["pay"], batch.num_tables, batch.reward, _array(ended), *arrays)

    def _gather(self, blocks: list[tuple[torch.Tensor, ...]]) -> TensorTransitions:
        """Return all decisions, which are complete."""
        batch = self._batch
        if not blocks:
            raise RulesError("no seat has had a decision in these matches")
        columns = [torch.cat(parts) for parts in zip(*blocks, strict=True)]
        seen, mask, action, log_probability, table, seat, position = columns
        following = self._next[: self._count]
        over, ahead = following == END, following.clamp(min=0)
        after, next_mask = seen[ahead], torch.where(over[:, None], 0, mask[ahead])
        for one in range(batch.num_players):
            here = over & (seat == one)
            after[here] = _tensor(batch.observe(one))[table[here]]
        truncated = over & _tensor(batch.truncated)[table]
        found: dict[str, Any] = {
            "observation": self._read(seen),
            "mask": mask,
            "action": action,
            "reward": self._reward[: self._count],
            "next_observation": self._read(after),
            "next_mask": next_mask,
            "terminated": over & ~truncated,
            "truncated": truncated,
            "log_probability": log_probability,
            "table": table,
            "seat": seat,
            "position": position,
            "following": following,
        }
        return TensorTransitions(**found)


def _tensor(array: Any) -> torch.Tensor:
    """Return an array of the GPU as a tensor that shares its memory."""
    return torch.as_tensor(array, device="cuda")


def _array(tensor: torch.Tensor) -> Any:
    """Return a tensor as an array that kernels take, which shares its memory."""
    return cuda.as_cuda_array(tensor)


def _reader(batch: DeviceBatch, observation: str) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return a function that reads observations [M, F] uint8; see `reading_of`."""
    one_of("observation", observation, FEATURES)
    reading = reading_of(observation, batch.spec, batch.num_players, batch.observe_rules)
    if reading is None:
        return lambda seen: seen
    source, scale = (
        torch.as_tensor(part, device="cuda") for part in (reading.source, reading.scale)
    )
    told, place = source >= 0, source.clamp(min=0)
    return lambda seen: torch.where(told, seen[:, place] * scale, scale)


def _checked(probabilities: Any, mask: torch.Tensor) -> torch.Tensor:
    """Return probabilities as float64 if each row is a distribution over the legal actions."""
    if not isinstance(probabilities, torch.Tensor) or probabilities.shape != mask.shape:
        shape = tuple(getattr(probabilities, "shape", ()))
        raise PolicyError(
            f"the policy returned {type(probabilities).__name__} {shape}, expected a tensor of "
            f"probabilities {tuple(mask.shape)} on the GPU"
        )
    given = probabilities.double()
    fits = torch.where(mask != 0, given >= 0, given == 0).all(1)
    fits &= (given.sum(1) - 1.0).abs() <= SUM_TOLERANCE
    if not fits.all():
        row = int(torch.nonzero(~fits)[0, 0])
        raise PolicyError(
            f"the policy returned {given[row].tolist()} in row {row} for the mask "
            f"{mask[row].tolist()}; expected a distribution over the legal actions"
        )
    return given


# What a thread does


def _open(
    tables, first, num_players, decided, opened, credit, rows, seats, uniforms, position, reward,
    following,
):  # fmt: skip
    """Open the decision of a seat, and draw its random number."""
    number = cuda.grid(1)
    if number < rows.shape[0]:
        row, seat = rows[number], seats[number]
        table, end = tables[row], number + 1
        key = decision_key(table["match_key"], seat, decided[row, seat])
        decided[row, seat] += 1
        uniforms[number] = uniform_of(key)
        position[number] = (seat - table["dealer"] - 1) % num_players
        open_decisions(
            rows[number:end], seats[number:end], first + number, opened, credit, reward, following
        )


def _pay(rewards, ended, opened, credit, undecided, reward, following):
    """Credit the rewards of a step at a table, and complete its decisions at the end."""
    i = cuda.grid(1)
    if i < ended.shape[0]:
        j = i + 1
        for seat in range(rewards.shape[1]):
            credit[i, seat] += rewards[i, seat]
        end_decisions(ended[i:j], opened[i:j], credit[i:j], undecided[i:j], reward, following)


@cache
def _kernels() -> dict[str, Any]:
    return {"open": on_device(_open, {}), "pay": on_device(_pay, {})}
