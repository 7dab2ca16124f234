"""The results of a tournament: an SQLite file in its folder, written work unit by work unit.

The outcome of a unit is written in one transaction, see `database`. What has been played follows
from the results. Their sums, the tallies, are kept beside them, with the number of the last result
that they hold: whoever wants them adds the results after it, one by one, so that neither time nor
memory grows with what was played before.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.errors import KilleError, shortened
from kille_env.files import parse_json
from kille_training.arena.database import Database, StoreError
from kille_training.arena.draws import Draw
from kille_training.arena.encoding import (
    draw_of,
    draw_text,
    numbers_of,
    pack,
    sets_of,
    unpack,
)
from kille_training.arena.entrants import advice
from kille_training.arena.spans import Span, joined, needed
from kille_training.arena.work import (
    PANEL_ROWS,
    Block,
    Entrant,
    Outcome,
    Panel,
    Result,
    by_place,
)
from kille_training.statistics.tally import Tally

SAVED_UNITS = 64
"""Units that are kept before tallies are written again, at least."""
MOST_TABLE_SEATS = 100
"""Seats of a table, at most: far more than any game has."""
PANELS_IN_MEMORY = 1024
"""Panels that are not read again: a tournament may have many."""
STRETCH = 1 << 16
"""Deals of a lineup whose scores are read in one go."""


@dataclass(frozen=True)
class KeptEntrant(Entrant):
    """An entrant as the file has it.

    Attributes:
        fingerprint: Identifies the player's files: a player that has changed is another one.
        metadata: What is known of the player, JSON values.
        wave: Entrants that entered together are a wave; the founders are wave 0.
        out: Why it is out; None while it is in.
    """

    fingerprint: str = ""
    metadata: dict[str, Any] = field(default_factory=dict, hash=False)
    wave: int = 0
    out: str | None = None

    @property
    def plain(self) -> Entrant:
        """What plays need to know of it."""
        return Entrant(self.number, self.name, self.player, self.play)


class Store(Database):
    """The results of one tournament."""

    SCHEMA = 4
    TABLES = (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
        """CREATE TABLE entrants (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    player TEXT NOT NULL,
    play TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    metadata TEXT NOT NULL,
    wave INTEGER NOT NULL,
    failure TEXT  -- why it is out, with panel and deal; NULL while it is in
) STRICT""",
        """CREATE TABLE panels (
    number INTEGER PRIMARY KEY,
    num_players INTEGER NOT NULL,
    stage INTEGER NOT NULL,  -- the wave or the Swiss round whose draw it is a part of
    part INTEGER NOT NULL,
    draw TEXT NOT NULL,
    UNIQUE (num_players, stage, part)
) STRICT""",
        """CREATE TABLE results (
    number INTEGER PRIMARY KEY,
    panel INTEGER NOT NULL REFERENCES panels,
    first_deal INTEGER NOT NULL,
    deals INTEGER NOT NULL,
    without TEXT NOT NULL,  -- numbers of entrants whose lineups were left out
    some TEXT NOT NULL,  -- sets of entrants, of each of which a lineup needed a member
    members BLOB NOT NULL,  -- [D, L, P] int32, little endian, compressed by zlib
    earned BLOB NOT NULL  -- [D, L, P, P] float64, the same way
) STRICT""",
        "CREATE INDEX played ON results (panel, first_deal, deals, without)",
        """CREATE TABLE tallies (
    num_players INTEGER PRIMARY KEY,
    upto INTEGER NOT NULL,  -- number of the last result in it
    tally BLOB NOT NULL
) STRICT""",
    )

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False) -> None:
        """Opens a file of results; see `Database`."""
        self._entrants: list[KeptEntrant] | None = None
        self._panel = lru_cache(PANELS_IN_MEMORY)(self._read_panel)
        self._played: dict[int, list[Span]] = {}
        self._tallies: dict[int, Tally] = {}
        self._upto: int | None = None
        self._saved = _Saved()
        super().__init__(path, create=create, readonly=readonly)

    # The tournament and its entrants

    def meta(self, *needed: str) -> dict[str, Any]:
        """Returns what was written with `set_meta`.

        Raises:
            StoreError: Something of another kind was written, or something needed was not.
        """
        with self._reading():
            rows = self._file.execute("SELECT key, value FROM meta ORDER BY key").fetchall()
            found = {key: parse_json(value) for key, value in rows}
            for name in needed:
                found[name]  # a KeyError is one about the file
            kinds = {"game": str, "rules": dict, "seed": int} if "tables" in found else {}
            for name, kind in kinds.items():
                if type(found["tables"][name]) is not kind:
                    raise TypeError(f"the {name} {shortened(found['tables'][name])}")
            if kinds and not 0 <= found["tables"]["seed"] < 2**63:
                raise TypeError(f"the seed {shortened(found['tables']['seed'])}")
            if not isinstance(found.get("made_with", {}), dict):
                raise TypeError(f"the versions {shortened(found['made_with'])}")
            return found

    def set_meta(self, **values: Any) -> None:
        """Writes JSON values by name, all of them or none."""
        rows = [(key, json.dumps(value)) for key, value in values.items()]
        with self._writing():
            self._file.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)

    def entrants(self) -> list[KeptEntrant]:
        """Returns all entrants, by number."""
        if self._entrants is None or self._lock is None:
            with self._reading():
                rows = self._file.execute("SELECT * FROM entrants ORDER BY number").fetchall()
                self._entrants = [
                    KeptEntrant(
                        number, name, player, play, fingerprint, parse_json(metadata), wave,
                        None if failure is None else parse_json(failure)["reason"],
                    )
                    for number, name, player, play, fingerprint, metadata, wave, failure in rows
                ]  # fmt: skip
                for place, each in enumerate(self._entrants):
                    if each.number != place or not isinstance(each.metadata, dict):
                        raise TypeError(f"the entrant {each.number} {shortened(each.metadata)}")
        return list(self._entrants)

    def with_new(self, entrants: Sequence[KeptEntrant]) -> list[KeptEntrant]:
        """Returns all entrants by number, as they will be when these have entered."""
        known = {each.name: each for each in self.entrants()}
        wave = 1 + max((each.wave for each in known.values()), default=-1)
        for each in entrants:
            known.setdefault(each.name, replace(each, number=len(known), wave=wave, out=None))
        return list(known.values())

    def enter(self, entrants: Sequence[KeptEntrant]) -> None:
        """Adds entrants, all of them or none; those known by name keep their numbers.

        Args:
            entrants: The entrants. Their numbers and waves do not matter: a new one gets the next
                number, and those that are new form the next wave.

        Raises:
            StoreError: An entrant of that name is another player, or plays otherwise.
        """
        entered = {each.name: each for each in self.with_new(entrants)}
        with self._writing():
            for each in entrants:
                kept = entered[each.name]
                self._check_same(kept, each)
                # Its files may have been moved, and its metadata may say more than before.
                self._file.execute(
                    "INSERT INTO entrants VALUES (?, ?, ?, ?, ?, ?, ?, NULL) "
                    "ON CONFLICT (number) DO UPDATE SET player = excluded.player, "
                    "metadata = excluded.metadata",
                    (kept.number, each.name, each.player, each.play, each.fingerprint,
                     json.dumps(each.metadata), kept.wave),
                )  # fmt: skip
            self._entrants = None

    def _check_same(self, kept: KeptEntrant, entrant: KeptEntrant) -> None:
        if kept.fingerprint != entrant.fingerprint:
            raise StoreError(
                f"{entrant.name!r} has changed: it entered with fingerprint {kept.fingerprint} "
                f"({kept.player}) and has {entrant.fingerprint} now ({entrant.player}); "
                f"put the old player back, or enter it under another name{advice(entrant)}"
            )
        if kept.play != entrant.play:
            raise StoreError(
                f"{entrant.name!r} entered with play: {kept.play} and has play: {entrant.play} "
                "now; put it back, or enter it under another name"
            )

    def forget_failures(self, names: Collection[str]) -> None:
        """Lets entrants that are out play again, all of them or none.

        Raises:
            StoreError: One of them is not out.
        """
        out = [each.name for each in self.entrants() if each.out is not None]
        for name in names:
            if name not in out:
                raise StoreError(
                    f"{name!r} is not out; out are: {', '.join(map(repr, out)) or 'none'}"
                )
        with self._writing():
            self._file.executemany(
                "UPDATE entrants SET failure = NULL WHERE name = ?", [(name,) for name in names]
            )
            self._entrants = None

    # Panels

    def panels(self, stage: int, draw: Draw) -> list[Panel]:
        """Returns the panels of a draw, adding those that are new.

        Args:
            stage: Number of the draw among those of its table size.
            draw: The draw.

        Raises:
            StoreError: The stage has another draw.
        """
        parts = [
            (part, draw.part(begin, begin + PANEL_ROWS))
            for part, begin in enumerate(range(0, len(draw.rows), PANEL_ROWS))
        ]
        with self._reading():
            known = {
                part: (number, text)
                for number, part, text in self._file.execute(
                    "SELECT number, part, draw FROM panels WHERE num_players = ? AND stage = ?",
                    (draw.seats, stage),
                )
            }
        texts = {part: draw_text(each) for part, each in parts}
        if any(texts.get(part) != text for part, (_, text) in known.items()):
            raise StoreError(
                f"{self.path.parent} was begun with other lineups (stage {stage}, {draw.seats} "
                "seats) than this kille-env draws; go on with the version that began it, see its "
                "config.yaml, or start again in another folder"
            )
        if new := [part for part in texts if part not in known]:
            with self._writing():
                for part in new:
                    row = self._file.execute(
                        "INSERT INTO panels (num_players, stage, part, draw) VALUES (?, ?, ?, ?)",
                        (draw.seats, stage, part, texts[part]),
                    )
                    known[part] = (int(row.lastrowid or 0), texts[part])
        return [Panel(known[part][0], each, stage) for part, each in parts]

    def _read_panel(self, number: int) -> Panel:
        """Returns a panel by its number, as it was kept."""
        with self._reading():
            stage, text = self._file.execute(
                "SELECT stage, draw FROM panels WHERE number = ?", (number,)
            ).fetchone()
            return Panel(number, draw_of(text), stage)

    # Results

    def played(self, panel: int) -> list[Span]:
        """Returns which deals of a panel have been played, in order; what is alike is one span."""
        if panel not in self._played or self._lock is None:
            with self._reading():
                rows = self._file.execute(
                    "SELECT first_deal, first_deal + deals, without FROM results WHERE panel = ? "
                    "ORDER BY first_deal",
                    (panel,),
                )
                self._played[panel] = joined(
                    Span(first, end, (numbers_of(without),)) for first, end, without in rows
                )
        return self._played[panel]

    def keep(self, outcome: Outcome) -> None:
        """Writes the outcome of a unit: all of it, on disk when this returns, or nothing.

        A failure puts the entrant out; if it is out already, the first failure stands.

        Raises:
            StoreError: A lineup has results at one of the deals already.
        """
        try:
            with self._writing():
                if outcome.failure is not None:
                    self._put_out(outcome)
                    return
                for result in outcome.results:
                    self._keep_result(result)
        except BaseException:
            self._played.clear()  # it may hold what has not been written
            raise
        self._saved.units += 1
        if self._saved.is_due():
            self.save_tallies()

    def _put_out(self, outcome: Outcome) -> None:
        failure = outcome.failure
        assert failure is not None
        changed = self._file.execute(
            "UPDATE entrants SET failure = coalesce(failure, ?) WHERE number = ?",
            (json.dumps(asdict(failure)), failure.entrant),
        )
        if changed.rowcount == 0:
            raise StoreError(f"there is no entrant number {failure.entrant}")
        self._entrants = None

    def _keep_result(self, result: Result) -> None:
        block, panel = result.block, result.block.panel
        shape = (block.deals, panel.lineups, panel.seats)
        if result.members.shape != shape or result.earned.shape != (*shape, panel.seats):
            raise StoreError(
                f"results of panel {panel.number} have shapes {result.members.shape} and "
                f"{result.earned.shape}; expected {shape} and {(*shape, panel.seats)}"
            )
        if not np.isfinite(result.earned).all():
            raise StoreError(f"results of panel {panel.number} are not finite")
        played = self.played(panel.number)
        self._check_missing(block, played)
        packed = pack(result.members, "<i4"), pack(result.earned, "<f8")
        self._file.execute(
            "INSERT INTO results (panel, first_deal, deals, without, some, members, earned) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (panel.number, block.first_deal, block.deals, json.dumps(block.without),
             json.dumps(block.some), *packed),
        )  # fmt: skip
        new = Span(block.first_deal, block.first_deal + block.deals, (block.without,))
        self._played[panel.number] = joined(sorted([*played, new], key=lambda span: span.first))
        self._saved.bytes += sum(map(len, packed))

    def _check_missing(self, block: Block, played: Sequence[Span]) -> None:
        """Refuses a block that does not have exactly the lineups that have not been played."""
        first, end = block.first_deal, block.first_deal + block.deals
        given = needed(block.some, block.without)
        covered = 0
        for span in played:
            common = min(end, span.end) - max(first, span.first)
            if common <= 0:
                continue
            covered += common
            if needed(span.without, block.without) != given:
                raise StoreError(
                    f"panel {block.panel.number} has played deals {span.first} to {span.end - 1}; "
                    f"deals {first} to {end - 1} would count some lineups twice"
                )
        if given and covered < block.deals:
            raise StoreError(
                f"panel {block.panel.number} has not played all of the deals {first} to {end - 1}; "
                "they cannot be filled in"
            )

    def results(self, num_players: int | None = None) -> Iterator[Result]:
        """Yields the results as of the moment at which it begins, by panel and deal.

        Args:
            num_players: Only tables of that many seats; None is all.

        Yields:
            Results, read one after the other.
        """
        with self._reading():  # one statement reads one state of the file
            yield from self._read(
                "(SELECT num_players FROM panels WHERE panels.number = panel) = ?1 OR ?1 IS NULL "
                "ORDER BY panel, first_deal, number",
                num_players,
            )

    def _read(self, which: str, *values: Any) -> Iterator[Result]:
        """Yields the results that an SQL condition names, one after the other."""
        for number, panel, first, deals, without, some, members, earned in self._file.execute(
            f"SELECT * FROM results WHERE {which}", values
        ):
            block = Block(self._panel(panel), first, deals, numbers_of(without), sets_of(some))
            shape = (deals, block.panel.lineups, block.panel.seats)
            who, units = unpack(members, "<i4"), unpack(earned, "<f8")
            if who.size != np.prod(shape) or units.size != who.size * block.panel.seats:
                raise self._damaged(
                    f"result {number}: {who.size} members and {units.size} numbers for {shape}"
                )
            yield Result(block, who.reshape(shape), units.reshape(*shape, -1))

    def scores(
        self, panel: int, row: int, entrant: int, first_deal: int = 0
    ) -> Iterator[np.ndarray]:
        """Yields what an entrant earned in a lineup, deal by deal.

        Args:
            panel: Number of the panel.
            row: The lineup's row in it.
            entrant: Number of the entrant, which sits in that row at every deal.
            first_deal: The first deal.

        Yields:
            [D] units of consecutive deals, less the table's mean, mean over the rotations and over
            copies; until the first deal at which the row has not been played.
        """
        while True:
            end = first_deal + STRETCH
            found = np.full(STRETCH, np.nan)
            for result in self._overlapping(panel, first_deal, end):
                deals = result.block.first_deal + np.arange(result.block.deals)
                scores = _scores(result, row, entrant)
                here = (first_deal <= deals) & (deals < end) & np.isfinite(scores)
                found[deals[here] - first_deal] = scores[here]
            missing = np.flatnonzero(np.isnan(found))
            yield found[: missing[0]] if len(missing) else found
            if len(missing):
                return
            first_deal = end

    def kept(self, block: Block) -> Result:
        """Returns what has been played at a block's panel and deals, in however many results."""
        shape = (block.deals, block.panel.lineups, block.panel.seats)
        members = np.full(shape, -1, dtype=np.int32)
        earned = np.zeros((*shape, block.panel.seats))
        first, end = block.first_deal, block.first_deal + block.deals
        for result in self._overlapping(block.panel.number, first, end):
            theirs = result.block.first_deal
            begin, stop = max(first, theirs), min(end, theirs + result.block.deals)
            here, there = slice(begin - first, stop - first), slice(begin - theirs, stop - theirs)
            played = result.members[there, :, 0] >= 0
            members[here][played] = result.members[there][played]
            earned[here][played] = result.earned[there][played]
        return Result(block, members, earned)

    def _overlapping(self, panel: int, first_deal: int, end: int) -> Iterator[Result]:
        """Yields the results of a panel that have some of the deals."""
        with self._reading():
            yield from self._read(
                "panel = ? AND first_deal < ? AND first_deal + deals > ?", panel, end, first_deal
            )

    def deals(self) -> dict[int, int]:
        """Returns how many different deals have been played, by table size."""
        with self._reading():
            rows = self._file.execute(
                "SELECT DISTINCT num_players, first_deal, first_deal + results.deals FROM results "
                "JOIN panels ON panel = panels.number ORDER BY num_players, first_deal"
            ).fetchall()
            if rows and not 2 <= rows[0][0] <= rows[-1][0] <= MOST_TABLE_SEATS:
                raise TypeError(f"tables of {rows[0][0]} to {rows[-1][0]} seats")
        spans: dict[int, list[Span]] = {}
        for seats, first, end in rows:
            spans.setdefault(seats, []).append(Span(first, end, ()))
        return {
            seats: sum(span.end - span.first for span in joined(each))
            for seats, each in spans.items()
        }

    def plain_deals(self) -> dict[str, int]:
        """Returns how many different deals have been played, by table size, as JSON holds them."""
        return {str(seats): deals for seats, deals in sorted(self.deals().items())}

    # Tallies

    def tallies(self) -> dict[int, Tally]:
        """Returns the sums of all results, by table size: the input of all statistics.

        Results that have been added since the last time are read one by one. A later call goes on
        adding to the tallies that this one returns.
        """
        try:
            with self._snapshot():
                self._catch_up(len(self.entrants()))
        except BaseException:
            self._tallies, self._upto = {}, None  # a result may have been added in part
            raise
        return {seats: self._tallies[seats] for seats in sorted(self._tallies)}

    def save_tallies(self) -> None:
        """Writes the tallies, so that nobody has to read the results before them again."""
        tallies = self.tallies()
        upto = self._upto or 0
        if upto == self._saved.upto:
            return
        rows = [(seats, upto, tally.to_bytes()) for seats, tally in tallies.items()]
        with self._writing():
            self._file.executemany("INSERT OR REPLACE INTO tallies VALUES (?, ?, ?)", rows)
        self._saved = _Saved(upto, sum(len(packed) for _, _, packed in rows))

    def _catch_up(self, entrants: int) -> None:
        """Adds the results that have not been tallied."""
        (last,) = self._file.execute("SELECT coalesce(max(number), 0) FROM results").fetchone()
        if self._upto is None:
            self._tallies, self._upto = self._kept_tallies(entrants, last)
            self._saved.upto = self._upto
        for seats, tally in self._tallies.items():
            if tally.entrants < entrants:
                self._tallies[seats] = tally.grown(entrants)
        for result in self._read("number > ? ORDER BY number", self._upto):
            deals, lineups, seats = result.members.shape
            if seats not in self._tallies:
                self._tallies[seats] = Tally.empty(seats, entrants)
            self._tallies[seats].add(
                result.members.reshape(-1, seats),
                np.repeat(result.block.first_deal + np.arange(deals), lineups),
                result.earned.reshape(-1, seats, seats),
            )
        self._upto = last

    def _kept_tallies(self, entrants: int, last: int) -> tuple[dict[int, Tally], int]:
        """Returns the tallies that were written, and the number of the last result in them."""
        tallies: dict[int, Tally] = {}
        found = {0}
        for seats, upto, packed in self._file.execute("SELECT * FROM tallies"):
            try:
                tallies[seats] = tally = Tally.from_bytes(packed)
            except KilleError as error:
                raise self._damaged(str(error)) from error
            found = found - {0} | {upto}
            if tally.seats != seats or tally.entrants > entrants or not 0 < upto <= last:
                raise self._damaged(f"the tally of {seats} seats is of other results")
        if len(found) > 1:
            raise self._damaged("its tallies are of different results")
        return tallies, found.pop()


@dataclass
class _Saved:
    """What has been written of the tallies, and what has been kept since.

    Attributes:
        upto: Number of the last result in the written tallies.
        size: Bytes of the written tallies.
        units: Units that were kept since.
        bytes: Bytes of their results.
    """

    upto: int = 0
    size: int = 0
    units: int = 0
    bytes: int = 0

    def is_due(self) -> bool:
        """Returns whether to write tallies again: they at most double what is written."""
        return self.units >= SAVED_UNITS and self.bytes >= self.size


def _scores(result: Result, row: int, entrant: int) -> np.ndarray:
    """Returns what an entrant earned in a row less the table's mean, [D]; NaN where it did not."""
    units = by_place(result.earned[:, row]).mean(axis=1)
    scores = units - units.mean(axis=1, keepdims=True)
    there = result.members[:, row] == entrant
    with np.errstate(invalid="ignore"):
        return np.where(there, scores, 0.0).sum(axis=1) / there.sum(axis=1)
