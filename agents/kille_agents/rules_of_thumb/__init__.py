"""Each game's rule of thumb: sensible play without calculating."""

from kille_agents.rules_of_thumb.byteskille import ByteskilleRuleOfThumb
from kille_agents.rules_of_thumb.femkortskille import FemkortskilleRuleOfThumb
from kille_agents.rules_of_thumb.knack import KnackRuleOfThumb
from kille_agents.rules_of_thumb.krypkille import KrypkilleRuleOfThumb
from kille_agents.rules_of_thumb.kungsholmskille import KungsholmskilleRuleOfThumb
from kille_agents.rules_of_thumb.rule_of_thumb import RuleOfThumb
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError

__all__ = ["RULES_OF_THUMB", "RuleOfThumb", "rule_of_thumb", "rule_of_thumb_class"]

RULES_OF_THUMB: dict[str, type[RuleOfThumb]] = {
    kind.game: kind
    for kind in (
        ByteskilleRuleOfThumb,
        KungsholmskilleRuleOfThumb,
        KrypkilleRuleOfThumb,
        KnackRuleOfThumb,
        FemkortskilleRuleOfThumb,
    )
}
"""Rules of thumb by game."""


def rule_of_thumb(num_players: int, rules: Rules) -> RuleOfThumb:
    """Return the rule of thumb of the rules' game, for a table."""
    return rule_of_thumb_class(rules.game)(num_players, rules)


def rule_of_thumb_class(game: str) -> type[RuleOfThumb]:
    """Return the class of a game's rule of thumb."""
    if game not in RULES_OF_THUMB:
        raise PolicyError(f"{game} has no rule of thumb; uniform plays it")
    return RULES_OF_THUMB[game]
