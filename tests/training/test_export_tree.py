"""Exact trees as `.efg` files, and OpenSpiel's policies of them as players."""

from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import cfr
from open_spiel.python.policy import UniformRandomPolicy

import kille_training as kt
from kille_env.errors import KilleError, PolicyError
from kille_env.play.policy import UniformPolicy
from kille_training.solving.policies import strategy_of
from kille_training.solving.trees.efg import EfgTree
from reference.scripts import script
from reference.small_games import coin
from reference.trees import build_stage, numbered

pytestmark = pytest.mark.compiled

FRAGA_OFF = {"fraga": "off"}


def test_cfr_of_openspiel_gives_a_player_of_the_same_nash_conv(tmp_path: Path) -> None:
    exported = kt.export_efg("byteskille", 2, tmp_path / "trees" / "deal.efg", rules=FRAGA_OFF)
    game = exported.load()
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(30):
        solver.evaluate_and_update_policy()
    theirs = pyspiel.nash_conv(game, solver.average_policy(), False)
    player = exported.player(solver.average_policy(), "cfr+")
    ours = kt.nash_conv(player, "byteskille", 2, rules=FRAGA_OFF)
    assert 1e-5 < theirs < 0.1
    assert float(ours) == pytest.approx(theirs, abs=1e-12)
    assert ours.policy == "cfr+"


def test_where_cards_are_dealt_again_the_tree_pays_what_that_is_worth(tmp_path: Path) -> None:
    rules = {"max_redeals": 1}
    exported = kt.export_efg("byteskille", 2, tmp_path / "deal.efg", rules=rules)
    solution = kt.solve("byteskille", 2, rules=rules, target=1e-5)
    assert len(exported.later) == 1
    assert exported.continuation == pytest.approx(solution.value, abs=0.01)
    assert abs(exported.continuation[0]) > 0.01
    # An equilibrium of the deal is one of the exported tree, and comes back as it went.
    game, policy = exported.load(), exported.policy(solution.policy)
    assert pyspiel.nash_conv(game, policy, False) < 1e-5
    assert float(kt.nash_conv(exported.player(policy), "byteskille", 2, rules=rules)) < 1e-5


def test_the_recipe_brings_a_policy_back_for_every_hand() -> None:
    train = script("training/recipes/open_spiel_cfr.py").train
    found = kt.nash_conv(train("byteskille", 2, 200_000), "byteskille", 2)
    assert found.policy == "open_spiel_cfr"
    assert found.stakes < 0.02


@pytest.mark.parametrize("player", ["uniform", "rule_of_thumb"])
def test_players_are_policies_of_openspiel_of_the_same_nash_conv(
    tmp_path: Path, player: str
) -> None:
    exported = kt.export_efg("byteskille", 2, tmp_path / "deal.efg", rules="wikipedia")
    theirs = pyspiel.nash_conv(exported.load(), exported.policy(player), False)
    ours = kt.nash_conv(player, "byteskille", 2, rules="wikipedia")
    assert float(ours) == pytest.approx(theirs, abs=1e-12)


def test_python_policies_of_openspiel_come_back_too(tmp_path: Path) -> None:
    stage = build_stage(2, FRAGA_OFF, cards=["BL", "L4", "SV", "VH", "GO", "KI", "KI"], nodes=True)
    assert stage.nodes is not None
    efg = numbered(stage.nodes)
    efg.write(tmp_path / "stage.efg")
    game = pyspiel.load_game("efg_game", {"filename": str(tmp_path / "stage.efg")})
    uniform = efg.strategy_of(UniformRandomPolicy(game), game)
    np.testing.assert_allclose(uniform, strategy_of(UniformPolicy(), stage))
    solver = cfr.CFRPlusSolver(game)
    for _ in range(3):
        solver.evaluate_and_update_policy()
    found = efg.strategy_of(solver.average_policy(), game)
    again = pyspiel.TabularPolicy(efg.policy_of(found, game))
    np.testing.assert_allclose(efg.strategy_of(again, game), found)


def guess() -> EfgTree:
    """The coin with names."""
    pays = ["pay", 'go "on"']
    actions = [*pays, "tails", "heads", *pays]
    nodes = coin((0.25, 0.75), (1 / 3, 1 / 3, -2 / 3)).nodes
    return EfgTree(nodes, actions, ["sees 0", "guesses\nit", "sees 1"], "a game")


def test_labels_and_digits_are_in_the_file(tmp_path: Path) -> None:
    guess().write(tmp_path / "guess.efg")
    lines = (tmp_path / "guess.efg").read_text().splitlines()
    assert lines[0] == 'EFG 2 R "a game" { "seat 0" "seat 1" }'
    assert lines[1] == 'c "" 1 "" { "0" 1/4 "1" 3/4 } 0'
    assert lines[2] == 'p "" 1 1 "sees 0" { "pay" "go \'on\'" } 0'
    assert lines[3] == 't "" 1 "" { 1/3 -1/3 }'
    assert lines[4] == 'p "" 2 1 "guesses it" { "tails" "heads" } 0'
    game = pyspiel.load_game("efg_game", {"filename": str(tmp_path / "guess.efg")})
    assert game.num_distinct_actions() == 4


def test_policies_of_another_game_are_refused(tmp_path: Path) -> None:
    efg = guess()
    kuhn = pyspiel.load_game("kuhn_poker")
    with pytest.raises(PolicyError, match="has another tree"):
        efg.strategy_of(pyspiel.UniformRandomPolicy(kuhn), kuhn)
    efg.write(tmp_path / "guess.efg")
    game = pyspiel.load_game("efg_game", {"filename": str(tmp_path / "guess.efg")})
    with pytest.raises(PolicyError, match="no distribution for information set 2"):
        efg.strategy_of(pyspiel.TabularPolicy({}), game)


@pytest.mark.parametrize(
    ("game", "seats", "rules", "told"),
    [
        ("knack", 2, None, "terminal nodes and takes"),
        ("byteskille", 2, {"episode": "match"}, "not a single tree; export a single deal"),
        ("byteskille", 6, None, "6 seats has about"),
    ],
)
def test_what_is_no_single_finite_tree_is_refused(
    tmp_path: Path, game: str, seats: int, rules, told: str
) -> None:
    with pytest.raises(KilleError, match=told):
        kt.export_efg(game, seats, tmp_path / "deal.efg", rules=rules)
    assert not list(tmp_path.iterdir())


def test_a_solved_deal_is_written_as_a_tree(answer, refused) -> None:
    words = ("solve", "byteskille", "--players", "2", "--rules", "fraga=off", "--efg", "deal.efg")
    answer(*words, "--target", "0.1")
    assert pyspiel.load_game("efg_game(filename=deal.efg)").num_players() == 2
    assert "not of a match" in refused(*words, "--rules", "episode=match")
