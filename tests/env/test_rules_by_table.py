"""Tables with rules of their own play what tables of one rule set play, to the bit."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import kille_env
from env.rule_tables import TABLES, Space, by_table, rule_sets, seats_of
from kille_env.core.rule_space import RuleSpace
from kille_env.core.rules import RuleSets
from kille_env.errors import CardError, RulesError

SHOWN = ("seat", "observation", "mask", "reward", "terminated", "truncated")


def batches(game: str, rules: Any, **options: Any) -> tuple[Any, list[Any]]:
    """Return a batch of many rule sets, and one of each of them; all with one seed."""
    make = lambda own: kille_env.make_batch(  # noqa: E731
        game, TABLES, seats_of(game), rules=own, seed=5, **options
    )
    many = make(rules)
    return many, [make(one) for one in many.rule_sets]


def assert_same(many: Any, alone: list[Any], number: np.ndarray) -> None:
    """Check that each table shows what its table in a batch of its rules does."""
    everything = many.full_state(0)
    for which, one in enumerate(alone):
        its = number == which
        for name in SHOWN:
            assert getattr(many, name)[its].tobytes() == getattr(one, name)[its].tobytes(), name
        assert everything[its].tobytes() == one.full_state(0)[its].tobytes()


def assert_equal(ours: np.ndarray, theirs: np.ndarray) -> None:
    for name in theirs.dtype.names or ():
        assert ours[name].tobytes() == theirs[name].tobytes(), name


def choose(batch: Any, rng: np.random.Generator) -> np.ndarray:
    return (batch.mask * rng.random(batch.mask.shape)).argmax(axis=1)


def play_alike(
    many: Any, alone: list[Any], number: np.ndarray, steps: int, rng: np.random.Generator
) -> None:
    """Play the same actions in all batches and check that tables show the same."""
    for _ in range(steps):
        assert_same(many, alone, number)
        actions = choose(many, rng)
        many.step(actions)
        for which, one in enumerate(alone):
            one.step(actions, number == which)


def test_a_list_of_rules_plays_each_table_by_its_own(game, scale):
    rules = by_table(game)
    many, alone = batches(game, rules)
    assert len(many.rule_sets) == len(set(rules)) > 1
    rng = np.random.default_rng(1)
    for batch in (many, *alone):
        batch.reset()
    number = many.tables["rules"].copy()
    play_alike(many, alone, number, scale(200, 30), rng)
    for which, one in enumerate(alone):  # not as bytes, because gaps lie between the fields
        for name in {*(one.tables.dtype.names or ())} - {"rules", "pool"}:
            its = number == which
            assert many.tables[name][its].tobytes() == one.tables[name][its].tobytes(), name
    assert [many.rules_at(table) for table in range(TABLES)] == rules
    table = TABLES - 1
    own = alone[number[table]]
    for text in ("describe", "legal_texts", "drawn_cards"):
        assert str(getattr(many, text)(table)) == str(getattr(own, text)(table))


def test_a_space_draws_rules_at_each_match_and_changes_no_card(game, scale):
    many, alone = batches(game, Space(game, rule_sets(game)), restart=False)
    rng, drawn = np.random.default_rng(2), []
    for _ in range(4):
        for batch in (many, *alone):
            batch.reset()
        drawn.append(number := many.tables["rules"].copy())
        play_alike(many, alone, number, scale(150, 20), rng)
    assert all(np.unique(row).size == len(many.rule_sets) for row in drawn)
    assert len({tuple(row) for row in drawn}) == 4
    # The draw is keyed by seed and match alone: another size and another way of playing agree.
    small = kille_env.make_batch(
        game, 5, seats_of(game), rules=Space(game, rule_sets(game)), seed=5
    )
    small.reset()
    met = dict[tuple[int, int], int]()
    for _ in range(scale(400, 60)):
        for table, record in enumerate(small.tables):
            met[int(record["matches"]), table] = int(record["rules"])
        small.step(choose(small, rng))
    known = {key: number for key, number in met.items() if key[0] <= 4}
    assert known == {(match, table): drawn[match - 1][table] for match, table in known}


def test_copies_keep_their_rules(game):
    space = Space(game, rule_sets(game))
    for rules in (by_table(game), space):
        many, _ = batches(game, rules)
        many.reset()
        rows = np.array([3, 3, 0, 17, 8])
        taken = many.take(rows)
        assert [taken.rules_at(i) for i in range(5)] == [many.rules_at(row) for row in rows]
        again = [many.clone(), pickle.loads(pickle.dumps(many)), copy.deepcopy(many)]
        rng = np.random.default_rng(3)
        for _ in range(30):
            actions = choose(many, rng)
            for batch in (many, *again):
                batch.step(actions)
            taken.step(actions[rows])
            assert_equal(taken.tables, many.tables[rows])
            for batch in again:
                assert_equal(batch.tables, many.tables)
        number = many.tables["rules"].copy()
        many.resample(0, np.arange(TABLES))
        assert (many.tables["rules"] == number).all()


def test_equal_rules_are_one_rule_set():
    batch = kille_env.make_batch("knack", 3, rules=[{}, None, kille_env.spec("knack").presets[0]])
    assert batch.rules == kille_env.spec("knack").resolve() and batch.rule_sets == (batch.rules,)


def test_given_cards_are_for_the_pack_of_each_table():
    rules = ["reconstructed", "tiny"]
    batch = kille_env.make_batch("krypkille", 2, 2, rules=rules, seed=1)
    codes = batch.spec.pack.codes_without(batch.spec.left_out(batch.rule_sets[1]))[:6]
    batch.reset(deck=codes)
    alone = [kille_env.make_batch("krypkille", 2, 2, rules=one, seed=1) for one in rules]
    for table, one in enumerate(alone):
        one.reset(deck=codes)
        assert one.tables["hand"][table].tobytes() == batch.tables["hand"][table].tobytes()
    outside = batch.spec.pack.code(batch.spec.left_out(batch.rule_sets[1])[0])
    before = batch.tables.tobytes()
    with pytest.raises(CardError):
        batch.reset(deck=[outside])
    assert batch.tables.tobytes() == before


TINY = kille_env.spec("krypkille").resolve("tiny")
HELD_OUT = {"test": [{"limit": [50]}], "gone": [{"limit": [50]}]}
SPACE = RuleSpace(
    kille_env.spec("krypkille"), seats=[2], vary={"limit": [40, 50]}, held_out=HELD_OUT
)
REFUSED = {
    "a list of another length": (
        {"rules": ["tiny"] * 3},
        "rules has 3 rule sets for 4 tables, expected one for each",
    ),
    "an empty list": ({"rules": []}, "rules is an empty list"),
    "an unknown preset in a list": ({"rules": ["tiny", "huge"] * 2}, "no preset 'huge'"),
    "rules of another game": (
        {"rules": [TINY, TINY, TINY, kille_env.spec("knack").resolve()]},
        "these are rules of knack, expected rules of krypkille",
    ),
    "a space of another game": (
        {"rules": Space("knack", rule_sets("knack"))},
        "these are rules of knack, expected rules of krypkille",
    ),
    "a list of lists": ({"rules": [["tiny"] * 2] * 4}, "several rule sets for one table"),
    "a list of spaces": ({"rules": [SPACE] * 4}, "several rule sets for one table"),
    "an empty region": ({"rules": SPACE.region("gone")}, "region 'gone' of custom is empty"),
    "no rules at all": ({"rules": 7}, "a preset's name or a mapping, not 7"),
    "a table with too few cards": (
        {"rules": ["reconstructed", "reconstructed", "reconstructed", "tiny"], "num_players": 6},
        "krypkille with 6 players may take .* seat at most",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_rules_that_tables_cannot_have_are_refused(case):
    options, words = REFUSED[case]
    with pytest.raises(RulesError, match=words):
        kille_env.make_batch("krypkille", 4, **options)


def test_where_one_rule_set_is_needed_many_are_refused():
    batch = kille_env.make_batch("krypkille", 2, 2, rules=["tiny", "small"])
    assert isinstance(batch.rules, RuleSets)
    assert "2 rule sets" in repr(batch)
    for ask in (
        lambda: batch.rules["limit"],
        lambda: batch.rules.number("limit"),
        batch.rules.as_dict,
        lambda: batch.spec.left_out(batch.rules),
        lambda: kille_env.registry.describe_rules("krypkille", ["tiny", "small"]),
    ):
        with pytest.raises(RulesError, match="of one table of krypkille, and got 2 rule sets"):
            ask()


def test_a_deck_or_start_is_for_rules_that_are_known():
    batch = kille_env.make_batch(
        "krypkille", 2, 2, rules=Space("krypkille", rule_sets("krypkille"))
    )
    for given in ({"deck": ["L1"]}, {"start": {"scores": [3, 3]}}):
        with pytest.raises(RulesError, match="each match draws its rules here"):
            batch.reset(**given)


def test_tables_of_rules_that_a_batch_lacks_are_not_placed():
    batch, _ = batches("knack", by_table("knack"))
    alone = kille_env.make_batch("knack", TABLES, seats_of("knack"))
    with pytest.raises(RulesError, match="numbered 0 to 0, got 0 to"):
        alone.place(batch.tables)
