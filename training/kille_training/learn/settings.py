"""Settings of a training run. What each key means is documented in the class that has it."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from kille_env.core.floats import NEAR_SEATS
from kille_env.errors import ConfigError
from kille_env.registry import load_game
from kille_training.labels import SEED
from kille_training.settings import (
    FolderName,
    List,
    Overrides,
    TableSettings,
    load,
    settings,
)

DEFAULT_METHOD = "maskable_ppo"
Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Share = Annotated[float, Field(gt=0.0, le=1.0)]


@settings
class LearnerSettings:
    """Hyperparameters of MaskablePPO. The defaults are the recipe for one-card games.

    Attributes:
        form: "streams": every decision of every seat is used, and each seat's decisions form a
            stream; "seats": one seat per table learns, the live policy plays the others.
        decisions: Decisions of the learner in the whole run.
        num_tables: Tables that are played side by side.
        n_steps: Decisions of each table between two updates.
        batch_size: Decisions per minibatch.
        n_epochs: Passes over the decisions of an update.
        learning_rate: Adam's step size at the beginning.
        anneal: Whether the step size shrinks linearly to zero over the run.
        gamma: Discount per decision; 1 because rewards are money.
        gae_lambda: 1 credits a decision with what really came of it, less what was expected.
        clip_range: How far an update may move the probability of an action.
        ent_coef: Weight of the entropy bonus at the beginning. With a small weight the policy drops
            an action that is wrong in some cases before it can tell the cases apart, and never
            tries it again.
        ent_coef_end: The same at the end, reached linearly: 0.01 where pure play is near the
            optimum, 0.05 and more where bluffing pays.
        vf_coef: Weight of the value loss.
        max_grad_norm: Norm that gradients are clipped to.
        layers: Units of each hidden layer, of the policy and of the value network.
        activation: "tanh" or "relu".
        table_sizes: Numbers of seats of the tables that it learns at; the policy plays at all of
            them. Each has as many tables, and twice as many if it stands there twice. Empty: those
            of `table.num_players`, and at no other.
        episodes: Of such tables "deal", "match" or both; empty: `table.episode`.
        near_seats: For such tables: seats with weights of their own, the nearest ones.
        begin_with: Name or path of a trained network that the policy begins with, such as
            "knack/trained"; it needs the same layers, and with `table_sizes` the same `near_seats`.
            Without one the policy begins anew, as the value network always does.
        torch_threads: Threads of torch; two are slower than one for networks of this size.
    """

    form: Literal["streams", "seats"] = "streams"
    decisions: Count = 2_000_000
    num_tables: Count = 512
    n_steps: Count = 16
    batch_size: Count = 1024
    n_epochs: Count = 4
    learning_rate: Positive = 1e-3
    anneal: bool = True
    gamma: Share = 1.0
    gae_lambda: Share = 1.0
    clip_range: Positive = 0.2
    ent_coef: NotNegative = 0.1
    ent_coef_end: NotNegative = 0.01
    vf_coef: NotNegative = 0.5
    max_grad_norm: Positive = 0.5
    layers: Annotated[List[Count], Field(min_length=1)] = (64, 64)
    activation: Literal["tanh", "relu"] = "tanh"
    table_sizes: List[Count] = ()
    episodes: List[Literal["deal", "match"]] = ()
    near_seats: Count = NEAR_SEATS
    begin_with: str = ""
    torch_threads: Count = 1

    @property
    def total(self) -> int:
        """Decisions of the whole run in whole updates."""
        update = self.num_tables * self.n_steps
        return -(-self.decisions // update) * update

    def __post_init__(self) -> None:
        """Refuses what cannot be trained with."""
        kinds = len(self.table_sizes) * max(1, len(self.episodes))
        if kinds and self.num_tables % kinds:
            raise ConfigError(
                f"num_tables is {self.num_tables}, which {kinds} kinds of tables cannot share "
                f"evenly; expected a multiple of {kinds}"
            )
        if self.episodes and not self.table_sizes:
            raise ConfigError(
                "learner.episodes is for learner.table_sizes; set table.episode for one table"
            )
        if self.table_sizes and self.form != "streams":
            raise ConfigError("learner.table_sizes needs learner.form streams")
        if self.num_tables * self.n_steps % self.batch_size == 1:
            raise ConfigError(
                "batch_size leaves a last minibatch of one decision, which has no spread to "
                "normalise by; choose a divisor of num_tables * n_steps"
            )


@settings
class MeasureSettings:
    """How the agent is measured, while it learns and at the end.

    Attributes:
        baselines: Players in the other seats, one row of the table each.
        every: Decisions between two measurements while it learns; 0 measures at the end only.
        deals: Deals of each of those measurements, each played once from every seat.
        exact: Whether those measurements include exact NashConv, where the tree of a deal fits
            into memory.
        final_deals: Deals of the measurement at the end.
        seed: Seed of the deals. They are the same in every measurement, so the curve shows how the
            policy changes and not the cards.
    """

    baselines: List[str] = ("uniform", "rule_of_thumb")
    every: Annotated[int, Field(ge=0)] = 250_000
    deals: Annotated[int, Field(ge=2)] = 2_000
    exact: bool = False
    final_deals: Annotated[int, Field(ge=2)] = 20_000
    seed: Seed = SEED


@settings
class TrainSettings:
    """A run of `kille train`.

    Attributes:
        name: Folder of the run below `runs/`.
        seed: Seed of the deals, the network and the play while learning.
        table: What is played.
        method: How it is learned: a file of `kille_training/learn/methods`.
        learner: Hyperparameters of MaskablePPO; of another method `decisions` alone counts.
        settings: Hyperparameters of another method, those that differ from its defaults.
        measure: How it is measured.
        checkpoint_seconds: Seconds between two checkpoints; the result does not depend on it.
        made_with: Versions that a run was made with; the run writes them, nothing reads them.
    """

    name: FolderName = "byteskille"
    seed: Seed = 1
    table: TableSettings = field(default_factory=TableSettings)
    method: str = DEFAULT_METHOD
    learner: LearnerSettings = field(default_factory=LearnerSettings)
    settings: Mapping[str, Any] = field(default_factory=dict)
    measure: MeasureSettings = field(default_factory=MeasureSettings)
    checkpoint_seconds: Positive = 15.0
    made_with: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses a table that does not exist, or that is not learned at."""
        self.table.resolve()
        sizes, episodes = self.learner.table_sizes, self.learner.episodes
        for seats in sizes:
            load_game(self.table.game).spec.check_players(seats)
        if sizes and self.table.num_players not in sizes:
            raise ConfigError(
                f"table.num_players is {self.table.num_players}, where the policy is measured; "
                f"expected one of learner.table_sizes, {list(sizes)}"
            )
        if episodes and self.table.episode not in episodes:
            raise ConfigError(
                f"table.episode is {self.table.episode!r}, where the policy is measured; "
                f"expected one of learner.episodes, {list(episodes)}"
            )
        if self.method == DEFAULT_METHOD:
            if self.settings:
                raise ConfigError(f"settings are those of other methods than {DEFAULT_METHOD}")
        elif self.learner != LearnerSettings(decisions=self.learner.decisions):
            raise ConfigError(
                f"learner holds hyperparameters of {DEFAULT_METHOD}, and method is "
                f"{self.method!r}; its own stand in settings, and learner.decisions beside them"
            )

    @property
    def total(self) -> int:
        """Decisions of the whole run, in whole updates where their size is known."""
        return self.learner.total if self.method == DEFAULT_METHOD else self.learner.decisions


def load_settings(path: Path, overrides: Overrides = (), **values: Any) -> TrainSettings:
    """Reads the settings of a run; see `kille_training.settings.load`."""
    return load(TrainSettings, path, overrides, **values)


def differences(theirs: Mapping[str, Any], mine: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Returns how plain settings differ, one text per key: "learner.gamma is 1.0, not 0.9"."""
    found = []
    for key in sorted(theirs.keys() | mine.keys()):
        one, other = theirs.get(key), mine.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found += differences(one, other, f"{prefix}{key}.")
        elif one != other:
            found.append(f"{prefix}{key} is {one!r}, not {other!r}")
    return found
