"""The folder of a run and its files.

runs/NAME/
  config.yaml              the resolved settings, with the seed and the versions that made the run
  checkpoint.safetensors   weights, optimizer, counters and generators, to resume from
  progress.csv             one line per update
  measurements.csv         earnings against the baselines during training
  exact.csv                exact NashConv during training, if measured
  shares.csv               with a rule space, the same over its held-out tables
  tensorboard/             the same two for TensorBoard
  policy.safetensors       the policy, see `kille_agents.network`
  policy.json              its metadata
  evaluation.json          the final measurement
  held_out.json            with a rule space, NashConv at its held-out tables
  report.html              the report

A checkpoint is a safetensors file, so reading it runs no code: the state of the learner (networks,
optimizers, counters) and the generators of torch and NumPy. It holds no tables: a resumed run
begins new matches. It is written atomically between two updates, with a digest of the whole file.
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save

from kille_env.errors import ConfigError, PolicyError, shortened
from kille_env.files import make_folder, parse_json, write_whole
from kille_env.streams import say
from kille_training.learn.method import Learner, below
from kille_training.learn.settings import (
    TrainSettings,
    differences,
    load_settings,
    overridden,
)
from kille_training.results import Result, TextTable
from kille_training.settings import (
    Overrides,
    as_yaml,
    find_settings,
    load,
    plain,
    versions,
)

if TYPE_CHECKING:
    from kille_training.evaluation.results import Evaluation

EVALUATION, REPORT, HELD_OUT = "evaluation.json", "report.html", "held_out.json"
SEED_PREFIX = "seed-"  # prefix of the folders of runs by seed, see `seeds`
FORMAT = "kille-checkpoint 6"
BLANK = "0" * 64  # placeholder of the digest during its computation
_DIGEST = re.compile(rb'digest\\": \\"([0-9a-f]{64})\\"')
REMEDY = "delete it, and kille train restarts the run from its settings"
PROGRESS = (
    "decisions",
    "updates",
    "seconds",
    "decisions_per_second",
)
"""First columns of progress.csv, one line per update, before those of the method."""


class Run(Result):
    """The folder of a run and the paths of its files, which need not exist.

    It prints the final earnings, the speed of training, and the paths.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "config.yaml"
        self.checkpoint = folder / "checkpoint.safetensors"
        self.progress = folder / "progress.csv"
        self.measurements = folder / "measurements.csv"
        self.exact = folder / "exact.csv"
        self.shares = folder / "shares.csv"
        self.tensorboard = folder / "tensorboard"
        self.evaluation = folder / EVALUATION
        self.held_out = folder / HELD_OUT
        self.report = folder / REPORT

    def parts(self) -> list[str | TextTable]:
        """Return the results of a finished run, its speed, and its paths."""
        found = self.read_evaluation()
        if found is None:
            return [unfinished(self) or f"{self.folder} has not been measured"]
        files = f"The policy is in {self.folder}, its report in {self.report}"
        held_out = self.held_out_in_words()
        return [*found.parts(), *([held_out] if held_out else []), self.speed(), files]

    def as_dict(self) -> dict[str, Any]:
        """Return the results of a finished run as JSON values."""
        found = self.read_evaluation()
        if found is None:
            raise ConfigError(unfinished(self) or f"{self.folder} has not been measured")
        files: dict[str, Any] = {"run": str(self.folder), "report": str(self.report)}
        if held_out := self.read_held_out():
            files["held_out"] = held_out
        return files | {"speed": self.speed()} | found.as_dict()

    def read_held_out(self) -> dict[str, Any]:
        """Return NashConv at the held-out tables of a rule space; empty without a space."""
        return parse_json(self.held_out.read_bytes()) if self.held_out.is_file() else {}

    def held_out_in_words(self) -> str:
        """Return NashConv at the held-out tables of a rule space as text, "" without a space."""
        if not (found := self.read_held_out()):
            return ""
        shares, middle = [row["share"] for row in found["rows"]], found["interquartile_mean"]
        return (
            f"At {len(shares)} tables with rules that training never draws ({found['tables']}):\n"
            f"{middle['value']:.3f} of random play's NashConv, {max(middle['low'], 0.0):.3f} to "
            f"{middle['high']:.3f} (interquartile mean, 95% interval over\ntables), and "
            f"{max(shares):.3f} at the worst. 0 is an equilibrium."
        )

    def speed(self) -> str:
        """Return the speed of training as a sentence."""
        rows = GrowingCSV(self.progress, PROGRESS).read()
        if not rows:
            return "Speed unknown: progress.csv is missing."
        rate = int(rows[-1]["decisions"]) / float(rows[-1]["seconds"])
        said = f"Training speed: {rate:,.0f} decisions per second."
        if len(rows) == 1 and float(rows[0].get("learning_rate") or 1.0) == 0.0:
            said += (
                " Nothing was learned: the learning rate of the only rollout was annealed to 0. "
                "Set learner.decisions to more than one rollout."
            )
        return said

    def settings(self) -> TrainSettings:
        """Read the settings that the run was started with."""
        if not self.config.is_file():
            if several := seed_runs(self.folder):
                raise ConfigError(
                    f"{self.folder} holds {len(several)} runs by seed; name one of them, such as "
                    f"{next(iter(several.values())).folder}"
                )
            raise ConfigError(f"{self.folder} is not a run: {self.config.name} is missing")
        return load(TrainSettings, self.config)

    def check_same(self, settings: TrainSettings) -> None:
        """Refuse to resume the run with other settings."""
        both = (
            plain(replace(each.resolved(), made_with={})) for each in (self.settings(), settings)
        )
        if wrong := differences(*both):
            raise ConfigError(
                f"{self.folder} holds a run with other settings ({'; '.join(wrong)}); "
                "remove it, or begin a new run with --out FOLDER"
            )

    def write_settings(self, settings: TrainSettings) -> None:
        """Write the resolved settings with the installed versions."""
        content = plain(settings) | {"made_with": versions()}
        head = "# The resolved settings of this run. `kille train` with this folder resumes it.\n"
        make_folder(self.folder)
        write_whole(self.config, (head + as_yaml(content)).encode())

    def read_evaluation(self) -> "Evaluation | None":
        """Return the final measurement, or None if there is none yet."""
        if not self.evaluation.is_file():
            return None
        from kille_training.evaluation.results import Evaluation  # brings what evaluates

        return Evaluation.read(self.evaluation)


