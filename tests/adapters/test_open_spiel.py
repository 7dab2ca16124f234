"""The games as OpenSpiel's: its own tests, exact chance, and what its algorithms find on them."""

import pickle

import numpy as np
import pytest

pytest.importorskip("pyspiel")

import pyspiel
from open_spiel.python import policy as spiel_policy
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import cfr, exploitability, ismcts, mcts
from open_spiel.python.tests import games_sim_test

import kille_env
from kille_agents.open_spiel import OpenSpielPlayer
from kille_env.adapters.open_spiel import load, parse_rules, rules_text, short_name, state_at
from kille_env.core.pack import Pack
from kille_env.core.spec import PackSwitch, feature_scale
from kille_env.errors import CardError, IllegalActionError, KilleError, PolicyError, RulesError
from kille_env.play.policy import UniformPolicy

pytestmark = pytest.mark.compiled

GAMES = kille_env.list_games()
FRAGA_OFF = {"fraga": "off"}
SMALL = ["BL", "L4", "SV", "VH", "GO", "KI", "KI"]


def play(game, rng: np.random.Generator, state=None):
    """Yield every state of an episode in which everything is random."""
    state = state or game.new_initial_state()
    while not state.is_terminal():
        yield state
        if state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(actions, p=chances)))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
    yield state


def small(rules=FRAGA_OFF):
    return load("byteskille", 2, rules=rules, cards=SMALL)


# OpenSpiel's own tests


@pytest.mark.parametrize(
    ("seats", "episode"),
    [("min_players", "deal"), ("max_players", "deal"), ("min_players", "match")],
)
@pytest.mark.parametrize("name", GAMES)
def test_random_episodes_pass_openspiels_tests(name: str, seats: str, episode: str, capfd) -> None:
    number = min(getattr(kille_env.spec(name), seats), 5)
    game = pyspiel.load_game(f"{short_name(name)}(players={number},episode={episode})")
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
    games_sim_test.GamesSimTest().sim_game(game)


@pytest.mark.parametrize("name", GAMES)
def test_states_show_what_the_batch_shows(name: str) -> None:
    """Deals of OpenSpiel's chance are replayed by `reset(deck=)` and `step`."""
    # Who draws what cannot be divided is no card: it is left on the table here.
    rules = {"remainder": "left"} if name == "knack" else None
    game, rng = load(name, rules=rules), np.random.default_rng(3)
    seats, layout = game.num_players(), kille_env.spec(name).information_state
    observer = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
    for _ in range(4):
        steps, state = [], game.new_initial_state()
        for _ in play(game, rng, state):
            if state.is_player_node():
                seat = state.current_player()
                observer.set_from(state, seat)
                shown = (state.legal_actions(), observer.tensor.copy(), str(state))
                steps.append((seat, state.information_state_tensor(), *shown))
        history = state.full_history()
        codes = kille_env.spec(name).pack.codes
        deck = [codes[each.action] for each in history if each.player < 0]
        actions = [each.action for each in history if each.player >= 0]
        batch = kille_env.make_batch(
            name, 1, seats, rules=rules, episode="deal", restart=False, seed=0
        )
        if len(deck) > kille_env.spec(name).pack.size or state.returns() == [0.0] * seats:
            continue  # a hand was dealt again
        batch.reset(deck=deck, dealer=seats - 1)
        earned = np.zeros(seats)
        for action, (seat, tensor, legal, features, text) in zip(actions, steps, strict=True):
            assert batch.seat[0] == seat
            assert np.flatnonzero(batch.mask[0]).tolist() == legal
            expected = batch.information_state()[0] * feature_scale(layout(seats))
            np.testing.assert_allclose(tensor, expected, atol=1e-6)
            np.testing.assert_array_equal(features, np.float32(tensor))
            assert text == batch.describe()
            batch.step([action])
            earned += batch.reward[0]
        assert batch.over.all()
        np.testing.assert_allclose(state.returns(), earned)


# Parameters


def _some(pack: Pack) -> str:
    return "+".join(pack.codes[-12:])


