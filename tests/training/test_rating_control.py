"""Controls have the mean 0, so scores keep theirs; and they take luck away."""

import numpy as np
import pytest

from kille_agents.greedy import Greedy
from kille_agents.rules_of_thumb.byteskille import (
    DEALT,
    TAKEN,
    ByteskilleRuleOfThumb,
    threshold_array,
)
from kille_env.cards.pack import KILLE_CODES
from kille_env.errors import KilleError
from kille_env.policy import UniformPolicy
from kille_env.registry import make_batch, spec
from kille_training.evaluation.duplicate import Player, play_out
from kille_training.evaluation.luck import DEALT as AT_THE_DEAL
from kille_training.evaluation.luck import DRAWN, play_watched
from kille_training.solving.byteskille.deals import build_deal, build_stage
from kille_training.solving.byteskille.policies import strategies_of
from kille_training.solving.trees.values import expected_values
from kille_training.statistics import control
from kille_training.statistics.observations import Observations

SEATS = 3
RULES = spec("byteskille").resolve({"episode": "deal", "fraga": "off"})


@pytest.fixture(scope="module")
def deal():
    return build_deal(SEATS, RULES)


@pytest.fixture(scope="module")
def players():
    bolder = threshold_array(DEALT, TAKEN)
    bolder[bolder > 0] -= 2
    return (
        ByteskilleRuleOfThumb(SEATS, RULES),
        ByteskilleRuleOfThumb(SEATS, RULES, bolder),
        UniformPolicy(),
    )


def play(players, lineup, deals, rules=RULES):
    """Plays deals in all rotations; earned [D, P] by place, types dealt [D, P] by position."""
    rng = np.random.default_rng(0)
    batch = make_batch("byteskille", SEATS * deals, SEATS, rules=rules, seed=0, restart=False)
    batch.reset(seed=np.repeat(np.arange(deals), SEATS))
    turn = np.tile(np.arange(SEATS), deals)[:, None]
    order = (batch.tables["dealer"].astype(int)[:, None] + 1 + np.arange(SEATS)) % SEATS
    types = np.take_along_axis(batch.tables["dealt"][:, :SEATS] >> 1, order, axis=1)
    seating = np.empty(order.shape, dtype=np.int64)
    np.put_along_axis(seating, order, np.asarray(lineup)[(np.arange(SEATS) - turn) % SEATS], 1)
    asked = [Player(player, "sampled", rng) for player in players]
    by_seat = play_out(batch, asked, seating)
    by_place = np.take_along_axis(by_seat, order, axis=1)
    by_place = np.take_along_axis(by_place, (np.arange(SEATS) + turn) % SEATS, axis=1)
    return by_place.reshape(deals, SEATS, SEATS).mean(axis=1), types[::SEATS]


def test_what_positions_earn_adds_up_over_the_deals(deal, players):
    seated = (players[0], players[2], players[1])
    values = control.dealt_values(seated, deal)
    assert values.chance.sum() == pytest.approx(1)
    assert values.values.sum(axis=1) == pytest.approx(np.zeros(len(values.values)))
    strategy = strategies_of(seated, deal)[0]
    assert values.mean == pytest.approx(expected_values(deal.stages[0].tree, strategy))
    luck = values.luck(values.types)
    assert values.chance @ luck == pytest.approx(np.zeros(SEATS), abs=1e-12), "no bias at all"


def test_what_positions_earn_with_their_cards_is_what_is_played(deal, players):
    values = control.dealt_values(players, deal)
    rng = np.random.default_rng(3)
    for row in rng.choice(len(values.types), size=6, p=values.chance):
        codes = [KILLE_CODES[kind] for kind in values.types[row]]
        batch = make_batch("byteskille", 4000, SEATS, rules=RULES, seed=1, restart=False)
        batch.reset(deck=codes, dealer=SEATS - 1)
        asked = [Player(player, "sampled", rng) for player in players]
        earned = play_out(batch, asked, np.tile(np.arange(SEATS), (4000, 1)))
        error = earned.std(axis=0) / np.sqrt(4000)
        off = np.abs(earned.mean(axis=0) - values.values[row])
        assert (off <= 4.5 * error + 1e-9).all(), codes


