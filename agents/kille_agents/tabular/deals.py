"""A tabular policy of a deal: probabilities by observation."""

import numpy as np

from kille_agents.metadata import Metadata
from kille_agents.tabular.files import Index
from kille_env.errors import PolicyError
from kille_env.play.policy import ObservationPolicy, check_probabilities, check_shapes
from kille_env.registry import Table

FORMAT = "kille-table 1"
ARRAYS = ("observations", "probabilities")


class TabularPolicy(ObservationPolicy):
    """A policy that looks up its observation."""

    def __init__(
        self,
        metadata: Metadata,
        observations: np.ndarray,
        probabilities: np.ndarray,
        name: str = "table",
    ) -> None:
        """Check and sort rows of observations [K, F] uint8 and probabilities [K, A] float64."""
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
        probabilities = np.asarray(probabilities, dtype=np.float64)
        check_probabilities(name, probabilities, np.ones(probabilities.shape, dtype=np.int8))
        # Sorted, so that two files of one policy are the same bytes.
        order = Index(observations, name, "").order
        self.observations, self.action_probabilities = observations[order], probabilities[order]
        self._index = Index(self.observations, name, "the single deal")

    @property
    def tables(self) -> tuple[Table, ...]:
        """The table that it was made for."""
        return self.metadata.tables

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the stored probabilities, [N, A] float64; see `Policy`.

        Where only one action is legal it is played, whether the observation is known or not.
        """
        width, actions = self.observations.shape[1], self.action_probabilities.shape[1]
        check_shapes(self.name, observation, mask, width, actions)
        probabilities, choice = mask.astype(np.float64), mask.sum(axis=1) > 1
        probabilities[choice] = self.action_probabilities[self._index.find(observation[choice])]
        check_probabilities(self.name, probabilities, mask)
        return probabilities
