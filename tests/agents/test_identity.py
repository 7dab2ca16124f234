"""Digests of what players answer, and whether they answer the same twice."""

import numpy as np
import pytest

from env.players import even
from kille_agents import as_policy
from kille_agents.identity import fingerprint, is_steady
from kille_env.errors import PolicyError
from kille_env.registry import Table
from reference.scripts import printed

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
