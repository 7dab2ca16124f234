"""Functions and networks as policies: their inputs and outputs.

For self-play with a library that trains one agent, the other seats ask the learner's own network:

    network = make_network()  # the one that learns
    opponent = LiveOpponent(
        lambda observation, mask: network(torch.as_tensor(observation)),
        returns="logits",
        observation="float",
    )
    venv = SeatVectorEnv("byteskille", 512, 3, observation="float", opponents=opponent)

Every question is answered with the weights of that moment, so the opponents improve with the
learner. Nothing heavy is imported here; torch is met where a module of it is handed over.
"""

import copy
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, Self, cast

import numpy as np

from kille_env.core.floats import FEATURES, READINGS, Reading, reading_of
from kille_env.core.spec import width
from kille_env.errors import PolicyError, shortened
from kille_env.play.options import one_of
from kille_env.play.policy import (
    ObservationPolicy,
    as_numbers,
    masked_best,
    masked_softmax,
    read,
    tables_inside,
)
from kille_env.play.user_functions import Features
from kille_env.registry import Table, spec

if TYPE_CHECKING:
    import torch

RETURNS = ("probabilities", "logits", "values")
EXPECTED = (
    'observation is "box" (uint8 features), "float" (features in 0 to 1) or "seats"; returns is '
    '"probabilities", "logits" or "values"'
)
"""How a function or a network is asked, in words."""
CLOSE = 1e-4
"""Distance from 1 within which the sum of a softmax in single precision lies."""


