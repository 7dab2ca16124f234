"""The tree of a single deal of any game."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.jit import announce_compilation
from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.registry import load_game
from kille_training.progress import ignore
from kille_training.solving.grow import Growth
from kille_training.solving.size import MEMORY_LIMIT, check_deal, own_cards, too_large
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.walk import ENDS, NODES


def build_deal(
    num_players: int,
    rules: Rules,
    *,
    memory_limit: int = MEMORY_LIMIT,
    progress: Callable[[int], None] = ignore,
    **grown: Any,
) -> DealStages:
    """Grows the trees of a single deal, with all hands that its choices can have dealt again.

    All hands but the last share a tree: they differ only in counters that the seats see.

    Args:
        num_players: P.
        rules: Its rules; a single deal.
        memory_limit: Bytes that the tree may take.
        progress: Called with the nodes that are done.
        **grown: How it is grown: see `grow_stage`.

    Raises:
        TreeTooLargeError: It would not fit; the message says how large it is, and what would.
        KilleError: No tree can hold the game; the message says why.
    """
    check_deal(num_players, rules, memory_limit)
    grown |= {"memory_limit": memory_limit, "progress": progress}
    stage = grow_stage(num_players, rules, **grown)
    if not stage.again.any():
        return DealStages((stage,))
    last = load_game(rules.game).redeals(rules, num_players)
    if not last:
        raise KilleError(
            "there is no exact tree: the cards of a deal can be dealt again, and the game does not "
            "say how often (`redeals`)"
        )
    earlier = (stage.after(granted) for granted in range(last))
    return DealStages((*earlier, grow_stage(num_players, rules, granted=last, **grown)))


def grow_stage(
    num_players: int,
    rules: Rules,
    *,
    granted: int = 0,
    start: Mapping[str, Any] | None = None,
    cards: Sequence[str] = (),
    shared: Sequence[int] = (),
    outcomes: int = 0,
    nodes: bool = False,
    recall: bool = False,
    memory_limit: int = MEMORY_LIMIT,
    progress: Callable[[int], None] = ignore,
) -> Stage:
    """Grows the tree of one hand of a deal.

    Args:
        num_players: P.
        rules: Its rules.
        granted: How often the cards of the deal were dealt again before.
        start: Fields of the table at which it is dealt that are different there.
        cards: Codes of the cards that can be dealt and drawn, for checks; none are the whole pack.
        shared: Seats that share all they know and earn: they are the last player of the tree, and
            the other seats are the players before, in order.
        outcomes: How many of the game's outcomes of a hand are told apart; see `Stage.outcomes`.
        nodes: Whether the tree has its nodes (`FlatTree`), to be exported or walked in.
        recall: Whether seats know which of their cards they were dealt and which they drew, as a
            tree with nodes has it: for players that read more than the observation.
        memory_limit: Bytes that the tree may take.
        progress: Called with the nodes that are done.

    Raises:
        KilleError: As `build_deal`.
        CardError: The cards are no part of a pack, or are not different ones.
        RulesError: A number is out of its range.
    """
    game = load_game(rules.game)
    granted = arguments.whole("granted", granted, 0, game.redeals(rules, num_players))
    together = {arguments.whole("shared", seat, 0, num_players - 1) for seat in shared}
    alone = [seat for seat in range(num_players) if seat not in together]
    owner = [alone.index(s) if s in alone else len(alone) for s in range(num_players)]
    tables = game.dealt_again(_starts(num_players, rules, cards), granted)
    for name, value in (start or {}).items():
        tables[name] = value
    end = len(game.spec.left_out(rules)) + len(cards) if cards else game.spec.pack.size
    forgets = own_cards(rules, num_players)[: 0 if nodes or recall else None]
    growth = Growth(
        game, rules, tables, end,
        owner=owner, outcomes=outcomes, nodes=nodes, forgets=forgets,
    )  # fmt: skip
    with announce_compilation(f"{rules.game} for solving"):
        while not growth.done:
            before = int(growth.size[NODES])
            taken = growth.walk()
            if taken > memory_limit:
                ends = f"more than {growth.size[ENDS]:,} ends"
                raise too_large(rules.game, num_players, ends, taken, memory_limit)
            progress(int(growth.size[NODES]) - before)
    tree, known = growth.finished(not game.spec.zero_sum)
    known |= {"granted": granted, "forgets": len(forgets) > 0}
    return Stage(rules=rules, num_players=num_players, tree=tree, **known)


def _starts(num_players: int, rules: Rules, cards: Sequence[str]) -> np.ndarray:
    """Returns the tables [K] at which a deal can begin, all equally likely; the last seat deals."""
    game, tables = load_game(rules.game), []
    for start in game.chances(rules, num_players):
        batch = Batch(game, 1, num_players, rules, seed=0, restart=False)
        batch.reset(dealer=num_players - 1, start=start, deal=False)
        table = np.array(batch.tables)
        table["deck"], _ = game.spec.stack(cards, rules)
        table["stacked"] = len(game.spec.left_out(rules))
        tables.append(table)
    return np.concatenate(tables)
