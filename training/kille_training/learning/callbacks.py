"""Exact NashConv while a model of Stable-Baselines3 learns."""

from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from kille_agents.greedy import PLAYS
from kille_env.adapters.options import one_of
from kille_env.adapters.sb3_asking import asking_of, check_last_seen
from kille_env.errors import ConfigError
from kille_env.policy import Player, resolve
from kille_training.evaluation.api import BOTH, RulesLike
from kille_training.evaluation.exact import ExactNashConv, check_exact, exact_rows
from kille_training.solving.byteskille.deals import build_deal
from kille_training.tables import table_for


class NashConvCallback(BaseCallback):
    """Logs how far a model is from an equilibrium while it learns, exactly.

        model.learn(2_000_000, callback=NashConvCallback("byteskille", 3, every=100_000))

    The numbers go to the model's logger, and so to whatever reads that: TensorBoard, a CSV file,
    W&B, MLflow. `exact/sampled/nash_conv` is in units per deal, `exact/sampled/stakes` in stakes;
    likewise `greedy`, or `deterministic` for a model that never mixes actions. Measuring changes no
    random generator, so a run learns the same with the callback as without it.

    Attributes:
        found: What was measured: the decisions made by then, and the rows, one for each way to
            play.
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
            game: The game; None is the one that the model learns.
            num_players: Seats; None is as many as the model learns at.
            rules: A preset or switches; what is not given is as the model learns it.
            every: Decisions between two measurements; the first comes before any, the last at the
                end.
            play: "sampled", "greedy" or "both".
            transfer: Whether another table is meant than the one that the model learns at.

        Raises:
            KilleError: There is no exact tree of this table; the message says why.
        """
        super().__init__()
        if every < 1:
            raise ConfigError(f"every is {every}, expected decisions between two measurements")
        one_of("play", play, (*PLAYS, BOTH))
        early = table_for("uniform", game, num_players, "deal", rules)
        if game is not None:
            check_exact(*early)
        self.every, self.plays = every, PLAYS if play == BOTH else (play,)
        self.found: list[tuple[int, list[ExactNashConv]]] = []
        self._asked = game, num_players, rules, transfer
        self._deal: Any = None
        self._next = 0

    def _on_training_start(self) -> None:
        game, num_players, rules, transfer = self._asked
        episode = "deal" if transfer else None
        self.num_players, self.rules = table_for(self.model, game, num_players, episode, rules)
        check_exact(self.num_players, self.rules)
        self._player()  # refuses another table than the model's
        if self._deal is None or (self._deal.num_players, self._deal.rules) != (
            self.num_players,
            self.rules,
        ):
            self._deal = build_deal(self.num_players, self.rules)
        self._next = self.num_timesteps

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self._next:
            check_last_seen(self.model, asking_of(self.model))
            self._measure()
            while self._next <= self.num_timesteps:
                self._next += self.every

    def _on_training_end(self) -> None:
        self._measure()
        self.logger.dump(self.num_timesteps)

    def _measure(self) -> None:
        player = self._player()
        rows = exact_rows(player, self.num_players, self.rules, self.plays, deal=self._deal)
        self.found.append((self.num_timesteps, rows))
        for row in rows:
            self.logger.record(f"exact/{row.play}/nash_conv", row.nash_conv)
            self.logger.record(f"exact/{row.play}/stakes", row.stakes)

    def _player(self) -> Player:
        transfer = self._asked[-1]
        return resolve(self.model, self.rules.game, self.num_players, self.rules, transfer=transfer)
