"""At which table players are measured: what is given, else what they were made for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kille_agents.catalog import BASELINES, game_of
from kille_agents.metadata import Metadata
from kille_agents.network import SPECIFICATION, policy_folder, read_network
from kille_agents.objects import is_from
from kille_agents.tabular import read_metadata, tabular_file
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError
from kille_env.play.policy import PlayerLike, name_of, resolve
from kille_env.registry import Table

RulesLike = str | Mapping[str, Any] | Rules | None


class Seated(NamedTuple):
    """Players and the table at which they are measured.

    Attributes:
        table: The table.
        players: The players, in the order in which they were given.
        transferred: By the name of each player that was made for another table, that table.
    """

    table: Table
    players: list[PlayerLike]
    transferred: dict[str, str]


def seat(
    players: Sequence[PlayerLike],
    game: str | None = None,
    num_players: int | None = None,
    episode: str | None = None,
    rules: RulesLike = None,
    *,
    transfer: bool = False,
    trust: bool = False,
) -> Seated:
    """Choose the table at which players are measured.

    What is not given is what the first player was made for that was made for a table; for anyone
    else it is the default of the game, see `kille_env.Table.of`.

    Args:
        players: The players.
        game: The game, if given.
        num_players: Seats, if given.
        episode: "deal" or "match", if given.
        rules: A preset, switches, or complete rules; a preset among them decides all others.
        transfer: Whether players may play that were made for another table.
        trust: Whether model files that can run code may be loaded.

    Raises:
        PolicyError: A player was made for another table; the message names every difference.
        KilleError: There is no such game, switch or table, or a file cannot be read.
    """
    homes = [home_of(player, num_players, episode) for player in players]
    table = _table(players, homes, game, num_players, episode, rules)
    seated, transferred = list(players), {}
    for number, (player, home) in enumerate(zip(players, homes, strict=True)):
        if home is None:
            continue
        here = home.at(table.num_players, table.rules["episode"])
        if not (wrong := here.differences(table.game, table.num_players, table.rules)):
            continue
        name = str(player) if isinstance(player, (str, Path)) else name_of(player)
        if not transfer or home.game != table.game:
            raise PolicyError(
                f"{name} does not fit this table: {'; '.join(wrong)}"
                + ("" if transfer else ". To measure it there all the same: transfer=True, on the "
                   "command line --transfer")
            )  # fmt: skip
        seated[number] = _moved(player, home, table, trust)
        transferred[name] = str(home.table)
    return Seated(table, seated, transferred)


def table_of(
    players: Iterable[PlayerLike],
    game: str | None = None,
    num_players: int | None = None,
    episode: str | None = None,
    rules: RulesLike = None,
) -> Table:
    """Return the table that `seat` chooses, whether the players fit it or not; none is loaded."""
    players = list(players)
    homes = [home_of(player, num_players, episode) for player in players]
    return _table(players, homes, game, num_players, episode, rules)


def home_of(
    player: PlayerLike, num_players: int | None = None, episode: str | None = None
) -> Metadata | None:
    """Return what a player was made for; None if it was made for no table, or does not say.

    Of several tables that a model learned at, it is the first that has what is given.
    """
    if getattr(player, "transferred", False):
        return None
    asking = _asking(player)
    if asking is not None:
        fits = [
            table
            for table in asking.tables
            if num_players in (None, table.num_players)
            and episode in (None, table.rules["episode"])
        ]
        return next((Metadata.of(table) for table in (*fits, *asking.tables)), None)
    if not isinstance(player, (str, Path)):
        found = getattr(player, "metadata", None)
        if isinstance(found, Metadata):
            return found
        table = next(_tables_of(player), None)
        return None if table is None else Metadata.of(table)
    if str(player) in BASELINES or game_of(str(player)) is not None:
        return None
    if (file := tabular_file(player)) is not None:
        return read_metadata(file)
    folder = policy_folder(player)
    if folder is not None and (folder / SPECIFICATION).is_file():
        return read_network(folder)[0]
    return None


def _tables_of(player: Any) -> Iterator[Table]:
    """Yield the table that a player says, or that its environment says."""
    for thing in (player, getattr(player, "env", None)):
        if isinstance(found := getattr(thing, "table", None), Table):
            yield found


def _asking(player: PlayerLike) -> Any:
    """Return how a model of Stable-Baselines3 is asked, or its file says; None for all others."""
    if isinstance(player, (str, Path)):
        path = Path(player)
        if path.suffix != ".zip" or not path.is_file():
            return None
        from kille_env.adapters.sb3_asking import read_asking  # needs torch

        return read_asking(path)
    if is_from("stable_baselines3.common.base_class", "BaseAlgorithm", player):
        from kille_env.adapters.sb3_asking import asking_of

        return asking_of(player)
    return getattr(player, "asking", None)


def _table(
    players: Sequence[PlayerLike],
    homes: Sequence[Metadata | None],
    game: str | None,
    num_players: int | None,
    episode: str | None,
    rules: RulesLike,
) -> Table:
    if isinstance(rules, Rules):
        rules = rules.as_dict()
    switches = {"preset": rules} if isinstance(rules, str) else dict(rules or {})
    for player in players:
        game = game or (game_of(player) if isinstance(player, str) else None)
    home = next((each for each in homes if each is not None), None)
    if home is not None and game in (None, home.game):
        game, num_players = home.game, num_players or home.num_players
        kept = {"episode": home.rules["episode"]} if "preset" in switches else home.rules
        switches = {**kept, **switches}
    return Table.of(game or "byteskille", num_players, switches, episode)


def _moved(player: PlayerLike, home: Metadata, table: Table, trust: bool) -> PlayerLike:
    """Return a player as if it had been made for another table; it plays by the same weights."""
    own: Any = resolve(player, home.game, home.num_players, home.table.rules, trust=trust)
    moved: Any = resolve(own, table.game, table.num_players, table.rules, transfer=True)
    moved.name = own.name  # the result says it
    return moved
