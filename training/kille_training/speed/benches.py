"""What `kille bench` measures, by name."""

from collections.abc import Callable, Iterator

from kille_training.speed.batch import (
    bench_batch,
    bench_games,
    bench_one,
    bench_scale,
    bench_shares,
    bench_state,
    bench_threads,
)
from kille_training.speed.cost import bench_cost
from kille_training.speed.doors import bench_aec, bench_gym
from kille_training.speed.peers.contest import bench_peers
from kille_training.speed.rows import Row
from kille_training.speed.solving import bench_solve
from kille_training.speed.start import bench_start
from kille_training.speed.training import bench_seats, bench_train
from kille_training.speed.waits import bench_waits

BENCHES: dict[str, Callable[[str, int, int], Iterator[Row]]] = {
    "batch": bench_batch,
    "games": bench_games,
    "one": bench_one,
    "scale": bench_scale,
    "threads": bench_threads,
    "shares": bench_shares,
    "state": bench_state,
    "waits": bench_waits,
    "aec": bench_aec,
    "gym": bench_gym,
    "train": bench_train,
    "seats": bench_seats,
    "cost": bench_cost,
    "solve": bench_solve,
    "start": bench_start,
    "peers": bench_peers,
}
