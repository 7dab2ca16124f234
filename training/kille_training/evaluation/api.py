"""Measuring a player: what it earns, and how far it is from an equilibrium."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kille_agents.greedy import PLAYS, with_action_selection
from kille_agents.identity import UNSTEADY, remarked
from kille_env.core import arguments
from kille_env.errors import ConfigError, PolicyError
from kille_env.play.own import check_reward_function
from kille_env.play.policy import PlayerLike, resolve
from kille_training.evaluation.duplicate import payoff_table
from kille_training.evaluation.results import Evaluation
from kille_training.labels import OWN_REWARD, SEED, score_of
from kille_training.progress import Progress, part_of, shown
from kille_training.solving.size import is_exact
from kille_training.tables import RulesLike, seat

BOTH = "both"


def evaluate(
    policy: PlayerLike,
    game: str | None = None,
    num_players: int | None = None,
    *,
    rules: RulesLike = None,
    episode: str | None = None,
    baselines: PlayerLike | Sequence[PlayerLike] = ("uniform", "rule_of_thumb"),
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
    """Measures a player in units per deal, and how far it is from an equilibrium.

    Example:
        >>> import kille_training as kt
        >>> found = kt.evaluate("rule_of_thumb", "knack", 3, baselines="uniform", deals=200)
        >>> found.rows[0].estimate.low > 0
        True

    Args:
        policy: A name, a path, a function of observations and masks, or any other player.
        game: The game; the default is the one that the policy was made for, or byteskille.
        num_players: Seats; the default is what the policy was made for, or the game's.
        rules: A preset or switches; likewise.
        episode: "deal" or "match"; likewise.
        baselines: The players in the other seats, one row each.
        deals: Deals, each played once from every seat.
        seed: Seed of the deals.
        play: "greedy", "sampled" or "both".
        exact: Whether to compute NashConv; None does where a tree of the game fits into memory.
        losses: How many of the information sets where it loses most to return; needs `exact`.
        reward: The function of an environment's option `reward`, from the units that every seat has
            earned in deals [N, P] to rewards [N, P]: rows then say what it makes of them on
            average. None measures units. NashConv is of units, so it is not computed beside.
        transfer: Whether a policy that was made for another table may be measured at this one; the
            result says so.
        trust: Whether model files that can run code may be loaded.
        progress: Called with how far it is; None shows bars in terminals and notebooks.

    Raises:
        KilleError: There is no such player or table; the message says what there is.
    """
    progress = shown(progress)
    deals, seed = arguments.whole("deals", deals, 2), arguments.seed(seed)
    one = isinstance(baselines, (str, Path)) or not isinstance(baselines, Sequence)
    names = [baselines] if one else list(baselines)  # type: ignore[arg-type]
    if not names:
        raise ConfigError("baselines is empty, expected at least one player for the other seats")
    table, players, transferred = seat(
        [policy, *names],  # type: ignore[list-item]
        game,
        num_players,
        episode,
        rules,
        transfer=transfer,
        trust=trust,
    )
    num_players, resolved = table.num_players, table.rules
    focal, *others = (
        resolve(each, resolved.game, num_players, resolved, trust=trust) for each in players
    )
    asked, focal = focal, remarked(focal, table)
    steady = focal is asked
    others = [remarked(each, table) for each in others]
    plays = PLAYS if play == BOTH else (play,)
    if not steady and play == BOTH:
        plays = ("sampled",)  # nothing says what it is likely to do
    for each in plays:
        with_action_selection(focal, each)  # refuses an unknown one before anything is played
    if exact and not steady:
        raise PolicyError(f"nothing exact is known of {asked.name!r}: {UNSTEADY}")
    if check_reward_function(reward) is not None:
        if exact:
            raise ConfigError("NashConv is one of units: measure it without reward=")
        exact = False
    if exact is None and steady and is_exact(num_players, resolved):
        from kille_training.solving.policies import can_be_asked  # loads trees and solvers

        exact = can_be_asked(focal)
    if losses and not exact:
        raise ConfigError("losses are those of an exact NashConv; ask for it too: exact=True")
    nash, lost = None, ()
    if exact:
        from kille_training.evaluation.exact import measure_exactly

        focal, nash, lost = measure_exactly(focal, num_players, resolved, plays, losses, progress)
    total = deals * len(others) * len(plays)
    rows = payoff_table(
        focal, others, num_players, resolved,
        deals=deals, seed=seed, plays=plays, reward=reward,
        progress=part_of(progress, "measuring", total),
    )  # fmt: skip
    score = score_of(table.game) if reward is None else OWN_REWARD
    return Evaluation(
        **table.as_dict(), score=score, deals=deals, seed=seed, rows=tuple(rows),
        exact=nash, losses=lost, transferred=transferred,
    )  # fmt: skip
