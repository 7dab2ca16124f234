"""Results of a tournament for other programs: Parquet, or one line of JSON per table."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.core.keys import deal_seeds
from kille_env.files import whole_file
from kille_training.arena.store import Store, StoreError
from kille_training.arena.work import Result

SAMPLE = 1 << 10
"""Lines from which the size of a file is estimated."""


def export_parquet(store: Store, path: Path) -> int:
    """Writes a row for each member of each table, as of one moment.

    The columns: `tournament` (the name of its folder), `game`, `rules` (JSON), `num_players`,
    `lineup`, `deal`, `deal_seed`, `seating` (its number among those of the deal), `seat`,
    `entrant` (its name), `earned` (units).

    Args:
        store: The results.
        path: The file; replaced when the new one is whole.

    Returns:
        How many rows it has.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema(
        [
            ("tournament", words), ("game", words), ("rules", words),
            ("num_players", pa.int8()), ("lineup", pa.int32()), ("deal", pa.int64()),
            ("deal_seed", pa.uint64()), ("seating", pa.int32()), ("seat", pa.int8()),
            ("entrant", words), ("earned", pa.float64()),
        ]
    )  # fmt: skip
    facts, names = _facts(store)
    fixed = [facts["name"], facts["game"], json.dumps(facts["rules"], sort_keys=True)]

    def same(text: str, count: int) -> Any:
        return pa.DictionaryArray.from_arrays(np.zeros(count, dtype=np.int32), pa.array([text]))

    rows = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for result in store.results():
            deals, turns, seats = result.earned.shape
            count = result.earned.size
            deal, seating, seat = (each.ravel() for each in np.indices(result.earned.shape))
            deal = deal + result.block.first_deal
            who = np.array(result.block.members)[result.seatings]
            entrant = np.broadcast_to(who, (deals, turns, seats)).ravel().astype(np.int32)
            columns = [
                *(same(text, count) for text in fixed),
                np.full(count, seats, dtype=np.int8),
                np.full(count, result.block.lineup, dtype=np.int32),
                deal.astype(np.int64),
                deal_seeds(facts["seed"], seats, deal),
                seating.astype(np.int32),
                seat.astype(np.int8),
                pa.DictionaryArray.from_arrays(entrant, pa.array(names)),
                result.earned.ravel(),
            ]
            writer.write_table(pa.Table.from_arrays([pa.array(c) for c in columns], schema=schema))
            rows += count
    return rows


def export_jsonl(store: Store, path: Path) -> int:
    """Writes a line of JSON for each table, as of one moment.

    Its keys: `tournament` (the name of its folder), `game`, `lineup`, `deal`, `deal_seed`,
    `seating` (its number among those of the deal), `entrants` (names by seat), `earned` (units by
    seat). The rules are those of the tournament.

    Args:
        store: The results.
        path: The file; replaced when the new one is whole.

    Returns:
        How many lines it has.
    """
    facts, names = _facts(store)
    lines = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        for result in store.results():
            for line in _lines(result, facts, names):
                file.write(line.encode())
                lines += 1
    return lines


def jsonl_size(store: Store) -> int:
    """Returns about how many bytes `export_jsonl` would write, from lines of each table size."""
    facts, names = _facts(store)
    deals: Counter[int] = Counter()
    lineups = store.lineups()
    for lineup, spans in store.played().items():
        deals[len(lineups[lineup])] += sum(end - first for first, end in spans)
    size = 0.0
    for seats, count in deals.items():
        result = next(store.results(seats))
        lines = [len(line.encode()) for line in islice(_lines(result, facts, names), SAMPLE)]
        size += count * len(result.seatings) * sum(lines) / len(lines)
    return round(size)


def _lines(result: Result, facts: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """Yields a line of JSON for each table of a result."""
    block, seats = result.block, len(result.block.members)
    numbers = block.first_deal + np.arange(block.deals)
    seeds = deal_seeds(facts["seed"], seats, numbers).tolist()
    seated = [[names[block.members[place]] for place in row] for row in result.seatings]
    for deal, deal_seed, earned in zip(
        numbers.tolist(), seeds, result.earned.tolist(), strict=True
    ):
        for seating, units in enumerate(earned):
            line = {
                "tournament": facts["name"],
                "game": facts["game"],
                "lineup": block.lineup,
                "deal": deal,
                "deal_seed": deal_seed,
                "seating": seating,
                "entrants": seated[seating],
                "earned": units,
            }
            yield json.dumps(line, ensure_ascii=False) + "\n"


def _facts(store: Store) -> tuple[dict[str, Any], list[str]]:
    """Returns what all rows have in common, and the names of the entrants by number."""
    tables = store.meta().get("tables")
    if tables is None:
        raise StoreError(
            f"{store.path} does not say what is played: the tournament has not started; start it "
            f"with: kille tournament {store.path.parent}"
        )
    name = store.path.resolve().parent.name
    return {**tables, "name": name}, [each.name for each in store.entrants()]
