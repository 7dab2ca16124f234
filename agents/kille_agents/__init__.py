"""Players behind one protocol: a batch of observations and masks in, probabilities out.

Importing this package does not import torch; the players that need it import it when they are made.
"""

from kille_agents.catalog import BASELINES, About, as_policy, describe_player, load_policy
from kille_agents.network import NetworkMetadata, NetworkPolicy, load_network, save_network
from kille_agents.objects import Network
from kille_agents.rules_of_thumb.byteskille import ByteskilleRuleOfThumb
from kille_env.play.policy import (
    Policy,
    UniformPolicy,
    best_actions,
    check_probabilities,
    sample_actions,
)

__all__ = [
    "BASELINES",
    "About",
    "ByteskilleRuleOfThumb",
    "Network",
    "NetworkMetadata",
    "NetworkPolicy",
    "Policy",
    "UniformPolicy",
    "as_policy",
    "best_actions",
    "check_probabilities",
    "describe_player",
    "load_network",
    "load_policy",
    "sample_actions",
    "save_network",
]
