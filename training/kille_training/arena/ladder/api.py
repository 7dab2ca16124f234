"""A ladder from outside: submitting players, whoever plays it, and playing it for a while.

`ladder` is the same for Python.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kille_env.errors import ConfigError, did_you_mean
from kille_training.arena.entrants import check_in, fingerprint
from kille_training.arena.ladder.challenges import Challenge
from kille_training.arena.ladder.ladder import Ladder, Watcher
from kille_training.arena.ladder.result import LadderResult
from kille_training.arena.ladder.settings import LadderFolder, LadderSettings
from kille_training.arena.ladder.submissions import Refusal, Submission
from kille_training.arena.store import Store
from kille_training.arena.tournament import executor_of


def submit(folder: LadderFolder, submission: Submission, *, trust: bool = False) -> Path:
    """Submits a player, or asks for a test; whoever plays the ladder takes it in.

    Args:
        folder: The ladder's.
        submission: What is asked.
        trust: Whether model files that can run code may be loaded.

    Returns:
        The file of the submission.

    Raises:
        ConfigError: It would be refused, as far as that can be known now.
    """
    settings = folder.ladder_settings()
    known = {}
    if folder.results.is_file():
        with Store(folder.results, readonly=True) as store:
            known = {each.name: each for each in store.entrants()}
    names = [*known, *_waiting(folder)]
    for name in filter(None, (submission.against, "" if submission.player else submission.name)):
        if name not in names:
            raise ConfigError(f"{name!r} is not on the ladder. {did_you_mean(name, names)}")
    if submission.player:
        if Path(submission.player).exists():  # whoever plays may be in another folder
            submission = replace(submission, player=str(Path(submission.player).resolve()))
        rules = settings.table.resolve()
        check_in([submission.entrant], [settings.num_players], rules, trust=trust, objects={})
        kept = known.get(submission.name)
        if kept is not None and kept.fingerprint != fingerprint(submission.player):
            raise ConfigError(
                f"another player is on the ladder as {submission.name!r} ({kept.player}); submit "
                "this one under another name"
            )
    return folder.submissions.add(submission)


def play_ladder(
    folder: LadderFolder,
    watcher: Callable[[Ladder], Watcher],
    *,
    rounds: int | None = None,
    seconds: float | None = None,
    decided: bool = False,
    wait: Callable[[], bool] = lambda: False,
    address: str | None = None,
    readmit: Sequence[str] = (),
    trust: bool = False,
) -> LadderResult:
    """Plays a ladder for a while; without rounds, seconds and decided for as long as `wait` says.

    Args:
        folder: The ladder's.
        watcher: Returns who is told what happens.
        rounds: Stop after so many more rounds.
        seconds: Stop after the round that is played by then.
        decided: Stop when no test is running or waiting.
        wait: See `Ladder.play`.
        address: Of the Ray cluster, for the executor "ray".
        readmit: Names of players that are out and may play again.
        trust: Whether model files that can run code may be loaded.

    Returns:
        The ladder as it stands then.

    Raises:
        KilleError: It cannot be played; the message says why.
    """
    began = time.monotonic()
    with (
        Ladder(folder, trust=trust) as ladder,
        executor_of(ladder.settings, folder, address=address) as executor,
    ):
        ladder.store.forget_failures(readmit)
        first = ladder.rounds

        def enough() -> bool:
            return (
                (rounds is not None and ladder.rounds - first >= rounds)
                or (seconds is not None and time.monotonic() - began >= seconds)
                or (decided and not ladder.challenges.going)
            )

        ladder.play(executor, watcher(ladder), enough, wait)
        return LadderResult.of(folder, ladder.store)


def ladder(
    folder: str | Path,
    game: str | None = None,
    num_players: int | None = None,
    *,
    episode: str | None = None,
    rules: Mapping[str, Any] | str | None = None,
    deals: int | None = None,
    tables: int | None = None,
    test_deals: int | None = None,
    seed: int | None = None,
    time_limit: float | None = None,
    workers: int | None = None,
) -> "OpenLadder":
    """Opens the ladder in a folder, or begins one there.

        import kille_training as kt

        ladder = kt.ladder("ladders/knack", "knack", num_players=3)
        ladder.submit("rule", "rule_of_thumb")
        ladder.submit("mine", "runs/knack", against="rule")
        print(ladder.play(decided=True))

    Args:
        folder: Where it lies, or is to lie.
        game: The game. None is here, as everywhere below, what `kille ladder new` has as default,
            or what the ladder in the folder has.
        num_players: Seats of a table.
        episode: "deal" or "match".
        rules: Preset and switches, as `kille_env.make` takes them.
        deals: Deals of each table of a round.
        tables: Tables of a round; 0 is as many as all players fill.
        test_deals: Deals that each running test plays beside a round.
        seed: Seed of the deals.
        time_limit: Seconds that a player may take for one batch of decisions.
        workers: Processes; 0 is this process.

    Raises:
        ConfigError: There is another ladder in the folder, or something else.
    """
    opened = LadderFolder(Path(folder))
    values = {
        "game": game, "num_players": num_players, "episode": episode,
        "rules": {"preset": rules} if isinstance(rules, str) else rules, "deals": deals,
        "tables": tables, "test_deals": test_deals, "seed": seed, "time_limit": time_limit,
        "workers": workers,
    }  # fmt: skip
    given = {key: value for key, value in values.items() if value is not None}
    if not opened.config.is_file():
        opened.create(LadderSettings(**given))
        return OpenLadder(opened)
    kept = opened.ladder_settings()
    for key, value in given.items():
        if getattr(kept, key) != value:
            raise ConfigError(
                f"{folder} holds a ladder whose {key} is {getattr(kept, key)!r}, not {value!r}; "
                f"edit {opened.config}, or name another folder"
            )
    return OpenLadder(opened)


@dataclass(frozen=True)
class OpenLadder:
    """A ladder in a folder, which other processes may play and submit to as well.

    Attributes:
        folder: Where it lies.
    """

    folder: LadderFolder

    def submit(
        self, name: str, player: str | Path, *, trust: bool = False, **asked: Any
    ) -> "OpenLadder":
        """Submits a player, and returns the ladder; it enters before the next round.

        Args:
            name: Its name on the ladder.
            player: Its name or path.
            trust: Whether model files that can run code may be loaded.
            **asked: `play`, and what a test asks: `against`, `by`, `low`, `alpha`, `beta`, `most`;
                see `arena.ladder.submissions.Submission`.

        Raises:
            ConfigError: It would be refused, as far as that can be known now.
        """
        if not isinstance(player, (str, Path)):
            raise ConfigError(
                f"{name!r} is submitted as a Python object, {player!r}; whoever plays the ladder "
                "has to find it, so give its name, its path or module:object"
            )
        submit(self.folder, Submission(name, str(player), **asked), trust=trust)
        return self

    def test(self, new: str, old: str, **asked: Any) -> "OpenLadder":
        """Asks whether one player earns more among copies of another, and returns the ladder.

        Args:
            new: Name of the one.
            old: Name of the other.
            **asked: See `submit`.

        Raises:
            ConfigError: One of them is not on the ladder.
        """
        submit(self.folder, Submission(new, against=old, **asked))
        return self

    def play(
        self,
        rounds: int | None = None,
        *,
        seconds: float | None = None,
        decided: bool = False,
        readmit: Sequence[str] = (),
        trust: bool = False,
    ) -> LadderResult:
        """Plays, and returns the ladder as it stands then; ends where nothing is left to play.

        Args:
            rounds: Stop after so many more rounds.
            seconds: Stop after the round that is played by then.
            decided: Stop when no test is running or waiting.
            readmit: Names of players that are out and may play again.
            trust: Whether model files that can run code may be loaded.

        Raises:
            KilleError: It cannot be played, or nothing says when to stop.
        """
        if rounds is None and seconds is None and not decided:
            raise ConfigError("a ladder goes on for ever; say rounds, seconds or decided=True")
        return play_ladder(
            self.folder, lambda _: _Nobody(), rounds=rounds, seconds=seconds, decided=decided,
            readmit=readmit, trust=trust,
        )  # fmt: skip

    def result(self) -> LadderResult:
        """Returns the ladder as it stands, also while another process plays it."""
        return LadderResult.of(self.folder)


class _Nobody:
    """Stands for nobody who wants to know what happens on a ladder."""

    def entered(self, name: str) -> None: ...
    def refused(self, refusal: Refusal) -> None: ...
    def out(self, name: str, reason: str) -> None: ...
    def decided(self, challenge: Challenge) -> None: ...
    def played(self, rounds: int) -> None: ...


def _waiting(folder: LadderFolder) -> list[str]:
    """Returns the names of those that wait to enter."""
    names = []
    for path in folder.submissions.waiting():
        try:
            submission = folder.submissions.read(path)
        except ConfigError:  # it is refused when its turn comes
            continue
        names += [submission.name] if submission.player else []
    return names
