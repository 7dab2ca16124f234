"""Players by name or path."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from kille_agents.entry_point import is_entry_point, load_entry_point
from kille_agents.llm import PREFIX, LanguageModel
from kille_agents.network import SPECIFICATION, load_network
from kille_agents.objects import Network, make_player, player_of
from kille_agents.population import ROSTER, population
from kille_agents.rules_of_thumb import RULES_OF_THUMB, rule_of_thumb
from kille_agents.search import FlatSearch, Search, TreeSearch
from kille_agents.tabular import TABULAR, load_tabular, tabular_file
from kille_agents.trained import TRAINED, trained, trained_player
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError, did_you_mean, shortened
from kille_env.policy import Player, PlayerLike, Policy, UniformPolicy, made_for, plays

SEARCHERS: dict[str, type[Search]] = {kind.name: kind for kind in (FlatSearch, TreeSearch)}
"""Players that look ahead from the rule of thumb, by name; `decide` asks them."""

BASELINES: dict[str, Callable[[int, Rules], Policy]] = {
    "uniform": lambda num_players, rules: UniformPolicy(),
    "rule_of_thumb": rule_of_thumb,
    **SEARCHERS,
}
"""Players that need no training, by name; each is made for a number of seats and rules."""


def baselines(game: str) -> list[str]:
    """Returns the names of the baselines that play a game; without a rule of thumb only uniform."""
    return [name for name in BASELINES if name == "uniform" or game in RULES_OF_THUMB]


def players_of(game: str) -> list[str]:
    """Returns the names of all players that come for a game."""
    return [*baselines(game), *trained(game), *population(game)]


def game_of(name: str) -> str | None:
    """Returns the game of a player that comes for one game alone; None for any other name."""
    return name.partition("/")[0] if name in ROSTER or name in TRAINED else None


def as_policy(
    policy: PlayerLike,
    game: str,
    num_players: int,
    rules: Rules,
    *,
    observation: str | None = None,
    returns: str | None = None,
    trust: bool = False,
    transfer: bool = False,
) -> Player:
    """Return a player for a table, whatever form it comes in.

    Args:
        policy: One of

            - an object with `probabilities(observation, mask)`, or `search` for one that looks
              ahead, or `probabilities_with_memory` for one that remembers, which is returned as it
              is;
            - a function from observations [N, F] uint8 and masks [N, A] int8 to probabilities
              [N, A], or any object that is called like one; or a function that is asked otherwise,
              with `observation` and `returns`;
            - a `torch.nn.Module`, with `observation` and `returns`;
            - a model of Stable-Baselines3 or sb3-contrib;
            - a policy or bot of OpenSpiel, see `kille_agents.open_spiel`;
            - a class of one of these, which is called with (num_players, rules), or with nothing if
              it has no parameters;
            - a name or path, see `load_policy`.
        game: The game to be played.
        num_players: Seats of the table.
        rules: Its rules.
        observation: What a function or module is shown: "box", "float" or "seats"; see
            `kille_agents.Network`, which says it where there is no such argument. Or what a saved
            model of Stable-Baselines3 was shown, if `kille_env.sb3.save` did not save it.
        returns: What it returns: "probabilities", "logits" or "values".
        trust: Whether a file that can run code when it is loaded may be loaded.
        transfer: Whether it may play at another table than the one that it was made for; its name
            then says so.

    Raises:
        PolicyError: It is none of these, was made for another table, or does not say how it is
            asked.

    Examples:
        >>> from kille_agents import as_policy
        >>> from kille_env import spec
        >>> rules = spec("knack").resolve(episode="deal")
        >>> def careful(observation, mask):
        ...     return mask / mask.sum(axis=1, keepdims=True)
        >>> as_policy(careful, "knack", 3, rules).name
        'careful'
        >>> as_policy("rule_of_thumb", "knack", 3, rules).name
        'rule_of_thumb'
    """
    player = _player(policy, game, num_players, rules, observation, returns, trust, transfer)
    return made_for(player, game, num_players, rules, transfer)


def _player(
    policy: PlayerLike,
    game: str,
    num_players: int,
    rules: Rules,
    observation: str | None,
    returns: str | None,
    trust: bool,
    transfer: bool,
) -> Player:
    """Return a player, wherever it was made for; arguments as `as_policy`."""
    if observation is not None and returns is None and _is_model_file(policy):
        from kille_agents.sb3 import load_sb3  # needs torch

        loaded = load_sb3(Path(cast(str, policy)), observation=observation, trust=trust)
        return loaded.at_table(game, num_players)
    if observation is not None or returns is not None:
        return _asked(policy, observation, returns).at_table(game, num_players)
    if isinstance(policy, (str, Path)):
        return load_policy(policy, game, num_players, rules, trust=trust, transfer=transfer)
    thing = policy
    if isinstance(policy, type):
        thing = make_player(policy.__name__, policy, num_players, rules)
    player = player_of(thing, game, num_players)
    if player is None:
        raise PolicyError(
            f"a player is expected, got {thing!r}; pass a name, a path, an "
            "object with a name and probabilities(observation, mask) or search(determinizer), a "
            "function of (observation, mask), a torch module, a model of Stable-Baselines3, or a "
            "policy or bot of OpenSpiel"
        )
    return player


def _asked(thing: Any, observation: str | None, returns: str | None) -> Network:
    """Return a function or module as a player that is asked as is said.

    Raises:
        PolicyError: It says itself how it is asked.
    """
    if not callable(thing) or isinstance(thing, (str, Path, type)) or plays(thing):
        raise PolicyError(
            f"{shortened(thing)} says itself how it is asked; observation and returns are for "
            "functions and torch modules"
        )
    return Network(thing, observation=observation, returns=returns)


def load_policy(
    name_or_path: str | Path,
    game: str,
    num_players: int,
    rules: Rules,
    *,
    trust: bool = False,
    transfer: bool = False,
) -> Player:
    """Returns a player for a table.

    Args:
        name_or_path: A name of `BASELINES`; a bot of the population, "game/habit"; the network that
            comes for a game, "game/trained"; the folder of a run or of a solution, or one of its
            policy files; a model that Stable-Baselines3 has saved (`.zip`); "llm:MODEL", a language
            model at the address that the environment's variable KILLE_LLM_URL gives; or
            "module:object", which imports the module and so runs its code, see
            `kille_agents.entry_point`.
        game: The game to be played.
        num_players: Seats of the table.
        rules: Its rules.
        trust: Whether a file that can run code when it is loaded may be loaded.
        transfer: Whether it may play at another table than the one that it was made for; its name
            then says so.

    Raises:
        PolicyError: There is no such player, it was made for another table, or it needs `trust`.
    """
    if rules.game != game:
        raise PolicyError(f"the rules are of {rules.game}, the game is {game}")
    player = _load(name_or_path, game, num_players, rules, trust, transfer)
    return made_for(player, game, num_players, rules, transfer)


def _is_model_file(thing: Any) -> bool:
    """Return whether a thing is the path of a model that Stable-Baselines3 has saved."""
    if not isinstance(thing, (str, Path)):
        return False
    return Path(thing).suffix == ".zip" and Path(thing).is_file()


def _load(
    name_or_path: str | Path, game: str, num_players: int, rules: Rules, trust: bool, transfer: bool
) -> Player:
    """Return a player, wherever it was made for; arguments as `load_policy`."""
    name = str(name_or_path)
    if name in BASELINES:
        return BASELINES[name](num_players, rules)
    if name in ROSTER:
        return ROSTER[name].player(num_players, rules)
    if name in TRAINED:
        return trained_player(name, game, num_players, rules)
    if name.startswith(PREFIX):
        return LanguageModel(name.removeprefix(PREFIX))
    path = Path(name_or_path)
    if _is_model_file(path):
        from kille_agents.sb3 import load_sb3  # needs torch, which nothing else here does

        return load_sb3(path, trust=trust).at_table(game, num_players)
    if (file := tabular_file(path)) is not None:
        return load_tabular(file, game, num_players, rules)
    if path.exists():
        return load_network(path, game, num_players, rules, transfer=transfer)
    if is_entry_point(name):
        return load_entry_point(name, game, num_players, rules)
    raise PolicyError(
        f"there is no player {name!r}, neither by name nor as a file or folder with "
        f"{SPECIFICATION} or {TABULAR}, nor as module:object. "
        f"{did_you_mean(name, players_of(game))}"
    )
