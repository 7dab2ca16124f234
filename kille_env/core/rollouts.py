"""Determinizations weighed and played on by policies that are kernels themselves.

A search plays millions of decisions that nobody will see. Asked through Python, a policy gets an
array of all observations, and every table is shown after every action; here a table is played to
its end before the next one is looked at, and only what a choice needs is written down.
`Decisions.weigh` and `Rollouts` give what the policies would give through Python, to the bit.
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
from kille_env.errors import IllegalActionError, RulesError, illegal_choice, shortened

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
    if table["phase"] <= OVER or action >= mask.shape[0] or mask[action] == 0:
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


def check_tables(tables: np.ndarray, batch: Batch) -> None:
    """Refuse tables that are not records like those of a batch.

    Raises:
        RulesError: They are others.
    """
    seats, like = batch.num_players, batch.tables.dtype
    fits = tables.dtype == like and tables.ndim == 1 and tables.flags.c_contiguous
    if not fits or (tables["num_players"] != seats).any():
        raise RulesError(
            f"tables are contiguous records of {batch.spec.name} with {seats} seats, as in "
            f"Batch.tables, got {shortened(tables)}"
        )


class Rollouts:
    """Determinizations that are played on by compiled policies.

    Attributes:
        deals: Deals to be played, the present one included; None plays matches to the end.
    """

    def __init__(
        self,
        batch: Batch,
        choose: Kernel,
        numbers: np.ndarray,
        deals: int | None,
        names: tuple[str, str] = ("base", "opponents"),
    ) -> None:
        """Seats the policies.

        Args:
            batch: Tables of the game, with the rules.
            choose: The kernel of both policies.
            numbers: [2, K] int64, what it reads: in the searcher's seat, and in all others.
            deals: See above.
            names: What errors call the two policies.

        Raises:
            RulesError: No such numbers or deals.
        """
        self.deals = None if deals is None else arguments.whole("deals", deals, 1)
        self._batch, self._names = batch, names
        self._roll_out, _ = _loops(batch.game, choose)
        self._rules = np.array(batch.rules.record)
        self._numbers = arguments.numbers("numbers", numbers, np.int64, (2, None))
        self._features, self._actions = batch.observation.shape[1], batch.mask.shape[1]
        self._seats = batch.num_players

    def earnings(
        self, tables: np.ndarray, origins: np.ndarray, actions: np.ndarray, searchers: np.ndarray
    ) -> np.ndarray:
        """Plays copies of tables to the end, each from an action on.

        Args:
            tables: [N] tables.
            origins: [n] which of them is copied.
            actions: [n] int64, the first actions.
            searchers: [n] int64, the seats of the base.

        Returns:
            [n, P] what each seat earns from there.

        Raises:
            IllegalActionError: An action is not legal at its table.
            PolicyError: A policy's kernel has chosen an illegal action.
            RulesError: The arrays do not fit the tables of the batch.
        """
        origins = arguments.rows(origins, len(tables))
        actions = arguments.actions(actions, len(origins))
        if len(actions) and actions.min() < 0:
            raise IllegalActionError(f"actions are from 0, got {shortened(actions)}")
        check_tables(tables, self._batch)
        searchers = arguments.numbers("searchers", searchers, np.int64, actions.shape)
        work, fault = np.zeros(1, dtype=tables.dtype), np.zeros(2, dtype=np.int64)
        observation = np.zeros(self._features, dtype=np.uint8)
        mask = np.zeros(self._actions, dtype=np.int8)
        earned = np.zeros((len(actions), self._seats))
        view = as_words(tables)
        view.flags.writeable = False
        illegal = self._roll_out(
            view, origins, work, as_words(work), self._rules, actions, searchers, self.deals or 0,
            self._numbers, observation, mask, earned, fault,
        )  # fmt: skip
        if illegal >= 0:
            action, who = fault.tolist()
            legal = np.flatnonzero(mask).tolist()
            if who < 0:
                raise IllegalActionError(
                    f"action {action} of entry {illegal} is not legal; expected one of {legal}"
                )
            raise illegal_choice(self._names[who], action, legal)
        return earned


def agreement(
    batch: Batch,
    decisions: tuple[np.ndarray, np.ndarray, np.ndarray],
    earlier: tuple[np.ndarray, np.ndarray, np.ndarray],
    number: int,
    choose: Kernel,
    numbers: np.ndarray,
    name: str = "opponents",
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
        RulesError: The arrays do not fit the tables of the batch.
    """
    rows = arguments.rows(decisions[0], batch.num_tables)
    seats = arguments.seats(decisions[1], batch.num_players, len(rows)).astype(np.int64)
    own = arguments.numbers("keys", decisions[2], np.uint64, rows.shape)
    numbers = arguments.numbers("numbers", numbers, np.int64, (None,))
    number = arguments.whole("number", number, 1)
    with np.errstate(over="ignore"):
        keys = own[:, None] + np.arange(1, number + 1, dtype=np.uint64) * GOLDEN
    which, then, actions = earlier
    which = arguments.rows(which, len(rows))
    actions = arguments.actions(actions, len(which))
    if len(actions):
        arguments.action(int(actions.min()), batch.spec)
        arguments.action(int(actions.max()), batch.spec)
    check_tables(then, batch)
    agrees = np.zeros((len(which), number), dtype=np.bool_)
    legal = np.zeros((len(which), number), dtype=np.int64)
    scratch, fault = np.zeros(2, dtype=batch.tables.dtype), np.zeros(2, dtype=np.int64)
    mask = np.zeros(batch.mask.shape[1], np.int8)
    _, weigh = _loops(batch.game, choose)
    views = as_words(batch.tables), as_words(then)
    for view in views:
        view.flags.writeable = False
    illegal = weigh(
        views[0], rows, seats, keys, number, which.searchsorted(np.arange(len(rows) + 1)),
        views[1], actions, scratch, as_words(scratch), np.array(batch.rules.record),
        np.zeros((3, batch.spec.pack.size), dtype=np.int8), numbers,
        np.zeros(batch.observation.shape[1], np.uint8), mask, agrees, legal, fault,
    )  # fmt: skip
    if illegal:
        raise illegal_choice(name, int(fault[0]), np.flatnonzero(mask).tolist())
    return agrees, legal