@pytest.mark.parametrize("name", GAMES)
def test_rules_become_a_parameter_and_come_back(name: str) -> None:
    table = kille_env.spec(name)
    for preset in table.presets:
        rules = table.resolve(preset)
        assert table.resolve(parse_rules(rules_text(rules), table)).as_dict() == rules.as_dict()
    for switch in table.switches:
        for value in switch.values or (
            _some(switch.pack) if isinstance(switch, PackSwitch) else min(8, switch.maximum),
            *([None] if switch.nullable else []),
        ):
            rules = table.resolve({switch.name: value})
            again = table.resolve(parse_rules(rules_text(rules), table))
            assert again.as_dict() == rules.as_dict()


def test_games_are_loaded_by_text() -> None:
    text = "kille_byteskille(players=3,rules=wikipedia;stake:4,episode=match)"
    game = pyspiel.load_game(text)
    assert game.form.rules["preset"] == "wikipedia"
    assert (game.form.rules["stake"], game.form.rules["episode"]) == (4, "match")
    assert game.num_players() == 3
    again = pickle.loads(pickle.dumps(game))
    assert str(again) == str(game) == str(pyspiel.load_game(str(game)))
    assert load("byteskille", 3, rules=game.form.rules).form is game.form


@pytest.mark.parametrize(
    ("parameters", "error", "told"),
    [
        ("rules=wikipedi", RulesError, "no preset 'wikipedi'"),
        ("rules=frag:off", RulesError, "no switch 'frag'. Did you mean 'fraga'"),
        ("rules=fraga:of", RulesError, "'fraga' is 'of'"),
        ("players=21", RulesError, "played by 2 to 20"),
        ("episode=hand", RulesError, "expected 'match' or 'deal'"),
        ("cards=L1 L1 L1", CardError, "one L1 too many"),
    ],
)
def test_impossible_parameters_are_refused(parameters: str, error, told: str) -> None:
    with pytest.raises(error, match=told):
        pyspiel.load_game(f"kille_byteskille({parameters})")


# Chance, and what seats know


def test_cards_are_drawn_by_kind_with_exact_chances() -> None:
    state = load("byteskille", 2).new_initial_state()
    assert state.chance_outcomes() == [(kind, 2 / 42) for kind in range(21)]
    state.apply_action(20)
    assert dict(state.chance_outcomes())[20] == 1 / 41
    assert dict(state.chance_outcomes())[0] == 2 / 41
    assert state.action_to_string(20) == "KI"
    for _ in range(2):  # both killar are dealt
        assert not state.is_terminal()
        if state.is_chance_node():
            state.apply_action(20)
    assert state.is_player_node()
    assert [state.action_to_string(each) for each in state.legal_actions()]


@pytest.mark.parametrize("name", GAMES)
def test_texts_differ_where_information_states_do(name: str) -> None:
    game, rng, texts = load(name, kille_env.spec(name).min_players), np.random.default_rng(5), {}
    for _ in range(30):
        for state in play(game, rng):
            if state.is_player_node():
                for seat in range(game.num_players()):
                    seen = seat, tuple(state.information_state_tensor(seat))
                    texts.setdefault(state.information_state_string(seat), set()).add(seen)
    assert all(len(seen) == 1 for seen in texts.values())
    assert len({*map(tuple, texts.values())}) == len(texts) > 50


@pytest.mark.parametrize("name", GAMES)
def test_resampled_states_look_alike_and_hide_something_else(name: str) -> None:
    game, rng = load(name), np.random.default_rng(7)
    others = set()
    for state in play(game, rng):
        if state.is_player_node():
            seat = state.current_player()
            for _ in range(3):
                other = state.resample_from_infostate(seat, rng.random)
                assert other.current_player() == seat
                assert other.legal_actions() == state.legal_actions()
                text = state.information_state_string(seat)
                assert other.information_state_string(seat) == text
                others.add(str(other) != str(state))
                while not other.is_terminal():  # it can be played to its end
                    other.apply_action(int(rng.choice(other.legal_actions())))
    assert True in others


