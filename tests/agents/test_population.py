"""The population: bots that play at every table, do what their sentence says, and have a half."""

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


# Byteskille


def byteskille(habit, cards, script="", **rules):
    """What a bot does after some decisions, with these cards dealt, forehand first."""
    return does(tables.play(cards, script, **{"episode": "deal", **rules}), habit)


@pytest.mark.parametrize(
    ("habit", "card", "action"),
    [
        ("maniac", "GO", "swap"),
        ("maniac", "L12", "swap"),
        ("stone", "BL", "stand"),
        ("stone", "KI", "stand"),
        ("skitkort", "KR", "swap"),
        ("skitkort", "L1", "stand"),
        ("skitkort", "KI", "swap"),
        ("lilja_seven", "L6", "swap"),
        ("lilja_seven", "L7", "stand"),
        ("matadors", "L12", "swap"),
        ("matadors", "VH", "stand"),
        ("contented", "L3", "stand"),
        ("restless", "L6", "swap"),
        ("ladder", "L3", "swap"),
        ("ladder", "L4", "stand"),
        ("harlequin", "KI", "stand"),
        ("caller", "GO", "call"),
        ("caller", "L12", "stand"),
        ("solved", "L3", "swap"),
        ("solved", "L4", "stand"),
    ],
)
def test_forehand_of_four_does_what_the_sentence_says(habit, card, action):
    assert byteskille(habit, f"{card} L6 L7 L8") == action


@pytest.mark.parametrize(
    ("cards", "script", "actions"),
    [
        ("L5 L6 L7 L8", "0 stand", {"copycat": "stand"}),
        ("L5 L12 L7 L8", "0 stand", {"contrary": "swap"}),
        # Forehand swaps: the seat that had to give its card is next.
        ("L5 L12 L7 L8", "0 swap", {"copycat": "swap", "contrary": "stand"}),
        # The second swaps its lilja 2 for a lilja 4 that forehand got rid of.
        ("L4 L2 L5 L6", "0 swap", {"forgetful": "swap"}),
        ("BL BL", "0 ask", {"agreeable": "yes", "stone": "no"}),
        ("BL L12", "0 ask", {"agreeable": "no", "maniac": "yes"}),
    ],
)
def test_what_others_did_is_answered_as_the_sentence_says(cards, script, actions):
    assert {habit: byteskille(habit, cards, script) for habit in actions} == actions


def test_maniacs_buy_in_and_stones_do_not():
    out = ("BL L5 L6 L7", "0 stand, 1 stand, 2 stand, 3 stand")
    assert byteskille("maniac", *out, episode="match") == "buy"
    assert byteskille("stone", *out, episode="match") == "decline"


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


# The trick games


def test_femkortskille_is_knocked_as_the_sentences_say():
    weak, strong, gok = "L1 L2 L3", "KI L2 L3", "GO L2 L3"
    for name, hand, first, after_one in [
        ("maniac", weak, "knock", "knock"),
        ("coward", strong, "check", "fold"),
        ("gok", gok, "knock", "knock"),
        ("first", strong, "knock", "fold"),
        ("trapper", strong, "check", "knock"),
        ("copycat", weak, "check", "knock"),
    ]:
        hands = f"L4 L6 L7 | {hand} | BL BP KR"
        assert does(play("femkortskille", hands, "0 check"), name) == first
        assert does(play("femkortskille", hands, "0 knock"), name) == after_one


def test_the_high_leader_leads_high():
    hands, both, talon = "L5 HU GO | L4 SV KI", "0 knock, 1 knock", "L3 L9 L8 L10"
    table = play("femkortskille", hands, both, talon)
    assert (does(table, "puller"), does(table, "tight")) == ("GO", "L3")
    table.act("0 L9")
    assert (does(table, "puller"), does(table, "high_leader")) == ("L10", "KI")


def test_kungsholmskille_is_stayed_in_as_the_sentences_say():
    hands = "BL L8 SV HU KI | L6 L7 L8 L9 L10 | L1 L2 L3 L4 L5"
    table = play("kungsholmskille", hands, "0 knock")
    assert [does(table, name) for name in ("maniac", "coward", "skitkort", "tight")] == [
        "stay", "fold", "fold", "fold",
    ]  # fmt: skip
    table = play("kungsholmskille", hands, "0 knock, 1 fold")
    assert [does(table, name) for name in ("copycat", "few")] == ["fold", "stay"]


def test_krypkille_is_discarded_as_the_sentences_say():
    table = krypkille_tables.play("BL L2 L7 SV KI | L6 L7 L8 L9 L10")
    assert [does(table, name) for name in ("pat", "burnt", "hoarder", "new_cards")] == [
        "discard", "discard KI", "discard L7 SV KI", "discard L2 L7 SV",
    ]  # fmt: skip
    one_thrown = krypkille_tables.play("BL L2 L7 L8 KI | L6 L7 L8 L9 L10", "0 discard L2")
    assert does(one_thrown, "copycat") == "discard L7"


def test_krypkille_is_declared_as_the_sentences_say():
    end = krypkille_tables.end("KR L2 L3 BL")
    bots = ("maniac", "silent", "skitkort", "vulture", "copycat")
    assert [does(end, name) for name in bots] == [
        "declare", "pass", "declare", "declare", "pass",
    ]  # fmt: skip


def test_knack_is_joined_as_the_sentences_say():
    weak, ace, trump = "7C 8D 9S", "AC 8D 9S", "7H 8D 9S"  # hearts are trumps
    for name, hand, first, after_one in [
        ("maniac", weak, "knock", "knock"),
        ("coward", ace, "fold", "fold"),
        ("ace", ace, "knock", "knock"),
        ("any_trump", trump, "knock", "knock"),
        ("any_trump", ace, "fold", "fold"),
        ("copycat", weak, "fold", "knock"),
        ("lone_wolf", weak, "knock", "fold"),
    ]:
        hands = f"6D 7D 9D | {hand} | 6S 7S 8S"
        assert does(knack_tables.play(hands, "0 fold"), name) == first
        assert does(knack_tables.play(hands, "0 knock"), name) == after_one
