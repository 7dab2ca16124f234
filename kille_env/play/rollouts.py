"""Determinizations weighed and played on by policies that are kernels themselves.

A search plays millions of decisions that nobody will see. Asked through Python, a policy gets an
array of all observations, and every table is shown after every action; here a table is played to
its end before the next one is looked at, and only what a choice needs is written down.
`Decisions.weigh` and `earnings` give what the policies would give through Python, to the bit.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.game import Game
from kille_env.core.jit import bind, index, kernel, loop
from kille_env.core.rng import GOLDEN, derive
from kille_env.core.table import DEAL, OVER
from kille_env.errors import IllegalActionError, illegal_choice

Kernel = Callable[..., Any]
"""That of a deterministic `kille_env.play.policy.KernelPolicy`."""

ILLEGAL = -2
"""Stands for a number of actions where the policy's is not legal."""


def _the_games(*_: Any) -> Any:
    """Stands for a function of the game, or for the policy; it is never called."""


KERNELS = ("deal", "legal_actions", "apply", "observe", "resample", "relabel")
deal = legal_actions = apply = observe = resample = relabel = choose = _the_games


@kernel
def _copy(source, row, out, into):
    """Copies a table, whose words both arrays hold."""
    one, other = out[into], source[row]
    for word in range(one.shape[0]):
        one[index(word)] = other[index(word)]


@kernel
def _only_action(mask):
    """Returns the legal action if there is but one, else -1."""
    only = -1
    for action in range(mask.shape[0]):
        if mask[action]:
            if only >= 0:
                return -1
            only = action
    return only


def play_on(table, rules, action, searcher, deals, numbers, observation, mask, earned, fault):
    """Plays a table on, from an action of the seat to act; `earned` is what each seat has earned.

    Where an action is not legal, `fault` is that action and who chose it: 0 the base, 1 the others,
    -1 the caller.

    Returns:
        Whether all were legal.
    """
    seat, limit = np.int64(table["seat"]), np.int64(-1)
    if table["phase"] > OVER:
        legal_actions(table, rules, seat, mask)
    if table["phase"] <= OVER or not 0 <= action < mask.shape[0] or mask[action] == 0:
        fault[0], fault[1] = action, -1
        return False
    while True:
        if action >= 0:
            apply(table, rules, action)
            if table["phase"] <= OVER:
                table["stacked"] = 0
        if limit < 0:
            limit = table["deals"] + deals
        action = np.int64(-1)
        if table["phase"] == OVER:
            break
        if table["phase"] == DEAL:
            if deals > 0 and table["deals"] + 1 >= limit:
                break
            deal(table, rules)
            if table["phase"] <= OVER:
                table["stacked"] = 0
            continue
        seat = np.int64(table["seat"])
        legal_actions(table, rules, seat, mask)
        action = _only_action(mask)
        if action < 0:
            observe(table, rules, seat, observation)
            who = np.int64(seat != searcher)
            action = np.int64(choose(observation, mask, numbers[who], 0.0))
            if not 0 <= action < mask.shape[0] or mask[action] == 0:
                fault[0], fault[1] = action, who
                return False
    for seat in range(earned.shape[0]):
        earned[seat] = table["reward"][seat]
    return True


def roll_out(
    source, origins, tables, raw, rules, actions, searchers, deals, numbers, observation, mask,
    earned, fault,
):  # fmt: skip
    """Plays copies of tables of `source` by `play_on`, each in the one of `tables`.

    `origins` [n] says which is copied; `raw` holds the words of `tables`.

    Returns:
        The first entry with an action that is not legal, where it ends; -1 if there is none.
    """
    for i in range(actions.shape[0]):
        _copy(source, origins[i], raw, 0)
        if not play_on(
            tables[0], rules[0], actions[i], searchers[i], deals, numbers, observation, mask,
            earned[i], fault,
        ):  # fmt: skip
            return i
    return -1


def determinize(table, rules, seat, key, cards):
    """Puts a determinization in the place of a table, but for the cards' new places: `cards`."""
    for card in range(cards.shape[0]):
        cards[card] = card
    table["seed"], table["stacked"] = key, 0
    table["match_key"] = table["rng"] = derive(key, 0)
    resample(table, rules, seat, cards)


