"""Learning methods: the protocol of a file of `methods/`, and the state of a learner as arrays.

A method is a module with `Settings`, its hyperparameters, and `Learner`:

    learner = method.Learner(table, seed, settings)
    while learner.decisions < 100_000:
        learner.update(lambda: 1.0 - learner.decisions / 100_000)
    policy = learner.policy("mine")

`kille train` and the benchmark use the same methods. A method does not measure itself and reads no
clock: equal seeds give the same policy bit for bit. The state of a learner is weights, optimizers,
counters and generators; a learner with a loaded state begins new matches.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

import numpy as np

from kille_agents.catalog import load_policy
from kille_agents.network import NetworkPolicy, save_network
from kille_agents.tabular import TabularPolicy, save_tabular
from kille_env.core.batch import Batch
from kille_env.errors import ConfigError, PolicyError, did_you_mean
from kille_env.files import make_folder
from kille_env.play.experience import Transitions, collect
from kille_env.play.seating import SeatedPolicies, play_out
from kille_env.registry import Table, make_batch
from kille_env.rule_spaces import SpaceTable
from kille_training.learn import methods
from kille_training.settings import Count, List, build, settings

if TYPE_CHECKING:
    from kille_training.learn.networks import Network

Left = Callable[[], float]
"""Function that returns the remaining share of the budget, from 1 to 0, for annealing."""
Learned = NetworkPolicy | TabularPolicy  # policy with a file format
SPREAD_MATCHES = 64  # matches that estimate the spread of earnings at a table


class Learner(Protocol):
    """A method that learns at a table."""

    @property
    def decisions(self) -> int:
        """Decisions so far, of all learned or played seats."""
        ...

    @property
    def decisions_per_update(self) -> int:
        """Decisions per update; 1 if updates differ."""
        ...

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the metrics of an update."""
        ...

    def update(self, left: Left) -> Mapping[str, float]:
        """Play and learn from it; return metrics by the names in `figures`."""
        ...

    def policy(self, name: str) -> Learned:
        """Return the current policy for all seats."""
        ...

    def state(self) -> dict[str, np.ndarray]:
        """Return weights, optimizers, counters and generators, as arrays."""
        ...

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from a state, with new matches."""
        ...


class Method(Protocol):
    """A module of `kille_training.learn.methods`."""

    Settings: type[Any]
    Learner: Callable[[Table, int, Any], Learner]


@settings
class DealSettings:
    """Hyperparameters of learners that play whole deals or matches.

    Attributes:
        tables: N, matches per update.
        layers: Units of each hidden layer.
        merge: Whether equal observations are computed once. It changes the seconds of a run, and
            the last digits of what it learns.
        scaled: Whether rewards are divided by the spread of earnings, see `spreads_of`; None: over
            a rule space alone.
    """

    tables: Count = 2048
    layers: List[int] = (64, 64)
    merge: bool = True
    scaled: bool | None = None


class DealLearner:
    """Base of learners that play whole deals or matches at many tables between two updates."""

    decisions_per_update: ClassVar[int] = 1
    figures: ClassVar[tuple[str, ...]] = ()
    refills: ClassVar[str] = ""  # text of the buffers that a resumed learner refills, or ""
    parts: ClassVar[tuple[str, ...]] = ()
    """Names of the attributes that make up the state, beside `decisions`."""

    def __init__(self, table: Table, seed: int, settings: Any) -> None:
        """Begin with new tables; seed torch's generator, which draws the weights."""
        import torch

        torch.manual_seed(seed)
        self.table, self.settings, self.seed, self.decisions = table, settings, seed, 0
        self.batch = self.make_batch()

    def make_batch(self) -> Batch:
        """Return new tables with fresh deals."""
        table, seed = self.table, seed_after(self.seed, self.decisions)
        size = self.settings.tables, table.num_players
        return make_batch(table.game, *size, **rules_of(table), seed=seed)

    @cached_property
    def spreads(self) -> np.ndarray | None:
        """The spreads that rewards are divided by, [R]; None leaves them in units."""
        return spreads_of(self.table) if is_scaled(self.settings, self.table) else None

    def collect(self, players: Any, seating: np.ndarray | None = None) -> Transitions:
        """Play a match at each table; with `scaled`, rewards are in spreads of its rules."""
        played = collect(self.batch, players, observation="box", seating=seating)
        if self.spreads is None:
            return played
        spread = self.spreads[self.batch.tables["rules"][played.table]]
        return played._replace(reward=played.reward / spread)

    def new_network(self, outputs: int | None = None) -> "Network":
        """Return a network with random weights; one output per action, or a given number."""
        from kille_training.learn.networks import Network  # brings torch

        settings = self.settings
        return Network(self.table, settings.layers, outputs, merge=settings.merge)

    @property
    def made(self) -> dict[str, Any]:
        """Provenance of a policy, for its file."""
        name = type(self).__module__.rpartition(".")[2]
        return {"by": name, "seed": self.seed, "decisions": self.decisions}

    def state(self) -> dict[str, np.ndarray]:
        """See `Learner`."""
        return state_of(self._parts())

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """See `Learner`."""
        for name, part in loaded(self._parts(), state).items():
            setattr(self, name, part)
        self.batch = self.make_batch()

    def _parts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("decisions", *self.parts)}


