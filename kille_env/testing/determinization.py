"""Checks of `Batch.resample`: its tables are possible, and the seat sees no difference.

`Hand` is a hand as it was played, and `Hand.possible` says of other arrangements of its cards
whether a seat would have seen the same. It knows no game and does not draw: it plays every step
again with the game's kernels, so a game's tests can compare the game's `resample` with it.
"""

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.core.table import OVER
from kille_env.play.decisions import cards_then
from kille_env.play.policy import sample_actions
from kille_env.registry import make_batch

OWN_DRAWS = ("dealt", "drawn_cards")
"""Which of its cards a seat was dealt and which it got later, in games where nobody else knows."""

PUBLIC_FIELDS = (
    *("reward", "matches", "deals", "rules", "pool", "num_players", "dealer", "drawn", "truncated"),
)


def check_determinizations(
    name: str, players: int, rules: Rules, decisions: int, seed: int
) -> None:
    """Check determinizations that are drawn at random moments of random hands, for any seat.

    A determinization has the cards of the pack, and could have come about: some pack deals its
    cards, and decisions that look the same to the seat lead to it. It shows the seat the same, in
    numbers and in text. The same key gives the same one, whatever the other tables hold. It can be
    played to its end.
    """
    rng = np.random.default_rng(seed)
    drawn: list[tuple[Batch, int]] = []
    for hand in hands(name, players, rules, seed, longest=decisions):
        seat = int(rng.integers(players))
        before = hand.states[-1]
        _check_secret_phases(hand.states)
        other = before.clone()
        cards = other.resample(seat, [len(drawn)])
        _check_determinization(before, other, seat, cards)
        codes, was = (
            " ".join(batch.spec.pack.code(card) for card in batch.drawn_cards())
            for batch in (other, before)
        )
        assert hand.possible(seat, cards, other)[0], (
            f"seat {seat} is given a determinization that is impossible, or that it can tell "
            f"from the hand as it was: {codes} instead of {was}, "
            f"{len(hand.actions)} decisions after the deal by seat {before.tables['dealer'][0]}"
        )
        drawn.append((before, seat))
        if len(drawn) > decisions // 50:
            break
    _check_keys(drawn, rng)


def _check_secret_phases(states: Sequence[Batch]) -> None:
    """Check that the phases are named in which a seat acts while it is another's turn."""
    for state in states:
        phase = int(state.tables["phase"][0])
        masks = [state.legal_actions(seat).any() for seat in range(state.num_players)]
        assert sum(masks) < 2 or phase in state.spec.secret_phases, (
            f"phase {state.spec.phases[phase]!r} hides who is to act: it belongs to secret_phases"
        )


def _check_determinization(before: Batch, other: Batch, seat: int, cards: np.ndarray) -> None:
    assert (np.sort(cards[0]) == np.arange(before.spec.pack.size)).all(), (
        f"the cards of a determinization are no permutation: {cards[0].tolist()}"
    )
    talon = slice(int(before.tables["drawn"][0]), None)
    moved = cards[0][before.tables["deck"][0, talon]]
    assert np.array_equal(moved, other.tables["deck"][0, talon]), (
        "the talon of a determinization is not that of the table with its new cards"
    )
    for field in PUBLIC_FIELDS:
        assert np.array_equal(before.tables[field], other.tables[field]), (
            f"a determinization differs in {field!r}, which is public"
        )
    for view in ("observe", "legal_actions", "information_state"):
        assert np.array_equal(getattr(before, view)(seat), getattr(other, view)(seat)), (
            f"{view} shows seat {seat} another determinization than it was in"
        )
    assert before.describe(0, seat) == other.describe(0, seat), (
        f"describe tells seat {seat} of another determinization than it was in"
    )
    assert not (before.seat[0] == seat != other.seat[0]), (
        f"seat {seat} is to act, but not in a determinization that is drawn for it"
    )


