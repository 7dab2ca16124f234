"""Make the truth set: `python truth/make.py [NAME ...]` makes missing tables, or those named anew.

Every table is made in its own process, and is a line of index.csv once it is finished: run the
script again to resume. `--digest NAME` grows a large table and prints the digest of its game. All
results but seconds and memory are the same on every machine. docs/truth.md describes the set.
"""

import csv
import gzip
import io
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))

from check import check
from describe import COLUMNS, described
from poker import kuhn, leduc

import kille_training as kt
from collusion import Hand, agreed, hands_of, shared
from kille_agents.tabular import TABULAR, save_tabular
from kille_env.files import write_whole
from kille_env.registry import describe_rules, spec
from kille_training.solving.byteskille.match_solving import match_length, match_strategy_of
from kille_training.solving.byteskille.matches import Match, MatchStrategy, build_match
from kille_training.solving.grow import build_deal, grow_stage
from kille_training.solving.policies import nash_conv_of, policy_of, strategies_of
from kille_training.solving.size import count_ends
from kille_training.solving.stages import DealStages
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.efg import EfgTree
from kille_training.solving.trees.sequence_game import SequenceGame
from kille_training.solving.trees.stored import StoredTree, canonical
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import (
    MILLION,
    NashConv,
    coarse_gains,
    expected_values,
    greedy,
    in_millionths,
    nash_conv,
    uniform,
)

HERE = Path(__file__).resolve().parent
POKER = {"kuhn": kuhn, "leduc": leduc}
PACKS = {
    "krypkille": {"preset": "tiny", "pack": "BL+L4+L8+KI"},
    "kungsholmskille": {"preset": "tiny", "pack": "BL+L8+KI"},
    "femkortskille": {"preset": "tiny", "pack": "BL+L8+KI"},
    "knack": {"pack": "QH+KH+AH+JS+QS+KS+AS"},
}
"""Packs whose tables are certified."""
BYTESKILLE = {
    "svensk": {"preset": "svensk"},
    "wikipedia": {"preset": "wikipedia"},
    "unasked": {"preset": "svensk", "fraga": "off"},
    "ownturn": {"preset": "svensk", "fraga": "off", "gok_call": "own_turn"},
    "nocall": {"preset": "svensk", "fraga": "off", "gok_call": "off"},
    "allback": {"preset": "svensk", "fraga": "off", "pig_scope": "all"},
}
"""Rules of single deals of Byteskille by name."""
FIVE = ("svensk", "wikipedia")
"""Those of them with five seats."""
CARDS = {
    "byteskille-eight-5": "BL L3 L6 L9 KA SV GO KI",
    "byteskille-ten-5": "BL L2 L4 L6 L8 VH KA SV GO KI",
}
"""Types of the only cards, each twice, of tables without a preset of their own."""
TABLES: dict[str, tuple[str, int, dict[str, Any]]] = {
    **{f"kuhn-{n}": ("kuhn", n, {}) for n in (2, 3)},
    **{f"leduc-{n}": ("leduc", n, {}) for n in (2, 3)},
    **{
        f"byteskille-{rules}-{n}": ("byteskille", n, BYTESKILLE[rules])
        for rules, n in product(BYTESKILLE, (2, 3, 4))
        if (rules, n) != ("unasked", 4)  # four seats never ask
    },
    **{f"byteskille-{rules}-5": ("byteskille", 5, BYTESKILLE[rules]) for rules in FIVE},
    **{name: ("byteskille", 5, BYTESKILLE["wikipedia"]) for name in CARDS},
    **{f"{game}-mini-2": (game, 2, rules) for game, rules in PACKS.items()},
    **{
        f"{game}-{preset}-{n}": (game, n, {"preset": preset})
        for game, preset, n in product(PACKS, ("tiny", "small", "medium"), (2, 3))
        if preset in spec(game).presets and (preset, n) != ("medium", 3)
    },
    **{
        f"byteskille-pot-{rules}-{n}": ("byteskille", n, {"preset": rules, "episode": "match"})
        for rules, n in (("svensk", 2), ("svensk", 3), ("wikipedia", 2))
    },
}
"""Game, seats and rules of every table, by name."""

