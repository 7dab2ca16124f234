"""Finds all states of a match, by playing every outcome of every hand with the game's own kernels.

`matches` explains what the states are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kille_env.cards.pack import KILLE_CODES
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.core.game import Game
from kille_env.core.jit import announce_compilation, kernel
from kille_env.core.spec import Rules
from kille_env.core.table import DEAL
from kille_env.errors import KilleError
from kille_env.games.byteskille.rules import Action, Phase, Redeal, deal, deal_again, go_out
from kille_env.registry import load_game
from kille_training.solving.byteskille.deals import MEMORY_LIMIT, Stage, build_stage
from kille_training.solving.byteskille.matches import AGAIN, After, Hand, Match, State

STATE_LIMIT = 5000
"""States that a match may have before merging."""

TURNED = ("in_pot", "declined", "first_buyers", "prepaid")
COPIED = ("pot", "first_done", "second_done", "new_pot", "redeal")
STATE = (*TURNED, *COPIED, "entries", "redeals", "deals")
"""Fields that distinguish tables at which a hand is to be dealt; the first are sets of seats."""

ENDLESS = 10**9  # a cap on hands that no match reaches
PLAIN = KILLE_CODES[:15] * 2  # cards that end no hand by themselves, for hands that are not played


@kernel
def end_hands(tables, rules, outs):
    """Deals a hand at each table and ends it at once: with these seats out, or with a new deal.

    What follows depends on nothing else of the cards and the play.
    """
    for number in range(tables.shape[0]):
        table = tables[number]
        deal(table, rules[0])
        table["reward"][:] = 0.0  # the antes were paid on the way to this state
        if outs[number] < 0:
            table["redeals"] += 1
            deal_again(table, rules[0], Redeal.QUESTION)
        else:
            go_out(table, rules[0], np.uint32(outs[number]))


def build_match(
    num_players: int,
    rules: Rules | str | Mapping[str, Any] | None = None,
    *,
    cards: Sequence[str] | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> Match:
    """Finds all states of a match and grows the trees of their hands.

    Args:
        num_players: P.
        rules: A preset, switches or resolved rules; the episode is always a match of one pot.
        cards: See `build_stage`.
        memory_limit: The most bytes that the tree of one hand may take.

    Raises:
        RulesError: Impossible rules or number of players.
        KilleError: A match of several pots; more than `STATE_LIMIT` states; or a tree that would
            not fit into `memory_limit`.
    """
    game = load_game("byteskille")
    resolved = game.spec.resolve(rules)
    if resolved["episode"] != "match":
        resolved = game.spec.resolve({**resolved.as_dict(), "episode": "match"})
    if resolved.number("pots") != 1:
        raise KilleError(
            f"pots is {resolved['pots']}; a match is solved for one pot, because only the dealer "
            "carries over to the next: set pots to 1"
        )
    explorer = _Explorer(game, num_players, resolved, cards, memory_limit)
    explorer.explore()
    return explorer.finish()


class _Explorer:
    """Plays every hand to every end, from every table at which a hand is dealt."""

    def __init__(
        self,
        game: Game,
        num_players: int,
        rules: Rules,
        cards: Sequence[str] | None,
        memory_limit: int,
    ) -> None:
        self.game, self.rules = game, rules
        # Every hand in which nobody goes out makes the pot grow: only the cap ends that.
        self.capped = rules["ante"] == "deal"
        batch = Batch(game, 1, num_players, rules, seed=0, restart=False)
        self.num_players = batch.num_players
        batch.reset(dealer=self.num_players - 1, deal=False)
        self.start = np.array(batch.tables)
        self.start["deck"], _ = game.spec.stack(PLAIN)
        self.start["stacked"] = self.num_players
        endless = {**rules.as_dict(), "max_deals": ENDLESS}
        self.played = rules if self.capped else game.spec.resolve(endless)
        self.build_stage = partial(
            build_stage,
            num_players,
            {**rules.as_dict(), "episode": "deal", "max_deals": ENDLESS},
            cards=cards,
            memory_limit=memory_limit,
        )
        self.hands: list[Hand] = []
        self.hand_numbers: dict[tuple[int, bool], int] = {}
        self.numbers: dict[bytes, int] = {}
        self.tables: list[np.ndarray] = []
        self.dealt: list[np.ndarray] = []
        self.antes: list[np.ndarray] = []
        self.found: list[tuple[int, After]] = []

    def explore(self) -> None:
        """Visits all tables, the first one first."""
        self._number(self.start)
        while len(self.found) < len(self.tables):
            if len(self.tables) > STATE_LIMIT:
                counted = ""
                if self.capped:
                    most = self.rules["max_deals"]
                    counted = (
                        f" The cap is part of the game; with max_deals below {most} it has fewer."
                    )
                raise KilleError(
                    f"the match has more than {STATE_LIMIT:,} states.{counted} Fewer seats, "
                    "another reentry and fraga 'off' have fewer, too"
                )
            table = self.tables[len(self.found)]
            hand = self._hand(table)
            self.found.append((hand, self._follow(table, self.hands[hand].outcomes)))

    def _number(self, table: np.ndarray) -> int:
        """Returns the number of a table at which a hand is dealt; its dealer is the last seat."""
        fresh, last = self.start.copy(), self.num_players - 1
        again = table["redeal"][0] == Redeal.QUESTION
        shift = last - int(table["next_dealer"][0])
        for name in TURNED:
            fresh[name] = self._turned(int(table[name][0]), shift)
        entries = table["entries"][:, : self.num_players]
        fresh["entries"][:, : self.num_players] = np.roll(entries, shift, axis=1)
        for name in COPIED:
            fresh[name] = table[name]
        fresh["redeals"] = table["redeals"] if again else 0
        fresh["deals"] = table["deals"] if self.capped else 0
        # Not the whole record: between its fields there are bytes that mean nothing.
        key = b"".join(fresh[name].tobytes() for name in STATE)
        if key not in self.numbers:
            self.numbers[key] = len(self.tables)
            self.tables.append(fresh)
            dealt = fresh.copy()
            self.game.deal(dealt, self.played.record, np.ones(1, dtype=np.bool_), True)
            self.dealt.append(dealt)
            self.antes.append(dealt["reward"][0, : self.num_players].copy())
        return self.numbers[key]

    def _turned(self, seats: int, shift: int) -> int:
        return sum(1 << (seat + shift) % self.num_players for seat in members(seats))

    def _hand(self, table: np.ndarray) -> int:
        """Returns the number of the hand that a table deals."""
        in_pot, most = int(table["in_pot"][0]), self.rules.number("max_redeals")
        exhausted = self.rules["fraga"] == "forced" and int(table["redeals"][0]) >= most
        key = in_pot, exhausted
        if key not in self.hand_numbers:
            self.hand_numbers[key] = len(self.hands)
            stage = self.build_stage(seats=members(in_pot), granted=most if exhausted else 0)
            self.hands.append(_with_outcomes(stage, members(in_pot)))
        return self.hand_numbers[key]

    def _follow(self, table: np.ndarray, outcomes: tuple[int, ...]) -> After:
        """Plays all that can follow a hand."""
        ended = np.concatenate([table] * len(outcomes))
        with announce_compilation("matches"):
            end_hands(ended, self.played.record, np.array(outcomes))
        nodes: list[tuple[Any, ...]] = []
        asking = [table[:0]]
        roots = [self._reach(ended[i : i + 1], nodes, asking) for i in range(len(outcomes))]
        columns = list(zip(*nodes, strict=True))
        return After(
            np.array(roots),
            *(np.array(column) for column in columns[:5]),
            reward=np.array(columns[5]),
            tables=np.concatenate(asking)[None],
        )

    def _reach(
        self, table: np.ndarray, nodes: list[tuple[Any, ...]], asking: list[np.ndarray]
    ) -> int:
        """Adds the node of a table, behind all nodes that it leads to, and returns its number."""
        reward = table["reward"][0, : self.num_players].copy()
        if table["phase"][0] == Phase.BUYIN:
            declined, bought = (
                self._reach(self._applied(table, action), nodes, asking)
                for action in (Action.DECLINE, Action.BUY)
            )
            nodes.append((int(table["seat"][0]), declined, bought, -1, 0, 0 * reward))
            asking.append(table)
        elif table["phase"][0] == DEAL:
            number, shift = self._number(table), self.num_players - 1 - int(table["next_dealer"][0])
            reward += np.roll(self.antes[number], -shift)
            nodes.append((-1, -1, -1, number, shift, reward))
        else:
            nodes.append((-1, -1, -1, -1, 0, reward))
        return len(nodes) - 1

    def _applied(self, table: np.ndarray, action: int) -> np.ndarray:
        table = table.copy()
        self.game.apply(table, self.played.record, np.array([action]), np.ones(1, np.bool_))
        return table

    def finish(self) -> Match:
        """Merges equivalent tables and returns the match."""
        classes = bisimilar(self.found)
        firsts = np.unique(classes, return_index=True)[1]
        states = []
        for number, first in enumerate(firsts):
            hand, after = self.found[first]
            following = np.where(after.following >= 0, classes[after.following], -1)
            equal = np.flatnonzero(classes == number)
            tables = np.concatenate([self.dealt[i] for i in equal])
            asking = np.concatenate([self.found[i][1].tables for i in equal])
            after = replace(after, following=following, tables=asking)
            states.append(State(hand, after, tables))
        return Match(
            rules=self.rules,
            num_players=self.num_players,
            capped=self.capped,
            hands=tuple(self.hands),
            states=tuple(states),
            antes=self.antes[0],
        )


def _with_outcomes(stage: Stage, seats: Sequence[int]) -> Hand:
    """Returns a stage with its possible outcomes."""
    possible = np.flatnonzero(stage.outs.any(axis=0))
    outcomes, results = possible.tolist(), stage.outs[:, possible]
    if stage.redealt.any():
        outcomes.append(AGAIN)
        results = np.column_stack([results, stage.redealt])
    return Hand(stage, tuple(seats), tuple(outcomes), np.ascontiguousarray(results))


def bisimilar(found: Sequence[tuple[int, After]]) -> np.ndarray:
    """Returns the class of each table, numbered in the order of their first members."""
    classes = np.array([hand for hand, _ in found])
    while True:
        signs: dict[tuple[Any, ...], int] = {}
        finer = np.empty_like(classes)
        for number, (hand, after) in enumerate(found):
            following = np.where(after.following >= 0, classes[after.following], -1)
            arrays = (after.roots, after.buyer, after.declined, after.bought, after.shift)
            content = (following, after.reward, *arrays)
            sign = (int(classes[number]), hand, *(array.tobytes() for array in content))
            finer[number] = signs.setdefault(sign, len(signs))
        if finer.max() == classes.max():
            return classes
        classes = finer
