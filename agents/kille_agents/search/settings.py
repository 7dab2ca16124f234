"""Settings of players that look ahead."""

from dataclasses import dataclass

from kille_env.errors import PolicyError, did_you_mean
from kille_env.policy import Policy, searches

BELIEFS = ("uniform", "policy")
OBSERVERS = ("searcher", "actor")
OTHERS = ("policy", "tree")


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """Settings of the flat search, checked when they are made.

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
        for name in ("base", "opponents"):
            if searches(getattr(self, name)):
                raise PolicyError(f"{name} looks ahead itself; pass a policy that does not")
        for name in ("determinizations", "deals", "candidates", "tables"):
            number = getattr(self, name)
            if number is None and name == "deals":
                continue
            if not isinstance(number, int) or number < 1:
                raise PolicyError(f"{name} is {number!r}, expected a whole number from 1")
        if not self.margin >= 0.0:
            raise PolicyError(f"margin is {self.margin!r}, expected a number from 0")
        if not 0.0 < self.doubt <= 1.0:
            raise PolicyError(f"doubt is {self.doubt!r}, expected a number above 0 and at most 1")
        self._check_word("beliefs", BELIEFS)

    def _check_word(self, name: str, known: tuple[str, ...]) -> None:
        word = getattr(self, name)
        if word not in known:
            raise PolicyError(f"{name} is {word!r}. {did_you_mean(word, known)}")


@dataclass(frozen=True, kw_only=True)
class TreeSettings(SearchSettings):
    """Settings of the tree search: those of the flat one, and its own.

    Attributes:
        determinizations: Iterations, each in a determinization of its own.
        tables: As for the flat search.
        exploration: How strongly rarely tried actions are tried again, in parts of the range of
            what has been earned.
        observer: "searcher" or "actor": whose knowledge tells nodes apart.
        others: "policy" or "tree": how the other seats choose inside the tree.
    """

    determinizations: int = 256
    tables: int = 1 << 16
    exploration: float = 0.5
    observer: str = "searcher"
    others: str = "policy"

    def __post_init__(self) -> None:
        """Checks the values."""
        super().__post_init__()
        if not self.exploration >= 0.0:
            raise PolicyError(f"exploration is {self.exploration!r}, expected a number from 0")
        self._check_word("observer", OBSERVERS)
        self._check_word("others", OTHERS)
