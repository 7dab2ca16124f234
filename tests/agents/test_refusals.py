"""What reaches a kernel of the playing and learning layer, or comes with a policy, is checked."""

import copy
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

import kille_env
import kille_training as kt
from adapters.spies import stable_baselines
from env.players import (
    Own,
    Wrong,
    below,
    beyond,
    even,
    first_legal,
    network_metadata,
    network_weights,
)
from kille_agents.catalog import load_policy
from kille_agents.greedy import Greedy
from kille_agents.network import NetworkPolicy
from kille_agents.perceptron import affine
from kille_agents.population.bot import Noisy
from kille_agents.rules_of_thumb import rule_of_thumb
from kille_agents.rules_of_thumb.byteskille import THRESHOLDS, ByteskilleRuleOfThumb
from kille_agents.search import FlatSearch
from kille_agents.search.rollouts import earnings
from kille_env.adapters.vector import SeatVectorEnv
from kille_env.core.floats import seat_layout
from kille_env.core.jit import kernel
from kille_env.errors import PolicyError
from kille_env.play.decisions import Decisions, History
from kille_env.play.experience import Collector
from kille_env.play.functions import LiveOpponent
from kille_env.play.kernels import PolicyKernel, choices
from kille_env.play.policy import UniformPolicy, at_table, decide, let_transfer, resolve
from kille_env.play.seating import SeatedPolicies
from kille_env.play.seats import SeatTables
from kille_env.play.streams import SeatStreams, Transitions, advantages
from refusals import refused

SPEC = kille_env.spec("byteskille")
RULES = SPEC.resolve(episode="deal")
SHORT, INDICES = np.ones(2, np.bool_), np.array([0, 1, 2])
NONE, ONE, ZEROS = np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(3, np.int64)


def batch(seats: int = 3) -> Any:
    made = kille_env.make_batch("byteskille", 3, seats, rules=RULES, seed=1, restart=False)
    made.reset()
    return made


def players() -> SeatedPolicies:
    return SeatedPolicies(batch(2), [UniformPolicy()], np.zeros(2, int))


def tables(**options: Any) -> SeatTables:
    found = SeatTables("byteskille", 3, 2, rules=RULES, seed=1, **options)
    found.begin()
    return found


def streams() -> SeatStreams:
    return SeatStreams(np.zeros((3, 2)))


def decisions(**changed: Any) -> Decisions:
    made = batch()
    history = History(made)
    history.note(made.mask.argmax(axis=1))
    found = Decisions(made, np.arange(3), np.arange(3, dtype=np.uint64), history)
    for name, value in changed.items():
        setattr(found, name, value)
    return found


def network() -> NetworkPolicy:
    made_for = network_metadata("byteskille", 3, RULES)
    return NetworkPolicy(made_for, network_weights(made_for))


def searched(**settings: Any) -> Callable[[Any], FlatSearch]:
    return lambda _: FlatSearch(3, RULES, **settings)


def rolled(origins: Any, actions: Any, searchers: Any = ONE) -> Callable[[Any], Any]:
    policy = rule_of_thumb(3, RULES)
    return lambda made: earnings(made, origins, actions, searchers, (policy, policy))


def seen(*shape: int) -> Callable[[NetworkPolicy], Any]:
    return lambda made: made.logits(np.zeros(shape, np.uint8))


# Arrays and settings that do not fit

