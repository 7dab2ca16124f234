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
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from kille_env.adapters.options import one_of
from kille_env.core.floats import READINGS, Reading
from kille_env.errors import PolicyError, shortened
from kille_env.policy import UniformPolicy, as_numbers, masked_best, masked_softmax, read
from kille_env.registry import spec

RETURNS = ("probabilities", "logits", "values")
OBSERVATION = ("box", *READINGS)


class LiveOpponent:
    """A policy that asks a function, usually the network that is learning.

    It plays wherever a policy does: as `opponents=` of every form with one seat, in `evaluate`, in
    a duel. Random choices are not its own: it returns probabilities, and the tables draw from them
    by their keys, so equal seeds and equal weights play equal games.

    A copy, a deep one too, asks the same function: a copied environment still plays against the
    learner. It cannot be pickled, since another process would play against weights that no longer
    learn.

    Attributes:
        name: What tables and reports call it.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray, np.ndarray], Any],
        *,
        returns: str = "probabilities",
        observation: str = "box",
        epsilon: float | Callable[[], float] = 0.0,
        name: str = "live",
    ) -> None:
        """Follows a function.

        Args:
            function: From observations [N, F] and masks [N, A] int8 to [N, A], a NumPy array or a
                torch tensor on any device, with or without gradients. It is called once per round
                for all decisions that are due, whose number N differs from call to call.
            returns: What it returns. "probabilities": these, 0 for illegal actions. "logits": the
                softmax over the legal actions is played. "values": the legal action of the highest
                value is played.
            observation: "box": it is given uint8 features; "float": float32 in 0 to 1, as from an
                environment with this option, and "seats" likewise. How to read features follows
                from the table: environments, evaluations and `kille_env.policy.resolve` say at
                which one it plays; by yourself you say it with `at_table`.
            epsilon: Share of decisions that are uniform over the legal actions, 0 to 1; a function
                without arguments is asked each time, for a share that is annealed.
            name: What tables and reports call it.

        Raises:
            PolicyError: `function` cannot be called.
            RulesError: An option that does not exist.
        """
        if not callable(function):
            raise PolicyError(
                f"LiveOpponent asks a function of (observation, mask), got {shortened(function)}"
            )
        self.function, self.name = function, name
        self._returns = one_of("returns", returns, RETURNS)
        self._reads = one_of("observation", observation, OBSERVATION)
        self._epsilon = epsilon
        self._reading: Reading | None = None

    def at_table(self, game: str, num_players: int) -> "LiveOpponent":
        """Returns the policy as it plays at a table, where it knows how to read features."""
        settled = copy.copy(self)
        if self._reads in READINGS:
            settled._reading = READINGS[self._reads](spec(game), num_players)
        return settled

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns how likely each action is now, [N, A] float64; see `Policy`.

        Raises:
            PolicyError: The function returns another shape or no finite number for a legal action,
                or `epsilon` is no share.
        """
        in_floats = self._reads in READINGS
        shown = read(self.name, observation, self._reading) if in_floats else observation
        returned = as_numbers(self.name, self.function(shown, mask), self._returns)
        if returned.shape != mask.shape:
            raise PolicyError(
                f"the function of {self.name!r} returned {self._returns} of shape "
                f"{returned.shape}, expected {mask.shape}"
            )
        wanted = self._wanted(returned, mask)
        epsilon = self._share()
        if epsilon == 0.0:
            return wanted
        uniform = UniformPolicy().probabilities(observation, mask)
        return (1.0 - epsilon) * wanted + epsilon * uniform

    def _wanted(self, returned: np.ndarray, mask: np.ndarray) -> np.ndarray:
        if self._returns == "probabilities":
            return returned
        made = masked_softmax if self._returns == "logits" else masked_best
        return made(self.name, returned, mask)

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
