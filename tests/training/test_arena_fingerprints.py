"""Python objects are recognized by what they are, in this process and in others."""

import os
import subprocess
import sys
import threading

import pytest

from kille_env.errors import ConfigError
from kille_training.arena.fingerprints import fingerprint_of

OBJECTS = """
import collections, dataclasses, enum, functools, re
import numpy as np

WEIGHTS = np.arange(4.0)
WORDS = {"swap", "ask", "stand", "buy"}

def helper(mask):
    return mask * WEIGHTS[:1] + len(WORDS)

def policy(observation, mask, power=2):
    return helper(mask) ** power

class Suit(enum.Enum):
    RED, BLACK = 1, "x"

@dataclasses.dataclass
class Settings:
    suit: Suit = Suit.BLACK
    words: set = dataclasses.field(default_factory=lambda: set(WORDS))

class Player:
    __slots__ = ("rng", "settings", "table")
    def __init__(self):
        self.settings, self.rng = Settings(), np.random.default_rng(3)
        self.table = collections.defaultdict(list, {(1, 2): [0.5]})
    def probabilities(self, observation, mask):
        return policy(observation, mask)

def first(n):
    return second(n - 1) if n else re.compile("a")

@functools.cache
def second(n):
    return first(n)

FOUND = [policy, lambda o, m: policy(o, m), Player, Player(), Suit.RED, Settings(), first, second,
         functools.partial(policy, power=3), Player().probabilities, {"a": WORDS}]
"""


def found(code=OBJECTS):
    names = {"__name__": "__main__"}
    exec(code, names)
    return [fingerprint_of("mine", each) for each in names["FOUND"]]


def test_another_process_finds_the_same_whatever_its_hashes():
    script = (
        f"{OBJECTS}\nfrom kille_training.arena.fingerprints import fingerprint_of\n"
        "print([fingerprint_of('mine', each) for each in FOUND])"
    )
    paths = os.pathsep.join(entry for entry in sys.path if entry)
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.strip() == str(found())
    assert len(set(found())) == len(found())


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("np.arange(4.0)", "np.arange(1.0, 5.0)", {0, 1, 2, 3, 8, 9}),  # a global of a helper
        ("+ len(WORDS)", "- len(WORDS)", {0, 1, 2, 3, 8, 9}),  # a helper
        ("power=2", "power=1", {0, 1, 2, 3, 8, 9}),  # a default
        ("default_rng(3)", "default_rng(4)", {2, 3, 9}),  # state, and the code that makes it
        ("BLACK = 1", "BLACK = 2", {2, 3, 4, 5, 9}),  # a member of an enumeration
        ('"buy"', '"sell"', {0, 1, 2, 3, 5, 8, 9, 10}),
        ('compile("a")', 'compile("b")', {6, 7}),  # in functions that call each other
        ("def policy", "# swaps\n\ndef policy", set()),
    ],
)
def test_what_has_changed_is_another_player(before, after, changed):
    pairs = zip(found(), found(OBJECTS.replace(before, after)), strict=True)
    assert {number for number, (one, other) in enumerate(pairs) if one != other} == changed


def test_names_of_functions_do_not_count():
    def one(observation, mask):
        return mask

    def other(observation, mask):
        return mask

    assert fingerprint_of("a", one) == fingerprint_of("b", other)


def test_what_a_function_closes_over_counts():
    def make(weight):
        return lambda observation, mask: mask * weight

    assert fingerprint_of("a", make(1.0)) == fingerprint_of("a", make(1.0))
    assert fingerprint_of("a", make(1.0)) != fingerprint_of("a", make(2.0))
    assert fingerprint_of("a", make([1])) != fingerprint_of("a", make((1, 1)))


def test_an_object_may_say_itself_what_it_is():
    class Opened:
        def __init__(self, version):
            self.lock, self.version = threading.Lock(), version

        def fingerprint(self):
            return self.version

    assert fingerprint_of("a", Opened("1")) == fingerprint_of("a", Opened("1"))
    assert fingerprint_of("a", Opened("1")) != fingerprint_of("a", Opened("2"))


def test_what_cannot_be_compared_is_refused_with_what_to_do():
    class Locked:
        def __init__(self):
            self.lock = threading.Lock()

    with pytest.raises(ConfigError, match=r"'mine' in another process: it holds a lock .*out=None"):
        fingerprint_of("mine", Locked())


def test_modules_of_torch_are_their_code_and_their_numbers():
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self, seed, slope=1.0):
            super().__init__()
            torch.manual_seed(seed)
            self.layers = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
            self.slope = slope
            self.register_buffer("shift", torch.ones(2, dtype=torch.bfloat16))

        def forward(self, seen):
            return self.layers(seen) * self.slope

    net = Net(1)
    assert fingerprint_of("a", net) == fingerprint_of("a", Net(1).eval())
    others = [Net(2), Net(1, slope=2.0), Net(1).double(), net.layers, Net]
    assert len({fingerprint_of("a", each) for each in [net, *others]}) == 6
    before = fingerprint_of("a", net)
    with torch.no_grad():
        net.layers[0].bias[0] += 1
    assert fingerprint_of("a", net) != before
    with pytest.raises(ConfigError, match="it holds a UninitializedParameter"):
        fingerprint_of("a", torch.nn.LazyLinear(2))


def test_models_are_their_weights_and_not_how_they_were_trained():
    sb3 = pytest.importorskip("stable_baselines3")
    gymnasium = pytest.importorskip("gymnasium")

    def model(seed, rate=1e-3):
        table = gymnasium.make("CartPole-v1")
        return sb3.PPO("MlpPolicy", table, seed=seed, learning_rate=rate, device="cpu")

    assert fingerprint_of("a", model(1)) == fingerprint_of("a", model(1, rate=1e-2))
    assert fingerprint_of("a", model(1)) != fingerprint_of("a", model(2))


def test_what_comes_with_the_suite_is_recognized():
    from kille_agents import load_policy
    from kille_agents.population import population
    from kille_env import spec

    rules = spec("knack").resolve(episode="deal")
    names = [*population("knack"), "rule_of_thumb", "uniform", "search"]
    marks = {fingerprint_of(name, load_policy(name, "knack", 3, rules)) for name in names}
    assert len(marks) == len(names)