def test_exact_scores_are_the_mean_of_play_and_the_control_takes_luck_away(deal, players):
    lineup = (0, 1, 1)
    (exact,) = control.exact_scores(np.array([lineup]), players, deal)
    assert exact.sum() == pytest.approx(0)
    earned, types = play(players, lineup, 6000)
    luck = control.dealt_luck(lineup, players, deal, types)
    assert luck.shape == earned.shape
    for scores in (earned, earned - luck):
        error = scores.std(axis=0) / np.sqrt(len(scores))
        assert (np.abs(scores.mean(axis=0) - exact) <= 4 * error).all()
    assert (earned - luck)[:, 0].var() < 0.6 * earned[:, 0].var()
    twice = control.exact_scores(np.array([lineup, (1, 0, 0), (1, 1, 1)]), players, deal)
    assert twice[0] == pytest.approx(exact)
    assert twice[2] == pytest.approx(np.zeros(SEATS)), "nobody is better than himself"


def test_a_stand_in_leaves_no_bias(deal, players):
    """The control of other players than those who play has the mean 0 over all deals."""
    lineup = (0, 2, 1)
    kinds = control.dealt_values(players, deal)
    stand_in = control.dealt_luck(lineup, (players[1], players[0], players[1]), deal, kinds.types)
    assert kinds.chance @ stand_in == pytest.approx(np.zeros(SEATS), abs=1e-12)
    assert stand_in.std() > 0.01


def test_a_deal_with_a_question_is_worth_what_its_later_hands_are(players):
    rules = spec("byteskille").resolve({"episode": "deal", "max_redeals": 1})
    deal = build_deal(SEATS, rules)
    assert len(deal.stages) == 2
    asks = (ByteskilleRuleOfThumb(SEATS, rules), UniformPolicy(), Greedy(UniformPolicy()))
    scores = control.exact_scores(np.array([(0, 1, 1)]), asks, deal)[0]
    earned, types = play(asks, (0, 1, 1), 4000, rules)
    luck = control.dealt_luck((0, 1, 1), asks, deal, types)
    error = (earned - luck).std(axis=0) / np.sqrt(4000)
    assert (np.abs((earned - luck).mean(axis=0) - scores) <= 4 * error).all()
    assert (earned - luck)[:, 0].var() < earned[:, 0].var()


def test_hands_that_are_thrown_in_have_no_luck():
    rules = spec("byteskille").resolve({"episode": "deal", "preset": "wikipedia"})
    rules = spec("byteskille").resolve({**rules.as_dict(), "two_player": "wiki", "fraga": "off"})
    stage = build_stage(2, rules)
    values = control.dealt_values(UniformPolicy(), stage)
    assert stage.thrown_in > 0
    assert values.chance.sum() == pytest.approx(1)
    assert values.luck(np.array([[20, 3]])).tolist() == [[0, 0]]
    assert values.luck(np.array([[2, 3]]))[0, 0] < 0


def test_a_part_of_the_pack_is_refused(deal):
    codes = [code for code in KILLE_CODES[:8] for _ in range(2)]
    with pytest.raises(KilleError, match="controls need a stage of the whole pack"):
        control.dealt_values(UniformPolicy(), build_stage(3, RULES, cards=codes))


def test_regression_uses_no_weight_at_the_deals_that_it_was_found_at():
    rng = np.random.default_rng(0)
    luck = rng.normal(size=(400, 5))
    scores = luck @ np.array([1.0, -1.0, 0.5, 0, 0]) + rng.normal(0, 0.5, 400) + 0.2
    found = control.without_luck(scores, luck, folds=4)
    assert (scores - found).var() < 0.3 * scores.var()
    changed = scores.copy()
    changed[::4] += 100.0 * luck[::4, 0]  # another first fold leaves its own control as it is
    again = control.without_luck(changed, luck, folds=4)
    assert again[::4] == pytest.approx(found[::4])
    assert not np.allclose(again[1::4], found[1::4])
    assert not control.without_luck(scores[:8], luck[:8]).any(), "too few deals to find weights"


def test_regression_leaves_no_bias():
    """Over many small tournaments, with scores in which luck counts more for the better player."""
    rng = np.random.default_rng(1)
    off = []
    for _ in range(600):
        luck = rng.exponential(size=(60, 3)) - 1
        scores = luck @ np.array([1.0, 0.5, 0.0]) * (1 + 0.5 * luck[:, 0]) + rng.normal(size=60)
        truth = 0.5  # of luck squared, times a half
        off.append((scores - control.without_luck(scores, luck, folds=5)).mean() - truth)
    assert abs(np.mean(off)) <= 4 * np.std(off) / np.sqrt(600)
    assert np.std(off) < 0.5


