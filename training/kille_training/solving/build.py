"""The tree of a single deal of any game.

Most games are grown by `grow`. Byteskille has the cards dealt again, and plays whole pots hand by
hand, so its trees are its own (`byteskille.deals`).
"""

from collections.abc import Callable, Sequence

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.jit import announce_compilation
from kille_env.core.spec import Rules
from kille_env.registry import load_game
from kille_training.progress import ignore
from kille_training.solving.byteskille import deals as byteskille
from kille_training.solving.grow import DEALS, ENDS, NODES, Growth
from kille_training.solving.size import MEMORY_LIMIT, OWN, check_deal, too_large
from kille_training.solving.stages import DealStages, Stage


def build_deal(
    num_players: int,
    rules: Rules,
    *,
    memory_limit: int = MEMORY_LIMIT,
    progress: Callable[[int], None] = ignore,
) -> DealStages[Stage]:
    """Grows the tree of a single deal.

    Args:
        num_players: P.
        rules: Its rules; a single deal.
        memory_limit: Bytes that the tree may take.
        progress: Called with the nodes that are done.

    Raises:
        TreeTooLargeError: It would not fit; the message says how large it is, and what would.
        KilleError: No tree can hold the game; the message says why.
    """
    check_deal(num_players, rules, memory_limit)
    if rules.game == OWN:
        return byteskille.build_deal(num_players, rules, memory_limit=memory_limit)
    stage = grow_stage(num_players, rules, memory_limit=memory_limit, progress=progress)
    return DealStages((stage,))


def grow_stage(
    num_players: int,
    rules: Rules,
    *,
    cards: Sequence[str] = (),
    memory_limit: int = MEMORY_LIMIT,
    merged: bool = True,
    progress: Callable[[int], None] = ignore,
) -> Stage:
    """Grows the tree of a deal that has one hand; see `build_deal`.

    Args:
        num_players: P.
        rules: Its rules.
        cards: Codes of the cards that can be dealt and drawn, for checks; none are the whole pack.
        memory_limit: Bytes that the tree may take.
        merged: Whether the orders in which cards come to a hand are merged; for checks.
        progress: Called with the nodes that are done.
    """
    game = load_game(rules.game)
    starts = _starts(num_players, rules, cards)
    end = len(game.spec.left_out(rules)) + len(cards) if cards else game.spec.pack.size
    growth = Growth(game, num_players, rules, starts, end, merged)
    with announce_compilation(f"{rules.game} for solving"):
        while not growth.done:
            before = int(growth.size[NODES])
            taken = growth.walk()
            if taken > memory_limit:
                ends = f"more than {growth.size[ENDS]:,} ends"
                raise too_large(rules.game, num_players, ends, taken, memory_limit)
            progress(int(growth.size[NODES]) - before)
    tree, positions, masks = growth.finished(not game.spec.zero_sum)
    return Stage(
        rules=rules,
        num_players=num_players,
        num_deals=int(growth.size[DEALS]) // len(starts),
        num_nodes=int(growth.size[NODES]),
        tree=tree,
        masks=masks,
        positions=positions,
    )


def _starts(num_players: int, rules: Rules, cards: Sequence[str]) -> np.ndarray:
    """Returns the tables [K] at which a deal can begin, all equally likely; the last seat deals."""
    game = load_game(rules.game)
    tables = []
    for start in game.chances(rules, num_players):
        batch = Batch(game, 1, num_players, rules, seed=0, restart=False)
        batch.reset(dealer=num_players - 1, start=start, deal=False)
        table = np.array(batch.tables)
        table["deck"], _ = game.spec.stack(cards, rules)
        table["stacked"] = len(game.spec.left_out(rules))
        tables.append(table)
    return np.concatenate(tables)
