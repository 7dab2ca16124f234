"""The test that is watched while deals are played errs as rarely as it says."""

import numpy as np
import pytest
from scipy import stats

from kille_agents.rules_of_thumb.byteskille import THRESHOLDS, ByteskilleRuleOfThumb
from kille_env.errors import KilleError
from kille_env.play.seating import SeatedPolicies, play_out
from kille_env.registry import make_batch, spec
from kille_training.statistics import sequential
from kille_training.statistics.sequential import ABOVE, BELOW, GOING, Hypotheses, SequentialTest

RUNS = 300
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
    earned = play_out(SeatedPolicies(batch, policies, seating))[np.arange(3 * deals), seats]
    return earned.reshape(deals, 3).mean(axis=1)


def tilted(bank, mean):
    """Return scores of the bank, each as often as an exponential tilt to another mean has it."""
    low, high, chances = -50.0, 50.0, np.empty(0)
    for _ in range(100):
        middle = (low + high) / 2
        chances = np.exp(middle * (bank - bank.mean()))
        chances /= chances.sum()
        low, high = (middle, high) if chances @ bank < mean else (low, middle)
    places = np.searchsorted(np.cumsum(chances), (np.arange(200_000) + 0.5) / 200_000)
    return bank[places]


def draws(heap, seed):
    """Yield deals of the heap's scores by lot, 500 at a time."""
    rng = np.random.default_rng(seed)
    while True:
        yield heap[rng.integers(len(heap), size=500)]


def played(heap, hypotheses, seed):
    """Return a test that has been fed until it was decided."""
    test = SequentialTest(hypotheses)
    for scores in draws(heap, seed):
        if test.feed(scores) != GOING:
            return test
    raise AssertionError


def fed(scores, hypotheses):
    test = SequentialTest(hypotheses)
    test.feed(scores)
    return test


def most_errors(chance, runs):
    """Return a share of errors that a test with this chance exceeds once in a thousand times."""
    return stats.binom.ppf(0.999, runs, chance) / runs


@pytest.mark.parametrize(
    ("mean", "wrong", "deals"),
    [(0.0, ABOVE, 0.6), (GAP, BELOW, 0.65), (-GAP, ABOVE, 0.25)],
    ids=["null", "alternative", "beyond"],
)
def test_errors_are_rarer_than_nominal_and_deals_are_saved(bank, mean, wrong, deals):
    heap = tilted(bank, mean)
    fixed = (2 * stats.norm.isf(0.05) * heap.std() / GAP) ** 2  # deals of a test of so many deals
    found = [played(heap, Hypotheses(0.0, GAP, *BOUNDS), seed) for seed in range(RUNS)]
    assert np.mean([test.verdict == wrong for test in found]) <= most_errors(0.05, RUNS)
    assert np.mean([test.decided_after for test in found]) <= deals * fixed


@pytest.mark.parametrize("gap", [0.01, 0.1])
def test_a_skewed_score_with_a_rare_jackpot_keeps_its_promise(gap):
    """Many small losses and a large gain: what upsets tests that trust the variance seen."""
    rng = np.random.default_rng(3)
    scores = np.where(rng.random((RUNS, 1000)) < 0.01, 9.9, -0.1)  # the mean is 0
    for moved, wrong in ((0.0, ABOVE), (gap, BELOW)):
        known = Hypotheses(0.0, gap, -1.0, 10.0)
        found = [fed(run + moved, known).verdict for run in scores]
        assert np.mean([verdict == wrong for verdict in found]) <= most_errors(0.05, RUNS)


@pytest.mark.parametrize(
    ("alpha", "beta"), [(0.05, 0.05), pytest.param(0.2, 0.01, marks=pytest.mark.slow)]
)
def test_verdict_and_interval_never_disagree(bank, alpha, beta):
    """The interval leaves a hypothesis out from the deal on at which the verdict rejects it."""
    known = Hypotheses(0.0, 4 * GAP, *BOUNDS, alpha, beta)
    verdicts = set()
    for seed, mean in enumerate(np.linspace(-8 * GAP, 12 * GAP, 20)):
        test, heap = SequentialTest(known), tilted(bank, mean)
        for scores, _ in zip(draws(heap, seed), range(8), strict=False):
            for score in np.array_split(scores, 25):
                verdict = test.feed(score)
                low, high = test.interval()
                assert low <= high
                if verdict == GOING:
                    assert low < known.low and known.high < high
                assert verdict != ABOVE or low >= known.low
                assert verdict != BELOW or high <= known.high
        verdicts.add(test.verdict)
    assert verdicts >= {ABOVE, BELOW}


def wealth(scores, mean, gap, least, greatest):
    """Yield the wealth of the bets against "at most `mean`", deal by deal, in plain Python."""
    bets, stakes, ends = [0.86, 0.06, 0.05, 0.03], [0.0] * 4, 100
    for number, score in enumerate(scores):
        if number == ends:
            seen = scores[:number]
            variance = ((greatest - least) ** 2 / 16 + seen.var() * number) / (number + 1)
            stakes = [t / (variance + t * t) for t in (gap, 4 * gap, 16 * gap, 64 * gap)]
            ends = int(np.ceil(number * 1.25))
        for bet, stake in enumerate(stakes):
            bets[bet] *= 1 + min(stake, 0.99 / (mean - least)) * (score - mean)
        yield sum(bets)


