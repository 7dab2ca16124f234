"""At which table a player is measured: what is given, else what the player was made for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kille_agents.catalog import BASELINES, game_of
from kille_agents.metadata import Metadata
from kille_agents.network import SPECIFICATION, policy_folder, read_network
from kille_agents.objects import is_from
from kille_agents.tabular import read_metadata, tabular_file
from kille_env.core.spec import Rules
from kille_env.policy import PlayerLike
from kille_env.registry import Table, spec


def table_for(
    player: PlayerLike,
    game: str | None = None,
    num_players: int | None = None,
    episode: str | None = None,
    rules: str | Mapping[str, Any] | Rules | None = None,
) -> tuple[int, Rules]:
    """Returns the table at which a player is measured: seats and rules, which name the game.

    Args:
        player: The player. What is not given is what its network, model or tabular policy was made
            for, or a bot's game; for anyone else it is a single deal of Byteskille.
        game: The game, if given.
        num_players: Seats, if given.
        episode: "deal" or "match", if given.
        rules: A preset, switches, or complete rules; a preset among them decides all others.

    Raises:
        KilleError: There is no such game, switch or table, or the file cannot be read.
    """
    if isinstance(rules, Rules):
        rules = rules.as_dict()
    switches = {"preset": rules} if isinstance(rules, str) else dict(rules or {})
    if isinstance(player, str):
        game = game or game_of(player)
    made_for = _made_for(player, num_players, episode)
    if made_for is not None:
        if "preset" not in switches and game in (None, made_for.game):
            switches = {**_switches(made_for.rules), **switches}
        game, num_players = game or made_for.game, num_players or made_for.num_players
    table = spec(game or "byteskille")
    seats = table.check_players(num_players)
    episode = episode or str(switches.get("episode", "deal"))
    return seats, table.resolve(switches, episode=episode)


def _switches(rules: Mapping[str, Any] | Rules) -> Mapping[str, Any]:
    return rules.as_dict() if isinstance(rules, Rules) else rules


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


def _made_for(
    player: PlayerLike, num_players: int | None, episode: str | None
) -> Metadata | Table | None:
    """Return what a policy was made for, None if it does not say so.

    Of several tables it is the first that has what is given.
    """
    asking = _asking(player)
    if asking is not None:
        fits = [
            table
            for table in asking.tables
            if num_players in (None, table.num_players)
            and episode in (None, table.rules["episode"])
        ]
        return next(iter((*fits, *asking.tables)), None)
    if not isinstance(player, (str, Path)):
        return getattr(player, "metadata", None)
    if str(player) in BASELINES or game_of(str(player)) is not None:
        return None
    if (file := tabular_file(player)) is not None:
        return read_metadata(file)
    folder = policy_folder(player)
    if folder is not None and (folder / SPECIFICATION).is_file():
        return read_network(folder)[0]
    return None
