"""What the person can do and should do: cards by their places, hints with reasons."""

import re

import numpy as np
import pytest

from kille_agents.rules_of_thumb import rule_of_thumb
from kille_env.core.batch import Batch
from kille_env.play.policy import sample_actions
from kille_env.registry import list_games, make_batch
from kille_training.table.advice import Question, choices
from kille_training.table.rules import faces, rules_for


def tables(game: str, count: int, **rules) -> list[Batch]:
    """Return tables at random decisions."""
    batch = make_batch(game, 1, 4, rules={"episode": "match", **rules}, seed=5)
    batch.reset()
    rng, found = np.random.default_rng(7), []
    for _ in range(count):
        batch.step(sample_actions(batch.mask, rng))
        found.append(batch.clone())
    return found


def names_for(batch: Batch) -> list[str]:
    seat = int(batch.seat[0])
    return ["You" if other == seat else f"Guest{other}" for other in range(4)]


@pytest.mark.parametrize("game", list_games())
def test_every_choice_has_a_label_and_every_hint_a_reason(game):
    for batch in tables(game, 60):
        found = choices(batch, names_for(batch))
        assert len({choice["label"] for choice in found}) == len(found)
        hand = batch.game.view(batch.tables[0], batch.rules, int(batch.seat[0]))
        held = {card.place for card in hand.seats[int(batch.seat[0])].hand}
        assert all(set(choice["cards"]) <= held for choice in found)
        hint = Question(batch, names_for(batch)).advise()
        assert bool(hint) == (len(found) > 1)
        assert not hint or (": " in hint and hint.endswith("."))


@pytest.mark.parametrize("game", list_games())
def test_hints_and_choices_are_the_same_whatever_is_hidden(game):
    differ = 0
    for batch in tables(game, 40):
        other = batch.clone()
        other.resample(batch.seat.copy(), np.array([11], dtype=np.uint64))
        differ += other.tables.tobytes() != batch.tables.tobytes()
        names = names_for(batch)
        assert Question(other, names).advise() == Question(batch, names).advise()
        assert choices(other, names) == choices(batch, names)
    assert differ


def test_a_hint_is_what_the_rule_of_thumb_does():
    for batch in tables("byteskille", 30):
        hint = Question(batch, names_for(batch)).advise()
        policy = rule_of_thumb(4, batch.rules)
        action = int(policy.probabilities(batch.observation, batch.mask)[0].argmax())
        label = batch.game.choice(batch.tables[0], batch.rules, action, names_for(batch))
        assert not hint or hint.startswith(label.partition(":")[0])


@pytest.mark.parametrize(
    ("game", "deck", "knocks", "hint"),
    [
        ("byteskille", "KI L9", 0, "Keep my harlequin: it counts lowest, but then both would be "),
        ("byteskille", "L2 L9", 0, "Ask Guest1 for better cards: a refusal costs"),
        ("knack", "AC KD 7H 9H 8H 6S 6H", 2, "Lead the 8♥: trumps first: only"),
        ("knack", "AC KD 7H 9H QD 6S 6H", 2, "Lead the A♣: without a trump, lead the card that"),
    ],
)
def test_a_reason_holds_for_the_card_that_it_is_given_for(game, deck, knocks, hint):
    rules = {"episode": "deal", **({"stake": 4} if game == "byteskille" else {})}
    batch = make_batch(game, 1, 2, rules=rules, seed=1, restart=False)
    batch.reset(deck=deck.split(), dealer=1)
    for _ in range(knocks):
        batch.step([batch.find_action("knock")])
    assert Question(batch, names_for(batch)[:2]).advise().startswith(hint)


def test_what_a_choice_costs_is_said_where_the_deal_is_solved():
    batch = make_batch("byteskille", 1, 2, rules={"episode": "deal"}, seed=1, restart=False)
    batch.reset(deck=["BL", "L9"], dealer=1)
    names = names_for(batch)[:2]
    stand, swap = batch.find_action("stand"), batch.find_action("swap")
    assert Question(batch, names).cost(swap) == ""
    assert Question(batch, names).cost(stand).startswith("“Keep my mask” cost ")


@pytest.mark.parametrize("game", list_games())
def test_the_rules_speak_of_no_seats_and_codes(game):
    batch = make_batch(game, 1, 4)
    told = rules_for(batch.game, batch.rules, 4)
    text = str([told["sentences"], told["buttons"], told["sections"]])
    assert not re.search(r"\b([TJQKA6-9][CDHS]|L\d+|[A-Z]{2}|talon|chopped|units|seat \d)\b", text)
    assert len(told["sections"]) > 3 and told["sentences"].count(".") >= 2


def test_what_cards_do_is_told_of_each_of_them():
    batch = make_batch("byteskille", 1, 4)
    told = rules_for(batch.game, batch.rules, 4)
    assert sorted(told["powers"]) == ["GO", "HU", "KA", "KI", "SV", "VH"]
    assert told["ranking"][-1] == "GO" and "harlequin has no fixed place" in told["order"]
    told = faces(batch.spec.pack, told)
    assert told["L5"] == "5 (lilja 5), 8 of 20 from the lowest."
    assert told["HU"].startswith("hussar (husar), 19 of 20 from the lowest. If you demand it, ")
    assert told["KI"].startswith("harlequin (kille). A harlequin that stays with the player")
    knack = make_batch("knack", 1, 4)
    assert faces(knack.spec.pack, rules_for(knack.game, knack.rules, 4))["TD"].endswith(
        " 5 of 9 from the lowest."
    )


def test_the_ranking_shows_the_cards_that_are_in_play():
    for game, rules, codes in (
        ("krypkille", {"preset": "tiny"}, ["BL", "L4", "L8", "L12", "KI"]),
        ("knack", {}, ["6S", "7S", "8S", "9S", "TS", "JS", "QS", "KS", "AS"]),
    ):
        batch = make_batch(game, 1, 2, rules=rules)
        assert rules_for(batch.game, batch.rules, 2)["ranking"] == codes


def test_the_rules_of_a_single_deal_list_only_what_can_happen_in_it():
    for episode, found in (("deal", False), ("match", True)):
        batch = make_batch("byteskille", 1, 4, rules={"episode": episode})
        told = rules_for(batch.game, batch.rules, 4)
        assert ("buy" in told["buttons"]) is ("ask" in told["buttons"]) is found
        assert ("buy back in" in told["sentences"]) is ("pot" in told["sentences"]) is found
