"""What a game must offer, and the loops over many tables that every game gets for it.

A game is a module (or package) with a `SPEC` and the functions of `GameModule`. A table is one
record: the fields that every game has (`table_dtype` adds them) and the game's own.
"""

import importlib
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from kille_env.core import rng
from kille_env.core.jit import bind, kernel, package_root
from kille_env.core.spec import GameSpec, Rules
from kille_env.errors import RulesError, shortened

DEAL, OVER = 0, 1
"""The first two phases of every game: cards are to be dealt (a chance node), the match is over."""


class GameModule(Protocol):
    """The functions of a game, in the order in which its files define them.

    `table` is a record of `SPEC.table`, `rules` one of `SPEC.rules_dtype`; `out` arrays are filled
    completely. All but `result` and `describe` are kernels.

    A game may offer more, in Python, and does better with it:

        RESULT_KEYS: The keys of `result`, by which records are checked.
        MEANINGS: What the first word of each action's text means, for a person who plays.
        NOTES: What a person who plays has to know besides, a few paragraphs.
        narrate(before, after, rules, names, seat): Tells a step in words.
        retired(table, rules): The seats that can neither act nor earn any more in this match.
        action_text(table, action): The text of an action of the seat to act, where it depends on
            his hand ("discard L3 L5"); else the text in `SPEC.actions` is used.
        knows_action(text): Whether a text can be an action's, where there is an `action_text`.
        set_up(table, rules, start): Puts a match that has just begun where it is told to start,
            or raises `RulesError` and changes nothing.
        chance(table, rules): What chance has decided in a match besides cards, by name, as the
            record of the match has it; `set_up` takes the same names.
        SECRET_PHASES: Phases in which a seat decides that, and what, nobody else can see.
        SECRET_ACTIONS: Actions that all see being made, but whose card only he who makes them sees.
    """

    SPEC: GameSpec

    def begin(self, table: Any, rules: Any, dealer: int) -> None:
        """Sets a new match up to where the first cards are to be dealt; dealer -1 is random."""

    def deal(self, table: Any, rules: Any) -> None:
        """Deals one hand: to a decision, to the next deal or to the end of the match."""

    def legal_actions(self, table: Any, rules: Any, seat: int, out: np.ndarray) -> None:
        """Writes 1 for each action that `seat` may take, as far as it knows, else 0; int8 [A]."""

    def apply(self, table: Any, rules: Any, action: int) -> None:
        """Plays a legal action of the seat to act."""

    def observe(self, table: Any, rules: Any, seat: int, out: np.ndarray) -> None:
        """Writes the compact observation of a seat, uint8 [F]."""

    def information_state(self, table: Any, rules: Any, seat: int, out: np.ndarray) -> None:
        """Writes what a seat knows with perfect recall of the deal, uint8 [F]."""

    def full_state(self, table: Any, rules: Any, seat: int, out: np.ndarray) -> None:
        """Writes everything, seen from a seat: for critics, never for a player; uint8 [F]."""

    def resample(self, table: Any, rules: Any, seat: int, cards: np.ndarray) -> None:
        """Draws a world that `seat` cannot tell from this one, each such world equally likely.

        Writes into `cards`, int8 [pack], the card that lies there where card c lies here; a
        permutation, and c on entry. Random numbers come from the table's generator. The cards
        stay where they are (`relabel` is called next); what is secret besides them (who is asked)
        is settled in the table. Never called between hands.
        """

    def relabel(self, table: Any, rules: Any, cards: np.ndarray) -> None:
        """Puts `cards[c]` everywhere in the table where card c is."""

    def result(self, table: np.record, rules: Rules) -> dict[str, Any]:
        """Returns the record notation's result of the hand that has just ended."""
        ...

    def describe(self, table: np.record, rules: Rules, seat: int | None) -> str:
        """Returns the table in words as a seat sees it, or with every card (None)."""
        ...


def table_dtype(
    max_players: int, pack_size: int, fields: Sequence[tuple[Any, ...]], redrawn: int = 0
) -> np.dtype:
    """Returns the record dtype of a table: what every game has, then the game's own fields.

    Args:
        max_players: Most seats.
        pack_size: Cards in the pack.
        fields: The game's own fields.
        redrawn: How many cards at most can be drawn once more in a deal, after a reshuffle.

    Common fields:
        seed, match_key, rng: the generator's words (see `core.rng`)
        reward: [P] money that has moved since the last step, paid out by it
        matches: number of this match on this table, from 1
        deals: hands dealt in this match
        phase, seat: the phase and the seat to act, -1 if none
        num_players, dealer, truncated
        drawn, stacked, deck: cards drawn, how many of the first were given, the pack
        again, again_end: only with `redrawn`: the cards that were shuffled in again, and how many
    """
    common = [
        ("seed", np.uint64),
        ("match_key", np.uint64),
        ("rng", np.uint64),
        ("reward", np.float64, (max_players,)),
        ("matches", np.int32),
        ("deals", np.int32),
        ("phase", np.int8),
        ("seat", np.int8),
        ("num_players", np.int8),
        ("dealer", np.int8),
        ("truncated", np.int8),
        ("drawn", np.int8),
        ("stacked", np.int8),
        ("deck", np.int8, (pack_size,)),
    ]
    if redrawn:
        common += [("again", np.int8, (redrawn,)), ("again_end", np.int8)]
    return np.dtype((np.record, np.dtype([*common, *fields], align=True)))


