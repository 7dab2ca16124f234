"""What a policy is, and how an action is drawn from what it returns.

A policy gives probabilities of actions. Most need what the seat sees, and have
`probabilities(observation, mask)`; one that looks ahead or remembers is given all that may be known
of a decision, and has `decide(decisions)`. `decide` asks both.
"""

import copy
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from kille_env.core.floats import Reading
from kille_env.core.jit import kernel
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError, shortened
from kille_env.play.decisions import Decisions
from kille_env.registry import Table, spec

SUM_TOLERANCE = 1e-6
CATALOG = "kille_agents.catalog"
"""Where policies other than "uniform" are looked up by name; imported when one is asked for."""


@runtime_checkable
class Policy(Protocol):
    """Probabilities of actions for a batch of decisions, each seen from the seat to act.

    A policy that has a method `at_table(game, num_players)` is asked for the policy that plays
    there before it is used at a table. One whose attribute `tables` is a tuple of
    `kille_env.Table` was made for these, and is refused at all others.

    Attributes:
        name: What tables and reports call it.
    """

    name: str

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns how likely each action is.

        Args:
            observation: [N, F] uint8, as `Batch.observation`.
            mask: [N, A] int8, 1 for each legal action; every row has one.

        Returns:
            [N, A] float64; every row sums to 1 and is 0 where the mask is 0.

        Raises:
            PolicyError: The arrays do not have the shape that the policy was made for.
        """
        ...


@runtime_checkable
class KernelPolicy(Policy, Protocol):
    """A policy that is a kernel too: its seats are played without a return to Python.

    Attributes:
        choose: A `kille_env.core.jit.kernel` that is called with an observation [F] uint8, a mask
            [A] int8, `numbers`, and a random number from 0 to below 1, and returns the action that
            `pick_actions` draws with it from `probabilities`; None for a policy that has no kernel.
            An illegal action ends the game with a `PolicyError` that names the policy.
        deterministic: Whether `probabilities` gives one action a 1, whatever the random number.
    """

    choose: Any
    deterministic: bool

    @property
    def numbers(self) -> np.ndarray:
        """What the kernel reads besides, [K] int64."""
        ...


@runtime_checkable
class Decider(Protocol):
    """A policy that needs more than what is seen: determinizations, the past, or a memory.

    One that weighs determinizations by what the other seats have done has an attribute `remembers`
    that is true, and is given the history of the deal. One that remembers what its seat has seen in
    the match has an attribute `memory_size` above 0: so many numbers are kept for each seat of each
    table, and handed to it with the seat's next decision (`Decisions.memory`). One that looks ahead
    and whose answers depend on what the seat sees, and on nothing random, has an attribute
    `keyless` that is true.

    A player that has `probabilities` too can also be asked by what is seen alone.

    Attributes:
        name: What tables and reports call it.
    """

    name: str

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Returns how likely each action is, as `Policy.probabilities` does.

        Args:
            decisions: M decisions.

        Returns:
            [M, A] float64; each row depends on nothing but its decision and that one's key.
        """
        ...


