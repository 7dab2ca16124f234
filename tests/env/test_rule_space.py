"""Rule spaces: regions never mix, draws are keyed, and wrong data is refused by name."""

import itertools

import pytest

import kille_env
from kille_env.core import rule_space as core
from kille_env.core.rule_space import RuleSpace
from kille_env.errors import ConfigError, RulesError
from kille_env.rule_spaces import rules_folder
from refusals import refused

SPEC = kille_env.spec("krypkille")
VARY = {"allpass_lowest": [0, 5], "allpass_others": [0, 5, 10], "tie_beats_declarer": [True, False]}
HELD_OUT = {
    "test": [{"allpass_lowest": [5], "allpass_others": [5, 10]}],
    "tune": [{"allpass_others": [10]}],
}


def space(**changed):
    return RuleSpace(
        SPEC, **{"name": "own", "seats": [2, 3], "base": "tiny", "vary": VARY,
                 "held_out": HELD_OUT, **changed}
    )  # fmt: skip


def triples(region, of=None):
    return {tuple(rules[name] for name in VARY) for rules in (of or space()).rules(region)}


def test_regions_are_the_combinations_that_their_conditions_say():
    ties = (True, False)
    assert triples("test") == set(itertools.product((5,), (5, 10), ties))
    assert triples("tune") == set(itertools.product((0,), (10,), ties))  # the first region counts
    assert triples("train") == set(itertools.product((0, 5), (0,), ties)) | set(
        itertools.product((0,), (5,), ties)
    )


def test_dull_rules_are_in_no_region():
    bored = space(dull=[{"allpass_lowest": [0]}])
    assert triples("train", bored) == {(5, 0, True), (5, 0, False)}
    refused(lambda: bored.rules("tune"), r"RulesError: the region 'tune' of own is empty")
    assert bored.region_of(SPEC.resolve({"preset": "tiny", "allpass_lowest": 0})) is None


def test_rules_that_too_few_can_play_by_are_left_out():
    packs = ["BL+L4+KI", "BL+L4+L8+KI"]  # six and eight cards, of which each seat takes three
    short = space(vary={"pack": packs, "hand": [2, 3]}, held_out={}, seats=[2])
    found = {(rules["pack"], rules["hand"]) for rules in short.rules()}
    assert found == set(itertools.product(packs, (2, 3)))
    short = space(vary={"pack": packs, "hand": [2, 3]}, held_out={}, seats=[2, 3])
    found = {(rules["pack"], rules["hand"]) for rules in short.rules()}
    assert found == {(packs[0], 2), (packs[1], 2)}


@pytest.mark.parametrize("name", kille_env.list_rule_spaces())
def test_every_pool_of_a_built_in_space_is_distinct_and_inside_its_region(name):
    found = kille_env.rule_space(name)
    pools = {region: found.rules(region) for region in found.regions}
    assert all(0 < len(pool) <= core.POOL for pool in pools.values())
    together = [rules for pool in pools.values() for rules in pool]
    assert len(set(together)) == len(together)
    for region, pool in pools.items():
        assert {found.region_of(rules) for rules in pool[:100]} == {region}
        assert all(found.region(region).contains(rules) for rules in pool[:100])
    # Every value is met in training: only combinations are new.
    for switch, values in found.vary.items():
        assert {rules[switch] for rules in pools["train"]} == set(values), switch
    assert found.points, "no preset lies in it"
    assert set(map(found.region_of, found.points.values())) == {"train"}


def test_a_large_space_is_sampled_evenly(monkeypatch):
    monkeypatch.setattr(core, "CANDIDATES", 1000)
    monkeypatch.setattr(core, "POOL", 300)
    wide = {"right_declarer": list(range(50)), **VARY}
    wide |= {"wrong_lowest": list(range(60))}
    held_out = {"test": [{"right_declarer": list(range(25))}]}
    large = space(vary=wide, held_out=held_out)
    assert large.rules() == space(vary=wide, held_out=held_out).rules()
    pool = large.rules()
    assert len(set(pool)) == len(pool) == 300
    chosen = [rules.number("right_declarer") for rules in pool]
    assert min(chosen) == 25
    assert max(chosen) == 49
    assert 35 < sum(chosen) / 300 < 39


def test_a_draw_depends_on_its_seed_and_number_alone():
    own = space()
    long = own.draw(400, seed=3, region="train")
    assert own.draw(7, seed=3) == long[:7] != own.draw(7, seed=4)
    assert set(long) == set(own.rules())
    assert set(own.region("test").draw(50)) <= set(own.rules("test"))


