"""Players at tables that have rules of their own, and players that read the rules."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kille_env.core.spec import Rules, RuleSets
from kille_env.errors import PolicyError
from kille_env.play.kernels import PolicyKernel, share_a_kernel

if TYPE_CHECKING:
    from kille_env.play.decisions import Decisions


class PolicyByRules:
    """Play each table by the policy of its rule set."""

    def __init__(self, name: str, policies: Sequence[Any], rules: RuleSets) -> None:
        """Take a policy for each rule set."""
        self.name, self.policies, self.rules = name, tuple(policies), rules
        self.remembers = any(getattr(policy, "remembers", False) for policy in policies)

    def policy_of(self, rules: Rules) -> Any:
        """Return the policy of a rule set."""
        if rules not in self.rules.sets:
            raise PolicyError(
                f"{self.name!r} is seated at tables of {self.rules}, and {rules!r} is none of "
                "them: seat the player that it was made of"
            )
        return self.policies[self.rules.sets.index(rules)]

    def decide(self, decisions: "Decisions") -> np.ndarray:
        """Return the probability of each action, [M, A]; see `Policy`."""
        answers, numbers = np.zeros(decisions.mask.shape), decisions.rule_numbers
        for number in np.unique(numbers).tolist():
            rows = np.flatnonzero(numbers == number)
            answers[rows] = self.policies[number].decide(decisions.select(rows))
        return answers


def told(observation: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return observations [N, F] with features of rules behind them, [K] or [N, K]."""
    rows = np.broadcast_to(features, (len(observation), features.shape[-1]))
    return np.concatenate([observation, rows], axis=1)


def stacked(
    policy: Any, kernel_of: Callable[[Any], PolicyKernel | None]
) -> tuple[Any, np.ndarray] | None:
    """Return a policy's kernel and its numbers by rule set, [R, K] or [1, K]; None without one."""
    policies = policy.policies if isinstance(policy, PolicyByRules) else (policy,)
    kernels = [kernel for each in policies if (kernel := kernel_of(each)) is not None]
    if len(kernels) < len(policies) or not share_a_kernel(*kernels):
        return None
    return kernels[0].choose, np.stack([kernel.numbers for kernel in kernels])
