"""Players named on the command line, and who sits where."""

import pytest

from kille_env.errors import PolicyError
from kille_env.play.policy import name_of
from kille_env.registry import spec
from kille_training.table.lineup import players_named, seating_of
from kille_training.tables import seat


def test_bots_sit_in_lists_of_players_and_know_their_game():
    table = seat(["knack/tight"]).table
    seats, rules = table.num_players, table.rules
    assert (rules.game, seats, rules["episode"]) == ("knack", 4, "deal")
    names = "knack/tight, knack/drunk, uniform, knack/tight"
    players = players_named(names, 4, "knack", seats, rules)
    assert [name_of(player) for player in players] == names.split(", ")
    with pytest.raises(PolicyError, match="knack/tight plays knack, not byteskille"):
        players_named("knack/tight", 3, "byteskille", 3, spec("byteskille").resolve())


def test_a_player_with_several_seats_is_asked_once():
    rules = spec("knack").resolve(episode="deal")
    players = players_named("uniform,knack/tight,uniform", 3, "knack", 4, rules)
    once, seating = seating_of([players[0], None, *players[1:]])
    assert [name_of(player) for player in once] == ["uniform", "knack/tight"]
    assert seating.tolist() == [0, -1, 1, 0]


def test_a_wrong_number_of_players_is_refused():
    rules = spec("knack").resolve(episode="deal")
    with pytest.raises(PolicyError, match="names 2 players for 3 seats; name one for all"):
        players_named("uniform,uniform", 3, "knack", 3, rules)