def test_rules_of_elsewhere_are_outside():
    own = space()
    assert own.region_of(kille_env.spec("knack").resolve("tiny")) is None
    assert own.region_of(SPEC.resolve("small")) is None
    assert own.region_of(SPEC.resolve({"preset": "tiny", "allpass_others": 7})) is None
    assert own.region_of(SPEC.resolve("tiny", episode="match", allpass_lowest=0)) is None


NUMBERS = ("right_declarer", "allpass_lowest", "allpass_others", "wrong_lowest")
MANY = {name: list(range(2000)) for name in NUMBERS}
REFUSED = [
    ({"vary": {"allpas_lowest": [0, 5]}}, "Did you mean 'allpass_lowest'"),
    ({"vary": {"right_others": ["zero", "x"]}}, "own: vary: .*is 'x', expected 'denomination' or"),
    ({"vary": {"allpass_lowest": [5, 5]}}, "has a value twice"),
    ({"vary": {"allpass_lowest": [5]}}, "set it in base"),
    ({"vary": {}}, "expected switches with their values"),
    ({"vary": {"allpass_lowest": 5}}, "expected a list"),
    ({"vary": MANY, "held_out": {}}, "16,000,000,000,000 combinations of values, expected at most"),
    ({"held_out": {"test": [{"limit": [50]}]}}, "held_out.test: 'limit' does not vary"),
    ({"held_out": {"test": [{"allpass_lowest": [7]}]}}, "never is 7 here, expected one of 0, 5"),
    ({"held_out": {"test": [{}]}}, "held_out.test has the condition {}"),
    ({"held_out": {"test": {"allpass_lowest": [5]}}}, "expected a list of conditions"),
    ({"held_out": {"train": []}}, "'train', which is all the rest"),
    ({"seats": [2, 9]}, "played by 2 to 6"),
    ({"seats": []}, "expected a list of numbers"),
    ({"base": "tny"}, "Did you mean 'tiny'"),
    ({"base": ["tiny"]}, r"own: base is \['tiny'\], expected one rule set"),
    ({"held_out": {1: [{"allpass_lowest": [5]}]}}, "names a region 1, expected a text"),
    ({"held_out": {None: [{"allpass_lowest": [5]}]}}, "names a region None, expected a text"),
]


@pytest.mark.parametrize(("changed", "words"), REFUSED)
def test_wrong_data_is_refused(changed, words):
    refused(lambda: space(**changed), words, kind=RulesError)


def test_an_unknown_region_is_refused_by_name():
    for ask in (space().rules, space().region, lambda region: space().draw(3, region=region)):
        refused(ask, "own has no region 'tset'. Did you mean 'test'?", "tset", kind=RulesError)


FILES = {
    "game: krypkile\nseats: [2]\nvary: {limit: [40, 50]}": "own.yaml.*Did you mean 'krypkille'",
    "game: krypkille\nseats: [2]\nvary: {limi: [40, 50]}": "own.yaml.*Did you mean 'limit'",
    "game: krypkille\nseats: [2]\nvaries: {limit: [4, 5]}": "key 'varies'. Did you mean 'vary'",
    "game: krypkille\nseats: [2]": "lacks vary",
    "- krypkille": "expected the keys game",
    "game: [": "own.yaml is not a rule space",
    "game: krypkille\nseats: [2]\nvary: {hand: [2, 3]}\nheld_out:\n  test: [{hand: [2]}]\n"
    "  test: [{hand: [3]}]": "own.yaml is not a rule space: .*the key test is written twice",
    "game: krypkille\nseats: 2\nvary: {limit: [4, 5]}": "^RulesError: [^:]*own.yaml: seats are 2",
}


@pytest.mark.parametrize("text", FILES)
def test_a_wrong_file_is_refused_by_name(tmp_path, text):
    path = tmp_path / "own.yaml"
    path.write_text(text)
    refused(kille_env.rule_space, FILES[text], path)


def test_what_is_no_space_and_no_rules_is_refused():
    for thing in (5, None, space()):
        refused(kille_env.rule_space, "there is no rule space", thing, kind=RulesError)
    refused(
        lambda: RuleSpace("krypkille", seats=[2], vary=VARY),
        "made of kille_env.spec",
        kind=RulesError,
    )
    for thing in ("tiny", {"preset": "tiny"}, None):
        for ask in (space().region_of, space().contains):
            refused(ask, "kille_env.spec.'krypkille'.*resolve", thing, kind=RulesError)


def test_spaces_are_found_by_name_and_by_file():
    refused(kille_env.rule_space, "Did you mean 'krypkille-scores'?", "krypkille-score")
    refused(kille_env.rule_space, "is not a rule space", "missing.yaml", kind=ConfigError)
    built_in = kille_env.rule_space("knack")
    file = kille_env.rule_space(rules_folder() / "knack.yaml")
    assert file.rules() == built_in.rules()