@kernel
def new_match(table, dealer):
    """Moves a table to its next match: number, key, dealer (-1: drawn)."""
    table["matches"] += 1
    table["match_key"] = rng.derive(table["seed"], table["matches"])
    table["rng"] = table["match_key"]
    table["dealer"] = dealer if dealer >= 0 else rng.below(table, np.int64(table["num_players"]))
    table["deals"] = 0
    table["truncated"] = 0
    table["seat"] = -1
    table["phase"] = DEAL
    table["reward"][:] = 0.0


@kernel
def new_deal(table):
    """Counts a deal and moves the generator to its own stream."""
    table["deals"] += 1
    table["rng"] = rng.derive(table["match_key"], table["deals"])


# The loops. `begin`, `deal`, `apply`, `observe`, ... are the game's; `bind` puts them in.
# pyright: reportUndefinedVariable=false


def seed_tables(tables, seeds, streams, which, num_players):
    """Gives the chosen tables their generators: stream number `streams[i]` of seed `seeds[i]`."""
    for i in range(tables.shape[0]):
        if which[i]:
            tables[i]["seed"] = rng.derive(seeds[i], streams[i])
            tables[i]["matches"] = 0
            tables[i]["num_players"] = num_players


def begin_tables(tables, rules, dealers, which):
    """Begins a new match at the chosen tables."""
    for i in range(tables.shape[0]):
        if which[i]:
            begin(tables[i], rules[0], np.int64(dealers[i]))
            tables[i]["stacked"] = 0


def deal_tables(tables, rules, which, once):
    """Deals at the chosen tables until somebody has to decide, or it is over (or one hand)."""
    for i in range(tables.shape[0]):
        if which[i]:
            _deal(tables[i], rules[0], once)


def _deal(table, rules, once):
    while table["phase"] == DEAL:
        deal(table, rules)
        if table["phase"] <= OVER:
            table["stacked"] = 0  # a stacked pack serves one hand
        if once:
            break


def show_tables(tables, rules, which, seats, observations, masks, rewards, terminated, truncated):
    """Writes what the outside sees of the chosen tables as they stand."""
    for i in range(tables.shape[0]):
        if which[i]:
            rewards[i, :] = 0.0
            terminated[i] = tables[i]["phase"] == OVER and not tables[i]["truncated"]
            truncated[i] = tables[i]["phase"] == OVER and tables[i]["truncated"]
            _show(tables[i], rules[0], i, seats, observations, masks)


def _show(table, rules, i, seats, observations, masks):
    seat = np.int64(table["seat"])
    seats[i] = seat
    if seat >= 0:
        observe(table, rules, seat, observations[i])
        legal_actions(table, rules, seat, masks[i])
    else:
        observations[i, :] = 0
        masks[i, :] = 0


@kernel
def first_illegal(seats, masks, actions, which):
    """Returns the first chosen table whose action is illegal, or -1; one that is over takes any."""
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
    """Plays an action at the chosen tables, shows the next decision; finished ones start again.

    Nothing is played if an action is illegal. A table that is not chosen stands still, earning 0.
    With `restart` off a finished table waits. The antes of a new match are paid out by its first
    step, so that the last step's rewards stay the old match's. A match that ends before anybody has
    to decide (two players, and a gok is dealt) passes unseen with `restart`; without, the next step
    pays out what it decided.

    Returns:
        The first table with an illegal action, or -1.
    """
    illegal = first_illegal(seats, masks, actions, which)
    if illegal >= 0:
        return illegal
    num_players = rewards.shape[1]
    for i in range(tables.shape[0]):
        if not which[i]:
            rewards[i, :] = 0.0
            continue
        table = tables[i]
        waits = table["seat"] < 0
        if not waits:
            apply(table, rules[0], actions[i])
            if table["phase"] <= OVER:
                table["stacked"] = 0
                _deal(table, rules[0], False)
        for seat in range(num_players):
            rewards[i, seat] = table["reward"][seat]
            table["reward"][seat] = 0.0
        if waits:
            continue
        over = table["phase"] == OVER
        terminated[i] = over and not table["truncated"]
        truncated[i] = over and table["truncated"]
        while restart and table["phase"] == OVER:
            begin(table, rules[0], -1)
            table["stacked"] = 0
            _deal(table, rules[0], False)
        _show(table, rules[0], i, seats, observations, masks)
    return -1


