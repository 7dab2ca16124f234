"""The one loop behind the terminal and the page."""

import json
from itertools import pairwise

import numpy as np
import pytest

from kille_agents.catalog import as_policy
from kille_env.errors import IllegalActionError, KilleError, PolicyError, RulesError
from kille_env.play.policy import name_of
from kille_env.records import parse_record, replay
from kille_env.registry import list_games, spec
from kille_env.words.text import listed
from kille_training.names import FIRST_NAMES, names_at
from kille_training.table.lineup import one_per_seat, players_named, seating_of
from kille_training.table.sitting import Sitting
from kille_training.tables import seat


def sitting(person=0, game="byteskille", seats=4, player="rule_of_thumb", **switches) -> Sitting:
    """Return a table that has begun, with a person in one seat and the player in the others."""
    rules = spec(game).resolve(**{"episode": "deal", **switches})
    who = as_policy(player, game, seats, rules)
    by_seat = [None if seat == person else who for seat in range(seats)]
    made = Sitting(game, rules, by_seat, seed=3)
    made.begin()
    return made


def finish(table: Sitting, rng: np.random.Generator) -> None:
    """Play to the end of the match; the person decides at random."""
    while not table.over:
        if table.waits:
            table.act(int(rng.choice(np.flatnonzero(table.batch.mask[0]))))
        else:
            table.play()


@pytest.mark.parametrize("game", list_games())
def test_whole_matches_are_recorded_and_go_on_from_their_record(game):
    table, rng = sitting(1, game, episode="match"), np.random.default_rng(1)
    finish(table, rng)
    table.begin()
    finish(table, rng)
    records = table.records()
    assert [record["seed"] for record in records] == [3, 4]
    for record in records:
        assert record["names"][:2] == ["Astrid (rule_of_thumb)", "You"]
        assert replay(record).differences == []
    first = json.loads(json.dumps(records[0]))
    first["returns"] = first["truncated"] = None
    decided = sum(len(deal["actions"]) for deal in first["deals"])
    last = first["deals"][-1]
    last["actions"], _ = last["actions"][: len(last["actions"]) // 2], last.pop("result", None)
    again = Sitting(game, table.batch.rules, table.by_seat, seed=3)
    again.resume(parse_record(json.dumps(first)))
    assert not again.over and decided
    finish(again, np.random.default_rng(2))
    assert replay(again.records()[0]).differences == []


@pytest.mark.parametrize(
    ("do", "error", "words"),
    [
        (lambda table: table.act(99), IllegalActionError, "99"),
        (lambda table: table.begin(), KilleError, "still being played"),
        (lambda table: table.think(), KilleError, "it is the person's turn"),
        (lambda table: Sitting("byteskille", table.batch.rules, [None, None], seed=1),
         RulesError, "2 seats"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_changes_nothing(do, error, words):
    table = sitting(3)  # who is asked first
    before = table.batch.tables.tobytes()
    with pytest.raises(error, match=words):
        do(table)
    assert table.batch.tables.tobytes() == before


def test_a_player_that_fails_has_played_nothing(monkeypatch):
    table = sitting()
    before = table.batch.tables.tobytes()
    player = table.by_seat[3]
    nothing = lambda self, seen, mask: np.zeros(mask.shape)  # noqa: E731
    monkeypatch.setattr(type(player), "kernel", None)
    monkeypatch.setattr(type(player), "probabilities", nothing)
    with pytest.raises(PolicyError):
        table.play()
    assert table.batch.tables.tobytes() == before


def test_who_watches_sees_every_deal_and_action_in_order():
    table, seen = sitting(episode="match"), []
    table.watch = lambda before, after: seen.append((before.copy(), after.copy()))
    finish(table, np.random.default_rng(1))
    assert len(seen) > 5
    for (_, one), (two, _) in pairwise(seen):
        assert one["num_events"] == two["num_events"] and one["seat"] == two["seat"]


def test_every_seat_has_a_name_of_its_own():
    assert names_at(3, 0) == ["You", "Bertil", "Cecilia"]
    names = names_at(20, 4)
    assert len(set(names)) == 20 and set(names) <= {*FIRST_NAMES, "You"}


@pytest.mark.parametrize("game", list_games())
def test_a_result_names_the_winner_and_what_the_person_has(game):
    table = sitting(1, game, episode="match")
    finish(table, np.random.default_rng(4))
    text, won = table.outcome()
    returns = table.records()[-1]["returns"]
    assert sorted(name for name, _ in won) == sorted(table.names)
    assert returns[table.names.index(won[0][0])] == max(returns)
    best = "You win" if won[0][0] == "You" else f"{won[0][0]} wins"
    points = game == "krypkille"
    assert text.startswith(f"{best} the match." if points else f"{best} {won[0][1][1:]}.")
    assert all(("/" in amount) == points for _, amount in won)
    assert won[0][0] == "You" or " You " in text


def test_a_result_names_all_who_have_won():
    table = sitting(1, "byteskille", episode="deal")
    finish(table, np.random.default_rng(4))
    last = table.records()[-1]
    person = table.person
    others = [seat for seat in range(len(table.names)) if seat != person]
    last["returns"] = [2.0] * len(table.names)
    last["returns"][person] = -4.0
    names = [table.names[seat] for seat in others]
    assert table.outcome()[0] == f"{listed(names)} win 2 each. You lose 4."
    last["returns"] = [0.0] * len(table.names)
    assert table.outcome()[0] == "Nobody wins or loses."


def test_a_result_in_points_is_in_the_order_in_which_the_players_went_out():
    table = sitting(1, "krypkille", episode="match")
    finish(table, np.random.default_rng(4))
    last = table.records()[-1]
    gone = [sum(s in deal["result"]["out"] for deal in last["deals"]) for s in range(4)]
    by_place = [gone[table.names.index(name)] for name, _ in table.outcome()[1]]
    assert by_place == sorted(gone) and by_place[-1] > by_place[1]


# Players


def test_bots_sit_in_lists_of_players_and_know_their_game():
    table = seat(["knack/tight"]).table
    seats, rules = table.num_players, table.rules
    assert (rules.game, seats, rules["episode"]) == ("knack", 4, "deal")
    names = ["knack/tight", "knack/drunk", "uniform", "knack/tight"]
    players = players_named(names, "knack", seats, rules)
    assert [name_of(player) for player in players] == names and players[0] is players[3]


def test_a_player_with_several_seats_is_asked_once():
    rules = spec("knack").resolve(episode="deal")
    players = players_named(["uniform", "knack/tight", "uniform"], "knack", 4, rules)
    once, seating = seating_of([players[0], None, *players[1:]])
    assert [name_of(player) for player in once] == ["uniform", "knack/tight"]
    assert seating.tolist() == [0, -1, 1, 0]


def test_one_name_is_for_all_seats_and_else_there_is_one_for_each():
    assert one_per_seat(["uniform"], 3) == ["uniform"] * 3
    assert one_per_seat(["uniform", "search"], 2) == ["uniform", "search"]
    with pytest.raises(PolicyError, match="2 players are named for 3 seats; name one for all"):
        one_per_seat(["uniform", "uniform"], 3)