class FunctionPolicy(ObservationPolicy):
    """A function or torch module as a policy, with its kinds of inputs and outputs.

    Usable wherever a player is. A module is called with observations [N, F], in its own
    floating-point type and on its own device, in evaluation mode and without gradients; one whose
    `forward` has a parameter for the mask gets that too. It may go on learning: every call uses its
    present weights, and its mode is put back. A module sees no mask, so that its probabilities are
    those of all actions: the shares of the legal ones are played, as of its logits.

    Example:
        >>> import kille_env, kille_training, torch
        >>> from kille_agents import as_policy
        >>> batch = kille_env.make_batch("byteskille", num_players=2)
        >>> layer = torch.nn.Linear(batch.observation.shape[1], batch.mask.shape[1])
        >>> network = as_policy(layer, observation="float", returns="logits")
        >>> kille_training.nash_conv(network, "byteskille", 2).stakes > 0
        True

    Attributes:
        function: The module, or the function of observations [N, F] and masks [N, A].
        name: What tables and reports call it.
        observation: Kind of its inputs.
        returns: Kind of its outputs.
        features: Own features made of its inputs, or None.
        observe_rules: Whether the rules stand behind each observation.
    """

    _door = "as_policy"
    """Name of the public constructor, for errors."""

    def __init__(
        self,
        function: "torch.nn.Module | Callable[..., Any]",
        *,
        observation: str | None = None,
        returns: str | None = None,
        features: Callable[..., Any] | None = None,
        observe_rules: bool = False,
        name: str = "",
    ) -> None:
        """Take a function or module, and its kinds of inputs and outputs."""
        kind = self._door
        if not callable(function):
            raise PolicyError(
                f"{kind} asks a function of (observation, mask), got {shortened(function)}"
            )
        self._is_module = is_from("torch.nn", "Module", function)
        self._with_mask = not self._is_module or _takes_a_mask(function)
        if not self._is_module and not _takes(function, 2):
            raise PolicyError(
                f"{kind} asks a function of (observation, mask), but {shortened(function)} cannot "
                "be called with two arguments"
            )
        if observation is None or returns is None:
            raise PolicyError(
                f"{kind} is told how its function is asked, as in {kind}(function, "
                f'observation="float", returns="logits"); {EXPECTED}'
            )
        self.function = function
        own = str(getattr(function, "__name__", type(function).__name__))
        self.name = name or own.strip("<>")
        self.returns = one_of("returns", returns, RETURNS)
        self.observation = one_of("observation", observation, FEATURES)
        self.features, self.observe_rules = Features.of(features), observe_rules
        self._reading: Reading | None = None

    def at_table(self, game: str, num_players: int) -> Self:
        """Return the policy for a table, which determines the scale of features."""
        settled, table = copy.copy(self), spec(game)
        shown = table.layout("observation", self.observe_rules)
        settled._reading = reading_of(self.observation, table, num_players, self.observe_rules)
        # A module of another size fails here, with the table's name, and not in the middle of a
        # match.
        if self._is_module:  # asked once
            observation = np.zeros((2, width(shown(num_players))), np.uint8)
            settled.returned(observation, np.ones((2, table.num_actions), np.int8))
        return settled

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables of the policy that the function is a method of."""
        return tables_inside(getattr(self.function, "__self__", None))

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the probability of each action, [N, A] float64."""
        returned = self.returned(observation, mask)
        if self.returns == "values":
            return masked_best(self.name, returned, mask)
        sums_to_one = are_probabilities(returned)
        if self.returns == "logits":
            if sums_to_one:
                raise PolicyError(
                    f"what {self.name!r} returns as logits lies in 0 to 1 and sums to 1 in every "
                    'row: these are probabilities; say returns="probabilities"'
                )
            return masked_softmax(self.name, returned, mask)
        if not self._is_module:
            return returned
        # A module sees no mask, so the legal actions share its probability in proportion.
        legal = np.where(mask != 0, returned, 0.0)
        total = legal.sum(axis=1, keepdims=True)
        if not sums_to_one or not (total > 0.0).all():
            raise PolicyError(
                f"what the torch module {self.name!r} returns as probabilities does not lie in 0 "
                "to 1 and sum to 1 over all actions, with a share for a legal one; for the scores "
                'before a softmax say returns="logits", for action values returns="values"'
            )
        return legal / total

    def shown(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the inputs of the function for observations [N, F] uint8 and masks [N, A]."""
        in_floats = self.observation in READINGS
        shown = read(self.name, observation, self._reading) if in_floats else observation
        return shown if self.features is None else self.features(shown, mask)

    def returned(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the outputs of the function for observations, [N, A] float64."""
        shown = self.shown(observation, mask)
        ask = self._forward if self._is_module else self.function
        found = as_numbers(self.name, ask(shown, mask), self.returns)
        if found.shape != mask.shape:
            raise PolicyError(
                f"the function of {self.name!r} returned {self.returns} of shape "
                f"{found.shape}, expected {mask.shape}"
            )
        return found

    def _forward(self, shown: np.ndarray, mask: np.ndarray) -> Any:
        """Return the outputs of the module, in evaluation mode and without gradients."""
        import torch

        module = cast("torch.nn.Module", self.function)
        weights = next((one for one in module.parameters() if one.is_floating_point()), None)
        inputs = [torch.from_numpy(shown.astype(np.float32)), torch.from_numpy(mask != 0)]
        if weights is not None:
            # A module may be in half precision, or on a GPU; its first floating-point weight says
            # so.
            inputs[0] = inputs[0].to(weights.dtype)
            inputs = [one.to(weights.device) for one in inputs]
        try:
            with evaluating(module), torch.no_grad():
                found = module(*inputs) if self._with_mask else module(inputs[0])
            if not isinstance(found, torch.Tensor):
                raise TypeError(f"it returned a {type(found).__name__}, expected a tensor [N, A]")
        except (RuntimeError, ValueError, TypeError) as error:
            raise PolicyError(
                f"the torch module {self.name!r} fails for observations "
                f"{list(shown.shape)}: {' '.join(str(error).split())}"
            ) from error
        return found


@contextmanager
def evaluating(module: "torch.nn.Module") -> Iterator[None]:
    """Ask a module in evaluation mode, so that asking draws nothing and changes no statistics."""
    # Each part's own mode: some may be frozen in evaluation mode while the rest learns.
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


def is_from(module: str, name: str, thing: Any) -> bool:
    """Return whether a thing is of a library's class; a library that is not loaded has none."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(thing, kind)


def _takes(function: Any, number: int) -> bool:
    """Return whether a function can be called with so many arguments, as far as it says that."""
    try:
        inspect.signature(function).bind(*[None] * number)
    except TypeError:
        return False
    except ValueError:  # a builtin does not say
        pass
    return True


def _takes_a_mask(module: Any) -> bool:
    """Return whether a module's `forward` has a second parameter, named after the mask."""
    try:
        names = list(inspect.signature(module.forward).parameters)
    except (TypeError, ValueError):  # compiled, say
        return False
    return len(names) > 1 and "mask" in names[1]


def are_probabilities(rows: np.ndarray) -> bool:
    """Return whether all rows are distributions, which logits are by no accident."""
    return (
        len(rows) > 0
        and bool((rows >= 0.0).all())
        and bool((np.abs(rows.sum(axis=1) - 1.0) < CLOSE).all())
    )


class LiveOpponent(FunctionPolicy):
    """A policy that asks a function, usually the network that is learning.

    It plays wherever a policy does: as `opponents=` of every form with one seat, in `evaluate`, in
    a duel. Random choices are not its own: it returns probabilities, and the tables draw from them
    by their keys, so equal seeds and equal weights play equal games. The function is called once
    per round for all decisions that are due, whose number N differs from call to call.

    A copy, a deep one too, asks the same function: a copied environment still plays against the
    learner. It cannot be pickled, since another process would play against weights that no longer
    learn.

    Example:
        >>> import gymnasium, kille_env
        >>> def network(observation, mask):  # the one that learns
        ...     return mask
        >>> opponent = kille_env.LiveOpponent(network, observation="float", returns="logits")
        >>> env = gymnasium.make("kille_env/byteskille-v0", num_players=3, opponents=opponent)
    """

    _door = "LiveOpponent"

    def __deepcopy__(self, memo: dict[int, Any]) -> "LiveOpponent":
        return copy.copy(self)

    def __copy__(self) -> "LiveOpponent":
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __reduce__(self) -> NoReturn:
        raise PolicyError(
            f"{self.name!r} asks a network of this process and cannot be pickled: in another "
            "process its weights would no longer learn. Make it there, or pass a saved policy"
        )
