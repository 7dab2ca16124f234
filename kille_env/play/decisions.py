"""Decisions, each as the seat to act knows it; policies answer these and never see the tables.

So a policy that looks ahead cannot see hidden cards, not even by mistake: it draws
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
from kille_env.play.policy import Policy
from kille_env.play.rollouts import agreement


def cards_then(
    early: np.ndarray, pack: np.ndarray, other_pack: np.ndarray, cards: np.ndarray
) -> np.ndarray:
    """Return the card in a determinization at the earlier place of each card, [R, pack] int8.

    When a seat gets more cards, nobody else can tell which of its cards these are, so in a
    determinization another card can stand for one that is open now. Before a card was drawn
    (`early` [R]), cards lay as in the determinization's pack: `pack` and `other_pack` [R, pack] are
    the table's and its, and `cards` its card at the place of each card now.
    """
    by_pack = np.empty_like(cards)
    np.put_along_axis(by_pack, pack.astype(np.int64), other_pack, axis=1)
    return np.where(early[:, None], by_pack, cards)


@dataclass(frozen=True)
class Past:
    """Decisions of other seats earlier in the deal, if a determinization is the true one."""

    determinization: np.ndarray  # [X] index of the determinization
    seat: np.ndarray  # [X] the seat that acted
    observation: np.ndarray  # [X, F] uint8, its observation in that determinization
    mask: np.ndarray  # [X, A] int8, its legal actions
    action: np.ndarray  # [X]


@dataclass(frozen=True)
class OwnPast:
    """Earlier decisions in the deal of the seats that are to act, the earliest first."""

    decision: np.ndarray  # [X] index of the present decision that a row belongs to
    observation: np.ndarray  # [X, F] uint8, the observation of the seat at that time
    mask: np.ndarray  # [X, A] int8, its legal actions
    action: np.ndarray  # [X]


Steps = tuple[np.ndarray, np.ndarray, np.ndarray]
"""[L] indices of decisions, [L] tables at that time, [L] actions."""


class History:
    """Past decisions of the deals in progress at the tables of a batch."""

    def __init__(self, batch: Batch) -> None:
        """Start empty."""
        self._batch = batch
        self._steps: list[Steps] = []

    def note(self, actions: np.ndarray, which: np.ndarray | None = None) -> None:
        """Keep the decisions that are about to be played, and forget deals that are over."""
        batch, tables = self._batch, self._batch.tables
        # Refused here, before anything is noted: an illegal action leaves the history as it was.
        actions = batch.check_legal(actions, which)
        self._steps = [step for step in self._steps if self._in_progress(step).any()]
        acting = batch.seat >= 0
        rows = np.flatnonzero(acting if which is None else acting & which)
        if len(rows):
            # Whole tables are kept, not observations: which decisions are needed, and as which
            # seat's, is known only when somebody asks.
            self._steps.append((rows, tables[rows].copy(), actions[rows]))

    def forget(self, which: np.ndarray) -> None:
        """Forget the chosen tables, [N] bool, when their matches begin again from a seed."""
        which = arguments.which(which, self._batch.num_tables)
        kept = ((~which[rows], rows, then, actions) for rows, then, actions in self._steps)
        self._steps = [(rows[k], then[k], actions[k]) for k, rows, then, actions in kept]

    def decisions(self, rows: np.ndarray, seats: np.ndarray) -> Steps:
        """Return the decisions of other seats than `seats` [M] in the deals at tables `rows` [M].

        Left out are those that would tell hidden cards: decisions that nobody else can know of, and
        actions that name a card which nobody else sees (`secret_phases` and `covered_actions` of
        the game's spec). The earliest stands first.
        """
        spec = self._batch.spec
        which, tables, actions = self._select(rows, seats, of_seat=False)
        known = ~np.isin(tables["phase"], spec.secret_phases)
        known &= ~np.isin(actions, spec.covered_actions)
        return which[known], tables[known], actions[known]

    def own_decisions(self, rows: np.ndarray, seats: np.ndarray) -> Steps:
        """Return the decisions of `seats` [M] themselves in the deals at tables `rows` [M]."""
        return self._select(rows, seats, of_seat=True)

    def _select(self, rows: np.ndarray, seats: np.ndarray, of_seat: bool) -> Steps:
        found = []
        for step in self._steps:
            at, tables, actions = step
            live = np.flatnonzero(self._in_progress(step))
            place = np.full(self._batch.num_tables, -1)
            place[at[live]] = live
            entry = place[rows]
            which = np.flatnonzero(entry >= 0)
            which = which[(tables["seat"][entry[which]] == seats[which]) == of_seat]
            found.append((which, tables[entry[which]], actions[entry[which]]))
        if not found:
            return np.zeros(0, np.int64), self._batch.tables[:0].copy(), np.zeros(0, np.int64)
        which, tables, actions = zip(*found, strict=True)
        return np.concatenate(which), np.concatenate(tables), np.concatenate(actions)

    def _in_progress(self, step: Steps) -> np.ndarray:
        """Return whether the deals of a step are still being played, [n] bool."""
        rows, then, _ = step
        now = self._batch.tables[rows]
        # The key of the match as well: a reset with a seed can begin the same match number anew.
        same = (now["matches"] == then["matches"]) & (now["deals"] == then["deals"])
        return same & (now["match_key"] == then["match_key"]) & (now["phase"] > OVER)


class Decisions:
    """M decisions, each as the seat to act knows it.

    Attributes:
        observation: [M, F] uint8, the observations of the seats to act.
        mask: [M, A] int8, their legal actions.
        seats: [M] the seats to act.
        keys: [M] uint64, one per decision. Everything random in a search follows from it, so
            nothing depends on the other tables.
    """

    def __init__(
        self,
        batch: Batch,
        rows: Any,
        keys: Any,
        history: History | None = None,
        *,
        due: bool = False,
    ) -> None:
        """Select the decisions at tables `rows` [M] of a batch, with a key each, below 2**64."""
        # `SeatedPolicies` finds rows and keys that are due; checking them takes as long as an
        # answer.
        if not due:
            rows = arguments.rows(rows, batch.num_tables)
            seats = batch.seat[rows]
            if (seats < 0).any():
                raise RulesError(f"nobody is to act at table {rows[seats.argmin()]}")
            keys = arguments.words("keys", keys, len(rows), "decisions")
        self._batch, self._history, self._rows, self.keys = batch, history, rows, keys
        shown = batch.arrays.shown  # without the rules, which the option `observe_rules` adds
        self.observation, self.mask = shown.observation[rows], shown.mask[rows]
        self.seats = batch.seat[rows].astype(np.int64)

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
        """The rules, which are `RuleSets` where the tables of the decisions do not share one."""
        return self._batch.shared_rules(self._rows)

    @property
    def rule_numbers(self) -> np.ndarray:
        """[M] number of the rule set of each decision's table; see `rules_at`."""
        return self._batch.tables["rules"][self._rows]

    def rules_features(self) -> np.ndarray:
        """Return the features of the rules of each decision's table, [M, K] uint8."""
        return self._batch.rules_features[self.rule_numbers]

    def rules_at(self, decision: int) -> Rules:
        """Return the rules of a decision's table."""
        return self._batch.rules_at(self._rows[decision])

    def __len__(self) -> int:
        """Return M, the number of decisions."""
        return len(self._rows)

    def select(self, decisions: Any) -> "Decisions":
        """Return some of the decisions, in the order of their indices [m]."""
        chosen = self._rows[decisions], self.keys[decisions]
        return Decisions(self._batch, *chosen, self._history)

    def history(self) -> OwnPast:
        """Return the earlier decisions in the deal of the seats that are to act.

        A policy gets them with an attribute `remembers` that is true. A recurrent network runs over
        these, and then over the present observations.
        """
        which, tables, actions = self._kept().own_decisions(self._rows, self.seats)
        order = which.argsort(kind="stable")
        then = tables[order]
        seen, mask = self._observed(then, then["seat"].astype(np.int8))
        return OwnPast(which[order], seen, mask, actions[order])

    def information_state(self) -> np.ndarray:
        """Return all that the seats to act know of the deal, with perfect recall, [M, I] uint8."""
        seats = np.zeros(self._batch.num_tables, dtype=np.int64)
        # The batch looks at all tables, one seat each; the others' rows are dropped.
        seats[self._rows] = self.seats
        return self._batch.plain_state("information_state", seats)[self._rows]

    def weigh(self, number: int, policy: Policy) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return whether the other seats acted earlier in the deal as a policy does.

        Args:
            number: K, determinizations of each decision, as `draw` draws them.
            policy: The assumed policy of the other seats, with a deterministic kernel.

        Returns:
            [X] decision that an earlier one belongs to; [X, K] bool, whether the policy agrees with
            it; [X, K] the number of legal actions.
        """
        number = arguments.whole("number", number, 1)
        which, tables, actions = self._kept().decisions(self._rows, self.seats)
        order = which.argsort(kind="stable")
        earlier = which[order], tables[order], actions[order]
        decisions = self._rows, self.seats, self.keys
        return which[order], *agreement(self._batch, decisions, earlier, number, policy)

    def draw_chosen(self, numbers: np.ndarray) -> Batch:
        """Draw determinizations by their numbers [M, K]: 0 is the first that `draw` draws."""
        given = arguments.array(numbers)
        fits = given is not None and given.ndim == 2 and given.dtype.kind in "iu"
        if given is None or not fits or len(given) != len(self) or given.min(initial=0) < 0:
            raise RulesError(
                f"numbers of determinizations are [{len(self)}, K] whole numbers from 0, "
                f"got {shortened(numbers)}"
            )
        return self._draw(given)[0]

    def draw(self, number: int) -> Batch:
        """Draw determinizations, equally likely among all that agree with the seat's knowledge.

        Args:
            number: K, determinizations per decision.

        Returns:
            [M * K] tables that do not restart, the K of a decision side by side.
        """
        number = arguments.whole("number", number, 1)
        return self._draw(np.tile(np.arange(number), (len(self), 1)))[0]

    def draw_with_past(self, number: int) -> tuple[Batch, Past]:
        """Draw the same determinizations, with the past decisions of other seats in them."""
        number = arguments.whole("number", number, 1)
        decision, tables, actions = self._kept().decisions(self._rows, self.seats)
        batch, cards = self._draw(np.tile(np.arange(number), (len(self), 1)))
        drawn = (decision[:, None] * number + np.arange(number)).ravel()
        then = np.empty(len(drawn), dtype=tables.dtype)
        np.take(tables, np.repeat(np.arange(len(tables)), number), out=then, mode="clip")
        seats = then["seat"].astype(np.int8)
        game, rules = batch.game, self._batch.arrays.rules
        here = np.repeat(self._rows[decision], number)
        now, theirs = self._batch.tables, batch.tables
        early = then["drawn"] < now["drawn"][here]
        packs = now["deck"][here], theirs["deck"][drawn]
        game.relabel(then, rules, cards_then(early, *packs, cards[drawn]))
        observation, mask = self._observed(then, seats)
        return batch, Past(
            drawn, seats.astype(np.int64), observation, mask, np.repeat(actions, number)
        )

    def _observed(self, tables: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return observations [X, F] and masks [X, A] of seats at tables of another time."""
        game, rules = self._batch.game, self._batch.arrays.rules
        observation = np.zeros((len(tables), self.observation.shape[1]), dtype=np.uint8)
        mask = np.zeros((len(tables), self.mask.shape[1]), dtype=np.int8)
        game.observe(tables, rules, seats, observation)
        game.mask(tables, rules, seats, mask)
        return observation, mask

    def _kept(self) -> History:
        if self._history is None:
            raise KilleError(
                "no history is kept of these tables: a policy that needs it has an attribute "
                "`remembers` that is true, and Decisions of your own take a History"
            )
        return self._history

    def _draw(self, numbers: np.ndarray) -> tuple[Batch, np.ndarray]:
        """Draw determinizations; return also the new places of the cards, which give them away."""
        each = numbers.shape[1]
        batch = self._batch.take(np.repeat(self._rows, each))
        if not batch.rules.is_one and self.rules.is_one:  # which a search policy is made for
            drawn = Batch(batch.game, batch.num_tables, batch.num_players, self.rules, 0)
            tables = batch.tables.copy()
            tables["rules"] = tables["pool"] = 0
            drawn.place(tables)
            batch = drawn
        # A search compares earnings up to the end; a table that restarts would go on beyond it.
        batch.restart = False
        steps = numbers.ravel().astype(np.uint64) + np.uint64(1)
        # By number, so that the first K of a larger draw are those of a smaller one.
        with np.errstate(over="ignore"):
            keys = np.repeat(self.keys, each) + steps * GOLDEN
        return batch, batch.resample(np.repeat(self.seats, each), keys)
