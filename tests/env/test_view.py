"""What there is to see at a table: every card at a place, what moved, the calls, and no secrets.

That views and changes agree with each other and tell a seat nothing is part of the contract
(`kille_env.testing.views`), which `test_contract.py` plays; here the checks are shown to notice.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kille_env
from env import knack_tables, tables, trick_tables
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.play.policy import sample_actions
from kille_env.registry import load_game
from kille_env.testing.views import check_views
from kille_env.words.view import Change, Move, View, change_of


def seen(table: Any, seat: int | None = None) -> View:
    """Return the view of a seat."""
    return table.batch.game.view(table.record, table.rules, seat)


def changed(table: Any, script: str, seat: int | None = None) -> Change:
    """Play decisions and return what the last one has changed."""
    *first, last = script.split(", ")
    table.act(", ".join(first))
    before = table.record.copy()
    table.act(last)
    return table.batch.game.change(before, table.record.copy(), table.rules, seat)


def moves(change: Change) -> list[str]:
    return [f"{move.source} > {move.target}" for move in change.moves]


def calls(change: Change) -> list[tuple[int, str]]:
    return [(call.seat, call.words) for call in change.calls]


def faces(table: Any, cards: Any) -> str:
    """Return the codes of cards, "?" for each that is face down."""
    pack = table.spec.pack
    return " ".join("?" if card.face is None else pack.code(card.face) for card in cards)


# All games


def random_steps(game: str, players: int, episode: str, steps: int) -> Any:
    """Play at random; yields the table before and after each deal and each decision."""
    rng = np.random.default_rng(players)
    rules = kille_env.spec(game).resolve(episode=episode)
    batch = kille_env.make_batch(game, 1, players, rules=rules, seed=1, restart=False)
    batch.reset(deal=False)
    for _ in range(steps):
        before = batch.clone()
        if batch.over[0]:
            batch.reset(deal=False)
            continue
        if batch.at_chance[0]:
            batch.deal()
        else:
            batch.apply(sample_actions(batch.mask, rng))
        yield before, batch


@pytest.mark.parametrize("episode", ["match", "deal"])
def test_the_open_view_shows_the_whole_pack(game: str, episode: str, scale: Any) -> None:
    spec = kille_env.spec(game)
    for players in (spec.min_players, spec.max_players):
        gone = 0
        for before, batch in random_steps(game, players, episode, scale(200, 20)):
            table, rules = batch.tables[0], batch.rules
            change = batch.game.change(before.tables[0], table, rules)
            gone = 0 if table["deals"] != before.tables["deals"][0] else gone
            gone += sum(move.target.startswith("won ") for move in change.moves)
            view = batch.game.view(table, rules, None)
            shown = sum(len(seat.hand) + len(seat.played) for seat in view.seats)
            shown += sum(pile.count for pile in view.piles)
            assert shown + gone == spec.pack.size


@pytest.mark.parametrize("episode", ["match", "deal"])
def test_what_is_won_is_lost_by_somebody_or_lies_in_the_pot(
    game: str, episode: str, scale: Any
) -> None:
    spec = kille_env.spec(game)
    for _, batch in random_steps(game, spec.default_players, episode, scale(400, 40)):
        table = batch.tables[0]
        view = batch.game.view(table, batch.rules, 0)
        units = [seat.units for seat in view.seats]
        assert units == table["reward"][: len(units)].tolist()
        left = table["left_on_table"] if "left_on_table" in table.dtype.names else 0
        if spec.zero_sum:
            assert sum(units) + (view.pot or 0) + left == pytest.approx(0)


def said(batch: Batch, before: Any, after: Any, seat: int) -> list[str]:
    verdict = batch.game.change(before, after, batch.rules, seat).verdict
    return [verdict, *batch.game.narrate(before, after, batch.rules, None, seat)]


def test_words_are_the_same_whatever_is_hidden(game: str, scale: Any) -> None:
    """What a seat is told, verdicts too, follows from what it knows before and after."""
    batch = kille_env.make_batch(game, 1, 4, rules={"episode": "match"}, seed=1, restart=False)
    rng, told, keys = np.random.default_rng(4), 0, iter(range(10**6))
    batch.reset(deal=False)
    for _ in range(scale(400, 150)):
        if batch.over[0]:
            batch.reset(deal=False)
        elif batch.at_chance[0]:
            batch.deal()
        else:
            action, before = sample_actions(batch.mask, rng), batch.clone()
            batch.apply(action)
            for seat in range(4):
                other = before.clone()
                other.resample(seat, np.array([next(keys)], np.uint64))
                if not other.mask[0, action[0]]:
                    continue
                old = other.tables[0].copy()
                other.apply(action)
                if (other.information_state(seat) != batch.information_state(seat)).any():
                    continue
                words = said(batch, before.tables[0], batch.tables[0], seat)
                assert said(batch, old, other.tables[0], seat) == words
                differ = other.tables.tobytes() != batch.tables.tobytes()
                told += bool(words[0]) and differ
    assert told > 0


def leaks(view: View, table: Any) -> View:
    """Turn up the first hidden card of every hand, a card of the seat that holds it."""
    seats = []
    for number, seat in enumerate(view.seats):
        held = int(np.atleast_1d(table["hand"][number])[0])
        low = held if table["hand"].dtype == np.int8 else min(members(held), default=0)
        hand = tuple(card._replace(face=low - low % 2) for card in seat.hand[:1])
        seats.append(seat._replace(hand=hand + seat.hand[1:]))
    return view._replace(seats=tuple(seats))


def one_move_less(change: Change) -> Change:
    return Change(change.moves[:-1], change.calls)


def crossed(change: Change) -> Change:
    """Let two cards change their targets."""
    if len(change.moves) < 2 or not change.moves[0].target.startswith(("hand", "trick", "open")):
        return change
    one, two, *rest = change.moves
    crossed = (Move(one.source, two.target), Move(two.source, one.target))
    return Change((*crossed, *rest), change.calls)


def nowhere(change: Change) -> Change:
    return Change(tuple(Move("hand 0 99", move.target) for move in change.moves), change.calls)


@pytest.mark.parametrize("name", ["byteskille", "femkortskille"])
@pytest.mark.parametrize(
    ("bend", "complaint"),
    [
        (one_move_less, "without a move"),
        (nowhere, "none lies there|more than 1 times"),
        (crossed, "is another one when it lies|may not know"),
        (lambda change: Change(change.moves[:0], ()), "without a move"),
    ],
)
def test_a_wrong_change_is_noticed(
    name: str, bend: Callable[[Change], Change], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "kille_env.words.texts.change_of", lambda *args, **more: bend(change_of(*args, **more))
    )
    with pytest.raises(AssertionError, match=complaint):
        check_views(name, 4, kille_env.spec(name).resolve(), 400, 0)


@pytest.mark.parametrize("name", ["byteskille", "femkortskille", "kungsholmskille", "krypkille"])
def test_a_view_that_shows_hidden_cards_is_noticed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = load_game(name).definitions["view"]
    monkeypatch.setitem(
        load_game(name).definitions, "view", lambda *args: leaks(real(*args), args[0])
    )
    with pytest.raises(AssertionError, match=r"shows what it may not know|when it lies"):
        check_views(name, 4, kille_env.spec(name).resolve(), 400, 0)


# Byteskille


@pytest.mark.parametrize(
    ("hands", "script", "expected"),
    [
        ("L2 L3 L4 L5", "0 stand", [(0, "Nöjd!")]),
        ("L2 L3 L4 L5", "0 swap", [(0, "Byte!")]),
        ("L2 VH L4 L5", "0 swap", [(0, "Byte!"), (1, "Värdshus förbi!")]),
        ("L2 KA VH L5", "0 swap", [(0, "Byte!"), (1, "Kavall förbi!"), (2, "Värdshus förbi!")]),
        ("L2 HU L4 L5", "0 swap", [(0, "Byte!"), (1, "Husar hugger!")]),
        ("L2 SV L4 L5", "0 swap", [(0, "Byte!"), (1, "Svinhugg går igen!")]),
        ("L2 GO L4 L5", "1 wait, 0 swap", [(0, "Byte!"), (1, "Kuku står, ingen byta får!")]),
        ("L2 GO L4 L5", "1 call", [(1, "På rygg!")]),
        ("L2 GO L4 L5", "1 wait", []),
        ("L2 L3 L4", "0 ask", [(0, "Bättre kort?")]),
        ("L2 L3 L4", "0 ask, 2 no", [(2, "Omöjligt!")]),
        ("L2 L3 L4", "0 ask, 2 defer", [(2, "Det beror på!")]),
        ("L2 L3", "0 ask, 1 yes", [(1, "Accepteras!")]),
        ("L2 L3", "0 stand, 1 stand", [(1, "Nöjd!"), (1, "Upp till bevis!")]),
    ],
)
def test_the_calls_of_byteskille(hands: str, script: str, expected: Any) -> None:
    assert calls(changed(tables.Table(len(hands.split())).deal(hands), script, 0)) == expected


def test_what_the_talon_does_is_called_by_nobody() -> None:
    table = tables.play("L2 L3 L4 L5", talon="VH L9")
    change = changed(table, "0 stand, 1 stand, 2 stand, 3 swap", 0)
    assert calls(change) == [(-1, "Värdshus förbi!"), (3, "Upp till bevis!")]
    assert moves(change)[:2] == ["talon > aside", "hand 3 0 > aside"]
    assert "talon > open 3 0" in moves(change)


def test_a_seat_follows_the_cards_that_it_has_held() -> None:
    table = tables.play("L2 L3 L4 L5", "0 swap")
    assert [faces(table, seat.hand) for seat in seen(table, 0).seats] == ["L3", "L2", "?", "?"]
    assert moves(changed(table, "1 swap", 0)) == ["hand 2 0 > hand 1 0", "hand 1 0 > hand 2 0"]
    assert [faces(table, seat.hand) for seat in seen(table, 0).seats] == ["L3", "?", "L2", "?"]
    assert [faces(table, seat.hand) for seat in seen(table, 3).seats] == ["?", "?", "?", "L5"]


def test_an_open_kille_lies_before_its_seat_with_its_rank() -> None:
    table = tables.play("L2 KI L4 L5")
    assert moves(changed(table, "0 swap", 3)) == ["hand 1 0 > open 0 0", "hand 0 0 > hand 1 0"]
    kille = seen(table, 3).seats[0].played[0]
    assert (faces(table, [kille]), kille.word, kille.faded) == ("KI", "low", False)


def test_a_svin_sends_the_cards_back() -> None:
    table = tables.play("L3 L1 SV L9")
    change = changed(table, "0 swap, 1 swap", 3)
    assert moves(change) == ["hand 1 0 > hand 0 0", "hand 0 0 > hand 1 0", "hand 2 0 > open 2 0"]
    assert seen(table, 3).seats[0].words == ("swapped", "struck")
    assert seen(table, 3).seats[0].hand[0].faded


def test_that_a_gok_holder_is_asked_only_that_seat_sees() -> None:
    table = tables.play("L2 L3 GO L5")
    assert [seen(table, seat).turn for seat in (0, 1, 2, 3, None)] == [0, 0, 2, 0, 2]
    before = seen(table, 0)
    assert changed(table, "2 wait", 0) == Change()
    assert seen(table, 0) == before


def test_who_is_out_may_come_back() -> None:
    table = tables.Table(4).all_stand("L2 L3 L4 L5").act("0 buy")
    view = seen(table, 1)
    assert view.seats[0].words == ("kept", "out", "back in")
    assert (view.pot, view.seats[0].units) == (8 + 4, -2 - 4)


def test_what_is_laid_aside_its_owner_knows() -> None:
    table = tables.play("L9 L3 L4", "0 stand, 1 stand, 2 swap", talon="L5", gok_call="off")
    aside = [next(p for p in seen(table, s).piles if p.place == "aside") for s in (0, 2)]
    assert [(pile.count, pile.top is None) for pile in aside] == [(1, True), (1, False)]


# Tricks


def first_trick() -> Any:
    """Return a table of Femkortskille at which seat 0 leads with L1 L5 L9 HU GO."""
    return trick_tables.play(
        "femkortskille", "L1 L5 L9 | L2 L6 KI", "0 knock, 1 knock", talon="GO HU L7 L8"
    )


def test_a_hidden_hand_gives_its_last_card_and_an_own_one_the_card_itself() -> None:
    assert moves(changed(first_trick(), "0 L5", 1)) == ["hand 0 4 > trick 0"]
    table = first_trick()
    assert faces(table, seen(table, 0).seats[0].hand) == "L1 L5 L9 HU GO"
    assert moves(changed(table, "0 L5", 0)) == [
        "hand 0 1 > trick 0",
        "hand 0 2 > hand 0 1",
        "hand 0 3 > hand 0 2",
        "hand 0 4 > hand 0 3",
    ]
    assert faces(table, seen(table, 1).seats[0].hand) == "? ? ? ?"


def test_a_complete_trick_lies_until_the_next_is_led() -> None:
    table = first_trick().act("0 L5, 1 L6")
    assert [faces(table, seat.played) for seat in seen(table, 0).seats] == ["L5", "L6"]
    assert [seat.tricks for seat in seen(table, 0).seats] == [0, 1]
    lead = moves(changed(table, "1 L2", 0))
    assert lead == ["trick 0 > won 1", "trick 1 > won 1", "hand 1 3 > trick 1"]


def test_the_calls_of_the_trick_games() -> None:
    table = trick_tables.play("femkortskille", "L1 L5 L9 | L2 L6 KI")
    assert calls(changed(table, "0 check", 1)) == []
    assert calls(changed(table, "1 knock", 0)) == [(1, "Knack, knack!")]
    table = trick_tables.play("kungsholmskille", "L1 L2 L3 L4 L5 | L6 L7 L8 L9 KI")
    assert calls(changed(table, "0 bud", 1)) == [(0, "Bud!")]
    assert calls(changed(table, "1 knock", 0)) == [(1, "Knack, knack!")]
    assert calls(changed(table, "0 stay", 0)) == []
    table = knack_tables.Table(2).deal("AH 7C 8C | 6D 7D 8D")
    assert calls(changed(table, "0 knock", 1)) == [(0, "Knack, knack!")]


def test_an_exchange_shows_others_how_many_cards_moved() -> None:
    table = trick_tables.play(
        "kungsholmskille", "L1 L2 L3 L4 L5 | L6 L7 L8 L9 KI", "0 knock, 1 stay", talon="BL KR"
    )
    exchange = changed(table, "0 discard L2 L4", 1)
    assert moves(exchange) == [
        "hand 0 3 > aside",
        "hand 0 4 > aside",
        "talon > hand 0 3",
        "talon > hand 0 4",
    ]
    assert faces(table, seen(table, 0).seats[0].hand) == "BL KR L1 L3 L5"
    assert seen(table, 1).piles[1].count == 2


def test_a_hand_that_was_thrown_in_its_owner_still_sees() -> None:
    table = trick_tables.play(
        "femkortskille", "L1 L5 L9 | L2 L6 KI | L3 L4 BL", "0 fold, 1 knock, 2 knock"
    )
    own, others = (seen(table, seat).seats[0] for seat in (0, 1))
    assert (faces(table, own.hand), faces(table, others.hand)) == ("L1 L5 L9", "? ? ?")
    assert own.hand[0].faded and not own.present and own.words == ("folded",)


def test_a_card_that_is_led_face_down_its_leader_alone_sees() -> None:
    table = knack_tables.play("AH 7C 8C | 6D 7D 8D | 9S TS JS")
    table.knock(0, 1, 2).act("0 AH, 1 6D, 2 9S, 0 *7C")
    assert [faces(table, seen(table, seat).seats[0].played) for seat in (0, 1)] == ["7C", "?"]
    assert [pile.place for pile in seen(table, 1).piles] == ["talon", "turned up"]
