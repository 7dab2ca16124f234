"""Small siblings: games with fewer cards, by the rules of the full ones."""

from collections import Counter
from typing import Any

import pytest

import kille_env
from env.counted import BY_CHANCE, p_value
from env.trick_tables import play
from kille_env.cards.sets import members
from kille_env.core.spec import PackSwitch
from kille_env.errors import CardError, RulesError

PRESETS = [
    (game, preset)
    for game in kille_env.list_games()
    for preset in kille_env.spec(game).presets
    if kille_env.spec(game).left_out(kille_env.spec(game).resolve(preset))
]


def codes_of(game: str, rules: Any) -> list[str]:
    """The codes of all cards that are played with."""
    spec = kille_env.spec(game)
    return spec.pack.codes_without(spec.left_out(spec.resolve(rules)))


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize(("game", "preset"), PRESETS)
def test_the_cards_of_the_pack_are_dealt_and_no_others(game, preset, seats):
    batch = kille_env.make_batch(game, 200, seats, rules=preset, seed=1)
    batch.reset()
    expected, drawn = Counter(codes_of(game, preset)), set()
    for table in range(batch.num_tables):
        codes = [batch.spec.pack.code(card) for card in batch.drawn_cards(table)]
        assert Counter(codes) <= expected
        drawn |= set(codes)
    assert drawn == set(expected)
    assert expected.total() >= batch.spec.cards_needed(batch.rules, 3)


@pytest.mark.compiled
def test_every_hand_of_a_small_pack_is_equally_likely():
    rules = {"pack": "BL+L4+KI", "hand": 2, "max_discards": 0}
    batch = kille_env.make_batch("krypkille", 50_000, 2, rules=rules, seed=1)
    batch.reset(dealer=1)
    hands = [tuple(members(hand)) for hand in batch.tables["hand"][:, 0]]
    cards = [0, 1, 8 + 4, 8 + 5, 40, 41]
    pairs = {(a, b): 1 for a in cards for b in cards if a < b}
    assert p_value(Counter(pairs), hands) > BY_CHANCE


# Values that are refused, with a way out


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"pack": "BL+L44"}, r"codes of cards joined by \+.*'L44' is not a card. Did you mean"),
        ({"pack": "BL+BL"}, "'BL.BL', expected codes of cards joined by .*, each once, or null"),
        ({"pack": ""}, "is not a card"),
        ({"pack": ["BL", "L4"]}, "expected codes of cards joined by"),
        ({"hand": 1}, "switch 'hand' is 1, expected a whole number from 2 to 5"),
    ],
)
def test_an_impossible_rule_is_refused(rules, told):
    with pytest.raises(RulesError, match=told):
        kille_env.spec("krypkille").resolve(rules)


def test_more_seats_than_the_pack_has_cards_for_are_refused():
    spec = kille_env.spec("krypkille")
    told = r"6 players may take 12 cards, and the pack of these rules has 10: seat at most 5, or"
    for make in (kille_env.make_batch, kille_env.make, kille_env.Table.of):
        with pytest.raises(RulesError, match=told):
            make("krypkille", num_players=6, rules="tiny")
    with pytest.raises(RulesError, match=r"2 players may take 10 cards.* 4: nobody can play"):
        kille_env.make_batch("krypkille", rules={"pack": "BL+KI"})
    assert kille_env.make_batch("krypkille", rules="tiny").num_players == 4
    assert spec.most_players(spec.resolve({"preset": "tiny"})) == 5


def test_a_deck_holds_cards_of_the_pack_alone():
    batch = kille_env.make_batch("krypkille", 1, 2, rules="tiny", seed=1)
    batch.reset(deck=["BL", "KI", "BL"])
    assert [batch.spec.pack.code(card) for card in batch.drawn_cards()[:3]] == ["BL", "KI", "BL"]
    with pytest.raises(CardError, match="card 1 of the deck is L5, which these rules leave out"):
        batch.reset(deck=["BL", "L5"])


def test_a_pack_is_kept_in_its_order_and_a_whole_one_as_null():
    spec = kille_env.spec("krypkille")
    assert spec.resolve({"pack": "KI+BL"})["pack"] == "BL+KI"
    whole = spec.resolve({"pack": "+".join(reversed(spec.pack.codes))})
    assert whole == spec.resolve()
    assert whole["pack"] is None


# Krypkille


def test_all_that_is_counted_is_counted_in_the_pack_of_krypkille():
    hands = "L4 KI | L8 L12"
    table = play("krypkille", hands, "0 discard KI", "BL", preset="tiny")
    left_out = [code for code in table.spec.pack.codes if code not in codes_of("krypkille", "tiny")]
    known = dict(zip(table.spec.pack.codes, table.part("known", 0), strict=True))
    assert known == {**dict.fromkeys(left_out, 2), "BL": 1, "L4": 1, "L8": 0, "L12": 0, "KI": 1}
    assert (table.part("lower", 0), table.part("equal", 0)) == ([0], [1])
    assert table.part("may_hold", 0) == [0, 7]
    assert table.part("trick", 0) == [0, 0, 0, 0]
    table.act("1 discard, 0 L4")
    assert (table.phase, table.seat, table.part("trick", 0)) == ("guess", 1, [1, 0, 0, 0])
    assert table.part("may_hold", 0) == [0, 5]  # an L4 would have headed, too


def test_nobody_discards_more_than_a_hand():
    table = play("krypkille", "L4 KI | L8 L12", hand=2)
    assert table.legal == "discard, discard L4, discard KI, discard L4 KI"
    assert "discards any number of the 2 cards" in kille_env.registry.describe_rules(
        "krypkille", {"hand": 2}
    )


def test_a_switch_with_a_pack_names_its_cards():
    for game, preset in PRESETS:
        spec = kille_env.spec(game)
        (switch,) = (one for one in spec.switches if isinstance(one, PackSwitch))
        assert switch.encode(spec.resolve(preset)["pack"]) == sum(
            1 << card for card in spec.left_out(spec.resolve(preset))
        )
        assert switch.encode(None) == 0
