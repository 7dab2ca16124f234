"""Plays a work unit: all its tables in one batch, each player asked once per step."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from kille_agents.greedy import in_play
from kille_env.core.batch import Batch
from kille_env.core.keys import deal_seeds
from kille_env.core.spec import Rules
from kille_env.playing import Players, play_out
from kille_env.policy import Player, PlayerLike, check_probabilities, name_of, resolve
from kille_env.registry import make_batch, spec
from kille_env.words.text import printable
from kille_training.arena.entrants import player_of
from kille_training.arena.work import (
    Entrant,
    EntrantFailed,
    Failure,
    Outcome,
    Result,
    Thinking,
    WorkUnit,
    rotations,
)

Monitored = Callable[[Thinking], AbstractContextManager[object]]
"""Called with who is to think about what; the player thinks while the context is open."""
MAX_REASON = 500
"""Characters of a reason that are kept."""


class PlayerCache:
    """The players of a process, each loaded once per table size."""

    def __init__(self, objects: Mapping[str, PlayerLike] | None = None) -> None:
        """Starts empty.

        Args:
            objects: Players that are Python objects, by `Entrant.player`; all others are loaded by
                name or path.
        """
        self._objects = objects or {}
        self._players: dict[tuple[Entrant, int], Player] = {}

    def player(self, entrant: Entrant, unit: WorkUnit, rules: Rules) -> Player:
        """Returns an entrant's player for the table of a unit."""
        key = (entrant, unit.num_players)
        if key not in self._players:
            player = player_of(entrant, self._objects)
            loaded = resolve(player, unit.game, unit.num_players, rules, trust=unit.trust)
            self._players[key] = in_play(loaded, entrant.play)
        return self._players[key]


def unit_rules(unit: WorkUnit) -> Rules:
    """Returns the rules that a unit is played by."""
    return spec(unit.game).resolve(dict(unit.rules))


def play_unit(
    unit: WorkUnit, cache: PlayerCache, monitored: Monitored = lambda _: nullcontext()
) -> Outcome:
    """Plays a unit to the end, or until an entrant fails.

    Args:
        unit: What is played.
        cache: Players that have been loaded in this process.
        monitored: Told who is thinking.

    Returns:
        The results, which depend on nothing but the unit.
    """
    tables = Tables(unit)
    try:
        return Outcome(unit, tables.results(play_tables(tables, cache, monitored)))
    except EntrantFailed as error:
        return Outcome(unit, failure=error.failure)


def play_tables(tables: "Tables", cache: PlayerCache, monitored: Monitored) -> np.ndarray:
    """Plays the tables of a unit; returns what each seat earned, [N, P].

    Args:
        tables: The tables.
        cache: Players that have been loaded in this process.
        monitored: Told who is thinking.

    Raises:
        EntrantFailed: An entrant cannot go on.
    """
    if not len(tables):
        return np.zeros((0, tables.unit.num_players))
    return play_out(_Entrants(tables, tables.batch(), cache, monitored))


