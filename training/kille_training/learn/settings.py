"""Settings of a training run."""

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from kille_env.errors import ConfigError, shortened
from kille_env.registry import Table
from kille_env.rule_spaces import SpaceTable, rule_space
from kille_env.words.text import listed
from kille_training.labels import SEED
from kille_training.learn.method import settings_of
from kille_training.settings import (
    FolderName,
    List,
    Overrides,
    Positive,
    Seed,
    TableSettings,
    changed,
    each_override,
    load,
    plain,
    settings,
)

DECISIONS = 2_000_000  # default budget in decisions
UNLIMITED = 10**15  # decisions of a run with a budget in CPU seconds


@settings
class MeasureSettings:
    """Measurements of a policy during training and at the end.

    Attributes:
        baselines: Players in the other seats, one row of the table each.
        every: Decisions between two measurements during training; a number below 1 is a share of
            the run. 0 measures at the end only.
        deals: Deals of each of those measurements, each played once from every seat; 0 measures
            exact NashConv only.
        exact: Whether those measurements include exact NashConv, if the tree of a deal fits into
            memory.
        final_deals: Deals of the final measurement.
        seed: Seed of the deals. All measurements share them, so curves show changes of the policy,
            not of the cards.
    """

    baselines: List[str] = ("uniform", "rule_of_thumb")
    every: Annotated[int, Field(ge=0)] | Annotated[float, Field(ge=0, lt=1)] = 250_000
    deals: Annotated[int, Field(ge=0)] = 2_000
    exact: bool = False
    final_deals: Annotated[int, Field(ge=2)] = 20_000
    seed: Seed = SEED


@settings
class SpaceSettings:
    """Rules that differ from table to table.

    Attributes:
        name: A rule space, such as "krypkille-scores"; empty has the rules of `table` alone.
        measured: Region of the space whose tables measure the policy at the end.
        rules: Rules to train with: "told" has each table draw its rules anew at each match, and the
            policy observes them; with "untold" it does not; "default" keeps those of the space.
    """

    name: str = ""
    measured: str = "test"
    rules: Literal["told", "untold", "default"] = "told"


@settings
class TrainSettings:
    """A run of `kille train`.

    Attributes:
        name: Folder of the run below `runs/`.
        seed: Seed of the deals, the network and the play while learning.
        table: The table to learn at.
        space: The rule space to learn over, in place of `table.rules`.
        method: Learning method: a file of `kille_training/learn/methods`.
        learner: `decisions` of the whole run (2,000,000), and the hyperparameters that differ from
            the method's defaults.
        cpu_seconds: Ends the run after so many CPU seconds of learning, measurements and
            compilation apart, unless `learner.decisions` ends it earlier. Such a run is not
            reproducible to the bit.
        measure: The measurements.
        checkpoint_seconds: Seconds between two checkpoints; it does not affect the result.
        made_with: Versions of the run, written for the reader.
    """

    name: FolderName = "byteskille"
    seed: Seed = 1
    table: TableSettings = field(default_factory=TableSettings)
    space: SpaceSettings = field(default_factory=SpaceSettings)
    method: str = "maskable_ppo"
    learner: Mapping[str, Any] = field(default_factory=dict)
    cpu_seconds: Positive | None = None
    measure: MeasureSettings = field(default_factory=MeasureSettings)
    checkpoint_seconds: Positive = 15.0
    made_with: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a table that does not exist, and a run without decisions."""
        self.home()
        if self.measure.deals == 1:
            raise ConfigError("measure.deals is 1, expected 0 or at least 2")
        if type(self.decisions) is not int or self.decisions < 1:
            raise ConfigError(
                f"learner.decisions is {shortened(self.decisions)}, expected a whole number, at "
                "least 1"
            )

    def home(self) -> Table:
        """Return the table to learn at; with a space, it has the default rules of the space."""
        if not self.space.name:
            if self.space.rules != SpaceSettings.rules:
                raise ConfigError(
                    f"space.rules is {self.space.rules!r}, and no space is named: set space.name, "
                    "or leave out space.rules"
                )
            return self.table.table()
        space = rule_space(self.space.name)
        space.region(self.space.measured)  # refuses one that does not exist
        if self.table.rules or self.table.episode != "deal":
            raise ConfigError(
                f"space.name is {space.name!r}, and the space has the rules: leave out table.rules "
                "and table.episode"
            )
        if space.game != self.table.game:
            raise ConfigError(
                f"space.name is {space.name!r}, a space of {space.game}, and table.game is "
                f"{self.table.game!r}"
            )
        if self.table.num_players not in space.seats:
            seats = listed([str(number) for number in space.seats], "or")
            raise ConfigError(
                f"{space.name} has tables of {seats} seats, and table.num_players is "
                f"{self.table.num_players}"
            )
        if self.space.rules == "default":
            return Table.of(space.game, self.table.num_players, space.base)
        told = self.space.rules == "told"
        return SpaceTable.over(space, self.table.num_players, told=told)

    @property
    def decisions(self) -> int:
        """Decisions of the whole run, which ends after the update that reaches them."""
        return self.learner.get("decisions", UNLIMITED if self.cpu_seconds else DECISIONS)

    def hyperparameters(self, before: str = "") -> Any:
        """Return the hyperparameters of the method."""
        given = {key: value for key, value in self.learner.items() if key != "decisions"}
        return settings_of(self.method, given, f"{before}learner.")

    def resolved(self) -> Self:
        """Return these settings with every hyperparameter, and the space by its full name."""
        learner = {"decisions": self.decisions, **plain(self.hyperparameters())}
        if learner["decisions"] == UNLIMITED:
            del learner["decisions"]
        name = self.space.name and rule_space(self.space.name).name
        return replace(self, learner=learner, space=replace(self.space, name=name))


def load_settings(path: Path, overrides: Overrides = (), **values: Any) -> TrainSettings:
    """Read the settings of a new run; see `kille_training.settings.load` and `overridden`."""
    config = load(TrainSettings, path)
    config.hyperparameters(f"{path}: ")
    return overridden(config, overrides, str(path), **values)


def overridden(
    config: TrainSettings, overrides: Overrides, where: str, **values: Any
) -> TrainSettings:
    """Return settings with overrides and every hyperparameter of their method."""
    content = plain(replace(config, made_with={}))  # a new run writes its own versions
    if dict(each_override(overrides)).get("method", config.method) != config.method:
        content["learner"] = {"decisions": config.decisions}
    return changed(TrainSettings, content, overrides, where, **values).resolved()


def differences(theirs: Mapping[str, Any], mine: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return the differences of settings, one text per key: "learner.gamma is 1.0, not 0.9"."""
    found = []
    for key in sorted(theirs.keys() | mine.keys()):
        one, other = theirs.get(key), mine.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found += differences(one, other, f"{prefix}{key}.")
        elif one != other:
            found.append(f"{prefix}{key} is {one!r}, not {other!r}")
    return found
