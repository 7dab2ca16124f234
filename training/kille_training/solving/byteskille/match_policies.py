"""Strategies of matches as policies, and policies as strategies of matches."""

import numpy as np

from kille_agents.tabular import TabularMatchPolicy, TabularMetadata
from kille_agents.tabular.matches import hand_columns, standing_columns
from kille_env.core.spec import width
from kille_env.errors import KilleError
from kille_env.games.byteskille.table import Action
from kille_env.policy import Policy, check_probabilities
from kille_env.registry import load_game, spec
from kille_training.solving.byteskille.matches import Match, MatchStrategy, State
from kille_training.solving.byteskille.policies import BATCH
from kille_training.solving.trees.values import infoset_reach

KEPT = (  # what a table knows of the match while a hand is played
    "pot",
    "declined",
    "first_buyers",
    "prepaid",
    "first_done",
    "second_done",
    "entries",
    "redeals",
    "deals",
)


def match_strategy_of(policy: Policy, match: Match) -> MatchStrategy:
    """Returns what a policy does in all seats of a match.

    Where the cap on hands is left out, the policy sees the counters of the first hand.

    Args:
        policy: The policy.
        match: The match. For merged states the policy is asked about one of their tables; a policy
            that depends on differences which do not matter needs a match that was not `merged`.

    Raises:
        PolicyError: It returns what is not a distribution over the legal actions.
    """
    hands, buys = [], []
    for state in match.states:
        hand = match.hands[state.hand]
        masks = hand.stage.masks
        asked = _ask(policy, _seen(match, state, state.tables[:1]), masks)
        chosen = asked[masks != 0]
        sizes = np.diff(hand.stage.tree.first)
        hands.append(chosen / np.repeat(asked.sum(axis=1), sizes))
        buys.append(np.zeros(len(state.after.buyer)))
        nodes = state.after.decisions
        if len(nodes):
            asked = _ask(policy, *_looks(match, state.after.tables[0], state.after.buyer[nodes]))
            buys[-1][nodes] = asked[:, Action.BUY]
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
    match.check(strategy)
    game = spec(match.rules.game)
    metadata = TabularMetadata(
        game.name, game.version, match.num_players, match.rules.as_dict(), made
    )
    # Hands that are thrown in are not counted in the states, but they are in what is observed.
    counts = match.capped and not any(hand.stage.thrown_in for hand in match.hands)
    seen_columns, standing = hand_columns(metadata), standing_columns(metadata, counts)
    rows, masks, hands, numbers = [], [], [], []
    for number, hand in enumerate(match.hands):
        state = next(state for state in match.states if state.hand == number)
        seen = _seen(match, state, state.tables[:1])[:, seen_columns]
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
        for row in _standings(match, state)[:, standing]:
            _note(standings, row, number)
        nodes = state.after.decisions
        for tables in state.after.tables:
            seen, _ = _looks(match, tables, state.after.buyer[nodes])
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


def _seen(match: Match, state: State, dealt: np.ndarray) -> np.ndarray:
    """Returns the observations of the information sets of a state's hand, [I, F]."""
    stage = match.hands[state.hand].stage
    tables = stage.grown.copy()
    for name in KEPT:
        tables[name] = dealt[name]
    return _observe(match, tables, stage.tree.player)


def _standings(match: Match, state: State) -> np.ndarray:
    """Returns the observations of the seats in the hand at each table of a state, [., F]."""
    seats = match.hands[state.hand].seats
    tables = np.repeat(state.tables, len(seats))
    return _observe(match, tables, np.tile(seats, len(state.tables)))


def _looks(match: Match, tables: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the observations and masks of seats at tables where they are to act."""
    masks = np.zeros((len(tables), len(spec(match.rules.game).actions)), dtype=np.int8)
    seats = seats.astype(np.int64)
    load_game("byteskille").mask(tables, match.rules.record, seats, masks)
    return _observe(match, tables, seats), masks


def _observe(match: Match, tables: np.ndarray, seats: np.ndarray) -> np.ndarray:
    game = load_game("byteskille")
    out = np.zeros((len(tables), width(game.spec.observation(match.num_players))), dtype=np.uint8)
    game.observe(tables, match.rules.record, np.asarray(seats, dtype=np.int64), out)
    return out


def _ask(policy: Policy, seen: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Returns what a policy does, [N, A]."""
    asked = np.zeros(masks.shape)
    for begin in range(0, len(seen), BATCH):
        part = slice(begin, begin + BATCH)
        asked[part] = policy.probabilities(seen[part], masks[part])
        check_probabilities(policy.name, asked[part], masks[part])
    return asked
