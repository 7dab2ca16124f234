"""Facts as data: switches, presets, rules, layouts."""

import pickle

import numpy as np
import pytest

import kille_env
from kille_env.core.spec import Part, Switch, lay_out, width
from kille_env.errors import RulesError
from kille_env.games.byteskille import SPEC

PRESETS = {  # the columns of the register of switches: (svensk, wikipedia)
    "stake": (2, 2),
    "ante": ("pot", "deal"),
    "dealt_kille": ("low", "high"),
    "meeting": ("high", "low"),
    "high_kille": ("equal_gok", "above_gok"),
    "dealer_after_inn": (False, False),
    "pig_scope": ("card", "card"),
    "undo_restores": (True, True),
    "lowest_excludes_chopped": (True, True),
    "gok_call": ("any_time", "off"),
    "fraga": ("forced", "off"),
    "fraga3_dealer_accept": (False, True),
    "max_redeals": (16, 16),
    "stock_redraw": (True, False),
    "second_includes_new": (True, True),
    "next_dealer": ("after", "after"),
    "two_player": ("ordinary", "wiki"),
    "reentry": ("svensk", "wiki3"),
    "wiki2_second": ("half", "half"),
    "reentry_plus_ante": (True, True),
    "reentry_one_left": (False, False),
    "pots": (1, 1),
    "max_deals": (200, 200),
}


# Presets and switches


@pytest.mark.parametrize(("column", "preset"), [(0, "svensk"), (1, "wikipedia")])
def test_a_preset_is_its_column_of_the_register(column, preset):
    expected = {name: values[column] for name, values in PRESETS.items()}
    resolved = SPEC.resolve(preset).as_dict()
    assert resolved == {"preset": preset, "episode": "deal", **expected}
    assert list(resolved) == ["preset", "episode", *PRESETS]


def test_svensk_and_single_deals_are_the_defaults():
    assert SPEC.resolve().as_dict() == SPEC.resolve("svensk", episode="deal").as_dict()


def test_a_switch_departs_from_the_preset_it_is_given_with():
    rules = SPEC.resolve({"preset": "wikipedia", "ante": "pot"})
    assert (rules["ante"], rules["meeting"], rules["preset"]) == ("pot", "low", "wikipedia")


def test_resolved_rules_resolve_to_themselves_and_take_more():
    rules = SPEC.resolve({"preset": "wikipedia", "stake": 4})
    assert SPEC.resolve(rules) == rules
    deal = SPEC.resolve(rules, episode="deal")
    assert (deal["episode"], deal["stake"], deal["preset"]) == ("deal", 4, "wikipedia")
    assert SPEC.resolve(rules, episode=None) == rules


