"""What lineups earn exactly is the mean of what they earn when they play."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from kille_agents.catalog import load_policy
from kille_agents.greedy import Greedy, in_play
from kille_agents.rules_of_thumb.byteskille import THRESHOLDS, ByteskilleRuleOfThumb
from kille_env.core.keys import deal_seeds
from kille_env.errors import ConfigError, KilleError
from kille_env.play.play import Players, play_out
from kille_env.play.policy import UniformPolicy
from kille_env.registry import make_batch, spec
from kille_training.arena.entrants import Entrant
from kille_training.arena.exact import exact_units, expected
from kille_training.arena.schedule import Pairing, draws
from kille_training.arena.settings import (
    MatchmakingSettings,
    TablesSettings,
    TournamentSettings,
)
from kille_training.evaluation.exact import exact_scores
from kille_training.statistics.intervals import differences, units
from kille_training.statistics.tally import Tally
from reference.trees import build_deal

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


# What a tournament is expected to find


NAMES = ("rule", "tipsy", "luck", "bold", "solved")


def field(**matchmaking):
    players = ["rule_of_thumb", "byteskille/tipsy", "uniform", "uniform", "byteskille/contrary"]
    plays = ["sampled", "sampled", "sampled", "greedy", "greedy"]
    entrants = [
        Entrant(number, *each)
        for number, each in enumerate(zip(NAMES, players, plays, strict=True))
    ]
    settings = TournamentSettings(
        table=TablesSettings("byteskille", (2, SEATS), {"fraga": "off"}),
        entrants={each.name: {"player": each.player, "play": each.play} for each in entrants},
        matchmaking=MatchmakingSettings(**matchmaking),
    )
    return entrants, settings


@pytest.fixture(scope="module")
def scores():
    """What each member of every table of three different players earns, by their numbers."""
    entrants, settings = field()
    rules = settings.table.resolve()
    players = [
        in_play(load_policy(each.player, "byteskille", SEATS, rules), each.play)
        for each in entrants
    ]
    tables = list(product(range(len(players)), repeat=SEATS))
    found = exact_scores(np.array(tables), players, build_deal(SEATS, rules))
    return dict(zip(tables, found, strict=True))


@pytest.mark.compiled
def test_expected_units_are_means_over_all_lineups_and_orders(scores):
    found = expected(*field(), SEATS)
    for one in range(5):
        mine = [scores[table][0] for table in permutations(range(5), 3) if table[0] == one]
        assert found.units[one] == pytest.approx(np.mean(mine), abs=2e-9)
        for other in set(range(5)) - {one}:
            both = [
                scores[table][0]
                for table in permutations(range(5), 3)
                if table[0] == one and other in table
            ]
            assert found.cells[one, other] == pytest.approx(np.mean(both), abs=2e-9)
    assert found.units.sum() == pytest.approx(0.0, abs=1e-8)
    assert found.units.max() > 0.1
    assert np.isnan(np.diag(found.cells)).all()
    assert found.differences[1, 3] == found.units[1] - found.units[3]
    assert (exact_units(*field(format="random", fill="copies"), SEATS) == found.units).all()


@pytest.mark.compiled
def test_expected_units_of_a_gauntlet_and_among_copies(scores):
    gauntlet = expected(*field(format="gauntlet", hero="luck"), SEATS)
    tables = [table for table in permutations(range(5), 3) if table[0] == 2]
    assert gauntlet.units[2] == pytest.approx(np.mean([scores[t][0] for t in tables]), abs=2e-9)
    rule = [scores[table][table.index(0)] for table in tables if 0 in table]
    assert gauntlet.units[0] == pytest.approx(np.mean(rule), abs=2e-9)
    copies = expected(*field(fill="copies"), SEATS)
    alone = [scores[0, other, other][0] for other in range(1, 5)]
    among = [scores[other, 0, 0][1:].mean() for other in range(1, 5)]
    assert copies.units[0] == pytest.approx(np.mean(alone + among), abs=2e-9)
    one_way = expected(*field(format="gauntlet", fill="copies", hero="rule"), SEATS)
    assert one_way.units[0] == pytest.approx(np.mean(alone), abs=2e-9)
    assert np.isnan(one_way.cells[1, 2]), "they do not meet"


@pytest.mark.compiled
@pytest.mark.parametrize(
    "pairing",
    [
        Pairing("round_robin"),
        Pairing("random", lineups=1),
        Pairing("gauntlet", hero=2),
        Pairing("round_robin", "copies"),
    ],
)
def test_lineups_are_drawn_so_that_means_over_deals_tend_to_what_is_expected(pairing, scores):
    deals, keys = 4_000, {number: 31 * number for number in range(5)}
    tally = Tally.empty(SEATS, 5)
    for draw in draws(pairing, [range(3), range(3, 5)], SEATS):
        found = draw.lineups(1, keys, 0, deals)
        deal, row = np.nonzero(found[..., 0] >= 0)
        played = found[deal, row]
        earned = np.array([scores[tuple(lineup)] for lineup in played.tolist()])
        tally.add_scores(played, deal, earned)
    hero = "" if pairing.hero is None else NAMES[pairing.hero]
    truth = expected(*field(format=pairing.format, fill=pairing.fill, hero=hero), SEATS)
    measured = units(tally)  # without an error where all deals brought the same
    assert (np.abs(measured.mean - truth.units) <= 5 * np.nan_to_num(measured.error) + 2e-9).all()
    apart = differences(tally)
    off = ~np.eye(5, dtype=bool)
    error = np.abs(apart.mean - truth.differences) - 5 * np.nan_to_num(apart.error)
    assert (error[off] <= 2e-9).all()


@pytest.mark.compiled
def test_those_who_are_out_do_not_count(scores):
    entrants, settings = field()
    entrants[4] = replace(entrants[4], out="it crashed")
    found = expected(entrants, settings, SEATS)
    mine = [scores[table][0] for table in permutations(range(4), 3) if table[0] == 1]
    assert found.units[1] == pytest.approx(np.mean(mine), abs=2e-9)
    assert np.isnan(found.units[4])


def test_where_nothing_is_exact_it_says_why():
    entrants, settings = field(format="swiss")
    with pytest.raises(ConfigError, match="depends on the results"):
        expected(entrants, settings, SEATS)
    with pytest.raises(ConfigError, match="5 seats has about"):
        expected(*field(), 5)
    many = [Entrant(number, str(number), "uniform") for number in range(30)]
    with pytest.raises(ConfigError, match="24,360 tables of 3 seats, more than 10,000"):
        expected(many, replace(settings, matchmaking=MatchmakingSettings()), SEATS)


def test_lineups_that_are_not_of_the_deal_are_refused() -> None:
    deal = build_deal(2, "wikipedia")
    for wrong in (np.array([[0, 1]]), np.array([[0, -1]]), np.zeros((1, 3), int), np.zeros((1, 2))):
        with pytest.raises(KilleError, match="lineups are"):
            exact_scores(wrong, [UniformPolicy()], deal)
