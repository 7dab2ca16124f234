"""Policies as users have them: functions, torch modules, models of Stable-Baselines3."""

import functools

import numpy as np
import pytest

import kille_env
from env.players import decisions as shown
from env.players import even
from kille_agents import as_policy
from kille_agents.catalog import describe_player, load_policy
from kille_agents.identity import fingerprint, is_steady
from kille_env.core.spec import width
from kille_env.errors import PolicyError
from kille_env.play.functions import FunctionPolicy
from kille_env.play.policy import (
    UniformPolicy,
    check_probabilities,
    pick_actions,
    resolve,
    sample_actions,
)
from kille_env.registry import Table, spec
from reference.scripts import printed

GAME = kille_env.spec("knack")
RULES = GAME.resolve(episode="deal")
FEATURES = width(GAME.observation(3))


def first_legal(observation, mask):
    """Do the first thing that is legal."""
    return np.eye(mask.shape[1])[mask.argmax(axis=1)]


@pytest.fixture(scope="module")
def decisions():
    return shown("knack", 3, RULES, 20, 1)


class Callable:
    def __call__(self, observation, mask):
        return first_legal(observation, mask).tolist()


class MadeForATable:
    def __init__(self, num_players, rules):
        self.name = f"made for {num_players} of {rules.game}"

    def probabilities(self, observation, mask):
        return first_legal(observation, mask)


class Nameless:
    def probabilities(self, observation, mask):
        return first_legal(observation, mask)


@pytest.mark.parametrize("take", [as_policy, resolve])
@pytest.mark.parametrize(
    ("policy", "name"),
    [
        (first_legal, "first_legal"),
        (lambda observation, mask: first_legal(observation, mask), "lambda"),
        (functools.partial(first_legal), "partial"),
        (Callable(), "Callable"),
        (Callable, "Callable"),
        (Nameless, "Nameless"),
        (MadeForATable, "made for 3 of knack"),
    ],
)
def test_what_can_be_called_is_a_policy(take, policy, name, decisions):
    player = take(policy, "knack", 3, RULES)
    assert player.name == name
    assert np.array_equal(player.probabilities(*decisions), first_legal(*decisions))


def test_objects_and_names_are_players():
    assert as_policy(Nameless(), "knack", 3, RULES).name == "Nameless"
    player = load_policy("rule_of_thumb", "knack", 3, RULES)
    assert as_policy(player, "knack", 3, RULES) is resolve(player, "knack", 3, RULES) is player
    assert as_policy("uniform", "knack", 3, RULES).name == "uniform"


@pytest.mark.parametrize("take", [as_policy, resolve])
@pytest.mark.parametrize(
    ("thing", "says"),
    [(7, "got 7; pass a name"), (None, "got None"), (int, "'int' could not be made for 3 seats")],
)
def test_what_cannot_play_is_refused_with_what_can(take, thing, says):
    with pytest.raises(PolicyError, match=says):
        take(thing, "knack", 3, RULES)


def test_a_function_that_returns_no_numbers_is_named(decisions):
    player = as_policy(lambda observation, mask: "stand", "knack", 3, RULES)
    with pytest.raises(PolicyError, match="'lambda' returned a str"):
        player.probabilities(*decisions)


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("as_policy(lambda observation, mask: mask, 'knack', 3, rules)", []),
        (
            "import torch; as_policy(torch.nn.LazyLinear(A), 'knack', 3, rules, "
            "observation='box', returns='logits')",
            ["torch"],
        ),
    ],
)
def test_only_the_libraries_that_an_object_needs_are_imported(code, loaded):
    if loaded:
        pytest.importorskip("torch")
    before = (
        "import sys; from kille_agents import as_policy; from kille_env import spec; "
        "A = spec('knack').num_actions; rules = spec('knack').resolve(); "
    )
    after = (
        "; print([n for n in ('torch', 'stable_baselines3', 'sb3_contrib') if n in sys.modules])"
    )
    assert printed(before + code + after).strip() == str(loaded)