def test_what_cannot_be_is_refused() -> None:
    game = small()
    state = game.new_initial_state()
    with pytest.raises(IllegalActionError, match="no card of kind 3 is left"):
        state.apply_action(3)
    with pytest.raises(KilleError, match="whole pack"):
        state.resample_from_infostate(0, lambda: 0.5)
    with pytest.raises(KilleError, match="a player's own cards and public information"):
        game.make_py_observer(pyspiel.IIGObservationType(public_info=False, perfect_recall=True))
    for kind in (0, 6):
        state.apply_action(kind)
    with pytest.raises(IllegalActionError, match="action 9 is not legal now; legal: "):
        state.apply_action(9)


def test_a_pack_that_is_too_small_says_so() -> None:
    cards = kille_env.spec("knack").pack.codes[:3]
    state = load("knack", 4, cards=cards).new_initial_state()
    with pytest.raises(CardError, match="3 cards are too few"):
        for _ in range(4):
            state.apply_action(state.legal_actions()[0])


# Algorithms


def ours(rules=FRAGA_OFF):
    from reference.trees import build_stage

    return build_stage(2, rules, cards=SMALL)


WIKIPEDIA = {"preset": "wikipedia", "two_player": "ordinary"}  # else killar are dealt for ever


@pytest.mark.parametrize("rules", [FRAGA_OFF, WIKIPEDIA], ids=["svensk", "wikipedia"])
def test_nash_conv_of_uniform_play_is_the_same_by_openspiel(rules) -> None:
    from kille_training.solving.policies import nash_conv
    from kille_training.solving.stages import DealStages

    game = small(rules)
    found = exploitability.nash_conv(game, spiel_policy.UniformRandomPolicy(game), False)
    expected = nash_conv(UniformPolicy(), DealStages((ours(rules),)))
    np.testing.assert_allclose(found.player_improvements, expected.improvement, atol=1e-12)
    assert pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game), False) == pytest.approx(
        expected.total, abs=1e-12
    )


def test_cfr_finds_the_value_that_our_solver_finds() -> None:
    from kille_training.solving.trees.cfr import CFR
    from kille_training.solving.trees.values import expected_values

    game, stage = small(), ours()
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(10):
        solver.evaluate_and_update_policy()
    theirs = solver.average_policy()
    exact = CFR(stage.tree, "dcfr")
    exact.run(1_000, until=1e-9)
    value = expected_values(stage.tree, exact.average)[0]
    gap = pyspiel.nash_conv(game, theirs, False)
    assert gap < 0.05
    root = game.new_initial_state()
    assert pyspiel.expected_returns(root, theirs, -1, True)[0] == pytest.approx(value, abs=gap)
    python = cfr.CFRPlusSolver(game)
    python.evaluate_and_update_policy()
    assert len(python.average_policy().state_lookup) == stage.tree.num_infosets


def test_mccfr_learns() -> None:
    game = small()
    solver = pyspiel.ExternalSamplingMCCFRSolver(game, 1)
    for _ in range(300):
        solver.run_iteration()
    uniform = pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game), False)
    assert pyspiel.nash_conv(game, solver.average_policy(), False) < uniform / 4


@pytest.mark.slow
def test_nfsp_runs() -> None:
    pytest.importorskip("tree", reason="OpenSpiel's NFSP needs dm-tree")
    from open_spiel.python.pytorch import nfsp

    environment = rl_environment.Environment(load("byteskille", 2, rules=FRAGA_OFF))
    size = environment.observation_spec()["info_state"][0]
    agents = [
        nfsp.NFSP(
            seat, size, environment.action_spec()["num_actions"], [8],
            reservoir_buffer_capacity=100, anticipatory_param=0.5, batch_size=8,
            min_buffer_size_to_learn=8, learn_every=8, replay_buffer_capacity=100,
        )
        for seat in range(2)
    ]  # fmt: skip
    step = environment.reset()
    step = environment.reset()
    for _ in range(20):
        step = environment.reset()
        while not step.last():
            output = agents[step.observations["current_player"]].step(step)
            step = environment.step([output.action])
        for agent in agents:
            agent.step(step)
    assert sum(step.rewards) == 0.0
    assert agents[0].loss is not None