def test_every_value_reaches_the_kernels():
    for switch in SPEC.switches:
        codes = [int(SPEC.resolve({switch.name: v}).record[switch.name][0]) for v in switch.values]
        assert len(set(codes)) == len(switch.values), switch.name
    assert SPEC.resolve(stake=10).record["stake"][0] == 10
    assert SPEC.resolve(episode="deal").record["episode"][0] == 1


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("swedish", "no preset 'swedish'. Choose one of: svensk, wikipedia"),
        ("wikipeda", "no preset 'wikipeda'. Did you mean 'wikipedia'"),
        ({"preset": "x"}, "no preset 'x'"),
        ({"stakes": 2}, "no switch 'stakes'. Did you mean 'stake'"),
        ({"qqq": 2}, "no switch 'qqq'. Choose one of: ante, "),
        ({"episode": "hand"}, "'episode' is 'hand', expected 'match' or 'deal'"),
        ({"ante": "never"}, "switch 'ante' is 'never', expected 'pot' or 'deal'"),
        ({"ante": None}, "switch 'ante' is None, expected 'pot' or 'deal'"),
        ({"undo_restores": 1}, "switch 'undo_restores' is 1, expected false or true"),
        ({"undo_restores": "true"}, "switch 'undo_restores' is 'true', expected false or true"),
        ({"stake": 3}, "switch 'stake' is 3, expected an even whole number from 2"),
        ({"stake": 0}, "switch 'stake' is 0, expected an even whole number from 2"),
        ({"stake": 2.0}, "switch 'stake' is 2.0"),
        ({"stake": True}, "switch 'stake' is True"),
        ({"stake": None}, "switch 'stake' is None"),
        ({"pots": 0}, "switch 'pots' is 0, expected a whole number from 1"),
        ({"max_deals": 0}, "switch 'max_deals' is 0, expected a whole number from 1"),
        ({"max_redeals": -1}, "switch 'max_redeals' is -1, expected a whole number from 0"),
        ({"pots": 10**12}, "switch 'pots' is 1000000000000"),
        ({"svensk"}, "a preset's name or a mapping, not {'svensk'}"),
        (["svensk", "swedish"], "no preset 'swedish'"),
        (5, "a preset's name or a mapping, not 5"),
    ],
)
def test_impossible_rules_are_refused_and_the_message_says_what_is_possible(rules, message):
    with pytest.raises(RulesError, match=message):
        kille_env.make_batch("byteskille", rules=rules)


def test_numpy_numbers_are_whole_numbers():
    assert SPEC.resolve(stake=np.int32(4)) == SPEC.resolve(stake=4)


@pytest.mark.parametrize("num_players", [-1, 0, 1, 21, 2.0, "3", True])
def test_impossible_numbers_of_seats_are_refused(num_players):
    with pytest.raises(RulesError, match="byteskille is played by 2 to 20, num_players is"):
        kille_env.make_batch("byteskille", 1, num_players)


def test_no_number_of_seats_is_the_default():
    assert kille_env.make_batch("byteskille").num_players == SPEC.default_players


# Rules as values


def test_rules_are_equal_if_they_play_alike():
    assert SPEC.resolve() == SPEC.resolve({"stake": 2})
    assert hash(SPEC.resolve()) == hash(SPEC.resolve({"stake": 2}))
    assert SPEC.resolve() != SPEC.resolve({"stake": 4})
    assert SPEC.resolve() != SPEC.resolve(episode="match")
    wikipedia = {name: values[1] for name, values in PRESETS.items()}
    assert SPEC.resolve(wikipedia) == SPEC.resolve("wikipedia")  # whatever the preset's name
    assert SPEC.resolve() != "svensk"


def test_rules_survive_pickling():
    rules = SPEC.resolve({"preset": "wikipedia", "stake": 4}, episode="deal")
    again = pickle.loads(pickle.dumps(rules))
    assert again == rules
    assert again.as_dict() == rules.as_dict()
    assert again.record == rules.record


def test_rules_do_not_change():
    rules = SPEC.resolve()
    with pytest.raises(TypeError):
        rules.values["stake"] = 4  # pyright: ignore[reportIndexIssue]
    rules.as_dict()["stake"] = 4
    assert rules["stake"] == 2


# Layouts


def test_parts_lie_one_behind_the_other():
    parts = lay_out(Part("a", 3, "first"), Part("b", 2, "second", 9))
    assert [(part.name, part.offset, part.high) for part in parts] == [("a", 0, 1), ("b", 3, 9)]
    assert parts[1].slice == slice(3, 5)
    assert width(parts) == 5


def test_every_switch_says_what_it_decides_and_where_it_is_registered(game):
    for switch in kille_env.spec(game).switches:
        assert switch.meaning
        assert switch.decision
        assert switch.possible()


def test_a_switch_that_may_be_null_says_so():
    switch = Switch("deals", "deals of a match", None, minimum=1, nullable=True)
    assert switch.encode(None) == -1
    assert switch.encode(3) == 3
    with pytest.raises(RulesError, match="a whole number from 1 or null"):
        switch.encode(0)
