"""Self-play for libraries that train one agent: the other seats ask the learner's own network.

    network = make_network()  # the one that learns
    opponent = LiveOpponent(
        lambda observation, mask: network(torch.as_tensor(observation)),
        returns="logits",
        observation="float",
    )
    venv = SeatVectorEnv("byteskille", 512, 3, observation="float", opponents=opponent)

Every question is answered with the weights of that moment, so the opponents improve with the
learner. Nothing heavy is imported here: what a function returns is an array or a torch tensor.
"""

import copy
import inspect
from collections.abc import Callable
from typing import Any, NoReturn, Self, cast

import numpy as np

from kille_env.core.floats import READINGS, Reading
from kille_env.errors import PolicyError, shortened
from kille_env.play.options import one_of
from kille_env.play.own import Features
from kille_env.play.policy import UniformPolicy, as_numbers, masked_best, masked_softmax, read
from kille_env.registry import Table, spec

RETURNS = ("probabilities", "logits", "values")
OBSERVATION = ("box", *READINGS)
EXPECTED = (
    'observation is "box" (uint8 features), "float" (features in 0 to 1) or "seats"; returns is '
    '"probabilities", "logits" or "values"'
)
"""How a function or a network is asked, in words."""
CLOSE = 1e-4
"""Distance from 1 within which the sum of a softmax in single precision lies."""


class FunctionPolicy:
    """A policy that asks a function.

    Attributes:
        function: What is called with observations [N, F] and masks [N, A].
        name: What tables and reports call it.
        observation: What it is shown.
        returns: What it returns.
        features: What is made of what it is shown, or None.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray, np.ndarray], Any],
        *,
        observation: str | None = None,
        returns: str | None = None,
        features: Callable[..., Any] | None = None,
        name: str = "",
    ) -> None:
        """Take a function, and how it is asked, which nothing could find out.

        Args:
            function: From observations [N, F] and masks [N, A] int8 to [N, A], a NumPy array or a
                torch tensor on any device, with or without gradients.
            observation: What it is shown. "box": uint8 features; "float": float32 in 0 to 1, as
                from an environment with this option, and "seats" likewise. How to read features
                follows from the table: environments, evaluations and
                `kille_env.play.policy.resolve` say at which one it plays; by yourself you say it
                with `at_table`.
            returns: What it returns. "probabilities": these, 0 for illegal actions. "logits": the
                softmax over the legal actions is played. "values": the legal action of the highest
                value is played.
            features: A function from these observations and the masks to features [N, K], which are
                shown instead: that of the environment with this option where it learned.
            name: What tables and reports call it; the default is the function's own name.

        Raises:
            PolicyError: `function` cannot be called like that, or `observation` or `returns` is not
                said.
            RulesError: An option that does not exist.
        """
        kind = type(self).__name__
        if not callable(function):
            raise PolicyError(
                f"{kind} asks a function of (observation, mask), got {shortened(function)}"
            )
        try:
            inspect.signature(function).bind(None, None)
        except TypeError:
            raise PolicyError(
                f"{kind} asks a function of (observation, mask), but {shortened(function)} cannot "
                "be called with two arguments"
            ) from None
        except ValueError:  # a builtin does not say
            pass
        if observation is None or returns is None:
            raise PolicyError(
                f"{kind} is told how its function is asked, as in {kind}(function, "
                f'observation="float", returns="logits"); {EXPECTED}'
            )
        self.function = function
        own = str(getattr(function, "__name__", type(function).__name__))
        self.name = name or own.strip("<>")
        self.returns = one_of("returns", returns, RETURNS)
        self.observation = one_of("observation", observation, OBSERVATION)
        self.features = Features.of(features)
        self._reading: Reading | None = None

    def at_table(self, game: str, num_players: int) -> Self:
        """Return the policy as it plays at a table, where it knows how to read features."""
        settled = copy.copy(self)
        if self.observation in READINGS:
            settled._reading = READINGS[self.observation](spec(game), num_players)
        return settled

    def differences(self, table: Table) -> list[str]:
        """Return in words what a table has otherwise than that of a policy whose method it asks."""
        tell = getattr(getattr(self.function, "__self__", None), "differences", None)
        return cast(list[str], tell(table)) if callable(tell) else []

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return how likely each action is, [N, A] float64; see `Policy`.

        Raises:
            PolicyError: The function returns another shape or no finite number for a legal action,
                or logits that are probabilities.
        """
        returned = self.returned(observation, mask)
        if self.returns == "probabilities":
            return returned
        if self.returns == "values":
            return masked_best(self.name, returned, mask)
        if are_probabilities(returned):
            raise PolicyError(
                f"what {self.name!r} returns as logits lies in 0 to 1 and sums to 1 in every row: "
                'these are probabilities; say returns="probabilities"'
            )
        return masked_softmax(self.name, returned, mask)

    def returned(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return what the function returns about observations, [N, A] float64.

        Raises:
            PolicyError: That is no array of numbers, or of another shape.
        """
        in_floats = self.observation in READINGS
        shown = read(self.name, observation, self._reading) if in_floats else observation
        shown = shown if self.features is None else self.features(shown, mask)
        found = as_numbers(self.name, self._call(shown, mask), self.returns)
        if found.shape != mask.shape:
            raise PolicyError(
                f"the function of {self.name!r} returned {self.returns} of shape "
                f"{found.shape}, expected {mask.shape}"
            )
        return found

    def _call(self, shown: np.ndarray, mask: np.ndarray) -> Any:
        return self.function(shown, mask)


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

    def __init__(
        self,
        function: Callable[[np.ndarray, np.ndarray], Any],
        *,
        observation: str | None = None,
        returns: str | None = None,
        features: Callable[..., Any] | None = None,
        epsilon: float | Callable[[], float] = 0.0,
        name: str = "live",
    ) -> None:
        """Follow a function.

        Args:
            function: See `FunctionPolicy`.
            observation: See `FunctionPolicy`; it has to be said.
            returns: See `FunctionPolicy`; it has to be said.
            features: See `FunctionPolicy`.
            epsilon: Share of decisions that are uniform over the legal actions, 0 to 1; a function
                without arguments is asked each time, for a share that is annealed. It counts in
                environments alone: measured is the policy without it.
            name: What tables and reports call it.

        Raises:
            PolicyError: `function` cannot be called, or `observation` or `returns` is not said.
            RulesError: An option that does not exist.
        """
        super().__init__(
            function, observation=observation, returns=returns, features=features, name=name
        )
        self._epsilon = epsilon

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return how likely each action is now, [N, A] float64; see `Policy`.

        Raises:
            PolicyError: As from `FunctionPolicy`, or `epsilon` is no share.
        """
        wanted = super().probabilities(observation, mask)
        epsilon = self._share()
        if epsilon == 0.0:
            return wanted
        uniform = UniformPolicy().probabilities(observation, mask)
        return (1.0 - epsilon) * wanted + epsilon * uniform

    def without_exploring(self) -> "LiveOpponent":
        """Return the policy as it is measured: without `epsilon`."""
        settled = copy.copy(self)
        settled._epsilon = 0.0
        return settled

    def _share(self) -> float:
        given = self._epsilon() if callable(self._epsilon) else self._epsilon
        share = float(given)
        if not 0.0 <= share <= 1.0:  # NaN neither
            raise PolicyError(f"epsilon of {self.name!r} is {share}, expected a share from 0 to 1")
        return share

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