def agrees_with(table, rules, action, numbers, observation, mask, fault):
    """Returns whether the policy does that, and how many actions it has there.

    Where it chooses what is not legal, that is written to `fault`, and the number is `ILLEGAL`.
    """
    seat = np.int64(table["seat"])
    legal_actions(table, rules, seat, mask)
    possible = 0
    for other in range(mask.shape[0]):
        possible += np.int64(mask[other] != 0)
    if possible == 0 or mask[action] == 0:
        return False, possible
    if possible == 1:
        return True, possible
    observe(table, rules, seat, observation)
    chosen = np.int64(choose(observation, mask, numbers, 0.0))
    if not 0 <= chosen < mask.shape[0] or mask[chosen] == 0:
        fault[0] = chosen
        return False, np.int64(ILLEGAL)
    return chosen == action, possible


def weigh(
    source, rows, seats, keys, number, first, then, actions, tables, raw, rules, cards,
    numbers, observation, mask, agrees, legal, fault,
):  # fmt: skip
    """Says in which determinizations the policy would have done what others have done.

    Args:
        source: [N] the tables, as words.
        rows: [M] decisions.
        seats: [M] who is to act.
        keys: [M, K] uint64, of the determinizations.
        number: K, determinizations each.
        first: [M + 1] where the earlier decisions begin.
        then: [X] tables at the earlier decisions, as words; those of a decision in their order.
        actions: [X] what was done there.
        tables: [2] to work with.
        raw: The same as words.
        rules: The rules.
        cards: [3, pack] to work with: where cards lie, the pack, where they lay.
        numbers: What the policy's kernel reads.
        observation: [F] to work with.
        mask: [A] to work with.
        agrees: [X, K] is filled with whether it would.
        legal: [X, K] is filled with how many actions were legal.
        fault: [2] is filled with an action of the policy that is not legal.

    Returns:
        Whether the policy has chosen one.
    """
    for m in range(rows.shape[0]):
        begin, end = first[m], first[m + 1]
        if begin == end:
            continue
        _copy(source, rows[m], raw, 0)
        _copy(then, begin, raw, 1)
        drawn = tables[0]["drawn"]
        # Where cards have been drawn since, the determinization's own pack says where cards lay
        # before (see `kille_env.play.decisions.cards_then`), so it is put in order first.
        first_step = begin - np.int64(tables[1]["drawn"] < drawn)
        for place in range(cards.shape[1]):
            cards[1, place] = tables[0]["deck"][place]
        for k in range(number):
            _copy(source, rows[m], raw, 0)
            determinize(tables[0], rules[0], np.int64(seats[m]), keys[m, k], cards[0])
            for x in range(first_step, end):
                itself = x < begin
                if not itself:
                    _copy(then, x, raw, 1)
                table = tables[0 if itself else 1]
                early = not itself and table["drawn"] < drawn
                relabel(table, rules[0], cards[2 if early else 0])
                if itself:
                    for place in range(cards.shape[1]):
                        cards[2, index(cards[1, place])] = table["deck"][place]
                else:
                    agrees[x, k], legal[x, k] = agrees_with(
                        table, rules[0], actions[x], numbers, observation, mask, fault
                    )
                    if legal[x, k] == ILLEGAL:
                        return True
    return False


@cache
def _loops(game: Game, policy: Kernel) -> tuple[Callable[..., Any], ...]:
    """Returns `roll_out` and `weigh` of a game and a policy's kernel."""
    functions = {name: getattr(game.module, name) for name in KERNELS} | {"choose": policy}
    parts = (play_on, determinize, agrees_with)
    functions |= {part.__name__: bind(part, functions) for part in parts}
    return loop(roll_out, functions), loop(weigh, functions)


