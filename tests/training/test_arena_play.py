from dataclasses import replace

import numpy as np
import pytest

from kille_agents import load_policy
from kille_env import make_batch
from kille_env.registry import spec
from kille_training.arena import play
from kille_env.core.keys import chances, deal_seeds, derive
from kille_training.arena.play import PlayerCache, play_unit
from kille_training.arena.work import Entrant, Block, WorkUnit
from kille_training.evaluation.duplicate import payoff

ENTRANTS = (
    Entrant(0, "rule", "rule_of_thumb"),
    Entrant(1, "luck", "uniform"),
    Entrant(2, "also luck", "uniform"),
)


def unit(game="byteskille", seats=3, blocks=None, seed=5, orders=1, episode="deal", **rules):
    rules = spec(game).resolve(rules, episode=episode).as_dict()
    blocks = blocks or (Block(0, tuple([0, 1, 2, 1, 1][:seats]), 0, 40),)
    return WorkUnit(game, seats, rules, seed, orders, tuple(blocks), ENTRANTS)


def results(given):
    outcome = play_unit(given, PlayerCache())
    assert outcome.failure is None
    return outcome.results


@pytest.mark.parametrize("game", ["byteskille", "kungsholmskille", "krypkille", "knack"])
@pytest.mark.parametrize("seats", [2, 3])
def test_what_comes_of_a_stint_does_not_depend_on_the_rest(game, seats):
    first, second = Block(0, (0, 1, 2)[:seats], 0, 30), Block(1, (2, 1, 1)[:seats], 10, 20)
    both = results(unit(game, seats, [first, second]))
    turned = results(unit(game, seats, [second, first]))
    parts = [
        results(unit(game, seats, [replace(first, first_deal=begin, deals=15)]))[0].earned
        for begin in (0, 15)
    ]
    assert (both[0].earned == np.concatenate(parts)).all()
    assert (both[0].earned == turned[1].earned).all()
    assert (both[1].earned == turned[0].earned).all()
    assert both[0].earned.any()


def test_a_deal_has_the_same_cards_in_all_lineups_and_seatings(monkeypatch):
    seen = []

    def spy(*args, **options):
        batch = make_batch(*args, **options)
        seen.append(batch)
        return batch

    monkeypatch.setattr(play, "make_batch", spy)
    blocks = [Block(0, (0, 1, 2), 4, 6), Block(1, (2, 2, 1), 7, 3)]
    results(unit("kungsholmskille", blocks=blocks))
    (batch,) = seen
    decks, dealers = batch.tables["deck"][:, :15].reshape(9, 3, 15), batch.tables["dealer"]
    assert (decks == decks[:, :1]).all()
    assert (dealers.reshape(9, 3) == dealers.reshape(9, 3)[:, :1]).all()
    assert (decks[3:6] == decks[6:]).all()  # deals 7 to 9 of both
    assert len({tuple(deck) for deck in decks[:6, 0]}) == 6


def test_two_players_who_draw_lots_draw_their_own():
    mine = results(unit(blocks=[Block(0, (0, 1, 2), 0, 200)]))[0].earned
    theirs = results(unit(blocks=[Block(0, (0, 2, 1), 0, 200)]))[0].earned
    assert (mine != theirs).any()


def test_the_seed_decides():
    assert (results(unit(seed=5))[0].earned == results(unit(seed=5))[0].earned).all()
    assert (results(unit(seed=5))[0].earned != results(unit(seed=6))[0].earned).any()


def test_it_agrees_with_what_evaluating_measures():
    rules = spec("byteskille").resolve(episode="deal")
    block = Block(0, (0, 1, 1), 0, 6000)
    (result,) = results(unit(blocks=[block]))
    mine = np.take_along_axis(result.earned, np.argsort(result.seatings)[None], 2)[:, :, 0]
    row = payoff(
        load_policy("rule_of_thumb", "byteskille", 3, rules),
        load_policy("uniform", "byteskille", 3, rules),
        "byteskille", 3, rules, deals=6000, seed=8,
    )  # fmt: skip
    error = mine.mean(axis=1).std() / 6000**0.5
    half = (row.estimate.high - row.estimate.low) / 2
    assert abs(mine.mean() - row.estimate.mean) < 4 * error + 2 * half
    assert mine.mean() > 0.1


def test_matches_are_played_to_their_end():
    (result,) = results(unit(episode="match", blocks=[Block(0, (0, 1, 2), 0, 20)]))
    assert np.abs(result.earned.sum(axis=2)).max() < 1e-6
    assert result.earned.max() > 1.0


@pytest.mark.parametrize("orders", [2, "all"])
def test_several_orders_make_more_seatings(orders):
    (result,) = results(unit(orders=orders))
    assert result.earned.shape == (40, 6, 3)


class Broken:
    name = "broken"

    def __init__(self, do):
        self.do, self.times = do, 0

    def probabilities(self, observation, mask):
        self.times += 1
        if self.times < 2:
            return mask / mask.sum(axis=1, keepdims=True)
        return self.do(mask)


def crash(mask):
    raise RuntimeError("out of ideas")


def leave(mask):
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (crash, "RuntimeError: out of ideas"),
        (leave, "SystemExit: 3"),
        (lambda mask: np.full(mask.shape, np.nan), "no probability"),
        (lambda mask: (1 - mask) / (1 - mask).sum(axis=1, keepdims=True), "illegal action"),
        (lambda mask: mask.astype(float), "a sum other than 1"),
        (lambda mask: mask[:, :2] / 2, "shape"),
        (lambda mask: None, "Error"),
    ],
)
def test_who_fails_is_named_with_the_reason_and_the_table(monkeypatch, do, words):
    real = play.load_policy

    def load(player, *args, **options):
        return Broken(do) if player == "broken" else real(player, *args, **options)

    monkeypatch.setattr(play, "load_policy", load)
    entrants = (*ENTRANTS[:2], Entrant(2, "bad", "broken"))
    blocks = [Block(0, (0, 1, 1), 0, 5), Block(4, (0, 1, 2), 7, 5)]
    outcome = play_unit(replace(unit(blocks=blocks), entrants=entrants), PlayerCache())
    assert outcome.results == ()
    failure = outcome.failure
    assert (failure.entrant, failure.lineup) == (2, 4)
    assert words in failure.reason
    assert 7 <= failure.deal < 12


def test_keys_of_streams_differ():
    seeds = deal_seeds(3, 4, np.arange(100_000))
    assert len(np.unique(seeds)) == 100_000
    assert (deal_seeds(3, 4, np.arange(10)) == seeds[:10]).all()
    assert not np.isin(deal_seeds(3, 5, np.arange(1000)), seeds).any()
    drawn = chances(derive(seeds, 1))
    assert drawn.min() >= 0.0 and drawn.max() < 1.0
    assert abs(drawn.mean() - 0.5) < 0.005
    assert abs(np.corrcoef(drawn, chances(derive(seeds, 2)))[0, 1]) < 0.02
