"""Exact NashConv while a model of Stable-Baselines3 learns."""

from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from kille_agents.greedy import PLAYS
from kille_env.errors import ConfigError
from kille_env.play.options import one_of
from kille_env.play.policy import resolve
from kille_env.registry import Table
from kille_training.evaluation.api import BOTH
from kille_training.evaluation.exact import exact_rows
from kille_training.evaluation.results import ExactNashConv
from kille_training.solving.grow import build_deal
from kille_training.solving.size import check_deal
from kille_training.tables import RulesLike, seat


class NashConvCallback(BaseCallback):
    """Log the exact NashConv of a model while it learns.

    The model's logger receives the results, for TensorBoard, a CSV file, W&B or MLflow:
    `exact/sampled/nash_conv` in units per deal, `exact/sampled/stakes` in stakes; likewise
    `greedy`, or `deterministic` for a model that never mixes actions. Measuring changes no random
    generator, so learning is the same with and without the callback.

    Example:
        >>> import kille_training as kt
        >>> from kille_env.sb3 import SeatPPO, SelfPlayVecEnv
        >>> venv = SelfPlayVecEnv("byteskille", 16, 2, rules={"fraga": "off"})
        >>> model = SeatPPO("MlpPolicy", venv, n_steps=8)
        >>> watching = kt.NashConvCallback(every=64)
        >>> model = model.learn(128, callback=watching)
        >>> [decisions for decisions, rows in watching.found][:2]
        [0, 128]

    Attributes:
        found: The measurements: decisions so far, and the rows, one for each way of play.
    """

    def __init__(
        self,
        game: str | None = None,
        num_players: int | None = None,
        *,
        rules: RulesLike = None,
        every: int = 100_000,
        play: str = BOTH,
        transfer: bool = False,
    ) -> None:
        """Prepare to measure single deals of a table.

        Args:
            game: The game; None is that of the model's environment.
            num_players: Seats; likewise.
            rules: A preset or switches; likewise.
            every: Decisions between two measurements; there is also one before the first decision
                and one at the end.
            play: "sampled", "greedy" or "both".
            transfer: Whether to measure at a table other than that of training.

        Raises:
            KilleError: There is no exact tree of this table; the message gives the reason.
        """
        super().__init__()
        if every < 1:
            raise ConfigError(f"every is {every}, expected at least 1 decision")
        episode = "deal" if transfer else None
        self._asked, self._transfer = (game, num_players, episode, rules), transfer
        if game is not None:
            table = Table.of(game, num_players, rules)
            check_deal(table.num_players, table.rules)
        one_of("play", play, (*PLAYS, BOTH))
        self.every, self.plays = every, PLAYS if play == BOTH else (play,)
        self.found: list[tuple[int, list[ExactNashConv]]] = []
        self._deal: Any = None
        self._next = 0

    def _on_training_start(self) -> None:
        table, (self._seated,), _ = seat([self.model], *self._asked, transfer=self._transfer)
        check_deal(table.num_players, table.rules)
        self.num_players, self.rules = table.num_players, table.rules
        deal = self._deal
        if deal is None or (deal.num_players, deal.rules) != (self.num_players, self.rules):
            self._deal = build_deal(self.num_players, self.rules)
        self._next = self.num_timesteps

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self._next:
            self._measure()
            while self._next <= self.num_timesteps:
                self._next += self.every

    def _on_training_end(self) -> None:
        self._measure()
        self.logger.dump(self.num_timesteps)

    def _measure(self) -> None:
        player = resolve(self._seated, self.rules.game, self.num_players, self.rules)
        rows = exact_rows(player, self.num_players, self.rules, self.plays, deal=self._deal)
        self.found.append((self.num_timesteps, rows))
        for row in rows:
            self.logger.record(f"exact/{row.play}/nash_conv", row.nash_conv)
            self.logger.record(f"exact/{row.play}/stakes", row.stakes)
