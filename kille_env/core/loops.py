"""The loops over many tables that every game gets: `bind` compiles them with the game's functions.

A loop is a template. The names at the top stand for the game's own; `Game` binds the real ones.
`rules` [R] are the rule sets of a batch, and each table says which of them it is played by.
"""

from typing import Any

import numpy as np

from kille_env.core import rng
from kille_env.core.jit import index, kernel
from kille_env.core.machine import prefetch
from kille_env.core.table import DEAL, OVER, draw_rules

MOST_PASSED = 10_000
"""Matches without a decision after which no more are begun."""
AHEAD = 3
"""How many tables ahead a step asks the memory for: a step of three takes longer than it does."""


def bound_later(*_: Any) -> Any:
    """Stand in for a function of the game until `bind` gives the real one; it is never called."""


begin = deal = legal_actions = apply = observe = view = resample = relabel = bound_later
SECRET_ACTIONS = np.zeros(0, dtype=np.bool_)
"""The game's: [A], actions that nobody else learns of (`GameSpec.secret_actions`)."""


@kernel
def rules_of(table, rules):
    """Return the rule set that a table is played by."""
    return rules[index(table["rules"])]


@kernel
def seed_tables(tables, seeds, streams, which, num_players):
    """Give the chosen tables their generators: stream number `streams[i]` of seed `seeds[i]`."""
    for i in range(tables.shape[0]):
        if which[i]:
            tables[i]["seed"] = rng.derive(seeds[i], streams[i])
            tables[i]["matches"] = 0
            tables[i]["num_players"] = num_players


def begin_tables(tables, rules, dealers, which):
    """Begin a new match at the chosen tables."""
    for i in range(tables.shape[0]):
        if which[i]:
            draw_rules(tables[i])
            begin(tables[i], rules_of(tables[i], rules), np.int64(dealers[i]))
            tables[i]["stacked"] = 0


def open_tables(tables, rules, dealers, which, passes):
    """Begin a new match at the chosen tables and deal, see `_open`."""
    for i in range(tables.shape[0]):
        if which[i]:
            _open(tables[i], rules, np.int64(dealers[i]), passes)


def _open(table, rules, dealer, passes):
    """Begin a match and deal, and the next one if cards decide it before any action."""
    # This is the only place that passes over such matches at a table that begins by itself; without
    # `passes` the table is over. After `MOST_PASSED` of them it is left so.
    for _ in range(MOST_PASSED):
        draw_rules(table)
        begin(table, rules_of(table, rules), dealer)
        table["stacked"] = 0
        _deal(table, rules_of(table, rules), False)
        if table["phase"] != OVER or not passes:
            return


def deal_tables(tables, rules, which, once):
    """Deal at the chosen tables until a decision, or the match's end (or one hand)."""
    for i in range(tables.shape[0]):
        if which[i]:
            _deal(tables[i], rules_of(tables[i], rules), once)


def _deal(table, rules, once):
    while table["phase"] == DEAL:
        deal(table, rules)
        if table["phase"] <= OVER:
            table["stacked"] = 0  # a stacked pack serves one hand
        if once:
            break


def show_tables(tables, rules, which, seats, observations, masks, rewards, terminated, truncated):
    """Write the public arrays of the chosen tables."""
    for i in range(tables.shape[0]):
        if which[i]:
            rewards[i, :] = 0.0
            terminated[i] = tables[i]["phase"] == OVER and not tables[i]["truncated"]
            truncated[i] = tables[i]["phase"] == OVER and tables[i]["truncated"]
            _show(tables[i], rules_of(tables[i], rules), i, seats, observations[i], masks[i])


def _show(table, rules, i, seats, observation, mask):
    seat = np.int64(table["seat"])
    seats[i] = seat
    if seat >= 0:
        observe(table, rules, seat, observation)
        legal_actions(table, rules, seat, mask)
    else:
        observation[:] = 0
        mask[:] = 0


@kernel
def first_illegal(seats, masks, actions, which):
    """Return the first chosen table with an illegal action, or -1; any is legal after the end."""
    num_actions = masks.shape[1]
    for i in range(actions.shape[0]):
        action = actions[i]
        asked = which[i] and seats[i] >= 0
        if asked and (action < 0 or action >= num_actions or masks[i, action] == 0):
            return i
    return -1


