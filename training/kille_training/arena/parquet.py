"""What every seat earned at every table: a Parquet file for each shard of a tournament."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.core.keys import deal_seeds
from kille_env.files import whole_file
from kille_training.arena.play import Shard, rotations
from kille_training.arena.schedule import Lineups
from kille_training.arena.store import Store

NAME = "stage-{}-deals-{}-{}.parquet"
NAMED = re.compile(r"stage-(\d+)-deals-(\d+)-(\d+)\.parquet")


def write_shard(
    folder: Path, store: Store, shard: Shard, lineups: Lineups, earned: np.ndarray
) -> None:
    """Write a row for each seat of each table of a shard.

    The columns: `tournament` (the name of its folder), `game`, `rules` (JSON), `num_players`,
    `stage` (the wave of entrants or the Swiss round whose lineups these are), `lineup` (its number
    among those of a deal; others sit there at the next deal), `deal`, `deal_seed`, `rotation`,
    `seat`, `entrant` (its name), `earned` (units). `pandas.read_parquet(folder)` reads all shards.

    Args:
        folder: Where the file is written.
        store: The tournament's results.
        shard: The shard.
        lineups: Its lineups, K of them.
        earned: [K, P, P] units of each seat in each rotation.
    """
    import pandas as pd

    table, seats = store.table, shard.draw.seats
    seated = lineups.members[:, rotations(seats)]
    _, rotation, seat = (each.ravel() for each in np.indices(seated.shape))
    deals = np.repeat(lineups.deal, seats * seats)
    names = [each.name for each in store.entrants]
    count = len(deals)

    def same(text: str) -> Any:
        return pd.Categorical.from_codes(np.zeros(count, dtype=np.int8), [text])

    frame = pd.DataFrame({
        "tournament": same(store.path.resolve().parent.name),
        "game": same(table.game),
        "rules": same(json.dumps(table.rules.as_dict(), sort_keys=True)),
        "num_players": np.full(count, seats, dtype=np.int8),
        "stage": np.full(count, shard.stage, dtype=np.int32),
        "lineup": np.repeat(lineups.row, seats * seats).astype(np.int32),
        "deal": deals.astype(np.int64),
        "deal_seed": deal_seeds(store.asked["seed"], seats, deals),
        "rotation": rotation.astype(np.int8),
        "seat": seat.astype(np.int8),
        "entrant": pd.Categorical.from_codes(seated.ravel(), names),
        "earned": earned.ravel(),
    })  # fmt: skip
    folder.mkdir(exist_ok=True)
    name = NAME.format(shard.stage, shard.first_deal, shard.first_deal + shard.deals)
    with whole_file(folder / name) as file:
        frame.to_parquet(file, compression="zstd", index=False)


def remove_unkept(folder: Path, store: Store) -> None:
    """Remove files of shards that the results do not hold: they will be played again.

    So do those that were being written when their process was killed.
    """
    for path in folder.glob(".*.parquet.*"):
        path.unlink()
    for path in folder.glob("*.parquet"):
        named = NAMED.fullmatch(path.name)
        if named and not store.has(*map(int, named.groups())):
            path.unlink()
