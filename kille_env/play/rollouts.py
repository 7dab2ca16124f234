"""Weigh and play determinizations with the kernels of policies.

A search plays millions of decisions whose observations it never reads. Through Python a policy gets
all observations of a step at once, and every table is shown after every action; here each table is
played to its end before the next, and only the inputs of a choice are written. `Decisions.weigh`
and `earnings` return the same as the policies asked through Python, to the bit.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.game import Game
from kille_env.core.jit import bind, index, kernel, loop
from kille_env.core.loops import rules_of
from kille_env.core.rng import GOLDEN, derive
from kille_env.core.spec import Rules
from kille_env.core.table import DEAL, OVER
from kille_env.errors import IllegalActionError, PolicyError, illegal_choice
from kille_env.play.kernels import PolicyKernel, bound_later, share_a_kernel
from kille_env.play.policy import Policy, at_table, deterministic_kernel, name_of

ILLEGAL_CHOICE = -2
"""Stands for a number of actions where the policy's is not legal."""


KERNELS = ("deal", "legal_actions", "apply", "observe", "resample", "relabel")
deal = legal_actions = apply = observe = resample = relabel = choose = bound_later


@kernel
def _copy(source, row, out, into):
    """Copy a table between two arrays of words."""
    one, other = out[into], source[row]
    for word in range(one.shape[0]):
        one[index(word)] = other[index(word)]


@kernel
def _only_action(mask):
    """Return the only legal action, or -1 if there are more."""
    only = -1
    for action in range(mask.shape[0]):
        if mask[action]:
            if only >= 0:
                return -1
            only = action
    return only


def play_to_end(table, rules, action, searcher, deals, numbers, observation, mask, earned, fault):
    """Play a table to its end from an action, fill in `earned`, and return whether all was legal.

    An illegal action is written to `fault` with its origin: 0 the base, 1 the others, -1 the
    caller.
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
        # Where one action is legal no policy is asked, and no observation written for it.
        action = _only_action(mask)
        if action < 0:
            observe(table, rules, seat, observation)
            other = np.int64(seat != searcher)
            # The kernel is deterministic: the random number changes nothing.
            action = np.int64(choose(observation, mask, numbers[other], 0.0))
            if not 0 <= action < mask.shape[0] or mask[action] == 0:
                fault[0], fault[1] = action, other
                return False
    for seat in range(earned.shape[0]):
        earned[seat] = table["reward"][seat]
    return True


def roll_out(
    source, origins, tables, raw, rules, actions, searchers, deals, numbers, observation, mask,
    earned, fault,
):  # fmt: skip
    """Play copies of tables of `source` by `play_to_end`; return the first illegal entry, or -1.

    `origins` [n] are the tables to copy; `raw` holds the words of `tables`, one to work with.
    """
    for i in range(actions.shape[0]):
        _copy(source, origins[i], raw, 0)
        if not play_to_end(
            tables[0], rules_of(tables[0], rules), actions[i], searchers[i], deals, numbers,
            observation, mask, earned[i], fault,
        ):  # fmt: skip
            return i
    return -1


def determinize(table, rules, seat, key, cards):
    """Replace a table by a determinization, but for the new places of its cards: `cards`."""
    for card in range(cards.shape[0]):
        cards[card] = card
    table["seed"], table["stacked"] = key, 0
    table["match_key"] = table["rng"] = derive(key, 0)
    resample(table, rules, seat, cards)


def agrees_with(table, rules, action, numbers, observation, mask, fault):
    """Return whether the policy chooses an action, and the number of legal ones.

    An illegal choice is written to `fault`, and the number is `ILLEGAL_CHOICE`.
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
        return False, np.int64(ILLEGAL_CHOICE)
    return chosen == action, possible


def weigh(
    source, rows, seats, keys, number, first, then, actions, tables, raw, rules, cards,
    numbers, observation, mask, agrees, legal, fault,
):  # fmt: skip
    """Fill in which actions of other seats agree with the policy; return whether one was illegal.

    `source` [N] are tables as words; `rows`, `seats` [M] decisions with `keys` [M, number] of their
    determinizations. Earlier decisions are `then` [X], tables as words, and `actions`; those of
    decision m lie from `first[m]` to `first[m + 1]`. `agrees` and `legal` [X, number] are filled;
    `tables` [2], `raw`, `cards` [3, pack], `observation` and `mask` are room to work in, and
    `fault` gets an illegal choice.
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
            own = rules_of(tables[0], rules)
            determinize(tables[0], own, np.int64(seats[m]), keys[m, k], cards[0])
            for x in range(first_step, end):
                itself = x < begin
                if not itself:
                    _copy(then, x, raw, 1)
                table = tables[0 if itself else 1]
                early = not itself and table["drawn"] < drawn
                relabel(table, own, cards[2 if early else 0])
                if itself:
                    for place in range(cards.shape[1]):
                        cards[2, index(cards[1, place])] = table["deck"][place]
                else:
                    agrees[x, k], legal[x, k] = agrees_with(
                        table, own, actions[x], numbers, observation, mask, fault
                    )
                    if legal[x, k] == ILLEGAL_CHOICE:
                        return True
    return False


@cache
def _loops(game: Game, policy: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Return `roll_out` and `weigh` for a game and the kernel of a policy."""
    functions = {name: getattr(game.module, name) for name in KERNELS} | {"choose": policy}
    parts = (play_to_end, determinize, agrees_with)
    functions |= {part.__name__: bind(part, functions) for part in parts}
    return loop(roll_out, functions), loop(weigh, functions)


