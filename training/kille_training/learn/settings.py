"""Settings of a training run. What each key means is documented in the class that has it."""

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from kille_env.errors import ConfigError, shortened
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

DECISIONS = 2_000_000
"""Decisions of a run, where nothing says how many."""


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
        learner: `decisions`, those of the whole run (2,000,000), and hyperparameters of the method,
            those that differ from its defaults.
        measure: How it is measured.
        checkpoint_seconds: Seconds between two checkpoints; the result does not depend on it.
        made_with: Versions that a run was made with; the run writes them, nothing reads them.
    """

    name: FolderName = "byteskille"
    seed: Seed = 1
    table: TableSettings = field(default_factory=TableSettings)
    method: str = "maskable_ppo"
    learner: Mapping[str, Any] = field(default_factory=dict)
    measure: MeasureSettings = field(default_factory=MeasureSettings)
    checkpoint_seconds: Positive = 15.0
    made_with: Mapping[str, Any] = field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _with_one_learner(cls, content: Any) -> Any:
        """Takes files that have hyperparameters of other methods than MaskablePPO in `settings`."""
        if not isinstance(content, dict) or "settings" not in content:
            return content
        content = dict(content)
        given, learner = content.pop("settings"), content.get("learner", {})
        if not isinstance(given, dict):
            raise ConfigError(f"settings is {shortened(given)}, expected keys with values")
        if not isinstance(learner, dict):
            return content
        if content.get("made_with") and content.get("method") != "maskable_ppo":
            # Written by a run: the learner's other keys are the defaults of MaskablePPO. One that
            # is not was written by hand, and is taken or refused as any other.
            defaults = {**plain(settings_of("maskable_ppo", {})), "decisions": None}
            learner = {
                key: value
                for key, value in learner.items()
                if key not in defaults or value != defaults[key]
            }
        return {**content, "learner": {**learner, **given}}

    def __post_init__(self) -> None:
        """Refuses a table that does not exist, and a run without decisions."""
        self.table.resolve()
        if type(self.decisions) is not int or self.decisions < 1:
            raise ConfigError(
                f"learner.decisions is {shortened(self.decisions)}, expected a whole number, at "
                "least 1"
            )

    @property
    def decisions(self) -> int:
        """Decisions of the whole run; it ends after the update that reaches them."""
        return self.learner.get("decisions", DECISIONS)

    def hyperparameters(self, before: str = "") -> Any:
        """Returns the settings of the method.

        Args:
            before: What a refusal begins with: where the settings come from, as "file.yaml: ".

        Raises:
            ConfigError: There is no such method or key, or a value does not fit.
        """
        given = {key: value for key, value in self.learner.items() if key != "decisions"}
        return settings_of(self.method, given, f"{before}learner.")

    def resolved(self) -> Self:
        """Returns the same with every hyperparameter of the method.

        Raises:
            ConfigError: As for `hyperparameters`.
        """
        learner = {"decisions": self.decisions, **plain(self.hyperparameters())}
        return replace(self, learner=learner)


def load_settings(path: Path, overrides: Overrides = (), **values: Any) -> TrainSettings:
    """Reads the settings of a run to begin; see `kille_training.settings.load` and `overridden`."""
    config = load(TrainSettings, path)
    config.hyperparameters(f"{path}: ")
    return overridden(config, overrides, str(path), **values)


def overridden(
    config: TrainSettings, overrides: Overrides, where: str, **values: Any
) -> TrainSettings:
    """Returns settings with every hyperparameter of their method.

    Args:
        config: Settings.
        overrides: Values that win over them. A method that they change keeps the decisions of the
            learner, and nothing else: its hyperparameters are those of the other method.
        where: Where the settings come from, for messages.
        **values: As for `kille_training.settings.load`.

    Raises:
        ConfigError: A key is unknown, or a value does not fit.
    """
    content = plain(replace(config, made_with={}))  # the run to begin writes its own
    if dict(each_override(overrides)).get("method", config.method) != config.method:
        content["learner"] = {"decisions": config.decisions}
    return changed(TrainSettings, content, overrides, where, **values).resolved()


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
