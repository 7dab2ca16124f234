"""What comes of a shard depends on nothing but the shard, the table, the seed and the players."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from kille_agents.catalog import load_policy
from kille_env import make_batch
from kille_env.registry import Table
from kille_training.arena import play as arena_play
from kille_training.arena.entrants import Entrant
from kille_training.arena.play import Play, Shard, cut, play_shard
from kille_training.arena.schedule import Schedule
from kille_training.pool.jobs import Failed, Here

NAMES = ("rule_of_thumb", "uniform", "uniform")
KEYS = {n: Entrant(n, name, "").key for n, name in enumerate(("rule", "chance", "chance too"))}


def draw(*rows, entrants=(0, 1, 2)):
    """A schedule of these rows."""
    return Schedule(entrants, np.array(rows))


def play(shard, game="byteskille", seed=5, keys=KEYS, **rules):
    seats = shard.schedule.seats
    table = Table.of(game, seats, rules)
    players = {n: load_policy(name, game, seats, table.rules) for n, name in enumerate(NAMES)}
    lineups = shard.lineups(seed, keys)
    report = lambda *_: nullcontext()  # noqa: E731
    return lineups.members, play_shard(lineups, table, seed, players, report, 60.0)


def one(seats=3, first=0, deals=40):
    return Shard(0, draw(tuple(range(seats))), first, deals)


@pytest.mark.parametrize("game", ["byteskille", "kungsholmskille", "krypkille", "knack"])
@pytest.mark.parametrize("seats", [2, 3])
def test_what_comes_of_a_shard_does_not_depend_on_how_it_is_cut(game, seats):
    whole = Shard(0, draw((0, 1, 2)[:seats], (2, 1, 0)[:seats]), 3, 30)
    members, earned = play(whole, game)
    cuts = list(cut(whole, 20 * seats))
    assert [(each.first_deal, each.deals) for each in cuts] == [(3, 7), (10, 10), (20, 10), (30, 3)]
    for number, what in enumerate((members, earned)):
        parts = [play(each, game)[number] for each in cuts]
        assert np.concatenate(parts).tobytes() == what.tobytes()
    assert earned.any() and members.shape == (30 * 2, seats)


def test_a_deal_has_the_same_cards_in_all_lineups_and_rotations(monkeypatch):
    seen = []

    def spy(*args, **options):
        seen.append(make_batch(*args, **options))
        return seen[-1]

    monkeypatch.setattr(arena_play, "make_batch", spy)
    play(Shard(0, draw((0, 1, 2), (0, 2, 1)), 4, 6), "kungsholmskille")
    (batch,) = seen
    decks, dealers = batch.tables["deck"][:, :15].reshape(6, 6, 15), batch.tables["dealer"]
    assert (decks == decks[:, :1]).all() and len({tuple(deck) for deck in decks[:, 0]}) == 6
    assert (dealers.reshape(6, 6) == dealers.reshape(6, 6)[:, :1]).all()


def test_a_lineup_that_is_left_out_changes_no_other():
    whole = Shard(0, draw((0, 1), (1, 2), (2, 0)), 3, 20)
    members, earned = play(whole)
    there = ~(members == 2).any(axis=1)
    assert there.sum() == 20  # of three rows one, at every deal
    for without, played in [((2,), there), ((0, 1), np.zeros_like(there))]:
        found, units = play(replace(whole, without=without))
        assert (found == members[played]).all() and (units == earned[played]).all()


def test_random_numbers_belong_to_the_deal_and_the_seat_whoever_sits_there():
    """Two of the three play alike: whichever of them sits there earns the same."""
    members, earned = play(one(deals=50))
    others, same = play(one(deals=50), keys={0: KEYS[0], 1: KEYS[2], 2: KEYS[1]})
    assert (members != others).any()
    assert (earned == same).all() and earned.any()


def test_the_seed_decides():
    assert (play(one())[1] == play(one())[1]).all()
    assert (play(one())[1] != play(one(), seed=6)[1]).any()


def test_matches_are_played_to_their_end():
    _, earned = play(one(deals=20), episode="match")
    assert np.abs(earned.sum(axis=2)).max() < 1e-6
    assert earned.max() > 1.0


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
        (lambda mask: None, "Error"),
    ],
)
def test_an_entrant_that_fails_is_named_with_the_reason(do, words):
    entrants = [Entrant(0, "rule", NAMES[0]), Entrant(1, "bad", "a Python object")]
    job = Play(
        Table.of("byteskille", 2), 5, entrants, {"bad": Broken(do)},
        seconds=1.0, transfer=False, trust=False,
    )  # fmt: skip
    shard = Shard(0, draw((0, 1), entrants=(0, 1)), 0, 20)
    with Here() as pool:
        ((_, result),) = pool.run(job, [shard])
    assert isinstance(result, Failed) and result.whose == 1
    assert words in result.reason
