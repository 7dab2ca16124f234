"""Measure a policy or a profile: units, and distance from an equilibrium."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kille_agents.greedy import PLAYS, with_action_selection
from kille_agents.identity import UNSTEADY, remarked
from kille_env.core import arguments
from kille_env.errors import ConfigError, PolicyError
from kille_env.play.policy import PlayerLike
from kille_env.play.user_functions import check_reward_function
from kille_training.evaluation.duplicate import payoff_table, profile_rows
from kille_training.evaluation.profiles import profile_of, seated
from kille_training.evaluation.results import Evaluation
from kille_training.labels import EARNED, OWN_REWARD, SEED, score_of
from kille_training.progress import Progress, part_of, shown
from kille_training.solving.size import has_exact_tree
from kille_training.tables import RulesLike

BOTH = "both"


BASELINES = ("uniform", "rule_of_thumb")


def evaluate(
    policy: PlayerLike | Sequence[PlayerLike],
    game: str | None = None,
    num_players: int | None = None,
    *,
    rules: RulesLike = None,
    episode: str | None = None,
    baselines: PlayerLike | Sequence[PlayerLike] | None = None,
    deals: int = 20_000,
    seed: int = SEED,
    play: str = BOTH,
    exact: bool | None = None,
    losses: int = 0,
    reward: Callable[..., Any] | None = None,
    transfer: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure a policy in units per deal, and its distance from an equilibrium.

    A list of policies, one for each seat, forehand first, is measured as a profile: each row is one
    seat's earnings at the table of all of them, and NashConv is that of the profile.

    Example:
        >>> import kille_training as kt
        >>> found = kt.evaluate("rule_of_thumb", "knack", 3, baselines="uniform", deals=200)
        >>> found.rows[0].estimate.low > 0
        True
        >>> found = kt.evaluate(["uniform", "rule_of_thumb"], "knack", deals=200, exact=False)
        >>> [row.policy for row in found.rows if row.play == "greedy"]
        ['uniform', 'rule_of_thumb']

    Args:
        policy: A name, a path, a function of observations and masks, or any other policy; or a list
            with one per seat, forehand first, the dealer last.
        game: The game; the default is the one that the policy was made for, or byteskille.
        num_players: Seats; the default is that of the policy or list, or the game's.
        rules: A preset or switches; likewise.
        episode: "deal" or "match"; likewise.
        baselines: The policies in the other seats, one row each; None is "uniform" and
            "rule_of_thumb". A profile has none.
        deals: Deals, each played once from every seat.
        seed: Seed of the deals.
        play: "greedy", "sampled" or "both".
        exact: Whether to compute NashConv; None does if the tree fits into memory.
        losses: Number of information sets with the largest losses to return; needs `exact`.
        reward: The function of an environment's option `reward`, from the units of all seats [N, P]
            in deals to rewards [N, P]; rows are then its averages. None measures units. NashConv
            needs units, so it is not computed.
        transfer: Whether to allow policies made for another table; the result names them.
        trust: Whether to load model files that can run code.
        progress: Progress callback; None shows bars in terminals and notebooks.

    Raises:
        KilleError: There is no such policy or table, or the options exclude each other.
    """
    progress = shown(progress)
    deals, seed = arguments.whole("deals", deals, 2), arguments.seed(seed)
    profile = profile_of(policy)
    if profile and baselines is not None:
        raise ConfigError("a profile fills all seats: leave out baselines")
    others = [] if profile else _listed(BASELINES if baselines is None else baselines)
    if not (profile or others):
        raise ConfigError("baselines is empty, expected at least one player for the other seats")
    table, asked, transferred = seated(
        profile or [policy], others, game, num_players, episode, rules, transfer, trust
    )
    num_players, resolved, size = table.num_players, table.rules, len(profile) or 1
    policies = [remarked(each, table) for each in asked]
    unsteady = [
        own.name for own, each in zip(asked[:size], policies, strict=False) if own is not each
    ]
    plays = PLAYS if play == BOTH else (play,)
    if unsteady and play == BOTH:
        plays = ("sampled",)  # nothing says which action is most likely
    for each in plays:
        with_action_selection(policies[0], each)  # refuses an unknown one before the first deal
    if exact and unsteady:
        raise PolicyError(f"{unsteady[0]!r} cannot be measured exactly: {UNSTEADY}")
    if check_reward_function(reward) is not None:
        if exact:
            raise ConfigError("NashConv is in units: leave out reward=")
        exact = False
    if exact is None and not unsteady and has_exact_tree(num_players, resolved):
        from kille_training.solving.policies import can_be_asked  # loads trees and solvers

        exact = all(can_be_asked(each) for each in policies[:size])
    if losses and not exact:
        raise ConfigError("losses need an exact NashConv: set exact=True")
    nash, lost = None, ()
    if exact:
        from kille_training.evaluation.exact import measure_exactly

        policies[:size], nash, lost = measure_exactly(
            policies[:size], num_players, resolved, plays, losses, progress
        )
    total = deals * (len(others) or 1) * len(plays)
    how: Any = {
        "deals": deals, "seed": seed, "plays": plays, "reward": reward,
        "progress": part_of(progress, "measuring", total),
    }  # fmt: skip
    if profile:
        rows, score = profile_rows(policies, resolved, **how), EARNED
    else:
        rows = payoff_table(policies[0], policies[1:], num_players, resolved, **how)
        score = score_of(table.game)
    return Evaluation(
        **table.as_dict(), score=score if reward is None else OWN_REWARD, deals=deals, seed=seed,
        rows=tuple(rows), exact=nash, losses=lost, transferred=transferred, profile=bool(profile),
    )  # fmt: skip


def _listed(players: Any) -> list[Any]:
    if isinstance(players, (str, Path)) or not isinstance(players, Sequence):
        return [players]
    return list(players)
