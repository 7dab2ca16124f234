from dataclasses import replace

import numpy as np
import pytest

from kille_env import make_batch
from kille_env.registry import spec
from kille_training.arena import play
from kille_training.arena.play import PlayerCache, play_unit
from kille_training.arena.work import Block, Entrant, WorkUnit

ENTRANTS = (
    Entrant(0, "rule", "rule_of_thumb"),
    Entrant(1, "chance", "uniform"),
    Entrant(2, "chance too", "uniform"),
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


def test_random_numbers_belong_to_the_deal_and_the_seat_whoever_sits_there():
    mine = results(unit(blocks=[Block(0, (0, 1, 2), 0, 50)]))[0].earned
    theirs = results(unit(blocks=[Block(7, (0, 2, 1), 0, 50)]))[0].earned
    assert (mine == theirs).all() and mine.any()


def test_the_seed_decides():
    assert (results(unit(seed=5))[0].earned == results(unit(seed=5))[0].earned).all()
    assert (results(unit(seed=5))[0].earned != results(unit(seed=6))[0].earned).any()


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
def test_an_entrant_that_fails_is_named_with_the_reason_and_the_table(do, words):
    entrants = (*ENTRANTS[:2], Entrant(2, "bad", "broken"))
    blocks = [Block(0, (0, 1, 1), 0, 5), Block(4, (0, 1, 2), 7, 5)]
    cache = PlayerCache({"broken": Broken(do)})
    outcome = play_unit(replace(unit(blocks=blocks), entrants=entrants), cache)
    assert outcome.results == ()
    failure = outcome.failure
    assert (failure.entrant, failure.lineup) == (2, 4)
    assert words in failure.reason
    assert 7 <= failure.deal < 12
