"""Grow the trees of deals: run the walk over them and enlarge its arrays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.game import Game
from kille_env.core.jit import announce_compilation, kernel
from kille_env.core.spec import Rules, width
from kille_env.errors import KilleError
from kille_env.registry import load_game
from kille_training.progress import ignore
from kille_training.solving.arrays import (
    COUNTS,
    FIRST_ROOM,
    FRAME,
    Arrays,
    Job,
    Path,
    Round,
    enlarged,
    free_slots,
    resize,
    slot_of,
)
from kille_training.solving.size import MEMORY_LIMIT, check_deal, own_cards, too_large
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.sequence_game import SequenceGame
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.walk import FAULTS, walk_of

SAME = 2.0**44  # payoffs that differ by less than the largest divided by this are the same
CALL = 1 << 19  # nodes of one compiled call: a fraction of a second, during which Ctrl-C waits


def build_deal(
    num_players: int,
    rules: Rules,
    *,
    memory_limit: int = MEMORY_LIMIT,
    progress: Callable[[int], None] = ignore,
    **grown: Any,
) -> DealStages:
    """Grow the trees of a single deal, including all hands that choices can have dealt again.

    All hands but the last share a tree: they differ only in visible counters.
    """
    grown |= {"memory_limit": memory_limit, "progress": progress}
    return build_deals(num_players, [rules], **grown)[0]


def build_deals(
    num_players: int, rules: Sequence[Rules], *, memory_limit: int = MEMORY_LIMIT, **grown: Any
) -> list[DealStages]:
    """Grow the trees of a deal by rules of one `shape_of`, in one walk; see `build_deal`."""
    check_deal(num_players, rules[0], memory_limit)
    grown |= {"memory_limit": memory_limit}
    stages = grow_stages(num_players, rules, **grown)
    if not stages[0].again.any():
        return [DealStages((stage,)) for stage in stages]
    last = load_game(rules[0].game).spec.redeals(rules[0], num_players)
    if not last:
        raise KilleError(
            "there is no exact tree: the cards of a deal can be dealt again, and the game has no "
            "count of redeals (`redeals`)"
        )
    final = grow_stages(num_players, rules, granted=last, **grown)
    return [
        DealStages((*(stage.after(granted) for granted in range(last)), behind))
        for stage, behind in zip(stages, final, strict=True)
    ]


def shape_of(rules: Rules) -> Rules:
    """Return the rules with the first preset's values of switches that only pay.

    Tables with the same number of seats and equal results have one tree with other payoffs.
    """
    known = load_game(rules.game).spec
    pays = {s.name: s.value_for(known.presets[0]) for s in known.switches if s.pays}
    return known.resolve({**rules.values, **pays})


def grow_stage(num_players: int, rules: Rules, **grown: Any) -> Stage:
    """Grow the tree of one hand of a deal; see `grow_stages`."""
    return grow_stages(num_players, [rules], **grown)[0]


def grow_stages(
    num_players: int,
    rules: Sequence[Rules],
    *,
    granted: int = 0,
    start: Mapping[str, Any] | None = None,
    cards: Sequence[str] = (),
    shared: Sequence[int] = (),
    outcomes: int = 0,
    nodes: bool = False,
    recall: bool = False,
    memory_limit: int = MEMORY_LIMIT,
    progress: Callable[[int], None] = ignore,
) -> list[Stage]:
    """Grow the tree of one hand of a deal by rules that differ in payments alone."""
    first, name = rules[0], rules[0].game
    if len(set(map(shape_of, rules))) > 1 or (len(rules) > 1 and (nodes or outcomes)):
        raise KilleError("rules whose trees differ, or trees with nodes, are grown one by one")
    game = load_game(name)
    granted = arguments.whole("granted", granted, 0, game.spec.redeals(first, num_players))
    together = {arguments.whole("shared", seat, 0, num_players - 1) for seat in shared}
    alone = [seat for seat in range(num_players) if seat not in together]
    owner = [alone.index(s) if s in alone else len(alone) for s in range(num_players)]
    tables = game.dealt_again(_starts(num_players, first, cards), granted)
    for name, value in (start or {}).items():
        tables[name] = value
    end = len(game.spec.left_out(first)) + len(cards) if cards else game.spec.pack.size
    forgets = own_cards(first, num_players)[: 0 if nodes or recall else None]
    growth = Growth(
        game, rules, tables, end,
        owner=owner, outcomes=outcomes, nodes=nodes, forgets=forgets,
    )  # fmt: skip
    with announce_compilation(f"{name} for solving"):
        while not growth.done:
            before = growth.met
            taken = growth.walk()
            if taken > memory_limit:
                ends = f"more than {growth.counts['ends'][0]:,} terminal nodes"
                raise too_large(name, num_players, ends, taken, memory_limit)
            progress(growth.met - before)
    return growth.finished(granted)


def _starts(num_players: int, rules: Rules, cards: Sequence[str]) -> np.ndarray:
    """Return the equally likely tables [K] at the start of a deal; the last seat deals."""
    game, tables = load_game(rules.game), []
    for start in game.spec.chances(rules, num_players):
        batch = Batch(game, 1, num_players, rules, seed=0, restart=False)
        batch.reset(dealer=num_players - 1, start=start, deal=False)
        table = np.array(batch.tables)
        table["deck"] = game.spec.stack(cards, rules)
        table["stacked"] = len(game.spec.left_out(rules))
        tables.append(table)
    return np.concatenate(tables)


class Growth:
    """A walk and its growing arrays."""

    def __init__(
        self,
        game: Game,
        rules: Sequence[Rules],
        starts: np.ndarray,
        end: int,
        *,
        owner: Sequence[int],
        outcomes: int,
        nodes: bool,
        forgets: np.ndarray,
    ) -> None:
        """Set up the walk before the first card."""
        spec, seats = game.spec, int(starts["num_players"][0])
        num_features = width(spec.information_state(seats))
        owners = np.array(owner, dtype=np.int64)
        players, together = int(owners.max()) + 1, int(np.bincount(owners).max())
        records = rules[0].record if len(rules) == 1 else np.concatenate([r.record for r in rules])
        records.flags.writeable = False  # one type for the compiler
        self.job = Job(records, end, num_features, owners, forgets, nodes)
        self._walk, self._num_starts = walk_of(game), len(starts)
        self._rules, self._zero_sum = rules, spec.zero_sum
        depth = spec.max_decisions(rules[0], seats) + spec.pack.size + 2
        types, actions = len(spec.pack.codes), spec.num_actions
        row = np.zeros(-(-(together * num_features + 1) // 8), dtype=np.uint64)
        joint = np.zeros(-(-(seats * num_features + 1 + types) // 8), dtype=np.uint64)
        self._path = Path(
            stack=np.zeros(depth, dtype=spec.table),
            frames=np.zeros(depth, dtype=FRAME),
            last=np.zeros((depth, players), dtype=np.int32),
            weight=np.zeros(depth),
            talon=np.zeros((depth, types), dtype=np.int64),
            place=np.zeros((depth, types), dtype=np.int64),
            row=row,
            row_bytes=row.view(np.uint8),
            joint=joint,
            joint_bytes=joint.view(np.uint8),
            way=np.zeros(2, dtype=np.int32),
            mask=np.zeros(actions, dtype=np.int8),
            paid=np.zeros((len(rules), seats)),
            thrown_in=np.zeros(1),
        )
        self._round = Round(
            tables=starts,
            first=np.arange(len(starts) + 1),
            last=np.full((len(starts), players), -1, dtype=np.int32),
            weight=np.full(len(starts), 1.0 / len(starts)),
        )
        more = players * (len(rules) - 1)
        self._shape = spec.table, len(row), len(joint), players, actions, outcomes + more
        self._arrays = Arrays.nothing(*self._shape)
        self.counts = np.zeros(1, dtype=COUNTS)
        self.counts["nodes"] = 1  # the root
        self.counts["depth"], self.counts["most"] = -1, 1

    def _next_round(self) -> None:
        """Continue from the tables that were put aside."""
        tables, count = self._arrays.aside.tables, int(self.counts["histories"][0])
        number, last, weight = (array[:count] for array in self._arrays.histories)
        empty = Arrays.nothing(*self._shape)
        self._arrays = self._arrays._replace(aside=empty.aside, histories=empty.histories)
        resize(tables, int(self.counts["aside"][0]))
        order = np.lexsort((*last.T, number))
        number, last, weight = number[order], last[order], weight[order]
        new = np.append(True, (np.diff(number) != 0) | np.diff(last, axis=0).any(axis=1))
        number, last, weight = number[new], last[new], np.add.reduceat(weight, np.flatnonzero(new))
        first = np.append(0, np.cumsum(np.bincount(number)))
        self._round = Round(tables, first, last, weight)
        most = int(np.diff(first).max())
        room = most * len(self._path.stack)
        self._path = self._path._replace(
            last=np.zeros((room, last.shape[1]), dtype=np.int32), weight=np.zeros(room)
        )
        self.counts["most"] = most
        for name in ("aside", "histories", "begun"):
            self.counts[name] = 0

    @property
    def met(self) -> int:
        """Number of nodes so far."""
        return int(self.counts["met"][0])

    @property
    def done(self) -> bool:
        """Whether the walk is complete."""
        return self._is_between() and not self.counts["aside"][0]

    def _is_between(self) -> bool:
        """Whether a round is over."""
        depth, begun = self.counts["depth"][0], self.counts["begun"][0]
        return bool(depth < 0 and begun == len(self._round.tables))

    def walk(self) -> int:
        """Continue the walk for a fraction of a second."""
        if self._is_between():
            self._next_round()
        most, pairs = int(self.counts["most"][0]), self._arrays._asdict().items()
        filled = {name: int(self.counts[name][0]) for name, _ in pairs}
        self._arrays = Arrays(*(enlarged(arrays, filled[name], most) for name, arrays in pairs))
        self._walk(self.job, self._round, self._path, self._arrays, self.counts, CALL)
        if fault := int(self.counts["fault"][0]):
            raise KilleError(f"there is no exact tree: {FAULTS[fault]}")
        return sum(array.nbytes for some in (self._round, *self._arrays) for array in some)

    def finished(self, granted: int) -> list[Stage]:
        """Return the complete hand by each of the rules, and free the other arrays."""
        sets, ends, ways, written, *_ = self._arrays
        size = {name: int(self.counts[name][0]) for name in COUNTS.names or ()}
        del self._arrays
        count, seats = size["sets"], len(self.job.owner)
        player, first = sets.player[:count], sets.first[: count + 1]
        masks, positions = sets.masks[:count], sets.positions[:count]
        thrown_in, forgets = float(self._path.thrown_in[0]), len(self.job.forgets) > 0
        _, last, chance, paid = ends
        del ends
        for array in (last, chance, paid):
            resize(array, size["ends"])
        ends, paid = (last, paid) if self.job.keeps_nodes else _numbered(last, chance, paid)
        chance /= 1.0 - thrown_in
        players, columns = last.shape[1], paid.shape[1]
        further = range(columns - players * (len(self._rules) - 1), columns, players)
        begins = [0, *further]
        payoffs = [np.ascontiguousarray(paid[:, begin : begin + players]) for begin in begins]
        if not self._zero_sum:  # seats earn what they get less the table's mean
            of = np.bincount(self.job.owner)  # seats of each player
            payoffs = [each - each.sum(axis=1, keepdims=True) / seats * of for each in payoffs]
        payoff, results = payoffs[0], paid[:, players : further.start]
        nodes = None
        if self.job.keeps_nodes:
            infoset, parent, sequence, share = (array[: size["nodes"]] for array in written)
            share[parent == 0] /= 1.0 - thrown_in
            steps = infoset, parent, sequence, share
            nodes = FlatTree(payoff.shape[1], player, first, *steps, payoff)
            tree = nodes.without_nodes()
        else:
            recalled = np.arange(count + 1), sets.before[:count], np.ones(count)
            if forgets:
                recalled = _ways(ways.rows, ways.weight, size["ways"])
            tree = SequenceGame(payoff.shape[1], player, first, *recalled, ends, chance, payoff)
        if forgets:
            tree, order = _sorted(tree)
            masks, positions = masks[order], positions[order]
        stage = Stage(
            rules=self._rules[0],
            num_players=seats,
            num_deals=size["deals"] // self._num_starts,
            num_nodes=size["met"],
            tree=tree,
            masks=masks,
            positions=positions,
            again=results[:, 0],
            outcomes=results[:, 1:],
            thrown_in=thrown_in,
            forgets=forgets,
            granted=granted,
            nodes=nodes,
        )
        return [
            replace(stage, rules=rules, tree=tree._replace(payoff=payoff))
            for rules, payoff in zip(self._rules, payoffs, strict=True)
        ]


class _Payoffs(NamedTuple):
    """The distinct payoffs so far."""

    slots: np.ndarray  # a hash table of their numbers, -1 where it is free
    rows: np.ndarray  # int64, rounded
    paid: np.ndarray  # float64


def _numbered(
    last: np.ndarray, chance: np.ndarray, paid: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return `SequenceGame.ends`, and payoffs by number, [K, C], equal up to rounding merged."""
    paid /= chance[:, None]
    scale = SAME / max(1.0, paid.max(), -paid.min())
    ends = np.empty((len(last), last.shape[1] + 1), dtype=np.int32)
    ends[:, :-1] = last
    room, columns = FIRST_ROOM, paid.shape[1]
    payoffs = _Payoffs(
        slots=free_slots(),
        rows=np.zeros((room, columns), dtype=np.int64),
        paid=np.zeros((room, columns)),
    )
    row, done, count = np.zeros(columns, dtype=np.int64), 0, 0
    while done < len(ends):
        done, count = _number(paid, scale, ends, payoffs, row, done, count)
        payoffs = enlarged(payoffs, count, 1)
    return ends, payoffs.paid[:count].copy()