GAME = (
    *(f"{game}-small-3" for game in ("krypkille", "kungsholmskille", "femkortskille")),
    *(f"byteskille-{rules}-5" for rules in FIVE),
)
"""Large tables of five minutes and more: their digest is that of the game alone."""
LARGE = (
    *("kungsholmskille-tiny-3", "kungsholmskille-medium-2", "femkortskille-tiny-3"),
    *("knack-small-3", *GAME),
)
"""Tables of minutes and gigabytes, which `kille solve` makes: no file."""
TARGETS, MOST, MOST_VISITS = {2: 1e-4, 3: 1e-3, 5: 1e-6}, 3000, 4e10
"""Of these: target by seats, iterations, visited terminal nodes."""
PAIRED, MEASURED = 4e6, 1.2e7
"""Terminal nodes of the largest table whose pairs of seats are measured, and whose runs and history
are."""
NODES = 100_000
"""Nodes of the largest tree of a game of others that is certified."""
CERTIFIED = ("byteskille-unasked-2", "byteskille-wikipedia-2", "byteskille-wikipedia-3")
TARGET, ITERATIONS, VISITS, LONGER = 1e-6, 30_000, 1e9, 1e10
"""NashConv, iterations and visited terminal nodes at which solving stops, and those of `SLOW`."""
SLOW = (
    *("leduc-3", "byteskille-wikipedia-4", "krypkille-tiny-3", "krypkille-small-2"),
    *("kungsholmskille-small-2", "femkortskille-small-2"),
)
"""Tables that are solved for longer."""
MEMORY = 16.0
"""GiB that a tree may take."""
STORED = 2_500_000
"""Terminal nodes of the largest table whose file is in the repository."""
POLICIES = 120_000
"""Information sets of all hands of the largest table whose solution is stored as a policy."""
METHODS, STARTS, CLOSE, EACH, LEAST = ("dcfr", "pcfr+", "cfr+"), 3, 1e-3, 3e8, 150
"""Of the runs that compare equilibria: methods, starts, the share of uniform play's NashConv that
counts as close, visited ends, iterations whatever these are."""
PLANS = 10
"""Starts of two seats that agree on a plan."""
HISTORY = 500
"""Iterations of CFR whose joint play is measured."""
INDEX, FILE, TREE, POLICY = HERE / "index.csv", "table.npz", "tree.efg.gz", "tree.policy"


class Grown(NamedTuple):
    """A table with its trees.

    `hands` are solved from the last one; `known` is the information of each set of poker.
    """

    hands: tuple[SequenceGame, ...]
    measure: Callable[[tuple[np.ndarray, ...]], NashConv]
    deals: int
    deal: DealStages | None = None
    nodes: FlatTree | None = None
    known: tuple[Any, ...] = ()

    @property
    def with_again(self) -> list[Hand]:
        """Hands with how often each payoff deals again."""
        if self.deal is None:
            return [(tree, np.zeros(len(tree.payoff))) for tree in self.hands]
        return hands_of(self.deal)


def cards_of(name: str) -> list[str]:
    """Return the codes of the only cards of a table, empty for the game's pack."""
    return [code for code in CARDS.get(name, "").split() for _ in range(2)]


def grown(name: str, pair: tuple[int, ...] = ()) -> Grown:
    """Grow the trees of a table; a pair of seats is one player that sees both hands, the last."""
    game, seats, rules = TABLES[name]
    if game in POKER:
        flat = POKER[game](seats, pair)
        met = (flat.nodes.last_sequences() == -1).all(axis=1) & (flat.nodes.infoset >= 0)
        nodes = flat.nodes if flat.nodes.num_nodes < NODES else None
        measure = lambda play: nash_conv(flat.tree, play[0])  # noqa: E731
        known = tuple(flat.information)
        return Grown((flat.tree,), measure, int(met.sum()), None, nodes, known)
    resolved = spec(game).resolve(rules)
    nodes = not pair and (name in CERTIFIED or "-mini-" in name)
    cards, how = cards_of(name), {"shared": pair, "memory_limit": int(MEMORY * 2**30)}
    if cards:  # a smaller pack passes no estimate of the whole one
        deal = DealStages((grow_stage(seats, resolved, cards=cards, **how),))
    else:
        deal = build_deal(seats, resolved, nodes=nodes, **how)
    hands = tuple(stage.tree for stage in deal.stages)
    first = deal.first_stage
    return Grown(hands, lambda play: nash_conv_of(play, deal), first.num_deals, deal, first.nodes)


def worth(table: Grown, number: int, value: np.ndarray) -> SequenceGame:
    """Return a hand with the value of the next one for dealing again."""
    return table.hands[number] if table.deal is None else table.deal.stages[number].worth(value)


