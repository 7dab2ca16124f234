"""Results of a tournament for other programs: a Parquet file."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.core.keys import deal_seeds
from kille_env.files import whole_file
from kille_training.arena.store import Store, StoreError
from kille_training.arena.work import Result, rotations


def export_parquet(store: Store, path: Path) -> int:
    """Writes a row for each seat of each table, as of one moment.

    The columns: `tournament` (the name of its folder), `game`, `rules` (JSON), `num_players`,
    `stage` (the wave of entrants or the Swiss round whose lineups these are), `lineup` (its number
    among those of a deal; others sit there at the next deal), `deal`, `deal_seed`, `rotation`,
    `seat`, `entrant` (its name), `earned` (units).

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
            ("num_players", pa.int8()), ("stage", pa.int32()), ("lineup", pa.int32()),
            ("deal", pa.int64()), ("deal_seed", pa.uint64()), ("rotation", pa.int8()),
            ("seat", pa.int8()),
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
            deals, lineups, members, earned = _played(result)
            seats, count = result.block.panel.seats, earned.size
            _, rotation, seat = (each.ravel() for each in np.indices(earned.shape))
            deal = np.repeat(deals, seats * seats)
            columns = [
                *(same(text, count) for text in fixed),
                np.full(count, seats, dtype=np.int8),
                np.full(count, result.block.panel.stage, dtype=np.int32),
                np.repeat(lineups, seats * seats).astype(np.int32),
                deal.astype(np.int64),
                deal_seeds(facts["seed"], seats, deal),
                rotation.astype(np.int8),
                seat.astype(np.int8),
                pa.DictionaryArray.from_arrays(members.ravel().astype(np.int32), pa.array(names)),
                earned.ravel(),
            ]
            writer.write_table(pa.Table.from_arrays([pa.array(c) for c in columns], schema=schema))
            rows += count
    return rows


def _played(result: Result) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Returns deals [K], numbers of lineups [K], and who earned what, each [K, P, P]."""
    deal, row = np.nonzero(result.members[:, :, 0] >= 0)
    panel = result.block.panel
    seated = result.members[deal, row][:, rotations(panel.seats)]
    deals, lineups = result.block.first_deal + deal, panel.draw.first + row
    return deals, lineups, seated, result.earned[deal, row]


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
