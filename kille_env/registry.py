"""Games by name, the configuration of a table, batches, and rules in words.

A game is registered by the name of its module, which is imported when the game is first used.
Other packages register their own games with `register`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never

from kille_env.errors import RulesError, UnknownGameError, did_you_mean, shortened

if TYPE_CHECKING:
    from kille_env.core.batch import Batch
    from kille_env.core.game import Game
    from kille_env.core.rule_space import RuleSpace
    from kille_env.core.spec import GameSpec, Part, Rules, RulesLike

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

_modules: dict[str, str] = {}
_versions: dict[str, int] = {}
_listeners: list[Callable[[str], None]] = []
_policy_lookups: list[Callable[[], Callable[..., Any] | None]] = []


def register(name: str, module: str, version: int = 0) -> None:
    """Register a game.

    Example:
        >>> from kille_env.author import register
        >>> register("knack", "kille_env.games.knack")  # as yours, from your own package

    Args:
        name: Plain name, letters, digits and underscores.
        module: Name of the module that offers what `kille_env.core.game.Game` asks for.
        version: The `version` of its `GameSpec`, which the ids in other libraries' registries end
            with; it is said here because these are made before the module is imported.

    Raises:
        UnknownGameError: The name is taken by another module.
    """
    if _modules.get(name, module) != module:
        raise UnknownGameError(f"the name {name!r} is taken by {_modules[name]}")
    # Its module is imported when the game is first used: most programs play one.
    _modules[name], _versions[name] = module, version
    # Libraries that are loaded already learn of the game at once.
    for listener in _listeners:
        listener(name)


def on_register(listener: Callable[[str], None]) -> None:
    """Call `listener` with the name of every game, present and future."""
    _listeners.append(listener)
    for name in _modules:
        listener(name)


def on_policy_lookup(load: Callable[[], Callable[..., Any] | None]) -> None:
    """Name the loader of the function that finds policies by name; see `policy_lookup`."""
    _policy_lookups.append(load)


def policy_lookup() -> Callable[..., Any] | None:
    """Return the function that finds policies by name, or None if nothing provides one."""
    # Loaded at the first question: importing kille_agents here would be a circle.
    return next((found for load in _policy_lookups if (found := load()) is not None), None)


def list_games() -> tuple[str, ...]:
    """Return the names of all registered games.

    Example:
        >>> import kille_env
        >>> "byteskille" in kille_env.list_games()
        True
    """
    return tuple(_modules)


def load_game(name: str) -> "Game":
    """Return a game with its kernels (compiled or taken from the cache at their first call)."""
    from kille_env.core.game import game_of

    _check_known(name)
    game = game_of(_modules[name])
    if game.spec.name != name:  # tables, policies and records would be taken for another's
        raise UnknownGameError(
            f"the game that is registered as {name!r} calls itself {game.spec.name!r}; register "
            f"{_modules[name]} by that name, or change the `name` of its SPEC"
        )
    return game


def version_of(name: str) -> int:
    """Return the version of a game, without importing it."""
    _check_known(name)
    return _versions[name]


def _check_known(name: str) -> None:
    if not isinstance(name, str) or name not in _modules:
        raise UnknownGameError(
            f"there is no game {shortened(name)}. {did_you_mean(name, _modules)}"
        )


def spec(name: str) -> "GameSpec":
    """Return the facts about a game.

    Example:
        >>> import kille_env
        >>> kille_env.spec("byteskille").actions[:2]
        ('stand', 'swap')
    """
    return load_game(name).spec


@dataclass(frozen=True)
class Table:
    """The configuration of a game: its version, the seats and the rules, `episode` among them.

    Every environment, model, policy file and result names its table, so that a policy is not
    measured at another table than it was trained at without a word.

    Example:
        >>> import kille_env
        >>> kille_env.Table.of("byteskille", 3, "wikipedia").rules["fraga"]
        'off'

    Attributes:
        game: The game.
        num_players: P, seats.
        rules: Every switch with its value, resolved; or `RuleSets`, where tables have their own.
        version: The version of the game: it rises when play, observation or reward changes.
    """

    game: str
    num_players: int
    rules: "Rules"
    version: int

    @classmethod
    def of(
        cls,
        game: str,
        num_players: int | None = None,
        rules: "RulesLike" = None,
        episode: str | None = None,
    ) -> "Table":
        """Return a table, with the game's default for everything that is not given.

        Args:
            game: Name of the game.
            num_players: P; None is the game's default.
            rules: Name of a preset, mapping of switches, or resolved rules.
            episode: "deal" or "match"; None is what `rules` say, or else "deal".

        Raises:
            UnknownGameError: No such game.
            RulesError: No such switch, preset or value, or an impossible number of seats.
        """
        known = spec(game)
        resolved = known.resolve(rules, episode=episode)
        return cls(game, known.check_players(num_players, resolved), resolved, known.version)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; rules of tables' own are a list or a space."""
        rules: Any = self.rules
        if rules.is_one:
            rules = rules.as_dict()
        else:
            rules = {"space": rules.space} if rules.space else [one.as_dict() for one in rules.sets]
        return {
            "game": self.game,
            "num_players": self.num_players,
            "rules": rules,
            "version": self.version,
        }

    @classmethod
    def read(cls, content: "Mapping[str, Any] | Table") -> "Table":
        """Return the table that `as_dict` wrote.

        Raises:
            UnknownGameError: No such game.
            RulesError: No such switch, preset or value, or something is missing.
        """
        if isinstance(content, Table):
            return content
        try:
            game, seats, version = content["game"], content["num_players"], content["version"]
            given = content["rules"]
            if given is None:
                raise TypeError("its rules are missing")
            if isinstance(given, Mapping) and "space" in given:
                given = _space(game, given["space"])
            rules = spec(game).resolve(given)
        except (KeyError, TypeError) as error:
            raise RulesError(f"this is no table: {shortened(str(error))}") from None
        return cls(game, spec(game).check_players(seats, rules), rules, version)

    def differences(self, other: "Table") -> list[str]:
        """Return the differences of another table as text; empty if it is the same."""
        if self.game != other.game:
            return [f"{other.game} instead of {self.game}"]
        found = []
        if self.version != other.version:
            found.append(f"version {other.version} instead of {self.version}")
        if self.num_players != other.num_players:
            found.append(f"{other.num_players} seats instead of {self.num_players}")
        if self.rules != other.rules:
            if not self.rules.is_one:
                inside = _plays_all(self.rules, other.rules)
                return found if inside else [*found, f"rules outside of {self.rules}"]
            if not other.rules.is_one:
                return [*found, f"{other.rules} instead of one"]
            ours, theirs = self.rules.values, other.rules.values
            # A preset is only a name for its switches, so two with equal switches are the same
            # rules.
            found += [
                f"{name} {theirs[name]!r} instead of {ours[name]!r}"
                for name in ours
                if name != "preset" and ours[name] != theirs[name]
            ]
        return found

    def observation(self) -> "tuple[Part, ...]":
        """Return the layout of the observations."""
        return spec(self.game).observation(self.num_players)

    def __str__(self) -> str:
        if not self.rules.is_one:
            return f"{self.game}, {self.num_players} seats, {self.rules}"
        played = "single deals" if self.rules["episode"] == "deal" else "whole matches"
        usual = spec(self.game).resolve(str(self.rules["preset"]), episode=self.rules["episode"])
        others = [
            f"{name}={value}"
            for name, value in self.rules.values.items()
            if name != "preset" and usual[name] != value
        ]
        switches = f" with {', '.join(others)}" if others else ""
        return (
            f"{self.game}, {self.num_players} seats, {played}, "
            f"preset {self.rules['preset']}{switches}"
        )