def solve(name: str, table: Grown) -> tuple[tuple[np.ndarray, ...], int]:
    """Return the solution of each hand in millionths, and the iterations."""
    file = HERE / name / POLICY
    if table.nodes is not None and file.is_file():  # published with its certificate
        shares = [float(share) for line in file.open() for share in line.split()[2:]]
        return (np.round(np.array(shares) * MILLION).astype(np.int32),), 0
    value, found, iterations = np.zeros(TABLES[name][1]), list[np.ndarray](), 0
    for number in reversed(range(len(table.hands))):
        game = worth(table, number, value)
        target = TARGET / len(table.hands)
        same = bool(found) and len(found[-1]) == game.num_sequences
        if same and nash_conv(game, found[-1]).total <= target:
            found.append(found[-1])  # hands change little from one question to the next
        else:
            solver = CFR(game, "dcfr" if TABLES[name][0] == "byteskille" else "pcfr+")
            visits = LONGER if name in SLOW else VISITS
            most = int(visits / (len(game.chance) * game.num_players))
            solver.run(min(ITERATIONS, most), until=target)
            iterations += solver.iteration
            found.append(solver.average)
        value = expected_values(game, found[-1])
    play = tuple(reversed(found))
    pure = tuple(greedy(game, one) for game, one in zip(table.hands, play, strict=True))
    if table.measure(pure).total <= table.measure(play).total:
        play = pure
    rounded = (in_millionths(game, one) for game, one in zip(table.hands, play, strict=True))
    return tuple(rounded), iterations


def stored(name: str, table: Grown, millionths: tuple[np.ndarray, ...]) -> StoredTree:
    """Return the first hand as it is stored, with the value of later ones."""
    value = np.zeros(TABLES[name][1])
    for number in reversed(range(1, len(table.hands))):
        value = expected_values(worth(table, number, value), millionths[number] / MILLION)
    game, seats, rules = TABLES[name]
    about = {"name": name, "game": game, "seats": seats, "rules": rules, "cards": cards_of(name)}
    return StoredTree(canonical(worth(table, 0, value)), millionths[0], about)


def certify(name: str, table: Grown, found: StoredTree) -> str:
    """Write the tree and the solution for check.py, and return its NashConv, a fraction."""
    game, seats, rules = TABLES[name]
    tree, policy = HERE / name / TREE, HERE / name / POLICY
    if not tree.is_file():
        raw = tree.with_suffix("")
        if game in POKER:
            assert table.nodes is not None
            actions = np.arange(table.nodes.num_sequences) - np.repeat(
                table.nodes.first[:-1], np.diff(table.nodes.first)
            )
            efg = EfgTree(table.nodes, list(map(str, actions)), [], name)
        else:
            efg = kt.export_efg(game, seats, raw, rules=rules).efg
        if game in POKER or seats > 2:  # every node has its information state
            efg = replace(efg, names=list(map(str, range(efg.tree.num_infosets))))
        efg.write(raw)
        tree.write_bytes(gzip.compress(raw.read_bytes(), mtime=0))
        raw.unlink()
        efg.write_policy(found.strategy, policy)
    values, best = check(str(tree), str(policy))
    return str(sum(best) - sum(values))


def write_policy(name: str, table: Grown, play: tuple[np.ndarray, ...]) -> None:
    """Write the solution as a policy of observations, if it is small and the pack is whole."""
    sets = sum(len(hand.player) for hand in table.hands)
    if table.deal is not None and not cards_of(name) and sets <= POLICIES:
        save_tabular(policy_of(play, table.deal, name), HERE / name / TABULAR)


def equilibria(game: SequenceGame) -> dict[str, Any]:
    """Return the measures of equilibria of one hand: see docs/truth.md."""
    row, close = dict[str, Any](), CLOSE * nash_conv(game, uniform(game)).total
    most = max(int(EACH / (len(game.chance) * game.num_players)), LEAST)
    values = []
    for method, seed in product(METHODS, range(STARTS)):
        weights = np.random.default_rng(seed).random(game.num_sequences)
        sums = np.repeat(np.add.reduceat(weights, game.first[:-1]), np.diff(game.first))
        solver = CFR(game, method, start=weights / sums if seed else None)
        measured = solver.run(min(ITERATIONS, most), until=TARGET)
        if measured is not None and measured.total <= close:
            values.append(measured.values)
    row["runs"] = f"{len(values)} of {len(METHODS) * STARTS}"
    row["apart"] = f"{np.ptp(values, axis=0).max():.2g}" if len(values) > 1 else ""
    gaps = coarse_gains(game, played(CFR(game, "cfr")))
    row["coarse"] = f"{gaps.clip(min=0.0).sum():.3g}"
    return row


