"""Tables with one seat of the outside: who is paid what, who plays the others, and seeds."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adapters.spies import RULES, random_legal
from kille_env.adapters.gym import KilleEnv
from kille_env.adapters.sb3 import SeatVecEnv
from kille_env.adapters.vector import SeatVectorEnv
from kille_env.errors import KilleError, PolicyError
from kille_env.play.policy import resolve
from kille_env.play.seats import SeatTables, seat_opponents
from kille_env.registry import make_batch, spec

PLAIN = {"fraga": "off", "gok_call": "off"}
"""Without questions: whoever decides first may stand or swap."""


class First:
    """Always plays the first legal action."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        self.asked.append(len(observation))
        return np.eye(mask.shape[1])[mask.argmax(axis=1)]


def play(tables: SeatTables, steps: int, seed: int = 0) -> list[Any]:
    """Play on at random; returns everything that was to be seen."""
    rng = np.random.default_rng(seed)
    seen: list[Any] = []
    for _ in range(steps):
        tables.step(random_legal(tables.mask(), rng))
        ended = tables.over.copy()
        seen.append((tables.reward.tolist(), tables.terminated.tolist(), tables.own_seat.tolist()))
        if ended.any():
            tables.begin(which=ended)
        seen.append((tables.observation().tobytes(), tables.mask().tobytes()))
    return seen


def test_every_decision_belongs_to_the_seat(scale: Callable[..., int]) -> None:
    tables = SeatTables("byteskille", 16, 5, seed=1)
    tables.begin()
    rng = np.random.default_rng(1)
    for _ in range(scale(100, 10)):
        assert np.array_equal(tables.batch.seat, tables.own_seat)
        assert np.array_equal(tables.observation(), tables.batch.observe(tables.own_seat))
        assert np.array_equal(tables.mask(), tables.batch.legal_actions(tables.own_seat))
        tables.step(random_legal(tables.mask(), rng))
        if tables.over.any():
            tables.begin(which=tables.over.copy())


def test_the_seat_rotates_with_the_matches(scale: Callable[..., int]) -> None:
    tables = SeatTables("byteskille", 3, 4, episode="deal", seed=1)
    tables.begin()
    rng = np.random.default_rng(1)
    for _ in range(scale(60, 10)):
        tables.step(random_legal(tables.mask(), rng))
        ended = tables.over.copy()
        if ended.any():
            before, number = tables.own_seat.copy(), tables.batch.tables["matches"].copy()
            tables.begin(which=ended)
            moved = (tables.own_seat - before) % 4
            assert np.array_equal(moved, (tables.batch.tables["matches"] - number) % 4)
            assert (tables.batch.tables["matches"] - number)[ended] == pytest.approx(
                1 + tables.skipped[ended]
            )


class Caller:
    """Calls with a gok whenever it may, and stands otherwise."""

    name = "caller"

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        order = np.array([2, 0, 1, 3, 4, 5, 6, 7, 8, 9])
        first = order[mask[:, order].argmax(axis=1)]
        return np.eye(mask.shape[1])[first]


def counted(deals: int) -> list[list[tuple[float, bool]]]:
    """What seat 0 earns in deals of 4 tables, and whether it decided anything: a plain loop."""
    batch = make_batch("byteskille", 4, 13, seed=1, restart=False)
    batch.reset()
    found: list[list[tuple[float, bool]]] = [[] for _ in range(4)]
    earned, decided, caller = np.zeros(4), np.zeros(4, np.bool_), Caller()
    while min(map(len, found)) < deals:
        for table in np.flatnonzero(batch.over):
            found[table].append((float(earned[table]), bool(decided[table])))
        earned[batch.over], decided[batch.over] = 0.0, False
        if batch.over.any():
            batch.reset(which=batch.over.copy())
            earned += batch.reward[:, 0]
            continue
        own = batch.seat == 0
        decided |= own
        others = caller.probabilities(batch.observation, batch.mask).argmax(axis=1)
        batch.step(np.where(own, batch.mask.argmax(axis=1), others))
        earned += batch.reward[:, 0]
    return found


