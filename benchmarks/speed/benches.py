"""What `python benchmarks/bench.py` measures, by name."""

import importlib
from collections.abc import Iterator

from speed.rows import Row

BENCHES = {
    "batch": "batch:bench_batch",
    "games": "batch:bench_games",
    "one": "batch:bench_one",
    "threads": "batch:bench_threads",
    "shares": "batch:bench_shares",
    "aec": "doors:bench_aec",
    "gym": "doors:bench_gym",
    "train": "training:bench_train",
    "seats": "training:bench_seats",
    "cost": "cost:bench_cost",
    "solve": "solving:bench_solve",
    "start": "start:bench_start",
    "peers": "peers.contest:bench_peers",
}
"""Where each is, "module:function" in this folder; imported when it is measured."""


def measured(name: str, game: str, players: int, repeats: int) -> Iterator[Row]:
    """Returns the rows of one of `BENCHES`.

    Args:
        name: Which.
        game: The game.
        players: Seats at a table.
        repeats: Runs per figure.
    """
    module, _, function = BENCHES[name].partition(":")
    bench = getattr(importlib.import_module(f"speed.{module}"), function)
    return bench(game, players, repeats)
