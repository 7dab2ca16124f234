"""Tables that players play: the same units to the bit, whatever else is played beside them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import kille_env
from kille_env.core.batch import Batch
from kille_env.errors import IllegalActionError
from kille_env.play.decisions import Decisions, History
from kille_env.play.policy import UniformPolicy
from kille_env.play.seating import SeatedPolicies, play_out


class Leaning:
    """Plays every legal action, each with a probability that depends on what it sees."""

    def __init__(self, name: str = "leaning", by: int = 3) -> None:
        self.name, self._by = name, by

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        sums = observation.sum(axis=1, dtype=np.int64)[:, None]
        liking = 1 + (sums * self._by + np.arange(mask.shape[1])) % 5
        shares = np.where(mask != 0, liking, 0).astype(np.float64)
        return shares / shares.sum(axis=1, keepdims=True)


class Looking:
    """Leans as the seats of two determinizations would."""

    name = "looking"

    def decide(self, decisions: Decisions) -> np.ndarray:
        drawn = decisions.draw(2)
        hidden = drawn.full_state(np.repeat(decisions.seats, 2)).reshape(len(decisions), 2, -1)
        return Leaning().probabilities(hidden.sum(axis=1), decisions.mask)


class Recurring:
    """Leans by a running hash of what its seat has seen and done in the deal."""

    name, remembers = "recurring", True

    def decide(self, decisions: Decisions) -> np.ndarray:
        past, state = decisions.history(), np.zeros(len(decisions), np.int64)
        for which, seen, action in zip(past.decision, past.observation, past.action, strict=True):
            state[which] = (state[which] * 3 + seen.sum(dtype=np.int64) + action) % 97
        now = decisions.observation.sum(axis=1, dtype=np.int64)
        return Leaning().probabilities((state + now)[:, None], decisions.mask)


class Remembering:
    """Leans by what the others have done in the deal, and counts it."""

    name = "remembering"
    remembers = True

    def __init__(self) -> None:
        self.counts: list[list[int]] = []

    def decide(self, decisions: Decisions) -> np.ndarray:
        _, past = decisions.draw_with_past(1)
        counts = np.bincount(past.determinization, minlength=len(decisions))
        self.counts.append(counts.tolist())
        seen = np.bincount(past.determinization, past.action + 1, len(decisions)).astype(np.int64)
        return Leaning().probabilities(seen[:, None], decisions.mask)


def tables_of(
    seeds: Sequence[int] | np.ndarray,
    num_players: int = 3,
    game: str = "byteskille",
    **options: Any,
) -> Batch:
    options = {"restart": False, **options}
    batch = kille_env.make_batch(game, len(seeds), num_players, seed=0, **options)
    batch.reset(seed=list(map(int, seeds)))
    return batch


def everybody() -> list[Any]:
    return [Leaning(), UniformPolicy(), Leaning("other", 7), Looking(), Recurring()]


def some_seating(count: int, num_players: int, number: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(number, size=(count, num_players))


# The same units to the bit.


def test_units_do_not_depend_on_the_tables_beside_nor_on_their_order(
    game: str, scale: Callable[..., int]
) -> None:
    count, seats = scale(24, 4), max(3, kille_env.spec(game).min_players)
    options = {"game": game, "episode": "deal"}
    seeds, seating = np.arange(count) * 7 + 1, some_seating(count, seats, 5)
    units = play_out(SeatedPolicies(tables_of(seeds, seats, **options), everybody(), seating))
    assert units.any()
    order = np.random.default_rng(1).permutation(count)[: count // 2]
    again = play_out(
        SeatedPolicies(tables_of(seeds[order], seats, **options), everybody(), seating[order])
    )
    assert again.tobytes() == units[order].tobytes()


def test_units_do_not_depend_on_the_order_in_which_players_are_listed() -> None:
    seeds, seating = np.arange(20), some_seating(20, 3, 5)
    units = play_out(SeatedPolicies(tables_of(seeds), everybody(), seating))
    turned = play_out(SeatedPolicies(tables_of(seeds), everybody()[::-1], 4 - seating))
    assert turned.tobytes() == units.tobytes()


def test_units_are_the_same_with_restart_and_without(scale: Callable[..., int]) -> None:
    count, matches = 6, scale(4, 2)
    seeds, seating = np.arange(count) + 50, some_seating(count, 3, 5)
    batch = tables_of(seeds)
    one_by_one = SeatedPolicies(batch, everybody(), seating)
    expected = np.zeros((matches, count, 3))
    for match in range(matches):
        expected[match] = play_out(one_by_one)
        batch.reset()
    batch = tables_of(seeds, restart=True)
    on_and_on = SeatedPolicies(batch, everybody(), seating)
    got, at = np.zeros((matches + 1, count, 3)), np.zeros(count, dtype=np.int64)
    while at.min() < matches:
        on_and_on.run()
        got[at, np.arange(count)] += batch.reward
        at = np.minimum(at + (batch.terminated | batch.truncated), matches)
    assert got[:matches].round(9).tobytes() == expected.tobytes()


def test_a_seat_meets_the_same_random_numbers_whoever_sits_there() -> None:
    class Writing(Leaning):
        def __init__(self) -> None:
            super().__init__()
            self.keys: list[np.ndarray] = []

        def decide(self, decisions: Decisions) -> np.ndarray:
            self.keys.append(decisions.keys)
            return self.probabilities(decisions.observation, decisions.mask)

    batches = [tables_of(range(8)) for _ in range(2)]
    writers = [Writing(), Writing()]
    for batch, writer, beside in zip(batches, writers, (UniformPolicy(), Leaning()), strict=True):
        SeatedPolicies(batch, [beside, writer], np.array([1, 0, 0])).run(batch.seat == 0)
    assert writers[0].keys[0].tolist() == writers[1].keys[0].tolist()
    assert len(np.unique(writers[0].keys[0])) == len(writers[0].keys[0])


def test_a_match_that_the_cards_decide_pays() -> None:
    options = {"rules": "wikipedia", "episode": "deal"}
    seeds = np.arange(400)
    decided = tables_of(seeds, 2, **options).over
    units = play_out(
        SeatedPolicies(tables_of(seeds, 2, **options), [UniformPolicy()], np.zeros(2, int))
    )
    assert units[decided].any()
    alone = tables_of(seeds[decided], 2, **options)  # nobody is to act at any of these tables
    assert np.array_equal(
        play_out(SeatedPolicies(alone, [UniformPolicy()], np.zeros(2, int))), units[decided]
    )


# Some of the tables, and seats from outside.


def test_tables_that_are_not_chosen_stand_still() -> None:
    batch = tables_of(range(6))
    players = SeatedPolicies(batch, everybody(), some_seating(6, 3, 5))
    before, chosen = batch.tables.copy(), np.arange(6) % 2 == 0
    assert not players.actions(chosen)[~chosen].any()
    players.run(chosen)
    assert np.array_equal(batch.tables[~chosen], before[~chosen])
    for _ in range(500):
        players.run(chosen & (batch.seat >= 0))
    apart = play_out(players)[~chosen]
    together = play_out(SeatedPolicies(tables_of(range(6)), everybody(), players.seating))
    assert apart.tobytes() == together[~chosen].tobytes()


def test_a_seat_can_be_played_from_outside() -> None:
    seeds = np.arange(10)
    batch, other = tables_of(seeds), tables_of(seeds)
    inside = SeatedPolicies(other, [Leaning(), Leaning()], np.array([1, 0, 0]))
    whole = play_out(inside)
    players = SeatedPolicies(batch, [Leaning()], np.array([-1, 0, 0]))
    choose = SeatedPolicies(
        batch, [Leaning()], np.zeros(3, int)
    )  # acts for the outside, with the same keys
    total = np.zeros((10, 3))
    while (batch.seat >= 0).any():
        own = batch.seat == 0
        assert not players.actions()[own].any()
        choose.actions()
        actions = np.where(own, choose.actions(), players.actions())
        choose.decided[np.arange(10), np.maximum(batch.seat, 0)] += batch.seat >= 0
        players.step(actions)
        total += batch.reward
    assert total.round(9).tobytes() == whole.tobytes()


# Forgetting, saving.


def test_players_forget_matches_that_begin_again_from_the_same_seed() -> None:
    batch = tables_of([4, 5, 6], 4)
    players = SeatedPolicies(batch, [Remembering(), Leaning()], np.array([0, 1, 1, 0]))
    first = play_out(players)
    batch.reset(seed=[4, 5, 6])
    for _ in range(3):
        players.run()
    batch.reset(seed=[4, 5, 6])
    players.forget()
    assert play_out(players).tobytes() == first.tobytes()


# Searchers that remember the deal.


def test_searchers_remember_what_was_decided_before_them() -> None:
    searcher = Remembering()
    batch = tables_of(range(10), 4)
    players = SeatedPolicies(batch, [searcher, Leaning()], np.array([0, 1, 1, 0]))
    assert play_out(players).any()
    assert sum(map(sum, searcher.counts)) > 0


@pytest.mark.parametrize("game", ["byteskille", "krypkille", "knack"])
def test_the_history_is_what_the_seat_saw_and_did_in_the_deal(game: str) -> None:
    batch, rng = (
        tables_of(range(6), 3, game=game, episode="match", restart=True),
        np.random.default_rng(5),
    )
    history, own = History(batch), dict[tuple[int, int, int, int], list[tuple[bytes, bytes, int]]]()
    compared = 0
    for _ in range(60):
        rows, tables = np.flatnonzero(batch.seat >= 0), batch.tables
        past = Decisions(batch, rows, rows.astype(np.uint64), history).history()
        actions = (batch.mask * rng.random(batch.mask.shape)).argmax(axis=1)
        for number, row in enumerate(rows):
            here = past.decision == number
            told = zip(past.observation[here], past.mask[here], past.action[here], strict=True)
            known = [(seen.tobytes(), mask.tobytes(), int(action)) for seen, mask, action in told]
            deal = row, int(batch.seat[row]), int(tables["matches"][row]), int(tables["deals"][row])
            assert known == own.get(deal, [])  # pyright: ignore
            compared += len(known)
            seen = batch.observation[row].tobytes(), batch.mask[row].tobytes(), int(actions[row])
            own.setdefault(deal, []).append(seen)
        history.note(actions)
        batch.step(actions)
    assert compared > 50


def test_what_is_refused_is_not_remembered() -> None:
    batch = tables_of(range(4), 4)
    players = SeatedPolicies(batch, [Remembering(), Leaning()], np.array([0, 1, 1, 0]))
    players.run()
    decided, known = players.decided.copy(), len(players._history._steps)
    tables = batch.tables.tobytes()
    with pytest.raises(IllegalActionError):
        players.step(np.full(4, 99))
    assert np.array_equal(players.decided, decided)
    assert len(players._history._steps) == known
    assert batch.tables.tobytes() == tables
