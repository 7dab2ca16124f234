"""The population: bots that play at every table, do what their sentence says, and have a half."""

from functools import partial

import numpy as np
import pytest

import kille_env
from env import knack_tables, krypkille_tables, tables
from env.players import decisions, does
from env.trick_tables import play
from kille_agents.catalog import load_policy
from kille_agents.population import ROSTER, population
from kille_env.errors import PolicyError
from kille_env.play.policy import ObservationPolicy, check_probabilities


def tables_of(game):
    """Seats, switches and episodes under which everything in a game can happen."""
    spec = kille_env.spec(game)
    sizes = {spec.min_players, 3, spec.default_players, spec.max_players}
    for preset in spec.presets:
        for seats in sizes:
            for episode in ("deal", "match"):
                rules = spec.resolve(preset, episode=episode)
                if seats <= spec.most_players(rules):
                    yield seats, rules
    others = {
        switch.name: next(v for v in switch.values if v != switch.value_for(spec.presets[0]))
        for switch in spec.switches
        if len(switch.values) > 1
    }
    yield spec.default_players, spec.resolve(others, episode="match")


def test_everybody_plays_at_every_table(game):
    for seats, rules in tables_of(game):
        seen, mask = decisions(game, seats, rules)
        for name in ("uniform", "rule_of_thumb", *population(game)):
            player = load_policy(name, game, seats, rules)
            assert isinstance(player, ObservationPolicy)
            assert player.name == name
            chances = player.probabilities(seen, mask)
            check_probabilities(name, chances, mask)
            assert name != "rule_of_thumb" or (chances.max(axis=1) == 1.0).all()
            # What one does depends on nothing but what one sees.
            some = np.arange(len(seen))[::-3]
            assert np.array_equal(player.probabilities(seen[some], mask[some]), chances[some])


def test_no_two_of_a_game_are_the_same(game):
    spec = kille_env.spec(game)
    rules = [spec.resolve(episode="deal"), spec.resolve(episode="match")]
    # The last two or three of Byteskille are asked what larger tables never are.
    told = [
        (seats, each, decisions(game, seats, each, tables=200))
        for seats in {3, spec.default_players}
        for each in rules
    ]
    played = {}
    for name in ("rule_of_thumb", *population(game)):
        played[name] = b"".join(
            load_policy(name, game, seats, each).probabilities(*shown).tobytes()
            for seats, each, shown in told
        )
    assert len(set(played.values())) == len(played)


def test_names_are_unique_and_their_games_are_games():
    for name, bot in ROSTER.items():
        assert name == bot.name
        assert bot.game in kille_env.list_games()
        assert "," not in name  # lists of players have commas between them
    assert all(len(population(game)) >= 8 for game in kille_env.list_games())


def test_halves_are_disjoint_and_cover_everybody(game):
    train, held_out = population(game, "train"), population(game, "held_out")
    assert not set(train) & set(held_out)
    assert sorted(train + held_out) == sorted(population(game))
    assert abs(len(train) - len(held_out)) <= 1
    for half in (train, held_out):
        assert len({name.partition("/")[2] for name in half} & {"tipsy", "drunk"}) == 1


def test_halves_that_do_not_exist_are_refused():
    with pytest.raises(PolicyError, match="Did you mean 'held_out'"):
        population("knack", "held-out")


def test_the_halves_stay_as_they_are():
    # A bot that changes halves has been studied by learners that are judged against it.
    assert population("femkortskille", "held_out") == [
        f"femkortskille/{habit}"
        for habit in ("coward", "loose", "mean", "trapper", "few", "high_leader", "drunk")
    ]


def test_a_bot_of_another_game_is_refused():
    rules = kille_env.spec("knack").resolve()
    with pytest.raises(PolicyError, match="plays byteskille, not knack; `kille players knack`"):
        load_policy("byteskille/maniac", "knack", 3, rules)


@pytest.mark.parametrize(("preset", "seats"), [("svensk", 2), ("svensk", 3), ("wikipedia", 4)])
def test_the_solved_bot_samples_where_it_is_solved(preset, seats):
    rules = kille_env.spec("byteskille").resolve(preset, episode="deal")
    seen, mask = decisions("byteskille", seats, rules, tables=100)
    solved = load_policy("byteskille/solved", "byteskille", seats, rules)
    chances = solved.probabilities(seen, mask)
    assert ((chances > 0.001) & (chances < 0.999)).any()
    elsewhere = kille_env.spec("byteskille").resolve(preset, episode="match")
    usual = load_policy("rule_of_thumb", "byteskille", seats, elsewhere)
    seen, mask = decisions("byteskille", seats, elsewhere, tables=50)
    solved = load_policy("byteskille/solved", "byteskille", seats, elsewhere)
    assert np.array_equal(solved.probabilities(seen, mask), usual.probabilities(seen, mask))


# What the sentences say: a table, which a test lays when it runs, and what bots do there


def byteskille(cards, script="", **rules):
    return partial(tables.play, cards, script, **{"episode": "deal", **rules})


def of_three(game, hand, first):
    """A table at which the first of three has said something, and the second has this hand."""
    if game == "knack":
        return partial(knack_tables.play, f"6D 7D 9D | {hand} | 6S 7S 8S", first)
    return partial(play, game, f"L4 L6 L7 | {hand} | BL BP KR", first)


