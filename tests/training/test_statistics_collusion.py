"""Two who share what they know: the tree's answer is the one of brute force over a tiny pack."""

from itertools import combinations, permutations

import numpy as np
import pytest

from kille_agents.rules_of_thumb.byteskille import ByteskilleRuleOfThumb
from kille_env.errors import KilleError
from kille_env.policy import UniformPolicy
from kille_env.registry import make_batch, spec
from kille_training.evaluation import collusion
from kille_training.solving.byteskille.deals import build_deal
from kille_training.solving.byteskille.policies import strategies_of
from kille_training.solving.trees.values import expected_values
from reference.tallies import tallied

RULES = spec("byteskille").resolve({"episode": "deal", "fraga": "off"})
PACK = ("BL", "L2", "L6", "GO", "L9", "KI")


def brute_force(policy, pair, deciding):
    """Returns what a pair earns at best where `deciding` choose by what they know together.

    All orders of the pack are tables of their own, so nothing is left to chance but lots.
    """
    decks = [list(deck) for deck in permutations(PACK, 5)]
    batch = make_batch("byteskille", len(decks), 3, rules=RULES, seed=0, restart=False)
    batch.reset(deck=decks, dealer=2)
    return _best(batch, np.full(len(decks), 1 / len(decks)), policy, pair, deciding)


def _best(batch, weight, policy, pair, deciding):
    while (others := ~batch.over & ~np.isin(batch.seat, deciding)).any():
        # Both ways that lots can fall stay in one batch: that somebody was asked can be a secret.
        chances = np.zeros(batch.mask.shape)
        chances[~others, 0] = 1.0
        rows = np.flatnonzero(others)
        chances[rows] = policy.probabilities(batch.observation[rows], batch.mask[rows])
        row, action = np.nonzero(chances)
        weight = weight[row] * chances[row, action]
        acts = others[row]
        batch = batch.take(row)
        batch.apply(action, acts)
    over = batch.over
    value = float(weight[over] @ batch.tables["reward"][over][:, list(pair)].sum(axis=1))
    asked = np.flatnonzero(~over)
    if not len(asked):
        return value
    told = [batch.information_state(np.full(batch.num_tables, seat)) for seat in deciding]
    knows = np.column_stack([batch.seat[:, None].astype(np.uint8), *told])[asked]
    different, number = np.unique(knows, axis=0, return_inverse=True)
    for known in range(len(different)):
        group = asked[number.ravel() == known]
        values = []
        for action in np.flatnonzero(batch.mask[group[0]]):
            part = batch.take(group)
            part.apply(np.full(part.num_tables, action))
            values.append(_best(part, weight[group], policy, pair, deciding))
        value += max(values)
    return value


@pytest.mark.parametrize(
    ("policy", "pair"),
    [
        (ByteskilleRuleOfThumb(3, RULES), (0, 1)),
        (ByteskilleRuleOfThumb(3, RULES), (0, 2)),
        (ByteskilleRuleOfThumb(3, RULES), (1, 2)),
        (UniformPolicy(), (0, 2)),
    ],
    ids=["threshold, 0 and 1", "threshold, 0 and 2", "threshold, 1 and 2", "uniform, 0 and 2"],
)
def test_sharing_is_worth_what_brute_force_finds(policy, pair):
    found = collusion.exact_collusion(policy, pair, 3, RULES, cards=PACK)
    assert found.shared == pytest.approx(brute_force(policy, pair, pair))
    # One responds for the common purse, the other keeps to its policy: not more than agreed.
    alone = max(brute_force(policy, pair, (seat,)) for seat in pair)
    assert found.own <= alone + 1e-12 <= found.agreed + 2e-12 <= found.shared + 3e-12
    assert found.gain == pytest.approx(found.from_sharing + found.agreed - found.own)


def test_brute_force_finds_what_a_tree_without_sharing_earns():
    """The check is checked: where nobody decides freely it is the value of the policies."""
    policy = ByteskilleRuleOfThumb(3, RULES)
    deal = build_deal(3, RULES, cards=PACK)
    values = expected_values(deal.stages[0].tree, strategies_of(policy, deal)[0])
    assert brute_force(policy, (0, 1), ()) == pytest.approx(values[0] + values[1])


def test_who_shares_forgets_nothing_and_knows_more():
    pair = (0, 2)
    plain = build_deal(3, RULES, cards=PACK)
    shared = build_deal(3, RULES, cards=PACK, shared=pair)
    tree = collusion._merged(shared.stages[0], None, pair, pair)
    tree.check()
    assert tree.num_infosets > plain.stages[0].tree.num_infosets
    assert tree.num_nodes == plain.stages[0].tree.num_nodes
    third = plain.stages[0].tree.player == 1
    assert (shared.stages[0].tree.player == 1).sum() == third.sum(), "the third learns nothing"


