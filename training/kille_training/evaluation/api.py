"""Measuring a player: what it earns, and how far it is from an equilibrium."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from kille_agents.greedy import PLAYS, in_play
from kille_agents.identity import UNSTEADY, remarked
from kille_env.core import arguments
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, PolicyError
from kille_env.play.own import check_reward_function
from kille_env.play.policy import Player, PlayerLike, resolve, searches
from kille_env.registry import Table
from kille_training.evaluation.duplicate import DETERMINISTIC, Row, payoff_table
from kille_training.evaluation.exact import (
    ExactNashConv,
    can_be_asked,
    exact_rows,
    exact_table,
    is_exact,
    match_row,
    strategies_at,
)
from kille_training.evaluation.losses import Loss, largest_losses, loss_table
from kille_training.labels import (
    OWN_REWARD,
    SEED,
    measure_of,
    plural_of,
    position_names,
    score_of,
    unit_of,
)
from kille_training.progress import Progress, ignore, part_of, shown
from kille_training.results import Result, TextTable
from kille_training.solving.build import build_deal
from kille_training.solving.policies import greedy_of, policy_of
from kille_training.tables import RulesLike, seat

if TYPE_CHECKING:
    import pandas as pd

BOTH = "both"
MOST_POSITIONS = 5
"""Seats up to which a table has a column for each position."""


@dataclass(frozen=True, repr=False)
class Evaluation(Result):
    """What a player earned, and how far it is from an equilibrium.

    Attributes:
        game: The game.
        num_players: Seats of the table.
        rules: Every switch with its value.
        version: The version of the game.
        score: What the means of the rows are, see `kille_training.labels`.
        deals: Deals behind each row.
        seed: Their seed.
        rows: The payoff table.
        exact: NashConv for each way to play; None where it was not computed.
        losses: Where it loses most, the largest loss first: by its sampled play, or by its greedy
            play if only that was measured.
        transferred: By the name of each player that was made for another table, that table.
    """

    game: str
    num_players: int
    rules: Mapping[str, Any]
    version: int
    score: str
    deals: int
    seed: int
    rows: tuple[Row, ...]
    exact: tuple[ExactNashConv, ...] | None
    losses: tuple[Loss, ...] = ()
    transferred: Mapping[str, str] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        """The table at which it was measured."""
        return Table.read(
            {name: getattr(self, name) for name in ("game", "num_players", "rules", "version")}
        )

    def parts(self) -> list[str | TextTable]:
        """Returns what it earns, how far it is from an equilibrium, and where it loses most."""
        episode = str(self.rules["episode"])
        measure, unit = measure_of(self.game, episode), unit_of(episode)
        measure = f"reward per {unit}" if self.score == OWN_REWARD else measure
        seats = position_names(self.num_players) if self.num_players <= MOST_POSITIONS else []
        head = [measure, *seats, plural_of(unit)]
        rows = [
            (
                row.against, row.play, str(row.estimate),
                *(f"{part.mean:+.4f}" for part in row.by_position[: len(seats)]),
                f"{row.estimate.groups:,}",
            )
            for row in self.rows
        ]  # fmt: skip
        title = f"{measure.capitalize()}, {self.score}, 95% interval"
        shown: list[str | TextTable] = [
            f"{self.rows[0].policy} at {self.table}",
            *(f"{name} is transferred from {home}" for name, home in self.transferred.items()),
            TextTable(title, ["against", "play", *(f">{name}" for name in head)], rows),
        ]
        if any(row.play == DETERMINISTIC for row in self.rows):
            shown.append(f"{DETERMINISTIC}: greedy and sampled play are the same")
        shown += [exact_table(self.exact)] if self.exact else []
        return shown + ([loss_table(self.losses, self.num_players)] if self.losses else [])

    def frame(self) -> "pd.DataFrame":
        """Returns the payoff table as a data frame, one line per opponent and way to play."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "policy": row.policy, "against": row.against, "play": row.play,
                    "mean": row.estimate.mean, "low": row.estimate.low, "high": row.estimate.high,
                    "groups": row.estimate.groups,
                }
                for row in self.rows
            ]
        )  # fmt: skip

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
                f"{path} cannot be read: {where}: {wrong['msg']}. Delete it; the next "
                f"kille train {path.parent} measures again"
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
        >>> found = kt.evaluate("rule_of_thumb", "knack", 3, against="uniform", deals=200)
        >>> found.rows[0].estimate.low > 0
        True

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
    one = isinstance(against, (str, Path)) or not isinstance(against, Sequence)
    names = [against] if one else list(against)  # type: ignore[arg-type]
    if not names:
        raise ConfigError("against is empty, expected at least one player for the other seats")
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
    focal, *baselines = (
        resolve(each, resolved.game, num_players, resolved, trust=trust) for each in players
    )
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
    if check_reward_function(reward) is not None:
        if exact:
            raise ConfigError("NashConv is one of units: measure it without reward=")
        exact = False
    if exact is None:
        known = steady and is_exact(num_players, resolved)
        exact = known and can_be_asked(focal, num_players, resolved)
    if losses and not exact:
        raise ConfigError("losses are those of an exact NashConv; ask for it too: exact=True")
    nash, lost = None, ()
    if exact:
        focal, nash, lost = _exactly(focal, num_players, resolved, plays, losses, progress)
    total = deals * len(baselines) * len(plays)
    rows = payoff_table(
        focal, baselines, num_players, resolved,
        deals=deals, seed=seed, plays=plays, reward=reward,
        progress=part_of(progress, "measuring", total),
    )  # fmt: skip
    score = score_of(table.game) if reward is None else OWN_REWARD
    return Evaluation(
        **table.as_dict(), score=score, deals=deals, seed=seed, rows=tuple(rows),
        exact=nash, losses=lost, transferred=transferred,
    )  # fmt: skip