class TestTorchModules:
    @pytest.fixture(autouse=True)
    def torch(self):
        return pytest.importorskip("torch")

    def test_a_module_stays_in_its_mode(self, torch, decisions):
        module = torch.nn.Sequential(
            torch.nn.Linear(FEATURES, GAME.num_actions), torch.nn.Dropout()
        )
        module[1].eval()
        FunctionPolicy(module, observation="box", returns="logits").probabilities(*decisions)
        assert module.training and not module[1].training

    def test_what_does_not_fit_a_table_is_refused_at_once(self, torch):
        for module, words in (
            (torch.nn.Linear(7, GAME.num_actions), "'Linear' fails for observations"),
            (torch.nn.Linear(FEATURES, 3), r"returned logits of shape \(2, 3\), expected"),
            (torch.nn.LSTM(FEATURES, GAME.num_actions), "returned a tuple"),
        ):
            network = FunctionPolicy(module, observation="box", returns="logits")
            with pytest.raises(PolicyError, match=words):
                as_policy(network, "knack", 3, RULES)

    @pytest.mark.parametrize("take", [as_policy, resolve])
    def test_a_bare_module_is_refused_with_the_line_to_write(self, torch, take):
        with pytest.raises(
            PolicyError, match=r'as_policy\(module, observation="float", returns="logits"\)'
        ):
            take(torch.nn.Linear(FEATURES, GAME.num_actions), "knack", 3, RULES)

    def test_what_ends_in_a_softmax_returns_probabilities(self, torch, decisions):
        logits = torch.nn.Linear(FEATURES, GAME.num_actions)
        softmax = torch.nn.Sequential(logits, torch.nn.Softmax(dim=1))
        wanted = as_policy(logits, "knack", 3, RULES, observation="float", returns="logits")
        made = {"observation": "float", "returns": "probabilities"}
        player = as_policy(softmax, "knack", 3, RULES, **made)
        assert np.allclose(
            player.probabilities(*decisions), wanted.probabilities(*decisions), atol=1e-6
        )
        wrong = as_policy(softmax, "knack", 3, RULES, observation="float", returns="logits")
        with pytest.raises(PolicyError, match='say returns="probabilities"'):
            wrong.probabilities(*decisions)
        wrong = as_policy(logits, "knack", 3, RULES, **made)
        with pytest.raises(PolicyError, match='before a softmax say returns="logits"'):
            wrong.probabilities(*decisions)

    def test_a_module_that_takes_a_mask_gets_it(self, torch, decisions):
        class Masked(torch.nn.Module):
            def forward(self, seen, mask=None):
                assert mask is not None
                return torch.where(mask, 0.0, -torch.inf)

        player = as_policy(Masked(), "knack", 3, RULES, observation="float", returns="logits")
        mask = decisions[1]
        assert np.allclose(player.probabilities(*decisions), mask / mask.sum(1, keepdims=True))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: FunctionPolicy(first_legal),
            r"as_policy is told how its function is asked.*returns=",
        ),
        (
            lambda: FunctionPolicy(first_legal, observation="float"),
            "is told how its function is asked",
        ),
        (lambda: FunctionPolicy(7, observation="box", returns="logits"), "asks a function"),  # type: ignore
        (
            lambda: as_policy("uniform", "knack", 3, RULES, observation="box"),
            "'uniform' says itself how it is asked",
        ),
        (
            lambda: as_policy("uniform", "knack", 3, RULES, name="x"),
            "asked and called; observation",
        ),
        (
            lambda: as_policy(first_legal, "knack", 3, RULES, features=lambda seen, mask: seen),
            "is told how its function is asked",
        ),
        (lambda: as_policy(first_legal, None, 3), "num_players and rules are of a table"),
    ],
)
def test_how_a_function_is_asked_is_said_and_not_guessed(call, words):
    with pytest.raises(PolicyError, match=words):
        call()


# Answers


def test_the_kernel_of_uniform_play_draws_what_its_probabilities_say():
    rng, player = np.random.default_rng(0), UniformPolicy()
    mask = (rng.random((2000, 11)) < rng.random((2000, 1))).astype(np.int8)
    mask[np.arange(2000), rng.integers(11, size=2000)] = 1
    seen = np.zeros((2000, 4), np.uint8)
    shares = player.probabilities(seen, mask)
    edges = np.cumsum(shares, axis=1)[np.arange(2000), rng.integers(11, size=2000)]
    for chances in (rng.random(2000), np.minimum(edges, np.nextafter(1.0, 0.0)), np.zeros(2000)):
        drawn = [
            player.kernel.choose(row, legal, np.zeros(1, np.int64), chance)
            for row, legal, chance in zip(seen, mask, chances, strict=True)
        ]
        assert drawn == pick_actions(shares, chances).tolist()


@pytest.mark.parametrize(
    "returned", [None, "text", 3, [[0.5, 0.5]], np.array([["a", "b"]]), np.array([[0.5j, 0.5]]), {}]
)
def test_what_is_no_array_of_numbers_is_refused(returned):
    with pytest.raises(
        PolicyError, match=r"expected probabilities as an array of numbers \(1, 2\)"
    ):
        check_probabilities("p", returned, np.ones((1, 2), np.int8))


def test_uniform_gives_every_legal_action_the_same():
    mask = np.array([[1, 1, 0], [0, 0, 1]], dtype=np.int8)
    chances = UniformPolicy().probabilities(np.zeros((2, 4), np.uint8), mask)
    assert chances.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    with pytest.raises(PolicyError, match="row 1"):
        UniformPolicy().probabilities(np.zeros((2, 4), np.uint8), np.array([[1], [0]], np.int8))


