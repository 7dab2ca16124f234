"""A player who never draws lots: he does what another one finds likeliest."""

import numpy as np

from kille_env.policy import Policy, best_actions, check_probabilities


class Likeliest:
    """Plays the likeliest action of another policy, the first of equals."""

    def __init__(self, policy: Policy) -> None:
        """Follows a policy.

        Args:
            policy: Whose likeliest actions are played.
        """
        self.policy = policy
        self.name = policy.name

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns 1 for the likeliest action and 0 for the others, [N, A] float64.

        Raises:
            PolicyError: The other one returns what is no distribution over the legal actions.
        """
        wanted = self.policy.probabilities(observation, mask)
        check_probabilities(self.name, wanted, mask)
        chosen = np.zeros(mask.shape, dtype=np.float64)
        chosen[np.arange(len(chosen)), best_actions(wanted)] = 1.0
        return chosen