def together(name: str, table: Grown, play: tuple[np.ndarray, ...]) -> dict[str, str]:
    """Return the gain of the best pair of seats that has agreed, and of one that shares cards."""
    seats, deal, trees = TABLES[name][1], table.deal, table.with_again
    policy = None if deal is None else policy_of(play, deal)
    if deal is not None and policy is not None:
        play = strategies_of(policy, deal)
    own, gains = table.measure(play).values, list[np.ndarray]()
    for pair in combinations(range(seats), 2):
        both = grown(name, pair)
        if policy is None or both.deal is None:
            theirs = carried(play[0], table, both)
        else:
            theirs = strategies_of(policy, both.deal)
        best = agreed(play, trees, pair, PLANS), shared(theirs, both.with_again)
        gains.append(np.array(best) - own[list(pair)].sum())
    return {
        column: f"{gain:.4g}"
        for column, gain in zip(("agreed", "sharing"), np.max(gains, axis=0), strict=True)
    }


def carried(strategy: np.ndarray, poker: Grown, both: Grown) -> tuple[np.ndarray, ...]:
    """Return a strategy of poker where two seats are one, in whose sets it is uniform."""
    choices = np.split(strategy, poker.hands[0].first[1:-1])
    known = dict(zip(poker.known, choices, strict=True))
    (tree,) = both.hands
    return (
        np.concatenate(
            [
                known.get(one, np.full(size, 1 / size))
                for one, size in zip(both.known, np.diff(tree.first), strict=True)
            ]
        ),
    )


def played(solver: CFR) -> Iterator[np.ndarray]:
    """Yield the strategy of every iteration."""
    for _ in range(HISTORY):
        yield solver.current
        solver.run(1)


def make(name: str) -> dict[str, Any]:
    """Make a table: return its line, after its files are written."""
    folder, began = HERE / name, time.perf_counter()
    folder.mkdir(exist_ok=True)
    if TABLES[name][2].get("episode") == "match":
        return pot(name)
    if name in LARGE:
        return large(name)
    table = grown(name)
    millionths, iterations = solve(name, table)
    found = stored(name, table, millionths)
    play = tuple(one / MILLION for one in millionths)
    measured = table.measure(play)
    pure = tuple(greedy(tree, one) for tree, one in zip(table.hands, play, strict=True))
    row = {
        "hands": len(table.hands), "deals": table.deals,
        "information_sets": found.tree.num_infosets, "ends": len(found.tree.chance),
        "values": by_seat(measured.values), "nash_conv": f"{measured.total:.3g}",
        "uniform": f"{table.measure(tuple(map(uniform, table.hands))).total:.4g}",
        "greedy": f"{table.measure(pure).total:.3g}", "iterations": iterations,
        "digest": found.digest,
    }  # fmt: skip
    if table.nodes is not None:
        row["certified"] = certify(name, table, found)
    write_policy(name, table, play)
    if len(found.tree.chance) <= STORED:
        found.write(folder / FILE)
        row["bytes"] = (folder / FILE).stat().st_size
        if TABLES[name][1] > 2:
            row |= together(name, table, play) | equilibria(found.tree)
    row["seconds"] = round(time.perf_counter() - began)
    return row


def pot(name: str) -> dict[str, Any]:
    """Solve a whole pot; return its line. It is a tree for each state, so it has no file."""
    game, seats, rules = TABLES[name]
    found = kt.solve(game, seats, rules=rules)
    match = build_match(seats, spec(game).resolve(rules))
    strategy = match_strategy_of(found.policy, match)
    hands, _ = match_length(strategy, match)
    return {
        "hands": f"{hands:.2f}", "deals": found.deals,
        "information_sets": sum(found.information_sets), "values": by_seat(found.value),
        "nash_conv": f"{found.nash_conv:.3g}", "seconds": round(found.seconds),
        "digest": digest_of(match, strategy),
    }  # fmt: skip


def digest_of(match: Match, strategy: MatchStrategy) -> str:
    """Return the digest of a pot: trees, outcomes, states, and the solution in millionths."""
    whole = sha256("".join(hand.tree.fingerprint() for hand in match.hands).encode())
    arrays = [hand.results for hand in match.hands]
    for state, played, buys in zip(match.states, strategy.hands, strategy.buys, strict=True):
        after, tree = state.after, match.hands[state.hand].tree
        arrays += [np.array(state.hand), after.roots, after.buyer, after.declined, after.bought]
        arrays += [after.following, after.shift, after.reward, buys, in_millionths(tree, played)]
    for array in arrays:
        whole.update(np.ascontiguousarray(array).data)
    return whole.hexdigest()


