"""Record matches of policies."""

from collections.abc import Iterator

from kille_env.core.spec import Rules
from kille_env.play.policy import Policy, name_of
from kille_env.play.seating import SeatedPolicies, play_out
from kille_env.records import Record, Recorder
from kille_env.registry import make_batch
from kille_training.table.lineup import seating_of

TABLES_AT_ONCE = 500
"""Number of tables played side by side, which bounds the memory."""


def matches_of(game: str, rules: Rules, by_seat: list[Policy], seeds: range) -> Iterator[Record]:
    """Play one match per seed, many side by side, and yield their records in order."""
    players, seating = seating_of(by_seat)
    names = [name_of(player) for player in by_seat]
    for start in range(0, len(seeds), TABLES_AT_ONCE):
        part = list(seeds[start : start + TABLES_AT_ONCE])
        batch = make_batch(game, len(part), len(by_seat), rules=rules, seed=0, restart=False)
        recorder = Recorder(batch, names)
        recorder.reset(seed=part)
        play_out(SeatedPolicies(batch, players, seating, recorder.step))
        yield from (recorder.record(table) for table in range(len(part)))
