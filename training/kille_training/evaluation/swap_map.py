"""How often a policy swaps, by card and position, measured at the table."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.play.decisions import Decisions
from kille_env.play.play import Players
from kille_env.play.policy import Policy
from kille_env.registry import make_batch, spec
from kille_training.progress import ignore

CARDS = 21
ASKS = 2
"""Row of a tally for questions, after those for dealt and for taken cards."""
TABLES = 2048
"""Tables that are played side by side."""


@dataclass(frozen=True)
class SwapMap:
    """How often a policy swaps on its turn.

    Attributes:
        dealt: [P, 21] probability with the card that was dealt, forehand first, NaN where it never
            happened.
        taken: [P, 21] the same with a card that another seat swapped for its own.
        asks: [21] probability that forehand asks for better cards; all NaN where it may not.
    """

    dealt: np.ndarray
    taken: np.ndarray
    asks: np.ndarray


def swap_map(
    policy: Policy,
    num_players: int,
    rules: Rules,
    *,
    decisions: int = 400_000,
    seed: int = 0,
    progress: Callable[[int], None] = ignore,
) -> SwapMap:
    """Lets a policy play against itself and notes its probabilities.

    A turn on which it may ask counts in `asks`; the probability of a swap is then conditional on
    not asking. In a match only turns with everybody in the hand count.

    Args:
        policy: The policy.
        num_players: P seats.
        rules: Byteskille's.
        decisions: Decisions to look at, roughly.
        seed: Seed of the deals.
        progress: Called with the decisions since the last call.

    Raises:
        KilleError: The rules are of a game without this choice.
    """
    if rules.game != "byteskille":
        raise KilleError(f"swaps are mapped in byteskille only, not in {rules.game}")
    batch = make_batch(rules.game, TABLES, num_players, rules=rules, seed=seed)
    batch.reset()
    tally = Tally(num_players)

    def note(_: int, decisions: Decisions, probabilities: np.ndarray) -> None:
        tally.add(decisions.observation, decisions.mask, probabilities)

    seats = Players(batch, [policy], np.zeros(num_players, dtype=np.int64), watch=note)
    for _ in range(max(1, decisions // TABLES)):
        seats.play()
        progress(TABLES)
    return tally.map()


class Tally:
    """Adds up what a policy does on its turns."""

    def __init__(self, num_players: int) -> None:
        """Begins with nothing."""
        game = spec("byteskille")
        self._action = {text: index for index, text in enumerate(game.actions)}
        self._part = {part.name: part.slice for part in game.observation(num_players)}
        self._players = num_players
        self._total = np.zeros((3, num_players, CARDS))
        self._seen = np.zeros((3, num_players, CARDS))

    def add(
        self,
        observation: np.ndarray,
        mask: np.ndarray,
        probabilities: np.ndarray,
        weight: np.ndarray | None = None,
    ) -> None:
        """Adds decisions.

        Args:
            observation: [N, F].
            mask: [N, A].
            probabilities: [N, A].
            weight: [N], how much each counts; None is 1.
        """
        part, players = self._part, self._players
        # Once somebody is out of a match a place is another one, heads-up the dealer second of two.
        complete = observation[:, part["in_hand"]].sum(axis=1) == players
        turn = np.flatnonzero((mask[:, self._action["swap"]] == 1) & complete)
        counted = np.ones(len(turn)) if weight is None else weight[turn]
        may_ask = mask[turn, self._action["ask"]] == 1
        observation, chances = observation[turn], probabilities[turn]
        card = observation[:, part["card"]].argmax(axis=1)
        taken = 1 - observation[:, part["card_dealt"]][:, 0].astype(np.int64)
        place = players - 1 - observation[:, part["to_come"]].sum(axis=1).astype(np.int64)
        ask, swap = chances[:, self._action["ask"]], chances[:, self._action["swap"]]
        swap = np.divide(swap, 1.0 - ask, out=np.zeros_like(swap), where=ask < 1.0)
        asks = np.full(len(turn), ASKS)
        for which, chance, counts in ((taken, swap, ask < 0.999), (asks, ask, may_ask)):
            at = which[counts], place[counts], card[counts]
            np.add.at(self._total, at, chance[counts] * counted[counts])
            np.add.at(self._seen, at, counted[counts])

    def map(self) -> SwapMap:
        """Returns how often the policy swaps and asks."""
        share = np.divide(
            self._total, self._seen, out=np.full_like(self._total, np.nan), where=self._seen > 0
        )
        return SwapMap(share[0], share[1], share[ASKS, 0])