def test_a_question_is_asked_together():
    rules = spec("byteskille").resolve({"episode": "deal", "max_redeals": 2})
    policy = ByteskilleRuleOfThumb(3, rules)
    deal = build_deal(3, rules, cards=PACK)
    assert len(deal.stages) == 3
    found = collusion.exact_collusion(policy, (2, 0), 3, rules, cards=PACK, deal=deal)
    assert found.seats == (0, 2)
    assert found.own < found.agreed <= found.shared


@pytest.mark.parametrize("seats", [(0, 0), (1, 3), (-1, 0)])
def test_seats_that_cannot_collude_are_refused(seats):
    with pytest.raises(KilleError, match="expected two of 0 to 2"):
        collusion.exact_collusion(UniformPolicy(), seats, 3, RULES)
    with pytest.raises(KilleError, match="at a table with a third seat"):
        collusion.exact_collusion(UniformPolicy(), (0, 1), 2, RULES)


def colluding(lineups, deals, rng, noise=1.0):
    """Entrants 1 and 3 take 0.3 each from the others at their table."""
    lineups = np.array(lineups)
    members = np.tile(lineups, (deals, 1))
    strength = np.array([0.0, 0.1, 0.2, 0.3, -0.6, 0.4, 0.0])
    scores = strength[members] + rng.normal(0, noise, members.shape)
    theirs = np.isin(members, (1, 3))
    both = theirs.sum(axis=1) == 2
    scores[both] += np.where(theirs[both], 0.3, -0.6 / (members.shape[1] - 2))
    return tallied(members, scores, np.repeat(np.arange(deals), len(lineups)))


@pytest.mark.parametrize(
    ("entrants", "seats", "hero"), [(5, 3, None), (6, 4, None), (7, 5, None), (7, 3, 4), (7, 4, 4)]
)
def test_a_pair_that_helps_each_other_is_found_in_a_tournament(entrants, seats, hero):
    lineups = [who for who in combinations(range(entrants), seats) if hero is None or hero in who]
    found = collusion.pair_gains(colluding(lineups, 300, np.random.default_rng(0), 0.5))
    named = collusion.pairs(entrants)
    assert len(found.mean) == len(named)
    guilty = named.index((1, 3))
    assert found.mean[guilty] == pytest.approx(0.6, abs=0.06)
    assert found.low[guilty] <= 0.6 <= found.high[guilty]
    assert np.nanargmax(found.mean) == guilty
    always = [hero in pair for pair in named]
    assert np.isnan(found.mean).tolist() == always, "nothing to compare with"


def test_gains_that_cannot_be_told_from_strengths_are_none():
    rng = np.random.default_rng(0)
    together = [who for who in combinations(range(5), 3) if (1 in who) == (3 in who)]
    apart = [who for who in combinations(range(6), 3) if not {1, 3} <= set(who)]
    for lineups in (together, apart):
        entrants = np.max(lineups) + 1
        found = collusion.pair_gains(colluding(lineups, 20, rng))
        assert np.isnan(found.mean[collusion.pairs(entrants).index((1, 3))])
    for lineups in (
        [[0, 1, 2, 3]],
        [[0, 1, 1], [1, 2, 2], [0, 2, 2]],
        list(combinations(range(3), 3)),
    ):
        assert np.isnan(collusion.pair_gains(colluding(lineups, 20, rng)).mean).all()
    one_deal = colluding(list(combinations(range(5), 3)), 1, rng)
    assert np.isnan(collusion.pair_gains(one_deal).low).all()
    with pytest.raises(KilleError, match="no third to gain from"):
        collusion.pair_gains(tallied([[0, 1]], [[1, -1]]))


def test_strength_and_company_are_no_collusion():
    """The true gain is 0 for every pair: 95 of 100 intervals hold it, with unequal strengths."""
    rng = np.random.default_rng(1)
    lineups = np.array(list(combinations(range(5), 3)))
    strength = np.array([0.0, 0.5, 1.0, 1.5, -3.0])
    members = np.tile(lineups, (40, 1))
    hits = []
    for _ in range(100):
        cards = np.repeat(rng.normal(0, 1, (40, 3)), len(lineups), axis=0)
        scores = strength[members] + cards + rng.normal(0, 1, members.shape)
        told = tallied(members, scores, np.repeat(np.arange(40), len(lineups)))
        found = collusion.pair_gains(told)
        hits.append((found.low <= 0) & (found.high >= 0))
    assert 0.92 <= np.mean(hits) <= 0.975
