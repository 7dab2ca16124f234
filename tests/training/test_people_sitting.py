"""The one loop behind the terminal and the web table."""

from itertools import pairwise

import numpy as np
import pytest

from kille_agents.catalog import as_policy
from kille_env.errors import ConfigError, IllegalActionError, KilleError, PolicyError, RulesError
from kille_env.records import replay
from kille_env.registry import list_games, spec
from kille_training.people.names import FIRST_NAMES, check_name, names_at
from kille_training.people.sitting import Sitting, Thought


def sitting(people=(0,), game="byteskille", seats=4, player="rule_of_thumb", **switches) -> Sitting:
    """Returns a table that has begun, with people in some seats and the player in the others."""
    rules = spec(game).resolve(**{"episode": "deal", **switches})
    who = as_policy(player, game, seats, rules)
    by_seat = [None if seat in people else who for seat in range(seats)]
    names = names_at(seats, {seat: f"person {seat}" for seat in people})
    made = Sitting(game, rules, by_seat, names=names, seed=3)
    made.begin()
    return made


def finish(table: Sitting, rng: np.random.Generator) -> None:
    """Plays to the end of the match; people decide at random."""
    while not table.over:
        if table.waits:
            table.act(table.seat, int(rng.choice(np.flatnonzero(table.batch.mask[0]))))
        else:
            assert table.play()


@pytest.mark.parametrize("game", list_games())
def test_whole_matches_with_two_people_are_recorded(game):
    table = sitting((0, 2), game)
    rng = np.random.default_rng(1)
    finish(table, rng)
    table.begin()
    finish(table, rng)
    records = table.records()
    assert [record["seed"] for record in records] == [3, 4]
    for record in records:
        assert record["names"] == [
            "person 0", "Bertil (rule_of_thumb)", "person 2", "David (rule_of_thumb)"
        ]  # fmt: skip
        assert replay(record).differences == []


def test_what_is_taken_back_leaves_no_trace():
    once, twice = (sitting(player="byteskille/drunk", episode="match") for _ in range(2))
    finish(twice, np.random.default_rng(4))
    assert len(twice.records()) == 1
    while twice.can_undo(0):
        twice.undo(0)
    assert twice.records() == []
    for table in (once, twice):
        finish(table, np.random.default_rng(5))
    assert once.records() == twice.records()


def test_the_moment_grows_with_every_change_and_with_taking_back():
    table = sitting((0, 1, 2, 3))
    seen = [table.moment]
    for _ in range(2):
        table.act(table.seat, 0)
        seen.append(table.moment)
    table.undo(table.seat - 1 if table.seat > 0 else 3)
    seen.append(table.moment)
    assert seen == sorted(set(seen))


def test_a_person_takes_back_what_others_decided_only_if_that_is_allowed():
    table = sitting((0, 1, 2, 3))
    first = table.seat
    table.act(first, 0)
    table.act(table.seat, 0)
    before = table.moment
    assert not table.can_undo(first)
    with pytest.raises(KilleError, match="another person has decided since"):
        table.undo(first)
    assert table.moment == before
    table.undo(first, others=True)
    assert table.seat == first
    with pytest.raises(KilleError, match="nothing to take back"):
        table.undo(first, others=True)


def test_moves_out_of_turn_and_illegal_ones_change_nothing():
    table = sitting((0, 1), player="uniform", seats=2)
    seat, before = table.seat, table.batch.save()
    with pytest.raises(IllegalActionError, match="it is not your turn"):
        table.act(1 - seat, 0)
    with pytest.raises(IllegalActionError, match=r"is not legal now\. Legal: "):
        table.act(seat, 8)
    with pytest.raises(KilleError, match="no player is to act"):
        table.play()
    with pytest.raises(KilleError, match="still being played"):
        table.begin()
    assert (table.batch.save(), table.can_undo(seat)) == (before, False)


def test_nobody_acts_for_a_player():
    table = sitting((0,), seats=2)
    while table.waits:
        table.act(0, 0)
    with pytest.raises(IllegalActionError, match="it is not your turn"):
        table.act(table.seat, 0)


def test_a_thought_is_stale_once_something_was_taken_back():
    table = sitting((0,), seats=2, episode="match")
    while not table.waits:
        table.play()
    table.act(0, int(np.flatnonzero(table.batch.mask[0])[0]))
    while table.waits:
        table.act(0, int(np.flatnonzero(table.batch.mask[0])[0]))
    thought, thinker, old = table.think(), table.thinker(), table.batch
    at_first = old.save()
    table.undo(0)
    assert table.batch is not old  # whoever still thinks does so at the table as it was
    assert old.save() == at_first
    before = table.batch.save()
    assert thinker() == thought
    assert not table.play(thought)
    assert table.batch.save() == before
    assert not table.play(Thought(-1, 0))


def test_a_player_that_fails_has_played_nothing():
    class Broken:
        name = "broken"

        def probabilities(self, observation, mask):
            return np.zeros(mask.shape)

    rules = spec("byteskille").resolve(episode="deal")
    table = Sitting("byteskille", rules, [Broken(), Broken()], names=["a", "b"], seed=0)
    table.begin()
    before = table.moment, table.batch.save()
    with pytest.raises(PolicyError, match="broken"):
        table.play()
    assert (table.moment, table.batch.save()) == before


def test_who_watches_sees_every_deal_and_action_in_order():
    rules = spec("byteskille").resolve(episode="match")
    who = as_policy("rule_of_thumb", "byteskille", 3, rules)
    seen = []
    table = Sitting(
        "byteskille", rules, [who, None, who], names="abc", seed=1,
        watch=lambda before, after: seen.append((before, after)),
    )  # fmt: skip
    table.begin()
    finish(table, np.random.default_rng(0))
    assert all(left[1] == right[0] for left, right in pairwise(seen))
    assert seen[-1][1] == table.batch.tables[0]


def test_a_name_can_change_until_the_match_is_over():
    table = sitting((0,))
    table.rename(0, "Anna")
    (record,) = table.records(unfinished=True)
    assert record["names"][0] == "Anna"
    assert table.records() == []


def test_every_seat_has_a_name_of_its_own():
    assert len(set(FIRST_NAMES)) == 20
    assert names_at(4, {1: "Anna"}) == ["Astrid", "Anna", "Cecilia", "David"]
    assert names_at(4, {0: "DAVID"}) == ["DAVID", "Bertil", "Cecilia", "Astrid"]
    people = {seat: FIRST_NAMES[19 - seat] for seat in range(19)}
    assert len(set(names_at(20, people))) == 20
    with pytest.raises(RulesError, match="2 names for 3 seats"):
        Sitting("knack", spec("knack").resolve(), [None] * 3, names=["a", "b"], seed=0)


@pytest.mark.parametrize(
    "name", ["", "  ", "a\nb", "a\x1b[31mb", "‮kille", "x" * 31, "you", "\ud800"]
)
def test_names_that_nobody_could_read_are_refused(name):
    with pytest.raises(ConfigError):
        check_name(name)


def test_a_name_is_taken_without_blanks_around_it():
    assert check_name(" Anna Åberg ") == "Anna Åberg"
