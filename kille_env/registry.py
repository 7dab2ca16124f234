"""Games by name: the list of games, tables of them, their rules in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Never

from kille_env.core.registry import (
    Table,
    list_games,
    load_game,
    on_policy_lookup,
    on_register,
    policy_lookup,
    register,
    spec,
    version_of,
)
from kille_env.errors import RulesError, shortened

if TYPE_CHECKING:
    from kille_env.core.batch import Batch
    from kille_env.core.spec import Rules

__all__ = [
    "Table",
    "describe_rules",
    "list_games",
    "load_game",
    "make_batch",
    "on_policy_lookup",
    "on_register",
    "policy_lookup",
    "register",
    "spec",
    "version_of",
]


def make_batch(
    name: str,
    num_tables: int = 1,
    num_players: int | None = None,
    *,
    rules: "Rules | Mapping[str, Any] | str | None" = None,
    episode: str | None = None,
    seed: int | None = None,
    restart: bool = True,
    device: str = "cpu",
    **unknown: Never,
) -> "Batch":
    """Make many tables of a game; see `kille_env.core.batch.Batch`.

    Observations are the features themselves, uint8 [N, F]; `batch.read("float")` scales them to
    0 to 1 for networks.

    Example:
        >>> import kille_env
        >>> batch = kille_env.make_batch("byteskille", num_tables=1_000, num_players=3, seed=7)
        >>> batch.reset()
        >>> batch.step(batch.mask.argmax(axis=1))  # the first legal action at every table
        >>> batch.reward.shape
        (1000, 3)

    Args:
        name: The game.
        num_tables: N.
        num_players: P, seats per table; None is the game's default.
        rules: Name of a preset, mapping of switches, or resolved rules.
        episode: "deal" or "match"; None is what `rules` say, or else "deal".
        seed: Seed of the batch; table i of seed s sees the same cards in a batch of any size. None
            takes one from the operating system.
        restart: Whether a finished table begins its next match in the same step. Matches that the
            cards decide before anybody acts are then skipped.
        device: "cpu", or "cuda" for an NVIDIA GPU (extra `gpu`), which returns a
            `kille_env.core.device.DeviceBatch`: the same matches, in arrays that never leave it.
        **unknown: Refused.

    Raises:
        UnknownGameError: No such game.
        UnknownOptionError: No such option.
        RulesError: No such switch, preset, value or device, or an impossible number of seats,
            tables.
        MissingLibraryError: The extra `gpu` is not installed.
        KilleError: There is no GPU.
    """
    from kille_env.core.arguments import option_names
    from kille_env.core.batch import Batch

    game = load_game(name)
    if unknown:
        known = {*make_batch.__annotations__} - {"unknown", "return"}
        option_names("make_batch", unknown, known, game.spec)
    resolved = game.spec.resolve(rules, episode=episode)
    if device == "cuda":
        from kille_env.core.device import DeviceBatch

        return DeviceBatch(game, num_tables, num_players, resolved, seed, restart)  # type: ignore[return-value]
    if device != "cpu":
        raise RulesError(f"device is {shortened(device)}, expected 'cpu' or 'cuda'")
    return Batch(game, num_tables, num_players, resolved, seed, restart)


def describe_rules(
    game: str,
    rules: "Rules | Mapping[str, Any] | str | None" = None,
    num_players: int | None = None,
    episode: str | None = None,
) -> str:
    """Return the rules of a game in plain English, as they hold at a table.

    Example:
        >>> describe_rules("knack", num_players=3)
        'Knack is a Swedish card game. 3 players sit at the table...'

    Args:
        game: The game.
        rules: Name of a preset, mapping of switches, or resolved rules.
        num_players: P, seats of the table; None is the game's default.
        episode: "deal" or "match"; None is what `rules` say, or else "deal".

    Raises:
        UnknownGameError: No such game.
        RulesError: No such switch, preset or value, or an impossible number of seats.
    """
    known = load_game(game)
    resolved = known.spec.resolve(rules, episode=episode)
    return known.describe_rules(resolved, known.spec.check_players(num_players, resolved))
