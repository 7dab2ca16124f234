"""Read a table of the truth set with NumPy alone: `python truth/reader.py FOLDER/table.npz`."""

import sys
import zipfile
from types import SimpleNamespace

import numpy as np

TYPES = {"player": "|i1", "actions": "<i4", "ways": "<i4", "before": "<i4", "share": "<f8"}
TYPES |= {"ends": "<i4", "chance": "<f8", "paid": "<i4", "payoff": "<f8", "solution": "<i4"}


def load(path, most=2**30):
    """Return the checked arrays of a table; -1 is the empty sequence. Nothing in a file can run."""
    t = SimpleNamespace()
    try:
        for name, dtype in TYPES.items():
            with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as file:
                version = np.lib.format.read_magic(file)
                shape, *layout = np.lib.format.read_array_header_1_0(file)
                data = file.read(most + 1)
            expected = [(1, 0), 1 + (name in ("ends", "payoff")), False, np.dtype(dtype)]
            if [version, len(shape), *layout] != expected or len(data) > most:
                raise ValueError(f"{name} has another type or shape, or more than {most:,} bytes")
            setattr(t, name, np.frombuffer(data, dtype).reshape(shape))
        sizes = [len(t.solution), len(t.before), len(t.share), *t.ends.shape, len(t.chance)]
        if sizes != [t.actions.sum(), *[t.ways.sum()] * 2, t.payoff.shape[1], *[len(t.paid)] * 2]:
            raise ValueError("its arrays do not fit each other")
        t.steps, t.roads = spans(t.actions), spans(t.ways)
        t.ends = np.cumsum(t.ends, axis=1, dtype=np.int64)  # differences in the file
        own, to = np.append(np.repeat(t.player, t.actions), -1), np.repeat(t.player, t.ways)
        first, seat = np.cumsum(t.actions) - t.actions, np.arange(len(t.ends))[:, None]
        numbers = t.player, t.paid, t.solution, t.share, t.chance, t.ends + 1, t.before + 1
        sound = min(map(np.min, numbers)) >= 0 and min(t.actions.min(), t.ways.min()) > 0
        sound &= (t.before < np.repeat(first, t.ways)).all()  # no set leads to itself
        sound &= ((own[t.before] == to) | (t.before < 0)).all()
        sound &= ((own[t.ends] == seat) | (t.ends < 0)).all() and t.paid.max() < len(t.payoff)
        sound &= (np.add.reduceat(t.solution, first) == 10**6).all() and np.isfinite(t.payoff).all()
        play = np.random.default_rng(0).random(len(own) - 1)  # chances fit any strategy
        play /= np.repeat(np.add.reduceat(play, first), t.actions)
        likely = t.chance @ reach(t, play)[t.ends].prod(axis=0)
        totals = np.append(np.add.reduceat(t.share, np.cumsum(t.ways) - t.ways), likely)
        if not sound or not (abs(totals - 1) < 1e-6).all():
            raise ValueError("its numbers contradict each other")
    except Exception as error:
        raise ValueError(f"{path} is not a table of the truth set: {error}") from None
    return t


def spans(counts):
    """Return where each of consecutive runs lies, as slices."""
    return [slice(end - size, end) for size, end in zip(counts, np.cumsum(counts), strict=True)]


def reach(t, strategy):
    """Return the realization weight of each sequence, the empty one last, [S + 1]."""
    weight = np.ones(len(strategy) + 1)
    for steps, ways in zip(t.steps, t.roads, strict=True):
        weight[steps] = t.share[ways] @ weight[t.before[ways]] * strategy[steps]
    return weight


def measure(t):
    """Return the value of each seat, and the gain of its best response, [P] each."""
    weight, found = reach(t, t.solution / 1e6), []
    for seat in range(len(t.ends)):
        others = np.delete(weight[t.ends], seat, axis=0).prod(axis=0)
        paid = others * t.chance * t.payoff[t.paid, seat]
        worth = np.bincount(t.ends[seat] % len(weight), paid, len(weight))
        value = worth @ weight
        for i in np.flatnonzero(t.player == seat)[::-1]:
            np.add.at(worth, t.before[t.roads[i]], t.share[t.roads[i]] * worth[t.steps[i]].max())
        found.append((value, worth[-1] - value))
    return np.array(found).T


if __name__ == "__main__":
    print("values {}\ncould gain {}".format(*measure(load(sys.argv[1]))))
