"""Held-out tables: drawn as the script says, measured as alone, and wrong questions are refused."""

import json
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("scipy")

import kille_env
import kille_training as kt
from kille_agents import as_policy
from kille_env.errors import ConfigError, PolicyError
from kille_env.play.policy import ObservationPolicy
from kille_env.registry import Table, spec
from kille_training.cli.main import main
from kille_training.evaluation import held_out
from kille_training.solving import grow
from kille_training.solving.grow import build_deal, build_deals
from reference.scripts import script
from refusals import refused

SMALL = {"preset": "tiny", "pack": "BL+L4+L8+KI"}
SET = "krypkille-scores/test"


def other_value(switch, value):
    """Return another value of a switch."""
    return next(each for each in switch.values if each != value) if switch.values else value + 7


# Trees that differ in payments alone


@pytest.mark.compiled
@pytest.mark.parametrize("game", kille_env.list_games())
def test_a_switch_that_pays_changes_nothing_before_the_payment(game):
    switches = [switch for switch in spec(game).switches if switch.pays]
    if not switches:
        pytest.skip("no switch of this game pays alone")
    base = spec(game).resolve(SMALL)
    changed = [
        spec(game).resolve({**SMALL, each.name: other_value(each, base[each.name])})
        for each in switches
    ]
    together = build_deals(2, [base, *changed])
    payoffs = set[bytes]()
    for rules, deal in zip([base, *changed], together, strict=True):
        found, alone = deal.first_stage, build_deal(2, rules).first_stage
        assert found.rules == rules
        for name in ("player", "first", "ways", "before", "share", "chance"):
            assert np.array_equal(getattr(found.tree, name), getattr(alone.tree, name)), name
        assert (found.positions == alone.positions).all()
        assert np.array_equal(found.observations, alone.observations)
        assert np.array_equal(found.tree.ends[:, :-1], alone.tree.ends[:, :-1])
        paid, expected = (tree.payoff[tree.ends[:, -1]] for tree in (found.tree, alone.tree))
        assert np.abs(paid - expected).max() < 1e-9
        payoffs.add(expected.tobytes())
    assert len(payoffs) > len(switches) / 2, "most of the switches change a payment"


@pytest.mark.compiled
def test_rules_with_other_trees_are_not_grown_together(monkeypatch):
    both = [spec("krypkille").resolve({**SMALL, "hand": hand}) for hand in (2, 3)]
    refused(lambda: build_deals(2, both), "rules whose trees differ, .* are grown one by one")
    monkeypatch.setattr(grow, "shape_of", lambda rules: rules.game)
    refused(lambda: build_deals(2, both), "ends by some of the rules and goes on by others")


# The published sets


def rows():
    path = kille_env.rule_spaces.rules_folder() / held_out.FILE
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_sets_are_what_the_script_draws():
    drawing, found = script("benchmarks/rule_sets.py"), rows()
    counted = Counter((row["set"], row["num_players"]) for row in found)
    expected = {
        (f"{name}/test", seats): count
        for name, counts in drawing.COUNTS.items()
        for seats, count in counts.items()
    }
    assert counted == expected
    assert Counter(row["num_players"] for row in found) == {2: 100, 3: 30}
    for name, counts in drawing.COUNTS.items():
        space = kille_env.rule_space(name)
        for seats in counts:
            mine = [r for r in found if (r["set"], r["num_players"]) == (f"{name}/test", seats)]
            own = [spec(row["game"]).resolve(row["rules"]) for row in mine]
            assert {space.region_of(rules) for rules in own} == {"test"}
            draws = list(drawing.drawn(space, seats))
            places = [draws.index(rules) for rules in own]
            assert places == sorted(set(places)), "drawn in this order, each once"


def test_a_solution_is_what_its_figures_say():
    for row in rows():
        assert 0 <= row["nash_conv"] <= row["greedy"] + 1e-6
        assert row["nash_conv"] < 0.01 * row["uniform"], row
        assert row["uniform"] >= 0.05
        left = row["rules"].get("remainder") == "left"  # on the table, where it cannot be divided
        assert (sum(row["value"]) < 0) if left else abs(sum(row["value"])) < 1e-4


@pytest.mark.compiled
def test_a_table_is_drawn_and_solved_again_with_the_same_figures():
    drawing = script("benchmarks/rule_sets.py")
    row = next(row for row in rows() if (row["game"], row["num_players"]) == ("byteskille", 2))
    space, rules = kille_env.rule_space("byteskille"), spec("byteskille").resolve(row["rules"])
    again = drawing.solved(space, rules, 2)
    assert again is not None and again.keys() == row.keys()
    for name, value in row.items():
        close = name in ("value", "nash_conv", "uniform", "rule_of_thumb", "greedy")
        assert again[name] == (pytest.approx(value, abs=2e-6) if close else value), name


# Measuring


