"""What a person can do now, and what players would do in that seat."""

import numpy as np
import pytest

from kille_agents.catalog import as_policy
from kille_env.errors import IllegalActionError, PolicyError
from kille_env.registry import list_games, make_batch, spec
from kille_training.people.advice import advisers_at, choices
from kille_training.people.names import names_at
from kille_training.people.sitting import Sitting


def table_of(game, seats=3, advisers=None, seed=3, player="rule_of_thumb", **switches) -> Sitting:
    """Returns a table that has begun, where nobody but people sits."""
    rules = spec(game).resolve(**{"episode": "deal", **switches})
    bot = as_policy(player, game, seats, rules)
    by_seat = [None, *[bot] * (seats - 1)]
    helpers = {name: as_policy(name, game, seats, rules) for name in advisers or ()}
    names = names_at(seats, {0: "Anna"})
    table = Sitting(game, rules, by_seat, names=names, seed=seed, advisers=helpers)
    table.begin()
    while not table.waits and not table.over:
        table.play()
    return table


@pytest.mark.parametrize("game", list_games())
def test_choices_name_the_cards_of_the_own_hand(game):
    rng = np.random.default_rng(2)
    named = 0
    batch = make_batch(game, 1, 4, seed=5)
    batch.reset()
    for _ in range(60):
        seat = int(batch.seat[0])
        hand = batch.game.view(batch.tables[0], batch.rules, seat).seats[seat].hand
        faces = {card.place: card.face for card in hand}
        found = choices(batch)
        assert [choice["text"] for choice in found] == batch.legal_texts()
        for choice in found:
            assert batch.find_action(choice["text"]) == choice["action"]
            assert choice["meaning"]
            codes = [word.removeprefix("*") for word in choice["text"].split(" ")[1:]]
            assert [batch.spec.pack.code(faces[place]) for place in choice["cards"]] == codes
            assert len(set(choice["cards"])) == len(codes)
            named += len(codes)
        batch.step([rng.choice(np.flatnonzero(batch.mask[0]))])
    assert (named > 0) == (game != "byteskille")


def test_equal_cards_take_different_places():
    deck = ["L3", "L4", "L3", "L5"]  # the first and the third go to one seat
    batch = make_batch("krypkille", 1, 2, seed=0, restart=False)
    batch.reset(deck=deck, dealer=1)
    while not batch.legal_texts()[0].startswith("discard"):
        batch.step([np.flatnonzero(batch.mask[0])[0]])
    cards = {choice["text"]: choice["cards"] for choice in choices(batch)}
    assert cards["discard"] == []
    assert len(set(cards["discard L3 L3"])) == 2
    assert cards["discard L3"] == cards["discard L3 L3"][:1]


def test_nobody_has_choices_when_the_match_is_over():
    table = table_of("byteskille")
    while not table.over:
        table.act(0, int(np.flatnonzero(table.batch.mask[0])[0])) if table.waits else table.play()
    assert choices(table.batch) == []
    with pytest.raises(IllegalActionError, match="the match is over"):
        table.question(0)


def test_advice_is_what_the_player_does_in_that_seat():
    names = ("rule_of_thumb", "uniform", "search")
    table = table_of("kungsholmskille", advisers=names)
    mover = Sitting(
        "kungsholmskille", table.batch.rules,
        [as_policy("search", "kungsholmskille", 3, table.batch.rules), *table.by_seat[1:]],
        names=table.names, seed=3,
    )  # fmt: skip
    mover.begin()
    while mover.seat != 0:
        mover.play()
    action = mover.think().action
    advice = table.question(0).advise()
    best = max(advice, key=lambda choice: choice["probabilities"]["search"])
    assert best["action"] == action
    for name in names:
        assert sum(choice["probabilities"][name] for choice in advice) == pytest.approx(1)
    assert {choice["probabilities"]["uniform"] for choice in advice} == {1 / len(advice)}


@pytest.mark.parametrize("opponent", ["byteskille/drunk", "search"])
def test_asking_changes_nothing(opponent):
    rules = {"game": "byteskille", "episode": "match", "player": opponent}
    plain, asked = (table_of(advisers=("search", "uniform"), seed=4, **rules) for _ in range(2))
    for table in (plain, asked):
        while not table.over and table.match == 0 and table.moment < 12:
            if not table.waits:
                table.play()
                continue
            if table is asked:
                assert table.question(0).advise() == table.question(0).advise()
            table.act(0, int(np.flatnonzero(table.batch.mask[0])[0]))
    assert plain.records(unfinished=True) == asked.records(unfinished=True)


def test_a_question_stays_as_it_was_when_the_table_goes_on():
    table = table_of("byteskille", advisers=("search",))
    asked, again = table.question(0), table.question(0)
    before = asked.advise()
    table.act(0, before[-1]["action"])
    assert again.advise() == before


def test_advice_is_for_whoever_is_asked_alone():
    table = table_of("byteskille", advisers=("uniform",))
    with pytest.raises(IllegalActionError, match="it is not your turn"):
        table.question(1)
    with pytest.raises(PolicyError, match="no adviser is called 'nobody'"):
        table.question(0).advise(["nobody"])


def test_who_remembers_the_match_cannot_advise():
    class Remembers:
        name, memory_size = "lstm", 2

        def probabilities_with_memory(self, observation, mask, memory):
            raise AssertionError("it is not to be asked")

    rules = spec("byteskille").resolve(episode="deal")
    with pytest.raises(PolicyError, match="cannot advise on one decision"):
        Sitting("byteskille", rules, [None] * 2, names="ab", seed=0, advisers={"x": Remembers()})


def test_every_game_has_advisers():
    for game in list_games():
        assert "rule_of_thumb" in advisers_at(game, 4, spec(game).resolve())


def test_where_the_deal_is_solved_the_solution_advises_and_choices_have_a_worth():
    rules = spec("byteskille").resolve(episode="deal")
    advisers = advisers_at("byteskille", 2, rules)
    assert list(advisers) == ["byteskille/solved", "rule_of_thumb"]
    assert list(advisers_at("byteskille", 2, spec("byteskille").resolve(episode="match"))) == [
        "rule_of_thumb"
    ]
    names = ["Anna", "Bo"]
    table = Sitting("byteskille", rules, [None] * 2, names=names, seed=3, advisers=advisers)
    table.begin()
    advice = table.question(table.seat).advise()
    best = max(advice, key=lambda choice: choice["worth"] or -9.0)
    assert best["probabilities"]["byteskille/solved"] > 0.5
    assert all(-2 <= (choice["worth"] or -9.0) <= 2 for choice in advice)
    assert {choice["worth"] for choice in table_of("knack").question(0).advise()} == {None}
