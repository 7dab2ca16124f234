"""Players of other modules, by "module:object"."""

import sys
from textwrap import dedent

import numpy as np
import pytest

import kille_env
from kille_agents.catalog import load_policy
from kille_env.errors import PolicyError
from kille_env.play.policy import check_probabilities

MODULE = '''
    """Players of the tests."""
    import numpy as np

    from kille_env.play.policy import UniformPolicy
    from kille_env.errors import PolicyError

    class First:
        """Does the first thing that is legal.

        It never helps.
        """

        name = "first"

        def __init__(self, num_players, rules):
            self.made_for = (num_players, rules.game)

        def probabilities(self, observation, mask):
            return np.eye(mask.shape[1])[mask.argmax(axis=1)]

    class Deep:
        name = "deep"

        def decide(self, decisions):
            return decisions.mask / decisions.mask.sum(axis=1, keepdims=True)

    class Nested:
        player = UniformPolicy()

    class Picky(First):
        def __init__(self, num_players, rules):
            raise PolicyError(f"Picky plays with 2, not {num_players}")

    deep, number = Deep(), 7

    def told(num_players, rules):
        return UniformPolicy()

    def second(observation, mask):
        return np.eye(mask.shape[1])[mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)]

    def careful(num_players, rules):
        return second

    def none(num_players, rules): ...
    def of_one(rules): ...
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The name of a module in the working folder."""
    (tmp_path / "somebodys_bots.py").write_text(dedent(MODULE), encoding="utf-8")
    (tmp_path / "broken_bots.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "needy_bots.py").write_text("import a_module_that_is_not\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield "somebodys_bots"
    for name in ("somebodys_bots", "broken_bots", "needy_bots"):
        sys.modules.pop(name, None)


def load(name, game="knack"):
    return load_policy(name, game, 3, kille_env.spec(game).resolve(episode="deal"))


def test_a_class_is_called_with_the_seats_and_the_rules(module):
    player = load(f"{module}:First")
    assert player.made_for == (3, "knack")
    mask = np.eye(2, dtype=np.int8)
    check_probabilities("first", player.probabilities(np.zeros((2, 1), np.uint8), mask), mask)


def test_an_object_is_taken_as_it_is_and_may_look_ahead(module):
    assert load(f"{module}:deep").name == "deep"
    assert load(f"{module}:Nested.player").name == "uniform"
    assert load(f"{module}:told").name == "uniform"


def test_a_class_without_parameters_is_called_with_nothing(module):
    assert load(f"{module}:Deep").name == "deep"


def test_a_function_is_a_policy_or_returns_one(module):
    """By the name of its first parameter: `observation`, or else the number of seats."""
    assert load(f"{module}:second").name == load(f"{module}:careful").name == "second"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nobody_wrote_this:First", r"no module 'nobody_wrote_this' .* set PYTHONPATH"),
        ("somebodys_bots.inner:First", "no module 'somebodys_bots.inner'"),
        ("somebodys_bots:Firstt", "has no 'Firstt'. Did you mean 'First'"),
        ("somebodys_bots:Nested.other", "has no 'Nested.other'"),
        ("somebodys_bots:number", "is of type int; expected a player .* of .num_players, rules"),
        ("somebodys_bots:none", "made something of type NoneType; expected a player"),
        ("somebodys_bots:of_one", r"TypeError: .*; it is called with \(num_players, rules\)"),
        ("somebodys_bots:Picky", "Picky plays with 2, not 3"),
        ("broken_bots:First", "'broken_bots' .* cannot be imported: ZeroDivisionError"),
        ("needy_bots:First", "needs the module 'a_module_that_is_not', which is not installed"),
        ("no such:thing", "there is no player 'no such:thing'"),
    ],
)
def test_what_is_no_player_is_refused_with_the_next_step(module, name, says):
    with pytest.raises(PolicyError, match=says):
        load(name)


def test_a_file_goes_before_a_module(module, tmp_path):
    (tmp_path / "somebodys_bots:First").write_text("no policy")
    with pytest.raises(PolicyError, match="is no policy"):
        load("somebodys_bots:First")