def test_what_deals_without_a_decision_pay_is_said() -> None:
    """Else the mean return of an environment is that of the deals that ask something only."""
    options: dict[str, Any] = {"opponents": Caller(), "seat": 0, "seed": 1}
    one_by_one = KilleEnv("byteskille", 13, **options)
    several = SeatVectorEnv("byteskille", 4, 13, autoreset_mode="SameStep", **options)
    learned_from = SeatVecEnv("byteskille", 4, 13, **options)

    def split(deals: list[tuple[float, bool]], number: int) -> list[tuple[float, int, float]]:
        """What is earned with a decision, and what passed before: how many deals, and units."""
        found, passed = [], []
        for units, decided in deals:
            if decided:
                found.append((units, len(passed), sum(passed)))
            passed = [] if decided else [*passed, units]
        return found[:number]

    wanted = [split(deals, 3) for deals in counted(24)]
    assert sum(passed for each in wanted for _, passed, _ in each) > 0
    assert any(units for each in wanted for *_, units in each)

    _, info = one_by_one.reset(seed=1)
    for units in wanted[0]:
        said, ended = (info["skipped"], info["skipped_units"]), False
        while not ended:
            *_, ended, _, info = one_by_one.step(int(one_by_one.action_masks().argmax()))
        assert (info["returns"][0], *said) == units
        _, info = one_by_one.reset()

    several.reset()
    learned_from.reset()
    passed_over = several.tables, learned_from.tables
    said = [[*zip(each.skipped, each.skipped_units, strict=True)] for each in passed_over]
    assert said[1] == [
        (each["skipped"], each["skipped_units"]) for each in learned_from.reset_infos
    ]
    found: list[list[list[tuple[float, int, float]]]] = [[[] for _ in range(4)] for _ in range(2)]
    while min(len(each) for form in found for each in form) < 3:
        actions = several.tables.mask().argmax(axis=1)
        *_, infos = several.step(actions)
        *_, dones, told = learned_from.step(actions)
        for i in np.flatnonzero(dones):
            found[0][i].append((infos["final_info"]["returns"][i, 0], *said[0][i]))
            found[1][i].append((told[i]["returns"][0], *said[1][i]))
            said[0][i] = infos["skipped"][i], infos["skipped_units"][i]
            said[1][i] = told[i]["skipped"], told[i]["skipped_units"]
    for form in found:
        assert [each[:3] for each in form] == wanted


def test_a_match_that_is_passed_over_hands_its_dealer_on() -> None:
    tables = SeatTables("byteskille", 64, 13, episode="deal", opponents=Caller(), seat=0, seed=1)
    tables.begin(dealer=0)
    assert tables.skipped.any()
    assert not tables.batch.tables["dealer"].any()


def test_results_do_not_depend_on_other_tables() -> None:
    whole = SeatTables("byteskille", 12, 4, seed=5)
    part = SeatTables("byteskille", 5, 4, seed=5)
    whole.begin()
    part.begin()
    for _ in range(80):
        whole.step(whole.mask().argmax(axis=1))
        part.step(part.mask().argmax(axis=1))
        assert np.array_equal(whole.reward[:5], part.reward)
        assert np.array_equal(whole.own_seat[:5], part.own_seat)
        for tables in (whole, part):
            if tables.over.any():
                tables.begin(which=tables.over.copy())
        assert np.array_equal(whole.observation()[:5], part.observation())


def test_an_illegal_action_can_lose() -> None:
    tables = SeatTables(
        "byteskille", 3, 3, rules=PLAIN, illegal="lose", illegal_reward=-4.0, seed=1
    )
    tables.begin()
    tables.step(np.array([0, 9, 0]))
    assert tables.reward[1] == -4.0
    assert tables.terminated.tolist()[1] is True
    assert tables.forfeited.tolist() == [False, True, False]
    assert tables.mask()[1].all()
    with pytest.raises(KilleError, match=r"table \d is over"):
        tables.step(np.array([0, 0, 0]))
    tables.begin(which=tables.over.copy())
    tables.step(tables.mask().argmax(axis=1))


