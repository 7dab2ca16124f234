"""The same players in the same seats of the same deals earn the same units, to the bit."""

import numpy as np
import pytest

import kille_training as kt
from kille_agents.catalog import load_policy
from kille_env.core.keys import deal_seeds
from kille_env.play.seating import SeatedPolicies, play_out
from kille_env.records import Recorder
from kille_env.registry import make_batch, spec
from kille_training.arena.play import rotations
from kille_training.arena.store import Store
from kille_training.evaluation.duplicate import estimates, payoff
from kille_training.labels import most_apart

DEALS, SEED = 12, 3
GAMES = [("byteskille", 3), ("kungsholmskille", 2), ("knack", 3)]


def names(game):
    return [f"{game}/tipsy", "uniform"]  # both draw their actions


@pytest.mark.parametrize(("game", "seats"), GAMES)
def test_tournaments_comparisons_evaluations_records_and_tables(monkeypatch, game, seats):
    one, other = names(game)
    keep, results = Store.keep, []

    def noted(store, shard, lineups, earned):
        results.append((lineups.members, earned))
        keep(store, shard, lineups, earned)

    monkeypatch.setattr(Store, "keep", noted)
    found = kt.play_tournament(
        [one, other], game, num_players=seats, deals=DEALS, seed=SEED,
        format="gauntlet", fill="copies", hero=one,
    )  # fmt: skip
    ((members, kept),) = results  # [D, P] entrants, and what each seat earned, [D, P, P]
    members = np.array(found.names)[members]
    assert kept.any()

    rules = spec(game).resolve({}, episode="deal")
    players = [load_policy(name, game, seats, rules) for name in (one, other)]
    seeds = deal_seeds(SEED, seats, np.arange(DEALS))
    for turn, places in enumerate(rotations(seats)):
        batch = make_batch(game, DEALS, seats, rules=rules, seed=0, restart=False)
        batch.reset(seed=seeds)
        seated = (members[:, places] == other).astype(int)
        earned = play_out(SeatedPolicies(batch, players, seated))
        assert earned.tobytes() == np.ascontiguousarray(kept[:, turn]).tobytes()

    compared = kt.compare(one, other, game, seats, seed=SEED, most=DEALS, by=1e-6)
    assert compared.mean == pytest.approx(
        next(row.mean for row in found.ranked if row.name == one), abs=1e-12
    )

    if spec(game).zero_sum:  # elsewhere an evaluation subtracts what the other player earns
        evaluated = kt.evaluate(
            one, game, seats, baselines=other, deals=DEALS, seed=SEED, play="sampled", exact=False
        )
        assert evaluated.rows[0].estimate.mean == pytest.approx(compared.mean, abs=1e-8)


@pytest.mark.parametrize(("game", "seats"), GAMES)
def test_evaluations_earn_what_records_say(game, seats):
    one, other = names(game)
    rules = spec(game).resolve({}, episode="deal")
    players = [load_policy(name, game, seats, rules) for name in (one, other)]
    scores = np.zeros((DEALS, seats))
    for seat in range(seats):
        batch = make_batch(game, DEALS, seats, rules=rules, seed=0, restart=False)
        recorder = Recorder(batch)
        recorder.reset(seed=deal_seeds(SEED, seats, np.arange(DEALS)))
        seating = (np.arange(seats) != seat).astype(int)
        earned = play_out(SeatedPolicies(batch, players, seating, step=recorder.step))
        returns = [recorder.record(table)["returns"] for table in range(DEALS)]
        assert np.array(returns, dtype=float).round(9).tobytes() == earned.tobytes()
        scores[:, seat] = earned[:, seat]
    row = payoff(players[0], players[1], seats, rules, deals=DEALS, seed=SEED)
    assert (
        row.estimate
        == estimates(scores.mean(axis=1).round(9)[:, None], most_apart(rules, seats))[0]
    )