def seed_runs(folder: Path) -> dict[int, Run]:
    """Return the runs by seed in a folder, empty if there are none."""
    found = {}
    for path in folder.glob(f"{SEED_PREFIX}*"):
        number = path.name.removeprefix(SEED_PREFIX)
        if number.isdecimal() and (run := Run(path)).config.is_file():
            found[int(number)] = run
    return dict(sorted(found.items()))


def open_run(
    config: str | Path | TrainSettings,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    set: Overrides = (),
) -> tuple[Run, TrainSettings | None]:
    """Return a run with its settings, None to resume; arguments as for `train`."""
    if not isinstance(config, TrainSettings) and Path(config).is_dir():
        if out is not None or seed is not None or set:
            raise ConfigError(f"{config} is a run with its own settings; give no out, seed or set")
        return Run(Path(config)), None
    settings = load_named(config, out=out, seed=seed, set=set)
    return Run(Path("runs") / settings.name if out is None else Path(out)), settings


def load_named(
    config: str | Path | TrainSettings,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    set: Overrides = (),
) -> TrainSettings:
    """Return the settings of a file or recipe, named after the folder of the run."""
    if isinstance(config, TrainSettings):
        return overridden(config, set, "the settings", seed=seed)
    path = find_settings(config, "train")
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; name a recipe or a file of settings")
    name = None if out is None else Path(out).resolve().name
    return load_settings(path, set, name=name, seed=seed)


def unfinished(run: Run) -> str | None:
    """Return an error text for an unfinished run; None if it is finished or not a run."""
    if not run.config.is_file():
        return None
    settings, header = run.settings(), _header_of(run.checkpoint)
    if limit := settings.cpu_seconds:
        done, wanted, said = header["seconds"], limit, "has learned for {:.0f} of {:g} CPU seconds"
    else:
        done, wanted, said = (
            header["decisions"],
            settings.decisions,
            "has made {:,} of {:,} decisions",
        )
    if done >= wanted:
        return None
    return f"{run.folder} {said.format(done, wanted)}; finish it first: kille train {run.folder}"