def test_a_control_of_observations_is_one_for_each_lineup_and_place():
    rng = np.random.default_rng(0)
    luck = rng.normal(size=(400, 2, 1))
    sign = np.repeat([1.0, -1.0], 200)[:, None]
    scores = sign * luck[:, :, 0] + rng.normal(0, 0.1, (400, 2))
    told = Observations(
        np.tile(np.array([[0, 1]], dtype=np.int32), (400, 1)),
        np.tile(np.arange(200), 2),
        np.repeat([0, 1], 200).astype(np.int32),
        scores,
        scores,
        np.full((400, 2, 2), 0.5, dtype=np.float32),
    )
    found = control.luck_control(told, luck)
    left = control.controlled(told, found)
    assert left.scores.var() < 0.02
    assert (left.earned == told.earned).all()
    with pytest.raises(KilleError, match=r"got an array of shape \(400, 3\)"):
        control.controlled(told, np.zeros((400, 3)))


@pytest.mark.parametrize(
    ("game", "episode"),
    [
        ("byteskille", "deal"),
        ("byteskille", "match"),
        ("femkortskille", "deal"),
        ("knack", "deal"),
        ("krypkille", "deal"),
        ("kungsholmskille", "deal"),
    ],
)
def test_luck_has_the_mean_zero_in_every_game(game, episode):
    rules = spec(game).resolve({"episode": episode})
    tables, seats = 3000, 3
    batch = make_batch(game, tables, seats, rules=rules, seed=5, restart=False)
    batch.reset(deal=False)
    rng = np.random.default_rng(0)
    players = [Player(UniformPolicy(), "sampled", rng), Player(UniformPolicy(), "argmax", rng)]
    seating = np.tile([0, 0, 1], (tables, 1))
    watched = play_watched(batch, players, seating)
    assert batch.over.all()
    if spec(game).zero_sum:
        assert watched.earned.sum(axis=1) == pytest.approx(np.zeros(tables), abs=1e-6)
    luck = watched.features()
    spread = luck.std(axis=0)
    with np.errstate(invalid="ignore"):
        score = np.abs(luck.mean(axis=0)) / (spread / np.sqrt(tables))
    assert np.nanmax(score) < 4.6  # of several hundred
    assert (luck.mean(axis=0)[spread == 0] == 0).all()
    assert (watched.cards[:, :, AT_THE_DEAL] != 0).any(axis=2).all(), "everybody was dealt cards"
    assert watched.cards[:, :, DRAWN].any() == (game != "knack")
    assert watched.cards.sum(axis=3) == pytest.approx(np.zeros((tables, seats, 2)), abs=1e-9)
    assert watched.lots[:, :2].any()
    assert not watched.lots[:, 2].any(), "argmax leaves nothing to lots"


def test_luck_is_counted_by_hand():
    """Two seats, a deal of one card each: what came less its share of what could come."""
    rules = spec("byteskille").resolve({"episode": "deal", "fraga": "off"})
    batch = make_batch("byteskille", 1, 2, rules=rules, seed=0, restart=False)
    batch.reset(deck=["L9", "L9"], dealer=1, deal=False)
    rng = np.random.default_rng(0)
    stands = Player(ByteskilleRuleOfThumb(2, rules, np.zeros((2, 21, 20))), "argmax", rng)
    watched = play_watched(batch, [stands], np.zeros((1, 2), dtype=np.int64))
    lilja = KILLE_CODES.index("L9")
    assert watched.cards[0, 0, 0, lilja] == pytest.approx(1 - 2 / 42)
    assert watched.cards[0, 1, 0, lilja] == pytest.approx(1 - 1 / 41)
    assert watched.cards[0, 1, 0, 0] == pytest.approx(-2 / 41)
    assert not watched.cards[:, :, 1].any()


def test_luck_is_counted_from_the_first_card_on():
    batch = make_batch("byteskille", 1, 2, rules=RULES, seed=0, restart=False)
    batch.reset()
    with pytest.raises(KilleError, match="reset the batch with deal=False"):
        play_watched(batch, [], np.zeros((1, 2), dtype=np.int64))