WHICH, WIDTH = r"which is \[3\] bool", network_metadata("byteskille", 3, RULES).observation_width
REFUSED: list[tuple[Callable[[], Any], list[tuple[Callable[[Any], Any], str]]]] = [
    (
        players,
        [
            (lambda p: p.due(SHORT), WHICH),
            (lambda p: p.due(INDICES), WHICH),
            (lambda p: p.actions(INDICES), WHICH),
            (lambda p: p.run(SHORT), WHICH),
            (lambda p: p.step(ZEROS, INDICES), WHICH),
            (lambda p: p.forget(INDICES), WHICH),
            (lambda p: SeatedPolicies(p.batch, p.players, np.array([0, 1])), "from -1 to 0"),
            (lambda p: SeatedPolicies(p.batch, p.players, ZEROS), r"seating is \[3, 2\]"),
            (lambda p: SeatedPolicies(p.batch, p.players, np.zeros(2)), "whole numbers"),
        ],
    ),
    (
        tables,
        [
            (lambda t: t.step(ZEROS, SHORT), WHICH),
            (lambda t: t.step(ZEROS, INDICES), WHICH),
            (lambda t: t.begin(which=INDICES), WHICH),
            (lambda t: t.observation(INDICES), WHICH),
            (lambda t: t.step(np.full(3, 99)), "IllegalActionError"),
        ],
    ),
    (
        streams,
        [
            (lambda s: s.decide(np.array([3]), np.array([0])), "tables are 0 to 2"),
            (lambda s: s.decide(np.array([0]), np.array([2])), "seats are 0 to 1"),
            (lambda s: s.decide(np.array([0, 1]), np.array([0])), r"seats is int64 \[2\]"),
            (lambda s: s.end(SHORT), WHICH),
        ],
    ),
    (
        batch,
        [
            (rolled(np.array([3]), ONE), "tables are 0 to 2"),
            (rolled(ONE, ZEROS), r"shape \(1,\)"),
            (rolled(ONE, ONE - 1), "action -1 of entry 0 is not legal"),
            (rolled(ONE, ONE + 99), "action 99 of entry 0 is not legal"),
            (rolled(ONE, ONE, ONE + 3), "seats are 0 to 2"),
        ],
    ),
    (
        decisions,
        [
            (lambda d: d.weigh(0, Wrong(below)), "number is 0"),
            (lambda d: d.weigh(2, UniformPolicy()), "PolicyError.*no deterministic kernel"),
            (lambda d: d.weigh(2, Greedy(UniformPolicy())), "PolicyError.*no deterministic kernel"),
            (lambda _: decisions(seats=ZEROS + 10**9).weigh(2, Wrong(below)), "seats are"),
            (lambda _: decisions(keys=np.zeros(2, "u8")).weigh(2, Wrong(below)), "keys are"),
        ],
    ),
    (
        network,
        [
            (seen(2, WIDTH + 1), rf"PolicyError.*reads observations \[N, {WIDTH}\]"),
            (seen(2, WIDTH - 1), rf"PolicyError.*reads observations \[N, {WIDTH}\]"),
            (seen(WIDTH), rf"PolicyError.*reads observations \[N, {WIDTH}\]"),
            (
                lambda _: affine(
                    np.zeros((2, 3), np.float32),
                    (np.zeros((4, 5), np.float32), np.zeros(5, np.float32)),
                ),
                "PolicyError.*its inputs are",
            ),
        ],
    ),
    (
        lambda: None,
        [
            (searched(determinizations=True), "determinizations is True, expected a whole number"),
            (searched(determinizations=2.0), "whole number"),
            (searched(tables=0), "whole number"),
            (searched(deals=0), "deals is 0, expected a whole number from 1"),
            (searched(candidates=1.5), "candidates is 1.5"),
            (searched(margin=-1.0), "margin is -1.0"),
            (searched(margin=float("nan")), "margin is nan, expected a number from 0"),
            (searched(margin="2"), "margin is '2', expected a number from 0"),
            (searched(doubt="much"), "doubt is 'much', expected a number"),
            (searched(doubt=0.0), "doubt is 0.0"),
            (searched(beliefs=["uniform"]), "beliefs is"),
            (searched(beliefs="certain"), "beliefs is 'certain'"),
            (searched(base="rule_of_thumb"), "base is 'rule_of_thumb', expected a policy"),
            (searched(base=FlatSearch(3, RULES)), "base is a search policy"),
            (searched(base=rule_of_thumb(5, RULES)), "PolicyError.*3 seats instead of 5"),
            (searched(opponents=rule_of_thumb(5, RULES)), "PolicyError.*3 seats instead of 5"),
            (
                lambda _: at_table(FlatSearch(3, RULES), "byteskille", 4, RULES),
                "PolicyError.*4 seats instead of 3",
            ),
            *(
                (
                    lambda _, table=table: ByteskilleRuleOfThumb(3, RULES, table),
                    r"PolicyError.*expected whole numbers \[2, 21, 20\]",
                )
                for table in (THRESHOLDS[:, :5], THRESHOLDS.astype(float), "high", 3)
            ),
            *(
                (
                    lambda _, numbers=numbers: PolicyKernel(below, numbers),
                    "PolicyError.*reads an int64 array",
                )
                for numbers in (np.zeros(3), np.zeros(0, np.int64), [1, 2], None)
            ),
        ],
    ),
]


def arrays_of(made: Any) -> dict[str, np.ndarray]:
    """Copy of what must not change."""
    names = ("decided", "match", "returns", "credit", "own_seat", "decisions", "open", "count")
    return {name: np.array(getattr(made, name)) for name in names if hasattr(made, name)}


