"""The state of what a learner consists of, as arrays by name."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from kille_env.core.batch import Batch
from kille_env.errors import PolicyError

Arrays = Mapping[str, np.ndarray]


def state_of(part: Any) -> dict[str, np.ndarray]:
    """Return the state of a part of a learner.

    Args:
        part: A network, an optimizer, tables, a generator of NumPy, an array, a number, a list of
            such, or an object with `state` and `load`.
    """
    match part:
        case nn.Module():
            return {name: tensor.numpy().copy() for name, tensor in part.state_dict().items()}
        case torch.optim.Optimizer():
            return {
                f"{number}/{name}": np.asarray(value).copy()
                for number, state in part.state_dict()["state"].items()
                for name, value in state.items()
            }
        case Batch():
            return {"bytes": np.frombuffer(part.save(), dtype=np.uint8).copy()}
        case np.random.Generator():
            return {"json": _text(json.dumps(part.bit_generator.state))}
        case list():
            parts = dict(enumerate(map(state_of, part)))
            return {f"{n}/{key}": array for n, one in parts.items() for key, array in one.items()}
        case int() | float() | np.ndarray():
            return {"value": np.array(part)}
    return part.state()


def loaded(part: Any, state: Arrays) -> Any:
    """Return a part with a state, the same object where it can be changed.

    Raises:
        PolicyError: The state is of another network.
    """
    match part:
        case nn.Module():
            tensors = {name: torch.from_numpy(array.copy()) for name, array in state.items()}
            try:
                part.load_state_dict(tensors)
            except RuntimeError as error:
                said = " ".join(str(error).split())
                raise PolicyError(f"the checkpoint holds another network: {said}") from None
        case torch.optim.Optimizer():
            numbers = sorted({int(name.partition("/")[0]) for name in state})
            kept = {
                number: {
                    name: torch.from_numpy(np.array(array))
                    for name, array in below(state, str(number)).items()
                }
                for number in numbers
            }
            part.load_state_dict({**part.state_dict(), "state": kept})
        case Batch():
            part.restore(state["bytes"].tobytes())
        case np.random.Generator():
            part.bit_generator.state = json.loads(state["json"].tobytes())
        case list():
            return [loaded(one, below(state, str(number))) for number, one in enumerate(part)]
        case int() | float():
            return type(part)(state["value"])
        case np.ndarray():
            return state["value"].copy()
        case _:
            part.load(state)
    return part


def below(arrays: Arrays, prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with a prefix and "/", without it."""
    return {
        name.removeprefix(f"{prefix}/"): array
        for name, array in arrays.items()
        if name.startswith(f"{prefix}/")
    }


def count_of(arrays: Arrays, prefix: str) -> int:
    """Return how long a list is in a state."""
    return len({name.partition("/")[0] for name in below(arrays, prefix)})


def _text(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8).copy()
