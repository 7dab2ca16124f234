"""Options that several environments share, and their checks."""

import difflib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict, get_args

from kille_env.core.arguments import one_of as one_of
from kille_env.core.arguments import option_names
from kille_env.core.batch import Batch
from kille_env.core.spec import RulesLike
from kille_env.errors import RulesError, shortened
from kille_env.play.policy import PlayerLike
from kille_env.registry import spec

ILLEGAL = ("raise", "lose")
OPPONENTS = "rule_of_thumb"
"""Default of the option `opponents`."""


class TableOptions(TypedDict, total=False):
    """Options of many tables, as `kille_env.make_batch` takes them.

    Attributes:
        rules: A preset's name, a mapping of switches, or resolved rules; a list of these, one for
            each table, or a `RuleSpace`.
        episode: "deal" or "match"; None is what `rules` say, or else "deal".
        seed: Seed of the tables and of the opponents' choices; an algorithm with a seed sets
            another one, and so does a reset with one.
        observe_rules: Whether observations end with the features of their table's rules
            (`kille_env.spec(game).rules_parts`), and so do information states and full states.
    """

    rules: RulesLike
    episode: str | None
    seed: int | None
    observe_rules: bool


class SeatOptions(TableOptions, total=False):
    """Options of every form in which the caller plays one seat of a table.

    Attributes:
        opponents: One player for all other seats, or P - 1 of them, clockwise from the left
            neighbor, each as `kille_env.play.policy.resolve` takes it: a name, a path, an object
            with `probabilities(observation, mask)`, a function, ...
        seat: The caller's seat: a number; "rotate", one further each match; "random".
        illegal: Effect of an illegal action: "raise" raises `IllegalActionError` and changes
            nothing; "lose" ends the episode with `illegal_reward`.
        illegal_reward: See `illegal`; None is one unit less than the worst that can follow, so
            that an illegal action is never the cheapest way out of a bad deal.
        reward: A function from the units that every seat has earned in finished episodes [N, P] to
            rewards [N, P]; the caller's seat gets its own at the end of an episode. An illegal
            action counts as units. `returns`, `skipped_units` and infos stay in units.
    """

    opponents: PlayerLike | Sequence[PlayerLike]
    seat: int | str
    illegal: str
    illegal_reward: float | None
    reward: Callable[..., Any] | None


def check_names(form: type, given: Iterable[str], game: str) -> None:
    """Check that an environment class takes the given options."""
    parameters = inspect.signature(form.__init__, eval_str=True).parameters
    known: dict[str, Any] = {name: parameters[name] for name in parameters if name != "self"}
    if "options" in known:  # Unpack[SeatOptions], say
        known |= get_args(known.pop("options").annotation)[0].__annotations__
    option_names(form.__name__, given, known, spec(game))


def illegal_reward(given: Any, batch: Batch) -> float:
    """Return the reward of an illegal action by the option `illegal_reward`."""
    # In a match that begins under way, with a larger pot than the rules' own, losses can be larger
    # than the worst that is assumed here.
    if given is None:
        least = (batch.spec.reward_range(one, batch.num_players)[0] for one in batch.rule_sets)
        return min(0.0, *least) - 1.0
    try:
        reward = math.nan if isinstance(given, (str, bytes, bool)) else float(given)
    except (TypeError, ValueError, OverflowError):
        reward = math.nan
    if not math.isfinite(reward):
        raise RulesError(
            f"illegal_reward is {shortened(given)}, expected a finite number, or None for one unit "
            "less than the least reward of a step"
        )
    return reward


def reset_options(options: Mapping[str, Any] | None, known: tuple[str, ...]) -> dict[str, Any]:
    """Return the options of a reset that are ours.

    Others are ignored, as PettingZoo and Gymnasium expect, unless they resemble one of ours.
    """
    if not isinstance(options, (Mapping, type(None))):
        raise RulesError(f"options are a mapping such as {{'dealer': 0}}, got {shortened(options)}")
    for name in ("rules", "num_players", "episode"):
        if name in (options or {}):
            raise RulesError(f"{name} cannot change in a reset: make another environment")
    found = {}
    for key, value in (options or {}).items():
        if key in known:
            found[key] = value
        elif close := difflib.get_close_matches(str(key), known, n=1, cutoff=0.75):
            raise RulesError(f"there is no reset option {key!r}. Did you mean {close[0]!r}?")
    return found