@kernel
def _number(paid, scale, ends, payoffs, row, done, count):
    """Assign numbers to the payoffs of the ends from `done` on, until an array is full."""
    while done < paid.shape[0] and count < payoffs.rows.shape[0]:
        for place in range(row.shape[0]):
            row[place] = np.int64(np.rint(paid[done, place] * scale))
        slot = slot_of(row, payoffs.slots, payoffs.rows)
        number = np.int64(payoffs.slots[slot])
        if number < 0:
            number = count
            payoffs.slots[slot] = number
            for place in range(row.shape[0]):
                payoffs.rows[number, place] = row[place]
                payoffs.paid[number, place] = paid[done, place]
            count += 1
        ends[done, ends.shape[1] - 1] = number
        done += 1
    return done, count


def _ways(
    rows: np.ndarray, weight: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return `SequenceGame.ways`, `before` and `share` of counted ways, see `Ways`."""
    order = np.lexsort(rows[:count].T[::-1])
    number, before = rows[order].T
    ways = np.concatenate([[0], np.cumsum(np.bincount(number))])
    share = weight[order] / np.add.reduceat(weight[order], ways[:-1])[number]
    if not np.allclose(*share.T, rtol=1e-9, atol=0.0):
        raise KilleError(
            "there is no exact tree: the order in which a seat received its cards is informative "
            "about the others"
        )
    return ways, before, share[:, 0].copy()


def _sorted(game: SequenceGame) -> tuple[SequenceGame, np.ndarray]:
    """Return a game with information sets in topological order, and that order [I]."""
    # The ends are renumbered in place.
    sizes, roads = np.diff(game.first), np.diff(game.ways)
    owner = np.append(np.repeat(np.arange(game.num_infosets), sizes), -1)  # the set of a sequence
    depth, found = np.zeros(1), np.zeros(game.num_infosets + 1)
    while not np.array_equal(depth, found):
        depth = found
        reached = np.where(game.before >= 0, depth[owner[game.before]] + 1, 0)
        found = np.append(np.maximum.reduceat(reached, game.ways[:-1]), 0)
    order = np.argsort(depth[:-1], kind="stable")
    first, ways = (np.append(0, np.cumsum(each[order])) for each in (sizes, roads))
    taken = np.repeat(game.ways[:-1][order] - ways[:-1], roads[order]) + np.arange(ways[-1])
    number = np.repeat(game.first[:-1][order] - first[:-1], sizes[order]) + np.arange(first[-1])
    sequence = np.full(first[-1] + 1, -1, np.int32)
    sequence[number] = np.arange(first[-1])
    for begin in range(0, len(game.ends), FIRST_ROOM):
        last = game.ends[begin : begin + FIRST_ROOM, :-1]
        last[:] = sequence[last]
    return game._replace(
        player=game.player[order],
        first=first.astype(np.int32),
        ways=ways,
        before=sequence[game.before[taken]],
        share=game.share[taken],
    ), order