def rules_of(table: Table) -> dict[str, Any]:
    """Return the options of environments for the rules of a table."""
    if isinstance(table, SpaceTable):
        return {"rules": table.space, "observe_rules": table.told}
    return {"rules": table.rules}


def is_scaled(settings: Any, table: Table) -> bool:
    """Return whether rewards at a table are divided by their spreads."""
    return isinstance(table, SpaceTable) if settings.scaled is None else settings.scaled


@cache
def spreads_of(table: Table) -> np.ndarray:
    """Return the spread of a seat's earnings in uniform play by each rule set of a table, [R]."""
    # Else rules with high stakes would decide what one network for all of them learns, and
    # hyperparameters in units would fit one game.
    sets = table.space.rules() if isinstance(table, SpaceTable) else (table.rules,)
    return np.array([spread(Table.of(table.game, table.num_players, one)) for one in sets])


def spread(table: Table, policy: str = "uniform") -> float:
    """Return the standard deviation of a seat's earnings with one policy in all seats, in units."""
    game, seats, rules = table.game, table.num_players, table.rules
    batch = make_batch(game, SPREAD_MATCHES, seats, rules=rules, seed=0, restart=False)
    batch.reset()
    seating = np.zeros((SPREAD_MATCHES, seats), dtype=np.int64)
    earned = play_out(SeatedPolicies(batch, [load_policy(policy, game, seats, rules)], seating))
    return float(earned.std()) or 1.0


def method_names() -> list[str]:
    """Return the names of all methods."""
    return sorted(module.name for module in iter_modules(methods.__path__))


def method_named(name: str) -> Method:
    """Return a method."""
    if name not in method_names():
        raise ConfigError(f"there is no method {name!r}. {did_you_mean(name, method_names())}")
    return cast(Method, import_module(f"{methods.__name__}.{name}"))


def settings_of(name: str, content: Mapping[str, Any], above: str = "") -> Any:
    """Return the settings of a method."""
    return build(method_named(name).Settings, content, above)


def whole_updates(learner: Learner, decisions: int) -> int:
    """Return decisions in whole updates of a learner."""
    return -(-decisions // learner.decisions_per_update) * learner.decisions_per_update


def seed_after(seed: int, decisions: int) -> int:
    """Return the seed of the matches of a run after some decisions."""
    # Otherwise a resumed run would repeat the deals of its beginning.
    drawn = np.random.SeedSequence([seed, decisions]).generate_state(1)
    return int(drawn[0]) if decisions else seed


def save_policy(policy: Learned, folder: Path) -> None:
    """Write a policy into a folder, which is then the path of a player."""
    make_folder(folder)
    if isinstance(policy, NetworkPolicy):
        save_network(policy, folder)
    else:
        save_tabular(policy, folder / "policy.npz")


def state_of(part: Any) -> dict[str, np.ndarray]:
    """Return the state of a part of a learner."""
    import torch

    match part:
        case torch.nn.Module():
            return {name: tensor.numpy().copy() for name, tensor in part.state_dict().items()}
        case torch.optim.Optimizer():
            return {
                f"{number}/{name}": np.asarray(value).copy()
                for number, state in part.state_dict()["state"].items()
                for name, value in state.items()
            }
        case np.random.Generator():
            return {"json": _text(json.dumps(part.bit_generator.state))}
        case list():
            return state_of(dict(enumerate(part)))
        case dict():
            return {
                f"{name}/{key}": array
                for name, one in part.items()
                for key, array in state_of(one).items()
            }
        case _:
            return {"value": np.array(part)}


def loaded(part: Any, state: Mapping[str, np.ndarray]) -> Any:
    """Return a part with a loaded state, updated in place if possible."""
    import torch

    match part:
        case torch.nn.Module():
            tensors = {name: torch.from_numpy(array.copy()) for name, array in state.items()}
            try:
                part.load_state_dict(tensors)
            except RuntimeError as error:
                said = " ".join(str(error).split())
                raise PolicyError(f"the checkpoint holds another network: {said}") from None
        case torch.optim.Optimizer():
            numbers = sorted({int(name.partition("/")[0]) for name in state})
            kept = {
                number: {
                    name: torch.from_numpy(np.array(array))
                    for name, array in below(state, str(number)).items()
                }
                for number in numbers
            }
            part.load_state_dict({**part.state_dict(), "state": kept})
        case np.random.Generator():
            part.bit_generator.state = json.loads(state["json"].tobytes())
        case list():
            return list(loaded(dict(enumerate(part)), state).values())
        case dict():
            return {name: loaded(one, below(state, str(name))) for name, one in part.items()}
        case np.ndarray():
            return state["value"].copy()
        case _:
            return type(part)(state["value"])
    return part


def below(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays below a prefix and "/", by the rest of their names."""
    return {
        name.removeprefix(f"{prefix}/"): array
        for name, array in arrays.items()
        if name.startswith(f"{prefix}/")
    }


def count_of(arrays: Mapping[str, np.ndarray], prefix: str) -> int:
    """Return the length of a list in a state."""
    return len({name.partition("/")[0] for name in below(arrays, prefix)})


def _text(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8).copy()