class GrowingCSV:
    """A CSV file that grows line by line; its first column counts decisions.

    A resumed run continues it. The file may have more columns behind the given ones.
    """

    def __init__(
        self,
        path: Path,
        columns: tuple[str, ...],
        texts: Mapping[str, Callable[[str], object]] = MappingProxyType({}),
    ) -> None:
        """Name a file, which need not exist."""
        self.path, self.columns, self.texts = path, columns, texts

    def begin(self, up_to: int) -> None:
        """Keep the lines up to a number of decisions; later ones are repeated."""
        kept = [row for row in self.read() if int(row["decisions"]) <= up_to]
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
        write_whole(self.path, text.getvalue().encode())

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a line."""
        with self.path.open("a", encoding="utf-8", newline="") as file:
            csv.DictWriter(file, self.columns, lineterminator="\n").writerow(row)

    def read(self) -> list[dict[str, str]]:
        """Return the complete lines; none if there is no file."""
        if not self.path.is_file():
            return []
        try:
            text = self.path.read_text(encoding="utf-8")
            reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1]), strict=True)
            rows = list(reader)
            self._check(reader.fieldnames, rows)
        except (ValueError, csv.Error) as error:
            raise ConfigError(
                f"{self.path} is damaged: {error}. Move it away and run the command again; the run "
                "continues without its history"
            ) from None
        return rows

    def _check(self, columns: Sequence[str] | None, rows: list[dict[str, str]]) -> None:
        """Raise a `ValueError` for columns or rows of another table."""
        if tuple(columns or ())[: len(self.columns)] != self.columns:
            raise ValueError(f"expected the columns {', '.join(self.columns)}")
        for number, row in enumerate(rows, start=2):
            for name, value in row.items():
                if name in self.texts:
                    self.texts[name](value)
                    continue
                try:
                    float(value)
                except (TypeError, ValueError):
                    raise ValueError(f"line {number} has no number under {name}") from None


class TensorBoard:
    """Write the same numbers for TensorBoard."""

    def __init__(self, folder: Path, up_to: int) -> None:
        """Open an event file that hides earlier entries beyond `up_to` decisions."""
        from torch.utils.tensorboard import SummaryWriter  # only a run needs it

        self._writer = SummaryWriter(str(folder), purge_step=up_to + 1)

    def add(self, prefix: str, row: Mapping[str, Any], names: Iterable[str]) -> None:
        """Write some columns of a line."""
        for name in names:
            self._writer.add_scalar(f"{prefix}/{name}", float(row[name]), int(row["decisions"]))
        self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        self._writer.close()


def write_checkpoint(path: Path, learner: Learner, header: Mapping[str, Any]) -> None:
    """Write the state of a learner between two updates."""
    import torch  # not needed to read a checkpoint

    generator = np.random.get_state(legacy=False)  # SB3 shuffles with it
    arrays = {
        "torch_generator": torch.get_rng_state().numpy(),
        "numpy_generator": generator["state"]["key"],
        "numpy_position": np.array(generator["state"]["pos"]),
        **{f"learner/{name}": array for name, array in learner.state().items()},
    }
    content = {"format": FORMAT, "digest": BLANK, "decisions": learner.decisions, **header}
    whole = {name: np.array(array, order="C") for name, array in arrays.items()}
    data = save(whole, metadata={"checkpoint": json.dumps(content)})
    digest = hashlib.sha256(data).hexdigest()
    write_whole(path, data.replace(BLANK.encode(), digest.encode(), 1))


def read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a checkpoint."""
    data = path.read_bytes()
    found = _DIGEST.search(data, 0, 1 << 20)
    if found is None:
        raise PolicyError(
            f"{path} is not a checkpoint ({FORMAT}), or its header is damaged; {REMEDY}"
        )
    begin, end = found.span(1)
    blanked = b"".join([data[:begin], BLANK.encode(), data[end:]])
    if hashlib.sha256(blanked).hexdigest().encode() != found[1]:
        raise PolicyError(f"the checkpoint {path} is damaged: its digest does not match; {REMEDY}")
    length = int.from_bytes(data[:8], "little")
    try:
        header = parse_json(parse_json(data[8 : 8 + length])["__metadata__"]["checkpoint"])
        made = header["format"]
        arrays = load_arrays(data) if made == FORMAT else {}
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise PolicyError(
            f"{path} is not a checkpoint ({shortened(str(error))}); {REMEDY}"
        ) from None
    if made != FORMAT:
        raise PolicyError(f"{path} is a {shortened(made)}, expected {FORMAT!r}; {REMEDY}")
    return header, arrays


def restore(learner: Learner, arrays: Mapping[str, np.ndarray]) -> None:
    """Load a checkpoint into a learner with the same settings."""
    import torch

    learner.load(below(arrays, "learner"))
    torch.set_rng_state(torch.from_numpy(arrays["torch_generator"].copy()))
    state = {"key": arrays["numpy_generator"], "pos": int(arrays["numpy_position"])}
    np.random.set_state({"bit_generator": "MT19937", "state": state, "has_gauss": 0, "gauss": 0.0})


def decisions_of(path: Path) -> int:
    """Return the decisions of a checkpoint; 0 without one."""
    return int(_header_of(path)["decisions"])


def _header_of(path: Path) -> dict[str, Any]:
    """Return the header of a checkpoint, or that of a new run without a file."""
    return read_checkpoint(path)[0] if path.is_file() else {"decisions": 0, "seconds": 0.0}


def warn(text: str) -> None:
    """Print a warning on standard error."""
    say(f"kille: {text}")
