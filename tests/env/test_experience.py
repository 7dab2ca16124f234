"""Experience: every decision of every seat once, and every unit of the batch credited once."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kille_env
from env.players import even, first_legal
from kille_env.core.batch import Batch
from kille_env.core.spec import feature_scale
from kille_env.errors import KilleError, PolicyError, RulesError
from kille_env.play.experience import Collector, Transitions, collect
from kille_env.play.policy import resolve
from kille_env.play.seating import SeatedPolicies, play_out

CUT_OFF: dict[str, dict[str, Any]] = {
    "byteskille": {"max_deals": 2},
    "femkortskille": {"max_deals": 2},
    "krypkille": {"max_deals": 1},
    "kungsholmskille": {"max_deals": 2},
}


def tables(game: str, number: int, players: int | None = None, **options: Any) -> Batch:
    return kille_env.make_batch(game, number, players, seed=5, **options)


def every_table(game: str) -> list[tuple[int, dict[str, Any]]]:
    """All seat counts, deals and matches, presets, and a cap on the match."""
    spec = kille_env.spec(game)
    seats = range(spec.min_players, spec.max_players + 1)
    kinds = [{"episode": e, "preset": p} for e in ("deal", "match") for p in spec.presets]
    kinds.append(CUT_OFF.get(game, kinds[0]))
    return [(p, k) for p in seats for k in kinds if p <= spec.most_players(spec.resolve(k))]


class Ledger:
    """Slow account of a batch's steps: what each seat saw, did and earned, decision by decision.

    A decision is [seen, mask, action, reward, next seen, next mask, terminated, truncated].
    """

    def __init__(self, batch: Batch) -> None:
        self.batch, self._step = batch, batch.step
        self.done: dict[tuple[int, int], list[list[Any]]] = {}
        self.open: dict[tuple[int, int], list[Any]] = {}
        self.early: dict[tuple[int, int], float] = {}
        self.nobodys = np.zeros((batch.num_tables, batch.num_players))
        self.total = np.zeros_like(self.nobodys)
        batch.step = self.step  # type: ignore[method-assign]

    def step(self, actions: np.ndarray, which: np.ndarray | None = None) -> None:
        batch = self.batch
        chosen = np.ones(batch.num_tables, dtype=np.bool_) if which is None else which
        for table in np.flatnonzero(chosen & (batch.seat >= 0)):
            stream = int(table), int(batch.seat[table])
            shown = batch.observation[table].tolist(), batch.mask[table].tolist()
            if stream in self.open:
                self.close(stream, [*shown, False, False])
            self.open[stream] = [*shown, actions[table], self.early.pop(stream, 0.0)]
        self._step(actions, which)
        self.total += batch.reward
        ended = chosen & (batch.terminated | batch.truncated)
        for table in range(batch.num_tables):
            for seat in range(batch.num_players):
                self.pay((table, seat), batch.reward[table, seat], ended[table])

    def pay(self, stream: tuple[int, int], reward: float, ended: bool) -> None:
        if stream in self.open:
            self.open[stream][3] += reward
        else:
            self.early[stream] = self.early.get(stream, 0.0) + reward
        if not ended:
            return
        table, seat = stream
        if stream in self.open:
            seen = self.batch.observe(seat)[table].tolist()
            flags = [bool(self.batch.terminated[table]), bool(self.batch.truncated[table])]
            self.close(stream, [seen, [0] * self.batch.spec.num_actions, *flags])
        else:
            self.nobodys[stream] += self.early.pop(stream)

    def close(self, stream: tuple[int, int], after: list[Any]) -> None:
        self.done.setdefault(stream, []).append([*self.open.pop(stream), *after])

    def check(self, parts: list[Transitions]) -> None:
        """Compare what was collected, call by call, with what has been noted since."""
        found: dict[tuple[int, int], list[list[Any]]] = {}
        for part in parts:
            for row in range(len(part.action)):
                stream = int(part.table[row]), int(part.seat[row])
                found.setdefault(stream, []).append([field[row].tolist() for field in part[:8]])
        assert found.keys() == self.done.keys()
        for stream, noted in self.done.items():
            assert [row[:3] + row[4:] for row in found[stream]] == [r[:3] + r[4:] for r in noted]
            assert [row[3] for row in found[stream]] == pytest.approx([r[3] for r in noted])


def check_links(part: Transitions, players: int) -> None:
    """What follows a decision is the next one of its stream, and says so."""
    known = part.following >= 0
    here, after = np.flatnonzero(known), part.following[known]
    assert (after > here).all()
    assert not (part.terminated & part.truncated).any()
    over = part.terminated | part.truncated
    assert not over[known].any()
    assert not part.next_mask[over].any()
    assert part.next_mask[~over].any(axis=1).all()
    for name in ("observation", "mask"):
        shown, later = getattr(part, name), getattr(part, f"next_{name}")
        assert np.array_equal(later[here], shown[after])
    for name in ("table", "seat"):
        assert np.array_equal(getattr(part, name)[here], getattr(part, name)[after])
    assert ((part.position >= 0) & (part.position < players)).all()


@pytest.mark.parametrize("restart", [False, True])
def test_every_decision_comes_once_and_complete(
    game: str, restart: bool, scale: Callable[..., int]
) -> None:
    some = every_table(game)
    for players, rules in some[restart :: -(-len(some) // scale(8, 2))]:
        batch = tables(game, 2, players, rules=rules, restart=restart)
        ledger = Ledger(batch)
        collector = Collector(batch, even, observation="box")
        parts = [collector.collect(steps) for steps in (1, 2 * players, scale(30, 2))]
        ledger.check(parts)
        for part in parts:
            check_links(part, players)
        assert collector.undecided == pytest.approx(ledger.nobodys)
        assert batch.restart is restart


def credited(batch: Batch, parts: list[Transitions]) -> np.ndarray:
    """Return the rewards by table and seat, [N, P]."""
    total = np.zeros((batch.num_tables, batch.num_players))
    for part in parts:
        np.add.at(total, (part.table, part.seat), part.reward)
    return total


def earned(batch: Batch) -> np.ndarray:
    """Return an array that counts what each seat earns from now on, [N, P]."""
    total, step = np.zeros((batch.num_tables, batch.num_players)), batch.step

    def counting(*args: Any) -> None:
        step(*args)
        np.add(total, batch.reward, out=total)

    batch.step = counting  # type: ignore[method-assign]
    return total


@pytest.mark.parametrize("restart", [False, True])
def test_credits_equal_the_returns_of_the_batch(
    game: str, restart: bool, scale: Callable[..., int]
) -> None:
    without = 0
    for players, rules in every_table(game)[restart :: scale(1) + 1]:
        deals = rules.get("episode") == "deal"
        batch = tables(game, scale(32 if deals else 4, 1), players, rules=rules, restart=restart)
        total = earned(batch)
        collector = Collector(batch, even)
        whole = collector.finish()
        assert (whole.following < 0).sum() == (whole.terminated | whole.truncated).sum()
        found = credited(batch, [whole]) + collector.undecided
        assert found == pytest.approx(total, abs=1e-9), (players, rules)
        without += np.count_nonzero(collector.undecided)
    assert without > 0 or game != "byteskille"


def test_a_cap_truncates() -> None:
    batch = tables("byteskille", 16, 5, rules={"max_deals": 2, "episode": "match"})
    whole = collect(batch, even)
    assert whole.truncated.sum() > 0
    assert whole.terminated.sum() + whole.truncated.sum() == (whole.following < 0).sum()


def test_same_seed_same_bytes() -> None:
    runs = []
    for seed in (1, 1, 2):
        batch = kille_env.make_batch("knack", 9, 3)
        collector = Collector(batch, even, seed=seed)
        found = [collector.collect(7) for _ in range(3)]
        runs.append([np.asarray(field).tobytes() for part in found for field in part])
    assert runs[0] == runs[1] != runs[2]


def test_whole_matches_go_on_with_the_random_streams() -> None:
    batch = tables("byteskille", 8, 3, episode="deal")
    first, second = collect(batch, even), collect(batch, even)
    assert first.observation.tobytes() != second.observation.tobytes()
    again = collect(batch, even, seed=5)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def test_what_the_policy_is_shown_is_what_is_returned() -> None:
    shown: list[np.ndarray] = []

    def watching(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        shown.append(observation)
        return even(observation, mask)

    for kind, dtype in (("float", np.float32), ("box", np.uint8)):
        shown.clear()
        batch = tables("byteskille", 4, 3, episode="deal")
        whole = collect(batch, watching, observation=kind)
        assert whole.observation.dtype == whole.next_observation.dtype == dtype
        assert np.array_equal(np.concatenate(shown), whole.observation)
    scale = feature_scale(batch.spec.observation(3))
    kinds = [collect(batch, "uniform", observation=kind, seed=5) for kind in ("float", "box")]
    assert np.array_equal(kinds[0].observation, kinds[1].observation * scale)
    assert np.array_equal(kinds[0].action, kinds[1].action)


def test_log_probabilities_are_the_policys_own() -> None:
    def tilted(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        odds = mask * np.arange(1.0, mask.shape[1] + 1)
        return odds / odds.sum(axis=1, keepdims=True)

    whole = collect(tables("knack", 4, 3, episode="deal"), tilted)
    odds = tilted(whole.observation, whole.mask)[np.arange(len(whole.action)), whole.action]
    assert whole.log_probability == pytest.approx(np.log(odds))
    assert len(np.unique(whole.action)) > 3


@pytest.mark.parametrize(
    "player", ["rule_of_thumb", pytest.param("search", marks=pytest.mark.compiled)]
)
def test_players_play_as_at_any_table(player: str) -> None:
    batch = tables("byteskille", 2, 3, episode="deal")
    total = earned(batch)
    collect(batch, player)
    other = tables("byteskille", 2, 3, episode="deal", restart=False)
    other.reset()
    rules = other.rules
    found = play_out(SeatedPolicies(other, [resolve(player, "byteskille", 3, rules)], np.array(0)))
    assert found == pytest.approx(total)


@pytest.mark.parametrize("game", ["byteskille", "knack"])
def test_the_full_state_is_that_of_the_decision_seen_from_its_seat(game: str) -> None:
    batch, expected = tables(game, 3, 3), list[np.ndarray]()

    def noting(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        expected.extend(batch.full_state(np.maximum(batch.seat, 0))[batch.seat >= 0])
        return mask / mask.sum(axis=1, keepdims=True)

    found = collect(batch, noting, seed=4, full_state=True)
    assert found.full_state is not None
    assert sorted(map(bytes, found.full_state)) == sorted(map(bytes, expected))
    plain = collect(batch, noting, seed=4)
    assert plain.full_state is None
    for name in Transitions._fields[:-1]:
        assert np.array_equal(getattr(plain, name), getattr(found, name)), name


def test_tensors_are_probabilities_too() -> None:
    torch = pytest.importorskip("torch")

    def tensors(observation: np.ndarray, mask: np.ndarray) -> Any:
        odds = torch.as_tensor(mask, dtype=torch.float64)
        return (odds / odds.sum(1, keepdim=True)).requires_grad_()

    found = collect(tables("byteskille", 4, 3, episode="deal"), tensors)
    plain = collect(tables("byteskille", 4, 3, episode="deal"), even)
    assert np.array_equal(found.action, plain.action)


def test_a_refused_policy_leaves_the_tables_as_they_were() -> None:
    right = [True, True, False]

    def sometimes(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return even(observation, mask) if right.pop(0) else -even(observation, mask)

    batch = tables("byteskille", 4, 3)
    collector = Collector(batch, sometimes)
    with pytest.raises(PolicyError, match=r"sometimes.*no probability"):
        collector.collect(4)
    right += [True] * 20
    ledger = credited(batch, [collector.collect(20)])
    assert ledger.any()


@pytest.mark.parametrize(
    ("policy", "options", "error", "words"),
    [
        (even, {"observation": "dict"}, RulesError, "box, float"),
        (even, {"seed": -1}, RulesError, "seed"),
        ([even] * 2, {"seating": np.array([0, 1, 2])}, RulesError, "from -1 to 1, one number"),
        ("nobody", {}, PolicyError, "nobody"),
        (7, {}, PolicyError, "got 7"),
    ],
)
def test_impossible_arguments_are_refused(
    policy: Any, options: Any, error: Any, words: str
) -> None:
    with pytest.raises(error, match=words):
        Collector(tables("byteskille", 2, 3), policy, **options)


def test_each_seat_is_played_by_its_policy() -> None:
    def last(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return first_legal(observation, mask[:, ::-1])[:, ::-1]

    seating = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 0, 1]])
    found = collect(tables("byteskille", 4, 3), [first_legal, last], seating=seating)
    played = found.mask.argmax(axis=1), (found.mask * np.arange(1, 11)).argmax(axis=1)
    who = seating[found.table, found.seat]
    assert np.array_equal(found.action, np.choose(who, played))
    assert 0 < who.mean() < 1


def test_a_copy_in_the_middle_of_matches_goes_on_by_itself() -> None:
    batch = kille_env.make_batch("krypkille", 8, 3, restart=False)
    one = Collector(batch, "rule_of_thumb", seed=1)
    one.collect(5)
    other = copy.deepcopy(one)
    alone, again = other.collect(30), one.collect(30)
    assert alone.reward.any()
    for name, column in again._asdict().items():
        assert np.array_equal(getattr(alone, name), column), name


def test_steps_are_a_number() -> None:
    with pytest.raises(RulesError, match="steps is 0"):
        Collector(tables("byteskille", 2, 3), even).collect(0)


def test_advantages_run_along_each_seats_stream() -> None:
    collector = Collector(tables("byteskille", 5, 4), even)
    part = collector.collect(40)
    rng = np.random.default_rng(1)
    values, ahead = rng.normal(size=(2, len(part.action)))
    found = part.advantages(values, ahead, gamma=0.9, gae_lambda=0.8)
    for row in reversed(range(len(part.action))):
        follows, over = part.following[row], part.terminated[row] or part.truncated[row]
        later = 0.0 if over else values[follows] if follows >= 0 else ahead[row]
        error = part.reward[row] + 0.9 * later - values[row]
        rest = 0.72 * found[follows] if follows >= 0 else 0.0
        assert found[row] == pytest.approx(error + rest)
    with pytest.raises(KilleError, match="next_values"):
        part.advantages(values)
    whole = collect(tables("byteskille", 5, 4, episode="deal"), even)
    assert whole.advantages(np.zeros(len(whole.action))).sum() != 0.0