@pytest.mark.parametrize(
    ("make", "call", "words"), [(make, *each) for make, calls in REFUSED for each in calls]
)
def test_what_does_not_fit_is_refused_and_nothing_changes(
    make: Callable[[], Any], call: Callable[[Any], Any], words: str
) -> None:
    made = make()
    before = arrays_of(made)
    refused(call, words, made)
    after = arrays_of(made)
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("shape", [(1,), (2, 2), ()])
def test_short_answers_of_outside_seats_are_refused(shape: tuple[int, ...]) -> None:
    found = tables(opponents="rule_of_thumb").players
    assert found.compiled
    refused(lambda: found.answer(np.zeros(shape, np.int64), np.ones(3, np.bool_)), "")
    refused(lambda: found.answer(np.zeros(3, np.int64), np.ones(shape, np.bool_)), "")


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
    earned, after, over = np.zeros(3), np.array(following), np.ones(3, np.bool_)
    refused(lambda: advantages(earned, values, np.zeros(3), after, 1.0, 1.0), words)
    columns = dict.fromkeys(Transitions._fields, NONE)
    columns |= {"reward": earned, "terminated": over, "truncated": ~over, "following": after}
    refused(Transitions(**columns).advantages, words, values)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        *((players, name) for name in ("batch", "players", "seating", "match", "decided")),
        *((tables, name) for name in ("batch", "players", "seat", "returns", "own_seat", "over")),
        *((streams, name) for name in ("count", "open", "credit", "undecided")),
    ],
)
def test_what_kernels_rely_on_cannot_be_replaced(make: Callable[[], Any], name: str) -> None:
    made = make()
    with pytest.raises(AttributeError):
        setattr(made, name, getattr(made, name))


@pytest.mark.parametrize(
    ("make", "name"),
    [(tables, "own_seat"), (tables, "over"), (streams, "open"), (streams, "credit")],
)
def test_what_is_shown_of_them_cannot_be_written(make: Callable[[], Any], name: str) -> None:
    view = getattr(make(), name)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = view[0]


def test_numbers_of_a_bot_cannot_be_written() -> None:
    bot = rule_of_thumb(3, RULES)
    for numbers in (bot.numbers, bot.kernel.numbers, copy.deepcopy(bot).numbers):
        with pytest.raises(ValueError, match="read-only"):
            numbers[:] = 10**6
        with pytest.raises(ValueError, match="WRITEABLE"):
            numbers.flags.writeable = True
    with pytest.raises(AttributeError):
        bot.kernel.numbers = np.zeros(1, np.int64)
    given = np.zeros(1, np.int64)
    own = Own(first, first_legal, numbers=given, deterministic=True)
    given[:] = 10**6  # read no longer
    kille_env.collect(batch(), own)


# Policies at tables that they were not made for


def a_collector(policy: Any) -> Collector:
    made = kille_env.make_batch("byteskille", 2, 2, rules=RULES, seed=1)
    return Collector(made, [policy, "uniform"], seating=np.array([0, 1]))


def a_live_opponent(policy: Any) -> SeatVectorEnv:
    live = LiveOpponent(policy.probabilities, observation="box", returns="probabilities")
    return SeatVectorEnv("byteskille", 2, 2, opponents=live)


def a_network(**rules: Any) -> NetworkPolicy:
    made_for = network_metadata("byteskille", 2, SPEC.resolve(**rules))
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
    refused(SEATS[seat], rf"PolicyError.*does not fit this table: .*{words}", policy)


def test_what_may_play_at_another_table_does_in_every_way_but_by_a_kernel() -> None:
    made: Any = network()
    moved: Any = let_transfer(made)
    stake = SPEC.resolve(RULES, stake=4)
    for wrap in (lambda policy: policy, Greedy, lambda policy: Noisy(policy, 0.5)):
        at_table(wrap(moved), "byteskille", 3, stake)
        with pytest.raises(PolicyError, match="stake 4 instead of 2"):
            at_table(wrap(made), "byteskille", 3, stake)
    with pytest.raises(PolicyError, match="a kernel cannot play byteskille with 3"):
        at_table(let_transfer(rule_of_thumb(5, RULES)), "byteskille", 3, RULES)


