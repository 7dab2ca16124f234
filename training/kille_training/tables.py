"""Choose the table of a measurement: as given, otherwise the players' own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from kille_agents import catalog
from kille_agents.catalog import game_of
from kille_env.core.spec import Rules, RuleSets
from kille_env.errors import PolicyError, RulesError, shortened
from kille_env.play.functions import is_from
from kille_env.play.policy import (
    PlayerLike,
    differences,
    let_transfer,
    misfit,
    name_of,
    resolve,
    tables_of,
)
from kille_env.registry import Table, spec

RulesLike = str | Mapping[str, Any] | Rules | None


class Seated(NamedTuple):
    """Players and the table at which they are measured."""

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

    Missing arguments are those of the first player with a table of its own, otherwise the game's
    defaults, see `kille_env.Table.of`.
    """
    homes = [homes_of(player) for player in players]
    table = _table(players, homes, game, num_players, episode, rules)
    seated, transferred = list(players), {}
    for number, (player, tables) in enumerate(zip(players, homes, strict=True)):
        if transfer and not tables:  # an object of a module says it once it is made
            tables = homes_of(player, table)
        if not (found := differences(tables, table)):
            continue
        name = str(player) if isinstance(player, (str, Path)) else name_of(player)
        if not transfer or tables[0].game != table.game:
            movable = not transfer and tables[0].game == table.game
            raise misfit(name, tables, found, movable)
        home = _home(tables, num_players, episode)
        own = resolve(player, home.game, home.num_players, home.rules, trust=trust)
        seated[number] = let_transfer(own)
        transferred[name] = str(home)
    return Seated(table, seated, transferred)


def table_of(
    players: Iterable[PlayerLike],
    game: str | None = None,
    num_players: int | None = None,
    episode: str | None = None,
    rules: RulesLike = None,
) -> Table:
    """Return the table that `seat` chooses, without loading or checking the players."""
    players = list(players)
    homes = [homes_of(player) for player in players]
    return _table(players, homes, game, num_players, episode, rules)


def homes_of(player: PlayerLike, table: Table | None = None) -> tuple[Table, ...]:
    """Return the home tables of a player, empty if unknown."""
    if isinstance(player, (str, Path)):
        return catalog.tables_of(player, table)
    if is_from("stable_baselines3.common.base_class", "BaseAlgorithm", player):
        from kille_env.adapters.sb3_policy import inputs_of

        return inputs_of(player).tables
    return tables_of(player)


def _home(tables: Sequence[Table], num_players: int | None, episode: str | None) -> Table:
    """Return the first of a player's tables that matches the arguments, or simply the first."""
    fits = (
        table
        for table in tables
        if num_players in (None, table.num_players)
        and (not table.rules.is_one or episode in (None, table.rules["episode"]))
    )
    return next(fits, tables[0])


def _table(
    players: Sequence[PlayerLike],
    homes: Sequence[tuple[Table, ...]],
    game: str | None,
    num_players: int | None,
    episode: str | None,
    rules: RulesLike,
) -> Table:
    if isinstance(rules, Rules):
        rules = rules.as_dict()
    if not isinstance(rules, (str, Mapping, type(None))):
        raise RulesError(
            f"rules is {shortened(rules)}, expected a preset's name or a mapping for one table; "
            "kille_training.nash_conv measures many by tables="
        )
    switches = {"preset": rules} if isinstance(rules, str) else dict(rules or {})
    for player in players:
        game = game or (game_of(player) if isinstance(player, str) else None)
    if tables := next(filter(None, homes), ()):
        home = _home(tables, num_players, episode)
        if game in (None, home.game):
            game, num_players = home.game, num_players or home.num_players
            own = home.rules.base
            if own is None:
                if rules is None:
                    raise RulesError(
                        f"a player was made for {home}, so it has no table of its own: name the "
                        "rules of the table where it is measured"
                    )
                return Table.of(game, num_players, switches, episode)
            if not switches and isinstance(home.rules, RuleSets):
                # A space need not hold the rules that it begins from.
                begun = replace(home, rules=spec(home.game).resolve(own))
                own = home.rules.sets[0].values if home.differences(begun) else own
            kept = {"episode": own["episode"]} if "preset" in switches else own
            switches = {**kept, **switches}
    elif game is None and (models := [str(one) for one in players if str(one).endswith(".zip")]):
        raise PolicyError(
            f"the table of the model {models[0]} is unknown: give the game, the seats and the "
            "rules, or save the model with kille_env.sb3.save"
        )
    return Table.of(game or "byteskille", num_players, switches, episode)
