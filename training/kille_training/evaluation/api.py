"""Measuring a player: what it earns, and how far it is from an equilibrium."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from kille_agents.greedy import PLAYS, in_play
from kille_agents.identity import UNSTEADY, remarked
from kille_env.core import arguments
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, PolicyError
from kille_env.policy import Player, PlayerLike, resolve, searches
from kille_env.registry import Table
from kille_training.evaluation.duplicate import Row, payoff_table
from kille_training.evaluation.exact import (
    ExactNashConv,
    can_be_asked,
    deal_of,
    exact_rows,
    is_exact,
    strategies_at,
)
from kille_training.evaluation.losses import Loss, largest_losses
from kille_training.progress import Progress, ignore, part_of
from kille_training.solving.byteskille.policies import policy_of
from kille_training.tables import table_for

RulesLike = str | Mapping[str, Any] | Rules | None
BOTH = "both"


@dataclass(frozen=True)
class Evaluation:
    """What a player earned, and how far it is from an equilibrium.

    Attributes:
        game: The game.
        num_players: Seats of the table.
        rules: Every switch with its value.
        deals: Deals behind each row.
        seed: Their seed.
        rows: The payoff table.
        exact: NashConv for each way to play; None where it was not computed.
        losses: Where its sampled play loses most, the largest loss first.
    """

    game: str
    num_players: int
    rules: Mapping[str, Any]
    deals: int
    seed: int
    rows: tuple[Row, ...]
    exact: tuple[ExactNashConv, ...] | None
    losses: tuple[Loss, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Returns everything as JSON can hold it."""
        return _PLAIN.dump_python(self, mode="json")

    @classmethod
    def read(cls, path: Path) -> "Evaluation":
        """Returns what `as_dict` has put into a JSON file.

        Raises:
            ConfigError: The file is broken; the message names it and says what to do.
        """
        try:
            return _PLAIN.validate_json(path.read_bytes())
        except ValidationError as error:
            wrong = error.errors()[0]
            where = ".".join(map(str, wrong["loc"])) or "its content"
            raise ConfigError(
                f"{path} cannot be read: {where}: {wrong['msg']}. Delete it; the next kille train "
                f"or kille report of {path.parent} measures again"
            ) from None


_PLAIN = TypeAdapter(Evaluation)
"""Makes plain values of a measurement, and reads them."""