def _exactly(
    focal: Player,
    num_players: int,
    rules: Rules,
    plays: Sequence[str],
    most: int,
    progress: Progress | None,
) -> tuple[Player, tuple[ExactNashConv, ...], tuple[Loss, ...]]:
    """Return NashConv for each way to play, and where it loses most.

    The losses are those of sampled play, or of greedy play if that alone is measured.

    Also returns the player to play with: for a searcher the table of its answers, so that it is not
    asked again about the same hand, dealt as the second one.
    """
    deal, asking = build_deal(num_players, rules), ignore
    if searches(focal):
        asking = part_of(progress, f"asking {focal.name}", sum(deal.information_sets))
    asked = strategies_at(focal, deal, asking)
    advance = part_of(progress, "measuring exactly", len(plays))
    rows = exact_rows(focal, num_players, rules, plays, advance, deal, asked)
    if searches(focal):
        focal = policy_of(asked, deal, focal.name)
    played = greedy_of(asked, deal) if tuple(plays) == ("greedy",) else asked
    return focal, tuple(rows), tuple(largest_losses(played, deal, most))


def nash_conv(
    policy: PlayerLike,
    game: str | None = None,
    num_players: int | None = None,
    *,
    rules: RulesLike = None,
    episode: str | None = None,
    play: str = "sampled",
    transfer: bool = False,
    trust: bool = False,
) -> ExactNashConv:
    """Returns how far a policy is from an equilibrium, exactly.

    It is the sum over seats of what each could gain by its best response, while the policy plays
    all others: `found.nash_conv` in units per deal or match (and `float(found)`), `found.stakes`,
    and by seat `found.improvement`.

    Example:
        >>> import kille_training as kt
        >>> kt.nash_conv("uniform", "byteskille", 2).nash_conv > 1
        True

    Args:
        policy: A name, a path, a function of observations and masks, or any other policy.
        game: The game; the default is the one that the policy was made for, or byteskille.
        num_players: Seats; the default is what the policy was made for, or the game's.
        rules: A preset or switches; likewise.
        episode: "deal", or "match": the best responses then cover all hands and all buying in of a
            whole pot, which is exact, too, and takes seconds with 2 or 3 seats.
        play: "sampled" or "greedy".
        transfer: Whether a policy that was made for another table may be measured at this one; the
            result says so.
        trust: Whether model files that can run code may be loaded.

    Raises:
        KilleError: The tree of this game or table does not fit into memory, or a match has too many
            states; the message says so.
    """
    table, (policy,), transferred = seat(
        [policy], game, num_players, episode, rules, transfer=transfer, trust=trust
    )
    player = resolve(policy, table.game, table.num_players, table.rules, trust=trust)
    if remarked(player, table) is not player:
        raise PolicyError(f"nothing exact is known of {player.name!r}: {UNSTEADY}")
    player = in_play(player, play)
    if table.rules["episode"] == "match":
        row = match_row(player, table.num_players, table.rules)
    else:
        (row,) = exact_rows(player, table.num_players, table.rules, ("sampled",))
    return replace(row, play=play, transferred=next(iter(transferred.values()), None))
