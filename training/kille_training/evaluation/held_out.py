"""Exact NashConv of a policy at many tables: sets of held-out tables, and lists of your own.

`configs/rules/held_out.jsonl` holds the published sets, one table per line, with its solution's
figures; `python benchmarks/rule_sets.py` drew and solved them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.errors import ConfigError, KilleError, PolicyError, did_you_mean, shortened
from kille_env.files import MOST_JSON, parse_json, read_bytes
from kille_env.play.policy import ObservationPolicy, Policy, differences, name_of
from kille_env.registry import Table
from kille_env.rule_spaces import rules_folder
from kille_env.words.text import listed
from kille_training.evaluation.exact import LEAST, exact_rows, playing_at
from kille_training.evaluation.profiles import profile_of
from kille_training.evaluation.results import ExactNashConv
from kille_training.progress import Progress, part_of, shown
from kille_training.results import Result, TextTable
from kille_training.solving.grow import build_deals, shape_of
from kille_training.solving.policies import nash_conv_of
from kille_training.solving.trees.values import uniform
from kille_training.statistics.aggregate import Interval, bootstrap, interquartile_mean
from kille_training.tables import homes_of

FILE = "held_out.jsonl"
TOGETHER = 16
"""Most rules whose payments one walk collects: each takes memory at every end."""
WORST = 5
"""Tables that a result names."""


@dataclass(frozen=True)
class HeldOutTable:
    """A solved table of a published set.

    Attributes:
        table: The game, the seats and the rules.
        value: [P] earnings of each seat in the solution.
        nash_conv: NashConv of the solution.
        uniform: NashConv of uniform play.
        rule_of_thumb: NashConv of the game's rule of thumb.
        greedy: NashConv of the greedy version of the solution: what mixing is worth.
        information_sets: Their number, of all seats.
    """

    table: Table
    value: tuple[float, ...]
    nash_conv: float
    uniform: float
    rule_of_thumb: float
    greedy: float
    information_sets: int


def held_out(name: str) -> list[HeldOutTable]:
    """Return the tables of a published set, as "krypkille-scores/test".

    Raises:
        ConfigError: There is no such set; the message suggests one.
    """
    path = rules_folder() / FILE
    lines = read_bytes(path, MOST_JSON).decode().splitlines()
    rows: list[dict[str, Any]] = [parse_json(line) for line in lines]
    known = list(dict.fromkeys(row["set"] for row in rows))
    if name not in known:
        raise ConfigError(
            f"there is no set of tables {shortened(name)}. {did_you_mean(name, known)}"
        )
    return [
        HeldOutTable(
            table=Table.of(row["game"], row["num_players"], row["rules"]),
            value=tuple(row["value"]),
            nash_conv=row["nash_conv"],
            uniform=row["uniform"],
            rule_of_thumb=row["rule_of_thumb"],
            greedy=row["greedy"],
            information_sets=row["information_sets"],
        )
        for row in rows
        if row["set"] == name
    ]


@dataclass(frozen=True, repr=False)
class TablesNashConv(Result):
    """NashConv of a policy at each of many tables, as a share of that of uniform play there.

    Attributes:
        policy: The measured policy.
        play: "greedy" or "sampled".
        tables: Name of the set; "a list of tables" for one of your own.
        rows: [N] the result at each table.
        uniform: [N] NashConv of uniform play there.
    """

    policy: str
    play: str
    tables: str
    rows: tuple[ExactNashConv, ...]
    uniform: tuple[float, ...]

    @property
    def share(self) -> np.ndarray:
        """[N] NashConv of the policy divided by that of uniform play."""
        return np.array([row.nash_conv for row in self.rows]) / np.array(self.uniform)

    @property
    def mean(self) -> Interval:
        """The mean share, with its interval over tables."""
        return _over_tables(self.share, _mean)

    @property
    def interquartile_mean(self) -> Interval:
        """The mean share of the middle half of the tables, with its interval over tables."""
        return _over_tables(self.share, interquartile_mean)

    def worst(self, count: int = WORST) -> list[tuple[float, ExactNashConv]]:
        """Return the tables with the largest shares, largest first."""
        order = np.argsort(-self.share, kind="stable")[:count]
        return [(float(self.share[number]), self.rows[number]) for number in order]

    def as_dict(self) -> dict[str, Any]:
        """Return all results as JSON values."""
        return {
            "policy": self.policy,
            "play": self.play,
            "tables": self.tables,
            "mean": _plain(self.mean),
            "interquartile_mean": _plain(self.interquartile_mean),
            "rows": [
                {**row.as_dict(), "uniform": uniform, "share": share}
                for row, uniform, share in zip(
                    self.rows, self.uniform, self.share.tolist(), strict=True
                )
            ],
        }

    def parts(self) -> list[str | TextTable]:
        """Return the shares by number of seats, and the worst tables."""
        seats = np.array([row.table.num_players for row in self.rows])
        groups = [(str(number), seats == number) for number in np.unique(seats)]
        if len(groups) > 1:
            groups.append(("all", seats > 0))
        lines = [
            (name, str(int(chosen.sum())), *(
                _text(_over_tables(self.share[chosen], statistic))
                for statistic in (_mean, interquartile_mean)
            ))
            for name, chosen in groups
        ]  # fmt: skip
        homes = {row.transferred for row in self.rows if row.transferred}
        head = [">seats", ">tables", ">mean", ">interquartile mean"]
        worst = [
            (f"{share:.3f}", f"{row.nash_conv:.3f}", str(row.table)) for share, row in self.worst()
        ]
        return [
            f"{self.policy} at {self.tables}, {self.play}",
            *(f"transferred from {home}" for home in sorted(homes)),
            TextTable("Share of uniform play's NashConv, 95% interval over tables", head, lines),
            TextTable("Worst tables", [">share", ">NashConv", "table"], worst),
        ]


def measure_tables(
    policy: Any,
    tables: str | Sequence[Table],
    game: str | None = None,
    num_players: int | None = None,
    *,
    play: str = "sampled",
    transfer: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> TablesNashConv:
    """Measure a policy at the tables of a set; see `nash_conv`."""
    name = tables if isinstance(tables, str) else "a list of tables"
    chosen = _chosen(policy, tables, game, num_players)
    if not transfer:
        _check_homes(policy, name, chosen)
    advance = part_of(shown(progress), f"measuring at {name}", len(chosen))
    rows, even = dict[int, ExactNashConv](), dict[int, float]()
    steady = set[tuple[str, int]]()
    for group in _groups(chosen):
        asked = dict[int, tuple[list[Policy], str | None]]()
        for number in group:
            table = chosen[number]
            kind = table.game, table.num_players
            asked[number] = playing_at(policy, table, play, transfer, trust, kind in steady)
            steady.add(kind)
        recall = any(not isinstance(one, ObservationPolicy) for one in asked[group[0]][0])
        rules, seats = [chosen[number].rules for number in group], chosen[group[0]].num_players
        for number, deal in zip(group, build_deals(seats, rules, recall=recall), strict=True):
            policies, home = asked[number]
            (row,) = exact_rows(policies, seats, deal.rules, ("sampled",), deal)
            rows[number] = replace(row, play=play, transferred=home)
            even[number] = nash_conv_of([uniform(stage.tree) for stage in deal.stages], deal).total
            if not even[number] > LEAST:
                raise KilleError(f"nobody gains against uniform play at {chosen[number]}: no share")
            advance(1)
    order = range(len(chosen))
    found = tuple(rows[number] for number in order)
    return TablesNashConv(
        found[0].policy, play, name, found, tuple(even[number] for number in order)
    )


def _chosen(policy: Any, tables: Any, game: str | None, num_players: int | None) -> list[Table]:
    """Return the tables of a set with the game and the seats of the arguments or the policy."""
    if isinstance(tables, str):
        known = [each.table for each in held_out(tables)]
    else:
        known = list(tables) if isinstance(tables, (list, tuple)) else []
    if not known or not all(isinstance(table, Table) for table in known):
        raise ConfigError(
            f"tables is {shortened(tables)}, expected the name of a set or a list of "
            "kille_env.Table"
        )
    profile = profile_of(policy)
    homes = [home for one in profile or [policy] for home in homes_of(one)]
    seats = {home.num_players for home in homes}
    if num_players is not None or profile:
        seats = {num_players or len(profile)}
    chosen = [
        table
        for table in known
        if game in (None, table.game) and (not seats or table.num_players in seats)
    ]
    if not chosen:
        there = sorted({(table.game, table.num_players) for table in known})
        asked = " or ".join(map(str, sorted(seats))) or "any number of"
        raise ConfigError(
            f"no table of {shortened(tables)} is one of {game or known[0].game} with {asked} "
            f"seats; there are {listed([f'{name} with {number}' for name, number in there])}"
        )
    return chosen


def _check_homes(policy: Any, name: str, tables: Sequence[Table]) -> None:
    """Refuse a policy that learned one rule set, in a sentence for all tables."""
    for one in profile_of(policy) or [policy]:
        homes = homes_of(one, tables[0])
        if homes and all(
            homes[0].game == each.game and differences(homes, each) for each in tables
        ):
            who = str(one) if isinstance(one, (str, Path)) else name_of(one)
            one_set = homes[0].rules.is_one
            other = "other rules, which it is not told" if one_set else "rules outside of it"
            raise PolicyError(
                f"{who} was made for {homes[0]}, and {name} has {other}; to measure it there all "
                "the same: transfer=True, on the command line --transfer"
            )


def _groups(tables: Sequence[Table]) -> Iterator[list[int]]:
    """Yield the numbers of tables whose trees have one shape, at most `TOGETHER` at a time."""
    groups = dict[Any, list[int]]()
    for number, table in enumerate(tables):
        groups.setdefault((shape_of(table.rules), table.num_players), []).append(number)
    for numbers in groups.values():
        for begin in range(0, len(numbers), TOGETHER):
            yield numbers[begin : begin + TOGETHER]


def _mean(scores: np.ndarray) -> np.ndarray:
    return scores.mean(axis=(-2, -1))


def _over_tables(share: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray]) -> Interval:
    """Return a statistic of shares [N] with its bootstrap interval; without one for one table."""
    if len(share) < 2:
        value = statistic(share[:, None])
        return Interval(value, value, value)
    return bootstrap(share[:, None], statistic)


def _plain(found: Interval) -> dict[str, float]:
    return {name: float(getattr(found, name)) for name in ("value", "low", "high")}


def _text(found: Interval) -> str:
    return f"{float(found.value):.3f} ({max(0.0, float(found.low)):.3f} to {float(found.high):.3f})"
