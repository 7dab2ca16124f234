"""A checkpoint: one file with everything a run needs to resume as if it had never stopped.

It is a safetensors file, named arrays and a JSON header, so reading one runs no code: the state of
the learner (networks, optimizers, tables, open decisions) and the generators of torch and NumPy. It
is written between two updates, whole or not at all. The header holds a digest of the whole file, so
a damaged checkpoint is refused and never trained on.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from kille_env.errors import PolicyError, shortened
from kille_env.files import parse_json, write_whole

if TYPE_CHECKING:
    from kille_training.learn.method import Learner

FORMAT = "kille-checkpoint 5"
BLANK = "0" * 64
"""Stands where the digest will be while it is computed."""
_DIGEST = re.compile(rb'digest\\": \\"([0-9a-f]{64})\\"')
REMEDY = "delete it, and kille train begins the run again from its settings"


def write_checkpoint(path: Path, learner: "Learner", header: Mapping[str, Any]) -> None:
    """Write the state of a learner between two updates.

    Args:
        path: The file.
        learner: The learner.
        header: What else the run must remember, as JSON can hold it.

    Raises:
        OSError: The file cannot be written; the last checkpoint stays as it was.
    """
    import torch  # reading a checkpoint needs it not

    generator = np.random.get_state(legacy=False)  # the stream that SB3 shuffles with
    arrays = {
        "torch_generator": torch.get_rng_state().numpy(),
        "numpy_generator": generator["state"]["key"],
        "numpy_position": np.array(generator["state"]["pos"]),
        **{f"learner/{name}": array for name, array in learner.state().items()},
    }
    content = {"format": FORMAT, "digest": BLANK, "decisions": learner.decisions, **header}
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


def restore(learner: "Learner", arrays: Mapping[str, np.ndarray]) -> None:
    """Put a checkpoint into a learner that was made with the same settings.

    Raises:
        PolicyError: The checkpoint is of another network.
    """
    import torch

    from kille_training.learn.state import below

    learner.load(below(arrays, "learner"))
    torch.set_rng_state(torch.from_numpy(arrays["torch_generator"].copy()))
    state = {"key": arrays["numpy_generator"], "pos": int(arrays["numpy_position"])}
    np.random.set_state({"bit_generator": "MT19937", "state": state, "has_gauss": 0, "gauss": 0.0})


def decisions_of(path: Path) -> int:
    """Return the decisions that a checkpoint was written after; 0 without one."""
    return int(read_checkpoint(path)[0]["decisions"]) if path.is_file() else 0
