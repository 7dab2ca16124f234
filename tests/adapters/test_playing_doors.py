"""Whatever reaches a kernel of the playing and learning layer is checked at its door."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

import kille_env
from adapters.spies import stable_baselines
from env.players import Wrong, below, beyond, network_metadata, network_weights
from kille_agents.catalog import load_policy
from kille_agents.network import NetworkPolicy
from kille_agents.rules_of_thumb import rule_of_thumb
from kille_env.adapters.vector import SeatVectorEnv
from kille_env.core.floats import seat_layout
from kille_env.core.jit import kernel
from kille_env.errors import IllegalActionError, KilleError, PolicyError
from kille_env.play.experience import Collector
from kille_env.play.functions import LiveOpponent
from kille_env.play.kernels import PolicyKernel
from kille_env.play.policy import UniformPolicy, resolve
from kille_env.play.seating import SeatedPolicies
from kille_env.play.seats import SeatTables
from kille_env.play.streams import SeatStreams, Transitions, advantages

RULES = kille_env.spec("byteskille").resolve(episode="deal")
SHORT, INDICES = np.ones(2, np.bool_), np.array([0, 1, 2])
NONE = np.zeros(0, np.int64)


def players() -> SeatedPolicies:
    batch = kille_env.make_batch("byteskille", 3, 2, rules=RULES, seed=1, restart=False)
    batch.reset()
    return SeatedPolicies(batch, [UniformPolicy()], np.zeros(2, int))


def tables() -> SeatTables:
    found = SeatTables("byteskille", 3, 2, rules=RULES, seed=1)
    found.begin()
    return found


def streams() -> SeatStreams:
    return SeatStreams(np.zeros((3, 2)))


def arrays_of(made: Any) -> dict[str, np.ndarray]:
    """Copy of what must not change."""
    names = ("decided", "match", "returns", "credit", "own", "decisions", "open", "count")
    return {name: np.array(getattr(made, name)) for name in names if hasattr(made, name)}


@pytest.mark.parametrize(
    ("make", "call", "words"),
    [
        (players, lambda p: p.due(SHORT), r"which is \[3\] bool"),
        (players, lambda p: p.due(INDICES), r"which is \[3\] bool"),
        (players, lambda p: p.actions(INDICES), r"which is \[3\] bool"),
        (players, lambda p: p.run(SHORT), r"which is \[3\] bool"),
        (players, lambda p: p.step(np.zeros(3, int), INDICES), r"which is \[3\] bool"),
        (players, lambda p: p.forget(INDICES), r"which is \[3\] bool"),
        (players, lambda p: SeatedPolicies(p.batch, p.players, np.array([0, 1])), "from -1 to 0"),
        (
            players,
            lambda p: SeatedPolicies(p.batch, p.players, np.zeros(3, int)),
            r"seating is \[3, 2\]",
        ),
        (players, lambda p: SeatedPolicies(p.batch, p.players, np.zeros(2)), "whole numbers"),
        (tables, lambda t: t.step(np.zeros(3, int), SHORT), r"which is \[3\] bool"),
        (tables, lambda t: t.step(np.zeros(3, int), INDICES), r"which is \[3\] bool"),
        (tables, lambda t: t.begin(which=INDICES), r"which is \[3\] bool"),
        (tables, lambda t: t.observation(INDICES), r"which is \[3\] bool"),
        (streams, lambda s: s.decide(np.array([3]), np.array([0])), "tables are 0 to 2"),
        (streams, lambda s: s.decide(np.array([0]), np.array([2])), "seats are 0 to 1"),
        (streams, lambda s: s.decide(np.array([0, 1]), np.array([0])), r"seats is int64 \[2\]"),
        (streams, lambda s: s.end(SHORT), r"which is \[3\] bool"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_and_nothing_changes(
    make: Callable[[], Any], call: Callable[[Any], Any], words: str
) -> None:
    made = make()
    before = arrays_of(made)
    with pytest.raises(KilleError, match=words):
        call(made)
    after = arrays_of(made)
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        *((players, name) for name in ("batch", "players", "seating", "match", "decided")),
        *((tables, name) for name in ("batch", "players", "seat", "returns", "own", "over")),
        *((streams, name) for name in ("count", "open", "credit", "undecided")),
    ],
)
def test_what_kernels_rely_on_cannot_be_replaced(make: Callable[[], Any], name: str) -> None:
    made = make()
    with pytest.raises(AttributeError):
        setattr(made, name, getattr(made, name))


@pytest.mark.parametrize(
    ("make", "name"), [(tables, "own"), (tables, "over"), (streams, "open"), (streams, "credit")]
)
def test_what_is_shown_of_them_cannot_be_written(make: Callable[[], Any], name: str) -> None:
    view = getattr(make(), name)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = view[0]


def a_collector(policy: Any) -> Collector:
    batch = kille_env.make_batch("byteskille", 2, 2, rules=RULES, seed=1)
    return Collector(batch, [policy, "uniform"], seating=np.array([0, 1]))


def a_live_opponent(policy: Any) -> SeatVectorEnv:
    live = LiveOpponent(policy.probabilities, observation="box", returns="probabilities")
    return SeatVectorEnv("byteskille", 2, 2, opponents=live)


def a_network(**rules: Any) -> NetworkPolicy:
    made_for = network_metadata("byteskille", 2, kille_env.spec("byteskille").resolve(**rules))
    return NetworkPolicy(made_for, network_weights(made_for))


SEATS: dict[str, Callable[[Any], Any]] = {
    "resolve": lambda policy: resolve(policy, "byteskille", 2, RULES),
    "players": lambda policy: SeatedPolicies(players().batch, [policy], np.array(0)),
    "tables": lambda policy: SeatTables("byteskille", 2, 2, opponents=policy),
    "vector": lambda policy: SeatVectorEnv("byteskille", 2, 2, opponents=policy),
    "gymnasium": lambda policy: gymnasium.make(
        "kille_env:kille_env/byteskille-v0", num_players=2, opponents=policy
    ),
    "sb3": lambda policy: stable_baselines().SeatVecEnv("byteskille", 2, 2, opponents=policy),
    "collector": a_collector,
    "live": a_live_opponent,
}


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (rule_of_thumb(20, RULES), "2 seats instead of 20"),
        (rule_of_thumb(2, kille_env.spec("knack").resolve()), "byteskille instead of knack"),
        (load_policy("byteskille/stone", "byteskille", 3, RULES), "2 seats instead of 3"),
        (a_network(episode="deal", stake=4), "stake 2 instead of 4"),
        (a_network(episode="match"), "episode 'deal' instead of 'match'"),
    ],
    ids=["seats", "game", "bot", "switch", "episode"],
)
def test_a_policy_is_refused_at_a_table_that_it_was_not_made_for(
    seat: str, policy: Any, words: str
) -> None:
    SEATS[seat](a_network(episode="deal"))
    with pytest.raises(PolicyError, match=rf"does not fit this table: .*{words}"):
        SEATS[seat](policy)


@kernel
def illegal(_seen, mask, _numbers, _uniform):
    return mask.argmin()


@pytest.mark.parametrize(
    "choose", [illegal, *(pytest.param(c, marks=pytest.mark.slow) for c in (below, beyond))]
)
def test_a_kernel_that_chooses_an_illegal_action_is_named(choose: Any) -> None:
    found = SeatTables("byteskille", 4, 3, rules=RULES, seed=1, opponents=Wrong(choose))
    with pytest.raises(PolicyError, match="kernel of policy 'wrong' chose the illegal action"):
        found.begin()
    assert not found.players.decided.any()


@pytest.mark.parametrize("numbers", [np.zeros(3), np.zeros(0, np.int64), [1, 2], None])
def test_numbers_that_a_kernel_cannot_read_are_refused(numbers: Any) -> None:
    with pytest.raises(PolicyError, match="reads an int64 array"):
        PolicyKernel(below, numbers)


def test_a_kernel_by_itself_is_refused() -> None:
    policy: Any = Wrong(below)
    policy.kernel = below
    with pytest.raises(PolicyError, match=r"the kernel of 'wrong' is .*expected .*PolicyKernel"):
        SeatTables("byteskille", 2, 3, opponents=policy)


@pytest.mark.parametrize("shape", [(1,), (2, 2), ()])
def test_short_answers_of_outside_seats_are_refused(shape: tuple[int, ...]) -> None:
    found = SeatTables("byteskille", 2, 2, rules=RULES, seed=1, opponents="rule_of_thumb")
    found.begin()
    assert found.players.compiled
    with pytest.raises(KilleError):
        found.players.answer(np.zeros(shape, np.int64), np.ones(2, np.bool_))
    with pytest.raises(KilleError):
        found.players.answer(np.zeros(2, np.int64), np.ones(shape, np.bool_))


@pytest.mark.parametrize(
    ("values", "following", "words"),
    [
        (np.zeros(3), [3, -1, -1], "following is 3 at decision 0 of 3"),
        (np.zeros(3), [1, 1, -1], "following is 1 at decision 1 of 3"),
        (np.zeros(2), [1, 2, -1], r"values is float64 \[3\]"),
        (np.zeros((3, 1)), [1, 2, -1], r"values is float64 \[3\]"),
        (np.zeros(3), [0.5, 2, -1], r"following is int64 \[3\]"),
    ],
)
def test_advantages_of_what_does_not_fit_are_refused(
    values: np.ndarray, following: list[float], words: str
) -> None:
    earned = np.zeros(3)
    with pytest.raises(KilleError, match=words):
        advantages(earned, values, np.zeros(3), np.array(following), 1.0, 1.0)
    over = np.ones(3, np.bool_)
    columns = dict.fromkeys(Transitions._fields, NONE)
    columns |= {"reward": earned, "terminated": over, "truncated": ~over}
    with pytest.raises(KilleError, match=words):
        Transitions(**{**columns, "following": np.array(following)}).advantages(values)


def test_an_action_from_outside_is_still_refused_as_one() -> None:
    with pytest.raises(IllegalActionError):
        tables().step(np.full(3, 99))


def test_a_player_that_was_seated_elsewhere_reads_what_this_table_shows() -> None:
    widths = set()

    def network(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        widths.add(observation.shape[1])
        return np.zeros(mask.shape)

    live = LiveOpponent(network, returns="logits", observation="seats")
    opponent = live.at_table("byteskille", 8)
    SeatTables("byteskille", 3, 2, rules=RULES, seed=1, opponents=opponent).begin()
    assert widths == {seat_layout(kille_env.spec("byteskille")).size}
