"""When a player swaps: how likely, by card and position, measured at the table."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.policy import Policy
from kille_env.registry import make_batch, spec
from kille_training.evaluation.duplicate import Player

CARDS = 21
ASKS = 2  # behind the cards that were dealt and those that were taken


@dataclass(frozen=True)
class SwapMap:
    """How often a player swaps on his turn.

    Attributes:
        dealt: [P, 21] probability with the card that was dealt, forehand first, NaN where it never
            happened.
        taken: [P, 21] the same with a card that somebody swapped for his.
        asks: [21] probability that forehand asks for better cards; all NaN where he may not.
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
    progress: Callable[[int], None] | None = None,
) -> SwapMap:
    """Lets a player play against himself and notes his probabilities.

    A turn on which he may ask counts in `asks`; its probability to swap is taken from what is left
    when he does not ask. In a match only turns with everybody in the hand count.

    Args:
        policy: The player.
        num_players: P seats.
        rules: Byteskille's.
        decisions: Decisions to look at, roughly.
        seed: Seed of the deals.
        progress: Called with the decisions since the last call.

    Raises:
        KilleError: The rules are of a game without this choice.
    """
    if rules.game != "byteskille":
        raise KilleError(f"the map of swaps is one of byteskille, not of {rules.game}")
    tables = 2048
    batch = make_batch(rules.game, tables, num_players, rules=rules, seed=seed)
    player = Player(policy, "sampled", np.random.default_rng([seed, 4]))
    tally = Tally(num_players)
    batch.reset()
    for _ in range(max(1, decisions // tables)):
        tally.add(
            batch.observation, batch.mask, policy.probabilities(batch.observation, batch.mask)
        )
        batch.step(player.choose(batch, np.arange(tables)))
        if progress is not None:
            progress(tables)
    return tally.map()


class Tally:
    """Adds up what a player does on his turns."""

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
        """Returns how often the player swaps and asks."""
        share = np.divide(
            self._total, self._seen, out=np.full_like(self._total, np.nan), where=self._seen > 0
        )
        return SwapMap(share[0], share[1], share[ASKS, 0])
