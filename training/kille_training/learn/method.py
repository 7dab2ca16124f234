"""What a method of the benchmark is.

A method is a module of `kille_training.learn.methods` with two names:

- `Settings`, a frozen dataclass of all its numbers.
- `train(table, seed, settings, spent)`, a generator of `Progress`.

`spent()` returns the share of the budget that is used, from 0 to 1, for what is annealed. A method
never measures itself and never reads a clock: whoever runs it does, between one policy and the
next, and stops it when the budget is used. With a budget of decisions, equal seeds give equal
policies to the bit.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from kille_agents.network import NetworkPolicy
from kille_agents.tabular import TabularPolicy
from kille_training.learn.tables import BenchmarkTable


@dataclass(frozen=True)
class Progress:
    """How far a method has come.

    Attributes:
        decisions: Decisions that it has seen so far, those of all seats.
        export: Returns `policy`.
    """

    decisions: int
    export: Callable[[], NetworkPolicy | TabularPolicy]

    @cached_property
    def policy(self) -> NetworkPolicy | TabularPolicy:
        """What the method would play now, in all seats, as a policy that can be saved.

        It is made when it is first asked for, which is before the method goes on: what is not
        measured costs nothing.
        """
        return self.export()


class Method(Protocol):
    """A module of `kille_training.learn.methods`."""

    Settings: type[Any]

    def train(
        self, table: BenchmarkTable, seed: int, settings: Any, spent: Callable[[], float]
    ) -> Iterator[Progress]:
        """Learns to play a table, and yields after each update.

        Args:
            table: Where it plays.
            seed: Seed of the cards, the choices, the weights and whatever else is random.
            settings: The method's `Settings`.
            spent: Returns the share of the budget that is used, from 0 to 1.

        Raises:
            KilleError: The method cannot play this table; the message says why.
        """
        ...