class Tables:
    """The tables of a unit: block by block, deal by deal, lineup by lineup, rotation by rotation.

    Attributes:
        unit: The unit.
        rules: Its rules.
        members: For each block the lineups at each deal, [D, L, P].
        seated: [N, P] number of the entrant in each seat.
        block_of: [N] the block that a table belongs to.
        deal: [N] number of the deal.
        seeds: [N] its seed.
    """

    def __init__(self, unit: WorkUnit) -> None:
        self.unit, self.rules = unit, unit_rules(unit)
        keys = unit.keys
        self.members = [block.members(unit.seed, keys) for block in unit.blocks]
        seats = unit.num_players
        block_of, deals, seated = [], [], []
        for number, (block, members) in enumerate(zip(unit.blocks, self.members, strict=True)):
            deal, row = np.nonzero(members[:, :, 0] >= 0)
            deals.append(np.repeat(block.first_deal + deal, seats))
            block_of.append(np.full(len(deal) * seats, number))
            seated.append(members[deal, row][:, rotations(seats)].reshape(-1, seats))
        self.block_of, self.deal = np.concatenate(block_of), np.concatenate(deals)
        self.seated = np.concatenate(seated)
        self.seeds = deal_seeds(unit.seed, seats, self.deal)

    def __len__(self) -> int:
        return len(self.deal)

    def batch(self) -> Batch:
        """Returns the tables, dealt."""
        unit = self.unit
        batch = make_batch(
            unit.game, len(self), unit.num_players, rules=self.rules, seed=0, restart=False
        )
        batch.reset(seed=self.seeds)
        return batch

    def results(self, earned: np.ndarray) -> tuple[Result, ...]:
        """Returns what each seat earned, [N, P], as the results of the blocks."""
        seats = self.unit.num_players
        results, end = [], 0
        for block, members in zip(self.unit.blocks, self.members, strict=True):
            played = members[:, :, 0] >= 0
            begin, end = end, end + played.sum() * seats
            units = np.zeros((*members.shape, seats))
            units[played] = earned[begin:end].reshape(-1, seats, seats)
            results.append(Result(block, members, units))
        return tuple(results)


class _Entrants(Players):
    """The players of a unit; whichever fails, in whatever way, is named."""

    def __init__(
        self,
        tables: Tables,
        batch: Batch,
        cache: PlayerCache,
        monitored: Monitored = lambda _: nullcontext(),
        step: Callable[..., None] | None = None,
    ) -> None:
        self._tables, self._monitored = tables, monitored
        numbers, firsts, places = np.unique(tables.seated, return_index=True, return_inverse=True)
        entrants = {each.number: each for each in tables.unit.entrants}
        self._entrants = [entrants[number] for number in numbers.tolist()]
        players = self._load(cache, firsts // tables.seated.shape[1])
        super().__init__(batch, players, places.reshape(tables.seated.shape), step)

    def ask(self, number: int, rows: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Returns the probabilities of a player's actions; see `Players.ask`.

        Raises:
            EntrantFailed: The player failed.
        """
        about = self._about(self._entrants[number], rows)
        try:
            with self._monitored(about):
                probabilities = super().ask(number, rows, keys)
                if type(probabilities) is not np.ndarray:  # some kinds of array hide what they hold
                    probabilities = np.asarray(probabilities)
                    check_probabilities(
                        name_of(self.players[number]), probabilities, self.batch.mask[rows]
                    )
        except (Exception, SystemExit) as error:  # a player may not end the tournament
            raise EntrantFailed(failure(about, error)) from error
        return probabilities

    def _load(self, cache: PlayerCache, firsts: np.ndarray) -> Sequence[Player]:
        """Loads the players, and names the entrant whose player does not load.

        Args:
            cache: Players that have been loaded.
            firsts: The first table of each.
        """
        players = []
        for entrant, first in zip(self._entrants, firsts.tolist(), strict=True):
            about = self._about(entrant, np.array([first]))._replace(decisions=0)
            try:
                with self._monitored(about):
                    players.append(cache.player(entrant, self._tables.unit, self._tables.rules))
            except (Exception, SystemExit) as error:  # a player may not end the tournament
                raise EntrantFailed(failure(about, error)) from error
        return players

    def _about(self, entrant: Entrant, rows: np.ndarray) -> Thinking:
        tables = self._tables
        block = tables.unit.blocks[tables.block_of[rows[0]]]
        return Thinking(entrant.number, len(rows), block.panel.number, int(tables.deal[rows[0]]))


def failure(about: Thinking, error: BaseException) -> Failure:
    """Returns the failure of an entrant whose player raised an error while it was thinking."""
    try:
        text = str(error)
    except Exception:  # even the error may be broken
        text = "an error that cannot be shown"
    reason = printable(f"{type(error).__name__}: {text}"[:MAX_REASON])
    return Failure(about.entrant, reason, about.panel, about.deal)
