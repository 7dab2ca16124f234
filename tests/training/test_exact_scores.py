"""What lineups earn exactly is the mean of what they earn when they play."""

import numpy as np
import pytest

from kille_agents.greedy import Greedy
from kille_agents.rules_of_thumb.byteskille import THRESHOLDS, ByteskilleRuleOfThumb
from kille_env.core.keys import deal_seeds
from kille_env.playing import Players, play_out
from kille_env.policy import UniformPolicy
from kille_env.registry import make_batch, spec
from kille_training.evaluation.exact import exact_scores
from kille_training.solving.byteskille.deals import build_deal

SEATS, DEALS = 3, 6000


def played(policies, lineup, rules):
    """What each place of a lineup earns in deals in all rotations, [D, P]."""
    batch = make_batch("byteskille", SEATS * DEALS, SEATS, rules=rules, seed=0, restart=False)
    deals = deal_seeds(3, SEATS, np.arange(DEALS))
    batch.reset(seed=np.repeat(deals, SEATS))
    turn = np.tile(np.arange(SEATS), DEALS)[:, None]
    sits = (np.arange(SEATS) + turn) % SEATS  # the seat of each place
    seating = np.empty(sits.shape, dtype=np.int64)
    np.put_along_axis(seating, sits, np.broadcast_to(lineup, sits.shape), axis=1)
    earned = np.take_along_axis(play_out(Players(batch, policies, seating)), sits, axis=1)
    return earned.reshape(DEALS, SEATS, SEATS).mean(axis=1)


@pytest.mark.parametrize("switches", [{"fraga": "off"}, {"max_redeals": 1}])
def test_exact_scores_are_the_mean_of_play(switches):
    rules = spec("byteskille").resolve({"episode": "deal", **switches})
    bolder = THRESHOLDS.copy()
    bolder[bolder > 0] -= 2
    policies = (
        ByteskilleRuleOfThumb(SEATS, rules),
        ByteskilleRuleOfThumb(SEATS, rules, bolder),
        UniformPolicy(),
        Greedy(UniformPolicy()),
    )
    lineups = np.array([(0, 1, 1), (0, 2, 3), (1, 1, 1)])
    scores = exact_scores(lineups, policies, build_deal(SEATS, rules))
    assert scores.sum(axis=1) == pytest.approx(np.zeros(3))
    assert scores[2] == pytest.approx(np.zeros(SEATS)), "no player is better than itself"
    for lineup, exact in zip(lineups[:2], scores, strict=False):
        earned = played(policies, lineup, rules)
        error = earned.std(axis=0) / np.sqrt(DEALS)
        assert (np.abs(earned.mean(axis=0) - exact) <= 4 * error).all()