def large(name: str) -> dict[str, Any]:
    """Solve a large table; return its line."""
    game, seats, rules = TABLES[name]
    ends = count_ends(seats, spec(game).resolve(rules))
    iterations = min(MOST, int(MOST_VISITS / (seats * ends)))
    how: dict[str, Any] = {"target": TARGETS[seats], "iterations": iterations, "memory": MEMORY}
    began = time.perf_counter()
    found = kt.solve(game, seats, rules=rules, out=HERE.parent / "runs" / "truth" / name, **how)
    assert found.first_hand is not None, f"runs/truth/{name} holds it: delete that first"
    strategy, stage = found.first_hand
    tree, measured = stage.tree, len(stage.tree.chance) <= MEASURED
    whole = StoredTree(canonical(tree) if measured else tree, in_millionths(tree, strategy), {})
    row = {
        "hands": 1, "deals": found.deals, "information_sets": sum(found.information_sets),
        "ends": len(tree.chance), "values": by_seat(found.value),
        "nash_conv": f"{found.nash_conv:.3g}",
        "uniform": f"{nash_conv(tree, uniform(tree)).total:.4g}",
        "greedy": f"{nash_conv(tree, greedy(tree, strategy)).total:.3g}",
        "iterations": found.iterations,
        "digest": tree.fingerprint() if name in GAME else whole.digest,
    }  # fmt: skip
    if seats > 2 and len(tree.chance) <= PAIRED:
        deal = DealStages((stage,))
        table = Grown((tree,), lambda play: nash_conv_of(play, deal), found.deals, deal)
        row |= together(name, table, (whole.strategy,))
    if seats > 2 and measured:
        row |= equilibria(whole.tree)
    if row["information_sets"] <= POLICIES:
        save_tabular(found.policy, HERE / name / TABULAR)
    return row | {"seconds": round(time.perf_counter() - began)}


def digest_of_game(name: str) -> str:
    """Return the digest of a large table's game, which takes no solution."""
    game, seats, rules = TABLES[name]
    deal = build_deal(seats, spec(game).resolve(rules), memory_limit=int(MEMORY * 2**30))
    return deal.first_stage.tree.fingerprint()


def by_seat(values: Any) -> str:
    """Return values of the seats as text, forehand first."""
    return " ".join(f"{value:.9g}" for value in values)


def words(name: str) -> str:
    """Return a table's rules in words."""
    game, seats, rules = TABLES[name]
    if game in POKER:
        text = (POKER[game].__doc__ or "").replace("Return ", "")
        return f"{' '.join(text.split())}\n\n{seats} players. truth/poker.py is the whole game.\n"
    cards = f"\n\nThe only cards, each twice: {CARDS[name]}." if name in CARDS else ""
    return describe_rules(game, spec(game).resolve(rules), seats) + cards + "\n"


def read() -> dict[str, dict[str, Any]]:
    """Return the lines of the index by name."""
    if not INDEX.is_file():
        return {}
    with INDEX.open(encoding="utf-8", newline="") as lines:
        return {row["name"]: row for row in csv.DictReader(lines)}


def write(rows: dict[str, dict[str, Any]]) -> None:
    """Write the index, in the order of `TABLES`."""
    text = io.StringIO()
    lines = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
    lines.writeheader()
    lines.writerows(rows[name] for name in TABLES if name in rows)
    write_whole(INDEX, text.getvalue().encode())


def main(*names: str) -> int:
    """Make tables, then the index and its description."""
    if names[:1] == ("--one",):
        row = make(names[1])
        row["gib"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 1)
        print(json.dumps(row))
        return 0
    if names[:1] == ("--digest",):
        print(digest_of_game(names[1]))
        return 0
    if unknown := set(names) - set(TABLES):
        sys.exit(f"there is no table {', '.join(unknown)}; there are {', '.join(TABLES)}")
    for name in names or [name for name in TABLES if name not in read()]:
        print(name, file=sys.stderr, flush=True)
        call = [sys.executable, __file__, "--one", name]
        line = subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout
        game, seats, rules = TABLES[name]
        about = {"name": name, "game": game, "seats": seats, "rules": json.dumps(rules)}
        about["cards"] = CARDS.get(name, "")
        write_whole(HERE / name / "rules.txt", words(name).encode())
        write(read() | {name: about | json.loads(line)})
    write_whole(
        HERE / "croissant.json", (json.dumps(described(list(read())), indent=1) + "\n").encode()
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