@pytest.mark.slow
def test_psro_adds_a_response_for_each_seat() -> None:
    pytest.importorskip("cvxpy", reason="OpenSpiel's PSRO needs cvxpy and ecos")
    from open_spiel.python.algorithms.psro_v2 import best_response_oracle, psro_v2

    oracle = best_response_oracle.BestResponseOracle(best_response_backend="py")
    tiny = small()
    agents = [spiel_policy.TabularPolicy(tiny) for _ in range(2)]
    solver = psro_v2.PSROSolver(
        tiny,
        oracle,
        sims_per_entry=3,
        initial_policies=agents,
        meta_strategy_method="uniform",
        training_strategy_selector="uniform",
    )
    solver.iteration()
    assert [len(policies) for policies in solver.get_policies()] == [2, 2]


# Players


def ismcts_bot(game, simulations: int = 5):
    return ismcts.ISMCTSBot(
        game=game,
        uct_c=1.5,
        max_simulations=simulations,
        evaluator=mcts.RandomRolloutEvaluator(1, np.random.RandomState(1)),
        random_state=np.random.RandomState(2),
    )


@pytest.mark.parametrize("name", GAMES)
def test_ismcts_of_openspiel_is_a_player(name: str) -> None:
    import kille_training as kt

    found = kt.evaluate(
        ismcts_bot(load(name)), name, episode="deal", baselines="uniform", deals=2, play="sampled"
    )
    assert found.rows[0].policy == "ISMCTSBot"
    assert found.exact is None


def test_one_bot_that_plays_one_seat_is_refused_for_all() -> None:
    with pytest.raises(PolicyError, match="pass one for each seat"):
        OpenSpielPlayer(pyspiel.make_uniform_random_bot(0, 7))


def test_one_bot_for_each_seat_plays_a_tournament() -> None:
    import kille_training as kt

    bots = [pyspiel.make_uniform_random_bot(seat, 7 + seat) for seat in range(2)]
    entrants = {"bots": OpenSpielPlayer(bots, "bots"), "rule": "rule_of_thumb"}
    found = kt.play_tournament(entrants, "byteskille", num_players=2, deals=20)
    assert found.frame()["entrant"].tolist() == ["rule", "bots"]


@pytest.mark.parametrize("name", GAMES)
def test_player_0_of_a_deal_is_forehand_whoever_deals(name: str) -> None:
    seats = kille_env.spec(name).default_players
    told = []
    for dealer in (seats - 1, 0):
        batch = kille_env.make_batch(name, 1, seats, episode="deal", seed=5, restart=False)
        batch.reset(dealer=dealer)
        rng, game = np.random.default_rng(3), load(name, seats)
        state, said = state_at(game, batch.tables), []
        while not state.is_terminal():
            said.append((state.current_player(), state.information_state_string()))
            said.append((state.information_state_tensor(0), state.observation_string(1)))
            action = int(rng.choice(state.legal_actions()))
            batch.step([action])
            if batch.over[0]:
                break
            state = state_at(game, batch.tables)
        told.append(said)
    assert told[0] == told[1]


def test_returns_are_in_the_order_of_players_whoever_deals() -> None:
    found = []
    for dealer in (2, 0):
        batch = kille_env.make_batch("byteskille", 1, 3, episode="deal", seed=5, restart=False)
        batch.reset(dealer=dealer)
        state = state_at(load("byteskille", 3, rules=FRAGA_OFF), batch.tables)
        *_, last = play(None, np.random.default_rng(4), state)
        found.append(last.returns())
    assert found[0] == found[1] and len(set(found[0])) > 1


def test_a_policy_of_another_game_says_which_game_is_expected() -> None:
    import kille_training as kt

    policy = pyspiel.TabularPolicy({})
    with pytest.raises(PolicyError, match=r"says nothing about '0 phase=0.*kille_byteskille"):
        kt.nash_conv(policy, "byteskille", 2, rules=FRAGA_OFF)
