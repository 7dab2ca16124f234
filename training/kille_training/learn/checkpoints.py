"""A checkpoint: one file with everything a run needs to resume as if it had never stopped.

It is a safetensors file, named arrays and a JSON header, so reading one runs no code: the weights
of the network, the state of the optimiser, the generators of torch and NumPy, the tables with their
own generators, the rewards that each seat's open stream still waits for, and the learner's
counters. It is written between two updates, whole or not at all. The header holds a digest of the
whole file, so a damaged checkpoint is refused and never trained on.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load, save
from sb3_contrib import MaskablePPO

from kille_env.errors import PolicyError, shortened
from kille_env.files import parse_json, write_whole

FORMAT = "kille-checkpoint 4"
BLANK = "0" * 64
"""Stands where the digest will be while it is computed."""
_DIGEST = re.compile(rb'digest\\": \\"([0-9a-f]{64})\\"')
REMEDY = "delete it, and kille train begins the run again from its settings"
COUNTERS = ("num_timesteps", "_n_updates", "_episode_num", "_current_progress_remaining")
"""What MaskablePPO counts."""


def _own_state(model: MaskablePPO) -> dict[str, np.ndarray]:
    """Returns, by name, the state beside the network.

    That is its generators, tables and open decisions; `restore` reads it.
    """
    generator = np.random.get_state(legacy=False)  # the stream that SB3 shuffles with
    arrays: dict[str, np.ndarray] = {
        "torch_generator": torch.get_rng_state().numpy(),
        "numpy_generator": generator["state"]["key"],
        "numpy_position": np.array(generator["state"]["pos"]),
        "last_observation": np.asarray(model._last_obs),
        "last_episode_start": np.asarray(model._last_episode_starts),
    }
    env: Any = model.get_env()
    buffer: Any = model.rollout_buffer
    for prefix, part in (("env", env), ("buffer", buffer)):
        if hasattr(part, "state"):  # the library's own buffer keeps nothing between two rollouts
            arrays |= {f"{prefix}/{name}": array for name, array in part.state().items()}
    return arrays


def write_checkpoint(
    path: Path,
    model: MaskablePPO,
    header: Mapping[str, Any],
) -> None:
    """Writes the state of a learner, its environment and its rollout buffer.

    Args:
        path: The file.
        model: The learner between two updates; environment and buffer offer `state()`.
        header: What else the run must remember, as JSON can hold it: settings, versions, counters.

    Raises:
        OSError: The file cannot be written; the last checkpoint stays as it was.
    """
    optimiser = model.policy.optimizer.state_dict()
    arrays = _own_state(model)
    for name, tensor in model.policy.state_dict().items():
        arrays[f"policy/{name}"] = tensor.numpy()
    for number, state in optimiser["state"].items():
        for name, value in state.items():
            arrays[f"optimiser/{number}/{name}"] = np.asarray(value)
    content = {
        "format": FORMAT,
        "digest": BLANK,
        "groups": [
            {key: value for key, value in group.items() if key != "params"}
            for group in optimiser["param_groups"]
        ],
        "counters": {name: getattr(model, name) for name in COUNTERS},
        **header,
    }
    whole = {name: np.array(array, order="C") for name, array in arrays.items()}
    data = save(whole, metadata={"checkpoint": json.dumps(content)})
    digest = hashlib.sha256(data).hexdigest()
    write_whole(path, data.replace(BLANK.encode(), digest.encode(), 1))


def read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Returns the header and the arrays of a checkpoint.

    Raises:
        PolicyError: The file is no checkpoint, is of another version's format, or differs from what
            was written by a single bit.
    """
    data = path.read_bytes()
    found = _DIGEST.search(data, 0, 1 << 20)
    if found is None:
        raise PolicyError(
            f"{path} is no checkpoint of a run ({FORMAT}), or its beginning is damaged; {REMEDY}"
        )
    begin, end = found.span(1)
    blanked = b"".join([data[:begin], BLANK.encode(), data[end:]])
    if hashlib.sha256(blanked).hexdigest().encode() != found[1]:
        raise PolicyError(f"the checkpoint {path} is damaged, its digest does not match; {REMEDY}")
    length = int.from_bytes(data[:8], "little")
    try:
        header = parse_json(parse_json(data[8 : 8 + length])["__metadata__"]["checkpoint"])
        made = header["format"]
        arrays = load(data) if made == FORMAT else {}
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise PolicyError(
            f"{path} is no checkpoint of a run ({shortened(str(error))}); {REMEDY}"
        ) from None
    if made != FORMAT:
        raise PolicyError(f"{path} is a {shortened(made)}, expected {FORMAT!r}; {REMEDY}")
    return header, arrays


def restore(
    model: MaskablePPO, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Puts a checkpoint into a learner that was made with the same settings and has been set up.

    Raises:
        PolicyError: The checkpoint is of another network.
    """
    weights = _below(arrays, "policy")
    try:
        model.policy.load_state_dict(
            {name: torch.from_numpy(array.copy()) for name, array in weights.items()}
        )
    except RuntimeError as error:
        raise PolicyError(
            f"the checkpoint holds another network: {' '.join(str(error).split())}"
        ) from None
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in _below(arrays, "optimiser").items():
        number, _, key = name.partition("/")
        state.setdefault(int(number), {})[key] = torch.from_numpy(np.array(array))
    now = model.policy.optimizer.state_dict()["param_groups"]
    groups = [
        {**group, "params": own["params"]} for group, own in zip(header["groups"], now, strict=True)
    ]
    model.policy.optimizer.load_state_dict({"state": state, "param_groups": groups})
    for name in COUNTERS:
        setattr(model, name, header["counters"][name])
    model._last_obs = arrays["last_observation"].copy()
    model._last_episode_starts = arrays["last_episode_start"].copy()
    env: Any = model.get_env()
    env.load_state(_below(arrays, "env"))
    buffer: Any = model.rollout_buffer
    if hasattr(buffer, "load_state"):
        buffer.load_state(_below(arrays, "buffer"))
    torch.set_rng_state(torch.from_numpy(arrays["torch_generator"].copy()))
    np.random.set_state(
        {
            "bit_generator": "MT19937",
            "state": {
                "key": arrays["numpy_generator"],
                "pos": int(arrays["numpy_position"]),
            },
            "has_gauss": 0,
            "gauss": 0.0,
        }
    )


def _below(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {
        name.removeprefix(f"{prefix}/"): array
        for name, array in arrays.items()
        if name.startswith(f"{prefix}/")
    }
