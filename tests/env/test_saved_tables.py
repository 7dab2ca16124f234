"""Saved tables that somebody has changed, with the right checksum: refused, or played on safely."""

import json
import zlib

import numpy as np
import pytest

import kille_env
from kille_env.core.saving import field_bounds
from kille_env.errors import KilleError
from kille_env.play.policy import sample_actions

STEPS = 40


def _signed(saved: bytes, body: bytes) -> bytes:
    """The bytes of a save with other tables, and the checksum of these."""
    head = json.loads(saved.partition(b"\n")[0])
    return json.dumps({**head, "crc32": zlib.crc32(body)}).encode() + b"\n" + body


def _changed(batch, **fields):
    """A save of the batch's tables with other values in some fields of the first."""
    tables = batch.tables.copy()
    for name, value in fields.items():
        tables[name][0] = value
    return _signed(batch.save(), tables.tobytes())


def _played(game, rng, restart=True, steps=None):
    """Two tables after a random number of random steps."""
    spec = kille_env.spec(game)
    rules = spec.resolve(spec.presets[int(rng.integers(len(spec.presets)))])
    players = int(rng.integers(spec.min_players, min(spec.most_players(rules), 5) + 1))
    seed = int(rng.integers(2**32))
    batch = kille_env.make_batch(game, 2, players, rules=rules, seed=seed, restart=restart)
    batch.reset(deal=bool(rng.integers(4)))
    while batch.at_chance.any() and rng.integers(2):
        batch.deal()
    for _ in range(int(rng.integers(30)) if steps is None else steps):
        if batch.at_chance.any():
            break
        batch.step(sample_actions(np.maximum(batch.mask, batch.over[:, None]), rng))
    return batch


def _play_on(batch, rng):
    """Looks at tables and plays them on, by steps, deals and determinizations."""
    for _ in range(STEPS):
        for seat in range(batch.num_players):
            for look in (batch.observe, batch.information_state, batch.full_state):
                look(seat)
        other = batch.clone()
        other.resample(int(rng.integers(batch.num_players)), rng.integers(2**32, size=2))
        if batch.at_chance.any():
            batch.deal()
        else:
            batch.step(sample_actions(np.maximum(batch.mask, batch.seat[:, None] < 0), rng))


@pytest.mark.parametrize("how", ["bytes", "fields"])
def test_changed_tables_are_refused_whole_or_played_on(game, how, scale):
    rng = np.random.default_rng(len(game))
    refused = 0
    for _ in range(number := scale(150, 20)):
        batch = _played(game, rng)
        before = batch.save()
        tables = batch.tables.copy()
        if how == "bytes":
            body = tables.view(np.uint8).reshape(-1)
            body[rng.integers(len(body), size=int(rng.integers(1, 4)))] = rng.integers(256)
        else:  # within the bounds, which is harder to tell
            bounds = field_bounds(batch.spec, batch.num_players)
            name = sorted(bounds)[int(rng.integers(len(bounds)))]
            value = tables[name][0:1].reshape(-1)
            low, high = bounds[name]
            other = rng.integers(int(low), int(min(high, 2.0**62)), endpoint=True)
            value[int(rng.integers(value.size))] = other
            tables[name][0:1] = value.reshape(tables[name][0:1].shape)
        try:
            batch.restore(_signed(before, tables.tobytes()))
        except KilleError:
            refused += 1
            assert batch.save() == before
            continue
        _play_on(batch, rng)
    assert 0 < refused < number


def test_played_tables_are_restored_wherever_they_stand(game, scale):
    rng = np.random.default_rng(3)
    for number in range(scale(100, 10)):
        batch = _played(game, rng, restart=bool(number % 2))
        before = batch.save()
        batch.restore(before)
        assert batch.save() == before


IMPOSSIBLE = {
    "drawn": ({"drawn": 127}, "table 0 has 'drawn' beyond 0 to"),
    "phase": ({"phase": 100}, "'phase' beyond"),
    "seat": ({"seat": 19}, "'seat' beyond"),
    "nobody_to_act": ({"seat": -1}, "a seat to act where nobody is, or none"),
    "num_players": ({"num_players": 1}, "other seats than the batch"),
    "deck": ({"deck": 0}, "a pack that does not hold every card once"),
    "deals": ({"deals": 0}, "a hand that was not dealt"),
    "reward": ({"reward": np.nan}, "'reward' beyond"),
    "hand": ({"hand": 0}, "a hand that cannot have come about by the rules"),
}


@pytest.mark.parametrize("field", IMPOSSIBLE)
def test_impossible_tables_are_refused_in_words(game, field):
    changes, words = IMPOSSIBLE[field]
    batch = kille_env.make_batch(game, 2, 2, seed=5)
    batch.reset()
    before = batch.save()
    with pytest.raises(KilleError, match=f"the saved tables cannot be used: .*{words}"):
        batch.restore(_changed(batch, **changes))
    assert batch.save() == before


STUCK = {
    "byteskille": {"in_pot": 1, "new_pot": 0},
    "krypkille": {"scores": 10**6},
    "kungsholmskille": {"next_dealer": -1},
    "femkortskille": {"next_dealer": -1},
    "knack": {"num_sizes": 16, "bet_sizes": np.arange(1, 17) * 3, "bet_counts": 1},
}


def test_a_match_that_cannot_go_on_is_refused(game):
    batch = kille_env.make_batch(game, 1, 3, seed=5)
    batch.reset(deal=False)
    with pytest.raises(KilleError, match="table 0 has a match that cannot go on"):
        batch.restore(_changed(batch, **STUCK[game]))


@pytest.mark.parametrize(
    ("name", "field"),
    [
        *(("krypkille", field) for field in ("hand", "dealt", "drawn_cards", "discarded")),
        ("kungsholmskille", "hand"),
        ("femkortskille", "hand"),
        ("knack", "turn_up"),
    ],
)
def test_what_lies_between_two_hands_can_be_observed(name, field):
    """A hand has as many places as cards, and trumps are of the card turned up."""
    batch = kille_env.make_batch(name, 1, 3, seed=5)
    batch.reset(deal=False)
    with pytest.raises(KilleError, match="table 0 has a match that cannot go on"):
        batch.restore(_changed(batch, **{field: 11 if field == "turn_up" else 2**42 - 1}))


def test_a_game_that_says_no_bounds_cannot_restore(monkeypatch):
    batch = kille_env.make_batch("femkortskille", 1, seed=5)
    batch.reset()
    saved = batch.save()
    object.__setattr__(batch.spec, "bounds", bounds := batch.spec.bounds)
    monkeypatch.setitem(vars(batch.spec), "bounds", lambda num_players: {})
    with pytest.raises(KilleError, match=r"says no bounds of '\w+'.* name them in GameSpec.bounds"):
        batch.restore(saved)
    assert bounds(3)
