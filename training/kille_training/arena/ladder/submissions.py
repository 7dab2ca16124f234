"""Players that are submitted to a ladder while it is played.

submissions/
  20261122-153000-000000-4f1c.yaml          waits until the ladder's next round
  refused/20261122-153000-000000-4f1c.yaml  could not enter; its key `refused` says why

A submission is a file that is written whole. Anybody may write one at any time: only the process
that plays the ladder writes results, and it takes the files in between two rounds, in the order of
their names. What a refused submission asked for and why it was refused are in one file, so a crash
leaves either the old file or the new one.
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field

from kille_agents.greedy import PLAYS
from kille_env.errors import ConfigError, KilleError, did_you_mean
from kille_env.files import write_whole
from kille_training.arena.work import SAMPLED, Entrant
from kille_training.settings import as_yaml, build, plain, read_yaml, settings

FOLDER, REFUSED = "submissions", "refused"


@settings
class Submission:
    """What is asked of a ladder: to let a player enter, to test it against another one, or both.

    Attributes:
        name: The player's name on the ladder.
        player: Name or path of the player, see `load_policy`; empty where it has entered before.
        play: "sampled": by its probabilities; "greedy": always the most likely action.
        against: Name of the player that it is tested against: does it earn more among copies of
            that one? Empty for no test.
        by: Units per deal above `low` that are told from it; None is as `kille compare` has it.
        low: Units per deal that are not enough.
        alpha: Chance of a wrong "more than low".
        beta: Chance of a wrong "less than low + by".
        most: Deals after which the test ends undecided; 0 is never.
    """

    name: str
    player: str = ""
    play: str = SAMPLED
    against: str = ""
    by: Annotated[float, Field(gt=0)] | None = None
    low: float = 0.0
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    beta: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    most: Annotated[int, Field(ge=0)] = 0

    def __post_init__(self) -> None:
        """Refuses what cannot be asked."""
        if not self.name.strip() or "," in self.name or not self.name.isprintable():
            raise ConfigError(f"name is {self.name!r}, expected a text without commas")
        if self.play not in PLAYS:
            raise ConfigError(f"play is {self.play!r}. {did_you_mean(self.play, PLAYS)}")
        if not self.player and not self.against:
            raise ConfigError(f"{self.name!r} brings no player and asks for no test; name a player")
        if self.against == self.name:
            raise ConfigError(f"{self.name!r} is tested against itself; name another player")
        if self.most == 1:
            raise ConfigError("most is 1; expected 2 deals or more, or 0 for no limit")

    @property
    def entrant(self) -> Entrant:
        """The player as an entrant, without a number yet."""
        return Entrant(0, self.name, self.player, self.play)


@dataclass(frozen=True)
class Refusal:
    """A submission that was refused.

    Attributes:
        name: The player's name, or the file's where it names none.
        reason: Why.
    """

    name: str
    reason: str


class Submissions:
    """The submissions of a ladder that wait, and those that were refused."""

    def __init__(self, ladder: Path) -> None:
        """Looks at a ladder's folder, and creates nothing.

        Args:
            ladder: The folder.
        """
        self.folder = ladder / FOLDER

    def add(self, submission: Submission) -> Path:
        """Writes a submission; returns its file."""
        self.folder.mkdir(exist_ok=True)
        now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        path = self.folder / f"{now}-{uuid.uuid4().hex[:4]}.yaml"
        asked = {key: value for key, value in plain(submission).items() if value is not None}
        write_whole(path, as_yaml(asked).encode())
        return path

    def waiting(self) -> list[Path]:
        """Returns the files that wait, in the order in which they are taken in."""
        return sorted(each for each in self.folder.glob("[!.]*.yaml") if each.is_file())

    def read(self, path: Path) -> Submission:
        """Reads a submission.

        Raises:
            ConfigError: It is none; the message says why.
        """
        return build(Submission, read_yaml(path), path.name)

    def done(self, path: Path) -> None:
        """Removes a submission that has been taken in."""
        path.unlink(missing_ok=True)

    def refuse(self, path: Path, error: KilleError) -> Refusal:
        """Puts a submission aside, with the reason; returns what was refused."""
        try:
            content = read_yaml(path)
        except ConfigError:
            content = {}
        refusal = Refusal(str(content.get("name", path.name)), str(error))
        (self.folder / REFUSED).mkdir(exist_ok=True)
        whole = as_yaml({"refused": refusal.reason, **content})
        write_whole(self.folder / REFUSED / path.name, whole.encode())
        self.done(path)
        return refusal

    def refused(self) -> list[Refusal]:
        """Returns what was refused, the last one first."""
        found = []
        for path in sorted((self.folder / REFUSED).glob("[!.]*.yaml"), reverse=True):
            try:
                content = read_yaml(path)
            except ConfigError:  # somebody has edited it
                continue
            found.append(Refusal(str(content.get("name", path.name)), str(content.get("refused"))))
        return found