def step_tables(
    tables,
    rules,
    actions,
    which,
    seats,
    observations,
    masks,
    rewards,
    terminated,
    truncated,
    restart,
):
    """Play an action at the chosen tables, show the next decision, and restart finished matches.

    Nothing is played if an action is illegal. A table that is not chosen stands still, earning 0.
    With `restart` off a finished table waits. A match that ends before anybody has to decide (two
    players, and a gok is dealt) passes unseen with `restart`; without, the next step pays it out.
    """
    # All actions are checked before the first is played, so that an error leaves every table as it
    # was.
    illegal = first_illegal(seats, masks, actions, which)
    if illegal >= 0:
        return illegal
    # The records of many tables do not fit in the cache, and neither do those of many rule sets; a
    # table that is near says which of these it needs.
    last, many = tables.shape[0] - 1, rules.shape[0] > 1
    reach = 2 * AHEAD if many else AHEAD
    for i in range(tables.shape[0]):
        ahead = min(i + reach, last)
        if which[ahead]:
            prefetch(tables, ahead)
        if many:
            prefetch(rules, int(tables[min(i + AHEAD, last)]["rules"]))
        if which[i]:
            _step(
                tables[i], rules, i, actions[i], seats, observations[i], masks[i], rewards[i],
                terminated, truncated, restart,
            )  # fmt: skip
        else:
            rewards[i, :] = 0.0
    return -1


def _step(
    table, rules, i, action, seats, observation, mask, reward, terminated, truncated, restart
):
    """Play a legal action at table i; see `step_tables`. On a GPU a thread runs it."""
    # The table, `observation`, `mask` and `reward` may be copies that lie nearer than the arrays.
    waits = table["seat"] < 0
    # Everybody sees the rewards, so units that move in a secret step are paid with the next public
    # one.
    pays = waits or not SECRET_ACTIONS[action]
    if not waits:
        apply(table, rules_of(table, rules), action)
        if table["phase"] <= OVER:
            pays = True  # that the deal has ended is no secret
            table["stacked"] = 0
            _deal(table, rules_of(table, rules), False)
    for seat in range(reward.shape[0]):
        # The record keeps units until a step shows them.
        reward[seat] = table["reward"][seat] if pays else 0.0
        table["reward"][seat] = 0.0 if pays else table["reward"][seat]
    if waits:
        return
    over = table["phase"] == OVER
    terminated[i] = over and not table["truncated"]
    truncated[i] = over and table["truncated"]
    if restart and over:
        # After the rewards: antes of the new match are paid by its first step, and the rewards
        # that are shown now belong to the old match alone.
        _open(table, rules, -1, True)
    # Asked for again, because a new match may have drawn other rules.
    _show(table, rules_of(table, rules), i, seats, observation, mask)


def apply_tables(tables, rules, actions, which):
    """Play one action at the chosen tables that wait for one, and deal nothing."""
    for i in range(tables.shape[0]):
        if which[i] and tables[i]["seat"] >= 0:
            apply(tables[i], rules_of(tables[i], rules), actions[i])
            if tables[i]["phase"] <= OVER:
                tables[i]["stacked"] = 0


def view_tables(tables, rules, seats, out):
    """Write the features of one seat of each table by `view`, a kernel of the game."""
    for i in range(tables.shape[0]):
        view(tables[i], rules_of(tables[i], rules), np.int64(seats[i]), out[i])


def masks_of_all(tables, rules, out):
    """Write the mask of every seat of one table, [P, A]; return the seats with a 1 in it, bits."""
    able = 0
    for seat in range(out.shape[0]):
        legal_actions(tables[0], rules_of(tables[0], rules), seat, out[seat])
        for action in range(out.shape[1]):
            if out[seat, action]:
                able |= 1 << seat
                break
    return able


def resample_tables(tables, rules, seats, keys, cards):
    """Replace each table by a determinization, which the seat cannot tell from it."""
    for i in range(tables.shape[0]):
        table = tables[i]
        # With its own generator or its stacked pack a copy would draw the cards that will really
        # come: a search would know the future.
        table["seed"] = keys[i]
        table["match_key"] = rng.derive(keys[i], 0)
        table["rng"] = table["match_key"]
        table["stacked"] = 0
        for card in range(cards.shape[1]):
            cards[i, card] = card
        # Between deals and after the end no hidden card matters any more.
        if table["phase"] > OVER:
            resample(table, rules_of(table, rules), np.int64(seats[i]), cards[i])
            relabel(table, rules_of(table, rules), cards[i])


def relabel_tables(tables, rules, cards):
    """Replace card c by `cards[i, c]` everywhere in table i."""
    for i in range(tables.shape[0]):
        if tables[i]["phase"] > OVER:
            relabel(tables[i], rules_of(tables[i], rules), cards[i])
