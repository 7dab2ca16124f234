from dataclasses import replace

import numpy as np
import pytest

from kille_env import make_batch
from kille_env.registry import spec
from kille_training.arena import play
from kille_training.arena.draws import Draw
from kille_training.arena.play import PlayerCache, play_unit
from kille_training.arena.work import Block, Entrant, Panel, WorkUnit

ENTRANTS = (
    Entrant(0, "rule", "rule_of_thumb"),
    Entrant(1, "chance", "uniform"),
    Entrant(2, "chance too", "uniform"),
)


def panel(number, *rows, groups=((0, 1, 2),)):
    """A panel of rows of slots; slots count through the groups."""
    return Panel(number, Draw(groups, np.array(rows), np.ones(len(rows))))


def unit(game="byteskille", seats=3, blocks=None, seed=5, episode="deal", **rules):
    rules = spec(game).resolve(rules, episode=episode).as_dict()
    blocks = blocks or [Block(panel(0, tuple(range(seats))), 0, 40)]
    return WorkUnit(game, seats, rules, seed, tuple(blocks), ENTRANTS)


def results(given):
    outcome = play_unit(given, PlayerCache())
    assert outcome.failure is None
    return outcome.results


@pytest.mark.parametrize("game", ["byteskille", "kungsholmskille", "krypkille", "knack"])
@pytest.mark.parametrize("seats", [2, 3])
def test_what_comes_of_a_block_does_not_depend_on_the_rest(game, seats):
    first = Block(panel(0, (0, 1, 2)[:seats], (2, 1, 0)[:seats]), 0, 30)
    second = Block(panel(1, (0, 1, 1)[:seats], groups=((2,), (0, 1))), 10, 20)
    both = results(unit(game, seats, [first, second]))
    turned = results(unit(game, seats, [second, first]))
    parts = [
        results(unit(game, seats, [replace(first, first_deal=begin, deals=15)]))[0]
        for begin in (0, 15)
    ]
    for what in ("members", "earned"):
        whole = getattr(both[0], what)
        assert (whole == np.concatenate([getattr(part, what) for part in parts])).all()
        assert (whole == getattr(turned[1], what)).all()
        assert (getattr(both[1], what) == getattr(turned[0], what)).all()
    assert both[0].earned.any() and both[0].members.shape == (30, 2, seats)


def test_a_deal_has_the_same_cards_in_all_lineups_and_rotations(monkeypatch):
    seen = []

    def spy(*args, **options):
        batch = make_batch(*args, **options)
        seen.append(batch)
        return batch

    monkeypatch.setattr(play, "make_batch", spy)
    blocks = [Block(panel(0, (0, 1, 2)), 4, 6), Block(panel(1, (0, 2, 1), (1, 1, 2)), 7, 3)]
    results(unit("kungsholmskille", blocks=blocks))
    (batch,) = seen
    decks, dealers = batch.tables["deck"][:, :15].reshape(12, 3, 15), batch.tables["dealer"]
    assert (decks == decks[:, :1]).all()
    assert (dealers.reshape(12, 3) == dealers.reshape(12, 3)[:, :1]).all()
    assert (decks[3:6] == decks[6::2]).all() and (decks[3:6] == decks[7::2]).all()
    assert len({tuple(deck) for deck in decks[:6, 0]}) == 6


def test_a_lineup_that_is_left_out_changes_no_other():
    rows = [(0, 1), (1, 2), (2, 0)]
    whole = Block(panel(0, *rows), 3, 20)
    (all_of_it,) = results(unit(seats=2, blocks=[whole]))
    met = (all_of_it.members[..., None] == np.array([0, 1])).any(axis=2).all(axis=2)
    assert met.sum() == 20  # of three rows one, at every deal
    for block, played in [
        (replace(whole, without=(2,)), met),
        (replace(whole, some=((2,),)), ~met),
        (replace(whole, some=((0,), (1, 2))), (all_of_it.members == 0).any(axis=2)),
        (replace(whole, without=(0, 1)), np.zeros((20, 3), dtype=bool)),
    ]:
        (found,) = results(unit(seats=2, blocks=[block]))
        assert ((found.members[..., 0] >= 0) == played).all()
        assert (found.members[~played] == -1).all() and not found.earned[~played].any()
        assert (found.members[played] == all_of_it.members[played]).all()
        assert (found.earned[played] == all_of_it.earned[played]).all()


@pytest.mark.parametrize(
    ("rows", "groups", "without", "possible"),
    [
        ([(0, 1, 2)], ((0, 1, 2),), (), True),
        ([(0, 1, 2)], ((0, 1, 2),), (1,), False),
        ([(0, 1, 1)], ((0, 1, 2),), (1,), True),
        ([(0, 1, 1)], ((0, 1, 2),), (1, 2), False),
        ([(0, 1, 2)], ((0,), (1, 2)), (0,), False),
        ([(0, 1, 1), (1, 2, 2)], ((0,), (1, 2)), (0,), True),
    ],
)
def test_a_block_is_played_if_those_that_are_left_fill_a_lineup(rows, groups, without, possible):
    block = Block(panel(0, *rows, groups=groups), 0, 20, without)
    assert block.can_play() == possible
    assert (block.members(1, {0: 5, 1: 6, 2: 7}) >= 0).any() == possible


def test_random_numbers_belong_to_the_deal_and_the_seat_whoever_sits_there():
    """Two of the three play alike: whichever of them sits there earns the same."""
    mine = results(unit(blocks=[Block(panel(0, (0, 1, 2)), 0, 50)]))[0]
    renamed = (*ENTRANTS[:1], Entrant(1, "chance too", "uniform"), Entrant(2, "chance", "uniform"))
    given = replace(unit(blocks=[Block(panel(7, (0, 1, 2)), 0, 50)]), entrants=renamed)
    theirs = results(given)[0]
    assert (mine.members != theirs.members).any()
    assert (mine.earned == theirs.earned).all() and mine.earned.any()


def test_the_seed_decides():
    assert (results(unit(seed=5))[0].earned == results(unit(seed=5))[0].earned).all()
    assert (results(unit(seed=5))[0].earned != results(unit(seed=6))[0].earned).any()


def test_matches_are_played_to_their_end():
    (result,) = results(unit(episode="match", blocks=[Block(panel(0, (0, 1, 2)), 0, 20)]))
    assert np.abs(result.earned.sum(axis=3)).max() < 1e-6
    assert result.earned.max() > 1.0


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


def scribble(mask):
    mask += 1
    return mask / mask.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (crash, "RuntimeError: out of ideas"),
        (scribble, "an illegal action"),
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
    groups = ((0,), (1,), (2,))
    blocks = [
        Block(panel(0, (0, 1, 1), groups=groups), 0, 5),
        Block(panel(4, (0, 1, 2), groups=groups), 7, 5),
    ]
    cache = PlayerCache({"broken": Broken(do)})
    outcome = play_unit(replace(unit(blocks=blocks), entrants=entrants), cache)
    assert outcome.results == ()
    failure = outcome.failure
    assert (failure.entrant, failure.panel) == (2, 4)
    assert words in failure.reason
    assert 7 <= failure.deal < 12
