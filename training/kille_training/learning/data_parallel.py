"""Learners in several processes that average their gradients and so hold the same network.

Every backward pass ends with the mean of all processes' gradients, summed by gloo over the loopback
in a fixed order. So all take the same step, to the bit, and the same run gives the same bytes.
"""

import hashlib
import os
import socket
from pathlib import Path
from typing import cast

import torch
from sb3_contrib import MaskablePPO
from torch import distributed

from kille_env.adapters.sb3_buffer import SeatStreamBuffer
from kille_env.errors import KilleError


class WorkerError(KilleError):
    """A process of a run failed."""


class ConnectionLost(WorkerError):
    """Another process of the run has ended, so that there is nobody to average with."""


class SharedSeatStreamBuffer(SeatStreamBuffer):
    """The buffer of one of several processes: all cut their decisions into as many minibatches."""

    def minibatches(self, batch_size: int | None) -> int:
        """Returns the least number that any of the processes would have made."""
        count = torch.tensor(super().minibatches(batch_size))
        _reduce(count, distributed.ReduceOp.MIN)
        return int(count)


def join(model: MaskablePPO, meeting: Path, rank: int, count: int) -> None:
    """Makes a learner one of several: with the first one's network, and the mean of all gradients.

    Args:
        model: The learner.
        meeting: File through which the processes find each other; the first one creates it.
        rank: Number of this process, from 0.
        count: Number of processes.
    """
    loopback = [name for _, name in socket.if_nameindex() if name in ("lo", "lo0")]
    if loopback:  # else gloo would listen where other machines reach it
        os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback[0])
    distributed.init_process_group("gloo", meeting.as_uri(), rank=rank, world_size=count)
    parameters = list(model.policy.parameters())
    for values in parameters:
        distributed.broadcast(values.data, 0)
    missing = len(parameters)

    def arrived(_: torch.Tensor) -> None:
        nonlocal missing
        missing -= 1
        if missing == 0:
            missing = len(parameters)
            _average([cast(torch.Tensor, values.grad) for values in parameters], count)

    for values in parameters:
        values.register_post_accumulate_grad_hook(arrived)


def network_digest(model: MaskablePPO) -> str:
    """Returns a digest of a learner's network: the same in all processes between two updates."""
    digest = hashlib.sha256()
    for values in model.policy.parameters():
        digest.update(values.detach().numpy().tobytes())
    return digest.hexdigest()


def _average(gradients: list[torch.Tensor], count: int) -> None:
    """Puts the mean of all processes into the gradients of this one, in one message."""
    flat = torch.cat([each.flatten() for each in gradients])
    _reduce(flat, distributed.ReduceOp.SUM)
    flat /= count
    for each, mean in zip(gradients, flat.split([each.numel() for each in gradients]), strict=True):
        each.copy_(mean.view_as(each))


def _reduce(values: torch.Tensor, how: distributed.ReduceOp.RedOpType) -> None:
    """Reduces a tensor over all processes.

    Raises:
        ConnectionLost: Another process has ended.
    """
    try:
        distributed.all_reduce(values, how)
    except RuntimeError as error:
        raise ConnectionLost(f"another process of the run has ended ({error})") from error
