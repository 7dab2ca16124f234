"""One network for tables of several sizes: learned, saved, and played at each of them."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch

from env.players import decisions
from kille_agents.catalog import load_policy
from kille_agents.network import save_network
from kille_env.core.floats import reading
from kille_env.errors import KilleError, PolicyError
from kille_env.registry import spec
from kille_training.learn.runs import Run
from kille_training.learn.training import learner_of, train_run
from kille_training.tables import seat

GAME = spec("byteskille")
SEVERAL = {
    "table_sizes": (2, 2, 3, 5, 20, 3, 5, 20),
    "episodes": ("deal", "match"),
    "near_seats": 3,
}


@pytest.fixture(scope="module")
def run(tiny, tmp_path_factory):
    """A finished run of one update."""
    run = Run(tmp_path_factory.mktemp("several") / "run")
    train_run(run, tiny(learner={"decisions": 128, **SEVERAL}))
    return run


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("sizes", [SEVERAL, {}], ids=["several tables", "one table"])
def test_the_exported_policy_is_the_network_at_every_table(tiny, tmp_path, activation, sizes):
    settings = tiny(learner={"layers": (16, 12), "activation": activation, **sizes})
    learner = learner_of(settings)
    save_network(learner.policy("mine"), tmp_path)
    for seats in sorted({*sizes.get("table_sizes", [2])}):
        for episode in sizes.get("episodes", ["deal"]):
            rules = GAME.resolve(episode=episode)
            observation, mask = decisions("byteskille", seats, rules, 8, 12)
            policy = load_policy(tmp_path, "byteskille", seats, rules)
            read = reading("seats" if sizes else "float", GAME, seats)
            seen = torch.as_tensor(read(observation))
            with torch.no_grad():
                asked = learner.model.policy.get_distribution(seen, action_masks=mask)
            theirs = asked.distribution.probs
            mine = policy.probabilities(observation, mask)
            assert np.abs(mine - theirs.numpy()).max() < 1e-5
            assert policy.metadata.num_players == seats


def test_rows_do_not_depend_on_the_batch(run):
    rules = GAME.resolve(episode="deal")
    policy = load_policy(run.folder, "byteskille", 20, rules)
    observation, mask = decisions("byteskille", 20, rules, 8, 12)
    whole = policy.probabilities(observation, mask)
    rows = np.random.default_rng(0).permutation(len(mask))[:33]
    assert (policy.probabilities(observation[rows], mask[rows]) == whole[rows]).all()


def test_a_table_that_it_was_not_made_for_is_refused(run):
    with pytest.raises(PolicyError, match=r"4 seats instead of .* \(and 7 more\)"):
        load_policy(run.folder, "byteskille", 4, GAME.resolve(episode="deal"))
    with pytest.raises(PolicyError, match="gok_call 'off' instead of 'any_time'"):
        load_policy(run.folder, "byteskille", 5, GAME.resolve(episode="deal", gok_call="off"))


def test_a_loaded_policy_sits_down_at_another_table(run):
    rules = GAME.resolve(episode="deal")
    three = load_policy(run.folder, "byteskille", 3, rules)
    five = load_policy(run.folder, "byteskille", 5, rules)
    seen = decisions("byteskille", 5, rules, 4, 8)
    assert np.array_equal(three.at_table("byteskille", 5).probabilities(*seen),
                          five.probabilities(*seen))  # fmt: skip
    assert three.at_table("byteskille", 3) is three


def test_it_is_measured_where_the_settings_say(run):
    table = seat([run.folder]).table
    seats, rules = table.num_players, table.rules
    assert (seats, rules["episode"]) == (2, "deal")
    table = seat([run.folder], num_players=5, episode="match").table
    seats, rules = table.num_players, table.rules
    assert (seats, rules["episode"]) == (5, "match")


def test_settings_that_do_not_go_together_are_refused(tiny):
    for learner, table, said in (
        ({"table_sizes": (2, 3, 5)}, {}, "num_tables is 16, expected a multiple of 3"),
        (
            {"table_sizes": (3, 4)},
            {},
            "table.num_players is 2, expected one of learner.table_sizes",
        ),
        ({"table_sizes": (2, 21)}, {}, "is played by 2 to 20"),
        ({"episodes": ("deal",)}, {}, "learner.episodes needs table_sizes"),
        ({"table_sizes": (2,), "episodes": ("match",)}, {}, "table.episode is 'deal', expected"),
        ({"table_sizes": (2,), "form": "seats"}, {}, "learner.table_sizes needs form"),
    ):
        form = learner.pop("form", "streams")
        with pytest.raises(KilleError, match=said):
            learner_of(tiny(form=form, learner=learner, table=table))


@pytest.mark.parametrize("form", ["streams", "seats"])
def test_a_run_at_one_table_begins_with_a_trained_network(tiny, run, form):
    learner = {"begin_with": str(run.folder), "layers": run.settings().learner["layers"]}
    settings = tiny(form=form, learner=learner, table={"num_players": 5})
    rules = settings.table.resolve()
    begun = learner_of(settings).policy("begun")
    seen = decisions("byteskille", 5, rules, 4, 8)
    theirs = load_policy(run.folder, "byteskille", 5, rules).probabilities(*seen)
    assert np.abs(begun.probabilities(*seen) - theirs).max() < 1e-5


def test_a_run_at_many_tables_begins_with_a_trained_network(tiny, run):
    learner = run.settings().learner
    settings = replace(run.settings(), learner={**learner, "begin_with": str(run.folder)})
    rules = settings.table.resolve()
    begun = learner_of(settings).policy("begun")
    theirs = load_policy(run.folder, "byteskille", 3, rules)
    assert all((begun.weights[key] == theirs.weights[key]).all() for key in theirs.weights)


def test_what_a_run_cannot_begin_with_is_refused(tiny, run):
    for learner, said in (
        ({"begin_with": "rule_of_thumb"}, "'rule_of_thumb', expected a trained network"),
        ({"begin_with": "byteskille/traind"}, "Did you mean 'byteskille/trained'"),
        ({"begin_with": str(run.folder), "layers": (9,)}, "has layers .* set learner.layers"),
        ({"begin_with": str(run.folder), "activation": "relu"}, "set learner.layers, learner.act"),
    ):
        settings = tiny(learner=learner)
        with pytest.raises(KilleError, match=said):
            learner_of(settings)
