"""Policies by name or path; `KINDS` lists the kinds of names and loads each.

Nothing is measured here. Figures of the players that come with the suite come from a file in the
package (`docs/players.py measure` writes it).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from kille_agents.network import SPECIFICATION, load_network, read_network
from kille_agents.objects import (
    is_entry_point,
    load_entry_point,
    make_player,
    player_of,
)
from kille_agents.population import ROSTER, population
from kille_agents.rules_of_thumb import RULES_OF_THUMB, rule_of_thumb, rule_of_thumb_class
from kille_agents.search import FlatSearch
from kille_agents.tabular import TABULAR, load_tabular, read_metadata, tabular_file
from kille_agents.trained import TRAINED, trained
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError, did_you_mean, shortened
from kille_env.play import policy as policies
from kille_env.play.functions import FunctionPolicy
from kille_env.play.policy import PlayerLike, Policy, UniformPolicy, answers, at_table
from kille_env.registry import Table
from kille_env.words.text import listed

BASELINES: dict[str, Callable[[int, Rules], Policy]] = {
    "uniform": lambda num_players, rules: UniformPolicy(),
    "rule_of_thumb": rule_of_thumb,
    FlatSearch.name: FlatSearch,
}
"""Players that need no training, by name; each is made for a number of seats and rules."""


MEASURED = Path(__file__).parent / "population" / "measured.json"
"""Earnings of the players that come with the suite."""
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class About:
    """A player of the suite, described for people."""

    name: str  # for `as_policy` and the command line
    what: str  # in a sentence
    made: str
    strength: str = NOT_MEASURED  # earnings, and the command that measures them; or "not measured"

    def lines(self) -> list[str]:
        """Return the description as lines."""
        return [
            self.name,
            f"  what      {self.what}",
            f"  made      {self.made}",
            f"  strength  {self.strength}",
        ]


def baselines(game: str) -> list[str]:
    """Return the names of the baselines that play a game; without a rule of thumb only uniform."""
    return [name for name in BASELINES if name == "uniform" or game in RULES_OF_THUMB]


def players_of(game: str) -> list[str]:
    """Return the names of all players that come for a game."""
    return [*baselines(game), *trained(game), *population(game)]


def game_of(name: str) -> str | None:
    """Return the game of a player that comes for one game alone; None for any other name."""
    return name.partition("/")[0] if name in ROSTER or name in TRAINED else None


def as_policy(
    policy: PlayerLike,
    game: str | None = None,
    num_players: int | None = None,
    rules: Rules | str | Mapping[str, Any] | None = None,
    *,
    observation: str | None = None,
    returns: str | None = None,
    features: Callable[..., Any] | None = None,
    observe_rules: bool | None = None,
    name: str = "",
    trust: bool = False,
) -> Policy:
    """Return a policy for an object, name or path; for a table, if one is named.

    Example:
        >>> import kille_env
        >>> from kille_agents import as_policy
        >>> def even(observation, mask):
        ...     return mask / mask.sum(axis=1, keepdims=True)
        >>> as_policy(even, "knack", 3).name
        'even'
        >>> batch = kille_env.make_batch("knack", 4, num_players=3, seed=1)
        >>> batch.reset()
        >>> policy = as_policy("rule_of_thumb", "knack", 3, batch.rules)
        >>> policy.probabilities(batch.observation, batch.mask).sum(axis=1)
        array([1., 1., 1., 1.])

    Args:
        policy: One of

            - an object with `probabilities(observation, mask)`, or `decide(decisions)` for one that
              looks ahead or remembers, which is returned as it is;
            - a function from observations [N, F] uint8 and masks [N, A] int8 to probabilities
              [N, A], or any object that is called like one; or a function of other inputs or
              outputs, with `observation` and `returns`, on any device;
            - a `torch.nn.Module`, with `observation` and `returns`;
            - a model of Stable-Baselines3 or sb3-contrib;
            - a policy or bot of OpenSpiel, see `kille_agents.open_spiel`;
            - a class of one of these, which is called with (num_players, rules), or with nothing if
              it has no parameters;
            - a name or path, as `kille evaluate` takes it.
        game: The game to be played. None names no table: what measures the player seats it. Names,
            paths and classes need a table.
        num_players: Seats of the table; None is the game's default.
        rules: Its rules: a preset, switches, or resolved rules.
        observation: Input of a function or module. "box": uint8 features; "float": float32 in
            0 to 1, as from an environment with this option, and "seats" likewise.
        returns: Its output. "probabilities": these, 0 for illegal actions. "logits": the
            softmax over the legal actions is played. "values": the legal action of the highest
            value is played.
        features: A function from these observations and the masks to features [N, K], which are
            shown instead: that of the environment with this option where it learned.
        observe_rules: Whether it reads the rules behind each observation, as an environment with
            this option shows them.
        name: What tables and reports call such a function or module; the default is its own name.
        trust: Whether a file that can run code when it is loaded may be loaded.

    Raises:
        PolicyError: It is none of these, was made for another table, or does not say how it is
            asked.
    """
    if game is None and not (num_players is None and rules is None):
        raise PolicyError("num_players and rules are of a table: name its game, too")
    table = None if game is None else Table.of(game, num_players, rules)
    player: Policy | None
    asked = {"observation": observation, "returns": returns, "features": features}
    if name or observe_rules is not None or any(value is not None for value in asked.values()):
        if not callable(policy) or isinstance(policy, type) or answers(policy):
            raise PolicyError(
                f"{shortened(policy)} says itself how it is asked and called; observation, "
                "returns, features and name are for functions and torch modules"
            )
        player = FunctionPolicy(policy, name=name, observe_rules=bool(observe_rules), **asked)  # type: ignore[arg-type]
    # A name can stand for another policy at each table, and a class is called with the seats and
    # rules.
    elif table is None and isinstance(policy, (str, Path, type)):
        raise PolicyError(
            f"{shortened(policy)} plays at a table: name it, as_policy(player, game, num_players, "
            "rules)"
        )
    elif table is not None and isinstance(policy, (str, Path)):
        return load_policy(policy, table.game, table.num_players, table.rules, trust=trust)
    else:
        thing: Any = policy
        if table is not None and isinstance(policy, type):
            thing = make_player(policy.__name__, policy, table.num_players, table.rules)
        player = player_of(thing)
        if player is None:
            raise PolicyError(
                f"a player is expected, got {thing!r}; pass a name, a path, an "
                "object with a name and probabilities(observation, mask) or decide(decisions), "
                "a function of (observation, mask), a torch module, a model of Stable-Baselines3, "
                "or a policy or bot of OpenSpiel"
            )
    return player if table is None else at_table(player, table.game, table.num_players, table.rules)


def load_policy(
    name_or_path: str | Path,
    game: str,
    num_players: int,
    rules: Rules,
    *,
    trust: bool = False,
) -> Policy:
    """Return a player for a table by its name or path."""
    if rules.game != game:
        raise PolicyError(f"the rules are of {rules.game}, the game is {game}")
    name = str(name_or_path)
    player = _kind_of(name, game).load(name, num_players, rules, trust)
    return at_table(player, game, num_players, rules)


def describe_player(name: str, game: str | None = None) -> About:
    """Return the description of a player that comes with the suite."""
    plays = game_of(name)
    if plays is not None and game not in (None, plays):
        raise PolicyError(f"{name} plays {plays}, not {game}")
    if name in ROSTER:
        what, made = ROSTER[name].what, ROSTER[name].made
    elif name in TRAINED:
        what = "a network that has learned at tables of every size, deals and matches"
        made = f"by self-play: kille train {plays}_trained"
    elif name == "uniform":
        what, made = "plays every legal action with the same probability", "nothing to make"
    elif name == FlatSearch.name:
        what = FlatSearch.what
        made = "hand-written; nothing is learned, every decision is searched afresh"
    elif name in BASELINES:
        what = rule_of_thumb_class(game).what if game else "plays by each game's rule of thumb"
        made = "hand-written and tuned by playing; its file gives the reasons"
    else:
        raise PolicyError(
            f"no player of the suite is called {name!r}. {_suggestion(name, game)} "
            "`kille evaluate` measures files and players of your own"
        )
    where = plays or game
    strength = _measured(name, where) if where else NOT_MEASURED
    return About(name, what, made, strength)


class Kind(NamedTuple):
    """One kind of players by name."""

    # whether a name, or the path that it is, means a player of this kind
    matches: Callable[[str], bool]
    # makes a player of its name, a number of seats, rules, and whether a file that can run code may
    # be loaded
    load: Callable[[str, int, Rules, bool], Policy]
    # tables that one was made for, by its name, and by where an object of a module is made, if at
    # all; no file is loaded that can run code
    tables: Callable[[str, Table | None], tuple[Table, ...]] = lambda *_: ()


def tables_of(name_or_path: str | Path, table: Table | None = None) -> tuple[Table, ...]:
    """Return the tables that a player by name was made for; empty for one that plays at any."""
    name = str(name_or_path)
    return next((kind.tables(name, table) for kind in KINDS if kind.matches(name)), ())


def _kind_of(name: str, game: str | None) -> Kind:
    """Return the kind of a player by its name."""
    for kind in KINDS:
        if kind.matches(name):
            return kind
    raise PolicyError(
        f"there is no player {name!r}, neither by name nor as a file or folder with "
        f"{SPECIFICATION} or {TABULAR}, nor as module:object. {_suggestion(name, game)}"
    )


def _suggestion(name: str, game: str | None) -> str:
    return did_you_mean(name, players_of(game) if game else [*BASELINES, *TRAINED, *ROSTER])


def _load_model(name: str, num_players: int, rules: Rules, trust: bool) -> Policy:
    from kille_agents.sb3 import load_sb3  # needs torch, which nothing else here does

    return load_sb3(Path(name), Table.of(rules.game, num_players, rules), trust=trust)


def _tables_of_model(name: str, table: Table | None) -> tuple[Table, ...]:
    from kille_agents.sb3 import read_plain
    from kille_env.adapters.sb3_policy import read_inputs

    inputs = read_inputs(read_plain(Path(name)), Path(name))
    return () if inputs is None else inputs.tables


KINDS = (
    Kind(BASELINES.__contains__, lambda name, seats, rules, _: BASELINES[name](seats, rules)),
    Kind(ROSTER.__contains__, lambda name, seats, rules, _: ROSTER[name].player(seats, rules)),
    Kind(
        TRAINED.__contains__,
        lambda name, *_: load_network(TRAINED[name], name),
        lambda name, table: () if table is None else read_network(TRAINED[name])[0].tables,
    ),
    Kind(
        lambda name: Path(name).suffix == ".zip" and Path(name).is_file(),
        _load_model,
        _tables_of_model,
    ),
    Kind(
        lambda name: tabular_file(name) is not None,
        lambda name, *_: load_tabular(cast(Path, tabular_file(name))),
        lambda name, _: read_metadata(cast(Path, tabular_file(name))).tables,
    ),
    Kind(
        lambda name: Path(name).exists(),
        lambda name, *_: load_network(Path(name)),
        lambda name, _: read_network(Path(name))[0].tables,
    ),
    Kind(
        is_entry_point,
        lambda name, seats, rules, _: load_entry_point(name, seats, rules),
        lambda name, table: (
            ()
            if table is None
            else policies.tables_of(load_entry_point(name, table.num_players, table.rules))
        ),
    ),
)
"""Kinds of players; a name is of the first that it matches."""


# Measured results in words.


def measured_lines(name: str, game: str) -> dict[str, str]:
    """Return the earnings of a policy of the suite, "+0.1234 ± 0.0056", by opponent."""
    earned = measured()["games"].get(game, {"earned": {}})["earned"]
    return {against: _interval(*found) for against, found in earned.get(name, {}).items()}


@cache
def measured() -> Mapping[str, Any]:
    """Return the earnings of the policies of the suite."""
    return json.loads(MEASURED.read_text(encoding="utf-8"))


def _measured(name: str, game: str) -> str:
    """Return the earnings of a policy of the suite, and the command that measures them."""
    lines = measured_lines(name, game)
    if not lines:
        return NOT_MEASURED
    against = listed([f"{line} against {other}" for other, line in lines.items()])
    deals, seats = measured()["deals"], measured()["games"][game]["num_players"]
    return (
        f"{against}; units per deal, {seats} seats, {deals:,} duplicate deals, 95% intervals "
        f"(kille evaluate {name} --game {game} --deals {deals})"
    )


def _interval(mean: float, low: float, high: float) -> str:
    return f"{mean:+.4f} ± {(high - low) / 2:.4f}"