def as_words(tables: np.ndarray) -> np.ndarray:
    """Return tables [N] as words of eight bytes, a view [N, size]."""
    return tables.view(np.uint64).reshape(len(tables), tables.dtype.itemsize // 8)


def _kernels_of(batch: Batch, rules: Rules, policies: Sequence[Policy]) -> list[PolicyKernel]:
    """Return the deterministic kernels of policies, checked at the table of a batch."""
    seated = [at_table(policy, batch.spec.name, batch.num_players, rules) for policy in policies]
    # A stochastic policy would need the keys of its decisions, which these loops do not follow.
    kernels = [kernel for each in seated if (kernel := deterministic_kernel(each)) is not None]
    first = kernels[:1]
    if len(kernels) < len(policies) or any(not share_a_kernel(*first, one) for one in kernels):
        raise PolicyError(
            f"{' and '.join(map(name_of, policies))} have no deterministic kernel in common"
        )
    return kernels


def earnings(
    batch: Batch,
    origins: np.ndarray,
    actions: np.ndarray,
    searchers: np.ndarray,
    deals: int | None,
    policies: tuple[Policy, Policy],
) -> np.ndarray:
    """Return the earnings of copies of tables, each played to the end from an action, [n, P]."""
    origins = arguments.rows(origins, batch.num_tables)
    actions = arguments.actions(actions, len(origins))
    searchers = arguments.seats(searchers, batch.num_players, len(origins)).astype(np.int64)
    kernels = _kernels_of(batch, batch.rules, policies)
    numbers = np.stack([one.numbers for one in kernels])
    roll, _ = _loops(batch.game, kernels[0].choose)
    work, fault = np.zeros(1, dtype=batch.tables.dtype), np.zeros(2, dtype=np.int64)
    mask = np.zeros(batch.mask.shape[1], dtype=np.int8)
    earned = np.zeros((len(actions), batch.num_players))
    illegal = roll(
        as_words(batch.tables), origins, work, as_words(work), batch.arrays.rules,
        actions, searchers, deals or 0, numbers, np.zeros_like(batch.arrays.shown.observation[0]),
        mask, earned, fault,
    )  # fmt: skip
    if illegal >= 0:
        action, origin = fault.tolist()
        legal = np.flatnonzero(mask).tolist()
        if origin < 0:
            raise IllegalActionError(
                f"action {action} of entry {illegal} is not legal; expected one of {legal}"
            )
        raise illegal_choice(name_of(policies[origin]), action, legal)
    return earned


def agreement(
    batch: Batch,
    decisions: tuple[np.ndarray, np.ndarray, np.ndarray],
    earlier: tuple[np.ndarray, np.ndarray, np.ndarray],
    number: int,
    policy: Policy,
) -> tuple[np.ndarray, np.ndarray]:
    """Return whether earlier actions of other seats are those of a policy, in determinizations."""
    rows = arguments.rows(decisions[0], batch.num_tables)
    seats = arguments.seats(decisions[1], batch.num_players, len(rows)).astype(np.int64)
    own = arguments.words("keys", decisions[2], len(rows), "decisions")
    (chosen_by,) = _kernels_of(batch, batch.shared_rules(rows), [policy])
    with np.errstate(over="ignore"):
        keys = own[:, None] + np.arange(1, number + 1, dtype=np.uint64) * GOLDEN
    which, then, actions = earlier
    agrees = np.zeros((len(which), number), dtype=np.bool_)
    legal = np.zeros((len(which), number), dtype=np.int64)
    scratch, fault = np.zeros(2, dtype=batch.tables.dtype), np.zeros(2, dtype=np.int64)
    mask = np.zeros(batch.mask.shape[1], np.int8)
    _, weigh = _loops(batch.game, chosen_by.choose)
    illegal = weigh(
        as_words(batch.tables), rows, seats, keys, number,
        which.searchsorted(np.arange(len(rows) + 1)), as_words(then), actions, scratch,
        as_words(scratch), batch.arrays.rules,
        np.zeros((3, batch.spec.pack.size), dtype=np.int8), np.array(chosen_by.numbers),
        np.zeros_like(batch.arrays.shown.observation[0]), mask, agrees, legal, fault,
    )  # fmt: skip
    if illegal:
        raise illegal_choice(name_of(policy), int(fault[0]), np.flatnonzero(mask).tolist())
    return agrees, legal
