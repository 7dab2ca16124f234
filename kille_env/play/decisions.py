"""What policies are asked: decisions, each as the seat to act knows it; never the tables.

So a policy that looks ahead cannot see what is hidden, not even by mistake: it draws
determinizations.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.rng import GOLDEN
from kille_env.core.spec import Rules
from kille_env.core.table import OVER
from kille_env.errors import KilleError, RulesError, shortened
from kille_env.play.rollouts import Kernel, agreement


def cards_then(
    early: np.ndarray, pack: np.ndarray, other_pack: np.ndarray, cards: np.ndarray
) -> np.ndarray:
    """Returns which card lay, in a determinization, where each card lay earlier in the deal.

    When a seat gets more cards, nobody else can tell which of its cards these are, so in a
    determinization another card can stand for one that is open now. Before a card was drawn, cards
    lay as in the determinization's pack.

    Args:
        early: [R] bool, fewer cards had been drawn then than now.
        pack: [R, pack] the table's pack as it is now.
        other_pack: [R, pack] the determinization's.
        cards: [R, pack] the card that lies in the determinization where card c lies now.

    Returns:
        [R, pack] int8.
    """
    by_pack = np.empty_like(cards)
    np.put_along_axis(by_pack, pack.astype(np.int64), other_pack, axis=1)
    return np.where(early[:, None], by_pack, cards)


@dataclass(frozen=True)
class Past:
    """What the other seats saw and did earlier in the deal, if a determinization is the true one.

    Attributes:
        determinization: [X] index of the one that a row belongs to.
        seat: [X] the seat that acted.
        observation: [X, F] uint8, what it saw in that determinization.
        mask: [X, A] int8, what it could do.
        action: [X] what it did.
    """

    determinization: np.ndarray
    seat: np.ndarray
    observation: np.ndarray
    mask: np.ndarray
    action: np.ndarray


class History:
    """What has been decided so far in the deals that are being played at the tables of a batch."""

    def __init__(self, batch: Batch) -> None:
        """Starts empty.

        Args:
            batch: The tables; pass every action to `note` before it is played there.
        """
        self._batch = batch
        self._steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def note(self, actions: np.ndarray, which: np.ndarray | None = None) -> None:
        """Keeps the tables at which somebody is about to act, and forgets deals that are past.

        Left out is what would tell what is hidden: decisions that nobody else can know of, and
        actions that name a card which nobody else sees (`secret_phases` and `covered_actions` of
        the game's spec).

        Args:
            actions: [N], as `Batch.step` takes them.
            which: [N] bool, the tables that are stepped; None is all of them.

        Raises:
            IllegalActionError: An action is not legal; nothing is kept.
            RulesError: An impossible choice of tables.
        """
        batch, tables = self._batch, self._batch.tables
        actions = batch.check_legal(actions, which)
        self._steps = [step for step in self._steps if self._going_on(step).any()]
        known = (batch.seat >= 0) & ~np.isin(tables["phase"], batch.spec.secret_phases)
        known &= ~np.isin(actions, batch.spec.covered_actions)
        rows = np.flatnonzero(known if which is None else known & which)
        if len(rows):
            self._steps.append((rows, tables[rows].copy(), actions[rows]))

    def forget(self, which: np.ndarray) -> None:
        """Forgets the chosen tables, [N] bool: for matches that are begun again from a seed.

        Raises:
            RulesError: An impossible choice of tables.
        """
        which = arguments.which(which, self._batch.num_tables)
        kept = ((~which[rows], rows, then, actions) for rows, then, actions in self._steps)
        self._steps = [(rows[k], then[k], actions[k]) for k, rows, then, actions in kept]

    def decisions(
        self, rows: np.ndarray, seats: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns what others than `seats` have decided in the deals at `rows`.

        Args:
            rows: [M] tables.
            seats: [M] the seats whose own decisions are left out.

        Returns:
            [L] indices into `rows`, [L] tables as they stood, [L] actions; the earliest first.
        """
        found = []
        for step in self._steps:
            at, tables, actions = step
            live = np.flatnonzero(self._going_on(step))
            place = np.full(self._batch.num_tables, -1)
            place[at[live]] = live
            entry = place[rows]
            which = np.flatnonzero(entry >= 0)
            which = which[tables["seat"][entry[which]] != seats[which]]
            found.append((which, tables[entry[which]], actions[entry[which]]))
        if not found:
            return np.zeros(0, np.int64), self._batch.tables[:0].copy(), np.zeros(0, np.int64)
        which, tables, actions = zip(*found, strict=True)
        return np.concatenate(which), np.concatenate(tables), np.concatenate(actions)

    def _going_on(self, step: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
        """Whether the deals of a step are still being played, [n] bool."""
        rows, then, _ = step
        now = self._batch.tables[rows]
        same = (now["matches"] == then["matches"]) & (now["deals"] == then["deals"])
        return same & (now["match_key"] == then["match_key"]) & (now["phase"] > OVER)


class Decisions:
    """M decisions, each as the seat to act knows it.

    Attributes:
        observation: [M, F] uint8, what the seats to act see.
        mask: [M, A] int8, what they may do.
        seats: [M] the seats to act.
        keys: [M] uint64, one per decision. Whatever is random in a search follows from it, so
            nothing depends on the other tables.
        memory: [M, memory_size] float32, what the seat remembers of the match, zeros at its first
            decision; a policy with a memory puts in its place what it is to remember. [M, 0] where
            nobody keeps it.
    """

    def __init__(
        self,
        batch: Batch,
        rows: Any,
        keys: Any,
        history: History | None = None,
        memory: np.ndarray | None = None,
        *,
        due: bool = False,
    ) -> None:
        """Takes decisions of a batch.

        Args:
            batch: The tables; copied when determinizations are drawn, never changed.
            rows: [M] tables at which somebody is to act.
            keys: [M] whole numbers from 0 to 2**64 - 1.
            history: What has been decided at these tables in the deals so far.
            memory: See above; None is [M, 0].
            due: Whether `SeatedPolicies` has found rows and keys to be due; checking them takes as
                long as an answer.

        Raises:
            RulesError: There is no such table, nobody is to act at one, or there is not one key
                for each.
        """
        if not due:
            rows = arguments.rows(rows, batch.num_tables)
            seats = batch.seat[rows]
            if (seats < 0).any():
                raise RulesError(f"nobody is to act at table {rows[seats.argmin()]}")
            keys = arguments.words("keys", keys, len(rows), "decisions")
        self._batch, self._history, self._rows, self.keys = batch, history, rows, keys
        self.observation, self.mask = batch.observation[rows], batch.mask[rows]
        self.seats = batch.seat[rows].astype(np.int64)
        self.memory = np.zeros((len(rows), 0), np.float32) if memory is None else memory

    @property
    def game(self) -> str:
        """Name of the game."""
        return self._batch.spec.name

    @property
    def num_players(self) -> int:
        """P seats."""
        return self._batch.num_players

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self._batch.rules

    def __len__(self) -> int:
        """M, the number of decisions."""
        return len(self._rows)

    def take(self, decisions: Any) -> "Decisions":
        """Returns some of the decisions, in the order named.

        Args:
            decisions: [m] indices.
        """
        taken = self._rows[decisions], self.keys[decisions]
        return Decisions(self._batch, *taken, self._history, self.memory[decisions])

    def weigh(
        self, number: int, choose: Kernel, numbers: np.ndarray, name: str = "opponents"
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns whether the others have done, earlier in the deal, what a policy does.

        Args:
            number: K, determinizations of each decision, as `draw` draws them.
            choose: The kernel of who the others are assumed to be, see `KernelPolicy`.
            numbers: [K] int64, what it reads.
            name: What errors call the policy.

        Returns:
            [X] which decision an earlier one belongs to; [X, K] bool, whether the policy agrees
            with it; [X, K] how many actions were legal.

        Raises:
            KilleError: Nobody has kept a history of these tables.
            RulesError: An impossible number of determinizations.
            PolicyError: The policy's kernel has chosen an illegal action.
        """
        number = arguments.whole("number", number, 1)
        numbers = arguments.numbers("numbers", numbers, np.int64, (None,))
        which, tables, actions = self._remembered()
        order = which.argsort(kind="stable")
        earlier = which[order], tables[order], actions[order]
        decisions = self._rows, self.seats, self.keys
        return which[order], *agreement(
            self._batch, decisions, earlier, number, choose, numbers, name
        )

    def draw_chosen(self, numbers: np.ndarray) -> Batch:
        """Draws determinizations by their numbers.

        Args:
            numbers: [M, K], as in `draw`: number 0 of a decision is the first that it draws.

        Returns:
            [M * K] tables, as `draw` returns them.

        Raises:
            RulesError: The numbers are of another shape, or negative.
        """
        given = arguments.array(numbers)
        fits = given is not None and given.ndim == 2 and given.dtype.kind in "iu"
        if given is None or not fits or len(given) != len(self) or given.min(initial=0) < 0:
            raise RulesError(
                f"numbers of determinizations are [{len(self)}, K] whole numbers from 0, "
                f"got {shortened(numbers)}"
            )
        return self._draw(given)[0]

    def draw(self, number: int) -> Batch:
        """Draws determinizations, all that agree with what the seat knows being equally likely.

        Args:
            number: K, determinizations per decision.

        Returns:
            [M * K] tables that do not restart, the K of a decision side by side.

        Raises:
            RulesError: Impossible numbers of determinizations.
        """
        number = arguments.whole("number", number, 1)
        return self._draw(np.tile(np.arange(number), (len(self), 1)))[0]

    def draw_with_past(self, number: int) -> tuple[Batch, Past]:
        """Draws the same determinizations, with what the others would have seen and done in them.

        Args:
            number: K, determinizations per decision.

        Raises:
            KilleError: Nobody has kept a history of these tables.
            RulesError: An impossible number of determinizations.
        """
        number = arguments.whole("number", number, 1)
        decision, tables, actions = self._remembered()
        batch, cards = self._draw(np.tile(np.arange(number), (len(self), 1)))
        drawn = (decision[:, None] * number + np.arange(number)).ravel()
        then = np.empty(len(drawn), dtype=tables.dtype)
        np.take(tables, np.repeat(np.arange(len(tables)), number), out=then, mode="clip")
        seats = then["seat"].astype(np.int8)
        game, rules = batch.game, batch.rules.record
        here = np.repeat(self._rows[decision], number)
        now, theirs = self._batch.tables, batch.tables
        early = then["drawn"] < now["drawn"][here]
        packs = now["deck"][here], theirs["deck"][drawn]
        game.relabel(then, rules, cards_then(early, *packs, cards[drawn]))
        observation = np.zeros((len(drawn), batch.observation.shape[1]), dtype=np.uint8)
        mask = np.zeros((len(drawn), batch.mask.shape[1]), dtype=np.int8)
        game.observe(then, rules, seats, observation)
        game.mask(then, rules, seats, mask)
        return batch, Past(
            drawn, seats.astype(np.int64), observation, mask, np.repeat(actions, number)
        )

    def _remembered(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns what others have decided before, as `History.decisions` does."""
        if self._history is None:
            raise KilleError("no history is kept of these tables; give the Decisions one")
        return self._history.decisions(self._rows, self.seats)

    def _draw(self, numbers: np.ndarray) -> tuple[Batch, np.ndarray]:
        """Draws determinizations; also returns where the cards went, which gives them away."""
        each = numbers.shape[1]
        batch = self._batch.take(np.repeat(self._rows, each))
        batch.restart = False
        steps = numbers.ravel().astype(np.uint64) + np.uint64(1)
        with np.errstate(over="ignore"):
            keys = np.repeat(self.keys, each) + steps * GOLDEN
        return batch, batch.resample(np.repeat(self.seats, each), keys)
