"""Profiles: one policy for each seat of a table, forehand first."""

from collections.abc import Sequence
from typing import Any

from kille_env.errors import PolicyError
from kille_env.play.policy import Policy, resolve
from kille_env.registry import Table
from kille_training.tables import RulesLike, seat


def profile_of(policy: Any) -> list[Any]:
    """Return a list of policies as a profile; empty for one policy."""
    if not isinstance(policy, (list, tuple)):
        return []
    if len(policy) < 2:
        raise PolicyError(
            f"a profile is a list with one policy per seat, got {len(policy)}; pass one policy for "
            "all seats without a list"
        )
    return list(policy)


def seated(
    focal: Sequence[Any],
    others: Sequence[Any],
    game: str | None,
    num_players: int | None,
    episode: str | None,
    rules: RulesLike,
    transfer: bool,
    trust: bool,
) -> tuple[Table, list[Policy], dict[str, str]]:
    """Return the table, its policies, and the home tables of transferred ones by name."""
    if num_players is None and len(focal) > 1:
        num_players = len(focal)
    table, players, transferred = seat(
        [*focal, *others], game, num_players, episode, rules, transfer=transfer, trust=trust
    )
    if len(focal) not in (1, table.num_players):
        raise PolicyError(
            f"{len(focal)} policies for {table.num_players} seats; give one for all seats, or a "
            "list with one per seat, forehand first"
        )
    made: dict[Any, Policy] = {}
    for each in players:  # the same policy in several seats is one object
        key = each if isinstance(each, str) else id(each)
        if key not in made:
            made[key] = resolve(each, table.game, table.num_players, table.rules, trust=trust)
    policies = [made[each if isinstance(each, str) else id(each)] for each in players]
    return table, policies, transferred