class Plain:
    """A player that is asked for each decision, whatever else it could do."""

    name = "plain"

    def __init__(self, player: Any) -> None:
        self.probabilities = player.probabilities


@pytest.mark.parametrize("tables", [1, 6])
@pytest.mark.parametrize(
    ("neighbour", "others"),
    [("rule_of_thumb", "rule_of_thumb"), ("uniform", "uniform"), ("uniform", "rule_of_thumb")],
)
@pytest.mark.parametrize(("players", "rules"), RULES[2:6])
def test_kernels_play_what_players_that_are_asked_play(
    players: int, rules: dict[str, Any], neighbour: str, others: str, tables: int
) -> None:
    resolved = spec("byteskille").resolve(**rules)
    names = [neighbour] + [others] * (players - 2)
    seated = [resolve(name, "byteskille", players, resolved) for name in names]
    fast, slow = (
        SeatTables("byteskille", tables, players, rules=resolved, seed=2, opponents=opponents)
        for opponents in (seated, [Plain(player) for player in seated])
    )
    fast.begin()
    slow.begin()
    assert play(fast, 30) == play(slow, 30)
    assert np.array_equal(fast.players.decided, slow.players.decided)
    if fast.recorder is not None and slow.recorder is not None:
        assert fast.recorder.record() == slow.recorder.record()


@pytest.mark.parametrize("opponents", ["rule_of_thumb", "uniform", ["rule_of_thumb", "uniform"]])
def test_what_begins_beside_others_plays_as_what_begins_after_them(opponents: Any) -> None:
    def run(together: bool) -> list[Any]:
        tables = SeatTables("byteskille", 12, 3, episode="deal", opponents=opponents, seed=4)
        tables.begin()
        seen: list[Any] = []

        def ended(which: np.ndarray) -> None:
            rows = np.flatnonzero(which).tolist()
            shown = [row.tobytes() for row in tables.observation(which)]
            results = tables.returns[which].tolist()
            told.extend(zip(rows, tables.earned[which], results, shown, strict=True))

        for _ in range(20):
            told: list[Any] = []
            tables.step(tables.mask().argmax(axis=1), again=ended if together else None)
            if not together and tables.over.any():
                over = tables.over.copy()
                ended(over)
                tables.begin(which=over)
            seen.append((sorted(told), tables.reward.tolist(), tables.skipped.tolist()))
            seen.append(tables.observation().tobytes())
        return seen

    assert run(True) == run(False)


# Who sits in the other seats.


def test_players_sit_clockwise_from_the_left_neighbour() -> None:
    class Loud(First):
        def __init__(self, name: str, log: list[str]) -> None:
            super().__init__()
            self.name, self.log = name, log

        def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
            self.log.append(self.name)
            return super().probabilities(observation, mask)

    log: list[str] = []
    players = [Loud("left", log), Loud("across", log), Loud("right", log)]
    tables = SeatTables("byteskille", 1, 4, episode="deal", opponents=players, seat=2, seed=1)
    tables.begin(deck=["L5", "L6", "L7", "L8"], dealer=2)
    assert log == ["left", "across", "right"]


def test_without_the_agents_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kille_agents", None)
    monkeypatch.delitem(sys.modules, "kille_agents.catalog", raising=False)
    rules = spec("byteskille").resolve()
    with pytest.raises(PolicyError, match="no package that finds 'rule_of_thumb' is installed"):
        resolve("rule_of_thumb", "byteskille", 3, rules)


@pytest.mark.parametrize(
    "opponents", [["uniform"], ["uniform"] * 3, 7, [None, "uniform"], "nobody"]
)
def test_impossible_opponents_are_refused(opponents: Any) -> None:
    with pytest.raises(PolicyError):
        seat_opponents(opponents, "byteskille", 3, spec("byteskille").resolve())
