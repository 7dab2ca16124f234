"""The folder of a run: which file holds what.

runs/NAME/
  config.yaml              the resolved settings, with the seed and the versions that made the run
  checkpoint.safetensors   everything needed to resume exactly
  progress.csv             one line per update
  measurements.csv         what the policy earned against the baselines while it learned
  exact.csv                exact NashConv while it learned, where that was measured
  tensorboard/             the same two for TensorBoard
  policy.safetensors       the policy, see `kille_agents.network`
  policy.json              its metadata
  evaluation.json          what it earned at the end
  report.html              the report
"""

from dataclasses import replace
from pathlib import Path

from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_training.evaluation.results import Evaluation
from kille_training.learn.settings import TrainSettings, differences, load_settings
from kille_training.settings import as_yaml, plain, versions

SEED_PREFIX = "seed-"
"""What the folders of runs begin with that differ in nothing but their seed, see `seeds`."""


class Run:
    """The folder of a run, and the paths of its files, which need not exist."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "config.yaml"
        self.checkpoint = folder / "checkpoint.safetensors"
        self.progress = folder / "progress.csv"
        self.measurements = folder / "measurements.csv"
        self.exact = folder / "exact.csv"
        self.tensorboard = folder / "tensorboard"
        self.evaluation = folder / "evaluation.json"
        self.report = folder / "report.html"

    def __repr__(self) -> str:
        """The call that makes it."""
        return f"Run({str(self.folder)!r})"

    def settings(self) -> TrainSettings:
        """Reads the settings that the run was started with.

        Raises:
            ConfigError: This is not the folder of a run.
        """
        if not self.config.is_file():
            if several := seed_runs(self.folder):
                raise ConfigError(
                    f"{self.folder} holds {len(several)} runs by seed; name one of them, such as "
                    f"{next(iter(several.values())).folder}"
                )
            raise ConfigError(f"{self.folder} is no run: it holds no {self.config.name}")
        return load_settings(self.config)

    def check_same(self, settings: TrainSettings) -> None:
        """Refuses to resume the run with other settings.

        Raises:
            ConfigError: The message names every key that differs.
        """
        both = (plain(replace(each, made_with={})) for each in (self.settings(), settings))
        if wrong := differences(*both):
            raise ConfigError(
                f"{self.folder} holds a run with other settings ({'; '.join(wrong)}); "
                "remove it, or begin another one with --out FOLDER"
            )

    def write_settings(self, settings: TrainSettings) -> None:
        """Writes the resolved settings with the installed versions."""
        content = plain(settings) | {"made_with": versions()}
        head = "# The resolved settings of this run. `kille train` with this folder resumes it.\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.config, (head + as_yaml(content)).encode())

    def read_evaluation(self) -> Evaluation | None:
        """Returns the measurement at the end, None before there is one.

        Raises:
            ConfigError: The file is damaged.
        """
        return Evaluation.read(self.evaluation) if self.evaluation.is_file() else None


def seed_runs(folder: Path) -> dict[int, Run]:
    """Return the runs below a folder by seed; none if it is no folder of seeds."""
    found = {}
    for path in folder.glob(f"{SEED_PREFIX}*"):
        number = path.name.removeprefix(SEED_PREFIX)
        if number.isdecimal() and (run := Run(path)).config.is_file():
            found[int(number)] = run
    return dict(sorted(found.items()))
