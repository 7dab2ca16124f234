"""The luck of the cards, counted while tables are played.

For every card that chance gives a seat, what came is compared with what was to be expected of the
rest of the pack: for each kind of card, 1 if it came and 0 if not, less the share of that kind in
the cards that could come. Who gets the next card is settled before it is turned, so each count has
the mean 0 given everything before it, and so have their sums, whatever the players do, when they
stop and who they are: sums of luck are controls for `control.without_luck`. What a kind is worth
is found there, at other deals.

The players' own lots are luck too. Where a player draws an action by his probabilities, what he did
less what was to be expected has the mean 0 for each action.

In a match each deal's luck is weighted with the pot that it is played for, in shares of what came
into play at first; the pot is known before the cards are dealt.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.determinization import History
from kille_env.errors import KilleError
from kille_env.policy import Searcher, best_actions, decide, history_for, sample_actions
from kille_training.evaluation.duplicate import Player

DEALT, DRAWN = 0, 1
"""The second axis of luck: cards of the deal, and cards that came later."""


@dataclass(frozen=True)
class Watched:
    """Tables that were played and their luck.

    Attributes:
        earned: [N, P] what each seat earned.
        cards: [N, P, 2, T] float64, luck of each seat by kind of card: `DEALT` and `DRAWN`.
        lots: [N, P, A] float64, luck of each seat's lots by action.
    """

    earned: np.ndarray
    cards: np.ndarray
    lots: np.ndarray

    def features(self) -> np.ndarray:
        """Returns the luck that rotations leave, [N, P, F]: dealt, drawn, own lots, others' lots.

        Of places that have been in every seat over the same cards, the mean of what was dealt is
        the same: it says which cards were at the table.
        """
        tables, seats = self.earned.shape
        others = self.lots.sum(axis=1, keepdims=True) - self.lots
        return np.concatenate([self.cards.reshape(tables, seats, -1), self.lots, others], axis=2)


def play_watched(batch: Batch, players: Sequence[Player], seating: np.ndarray) -> Watched:
    """Plays every table to the end and counts its luck.

    Args:
        batch: Tables that were reset with `deal=False`, made with `restart=False`.
        players: Who takes part.
        seating: [N, P] index into `players` of who sits in each seat.
    """
    if not batch.at_chance.all():
        raise KilleError("luck is counted from the first card on; reset the batch with deal=False")
    counter = LuckCounter(batch)
    history = history_for([player.policy for player in players], batch)
    actions = np.zeros(batch.num_tables, dtype=np.int64)
    while True:
        while (waiting := batch.at_chance).any():
            pot = counter.pots()
            batch.deal()
            counter.deal(waiting, pot)
        playing = batch.seat >= 0
        if not playing.any():
            break
        sitting = np.where(playing, seating[np.arange(len(playing)), batch.seat], -1)
        for number, player in enumerate(players):
            rows = np.flatnonzero(sitting == number)
            if len(rows):
                chances, chosen = _choose(player, batch, rows, history)
                actions[rows] = chosen
                counter.choose(rows, chances, chosen)
        if history is not None:
            history.note(actions)
        before = batch.seat.copy()
        batch.apply(actions)
        counter.draw(playing, before)
    earned = batch.tables["reward"][:, : batch.num_players].copy()
    return Watched(earned, counter.cards, counter.lots)


class LuckCounter:
    """Counts the luck of the tables of a batch.

    Attributes:
        cards: [N, P, 2, T], see `Watched`.
        lots: [N, P, A].
    """

    def __init__(self, batch: Batch) -> None:
        """Begins at no luck."""
        self._batch = batch
        self._copies = batch.spec.pack.copies
        kinds = batch.spec.pack.size // self._copies
        self.cards = np.zeros((batch.num_tables, batch.num_players, 2, kinds))
        self.lots = np.zeros((batch.num_tables, batch.num_players, batch.spec.num_actions))
        self._rest = np.zeros((batch.num_tables, kinds))
        self._drawn = np.zeros(batch.num_tables, dtype=np.int64)
        self._weight = np.ones(batch.num_tables)
        self._first_pot = np.zeros(batch.num_tables)

    def pots(self) -> np.ndarray:
        """Returns what each table plays for before cards are dealt, [N]; 0 where nothing is."""
        tables = self._batch.tables
        if "pot" not in (tables.dtype.names or ()):
            return np.zeros(len(tables))
        return tables["pot"].astype(float)

    def deal(self, dealt: np.ndarray, pot: np.ndarray) -> None:
        """Counts the cards that have just been dealt.

        Args:
            dealt: [N] bool, at which tables.
            pot: [N] what `pots` said before it.
        """
        rows = np.flatnonzero(dealt)
        began = rows[(self._first_pot[rows] == 0) & (pot[rows] > 0)]
        self._first_pot[began] = pot[began]
        first = self._first_pot[rows]
        self._weight[rows] = np.where(first > 0, pot[rows] / np.maximum(first, 1), 1.0)
        self._rest[rows] = self._copies
        self._drawn[rows] = 0
        self._count(rows, DEALT, lambda which, cards: _holder(self._batch.tables[which], cards))

    def choose(self, rows: np.ndarray, chances: np.ndarray, actions: np.ndarray) -> None:
        """Counts lots.

        Args:
            rows: [M] tables, before the action is played.
            chances: [M, A] how likely each action was; 1 for what did not depend on lots.
            actions: [M] what came.
        """
        luck = -chances
        luck[np.arange(len(rows)), actions] += 1.0
        self.lots[rows, self._batch.seat[rows]] += luck * self._weight[rows][:, None]

    def draw(self, played: np.ndarray, seats: np.ndarray) -> None:
        """Counts the cards that came by the last action.

        Args:
            played: [N] bool, at which tables somebody acted.
            seats: [N] who.
        """
        tables = self._batch.tables

        def taker(which: np.ndarray, cards: np.ndarray) -> np.ndarray:
            if "drawn_cards" in (tables.dtype.names or ()):
                return _in_sets(tables["drawn_cards"][which], cards)
            return seats[which]

        self._count(np.flatnonzero(played), DRAWN, taker)

    def _count(self, rows: np.ndarray, when: int, taker) -> None:
        tables = self._batch.tables
        size = tables["deck"].shape[1]
        # Cards that were shuffled in again have no place in the pack: they are left out, which is
        # settled before they are turned.
        until = np.minimum(tables["drawn"].astype(np.int64), size)
        rows = rows[until[rows] > self._drawn[rows]]
        while len(rows):
            place = self._drawn[rows]
            card = tables["deck"][rows, place].astype(np.int64)
            kind, rest = card // self._copies, self._rest[rows]
            luck = -rest / (size - place)[:, None]
            luck[np.arange(len(rows)), kind] += 1.0
            seat = taker(rows, card)
            known = seat >= 0
            own = rows[known]
            self.cards[own, seat[known], when] += luck[known] * self._weight[own][:, None]
            self._rest[rows, kind] -= 1.0
            self._drawn[rows] += 1
            rows = rows[until[rows] > self._drawn[rows]]


def _choose(
    player: Player, batch: Batch, rows: np.ndarray, history: History | None
) -> tuple[np.ndarray, np.ndarray]:
    """Returns how likely each action is, [M, A], and the actions, [M]."""
    keys = np.zeros(len(rows), dtype=np.uint64)
    if isinstance(player.policy, Searcher):
        keys = player.rng.integers(2**64, size=len(rows), dtype=np.uint64)
    chances = np.array(decide(player.policy, batch, rows, keys, history), dtype=np.float64)
    if player.play == "argmax":
        likeliest = best_actions(chances)
        return np.eye(chances.shape[1])[likeliest], likeliest
    return chances, sample_actions(chances, player.rng)


def _holder(tables: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Returns to whom cards were dealt, [N]; -1 to nobody."""
    if "cards" in (tables.dtype.names or ()):  # several for each seat, in their order
        found = (tables["cards"] == cards[:, None, None]).any(axis=2)
        return np.where(found.any(axis=1), found.argmax(axis=1), -1)
    if tables["dealt"].dtype == np.uint64:
        return _in_sets(tables["dealt"], cards)
    found = tables["dealt"] == cards[:, None]
    return np.where(found.any(axis=1), found.argmax(axis=1), -1)


def _in_sets(sets: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Returns in which of the sets of cards, [N, P] words, a card is, [N]; -1 in none."""
    found = (sets >> cards.astype(np.uint64)[:, None]) & np.uint64(1) != 0
    return np.where(found.any(axis=1), found.argmax(axis=1), -1)