def test_a_player_that_was_seated_elsewhere_reads_what_this_table_shows() -> None:
    widths = set()

    def reads(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        widths.add(observation.shape[1])
        return np.zeros(mask.shape)

    live = LiveOpponent(reads, returns="logits", observation="seats")
    opponent = live.at_table("byteskille", 8)
    SeatTables("byteskille", 3, 2, rules=RULES, seed=1, opponents=opponent).begin()
    assert widths == {seat_layout(SPEC).size}


# Kernels that choose illegal actions, or contradict their policy

ILLEGAL = "PolicyError.*kernel of policy 'wrong' chose the illegal action"


@kernel
def illegal(_seen, mask, _numbers, _uniform):
    return mask.argmin()


@pytest.mark.parametrize(
    "choose", [illegal, *(pytest.param(c, marks=pytest.mark.slow) for c in (below, beyond))]
)
def test_a_kernel_that_chooses_an_illegal_action_is_named(choose: Any) -> None:
    found = SeatTables("byteskille", 4, 3, rules=RULES, seed=1, opponents=Wrong(choose))
    refused(found.begin, ILLEGAL)
    assert not found.players.decided.any()


@pytest.mark.parametrize("choose", [below, pytest.param(beyond, marks=pytest.mark.slow)])
@pytest.mark.parametrize("beliefs", ["uniform", pytest.param("policy", marks=pytest.mark.slow)])
def test_a_search_names_a_policy_that_chooses_an_illegal_action(choose: Any, beliefs: str) -> None:
    few: Any = {"determinizations": 2, "candidates": 2, "beliefs": beliefs}
    player = FlatSearch(3, RULES, base=Wrong(choose), **few)
    made = batch()
    history, actions = History(made), made.mask.argmax(axis=1)
    history.note(actions)
    made.step(actions)
    rows = np.flatnonzero(made.seat >= 0)
    keys = np.arange(len(rows), dtype=np.uint64)
    refused(lambda: decide(player, Decisions(made, rows, keys, history)), ILLEGAL)


@pytest.mark.parametrize("choose", [below, beyond])
def test_choices_of_a_kernel_are_legal(choose: Any) -> None:
    made = batch()
    refused(lambda: choices("wrong", choose, ONE, made.observation, made.mask), ILLEGAL)


def test_a_kernel_by_itself_is_refused() -> None:
    policy: Any = Wrong(below)
    policy.kernel = below
    words = r"PolicyError.*the kernel of 'wrong' is .*expected .*PolicyKernel"
    refused(lambda: SeatTables("byteskille", 2, 3, opponents=policy), words)


@kernel
def first(_seen, mask, numbers, _uniform):
    for action in range(mask.shape[0]):
        if mask[action]:
            return action + numbers[0]
    return -1


@kernel
def last(_seen, mask, numbers, _uniform):
    found = -1
    for action in range(mask.shape[0]):
        if mask[action]:
            found = action
    return found


@kernel
def by_sight(seen, mask, numbers, _uniform):
    wanted = numbers[1]  # beyond, where a policy brings but one
    for action in range(mask.shape[0]):
        if mask[action] and wanted == 0:
            return action
    return last(seen, mask, numbers, 0.0)


def by_batch(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    share = 1.0 / len(mask)
    return share * even(observation, mask) + (1.0 - share) * first_legal(observation, mask)


AGREE = {
    "deterministic": Own(first, first_legal, deterministic=True),
    "stochastic": Own(UniformPolicy.kernel.choose, even),
}
CONTRADICT = {
    "another_action": (Own(last, first_legal, deterministic=True), "a kernel that chooses action"),
    "kernel_beside_mixing": (Own(first, even, deterministic=True), "probabilities that mix"),
    "mixing_beside_kernel": (
        Own(UniformPolicy.kernel.choose, first_legal),
        "a kernel that chooses action",
    ),
    "alone_and_in_a_batch": (Own(first, by_batch), "one decision alone and in a batch"),
    "reads_beyond": (
        Own(by_sight, first_legal, numbers=ONE, deterministic=True),
        "reads beyond its 1 numbers",
    ),
}


@pytest.mark.parametrize("form", AGREE)
def test_a_policy_whose_kernel_agrees_plays(form: str) -> None:
    at_table(AGREE[form], "byteskille", 3, RULES)
    assert float(kt.nash_conv(AGREE[form], "byteskille", 2)) > 0


@pytest.mark.parametrize("form", CONTRADICT)
def test_a_policy_that_contradicts_itself_is_refused_wherever_it_enters(form: str) -> None:
    policy, words = CONTRADICT[form]
    entries = (
        lambda: at_table(policy, "byteskille", 3, RULES),
        lambda: kt.nash_conv(policy, "byteskille", 3),
        lambda: kt.evaluate(policy, "byteskille", 3, deals=20),
        lambda: kille_env.collect(batch(), policy),
        lambda: SeatTables("byteskille", 2, 3, opponents=policy),
        lambda: FlatSearch(3, RULES, base=policy),
        lambda: Decisions(batch(), [0], [1], History(batch())).weigh(1, policy),
    )
    for enter in entries:
        with pytest.raises(PolicyError, match=words):
            enter()
