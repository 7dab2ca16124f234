"""What a report shows of Byteskille alone: when the policy swaps."""

from kille_agents.rules_of_thumb import rule_of_thumb
from kille_env.core.spec import Rules
from kille_env.play.policy import Policy
from kille_training.evaluation.swap_map import swap_map
from kille_training.progress import Progress, part_of
from kille_training.reports.pages import Picture, plot
from kille_training.reports.plots import swap_heat_map

DECISIONS = 600_000
"""Decisions of the policy that the map is made of."""


def swaps(
    policy: Policy, num_players: int, rules: Rules, progress: Progress | None = None
) -> Picture:
    """Returns the map of how likely a policy is to swap, by card and position.

    Args:
        policy: The policy.
        num_players: Seats.
        rules: Byteskille's.
        progress: Called with how many decisions have been made.
    """
    advance = part_of(progress, "reporting", DECISIONS)
    found = swap_map(policy, num_players, rules, decisions=DECISIONS, progress=advance)
    usual = rule_of_thumb(num_players, rules)
    rule = swap_map(usual, num_players, rules, decisions=DECISIONS // 4)
    caption = (
        "How likely the policy is to swap, from never (blue) to always (red), by its position and "
        "its card: the one dealt, or one taken in a swap. Dots: the rule-of-thumb player swaps "
        "(or asks). Grey: it did not happen. "
    )
    if rules["episode"] == "match":
        caption += "Only turns with everybody still in the game are counted. "
    caption += (
        "BL blaren, BP blompottan, KR kransen, L1 to L12 lilja, VH värdshus, KA kavall, SV svin, "
        "HU husar, GO gök, KI kille."
    )
    return Picture("When it swaps", plot(lambda width: swap_heat_map(found, rule, width)), caption)
