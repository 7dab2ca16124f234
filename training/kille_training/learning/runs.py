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

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import kille_env
from kille_env.core.jit import source_digest
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_training.evaluation.api import Evaluation
from kille_training.learning.settings import TrainSettings, load_settings
from kille_training.settings import as_yaml, plain

LIBRARIES = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib", "gymnasium")


@dataclass(frozen=True)
class Run:
    """The folder of a run.

    Attributes:
        folder: Its path.
    """

    folder: Path

    @property
    def config(self) -> Path:
        """The resolved settings."""
        return self.folder / "config.yaml"

    @property
    def checkpoint(self) -> Path:
        """The state that the run resumes from."""
        return self.folder / "checkpoint.safetensors"

    @property
    def progress(self) -> Path:
        """One line per update."""
        return self.folder / "progress.csv"

    @property
    def measurements(self) -> Path:
        """What the policy earned while it learned."""
        return self.folder / "measurements.csv"

    @property
    def exact(self) -> Path:
        """Exact NashConv while the policy learned."""
        return self.folder / "exact.csv"

    @property
    def tensorboard(self) -> Path:
        """Event files."""
        return self.folder / "tensorboard"

    @property
    def evaluation(self) -> Path:
        """What the policy earned at the end."""
        return self.folder / "evaluation.json"

    @property
    def report(self) -> Path:
        """The report."""
        return self.folder / "report.html"

    def settings(self) -> TrainSettings:
        """Reads the settings that the run was started with.

        Raises:
            ConfigError: This is not the folder of a run.
        """
        if not self.config.is_file():
            raise ConfigError(f"{self.folder} is no run: it holds no {self.config.name}")
        return load_settings(self.config)

    def write_settings(self, settings: TrainSettings) -> None:
        """Writes the resolved settings with the installed versions."""
        content = plain(settings) | {"made_with": versions()}
        text = "# The resolved settings of this run. `kille train` with this folder resumes it.\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        text += as_yaml(content)
        write_whole(self.config, text.encode())

    def read_evaluation(self) -> Evaluation | None:
        """Returns the measurement at the end, None before there is one.

        Raises:
            ConfigError: The file is damaged.
        """
        return Evaluation.read(self.evaluation) if self.evaluation.is_file() else None


def versions() -> dict[str, str]:
    """Returns what the exact results of a run depend on: our sources, Python and the libraries."""
    found = {
        "kille-env": kille_env.__version__,
        "sources": source_digest(Path(kille_env.__file__).parent),
        "python": platform.python_version(),
    }
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "missing"
    return found
