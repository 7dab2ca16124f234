"""Measuring a player: what it earns, and how far it is from an equilibrium."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kille_agents.greedy import PLAYS, in_play
from kille_env.core import arguments
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.policy import PlayerLike, resolve, searches
from kille_training.evaluation.duplicate import Row, payoff_table, rows_from_dicts
from kille_training.evaluation.exact import ExactRow, exact_from_dicts, exact_rows, why_not
from kille_training.progress import Progress, part_of
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
    """

    game: str
    num_players: int
    rules: Mapping[str, Any]
    deals: int
    seed: int
    rows: tuple[Row, ...]
    exact: tuple[ExactRow, ...] | None

    def as_dict(self) -> dict[str, Any]:
        """Returns everything as JSON can hold it."""
        exact = None if self.exact is None else [asdict(row) for row in self.exact]
        rows = [asdict(row) for row in self.rows]
        return {**vars(self), "rules": dict(self.rules), "rows": rows, "exact": exact}

    @classmethod
    def read(cls, path: Path) -> "Evaluation":
        """Returns what `as_dict` has put into a JSON file.

        Raises:
            ConfigError: The file is broken; the message names it and says what to do.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            exact = content["exact"]
            return cls(
                game=str(content["game"]),
                num_players=int(content["num_players"]),
                rules=dict(content["rules"]),
                deals=int(content["deals"]),
                seed=int(content["seed"]),
                rows=tuple(rows_from_dicts(content["rows"])),
                exact=None if exact is None else tuple(exact_from_dicts(exact)),
            )
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise ConfigError(
                f"{path} cannot be read: {what}. Delete it; the next kille train or kille report "
                f"of {path.parent} measures again"
            ) from None


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
    trust: bool = False,
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
        trust: Whether model files that can run code may be loaded.
        progress: Called with how far it is.

    Raises:
        KilleError: There is no such player or table; the message says what there is.
    """
    deals, seed = arguments.whole("deals", deals, 2), arguments.seed(seed)
    game, num_players, resolved = table_for(policy, game, num_players, episode, rules)
    one = isinstance(against, (str, Path)) or not isinstance(against, Sequence)
    names = [against] if one else list(against)  # type: ignore[arg-type]
    if not names:
        raise ConfigError("against is empty, expected at least one player for the other seats")
    focal, *baselines = (
        resolve(each, game, num_players, resolved, trust=trust)  # type: ignore[arg-type]
        for each in (policy, *names)
    )
    plays = PLAYS if play == BOTH else (play,)
    for each in plays:
        in_play(focal, each)  # refuses an unknown one before anything is played
    if exact is None:
        exact = not why_not(game, num_players, resolved) and not searches(focal)
    nash = None
    if exact:
        advance = part_of(progress, "measuring exactly", len(plays))
        nash = tuple(exact_rows(focal, game, num_players, resolved, plays, advance))
    total = deals * len(baselines) * len(plays)
    rows = payoff_table(
        focal, baselines, game, num_players, resolved,
        deals=deals, seed=seed, plays=plays, progress=part_of(progress, "measuring", total),
    )  # fmt: skip
    return Evaluation(game, num_players, resolved.as_dict(), deals, seed, tuple(rows), nash)


def nash_conv(
    policy: PlayerLike,
    game: str = "byteskille",
    num_players: int | None = None,
    *,
    rules: RulesLike = None,
    episode: str | None = None,
    play: str = "sampled",
    trust: bool = False,
) -> float:
    """Returns how far a policy is from an equilibrium: exactly, in units per deal.

    It is the sum over seats of what each could gain by its best response, while the policy plays
    all others. `evaluate` has it for each seat.

    Args:
        policy: A name, a path, a function of observations and masks, or any other policy.
        game: The game.
        num_players: Seats; the default is what the policy was made for, or the game's.
        rules: A preset or switches.
        episode: "deal"; there is no tree of a match.
        play: "sampled" or "greedy".
        trust: Whether model files that can run code may be loaded.

    Raises:
        KilleError: The tree of this game or table does not fit into memory; the message says so.
    """
    game, num_players, resolved = table_for(policy, game, num_players, episode, rules)
    player = resolve(policy, game, num_players, resolved, trust=trust)
    (row,) = exact_rows(in_play(player, play), game, num_players, resolved, ("sampled",))
    return row.nash_conv