def test_sampling_follows_the_probabilities_and_never_takes_an_impossible_action():
    chances = np.tile([[0.0, 0.25, 0.75, 0.0]], (40_000, 1))
    drawn = np.bincount(sample_actions(chances, np.random.default_rng(3)), minlength=4)
    assert drawn[0] == drawn[3] == 0
    assert abs(drawn[1] / 40_000 - 0.25) < 0.01


def test_sampling_survives_a_draw_that_is_rounded_up_to_the_whole():
    class Highest:
        def random(self, size):
            return np.full(size, np.nextafter(1.0, 0.0))

    tiny = np.array([[5e-324, 0.0]])  # times almost 1 this is itself again
    assert sample_actions(tiny, Highest()).tolist() == [0]


@pytest.mark.parametrize(
    ("chances", "what"),
    [
        ([[np.nan, 1.0]], "no probability"),
        ([[-0.5, 1.5]], "no probability"),
        ([[0.5, 0.4]], "sum other than 1"),
        ([[0.5]], "shape"),
        ([[0.5, 0.5], [0.5, 0.5]], "illegal action in row 1: 0.5 for action 1; expected prob"),
    ],
)
def test_what_is_no_distribution_is_refused(chances, what):
    mask = np.array([[1, 1], [1, 0]], np.int8)
    with pytest.raises(PolicyError, match=what):
        check_probabilities("p", np.array(chances), mask[: len(chances)])


@pytest.mark.parametrize(
    ("name", "known"), [("rule_of_tumb", "rule_of_thumb"), ("knack/manic", "knack/maniac")]
)
def test_an_unknown_player_is_refused_with_a_suggestion(name, known):
    with pytest.raises(PolicyError, match=f"Did you mean '{known}'"):
        load_policy(name, "knack", 3, spec("knack").resolve())
    with pytest.raises(PolicyError, match=f"Did you mean '{known}'"):
        describe_player(name)


# Digests of answers


TABLE = Table.of("byteskille", 2, episode="deal")


def player(thing, table=TABLE):
    return as_policy(thing, table.game, table.num_players, table.rules)


def draws(observation, mask):
    chances = np.random.default_rng().random(mask.shape) * mask
    return np.eye(mask.shape[1])[chances.argmax(axis=1)]


class Counts:
    """Keeps state: what it answers depends on how often it was asked."""

    def __init__(self):
        self.asked = 0

    def __call__(self, observation, mask):
        self.asked += len(mask)
        weights = mask * (1.0 + (np.arange(mask.shape[1]) + self.asked) % 3)
        return weights / weights.sum(axis=1, keepdims=True)


def test_equal_answers_are_one_fingerprint_and_others_another():
    assert fingerprint(player(even), TABLE) == fingerprint(player("uniform"), TABLE)
    almost = np.array([1.0, 1.0 + 1e-3])

    def leans(observation, mask):
        weights = mask * almost[np.arange(mask.shape[1]) % 2]
        return weights / weights.sum(axis=1, keepdims=True)

    made = {fingerprint(player(each), TABLE) for each in (even, leans, "rule_of_thumb")}
    assert len(made) == 3
    three = Table.of("byteskille", 3, episode="deal")
    assert fingerprint(player(even, three), three) not in made


def test_a_fingerprint_is_the_same_in_another_process():
    code = (
        "from kille_agents import as_policy; from kille_agents.identity import fingerprint; "
        "from kille_env.registry import Table; t = Table.of('byteskille', 2, episode='deal'); "
        "print(fingerprint(as_policy('byteskille/trained', 'byteskille', 2, t.rules), t))"
    )
    assert printed(code).strip() == fingerprint(player("byteskille/trained"), TABLE)


def test_what_a_player_says_of_itself_counts_alone():
    class Says:
        name = "says"
        fingerprint = "version 1"

        def probabilities(self, observation, mask):
            raise AssertionError("it is not asked")

    assert (
        fingerprint(Says(), TABLE)
        == fingerprint(Says(), TABLE)
        != fingerprint(player("uniform"), TABLE)
    )


@pytest.mark.parametrize("thing", [draws, Counts()])
def test_a_player_that_draws_or_keeps_state_is_not_recognized(thing):
    assert not is_steady(player(thing), TABLE)
    with pytest.raises(PolicyError, match="draws at random, or keeps state"):
        fingerprint(player(thing), TABLE)


@pytest.mark.parametrize("name", ["uniform", "rule_of_thumb", "byteskille/trained", "search"])
def test_players_of_the_suite_answer_the_same_twice(name):
    assert is_steady(player(name), TABLE)
