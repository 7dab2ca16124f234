"""Players that look ahead: what they find is right, and nothing hidden leaks into it."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import kille_env
from kille_agents.catalog import load_policy
from kille_agents.search import FlatSearch
from kille_agents.search.beliefs import likely_determinizations
from kille_agents.search.rollouts import earnings
from kille_env.errors import PolicyError
from kille_env.play.decisions import Decisions, History
from kille_env.play.policy import UniformPolicy, decide, deterministic_kernel, sample_actions
from kille_env.play.rollouts import share_a_kernel
from kille_env.play.seats import SeatTables

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.compiled


def searcher(game, seats=None, *, episode="deal", **settings):
    facts = kille_env.spec(game)
    rules = facts.resolve(episode=episode)
    settings = {"determinizations": 8, "candidates": 2, **settings}
    return FlatSearch(facts.check_players(seats), rules, **settings)


def tables(player, number, seed=1):
    batch = kille_env.make_batch(
        player.rules.game, number, player.num_players, rules=player.rules, seed=seed, restart=False
    )
    batch.reset()
    return batch


def keys_for(number, seed=0):
    return np.random.default_rng(seed).integers(2**64, size=number, dtype=np.uint64)


def play(player, batch, steps, asked=None):
    """Play some steps and return the history; `asked` says something beside it every time."""
    rng = np.random.default_rng(3)
    history = History(batch)
    for step in range(steps):
        rows = np.flatnonzero(batch.seat >= 0)
        if not len(rows):
            break
        if asked is not None:
            decide(asked, Decisions(batch, rows, keys_for(len(rows), step), history))
        chances = player.probabilities(batch.observation[rows], batch.mask[rows])
        actions = np.zeros(batch.num_tables, dtype=np.int64)
        actions[rows] = sample_actions(chances, rng)
        history.note(actions)
        batch.step(actions)
    return history


@pytest.mark.parametrize("episode", ["deal", "match"])
def test_answers_are_distributions_wherever_play_leads(game, episode):
    player = searcher(game, episode=episode, deals=1 if episode == "match" else None)
    batch = tables(player, 4)
    play(UniformPolicy(), batch, 8, asked=player)  # `decide` checks every answer
    assert (batch.seat >= 0).any() or episode == "deal"


@pytest.mark.parametrize("beliefs", ["uniform", "policy"])
def test_a_decision_depends_on_nothing_but_itself_and_its_key(game, beliefs):
    player = searcher(game, beliefs=beliefs)
    batch = tables(player, 6)
    history = play(UniformPolicy(), batch, 2)
    rows = np.flatnonzero(batch.seat >= 0)
    keys = keys_for(len(rows))
    whole = decide(player, Decisions(batch, rows, keys, history))
    assert (decide(player, Decisions(batch, rows, keys, history)) == whole).all()
    some = np.arange(len(rows))[::-3]
    assert (decide(player, Decisions(batch, rows[some], keys[some], history)) == whole[some]).all()
    alone = searcher(game, beliefs=beliefs, tables=1)  # each decision by itself
    assert (decide(alone, Decisions(batch, rows, keys, history)) == whole).all()


def through_python(policy):
    """The same policy, which cannot be a kernel."""
    return SimpleNamespace(name=policy.name, probabilities=policy.probabilities)


@pytest.mark.parametrize(("settings", "deals"), [({}, 2), ({"beliefs": "uniform"}, None)])
def test_kernels_decide_what_the_same_policy_does_through_python(game, settings, deals):
    """Determinizations, weights, and rollouts are the same, to the bit."""
    settings = {**settings, "margin": 0.0, "determinizations": 16}
    settings |= {"deals": deals, "episode": "match" if deals else "deal"}
    player = searcher(game, **settings)
    assert player.base.kernel is not None
    slow = searcher(game, base=through_python(player.base), **settings)
    batch = tables(player, 6)
    for steps in (1, 3):
        history = play(mixed(player.base), batch, steps)
        rows = np.flatnonzero(batch.seat >= 0)
        asked = batch, rows, keys_for(len(rows)), history
        assert (decide(player, Decisions(*asked)) == decide(slow, Decisions(*asked))).all()


def mixed(policy):
    """A policy that now and then does anything: it meets what the policy alone would not."""

    def probabilities(observation, mask):
        chance = UniformPolicy().probabilities(observation, mask)
        return 0.7 * policy.probabilities(observation, mask) + 0.3 * chance

    return SimpleNamespace(name="mixed", probabilities=probabilities)


def test_policies_of_different_kernels_play_through_python():
    rules = kille_env.spec("knack").resolve(episode="deal")
    base = load_policy("rule_of_thumb", "knack", 4, rules)
    tight = load_policy("knack/tight", "knack", 4, rules)
    kernels = [deterministic_kernel(policy) for policy in (base, UniformPolicy(), tight)]
    assert share_a_kernel(kernels[0], kernels[0])
    assert not share_a_kernel(kernels[0], kernels[1])
    assert not share_a_kernel(kernels[2])


def assert_alike(one, other):
    """Compare mean answers over keys, [D, R, A], with what chance explains."""
    spread = np.sqrt((one.var(axis=1) + other.var(axis=1)) / one.shape[1]) + 1e-9
    assert (np.abs(one.mean(axis=1) - other.mean(axis=1)) <= 5.0 * spread + 0.02).all()


def test_where_the_hidden_cards_truly_lie_changes_nothing(game):
    """Pairs of tables that the seat to act cannot tell apart, asked with many keys each."""
    player = searcher(game, beliefs="uniform", determinizations=3, margin=0.0)
    batch = tables(player, 3, seed=5)
    play(UniformPolicy(), batch, 2)
    rows = np.flatnonzero(batch.seat >= 0)
    other = Decisions(batch, rows, keys_for(len(rows))).draw(1)
    assert (other.observation == batch.observation[rows]).all()
    repeats = 100
    said = [
        decide(player, Decisions(here, np.repeat(at, repeats), keys_for(len(at) * repeats, seed)))
        for seed, (here, at) in enumerate([(batch, rows), (other, np.arange(len(rows)))])
    ]
    shape = (len(rows), repeats, -1)
    assert_alike(said[0].reshape(shape), said[1].reshape(shape))


def test_nor_does_it_with_beliefs_from_what_the_others_do():
    player = searcher("byteskille", 3, determinizations=6, margin=0.0)
    said = []
    for seed, deck in enumerate((["L9", "L2", "L5"], ["L3", "L12", "L5"])):
        batch = tables(player, 200, seed)
        batch.reset(deck=deck, dealer=2)
        history = History(batch)
        for text in ("ask", "no", "stand", "stand"):
            action = np.full(200, batch.spec.actions.index(text))
            history.note(action)
            batch.step(action)
        assert (batch.seat == 2).all()
        said.append(
            decide(player, Decisions(batch, np.arange(200), keys_for(200, seed), history))[None]
        )
    assert_alike(*said)


@pytest.mark.parametrize(
    ("number", "share"), [(512, 0.8), pytest.param(4096, 0.99, marks=pytest.mark.slow)]
)
def test_flat_search_finds_the_best_response(number, share):
    """With rules by which a seat decides once a deal, one step of improvement is the best one."""
    pytest.importorskip("kille_training")
    script = SimpleNamespace(**runpy.run_path(str(ROOT / "benchmarks/search.py")))
    rules = kille_env.spec("byteskille").resolve(script.ONE_DECISION, episode="deal")
    stage = script.grow_stage(2, rules)
    rule = load_policy("rule_of_thumb", "byteskille", 2, rules)
    for opponents, beliefs in ((UniformPolicy(), "uniform"), (rule, "policy")):
        against = script.strategy_of(opponents, stage)
        player = FlatSearch(
            2, rules, opponents=opponents, determinizations=number, margin=0.0, beliefs=beliefs,
            doubt=1e-6, candidates=4,
        )  # fmt: skip
        mine = script.searched(player, stage, 1)
        values = script.values_of(mine, against, stage)
        plain = script.values_of(against, against, stage)
        best = [script.best_response(stage.tree, against, seat) for seat in (0, 1)]
        most = np.array([answer.value for answer in best])
        assert (values <= most + 1e-9).all()
        assert (values - plain).sum() >= share * (most - plain).sum() > 0.02


def test_beliefs_follow_what_the_others_did():
    """A seat that swaps or asks holds a low card, if it plays by thresholds."""
    player = searcher("byteskille", 2)
    batch = tables(player, 400)
    history = play(player.base, batch, 1)
    acting = np.flatnonzero(batch.seat >= 0)
    which, _, actions = history.decisions(acting, batch.seat[acting])
    rows = acting[which]
    assert len(rows) > 200
    decisions = Decisions(batch, rows, keys_for(len(rows)), history)
    swapped = np.isin(actions, [batch.spec.actions.index(text) for text in ("swap", "ask")])
    right = []
    for doubt in (1e-9, 1.0):
        drawn = likely_determinizations(decisions, 4, 16, player.base, doubt).tables["dealt"]
        card = drawn[np.arange(len(drawn)), np.repeat(1 - batch.seat[rows], 4)] >> 1
        plain = card < 15  # neither a matador nor a kille
        right.append(((card < 9) == np.repeat(swapped, 4))[plain].mean())
    assert right[0] > 0.99
    assert 0.4 < right[1] < 0.7


def test_a_search_is_refused_at_another_table():
    player = load_policy("search", "knack", 4, kille_env.spec("knack").resolve())
    other = kille_env.make_batch("knack", 2, 3, seed=1)
    other.reset()
    with pytest.raises(PolicyError, match="was made for knack with 4 seats"):
        decide(player, Decisions(other, np.arange(2), keys_for(2)))


def test_money_up_to_the_end_of_the_deal_is_that_of_the_deal():
    """With a horizon of a deal the antes of the next one do not count, and play goes no further."""
    rule = load_policy(
        "rule_of_thumb", "knack", 3, kille_env.spec("knack").resolve(episode="match")
    )
    batch = tables(rule, 50, seed=2)
    twin = batch.clone()
    while (acting := np.flatnonzero(twin.seat >= 0)).size:
        actions = np.zeros(50, dtype=np.int64)
        chosen = rule.probabilities(twin.observation[acting], twin.mask[acting])
        actions[acting] = chosen.argmax(axis=1)
        twin.apply(actions)
    assert twin.at_chance.any()

    first = rule.probabilities(batch.observation, batch.mask).argmax(axis=1)

    def earned(deals):
        whole = np.arange(50), first, np.zeros(50, np.int64)
        return earnings(batch, *whole, (rule, rule), deals)

    found = earned(1)
    assert found == pytest.approx(twin.tables["reward"][:, :3])
    assert (earned(2) != found).any()
    # A match sums to nothing; a deal of one need not, for money lies on the table.
    assert earned(None).sum(axis=1) == pytest.approx(np.zeros(50), abs=1e-9)


def test_a_search_is_an_opponent_in_an_environment():
    opponents = searcher("byteskille", 3)
    seats = SeatTables("byteskille", 3, 3, episode="deal", opponents=opponents, seed=1)
    for _ in range(2):
        seats.begin(seed=5)
        while not seats.over.all():
            seats.step(seats.mask().argmax(axis=1), ~seats.over)
        assert seats.returns.sum(axis=1) == pytest.approx(np.zeros(3))