@pytest.mark.compiled
def test_a_set_is_measured_as_each_of_its_tables_alone(monkeypatch):
    published = held_out.held_out(SET)
    tables = [each.table for each in published if each.table.num_players == 2][:10]
    found = kt.nash_conv("rule_of_thumb", tables=tables)
    alone = [kt.nash_conv("rule_of_thumb", t.game, 2, rules=t.rules) for t in tables]
    expected = np.array([row.nash_conv for row in alone])
    assert np.allclose([row.nash_conv for row in found.rows], expected, rtol=0, atol=1e-9)
    assert [row.table for row in found.rows] == tables
    assert np.allclose(found.uniform, [each.uniform for each in published[:10]], atol=1e-6)
    assert np.allclose(expected, [each.rule_of_thumb for each in published[:10]], atol=1e-6)
    assert found.share == pytest.approx(expected / np.array(found.uniform))
    assert found.mean.value == pytest.approx(found.share.mean())
    assert found.interquartile_mean.low < found.interquartile_mean.value
    worst = found.worst(2)
    assert [share for share, _ in worst] == sorted(found.share, reverse=True)[:2]
    text = str(found)
    assert "rule_of_thumb at a list of tables, sampled" in text and str(worst[0][1].table) in text


@pytest.mark.compiled
def test_uniform_play_has_the_share_one_and_a_set_has_both_numbers_of_seats():
    found = kt.nash_conv("uniform", tables="byteskille/test")
    assert found.share == pytest.approx(np.ones(len(found.share)))
    lines = str(found).splitlines()
    assert [line.split()[:2] for line in lines[3:6]] == [["2", "20"], ["3", "7"], ["all", "27"]]
    three = kt.nash_conv("uniform", num_players=3, tables="byteskille/test")
    assert {row.table.num_players for row in three.rows} == {3}


@pytest.mark.compiled
def test_a_policy_that_reads_the_rules_is_told_those_of_each_table():
    seen = set[bytes]()
    size = spec("krypkille").rules_features(spec("krypkille").resolve("tiny")).shape[-1]

    def even(observation, mask):
        seen.update(row.tobytes() for row in np.unique(observation[:, -size:], axis=0))
        return mask / mask.sum(axis=1, keepdims=True)

    player = as_policy(even, observation="box", returns="probabilities", observe_rules=True)
    tables = [each.table for each in held_out.held_out(SET)[:4]]
    kt.nash_conv(player, tables=tables)
    assert seen == {spec("krypkille").rules_features(t.rules).tobytes() for t in tables}


class Even(ObservationPolicy):
    """Play as `uniform`, and say that this was learned at one table."""

    name = "even"

    def __init__(self, game):
        self.tables = (Table.of(game, 2, "tiny"),)

    def probabilities(self, observation, mask):
        return mask / mask.sum(axis=1, keepdims=True)


@pytest.mark.compiled
def test_a_policy_of_one_rule_set_is_measured_at_others_only_where_a_transfer_is_allowed():
    words = "even was made for krypkille, 2 seats.* which it is not told; .*transfer=True"
    refused(lambda: kt.nash_conv(Even("krypkille"), tables=SET), words, kind=PolicyError)
    refused(lambda: kt.nash_conv(Even("knack"), tables=SET), "krypkille instead of knack")
    found = kt.nash_conv(Even("krypkille"), tables=SET, transfer=True)
    assert found.share == pytest.approx(np.ones(40)) and "transferred from krypkille" in str(found)
    name, tables = "krypkille/trained", [found.rows[0].table]
    refused(lambda: kt.nash_conv(name, tables=tables), "has other rules, which.*transfer=True")
    assert name in str(kt.nash_conv(name, tables=tables, transfer=True))


def test_wrong_sets_are_refused_by_name():
    ask = lambda **given: lambda: kt.nash_conv("uniform", **given)  # noqa: E731
    refused(ask(tables="krypkille-scores/tset"), f"Did you mean '{SET}'", kind=ConfigError)
    refused(ask(tables=[]), "expected the name of a set or a list of kille_env.Table")
    refused(ask(tables=[("krypkille", 2)]), "expected the name of a set or a list")
    refused(ask(tables=SET, rules="tiny"), "tables have their own rules")
    refused(ask(tables=SET, num_players=4), "no table of 'krypkille-scores/test' .* with 4 seats")
    refused(
        ask(tables=SET, game="knack"), "is one of knack .* krypkille with 2 and krypkille with 3"
    )


@pytest.mark.compiled
def test_the_command_measures_a_set(capsys):
    given = ["evaluate", "rule_of_thumb", "--tables", "byteskille/test", "--players", "2"]
    assert main([*given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["rows"]) == 20 and 0 < found["mean"]["value"] < 1
    assert main([*given, "--deals", "10"]) != 0
    assert "drop --deals" in capsys.readouterr().err


def test_one_table_has_no_interval():
    table = Table.of("byteskille", 2, {"fraga": "off"})
    found = kt.nash_conv("uniform", tables=[table])
    assert float(found.mean.low) == float(found.mean.high) == 1.0
