"""Learning methods: what each file of `methods/` offers.

A method is a module with `Settings`, its hyperparameters, `FIGURES`, the names of what an update
says of itself, and `Learner`:

    learner = method.Learner(table, seed, settings)
    while learner.decisions < 100_000:
        learner.update(lambda: 1.0 - learner.decisions / 100_000)
    policy = learner.policy("mine")

`kille train` and the benchmark take the same methods. A method never measures itself and reads no
clock. Equal seeds give equal policies to the bit, also where the state of a learner and the global
generators of torch and NumPy are kept, and a new learner continues from them.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, ClassVar, Protocol, cast

import numpy as np

from kille_agents.network import NetworkPolicy, save_network
from kille_agents.tabular import TabularPolicy, save_tabular
from kille_env.core.batch import Batch
from kille_env.errors import ConfigError, did_you_mean
from kille_env.registry import Table, make_batch
from kille_training.learn import methods
from kille_training.learn.state import below, loaded, state_of
from kille_training.settings import build

Left = Callable[[], float]
"""Returns the share of the budget that is left, from 1 to 0, for what is annealed."""
Learned = NetworkPolicy | TabularPolicy
"""A policy that can be saved."""


class Learner(Protocol):
    """A method that learns at a table.

    Attributes:
        decisions: Decisions so far, those of all seats that it has learned from or played.
    """

    decisions: int

    def update(self, left: Left) -> Mapping[str, float]:
        """Play and learn from it.

        Returns:
            What there is to say of it, by the names in `FIGURES` of the module.

        Raises:
            ConfigError: The network returns nonsense.
        """
        ...

    def policy(self, name: str) -> Learned:
        """Return what the learner would play now, in all seats."""
        ...

    def state(self) -> dict[str, np.ndarray]:
        """Return everything that `load` needs, as arrays."""
        ...

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from a state, exactly.

        Raises:
            KilleError: The state is of another learner.
        """
        ...


class Method(Protocol):
    """A module of `kille_training.learn.methods`."""

    Settings: type[Any]
    Learner: Callable[[Table, int, Any], Learner]
    FIGURES: tuple[str, ...]


class DealLearner:
    """Base of learners that play whole deals, or matches, at many tables between two updates.

    Attributes:
        table: Where it plays.
        settings: Hyperparameters.
        decisions: See `Learner`.
    """

    parts: ClassVar[tuple[str, ...]] = ()
    """Names of the attributes that make up the state, beside `decisions` and `batch`."""

    def __init__(self, table: Table, seed: int, settings: Any) -> None:
        """Begin with new tables; seeds torch, whose generator draws the weights."""
        import torch

        torch.manual_seed(seed)
        self.table, self.settings, self.seed, self.decisions = table, settings, seed, 0
        self.batch = self.make_batch()

    def make_batch(self) -> Batch:
        """Return the tables that the settings ask for."""
        table = self.table
        return make_batch(
            table.game, self.settings.tables, table.num_players, rules=table.rules, seed=self.seed
        )

    @property
    def made(self) -> dict[str, Any]:
        """How a policy came about, for its file."""
        name = type(self).__module__.rpartition(".")[2]
        return {"by": name, "seed": self.seed, "decisions": self.decisions}

    def state(self) -> dict[str, np.ndarray]:
        """See `Learner`."""
        return {
            f"{part}/{key}": array
            for part in ("decisions", "batch", *self.parts)
            for key, array in state_of(getattr(self, part)).items()
        }

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """See `Learner`."""
        for part in ("decisions", "batch", *self.parts):
            setattr(self, part, loaded(getattr(self, part), below(state, part)))


def method_names() -> list[str]:
    """Return the names of all methods."""
    return sorted(module.name for module in iter_modules(methods.__path__))


def method_named(name: str) -> Method:
    """Return a method.

    Raises:
        ConfigError: There is no such method; the message suggests one.
    """
    if name not in method_names():
        raise ConfigError(f"there is no method {name!r}. {did_you_mean(name, method_names())}")
    return cast(Method, import_module(f"{methods.__name__}.{name}"))


def settings_of(name: str, content: Mapping[str, Any]) -> Any:
    """Return the settings of a method.

    Args:
        name: The method.
        content: Values that differ from the defaults.

    Raises:
        ConfigError: There is no such method or key, or a value does not fit.
    """
    return build(method_named(name).Settings, content, f"settings.{name}")


def save_policy(policy: Learned, folder: Path) -> None:
    """Write a policy into a folder, which is then a player's path."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(policy, NetworkPolicy):
        save_network(policy, folder)
    else:
        save_tabular(policy, folder / "policy.npz")