def joins(game, habit, hand, first, after_one):
    """What a bot does after nobody has knocked, and after one has."""
    waits = "0 fold" if game == "knack" else "0 check"
    return [
        (of_three(game, hand, waits), {habit: first}),
        (of_three(game, hand, "0 knock"), {habit: after_one}),
    ]


FOREHAND = {
    "GO": {"maniac": "swap", "caller": "call"},
    "L12": {"maniac": "swap", "matadors": "swap", "caller": "stand"},
    "BL": {"stone": "stand"},
    "KI": {"stone": "stand", "skitkort": "swap", "harlequin": "stand"},
    "KR": {"skitkort": "swap"},
    "L1": {"skitkort": "stand"},
    "L3": {"contented": "stand", "ladder": "swap", "solved": "swap"},
    "L4": {"ladder": "stand", "solved": "stand"},
    "L6": {"lilja_seven": "swap", "restless": "swap"},
    "L7": {"lilja_seven": "stand"},
    "VH": {"matadors": "stand"},
}
WEAK, STRONG, GOK = "L1 L2 L3", "KI L2 L3", "GO L2 L3"
LOW, ACE, TRUMP = "7C 8D 9S", "AC 8D 9S", "7H 8D 9S"  # hearts are trumps
OUT = ("BL L5 L6 L7", "0 stand, 1 stand, 2 stand, 3 stand")
FIFTH = ("L5 HU GO | L4 SV KI", "0 knock, 1 knock", "L3 L9 L8 L10")
KUNGSHOLM = "BL L8 SV HU KI | L6 L7 L8 L9 L10 | L1 L2 L3 L4 L5"
SENTENCES = [
    *((byteskille(f"{card} L6 L7 L8"), does_it) for card, does_it in FOREHAND.items()),
    (byteskille("L5 L6 L7 L8", "0 stand"), {"copycat": "stand"}),
    (byteskille("L5 L12 L7 L8", "0 stand"), {"contrary": "swap"}),
    # Forehand swaps: the seat that had to give its card is next.
    (byteskille("L5 L12 L7 L8", "0 swap"), {"copycat": "swap", "contrary": "stand"}),
    # The second swaps its lilja 2 for a lilja 4 that forehand got rid of.
    (byteskille("L4 L2 L5 L6", "0 swap"), {"forgetful": "swap"}),
    (byteskille("BL BL", "0 ask"), {"agreeable": "yes", "stone": "no"}),
    (byteskille("BL L12", "0 ask"), {"agreeable": "no", "maniac": "yes"}),
    (byteskille(*OUT, episode="match"), {"maniac": "buy", "stone": "decline"}),
    *joins("femkortskille", "maniac", WEAK, "knock", "knock"),
    *joins("femkortskille", "coward", STRONG, "check", "fold"),
    *joins("femkortskille", "gok", GOK, "knock", "knock"),
    *joins("femkortskille", "first", STRONG, "knock", "fold"),
    *joins("femkortskille", "trapper", STRONG, "check", "knock"),
    *joins("femkortskille", "copycat", WEAK, "check", "knock"),
    (partial(play, "femkortskille", *FIFTH), {"puller": "GO", "tight": "L3"}),
    (
        partial(play, "femkortskille", FIFTH[0], f"{FIFTH[1]}, 0 L9", FIFTH[2]),
        {"puller": "L10", "high_leader": "KI"},
    ),
    (
        partial(play, "kungsholmskille", KUNGSHOLM, "0 knock"),
        {"maniac": "stay", "coward": "fold", "skitkort": "fold", "tight": "fold"},
    ),
    (
        partial(play, "kungsholmskille", KUNGSHOLM, "0 knock, 1 fold"),
        {"copycat": "fold", "few": "stay"},
    ),
    (
        partial(krypkille_tables.play, "BL L2 L7 SV KI | L6 L7 L8 L9 L10"),
        {
            "pat": "discard",
            "burnt": "discard KI",
            "hoarder": "discard L7 SV KI",
            "new_cards": "discard L2 L7 SV",
        },
    ),
    (
        partial(krypkille_tables.play, "BL L2 L7 L8 KI | L6 L7 L8 L9 L10", "0 discard L2"),
        {"copycat": "discard L7"},
    ),
    (
        partial(krypkille_tables.end, "KR L2 L3 BL"),
        {"maniac": "declare", "skitkort": "declare", "vulture": "declare"},
    ),
    (partial(krypkille_tables.end, "KR L2 L3 BL"), {"silent": "pass", "copycat": "pass"}),
    *joins("knack", "maniac", LOW, "knock", "knock"),
    *joins("knack", "coward", ACE, "fold", "fold"),
    *joins("knack", "ace", ACE, "knock", "knock"),
    *joins("knack", "any_trump", TRUMP, "knock", "knock"),
    *joins("knack", "any_trump", ACE, "fold", "fold"),
    *joins("knack", "copycat", LOW, "fold", "knock"),
    *joins("knack", "lone_wolf", LOW, "knock", "fold"),
]


@pytest.mark.parametrize(("table", "actions"), SENTENCES)
def test_a_bot_does_what_its_sentence_says(table, actions):
    assert {habit: does(table(), habit) for habit in actions} == actions