def test_the_interval_ends_where_the_wealth_rules_a_mean_out(bank):
    rng = np.random.default_rng(5)
    scores = rng.choice(tilted(bank, 0.05), 2000)
    test = SequentialTest(Hypotheses(-1.0, -0.7, *BOUNDS, alpha=0.05, beta=0.2))
    test.feed(scores)
    low, high = test.interval()
    *_, above = wealth(scores, low, 0.3, -2.0, 4.0)
    *_, below = wealth(-scores, -high, 0.3, -4.0, 2.0)
    assert (above, below) == (pytest.approx(20), pytest.approx(5))
    path = np.array(list(wealth(scores[:300], -1.0, 0.3, -2.0, 4.0)))
    assert test.verdict == ABOVE and test.decided_after == (path >= 20).argmax() + 1


@pytest.mark.parametrize("confidence", [0.9, pytest.param(0.6, marks=pytest.mark.slow)])
def test_the_interval_holds_at_all_times(bank, confidence):
    error = (1 - confidence) / 2
    known, kept, widths = Hypotheses(0.0, 0.1, *BOUNDS, error, error), 0, []
    for seed in range(300):
        test, inside = SequentialTest(known), True
        for scores, _ in zip(draws(bank, seed), range(6), strict=False):
            test.feed(scores)
            low, high = test.interval()
            inside &= low <= bank.mean() <= high
        kept += inside
        widths.append(np.diff(test.interval()))
    assert known.confidence == pytest.approx(confidence)
    assert 1 - kept / 300 <= most_errors(1 - confidence, 300)
    assert np.mean(widths) < 0.12


def test_parts_change_nothing(bank):
    known = Hypotheses(0.0, GAP, *BOUNDS)
    whole = fed(bank, known)
    for size in (1, 90, 1001):
        test = SequentialTest(known)
        for begin in range(0, len(bank), size):
            test.feed(bank[begin : begin + size])
            if size == 1 and test.deals == 300:
                assert test.interval() == fed(bank[:300], known).interval()
                test.feed(bank[300:])
                break
        assert (test.deals, test.mean) == (whole.deals, whole.mean)
        assert (test.verdict, test.decided_after) == (whole.verdict, whole.decided_after)
        assert test.interval() == whole.interval()
    assert whole.mean == pytest.approx(bank.mean())


def test_a_verdict_stands():
    test = SequentialTest(Hypotheses(0.0, 0.5, -2.0, 2.0))
    assert test.interval() == (-2.0, 2.0)
    assert test.feed(np.full(200, 1.0)) == ABOVE
    ended = test.decided_after
    assert sequential.FIRST < ended < 200
    assert test.feed(np.full(2000, -1.0)) == ABOVE
    assert (test.decided_after, test.deals) == (ended, 2200)
    assert test.mean < 0 and test.interval()[0] >= 0.0
    other = fed(np.full(200, -1.0), test.hypotheses)
    assert other.verdict == BELOW


@pytest.mark.parametrize("most", [10, 150, 1000])
def test_it_ends_undecided_after_so_many_deals(most):
    test = SequentialTest(Hypotheses(0.24, 0.26, -2.0, 2.0, most=most))
    test.feed(np.tile([-0.5, 1.0], 1000))
    assert (test.verdict, test.decided_after) == (sequential.UNDECIDED, most)


def test_far_bounds_cost_no_deals_where_scores_beyond_are_cut():
    """A match can move a thousand units and never moves ten: the test goes by what it does."""
    rng = np.random.default_rng(0)
    heap = rng.choice([-3.0, -1.0, 0.0, 1.0, 3.0], size=100_000) + 0.1
    far = Hypotheses(0.0, 0.1, -1000.0, 1000.0)
    cut = Hypotheses(0.0, 0.1, -1000.0, 1000.0, uncut=(-8.0, 8.0))
    near = Hypotheses(0.0, 0.1, -12.4, 12.4)
    deals = {}
    for name, known in (("far", far), ("cut", cut), ("near", near)):
        found = [played(heap, known, seed) for seed in range(10)]
        assert {test.verdict for test in found} == {ABOVE}
        deals[name] = [test.decided_after for test in found]
    assert deals["cut"] == deals["near"]
    assert np.mean(deals["far"]) > 3 * np.mean(deals["cut"])


def test_scores_beyond_count_as_less_and_are_counted():
    known = Hypotheses(0.0, 1.0, -1000.0, 1000.0, uncut=(-8.0, 16.0))
    scores = np.tile([-3.0, 1.0, 5.0], 100)
    test = fed(scores, known)
    assert (test.bounds, test.cut) == ((-20.0, 20.0), 0)  # four times the largest of the first
    test.feed(np.array([900.0, -700.0, 20.0]))
    assert test.cut == 2
    assert test.mean == pytest.approx((scores.sum() + 20) / 303)
    assert fed(np.zeros(300), known).bounds == (-8.0, 16.0)
    assert fed(scores, Hypotheses(0.0, 1.0, -10.0, 1000.0, uncut=(-8.0, 8.0))).bounds == (-10, 20)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"low": 0.1, "high": 0.1}, "expected least < low < high < greatest"),
        ({"greatest": 0.05}, "expected least < low < high < greatest"),
        ({"uncut": (-0.5, 0.05)}, "expected least < low < high < greatest"),
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
    test = SequentialTest(Hypotheses(0.0, 0.1, -1.0, 2 / 3))
    for wrong in (1.5, np.nan):
        with pytest.raises(KilleError, match=r"score is .*, expected -1 to 0.666667"):
            test.feed(np.array([0.5, wrong]))
    assert test.deals == 0
    test.feed(np.array([2 / 3 + 1e-12]))  # the dust of a division
    assert test.deals == 1