def apply_tables(tables, rules, actions, which):
    """Plays one action at the chosen tables that wait for one, and deals nothing."""
    for i in range(tables.shape[0]):
        if which[i] and tables[i]["seat"] >= 0:
            apply(tables[i], rules[0], actions[i])
            if tables[i]["phase"] <= OVER:
                tables[i]["stacked"] = 0


def observe_tables(tables, rules, seats, out):
    """Writes the observation of one seat of each table."""
    for i in range(tables.shape[0]):
        observe(tables[i], rules[0], np.int64(seats[i]), out[i])


def mask_tables(tables, rules, seats, out):
    """Writes the action mask of one seat of each table."""
    for i in range(tables.shape[0]):
        legal_actions(tables[i], rules[0], np.int64(seats[i]), out[i])


def information_state_tables(tables, rules, seats, out):
    """Writes the information state of one seat of each table."""
    for i in range(tables.shape[0]):
        information_state(tables[i], rules[0], np.int64(seats[i]), out[i])


def full_state_tables(tables, rules, seats, out):
    """Writes the full-information state of each table, seen from a seat."""
    for i in range(tables.shape[0]):
        full_state(tables[i], rules[0], np.int64(seats[i]), out[i])


def resample_tables(tables, rules, seats, keys, cards):
    """Puts a world that the seat cannot tell from it in the place of each table.

    The generator begins anew from the key, and a stacked pack is forgotten, so what is to come is
    as random as what is hidden.
    """
    for i in range(tables.shape[0]):
        table = tables[i]
        table["seed"] = keys[i]
        table["match_key"] = rng.derive(keys[i], 0)
        table["rng"] = table["match_key"]
        table["stacked"] = 0
        for card in range(cards.shape[1]):
            cards[i, card] = card
        if table["phase"] > OVER:
            resample(table, rules[0], np.int64(seats[i]), cards[i])
            relabel(table, rules[0], cards[i])


def relabel_tables(tables, rules, cards):
    """Puts `cards[i, c]` everywhere in table i where card c is."""
    for i in range(tables.shape[0]):
        if tables[i]["phase"] > OVER:
            relabel(tables[i], rules[0], cards[i])


class Game:
    """A game's module together with its compiled loops."""

    def __init__(self, module: ModuleType) -> None:
        """Takes the module apart; nothing is compiled before it is called."""
        self.module = module
        self.spec: GameSpec = module.SPEC
        functions = {
            name: getattr(module, name)
            for name in (
                "begin",
                "deal",
                "legal_actions",
                "apply",
                "observe",
                "information_state",
                "full_state",
                "resample",
                "relabel",
            )
        }
        name = self.spec.name
        functions["_deal"] = bind(_deal, name, functions)
        functions["_show"] = bind(_show, name, functions)
        self.seed = kernel_seed
        self.begin = bind(begin_tables, name, functions)
        self.deal = bind(deal_tables, name, functions)
        self.show = bind(show_tables, name, functions)
        self.step: Any = bind(step_tables, name, functions)
        self.apply = bind(apply_tables, name, functions)
        self.observe = bind(observe_tables, name, functions)
        self.mask = bind(mask_tables, name, functions)
        self.information_state = bind(information_state_tables, name, functions)
        self.full_state = bind(full_state_tables, name, functions)
        self.resample = bind(resample_tables, name, functions)
        self.relabel = bind(relabel_tables, name, functions)

    def action_text(self, table: np.record, action: int) -> str:
        """Returns the text of an action of the seat to act; its general one if nobody is."""
        tell = getattr(self.module, "action_text", None)
        return tell(table, action) if tell and table["seat"] >= 0 else self.spec.actions[action]

    def knows_action(self, text: Any) -> bool:
        """Returns whether a text can be an action's."""
        knows = getattr(self.module, "knows_action", None)
        return knows(text) if knows else text in self.spec.actions

    def set_up(self, table: np.record, rules: Rules, start: Mapping[str, Any]) -> None:
        """Puts a match that has just begun where it is told to start.

        Raises:
            RulesError: It cannot start like that; nothing has changed.
        """
        prepare = getattr(self.module, "set_up", None)
        if prepare:
            prepare(table, rules, start)
        elif start:
            raise RulesError(
                f"start is {shortened(start)}; {self.spec.name} has one beginning, expected {{}}"
            )

    def chance(self, table: np.record, rules: Rules) -> dict[str, Any]:
        """Returns what chance has decided in a match besides cards, by name."""
        tell = getattr(self.module, "chance", None)
        return tell(table, rules) if tell else {}

    @cached_property
    def root(self) -> Path:
        """Folder or file whose sources decide about the kernel cache."""
        return package_root(self.module.begin)


kernel_seed = kernel(seed_tables)


@cache
def game_of(module: str) -> Game:
    """Returns the game of a module by its name; the same one each time, so it is compiled once."""
    return Game(importlib.import_module(module))
