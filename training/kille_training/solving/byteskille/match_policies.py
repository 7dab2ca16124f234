"""Strategies of matches as policies, and policies as strategies of matches."""

import numpy as np

from kille_agents.metadata import Metadata
from kille_agents.tabular import TabularMatchPolicy
from kille_agents.tabular.matches import hand_columns, standing_columns
from kille_env.errors import KilleError
from kille_env.games.byteskille.rules import Action
from kille_env.policy import Policy
from kille_env.registry import spec
from kille_training.solving.byteskille.match_build import STATE
from kille_training.solving.byteskille.matches import Match, MatchStrategy, State
from kille_training.solving.byteskille.policies import as_strategy, ask
from kille_training.solving.trees.values import infoset_reach

KEPT = [name for name in STATE if name not in ("in_pot", "new_pot", "redeal")]
"""What a table knows of the match while a hand is played."""


def match_strategy_of(policy: Policy, match: Match) -> MatchStrategy:
    """Returns what a policy does in all seats of a match.

    Where the cap on hands is left out, the policy sees the counters of the first hand. For merged
    states it is asked about one of their tables.

    Raises:
        PolicyError: It returns what is not a distribution over the legal actions.
    """
    hands, buys = [], []
    for state in match.states:
        stage = match.hands[state.hand].stage
        answers = ask(policy, _seen(match, state), stage.masks, stage.describe)
        hands.append(as_strategy(answers, stage.masks, stage.tree))
        buys.append(np.zeros(len(state.after.buyer)))
        nodes, tables = state.after.decisions, state.after.tables[0]
        if len(nodes):
            masks = np.zeros((len(nodes), stage.masks.shape[1]), dtype=np.int8)
            masks[:, [Action.DECLINE, Action.BUY]] = 1
            seen = match.observe(tables, state.after.buyer[nodes])
            answers = ask(policy, seen, masks, lambda row: f"buying in, decision {row}.")
            buys[-1][nodes] = answers[:, Action.BUY]
    return MatchStrategy(tuple(hands), tuple(buys))


def match_policy_of(
    strategy: MatchStrategy, match: Match, name: str = "match", **made: object
) -> TabularMatchPolicy:
    """Returns a strategy of a match as a policy that can be saved and played.

    A policy sees the observation, which forgets some of what the information state knows. Where one
    observation stands for several information sets of a hand, the policy plays their mean, weighted
    with how often play by the strategy comes there. NashConv of `match_strategy_of` the policy says
    how much that costs.

    Args:
        strategy: The strategy.
        match: The match.
        name: The policy's name.
        **made: How it was made, for people.

    Raises:
        KilleError: Two states with different strategies have the same observation.
    """
    game = spec(match.rules.game)
    metadata = Metadata(game.name, game.version, match.num_players, match.rules.as_dict(), made)
    # Hands that are thrown in are not counted in the states, but they are in what is observed.
    counts = match.capped and not any(hand.stage.thrown_in for hand in match.hands)
    seen_columns, standing = hand_columns(metadata), standing_columns(metadata, counts)
    rows, masks, hands, numbers = [], [], [], []
    for number, hand in enumerate(match.hands):
        state = next(state for state in match.states if state.hand == number)
        seen = _seen(match, state)[:, seen_columns]
        unique, first, row = np.unique(seen, axis=0, return_index=True, return_inverse=True)
        rows.append(unique)
        masks.append(hand.stage.masks[first])
        hands.append(np.full(len(unique), number, dtype=np.int32))
        numbers.append(row.ravel())

    blocks: dict[bytes, int] = {}
    begins, played, length = [], [], 0
    for state, chosen in zip(match.states, strategy.hands, strict=True):
        hand = match.hands[state.hand]
        weight = infoset_reach(hand.stage.tree, chosen) + np.finfo(np.float64).tiny
        summed = np.zeros(masks[state.hand].shape)
        np.add.at(summed, numbers[state.hand], hand.stage.by_action(chosen) * weight[:, None])
        packed = (summed / summed.sum(axis=1, keepdims=True))[masks[state.hand] != 0]
        key = packed.tobytes()
        if key not in blocks:
            blocks[key] = length
            played.append(packed)
            length += len(packed)
        begins.append(blocks[key])

    standings, buys = {}, {}
    for number, state in enumerate(match.states):
        seats, nodes = match.hands[state.hand].seats, state.after.decisions
        tables = np.repeat(state.tables, len(seats))
        for row in match.observe(tables, np.tile(seats, len(state.tables)))[:, standing]:
            _note(standings, row, number)
        for tables in state.after.tables:
            seen = match.observe(tables, state.after.buyer[nodes])
            for node, row in zip(nodes, seen[:, standing], strict=True):
                _note(buys, row, float(strategy.buys[number][node]))
    arrays = {
        "hand_rows": np.concatenate(rows),
        "masks": np.concatenate(masks),
        "hands": np.concatenate(hands),
        "state_hands": np.array([state.hand for state in match.states], dtype=np.int32),
        "standings": _rows(standings, len(standing)),
        "states": np.array(list(standings.values()), dtype=np.int32),
        "begins": np.array(begins, dtype=np.int64),
        "played": np.concatenate(played),
        "buy_rows": _rows(buys, len(standing)),
        "buys": np.array(list(buys.values()), dtype=np.float64),
    }
    return TabularMatchPolicy(metadata, counts, arrays, name)


def _note(known: dict[bytes, float], row: np.ndarray, what: float) -> None:
    """Notes the meaning of a row."""
    if known.setdefault(row.tobytes(), what) != what:
        raise KilleError(
            "two states of the match with different strategies have the same observation: the "
            "observation lacks something"
        )


def _rows(known: dict[bytes, float], wide: int) -> np.ndarray:
    return np.frombuffer(b"".join(known), dtype=np.uint8).reshape(-1, wide)


def _seen(match: Match, state: State) -> np.ndarray:
    """Returns the observations of the information sets of a state's hand, [I, F]."""
    stage = match.hands[state.hand].stage
    tables = stage.positions.copy()
    for name in KEPT:
        tables[name] = state.tables[name][:1]
    return match.observe(tables, stage.tree.player)
