"""What a player is, and how an action is drawn from what he says."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.worlds import History, Worlds
from kille_env.errors import PolicyError

SUM_TOLERANCE = 1e-6


@runtime_checkable
class Policy(Protocol):
    """A player: probabilities of actions for a batch of decisions, each seen from the seat to act.

    Attributes:
        name: What tables and reports call him.
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
            PolicyError: The arrays do not have the shape that the player was made for.
        """
        ...


@runtime_checkable
class Searcher(Protocol):
    """A player who looks ahead: he is given what he knows to draw worlds from.

    One who weighs worlds by what the others have done has an attribute `remembers` that is true,
    and is given the history of the deal as well.

    Attributes:
        name: What tables and reports call him.
    """

    name: str

    def search(self, worlds: Worlds) -> np.ndarray:
        """Returns how likely each action is, as `Policy.probabilities` does.

        Args:
            worlds: M decisions.

        Returns:
            [M, A] float64; depends on nothing but each decision and its key.
        """
        ...


def history_for(players: "Iterable[Policy | Searcher]", batch: Batch) -> History | None:
    """Returns a history of tables if one of their players wants it, else None.

    Whoever plays the tables tells it every action, before the step: `history.note(actions)`.
    """
    wanted = any(getattr(player, "remembers", False) for player in players)
    return History(batch) if wanted else None


def decide(
    player: "Policy | Searcher",
    batch: Batch,
    rows: np.ndarray,
    keys: np.ndarray,
    history: History | None = None,
) -> np.ndarray:
    """Asks a player what he does at some tables of a batch.

    Args:
        player: The player.
        batch: The tables.
        rows: [M] tables at which he is to act.
        keys: [M] uint64, one a decision, for what is random in the thinking of one who searches.
        history: What has been decided at the tables, for one who wants to know (`history_for`).

    Returns:
        [M, A] probabilities, checked.

    Raises:
        PolicyError: He returned what is no distribution over the legal actions.
    """
    mask = batch.mask[rows]
    if isinstance(player, Searcher):
        chances = player.search(Worlds(batch, rows, keys, history))
    else:
        chances = player.probabilities(batch.observation[rows], mask)
    check_probabilities(player.name, chances, mask)
    return chances


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
        probabilities: What it said, to be [N, A].
        mask: [N, A] int8.

    Raises:
        PolicyError: Wrong shape, a value that is no number or negative, a row that does not sum to
            1, or an illegal action with a chance to be played. The message names the first such
            row.
    """
    if probabilities.shape != mask.shape:
        raise PolicyError(
            f"policy {name!r} returned probabilities of shape {probabilities.shape}, "
            f"expected {mask.shape}"
        )
    wrong = {
        "a value that is no probability": ~(probabilities >= 0).all(
            axis=1
        ),  # NaN is not >= 0 either
        "an illegal action": ((probabilities > 0) & (mask == 0)).any(axis=1),
        "a sum other than 1": ~(np.abs(probabilities.sum(axis=1) - 1.0) <= SUM_TOLERANCE),
    }
    for what, rows in wrong.items():
        if rows.any():
            row = int(np.argmax(rows))
            raise PolicyError(
                f"policy {name!r} returned {what} in row {row}: {probabilities[row].tolist()} "
                f"for the mask {mask[row].tolist()}"
            )


def sample_actions(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draws an action for each decision.

    Args:
        probabilities: [N, A].
        rng: Where the N random numbers come from.

    Returns:
        [N] int64; never an action of probability 0.
    """
    return pick_actions(probabilities, rng.random(len(probabilities)))


def pick_actions(probabilities: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Returns the action of each decision that a random number falls on.

    Args:
        probabilities: [N, A].
        chances: [N], each from 0 up to 1.

    Returns:
        [N] int64; never an action of probability 0.
    """
    cumulative = np.cumsum(probabilities, axis=1)
    drawn = chances * cumulative[:, -1]
    actions = (cumulative <= drawn[:, None]).sum(axis=1)
    beyond = actions == probabilities.shape[1]  # the product was rounded up to the whole sum
    if beyond.any():
        actions[beyond] = probabilities[beyond].argmax(axis=1)
    return actions


def best_actions(probabilities: np.ndarray) -> np.ndarray:
    """Returns the likeliest action of each decision, [N] int64; the first of equals."""
    return probabilities.argmax(axis=1)
