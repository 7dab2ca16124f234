"""A ladder from outside: submitting players, whoever plays it, and playing it for a while."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kille_env.errors import ConfigError, did_you_mean
from kille_training.arena.entrants import check_in, fingerprint
from kille_training.arena.ladder import Ladder, Watcher
from kille_training.arena.ladder_result import LadderResult
from kille_training.arena.ladder_settings import LadderFolder
from kille_training.arena.store import Store
from kille_training.arena.submissions import Submission
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
