"""Adding entries to a leaderboard: `kille leaderboard`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kille_env.errors import ConfigError, KilleError, did_you_mean
from kille_training.arena.entrants import fingerprint
from kille_training.arena.leaderboard import measure as measuring
from kille_training.arena.leaderboard.board import Line, check_label, put, read
from kille_training.arena.leaderboard.tracks import Track, tracks
from kille_training.learning.runs import versions
from kille_training.progress import Progress


@dataclass(frozen=True)
class Entry:
    """What is added.

    Attributes:
        name: Its name on the board.
        by: Who made it.
        player: A name, a path or `module:object`.
        command: The command that adds it.
    """

    name: str
    by: str
    player: str
    command: str

    def __post_init__(self) -> None:
        """Refuses names that the page cannot show."""
        check_label("the name", self.name)
        check_label("the author", self.by)


@dataclass
class Added:
    """What adding an entry has done.

    Attributes:
        lines: What was measured now.
        known: Tracks on which it was measured before.
        skipped: Tracks where it does not play, with the reason.
    """

    lines: list[Line] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


def add(
    data: Path,
    entry: Entry,
    only: Sequence[str] = (),
    *,
    trust: bool = False,
    progress: Progress | None = None,
) -> Added:
    """Measures an entry on the tracks that it plays and was not measured on before.

    Every result is written when it is known, so an interrupted call loses one track at most.

    Args:
        data: The file of the board; the folder above its own exists.
        entry: The entry.
        only: Names of tracks; none are all.
        trust: Whether model files that can run code may be loaded.
        progress: Called with how far it is.

    Raises:
        ConfigError: The board was measured under other conditions, the name stands for another
            player, or the entry plays on no track.
    """
    chosen = _chosen(only)
    data.parent.mkdir(exist_ok=True)
    lines, digest = read(data), fingerprint(entry.player)
    check_conditions(data, lines)
    _check_name(entry, digest, lines)
    known, added = {line.track for line in lines if line.name == entry.name}, Added()
    for track in chosen:
        if track.name in known:
            added.known.append(track.name)
            continue
        try:
            player = measuring.player_at(entry.player, track, trust)
        except KilleError as error:
            added.skipped[track.name] = str(error)
            continue
        parts = measuring.measure(player, track, progress)
        added.lines.append(_line(entry, digest, track, parts))
        put(data, added.lines[-1])
    if len(added.skipped) == len(chosen):
        reasons = "; ".join(dict.fromkeys(added.skipped.values()))
        raise ConfigError(f"{entry.player} plays on none of these tracks: {reasons}")
    return added


def check_conditions(data: Path, lines: Sequence[Line]) -> None:
    """Refuses lines that were measured under other conditions than the tracks have now.

    Raises:
        ConfigError: There is one; the message says what differs and what to do.
    """
    known = tracks()
    for line in lines:
        if line.track not in known:
            raise ConfigError(f"{data}: there is no track {line.track!r}; delete its lines")
        now = known[line.track].conditions()
        for key in sorted({*now, *line.conditions}):
            then = line.conditions.get(key)
            if then != now.get(key):
                raise ConfigError(
                    f"{data}: {line.name!r} was measured on {line.track} with {key} {then}, this "
                    f"kille-env has {now.get(key)}; use the kille-env that measured it "
                    f"({line.versions.get('kille-env')}), or begin a new board in another --docs"
                )


def _chosen(only: Sequence[str]) -> list[Track]:
    known = tracks()
    for name in only:
        if name not in known:
            raise ConfigError(f"there is no track {name!r}. {did_you_mean(name, known)}")
    return [track for name, track in known.items() if not only or name in only]


def _check_name(entry: Entry, digest: str, lines: Sequence[Line]) -> None:
    for line in lines:
        if line.name == entry.name and (line.digest, line.by) != (digest, entry.by):
            raise ConfigError(
                f"{entry.name!r} is on the board already, by {line.by}, with other files "
                f"(digest {line.digest[:12]}, now {digest[:12]}); choose another --name"
            )


def _line(entry: Entry, digest: str, track: Track, parts: dict[str, measuring.Score]) -> Line:
    return Line(
        track=track.name,
        name=entry.name,
        by=entry.by,
        player=entry.player,
        digest=digest,
        command=entry.command,
        conditions=track.conditions(),
        versions=versions(),
        score=measuring.overall(parts),
        parts=parts,
    )
