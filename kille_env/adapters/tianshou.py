# pyright: reportMissingImports=false, reportUntypedBaseClass=false
"""Tianshou: a collector that plays all seats of many tables and credits each seat's decisions.

    buffer = ReplayBuffer(size=20_000)
    collector = SeatCollector(policy, kille_env.make_batch("byteskille", 1_024), buffer)
    algorithm.run_training(OnPolicyTrainerParams(training_collector=collector, ...))

It stands where Tianshou's own `Collector` does. That one, over Tianshou's wrapper of PettingZoo,
plays one table per Python object, and puts what a seat earns by the others' actions into other
seats' transitions.
"""

from typing import Any, cast

import numpy as np

from kille_env.core.batch import Batch as Tables
from kille_env.errors import KilleError
from kille_env.extras import needs
from kille_env.play.experience import Collector, Transitions

with needs("tianshou"):
    from gymnasium.spaces import Discrete
    from tianshou.data import Batch, CollectStats, ReplayBuffer, to_numpy
    from tianshou.data.collector import BaseCollector


__all__ = ["SeatCollector"]


class SeatCollector(BaseCollector[CollectStats]):
    """Fills a buffer with the decisions of all seats of all tables, one policy in every seat.

    A transition is a decision of a seat, all that the seat earned until its next one, and what it
    saw then. Observations are `Batch(obs=[F] float32, mask=[A] bool)`, as Tianshou's policies for
    value methods read them. A seat's decisions lie one behind the other, so that returns over any
    number of steps run along the seat's own stream:

    - An episode is a match of one seat. At its end *terminated* is set, also at a cap, where the
      rules pay everything out and nothing is left to estimate.
    - Where a seat's next decision is not complete yet and comes with a later call, *truncated* is
      set, and Tianshou estimates the rest from the next observation.

    Actions are the policy's own, with its exploration noise: `torch.manual_seed` and
    `numpy.random.seed` fix them, the batch's seed fixes the cards.
    """

    def __init__(self, policy: Any, batch: Tables, buffer: ReplayBuffer) -> None:
        """Sets up the collector; `reset` begins the matches, as a trainer does.

        Args:
            policy: A policy of Tianshou for discrete actions, or an algorithm that has one.
            batch: The tables.
            buffer: A plain or prioritized buffer, for at least the decisions of one `collect`.

        Raises:
            KilleError: The buffer consists of several.
        """
        if len(buffer.subbuffer_edges) > 2:
            raise KilleError(
                f"SeatCollector fills one buffer for all tables, got a {type(buffer).__name__}: "
                "give a ReplayBuffer"
            )
        super().__init__(policy, cast(Any, _Tables(batch)), buffer, exploration_noise=True)
        self._batch = batch
        self._collector: Any = None
        self._so_far = np.zeros((2, 0))

    def reset_env(self, gym_reset_kwargs: dict[str, Any] | None = None) -> Any:
        """Begins new matches at all tables; decisions that were open are forgotten."""
        self._collector = Collector(self._batch, self._act)
        self._so_far = np.zeros((2, self._batch.num_tables * self._batch.num_players))
        return self._batch.observation, np.array([{}])

    def _collect(
        self,
        n_step: int | None = None,
        n_episode: int | None = None,
        random: bool = False,
        render: float | None = None,
        gym_reset_kwargs: dict[str, Any] | None = None,
    ) -> CollectStats:
        if self._collector is None:
            self.reset_env()
        self._random = random
        found = self.collect_stats_class()
        if n_step:
            self._play(-(-n_step // self._batch.num_tables), found)
        while n_episode and found.n_collected_episodes < n_episode:
            self._play(1, found)
        self.collect_step += found.n_collected_steps
        self.collect_episode += found.n_collected_episodes
        return found

    def _play(self, steps: int, found: CollectStats) -> None:
        """Plays steps of the batch, and adds what is complete to the buffer and the statistics."""
        decisions = self._collector.collect(steps)
        streams = decisions.table * self._batch.num_players + decisions.seat
        order = streams.argsort(kind="stable")
        if len(order) > self.buffer.maxsize:
            raise KilleError(
                f"{len(order)} decisions do not fit into a buffer for {self.buffer.maxsize}: "
                "make it larger, or collect fewer at a time"
            )
        if not len(order):
            return
        rows = Transitions(*(column[order] for column in decisions))
        ended = rows.terminated | rows.truncated
        cut = ~ended & (rows.following < 0)
        self._store(rows, ended, cut)
        self._count(found, rows.reward, streams[order], ended, ended | cut)

    def _store(self, rows: Transitions, ended: np.ndarray, cut: np.ndarray) -> None:
        transitions = {
            "obs": Batch(obs=rows.observation, mask=rows.mask.astype(np.bool_)),
            "obs_next": Batch(obs=rows.next_observation, mask=rows.next_mask.astype(np.bool_)),
            "act": rows.action,
            "rew": rows.reward,
            "terminated": ended,
            "truncated": cut,
            "done": ended | cut,
        }
        self.buffer.update(ReplayBuffer.from_data(**cast(Any, transitions)))

    def _count(
        self,
        found: CollectStats,
        reward: np.ndarray,
        streams: np.ndarray,
        ended: np.ndarray,
        last: np.ndarray,
    ) -> None:
        """Adds the returns and lengths of the episodes that have ended.

        Args:
            found: The statistics.
            reward: [D], stream behind stream.
            streams: [D] numbers of the streams.
            ended: [D] bool, which decisions end an episode.
            last: [D] bool, behind which decisions another episode or stream begins.
        """
        lasts = np.flatnonzero(last)
        begins = np.concatenate([[0], lasts[:-1] + 1])
        sums = np.stack([np.add.reduceat(reward, begins), lasts - begins + 1.0])
        whose = streams[begins]
        first = np.r_[True, whose[1:] != whose[:-1]]
        sums[:, first] += self._so_far[:, whose[first]]
        self._so_far[:, whose] = 0.0
        over = ended[lasts]
        self._so_far[:, whose[~over]] = sums[:, ~over]
        found.n_collected_steps += len(reward)
        found.n_collected_episodes += int(over.sum())
        found.returns = np.concatenate([found.returns, sums[0, over]])
        found.lens = np.concatenate([found.lens, sums[1, over].astype(np.int64)])

    def _act(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the policy's actions as probabilities, [N, A]: all of it on one action."""
        if self._random:
            return mask / mask.sum(axis=1, keepdims=True)
        seen = Batch(obs=Batch(obs=observation, mask=mask.astype(np.bool_)), info=Batch())
        chosen = to_numpy(self.policy(seen).act)
        if self.exploration_noise:
            chosen = self.policy.add_exploration_noise(chosen, seen)
        return np.eye(mask.shape[1])[chosen]


class _Tables:
    """What Tianshou's base class asks of an environment: all streams lie in one buffer."""

    def __init__(self, batch: Tables) -> None:
        self.action_space = Discrete(batch.spec.num_actions)

    def __len__(self) -> int:
        return 1

    def close(self) -> None:
        """Has nothing to close."""
