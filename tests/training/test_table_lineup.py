"""Players by name, and who sits where."""

import pytest

from kille_env.errors import PolicyError
from kille_env.play.policy import name_of
from kille_env.registry import spec
from kille_training.table.lineup import one_per_seat, players_named, seating_of
from kille_training.tables import seat


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
