"""Collect transitions by self-play, one stream per seat.

A seat's consecutive decisions in a match are a stream of their own, rewarded by the rule of
`kille_env.play.streams`. `Collector.undecided` counts what seats earn in matches in which they
decide nothing.

`collect` plays whole matches, `Collector` a number of steps after which the tables stand in the
middle of their matches. Both let one policy play all seats, or several play seats that are theirs.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.floats import FEATURES, reading_of
from kille_env.core.spec import width
from kille_env.errors import KilleError, RulesError
from kille_env.play.functions import FunctionPolicy
from kille_env.play.policy import PlayerLike, Policy, answers, pick_actions, resolve
from kille_env.play.seating import SeatedPolicies
from kille_env.play.streams import END, SeatStreams, Transitions

PolicyFunction = Callable[[np.ndarray, np.ndarray], Any]
"""From observations [N, F] and masks [N, A] to probabilities [N, A], an array or a tensor."""


def _is_function(policy: Any) -> bool:
    """Return whether a policy is called with observations and masks; `resolve` takes others."""
    theirs = ("predict", "forward", "action_probabilities")  # of libraries, OpenSpiel among them
    other = answers(policy) or any(hasattr(policy, name) for name in theirs)
    return callable(policy) and not other and not isinstance(policy, (str, Path, type))


class Collector:
    """Play all seats of a batch with one policy or several and return the decisions.

    Matches that end begin again, whether the batch is made with `restart` or not. What is random in
    the choices follows from the deals, as in `kille_env.play.seating`: equal seeds of the batch
    give equal decisions.

    Example:
        >>> import kille_env
        >>> batch = kille_env.make_batch("byteskille", 64, 3, restart=False)
        >>> found = kille_env.Collector(batch, "rule_of_thumb", seed=1).collect(5)
        >>> len(found.action) == len(found.reward)
        True

    Attributes:
        batch: The tables.
        undecided: [N, P] float64, units that seats have earned in matches without a decision of
            theirs.
    """

    def __init__(
        self,
        batch: Batch,
        policy: PolicyFunction | PlayerLike | Sequence[PolicyFunction | PlayerLike],
        *,
        observation: str = "float",
        seed: int | None = None,
        seating: np.ndarray | None = None,
        full_state: bool = False,
    ) -> None:
        """Begin matches at all tables.

        Args:
            batch: The tables; step them only through `collect`.
            policy: A function from observations [M, F] and masks [M, A] to probabilities [M, A], an
                array or a tensor; it gets the kind of observation that is asked for. Or a player,
                which gets uint8: anything that `kille_env.play.policy.resolve` takes. Or a sequence
                of such, with `seating`.
            observation: "float": float32 [F] from 0 to 1; "seats": float32 [S], of one size at
                tables of every size (`kille_env.core.floats`); "box": uint8 [F].
            seed: Seed of the batch; None continues its random streams.
            seating: [N, P] number of the policy that plays each seat, from 0; or [P], the same at
                all tables. None has the first one play them all.
            full_state: Whether to return the full state at each decision (`Batch.full_state`), for
                a central critic.

        Raises:
            RulesError: No such kind of observation, an impossible seed, or a seating that names a
                policy that is not there.
            PolicyError: No such player.
        """
        if not isinstance(batch, Batch):
            raise KilleError("a Collector needs device='cpu'; on a GPU `collect` plays matches")
        self.batch = batch
        self._kind = arguments.one_of("observation", observation, FEATURES)
        rules = batch.observe_rules
        self._reading = reading_of(observation, batch.spec, batch.num_players, rules)
        policies = policy if isinstance(policy, (list, tuple)) else [policy]
        everywhere = np.array(0) if seating is None else seating
        self._full_state = full_state
        self._players = SeatedPolicies(batch, [self._player(each) for each in policies], everywhere)
        if self._players.seating.min() < 0:
            raise RulesError(
                f"seating has a seat of nobody (-1); expected 0 to {len(policies) - 1}, one number "
                "for each policy"
            )
        self._streams = SeatStreams(self._players.credit)
        self._blocks = [self._nothing()]
        numbers = np.zeros(0, dtype=np.int64)
        self._ends = [(numbers, batch.truncated[:0], batch.observation[:0])]
        with self._restarting_here():
            batch.reset(seed)

    @property
    def undecided(self) -> np.ndarray:
        """Units that seats have earned in matches without a decision of theirs, [N, P]."""
        return self._streams.undecided

    def collect(self, steps: int) -> Transitions:
        """Play steps of the batch, up to one decision per table each.

        Decisions that are still open at the end wait, and come complete in a later call.

        Args:
            steps: T, at least 1.

        Raises:
            RulesError: No such number.
            PolicyError: An answer is no distribution over the legal actions.
        """
        everywhere = np.ones(self.batch.num_tables, dtype=np.bool_)
        with self._restarting_here():
            for _ in range(arguments.whole("steps", steps, 1)):
                ended = self._play(everywhere)
                if ended.any():
                    self.batch.reset(which=ended)
        return self._gather()

    def finish(self) -> Transitions:
        """Play every table to the end of its match, where it stays."""
        playing = np.ones(self.batch.num_tables, dtype=np.bool_)
        with self._restarting_here():
            while playing.any():
                playing &= ~self._play(playing)
        return self._gather()

    def _player(self, policy: Any) -> Policy:
        game, seats = self.batch.spec.name, self.batch.num_players
        if _is_function(policy):
            rules = self.batch.observe_rules
            asked = FunctionPolicy(
                policy, observation=self._kind, returns="probabilities", observe_rules=rules
            )
            return asked.at_table(game, seats)
        return resolve(policy, game, seats, self.batch.rules)

    @contextmanager
    def _restarting_here(self) -> Iterator[None]:
        """Let finished tables wait, so that their last observations can be read."""
        before, self.batch.restart = self.batch.restart, False
        try:
            yield
        finally:
            self.batch.restart = before

    def _play(self, which: np.ndarray) -> np.ndarray:
        """Play one decision at each chosen table; return the matches that have ended, [N] bool."""
        # A match that the cards decided before anybody could has none: it is paid out and ends.
        batch, players = self.batch, self._players
        tables, seats, _, uniforms = due = players.due(which)
        actions = np.zeros(batch.num_tables, dtype=np.int64)
        if len(tables):
            probabilities = players.probabilities(due)
            actions[tables] = chosen = pick_actions(probabilities, uniforms)
            chosen_share = probabilities[np.arange(len(tables)), chosen]
            # Counted from forehand, which speaks first: the dealer moves on with every deal.
            position = (seats - batch.tables["dealer"][tables] - 1) % batch.num_players
            seen = batch.observation[tables], batch.mask[tables]
            state = self._states()[tables]
            logs = np.log(chosen_share)
            self._blocks.append((*seen, chosen, logs, tables, seats, position, state))
            self._streams.decide(tables, seats)
        players.step(actions, which)
        ended = which & (batch.terminated | batch.truncated)
        self._look_back(ended)
        self._streams.end(ended)
        return ended

    def _look_back(self, ended: np.ndarray) -> None:
        """Note how matches have ended for the seats that have decided in them."""
        tables, seats = np.nonzero((self._streams.open >= 0) & ended[:, None])
        if len(tables):
            rows = self._streams.open[tables, seats]
            # A table can end for several seats, and a batch looks at one seat of each table, so it
            # is copied for each.
            seen = self.batch.take(tables).observe(seats)
            self._ends.append((rows, self.batch.truncated[tables], seen))

    def _gather(self) -> Transitions:
        """Return the complete decisions, and keep the open ones."""
        rows, reward, next_rows, following = self._streams.completed()
        columns = [np.concatenate(parts) for parts in zip(*self._blocks, strict=True)]
        ends, cut_off, after_end = map(np.concatenate, zip(*self._ends, strict=True))
        self._ends = [(ends[:0], cut_off[:0], after_end[:0])]
        carried = self._streams.carry()
        self._blocks = [tuple(column[carried] for column in columns)]
        seen, mask, action, log_probability, table, seat, position, state = columns
        seen = np.concatenate([seen, after_end])  # what is seen after the end lies behind the rest
        masks = np.concatenate([mask, np.zeros((len(ends), mask.shape[1]), dtype=np.int8)])
        final, truncated = np.zeros(len(mask), np.int64), np.zeros(len(mask), np.bool_)
        final[ends], truncated[ends] = np.arange(len(mask), len(seen)), cut_off
        over, truncated = next_rows == END, truncated[rows]
        after = np.where(over, final[rows], next_rows)
        read = self._reading or (lambda shown: shown)
        return Transitions(
            observation=read(seen[rows]),
            mask=mask[rows],
            action=action[rows],
            reward=reward,
            next_observation=read(seen[after]),
            next_mask=masks[after],
            terminated=over & ~truncated,
            truncated=truncated,
            log_probability=log_probability[rows],
            table=table[rows],
            seat=seat[rows],
            position=position[rows],
            following=following,
            full_state=state[rows] if self._full_state else None,
        )

    def _states(self) -> np.ndarray:
        """Return the full state of all tables, seen from the seats to act; [N, 0] if not asked."""
        if not self._full_state:
            return np.zeros((self.batch.num_tables, 0), dtype=np.uint8)
        return self.batch.full_state(np.maximum(self.batch.seat, 0))

    def _nothing(self) -> tuple[np.ndarray, ...]:
        """Return the columns of no decisions."""
        batch, numbers = self.batch, np.zeros(0, dtype=np.int64)
        state = batch.spec.layout("full_state", batch.observe_rules)
        size = width(state(batch.num_players)) if self._full_state else 0
        states = np.zeros((0, size), dtype=np.uint8)
        seen, mask = batch.observation[:0], batch.mask[:0]
        return seen, mask, numbers, np.zeros(0), numbers, numbers, numbers, states


def collect(
    batch: Batch,
    policy: PolicyFunction | PlayerLike | Sequence[PolicyFunction | PlayerLike],
    *,
    observation: str = "float",
    seed: int | None = None,
    seating: np.ndarray | None = None,
    full_state: bool = False,
) -> Transitions:
    """Begin matches at all tables and play each to its end.

    Example:
        >>> import kille_env
        >>> batch = kille_env.make_batch("byteskille", 64, 3, restart=False)
        >>> found = kille_env.collect(batch, "rule_of_thumb", seed=1)
        >>> found.observation.shape == (len(found.action), batch.observation.shape[1])
        True

    Args:
        batch: The tables; their matches are over afterwards. Those on a GPU are played there: the
            policy gets tensors and the decisions are tensors, see
            `kille_env.play.torch_experience.collect`.
        policy: See `Collector`, as for the other arguments.
        observation: "float", "seats" or "box"; see `Collector`.
        seed: Seed of the batch; None continues its random streams.
        seating: [N, P] or [P], number of the policy that plays each seat; see `Collector`.
        full_state: Whether to return the full state at each decision, for a central critic.
    """
    if not isinstance(batch, Batch):
        return _collect_on_gpu(batch, policy, observation, seed, seating, full_state)
    return Collector(
        batch, policy, observation=observation, seed=seed, seating=seating, full_state=full_state
    ).finish()


def _collect_on_gpu(
    batch: Any, policy: Any, observation: str, seed: int | None, seating: Any, full_state: bool
) -> Transitions:
    if full_state:
        raise RulesError("the full state is returned with device='cpu'; on a GPU leave it out")
    if seating is not None:
        raise RulesError("on a GPU one policy plays all seats; a seating needs device='cpu'")
    from kille_env.play import torch_experience

    return torch_experience.collect(batch, policy, observation=observation, seed=seed)
