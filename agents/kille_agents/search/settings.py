"""Settings of players that look ahead."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

from kille_env.core.arguments import MOST
from kille_env.core.spec import is_whole
from kille_env.errors import PolicyError, did_you_mean, shortened
from kille_env.play.policy import Policy, has_memory, plays, searches

POLICIES = ("base", "opponents")
COUNTS = ("determinizations", "deals", "candidates", "tables")
BELIEFS = ("uniform", "policy")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """Settings of the flat search, checked when they are made.

    Example:
        >>> from kille_agents import SearchSettings
        >>> SearchSettings(determinizations=64).margin
        2.0

    Attributes:
        base: Plays on in the determinizations, and is followed where no other action is better for
            sure; None is the game's rule of thumb.
        opponents: Who the other seats are assumed to be; None is the base.
        determinizations: How many each action is tried in.
        margin: Standard errors by which an action has to be better than the base to be played
            instead; 0 takes what was better on average.
        deals: Deals of a match that are played on, the present one included; None is the whole
            match. What lies on the table at the end of the last one counts for nobody.
        beliefs: "uniform": every determinization that agrees with what the seat knows is equally
            likely; "policy": as likely as the opponents' earlier actions in the deal make it.
        doubt: With "policy", the probability with which others are assumed to act at random.
        candidates: With "policy", determinizations drawn for each that is kept.
        tables: Tables that are played side by side; bounds the memory, changes nothing else.

    Raises:
        PolicyError: A value is impossible.
    """

    base: Policy | None = None
    opponents: Policy | None = None
    determinizations: int = 32
    margin: float = 2.0
    deals: int | None = None
    beliefs: str = "policy"
    doubt: float = 0.01
    candidates: int = 8
    tables: int = 1 << 15

    def __post_init__(self) -> None:
        """Checks the values."""
        for name, value in vars(self).items():
            if value is None:
                continue
            if name in POLICIES and not plays(value):
                given = shortened(value)
                raise PolicyError(f"{name} is {given}, expected a policy: see load_policy")
            if name in POLICIES and searches(value):
                raise PolicyError(f"{name} looks ahead itself; pass a policy that does not")
            if name in POLICIES and has_memory(value):
                raise PolicyError(f"{name} remembers the match; pass a policy that does not")
            if name in COUNTS and not (is_whole(value) and 1 <= value <= MOST):
                given = shortened(value)
                raise PolicyError(f"{name} is {given}, expected a whole number from 1 to {MOST}")
            if name == "margin" and not (_is_number(value) and value >= 0.0):
                raise PolicyError(f"margin is {shortened(value)}, expected a number from 0")
            if name == "doubt" and not (_is_number(value) and 0.0 < value <= 1.0):
                given = shortened(value)
                raise PolicyError(f"doubt is {given}, expected a number above 0 and at most 1")
            if name == "beliefs" and value not in BELIEFS:
                hint = did_you_mean(value, BELIEFS)
                raise PolicyError(f"beliefs is {shortened(value)}. {hint}")