def as_words(tables: np.ndarray) -> np.ndarray:
    """Returns a view of tables, [N], as words of eight bytes, [N, size]; they are aligned."""
    return tables.view(np.uint64).reshape(len(tables), tables.dtype.itemsize // 8)


def earnings(
    batch: Batch,
    origins: np.ndarray,
    actions: np.ndarray,
    searchers: np.ndarray,
    deals: int | None,
    choose: Kernel,
    numbers: np.ndarray,
    names: tuple[str, str],
) -> np.ndarray:
    """Plays copies of tables to the end, each from an action on.

    Args:
        batch: [N] tables.
        origins: [n] which of them is copied.
        actions: [n] int64, the first actions.
        searchers: [n] int64, the seats of the base.
        deals: Deals to be played, the present one included; None plays matches to the end.
        choose: The kernel of both policies.
        numbers: [2, K] int64, what it reads: in the searcher's seat, and in all others.
        names: What errors call the two policies.

    Returns:
        [n, P] what each seat earns from there.

    Raises:
        IllegalActionError: An action is not legal at its table.
        PolicyError: A policy's kernel has chosen an illegal action.
        RulesError: There is no such table, or not an action for each.
    """
    origins = arguments.rows(origins, batch.num_tables)
    actions = arguments.actions(actions, len(origins))
    searchers = arguments.seats(searchers, batch.num_players, len(origins)).astype(np.int64)
    numbers = arguments.numbers("numbers", numbers, np.int64, (2, None))
    roll, _ = _loops(batch.game, choose)
    work, fault = np.zeros(1, dtype=batch.tables.dtype), np.zeros(2, dtype=np.int64)
    mask = np.zeros(batch.mask.shape[1], dtype=np.int8)
    earned = np.zeros((len(actions), batch.num_players))
    illegal = roll(
        as_words(batch.tables), origins, work, as_words(work), np.array(batch.rules.record),
        actions, searchers, deals or 0, numbers, np.zeros(batch.observation.shape[1], np.uint8),
        mask, earned, fault,
    )  # fmt: skip
    if illegal >= 0:
        action, who = fault.tolist()
        legal = np.flatnonzero(mask).tolist()
        if who < 0:
            raise IllegalActionError(
                f"action {action} of entry {illegal} is not legal; expected one of {legal}"
            )
        raise illegal_choice(names[who], action, legal)
    return earned


def agreement(
    batch: Batch,
    decisions: tuple[np.ndarray, np.ndarray, np.ndarray],
    earlier: tuple[np.ndarray, np.ndarray, np.ndarray],
    number: int,
    choose: Kernel,
    numbers: np.ndarray,
    name: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns whether others did earlier what a policy does, in determinizations.

    Args:
        batch: The tables.
        decisions: [M] rows, seats and keys.
        earlier: [X] which of the M, tables then, actions; sorted by which.
        number: K, determinizations of each decision.
        choose: The kernel of who the others are assumed to be.
        numbers: What it reads.
        name: What errors call it.

    Returns:
        [X, K] bool, and [X, K] how many actions were legal; 0 where a table was impossible.

    Raises:
        PolicyError: The policy's kernel has chosen an illegal action.
        RulesError: Rows, seats and keys do not fit the tables.
    """
    rows = arguments.rows(decisions[0], batch.num_tables)
    seats = arguments.seats(decisions[1], batch.num_players, len(rows)).astype(np.int64)
    own = arguments.words("keys", decisions[2], len(rows), "decisions")
    with np.errstate(over="ignore"):
        keys = own[:, None] + np.arange(1, number + 1, dtype=np.uint64) * GOLDEN
    which, then, actions = earlier
    agrees = np.zeros((len(which), number), dtype=np.bool_)
    legal = np.zeros((len(which), number), dtype=np.int64)
    scratch, fault = np.zeros(2, dtype=batch.tables.dtype), np.zeros(2, dtype=np.int64)
    mask = np.zeros(batch.mask.shape[1], np.int8)
    _, weigh = _loops(batch.game, choose)
    illegal = weigh(
        as_words(batch.tables), rows, seats, keys, number,
        which.searchsorted(np.arange(len(rows) + 1)), as_words(then), actions, scratch,
        as_words(scratch), np.array(batch.rules.record),
        np.zeros((3, batch.spec.pack.size), dtype=np.int8), numbers,
        np.zeros(batch.observation.shape[1], np.uint8), mask, agrees, legal, fault,
    )  # fmt: skip
    if illegal:
        raise illegal_choice(name, int(fault[0]), np.flatnonzero(mask).tolist())
    return agrees, legal
