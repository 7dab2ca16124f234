"""`kille_training.nash_conv`: exact NashConv at a table, or at each of many."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from kille_env.errors import ConfigError, PolicyError
from kille_env.play.policy import PlayerLike
from kille_env.registry import Table
from kille_training.evaluation.exact import exact_rows, match_row, playing_at
from kille_training.evaluation.profiles import profile_of
from kille_training.evaluation.results import ExactNashConv
from kille_training.progress import Progress
from kille_training.solving.truth import named
from kille_training.tables import RulesLike, table_of

if TYPE_CHECKING:
    from kille_training.evaluation.held_out import TablesNashConv


@overload
def nash_conv(
    policy: PlayerLike | Sequence[PlayerLike],
    game: str | None = None,
    num_players: int | None = None,
    *,
    rules: RulesLike = None,
    episode: str | None = None,
    tables: None = None,
    play: str = "sampled",
    transfer: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> ExactNashConv: ...
@overload
def nash_conv(
    policy: PlayerLike | Sequence[PlayerLike],
    game: str | None = None,
    num_players: int | None = None,
    *,
    tables: str | Sequence[Table],
    play: str = "sampled",
    transfer: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> "TablesNashConv": ...
def nash_conv(
    policy: PlayerLike | Sequence[PlayerLike],
    game: str | None = None,
    num_players: int | None = None,
    *,
    rules: RulesLike = None,
    episode: str | None = None,
    tables: str | Sequence[Table] | None = None,
    play: str = "sampled",
    transfer: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> "ExactNashConv | TablesNashConv":
    """Return the exact NashConv of a policy, or of a profile of one policy per seat.

    NashConv is the sum over seats of the gain of a best response while all others keep their
    policies: `found.nash_conv` in units per deal or match (also `float(found)`), `found.stakes`,
    and by seat `found.improvement`.

    Example:
        >>> import kille_training as kt
        >>> kt.nash_conv("uniform", "byteskille", 2).nash_conv > 1
        True
        >>> profile = kt.nash_conv(["byteskille/solved", "uniform"], "byteskille")
        >>> bool(profile.improvement[1] > profile.improvement[0])
        True
        >>> found = kt.nash_conv("rule_of_thumb", num_players=2, tables="byteskille/test")
        >>> bool(0 < found.interquartile_mean.value < 0.5)
        True

    Args:
        policy: A name, a path, a function of observations and masks, or any other policy; or a list
            with one per seat, forehand first, the dealer last.
        game: The game, or a table of the truth set; the default is the one that the policy was
            made for, or byteskille.
        num_players: Seats; the default is that of the policy or list, or the game's.
        rules: A preset or switches; likewise.
        episode: "deal", or "match": best responses then cover all hands and all buying in of a
            whole pot, also exactly, in seconds with 2 or 3 seats.
        tables: Many tables instead of one: the name of a set, as "krypkille-scores/test", or a list
            of `kille_env.Table`, those with `num_players` seats; the default is the policy's own
            number, or all. The result has each table's NashConv as a share of uniform play's.
        play: "sampled" or "greedy".
        transfer: Whether to allow policies made for another table; the result names them.
        trust: Whether to load model files that can run code.
        progress: Progress callback over `tables`; None shows bars in terminals and notebooks.

    Raises:
        KilleError: The tree of the table does not fit into memory, or a match has too many states
            or a list of policies; or there is no such set of tables.
    """
    if tables is not None:
        from kille_training.evaluation.held_out import measure_tables  # for many tables only

        if rules is not None or episode is not None:
            raise ConfigError("tables have their own rules: leave out rules and episode")
        how: dict[str, Any] = {"play": play, "transfer": transfer, "trust": trust}
        return measure_tables(policy, tables, game, num_players, progress=progress, **how)
    game, num_players, rules = named(game, num_players, rules)
    profile = profile_of(policy)
    seats = num_players if num_players is not None or not profile else len(profile)
    asked: list[Any] = profile or [policy]
    table = table_of(asked, game, seats, episode, rules)
    policies, home = playing_at(policy, table, play, transfer, trust)
    if table.rules["episode"] == "match":
        if len(policies) > 1:
            raise PolicyError(
                "whole matches need one policy for all seats; measure a list of policies in single "
                'deals, episode="deal"'
            )
        row = match_row(policies[0], table.num_players, table.rules)
    else:
        (row,) = exact_rows(policies, table.num_players, table.rules, ("sampled",))
    return replace(row, play=play, transferred=home)
