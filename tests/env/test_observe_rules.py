"""The rules as the last part of observations: their layout, and every form that shows them."""

import numpy as np
import pytest

import kille_env
from env.rule_tables import TABLES, Space, by_table, rule_sets, seats_of
from env.test_rules_by_table import choose
from kille_env.core.floats import reading_of, seat_layout
from kille_env.core.rules_part import EXACT
from kille_env.core.spec import EPISODES, PackSwitch, Switch, width
from kille_env.errors import RulesError

VIEWS = {
    "observation": "observe",
    "information_state": "information_state",
    "full_state": "full_state",
}


def features_of(game, **switches):
    """Return the features of rules by the names of their parts."""
    spec = kille_env.spec(game)
    (features,) = spec.rules_features(spec.resolve(switches))
    return {part.name: features[part.slice].tolist() for part in spec.rules_parts}


def some_values(switch: Switch):
    """Return values of a switch that its features have to tell apart."""
    if isinstance(switch, PackSwitch):
        return [None, "+".join(switch.pack.codes[1:])]
    least, most = switch.minimum + switch.minimum % 2, min(switch.maximum, EXACT)
    numbers = [*range(least, most + 1, 2 if switch.even else 1), 200, 1_000_000]
    numbers = [number for number in numbers if number <= switch.maximum]
    return [*(switch.values or numbers), *([None] if switch.nullable else [])]


def test_every_rule_is_told_and_within_its_bounds(game):
    spec = kille_env.spec(game)
    parts = spec.rules_parts
    assert len({part.name for part in parts}) == len(parts) and parts[0].offset == 0
    high = np.concatenate([np.full(part.size, part.high) for part in parts])
    for switch in spec.switches:
        shown = [
            spec.rules_features(spec.resolve({switch.name: value}))[0]
            for value in some_values(switch)
        ]
        assert len({row.tobytes() for row in shown}) == len(shown), switch.name
        assert all((row <= high).all() and len(row) == width(parts) for row in shown)
    episodes = [spec.rules_features(spec.resolve({"episode": one}))[0] for one in EPISODES]
    assert (episodes[0] != episodes[1]).any()


def test_the_kinds_of_switches_by_example():
    shown = features_of("krypkille", right_others="zero", limit=300, tie_beats_declarer=False)
    assert shown["rules.limit"] == [20] and shown["rules.limit_log"] == [66]
    assert sum(shown["rules.right_others"]) == 1 and shown["rules.tie_beats_declarer"] == [0]
    assert sum(features_of("krypkille", preset="tiny")["rules.pack"]) == 5
    assert features_of("knack")["rules.deals_null"] == [1]
    assert features_of("knack", deals=3)["rules.deals_null"] == [0]


def test_observations_end_with_the_rules_of_their_table(game):
    for rules in (by_table(game), Space(game, rule_sets(game)), None):
        plain, told = (
            kille_env.make_batch(
                game, TABLES, seats_of(game), rules=rules, seed=5, observe_rules=observe_rules
            )
            for observe_rules in (False, True)
        )
        spec, seats = told.spec, told.num_players
        for batch in (plain, told):
            batch.reset()
        rng = np.random.default_rng(1)
        for step in range(40):
            features = np.array([spec.rules_features(told.rules_at(i))[0] for i in range(TABLES)])
            expected = np.concatenate([plain.observation, features], axis=1)
            assert told.observation.tobytes() == expected.tobytes()
            for kind, ask in VIEWS.items():
                if step % 20 == 0:
                    seen = np.concatenate([getattr(plain, ask)(0), features], axis=1)
                    assert (getattr(told, ask)(0) == seen).all()
                    assert seen.shape[1] == width(spec.layout(kind, True)(seats))
            actions = choose(plain, rng)
            plain.step(actions)
            told.step(actions)
        for kind in ("float", "seats"):
            reading = reading_of(kind, spec, seats, observe_rules=True)
            assert reading and (told.read(kind) == reading(told.observation)).all()
            assert told.read(kind).max() <= 1.0
        table = told.seat_layout.split(told.read("seats")).table
        fewer = seat_layout(spec).split(plain.read("seats")).table
        high = np.concatenate([np.full(part.size, part.high) for part in spec.rules_parts])
        assert (table[:, : fewer.shape[1]] == fewer).all()
        assert np.allclose(table[:, fewer.shape[1] :], features_now(told) / high)
        for copied in (told.clone(), told.take(np.arange(TABLES))):
            assert copied.observation.tobytes() == told.observation.tobytes()


def features_now(batch):
    return batch.rules_features[batch.tables["rules"]]


def test_a_match_that_is_over_shows_zeros():
    batch = kille_env.make_batch("knack", 4, 2, restart=False, observe_rules=True)
    batch.reset()
    while (batch.seat >= 0).any():
        batch.step(batch.mask.argmax(axis=1))
    assert not batch.observation.any()
    with pytest.raises(RulesError, match="observe_rules is 1, expected True or False"):
        kille_env.make_batch("knack", observe_rules=1)


def test_rules_that_look_alike_are_refused():
    near = [{"kille_denomination": number} for number in (51, 52)]
    with pytest.raises(RulesError, match="have the same features; choose numbers that differ more"):
        kille_env.make_batch("krypkille", 2, rules=near, observe_rules=True)
    kille_env.make_batch("krypkille", 2, rules=near)