def _space(game: str, content: "Mapping[str, Any]") -> "RuleSpace":
    """Return the space with a content."""
    from kille_env.core.rule_space import RuleSpace  # for few tables

    return RuleSpace(spec(game), **content)


def _plays_all(many: Any, rules: Any) -> bool:
    """Return whether rules, one set or many, are among many or in the space of these."""
    outside = {rules} if rules.is_one else set(rules.sets)
    outside -= set(many.sets)
    if outside and many.space:
        space = _space(many.game, many.space)
        outside = {one for one in outside if not space.region_of(one)}
    return not outside


def make_batch(
    name: str,
    num_tables: int = 1,
    num_players: int | None = None,
    *,
    rules: "RulesLike" = None,
    episode: str | None = None,
    seed: int | None = None,
    restart: bool = True,
    device: str = "cpu",
    observe_rules: bool = False,
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
        rules: Name of a preset, mapping of switches, or resolved rules. A list of these gives each
            table rules of its own, [N]; of a `RuleSpace` each match draws one, by its table's seed.
            The cards are those that tables with these rules alone see.
        episode: "deal" or "match"; None is what `rules` say, or else "deal".
        seed: Seed of the batch; table i of seed s sees the same cards in a batch of any size. None
            takes one from the operating system.
        restart: Whether a finished table begins its next match in the same step. Matches that the
            cards decide before anybody acts are then skipped.
        device: "cpu", or "cuda" for an NVIDIA GPU (extra `gpu`), which returns a
            `kille_env.core.device.DeviceBatch`: the same matches, in arrays that never leave it.
        observe_rules: Whether observations end with the features of their table's rules
            (`spec(name).rules_parts`), and so do information states and full states.
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
    settings = num_tables, num_players, resolved, seed, restart, observe_rules
    if device == "cuda":
        from kille_env.core.device import DeviceBatch

        return DeviceBatch(game, *settings)  # type: ignore[return-value]
    if device != "cpu":
        raise RulesError(f"device is {shortened(device)}, expected 'cpu' or 'cuda'")
    return Batch(game, *settings)


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
