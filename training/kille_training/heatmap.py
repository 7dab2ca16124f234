"""When a player swaps: how likely, by card and position, measured at the table."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kille_agents.base import Policy
from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.registry import make_batch
from kille_training.evaluate import Player

CARDS = 21


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
    action = {text: index for index, text in enumerate(batch.spec.actions)}
    part = {part.name: part.slice for part in batch.spec.observation(num_players)}
    player = Player(policy, "sampled", np.random.default_rng([seed, 4]))
    total, seen = np.zeros((3, num_players, CARDS)), np.zeros((3, num_players, CARDS))
    batch.reset()
    for _ in range(max(1, decisions // tables)):
        probabilities = policy.probabilities(batch.observation, batch.mask)
        # Once somebody is out of a match a place is another one, heads-up the dealer second of two.
        complete = batch.observation[:, part["in_hand"]].sum(axis=1) == num_players
        turn = np.flatnonzero((batch.mask[:, action["swap"]] == 1) & complete)
        observation, chances = batch.observation[turn], probabilities[turn]
        card = observation[:, part["card"]].argmax(axis=1)
        taken = 1 - observation[:, part["card_dealt"]][:, 0].astype(np.int64)
        place = num_players - 1 - observation[:, part["to_come"]].sum(axis=1).astype(np.int64)
        ask, swap = chances[:, action["ask"]], chances[:, action["swap"]]
        swap = np.divide(swap, 1.0 - ask, out=np.zeros_like(swap), where=ask < 1.0)
        certain = ask < 0.999
        np.add.at(total, (taken[certain], place[certain], card[certain]), swap[certain])
        np.add.at(seen, (taken[certain], place[certain], card[certain]), 1.0)
        may_ask = batch.mask[turn, action["ask"]] == 1
        np.add.at(total, (2, place[may_ask], card[may_ask]), ask[may_ask])
        np.add.at(seen, (2, place[may_ask], card[may_ask]), 1.0)
        batch.step(player.choose(batch.observation, batch.mask))
        if progress is not None:
            progress(tables)
    share = np.divide(total, seen, out=np.full_like(total, np.nan), where=seen > 0)
    return SwapMap(share[0], share[1], share[2, 0])