def evaluate(
    policy: PlayerLike,
    game: str | None = None,
    num_players: int | None = None,
    *,
    rules: RulesLike = None,
    episode: str | None = None,
    against: PlayerLike | Sequence[PlayerLike] = ("uniform", "rule_of_thumb"),
    deals: int = 20_000,
    seed: int = 1_000_003,
    play: str = BOTH,
    exact: bool | None = None,
    losses: int = 0,
    trust: bool = False,
    transfer: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Measures a player in units per deal, and how far it is from an equilibrium.

    Args:
        policy: A name, a path, a function of observations and masks, or any other player.
        game: The game; the default is the one that the policy was made for, or byteskille.
        num_players: Seats; the default is what the policy was made for, or the game's.
        rules: A preset or switches; likewise.
        episode: "deal" or "match"; likewise.
        against: The players in the other seats, one row each.
        deals: Deals, each played once from every seat.
        seed: Seed of the deals.
        play: "greedy", "sampled" or "both".
        exact: Whether to compute NashConv; None does where a tree of the game fits into memory.
        losses: How many of the information sets where it loses most to return; needs `exact`.
        trust: Whether model files that can run code may be loaded.
        transfer: Whether players may be measured at another table than the one that they were made
            for; their names then say so.
        progress: Called with how far it is.

    Raises:
        KilleError: There is no such player or table; the message says what there is.
    """
    deals, seed = arguments.whole("deals", deals, 2), arguments.seed(seed)
    num_players, resolved = table_for(policy, game, num_players, episode, rules)
    one = isinstance(against, (str, Path)) or not isinstance(against, Sequence)
    names = [against] if one else list(against)  # type: ignore[arg-type]
    if not names:
        raise ConfigError("against is empty, expected at least one player for the other seats")
    seated = resolved.game, num_players, resolved
    focal, *baselines = (
        resolve(each, *seated, trust=trust, transfer=transfer)  # type: ignore[arg-type]
        for each in (policy, *names)
    )
    table = Table.of(resolved.game, num_players, resolved)
    asked, focal = focal, remarked(focal, table)
    steady = focal is asked
    baselines = [remarked(each, table) for each in baselines]
    plays = PLAYS if play == BOTH else (play,)
    if not steady and play == BOTH:
        plays = ("sampled",)  # nothing says what it is likely to do
    for each in plays:
        in_play(focal, each)  # refuses an unknown one before anything is played
    if exact and not steady:
        raise PolicyError(f"nothing exact is known of {asked.name!r}: {UNSTEADY}")
    if exact is None:
        seen = steady and can_be_asked(focal, num_players, resolved)
        exact = seen and is_exact(num_players, resolved)
    if losses and not exact:
        raise ConfigError("losses are those of an exact NashConv; ask for it too: --exact")
    nash, lost = None, ()
    if exact:
        focal, nash, lost = _exactly(focal, num_players, resolved, plays, losses, progress)
    total = deals * len(baselines) * len(plays)
    rows = payoff_table(
        focal, baselines, num_players, resolved,
        deals=deals, seed=seed, plays=plays, progress=part_of(progress, "measuring", total),
    )  # fmt: skip
    switches = resolved.as_dict()
    return Evaluation(resolved.game, num_players, switches, deals, seed, tuple(rows), nash, lost)


def _exactly(
    focal: Player,
    num_players: int,
    rules: Rules,
    plays: Sequence[str],
    most: int,
    progress: Progress | None,
) -> tuple[Player, tuple[ExactNashConv, ...], tuple[Loss, ...]]:
    """Returns NashConv for each way to play, and where sampled play loses most.

    Also returns the player to play with: for a searcher the table of its answers, so that it is not
    asked again about the same hand, dealt as the second one.
    """
    deal, asking = deal_of(num_players, rules), ignore
    if searches(focal):
        asking = part_of(progress, f"asking {focal.name}", sum(deal.information_sets))
    asked = strategies_at(focal, deal, asking)
    advance = part_of(progress, "measuring exactly", len(plays))
    rows = exact_rows(focal, num_players, rules, plays, advance, deal, asked)
    if searches(focal):
        focal = policy_of(asked, deal, focal.name)
    return focal, tuple(rows), tuple(largest_losses(asked, deal, most))


def nash_conv(
    policy: PlayerLike,
    game: str | None = None,
    num_players: int | None = None,
    *,
    rules: RulesLike = None,
    episode: str | None = None,
    play: str = "sampled",
    trust: bool = False,
    transfer: bool = False,
) -> ExactNashConv:
    """Returns how far a policy is from an equilibrium, exactly.

    It is the sum over seats of what each could gain by its best response, while the policy plays
    all others: `found.nash_conv` in units per deal (and `float(found)`), `found.stakes`, and by
    seat `found.improvement`.

    Args:
        policy: A name, a path, a function of observations and masks, or any other policy.
        game: The game; the default is the one that the policy was made for, or byteskille.
        num_players: Seats; the default is what the policy was made for, or the game's.
        rules: A preset or switches; likewise.
        episode: "deal"; there is no tree of a match.
        play: "sampled" or "greedy".
        trust: Whether model files that can run code may be loaded.
        transfer: Whether it may be measured at another table than the one that it was made for; its
            name then says so.

    Raises:
        KilleError: The tree of this game or table does not fit into memory; the message says so.
    """
    num_players, resolved = table_for(policy, game, num_players, episode, rules)
    player = resolve(policy, resolved.game, num_players, resolved, trust=trust, transfer=transfer)
    if remarked(player, Table.of(resolved.game, num_players, resolved)) is not player:
        raise PolicyError(f"nothing exact is known of {player.name!r}: {UNSTEADY}")
    (row,) = exact_rows(in_play(player, play), num_players, resolved, ("sampled",))
    return row
