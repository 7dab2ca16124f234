"""A tabular policy of a deal: probabilities by what is observed."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from kille_agents.tabular.files import (
    TabularMetadata,
    metadata_of,
    read_arrays,
    row_keys,
    tabular_name,
    write_arrays,
)
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.policy import check_probabilities, check_shapes

FORMAT = "kille-table 1"


class TabularPolicy:
    """Looks up what it observes.

    Attributes:
        metadata: What it was made for.
        name: What tables and reports call it.
        observations: [K, F] uint8, sorted.
        chances: [K, A] float64, the probabilities there.
    """

    def __init__(
        self,
        metadata: TabularMetadata,
        observations: np.ndarray,
        probabilities: np.ndarray,
        name: str = "table",
    ) -> None:
        """Checks and sorts the rows.

        Args:
            metadata: What it was made for.
            observations: [K, F] uint8, each once.
            probabilities: [K, A] float64, what to do.
            name: What tables and reports call it.

        Raises:
            PolicyError: The arrays do not belong together, an observation occurs twice, or a row is
                no distribution.
        """
        self.metadata, self.name = metadata, name
        if (
            observations.ndim != 2
            or probabilities.ndim != 2
            or len(observations) != len(probabilities)
            or not observations.size
            or observations.dtype != np.uint8
        ):
            raise PolicyError(
                f"a tabular policy is observations [K, F] of uint8 and probabilities [K, A], got "
                f"{observations.dtype} {observations.shape} and {probabilities.shape}"
            )
        chances = np.asarray(probabilities, dtype=np.float64)
        check_probabilities(name, chances, np.ones(chances.shape, dtype=np.int8))
        keys = row_keys(observations)
        order = np.argsort(keys)
        self._keys = keys[order]
        if (self._keys[1:] == self._keys[:-1]).any():
            raise PolicyError(f"an observation occurs twice in the tabular policy {name}")
        self.observations, self.chances = observations[order], chances[order]

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the stored probabilities, [N, A] float64; see `Policy`.

        Raises:
            PolicyError: An observation is unknown, or the policy plays what is not legal.
        """
        width, actions = self.observations.shape[1], self.chances.shape[1]
        check_shapes(self.name, observation, mask, width, actions)
        keys = row_keys(observation)
        rows = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        unknown = self._keys[rows] != keys
        if unknown.any():
            raise PolicyError(
                f"{int(unknown.sum())} of {len(keys)} observations are not in the tabular policy "
                f"{self.name}, the first in row {int(unknown.argmax())}; it was made for a "
                "single deal of its rules"
            )
        chances = self.chances[rows]
        check_probabilities(self.name, chances, mask)
        return chances


def save_tabular(policy: TabularPolicy, path: Path) -> Path:
    """Writes a tabular policy, whole or not at all; returns its path, which ends in `.npz`."""
    # By columns, which are much alike: that packs six times better.
    arrays = {
        "observations": np.asfortranarray(policy.observations),
        "probabilities": np.asfortranarray(policy.chances),
    }
    return write_arrays(path, {"format": FORMAT, **asdict(policy.metadata)}, arrays)


def load_tabular(path: Path, game: str, num_players: int, rules: Rules) -> TabularPolicy:
    """Reads a tabular policy and checks that it is for this game, these seats and these rules.

    Raises:
        PolicyError: It cannot be read, or is for something else; the message names every
            difference.
    """
    about, arrays = read_arrays(path, FORMAT, ("observations", "probabilities"))
    metadata = metadata_of(about, path)
    metadata.check(f"the tabular policy in {path}", game, num_players, rules)
    return TabularPolicy(
        metadata, arrays["observations"], arrays["probabilities"], tabular_name(path)
    )