class Model(Protocol):
    """A model of Stable-Baselines3, as far as a type can say without importing it."""

    policy: Any

    def predict(self, observation: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns actions."""
        ...


Player = Policy | Decider
PlayerLike = Player | Callable[..., Any] | Model | str | Path
"""What `resolve` makes a player of; a torch module is among what can be called."""


@kernel
def _choose_uniformly(_seen, mask, _numbers, chance):
    """Adds up shares as `pick_actions` does, so that it draws the same action to the last bit."""
    legal, total = 0, 0.0
    for action in range(mask.shape[0]):
        legal += mask[action] != 0
    share = 1.0 / legal
    for _ in range(legal):
        total += share
    drawn, reached, first = chance * total, 0.0, -1
    for action in range(mask.shape[0]):
        if mask[action] != 0:
            first = action if first < 0 else first
            reached += share
            if reached > drawn:
                return action
    return first  # the product was rounded up to the whole sum


class UniformPolicy:
    """Plays every legal action with the same probability; a `KernelPolicy`."""

    name = "uniform"
    choose = staticmethod(_choose_uniformly)
    numbers = np.zeros(1, dtype=np.int64)
    deterministic = False

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns equal shares for the legal actions, [N, A] float64."""
        legal = (mask != 0).astype(np.float64)
        counts = legal.sum(axis=1, keepdims=True)
        if len(legal) and counts.min() == 0:
            raise PolicyError(
                f"row {int(counts.argmin())} of the mask has no legal action; "
                "ask only the seat to act"
            )
        return legal / counts


def with_uniform(chances: np.ndarray, mask: np.ndarray, share: float) -> np.ndarray:
    """Returns probabilities [N, A] of which a share, 0 to 1, is uniform over the legal actions."""
    if share == 0.0:
        return chances
    return (1.0 - share) * chances + share * UniformPolicy().probabilities(mask, mask)


def resolve(
    player: PlayerLike,
    game: str,
    num_players: int,
    rules: Rules,
    *,
    trust: bool = False,
) -> Player:
    """Returns a player for a table, whatever form it comes in.

    Args:
        player: "uniform"; an object with `probabilities` or `decide`; or anything else that
            `kille_agents.as_policy` takes: a name, a path, a function, a torch module, a model of
            Stable-Baselines3.
        game: The game to be played.
        num_players: P, seats of the table.
        rules: Its rules.
        trust: Whether a file that can run code when it is loaded may be loaded.

    Raises:
        PolicyError: There is no such player, or it was made for another table.
    """
    if isinstance(player, str) and player == "uniform":
        return UniformPolicy()
    if plays(player) and not isinstance(player, type):
        return at_table(cast(Player, player), game, num_players, rules)
    try:
        catalog = importlib.import_module(CATALOG)
    except ModuleNotFoundError as error:
        if error.name not in (CATALOG, CATALOG.partition(".")[0]):
            raise
        raise PolicyError(
            f"the player {str(player)!r} is looked up in {CATALOG}, which is not installed; "
            'without it there is "uniform", or pass an object with probabilities(observation, mask)'
        ) from error
    return cast(Player, catalog.as_policy(player, game, num_players, rules, trust=trust))


def at_table(player: Player, game: str, num_players: int, rules: Rules) -> Player:
    """Returns the player as it plays at a table: itself, unless it has `at_table`.

    Every player that sits down comes through here, so that no kernel reads an observation that it
    was not made for, and no policy plays at another table than its own without a word: one that
    does all the same has an attribute `transferred` that is true.

    Args:
        player: The player.
        game: The game to be played.
        num_players: P, seats of the table.
        rules: Its rules.

    Raises:
        PolicyError: It was made for another table, or is a kernel whose `numbers` are none.
    """
    moved, tables = getattr(player, "transferred", False), tables_of(player)
    if found := differences(tables, Table(game, num_players, rules, spec(game).version)):
        raise misfit(name_of(player), tables, found, tables[0].game == game)
    settle = getattr(player, "at_table", None)
    player = cast(Player, settle(game, num_players)) if callable(settle) else player
    if has_kernel(player):
        made = _said_tables(player)
        if made and (game, num_players) not in {(one.game, one.num_players) for one in made}:
            wrong = [f"a kernel cannot play {game} with {num_players}"]
            raise misfit(name_of(player), made, wrong, False)
        numbers = getattr(player, "numbers", None)
        if not isinstance(numbers, np.ndarray) or numbers.dtype != np.int64 or numbers.ndim != 1:
            raise PolicyError(
                f"the numbers of {name_of(player)!r} are {shortened(numbers)}; its kernel reads "
                "an int64 array [K]"
            )
    return let_transfer(player) if moved else player


def let_transfer(player: Player) -> Player:
    """Returns a player that may play at other tables than those that it was made for."""
    moved: Any = copy.copy(player)
    moved.transferred = True
    return moved


def tables_of(player: Any) -> tuple[Table, ...]:
    """Returns the tables that a player was made for; empty if it may play at any."""
    return () if getattr(player, "transferred", False) else _said_tables(player)


def _said_tables(player: Any) -> tuple[Table, ...]:
    tables = getattr(player, "tables", ())
    fits = isinstance(tables, tuple) and all(isinstance(one, Table) for one in tables)
    return tables if fits else ()


def differences(tables: Sequence[Table], table: Table) -> list[str]:
    """Returns in words what a table has otherwise than the nearest of those a player is for."""
    if table in tables:
        return []
    return min((one.differences(table) for one in tables), key=len, default=[])


def misfit(name: str, tables: Sequence[Table], found: Sequence[str], movable: bool) -> PolicyError:
    """Returns the error that a player was made for other tables, with what this one has.

    `movable` says whether to offer a transfer: there is none to another game.
    """
    others = f" (and {len(tables) - 1} more)" if len(tables) > 1 else ""
    hint = (
        ". To measure it here, if its observations fit: transfer=True, on the command line "
        "--transfer"
    )
    return PolicyError(
        f"{name} does not fit this table: {'; '.join(found)}. It was made for {tables[0]}{others}"
        f"{hint if movable else ''}"
    )


def plays(thing: Any) -> bool:
    """Returns whether a thing is a player as it is."""
    return any(callable(getattr(thing, way, None)) for way in ("probabilities", "decide"))


def searches(player: Any) -> bool:
    """Returns whether a player looks ahead, so that it is asked at tables only."""
    by_sight = callable(getattr(player, "probabilities", None))
    return callable(getattr(player, "decide", None)) and not by_sight and not has_memory(player)


def has_memory(player: Any) -> bool:
    """Returns whether a player remembers what its seats have seen in a match."""
    return getattr(player, "memory_size", 0) > 0


def has_kernel(player: Any) -> bool:
    """Returns whether a player is a kernel too; see `KernelPolicy`."""
    return getattr(player, "choose", None) is not None


def decides_by_kernel(player: Any) -> bool:
    """Returns whether a player is a kernel too, and a deterministic one."""
    return has_kernel(player) and player.deterministic


def share_a_kernel(*players: Any) -> bool:
    """Returns whether players are deterministic kernels too, and decide by the same one."""
    kernels = {
        (id(player.choose), player.numbers.shape) if decides_by_kernel(player) else None
        for player in players
    }
    return len(kernels) == 1 and None not in kernels


def name_of(player: Any) -> str:
    """Returns what errors call a player, which an adapter also takes without a name."""
    return str(getattr(player, "name", type(player).__name__))


def decide(player: Player, decisions: Decisions) -> np.ndarray:
    """Asks a player what it does: the one door to whatever plays.

    Args:
        player: The player.
        decisions: M decisions; a player with a memory changes theirs.

    Returns:
        [M, A] probabilities, checked.

    Raises:
        PolicyError: The player returned what is no distribution over the legal actions, or a memory
            of another shape; or it has one that nobody keeps.
    """
    legal, memory = decisions.mask.copy(), decisions.memory  # the player may write into the mask
    if has_memory(player) and not memory.shape[1]:
        raise PolicyError(
            f"{name_of(player)} remembers the match, and nobody keeps its memory here; seat it "
            "with kille_env.play.seating.SeatedPolicies"
        )
    if callable(getattr(player, "decide", None)):
        probabilities = cast(Decider, player).decide(decisions)
    else:
        policy = cast(Policy, player)
        probabilities = policy.probabilities(decisions.observation, decisions.mask)
    check_probabilities(name_of(player), probabilities, legal)
    if np.shape(decisions.memory) != memory.shape:
        raise PolicyError(
            f"player {name_of(player)!r} left a memory of shape {np.shape(decisions.memory)}, "
            f"expected {memory.shape}: its memory_size is {getattr(player, 'memory_size', 0)}"
        )
    return probabilities


def check_shapes(
    name: str, observation: np.ndarray, mask: np.ndarray, width: int, actions: int
) -> None:
    """Refuses a batch that a policy was not made for.

    Args:
        name: The policy's name, for the message.
        observation: [N, F].
        mask: [N, A].
        width: F that the policy reads.
        actions: A that the policy knows.

    Raises:
        PolicyError: The message names both shapes.
    """
    expected = ((len(observation), width), (len(observation), actions))
    if observation.shape != expected[0] or mask.shape != expected[1]:
        raise PolicyError(
            f"policy {name!r} reads observations {expected[0]} and masks {expected[1]}, "
            f"got {observation.shape} and {mask.shape}; it was made for another table"
        )


def check_probabilities(name: str, probabilities: np.ndarray, mask: np.ndarray) -> None:
    """Refuses what is no distribution over the legal actions.

    Args:
        name: The policy's name, for the message.
        probabilities: What it returned, to be [N, A].
        mask: [N, A] int8.

    Raises:
        PolicyError: No array of numbers, wrong shape, a value that is no number or negative, a row
            that does not sum to 1, or an illegal action with a probability. The message names the
            first such row.
    """
    if not hasattr(probabilities, "shape") or np.asarray(probabilities).dtype.kind not in "fiub":
        raise PolicyError(
            f"policy {name!r} returned {shortened(probabilities)}, expected probabilities as an "
            f"array of numbers {mask.shape}"
        )
    if probabilities.shape != mask.shape:
        raise PolicyError(
            f"policy {name!r} returned probabilities of shape {probabilities.shape}, "
            f"expected {mask.shape}"
        )
    fits = np.where(mask, probabilities >= 0, probabilities == 0).all()
    if fits and (np.abs(probabilities.sum(axis=1) - 1.0) <= SUM_TOLERANCE).all():
        return
    wrong = {
        "a value that is no probability": ~(probabilities >= 0),  # NaN is not >= 0 either
        "an illegal action": (probabilities > 0) & (mask == 0),
        "a sum other than 1": ~(np.abs(probabilities.sum(axis=1) - 1.0) <= SUM_TOLERANCE),
    }
    for what, where in wrong.items():
        if where.any():
            row = int(np.argwhere(where)[0, 0])
            found = float(probabilities[row].sum())
            if where.ndim == 2:
                action = int(where[row].argmax())
                found = f"{float(probabilities[row, action]):.6g} for action {action}"
            raise PolicyError(
                f"policy {name!r} returned {what} in row {row}: {found}; expected probabilities "
                "[N, A] that are 0 where the mask is 0 and sum to 1 in each row"
            )


def as_numbers(name: str, returned: Any, what: str) -> np.ndarray:
    """Returns what a function has returned as an array of float64.

    Args:
        name: The policy's name, for the message.
        returned: An array, or a tensor of torch on any device, with or without gradients.
        what: What it is to be, for the message.

    Raises:
        PolicyError: It is neither.
    """
    try:
        if hasattr(returned, "detach"):
            returned = returned.detach().cpu().double().numpy()
        if np.asarray(returned).dtype.kind == "c":
            raise TypeError("they are complex")
        return np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise PolicyError(
            f"policy {name!r} returned a {type(returned).__name__} that is no array of numbers "
            f"({error}); expected {what} [N, A]"
        ) from None


def masked_softmax(name: str, logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Returns the softmax over the legal actions, [N, A] float64.

    Args:
        name: The policy's name, for the message.
        logits: [N, A].
        mask: [N, A] int8.

    Raises:
        PolicyError: A row has no legal action, or none with a finite logit.
    """
    values = _of_legal_actions(name, "logit", logits, mask)
    np.exp(values - values.max(axis=1, keepdims=True), out=values)
    return values / values.sum(axis=1, keepdims=True)


def masked_best(name: str, values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Returns 1 for the legal action of the highest value, the first of equals, [N, A] float64.

    Args:
        name: The policy's name, for the message.
        values: [N, A].
        mask: [N, A] int8.

    Raises:
        PolicyError: A row has no legal action, or none with a finite value.
    """
    best = _of_legal_actions(name, "value", values, mask).argmax(axis=1)
    return np.eye(mask.shape[1])[best]


def _of_legal_actions(name: str, what: str, values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    legal = np.where(mask != 0, values.astype(np.float64), -np.inf)
    if not np.isfinite(legal.max(axis=1)).all():
        raise PolicyError(
            f"policy {name!r} returned no finite {what} for a legal action, or there is none"
        )
    return legal


def read(name: str, observation: np.ndarray, reading: Reading | None) -> np.ndarray:
    """Returns what a network reads of observations.

    Args:
        name: The policy's name, for the message.
        observation: [N, F] uint8.
        reading: How it reads them; None if nobody has said at which table the policy plays.

    Raises:
        PolicyError: There is no reading.
    """
    if reading is None:
        raise PolicyError(
            f"policy {name!r} reads features in 0 to 1, and their scale follows from the table: "
            "say which one with at_table(game, num_players)"
        )
    return reading(observation)


def pick_actions(probabilities: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Returns the action of each decision that a random number falls on.

    Args:
        probabilities: [N, A].
        chances: [N], each from 0 to below 1.

    Returns:
        [N] int64; never an action of probability 0.
    """
    cumulative = np.cumsum(probabilities, axis=1, dtype=np.float64)
    drawn = chances * cumulative[:, -1]
    actions = (cumulative <= drawn[:, None]).sum(axis=1)
    beyond = actions == probabilities.shape[1]  # the product was rounded up to the whole sum
    if beyond.any():
        actions[beyond] = probabilities[beyond].argmax(axis=1)
    return actions


def sample_actions(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draws an action for each decision, [N] int64; never an action of probability 0.

    Args:
        probabilities: [N, A].
        rng: Where the N random numbers come from.
    """
    return pick_actions(probabilities, rng.random(len(probabilities)))