def _check_keys(drawn: Sequence[tuple[Batch, int]], rng: np.random.Generator) -> None:
    """Draw all side by side, twice, and some in another order; play them to their ends."""
    tables = join([batch for batch, _ in drawn])
    seats = np.array([seat for _, seat in drawn])
    keys = rng.integers(2**63, size=len(drawn), dtype=np.uint64)
    order = rng.permutation(len(drawn))[: len(drawn) // 2 + 1]
    all_of_them, again, shuffled = tables.clone(), tables.clone(), tables.take(order)
    for batch, rows in ((all_of_them, slice(None)), (again, slice(None)), (shuffled, order)):
        batch.resample(seats[rows], keys[rows])
    assert np.array_equal(all_of_them.tables, again.tables), (
        "the same key gives another determinization"
    )
    assert np.array_equal(all_of_them.tables[order], shuffled.tables), (
        "a determinization depends on the other tables"
    )
    hand = all_of_them.tables["deals"].copy()
    for _ in range(2 * all_of_them.spec.max_decisions(all_of_them.rules, all_of_them.num_players)):
        going_on = ~all_of_them.over & (all_of_them.tables["deals"] == hand)
        if not going_on.any():
            return
        mask = np.maximum(all_of_them.mask, all_of_them.over[:, None])
        all_of_them.step(sample_actions(mask, rng))
    raise AssertionError("a determinization does not come to an end")


# A hand and its determinizations


class Hand:
    """A hand so far at one table: `states` before each decision and now, and one `actions` less."""

    def __init__(self, start: Batch, now: Batch) -> None:
        """Start with a hand that has just been dealt; both batches are copied."""
        self.start, self.states, self.actions = start.clone(), [now.clone()], list[int]()

    def add(self, action: int, now: Batch) -> None:
        """Add a decision, which led to `now`."""
        self.actions.append(action)
        self.states.append(now.clone())

    def until(self, decisions: int) -> "Hand":
        """Return the hand as it stood after some decisions."""
        earlier = Hand(self.start, self.states[0])
        earlier.actions = self.actions[:decisions]
        earlier.states = self.states[: decisions + 1]
        return earlier

    def possible(self, seat: int, cards: np.ndarray, into: Batch | None = None) -> np.ndarray:
        """Return the arrangements of the cards that a seat cannot tell from this hand, [K] bool.

        Some pack must deal them. At each decision, an action that is legal with the other cards
        must lead to what followed, and the seat must have seen the same all along. What others
        decided in secret (`secret_phases` of the spec) may differ.
        """
        last, pack = self.states[-1], self.start.spec.pack
        kept = [
            k for k, state in enumerate(self.states[:-1]) if not asked_in_secret(state, seat)[0]
        ]
        kept.append(len(self.states) - 1)
        number, length = len(cards), len(kept)
        # For each arrangement all that was, with its cards.
        was = join([self.states[k] for k in kept]).take(np.tile(np.arange(length), number))
        other = was.clone()
        ends = np.arange(1, number + 1) * length - 1
        end_of, moved = np.repeat(ends, length), np.repeat(cards, length, axis=0)
        early = was.tables["drawn"] < last.tables["drawn"]
        if into is not None:
            packs = was.tables["deck"][end_of], np.repeat(into.tables["deck"], length, axis=0)
            moved = cards_then(early, *packs, moved)
        tables = other.tables.copy()
        other.game.relabel(tables, other.arrays.rules, moved)
        if into is not None:
            tables[ends] = into.tables
            for field in set(OWN_DRAWS) & set(other.spec.table.names or ()):
                tables[field][~early] = tables[field][end_of][~early]
        # All cards of the hand are given, so that playing it again draws the same ones.
        tables["stacked"] = tables["drawn"][end_of]
        tables["deck"] = tables["deck"][end_of]
        other.place(tables)
        seen = (_views(was, [seat]) == _views(other, [seat])).all(axis=1)
        # Where others are asked in secret at the end, only what the seat sees is to be reached.
        by_all = np.ones(was.num_tables, dtype=np.bool_)
        if into is None:
            by_all[ends] = not asked_in_secret(last, seat)[0]
        rows = np.arange(was.num_tables)
        begins = rows % length == 0
        reached = np.zeros(was.num_tables, dtype=np.bool_)
        dealt = self.start.take(np.zeros(number, dtype=np.int64))
        dealt.deal([[pack.code(card) for card in other.drawn_cards(end)] for end in ends.tolist()])
        reached[begins] = _reach(dealt, other.take(rows[begins]), by_all[begins], seat)
        if length > 1:
            made = np.tile([self.actions[k] for k in kept[:-1]], number)
            target, rest = other.take(rows[~begins]), by_all[~begins]
            reached[~begins] = _lead(other.take(rows[~begins] - 1), made, target, rest, seat)
        return (seen & reached).reshape(number, length).all(axis=1)


def hands(name: str, players: int, rules: Rules, seed: int, longest: int = 1000) -> Iterator[Hand]:
    """Play random hands; yield each before some decision."""
    rng = np.random.default_rng(seed)
    batch = make_batch(name, 1, players, rules=rules, seed=seed, restart=False)
    for number in count():
        if number == 0 or batch.over[0]:
            batch.reset(deal=False)
        start = batch.clone()
        batch.deal(_pack(batch, rng))
        if batch.tables["phase"][0] <= OVER:
            continue
        hand = Hand(start, batch)
        while batch.tables["phase"][0] > OVER:
            action = sample_actions(batch.mask, rng)
            batch.apply(action)
            if batch.tables["phase"][0] > OVER:
                hand.add(int(action[0]), batch)
        yield hand.until(int(rng.integers(min(len(hand.actions), longest) + 1)))


def _pack(batch: Batch, rng: np.random.Generator) -> list[str]:
    """Return the rules' pack; often with few kinds of cards on top, so that rare things happen."""
    pack, left_out = batch.spec.pack, batch.spec.left_out(batch.rules)
    kinds = list(dict.fromkeys(pack.codes_without(left_out)))
    codes = rng.permutation(kinds * pack.copies).tolist()
    # Uniform packs hardly ever have two killes or goks at one table.
    if rng.random() < 0.5:
        eager = set(rng.choice(kinds, len(kinds) // 3, replace=False))
        codes.sort(key=lambda code: code not in eager and rng.random() < 0.8)
    return codes


def join(batches: Sequence[Batch]) -> Batch:
    """Return one batch of the first tables of batches of the same game."""
    joined = batches[0].take(np.zeros(len(batches), dtype=np.int64))
    joined.place(np.concatenate([batch.tables[:1] for batch in batches]))
    return joined


def asked_in_secret(batch: Batch, seat: int) -> np.ndarray:
    """Return whether another seat acts and `seat` cannot know it, [N] bool."""
    secret = np.isin(batch.tables["phase"], batch.spec.secret_phases)
    return secret & (batch.seat != seat)


def _views(batch: Batch, seats: Sequence[int]) -> np.ndarray:
    """Return all that seats see of tables, [N, W]."""
    views = [
        look(seat)
        for seat in seats
        for look in (batch.information_state, batch.observe, batch.legal_actions)
    ]
    return np.concatenate([view.view(np.uint8) for view in views], axis=1)


def _same(batch: Batch, target: Batch, by_all: np.ndarray, seat: int) -> np.ndarray:
    """Return the tables that look the same to a seat and, if `by_all`, to everybody, [N] bool."""
    same = (_views(batch, [seat]) == _views(target, [seat])).all(axis=1)
    everybody = range(batch.num_players)
    alike = (_views(batch, everybody) == _views(target, everybody)).all(axis=1)
    alike &= (batch.full_state(seat) == target.full_state(seat)).all(axis=1)
    alike &= batch.seat == target.seat
    for field in PUBLIC_FIELDS:
        equal = batch.tables[field] == target.tables[field]
        alike &= equal.reshape(len(alike), -1).all(axis=1)
    return same & (alike | ~by_all)


def _reach(batch: Batch, target: Batch, by_all: np.ndarray, seat: int) -> np.ndarray:
    """Return the tables that look like others now, or after secret answers, [N] bool."""
    reached = _same(batch, target, by_all, seat)
    secret = np.flatnonzero(~reached & asked_in_secret(batch, seat))
    if len(secret):
        reached[secret] = _lead(batch.take(secret), None, target.take(secret), by_all[secret], seat)
    return reached


def _lead(
    batch: Batch, made: np.ndarray | None, target: Batch, by_all: np.ndarray, seat: int
) -> np.ndarray:
    """Return the tables at which a decision leads to others, [N] bool; `made` is tried first."""
    reached = np.zeros(batch.num_tables, dtype=np.bool_)
    every = [np.full(batch.num_tables, action) for action in range(batch.spec.num_actions)]
    for actions in every if made is None else [made, *every]:
        legal = batch.mask[np.arange(batch.num_tables), actions] != 0
        rows = np.flatnonzero(~reached & legal)
        if len(rows):
            after = batch.take(rows)
            after.apply(actions[rows])
            reached[rows] = _reach(after, target.take(rows), by_all[rows], seat)
    return reached
