"""The test that is watched while deals are played errs as rarely as it says."""

import numpy as np
import pytest
from scipy import stats

from kille_agents.rules_of_thumb.byteskille import THRESHOLDS, ByteskilleRuleOfThumb
from kille_env.errors import KilleError
from kille_env.playing import Players, play_out
from kille_env.registry import make_batch, spec
from kille_training.statistics import sequential
from kille_training.statistics.sequential import Hypotheses, SequentialTest

RUNS = 1000
GAP = 0.015
BOUNDS = (-2.0, 4.0)


@pytest.fixture(scope="module")
def bank():
    """Real scores: a threshold player among two who stand earlier, by deal, over all seatings."""
    rules = spec("byteskille").resolve({"episode": "deal"})
    bolder = THRESHOLDS.copy()
    bolder[bolder > 0] -= 2
    policies = (ByteskilleRuleOfThumb(3, rules), ByteskilleRuleOfThumb(3, rules, bolder))
    deals = 8000
    batch = make_batch("byteskille", 3 * deals, 3, rules=rules, seed=0, restart=False)
    batch.reset(seed=np.repeat(np.arange(deals), 3))
    seats = np.tile(np.arange(3), deals)
    seating = (np.arange(3) != seats[:, None]).astype(np.int64)
    earned = play_out(Players(batch, policies, seating))[np.arange(3 * deals), seats]
    return earned.reshape(deals, 3).mean(axis=1)


def tilted(bank, mean):
    """Returns chances of the bank's scores under which their mean is another one."""
    low, high, chances = -50.0, 50.0, np.empty(0)
    for _ in range(100):
        middle = (low + high) / 2
        chances = np.exp(middle * (bank - bank.mean()))
        chances /= chances.sum()
        low, high = (middle, high) if chances @ bank < mean else (low, middle)
    return chances


def runs(bank, mean, deals, seed, count=RUNS):
    rng = np.random.default_rng(seed)
    shares = np.cumsum(tilted(bank, mean))  # as a heap to draw from: each score in its share
    heap = bank[np.searchsorted(shares, (np.arange(200_000) + 0.5) / 200_000)]
    return heap[rng.integers(len(heap), size=(count, deals))]


def fed(scores, hypotheses):
    test = SequentialTest(hypotheses)
    test.feed(scores)
    return test


def fixed_deals(deviation):
    """Deals of the test with a fixed number of them and errors of 5%."""
    return int(np.ceil((2 * stats.norm.isf(0.05) * deviation / GAP) ** 2))


@pytest.mark.parametrize(
    ("mean", "wrong", "deals"),
    [(0.0, sequential.ABOVE, 0.6), (GAP, sequential.BELOW, 0.65), (-GAP, sequential.ABOVE, 0.25)],
    ids=["null", "alternative", "beyond"],
)
def test_errors_are_rarer_than_nominal_and_deals_are_saved(bank, mean, wrong, deals):
    hypotheses = Hypotheses(0.0, GAP, *BOUNDS)
    fixed = fixed_deals(float(bank.std()))
    found = [fed(run, hypotheses) for run in runs(bank, mean, 4 * fixed, 1)]
    errors = np.mean([test.verdict == wrong for test in found])
    used = np.mean([test.decided_after or test.deals for test in found])
    assert errors <= 0.06
    assert used <= deals * fixed
    assert np.mean([test.verdict == sequential.GOING for test in found]) < 0.02


def test_a_skewed_score_with_a_rare_jackpot_keeps_its_promise():
    """Nineteen small losses and a large gain: what upsets tests that trust the variance seen."""
    rng = np.random.default_rng(3)
    wins = rng.random((RUNS, 1000)) < 0.01
    scores = np.where(wins, 9.9, -0.1)  # the mean is 0: not the 0.1 that is claimed
    found = [fed(run, Hypotheses(0.0, 0.1, -1.0, 10.0)).verdict for run in scores]
    assert np.mean([verdict == sequential.ABOVE for verdict in found]) <= 0.055
    scores = np.where(wins, 9.9 + 0.1, -0.1 + 0.1)
    found = [fed(run, Hypotheses(0.0, 0.1, -1.0, 10.0)).verdict for run in scores]
    assert np.mean([verdict == sequential.BELOW for verdict in found]) <= 0.055


def test_the_interval_holds_at_all_times(bank):
    truth = float(bank.mean())
    kept = 0
    for run in runs(bank, truth, 3000, 2, 300):
        test, inside = SequentialTest(Hypotheses(truth - 1, truth + 1, *BOUNDS)), True
        for begin in range(0, 3000, 50):
            test.feed(run[begin : begin + 50])
            low, high = test.interval()
            inside &= bool(low <= truth <= high)
        kept += inside
    assert kept >= 285


def test_parts_change_nothing(bank):
    hypotheses = Hypotheses(0.0, GAP, *BOUNDS)
    whole = fed(bank[:700], hypotheses)
    test = SequentialTest(hypotheses)
    for begin in range(0, 700, 90):
        test.feed(bank[begin : min(700, begin + 90)])
    assert test == whole
    assert test.mean == pytest.approx(bank[:700].mean())


def test_a_verdict_stands():
    test = SequentialTest(Hypotheses(0.0, 0.5, -2.0, 2.0))
    assert test.interval() == (-np.inf, np.inf)
    assert test.feed(np.full(200, 1.0)) == sequential.ABOVE
    ended = test.decided_after
    assert 0 < ended < 200
    assert test.feed(np.full(2000, -1.0)) == sequential.ABOVE
    assert (test.decided_after, test.deals) == (ended, 2200)
    assert test.mean < 0
    other = fed(np.full(200, -1.0), test.hypotheses)
    assert other.verdict == sequential.BELOW
    short = Hypotheses(0.0, 0.5, -2.0, 2.0, most=10)
    undecided = fed(np.full(200, 0.25), short)
    assert (undecided.verdict, undecided.decided_after) == (sequential.UNDECIDED, 10)


def test_wald_with_a_known_variance_is_what_it_tends_to():
    """On fine steps the bets take about as many deals as the probability ratio test."""
    rng = np.random.default_rng(0)
    scores = rng.choice([-1.0, 1.0], size=(300, 20_000), p=[0.475, 0.525])
    ours = [fed(run, Hypotheses(0, 0.05, -1.1, 1.1)) for run in scores]
    ratio = np.abs(np.cumsum(scores - 0.025, axis=1) * 0.05)  # with the variance 1
    walds = (ratio >= np.log(0.95 / 0.05)).argmax(axis=1) + 1
    assert 0.9 <= np.mean([test.decided_after for test in ours]) / walds.mean() <= 1.25


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"low": 0.1, "high": 0.1}, "expected least < low < high < greatest"),
        ({"greatest": 0.05}, "expected least < low < high < greatest"),
        ({"alpha": 0.5}, "alpha is 0.5"),
        ({"beta": 0}, "beta is 0"),
        ({"most": -1}, "most is -1"),
    ],
)
def test_what_cannot_be_tested_is_refused(changed, told):
    given = {"low": 0.0, "high": 0.1, "least": -1.0, "greatest": 1.0}
    with pytest.raises(KilleError, match=told):
        Hypotheses(**{**given, **changed})


def test_a_score_beyond_the_bounds_is_refused():
    test = SequentialTest(Hypotheses(0.0, 0.1, -1.0, 1.0))
    for wrong in (1.5, np.nan):
        with pytest.raises(KilleError, match=r"not between the bounds -1.0 and 1.0"):
            test.feed(np.array([0.5, wrong]))
    assert test.deals == 0
