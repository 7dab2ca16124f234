"""Checks of `Texts.view` and `Texts.change`: places, moves, faces and secrets.

A view names a place for every card, and a change says which card went from which place to which. So
each can be held against the other: a card that nobody moved still lies where it lay, and one that
was moved shows the same face at both ends. What a seat sees is the same at every table that it
cannot tell from this one.
"""

from collections import Counter

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.play.policy import sample_actions
from kille_env.registry import make_batch
from kille_env.words.view import Card, Change, View

CARD_PLACES = ("hand ", "open ", "trick ")
"""How the names of places begin at which a view shows a card; all others are piles."""


def check_views(name: str, players: int, rules: Rules, decisions: int, seed: int) -> None:
    """Check views and changes along random matches: places, moves, faces, secrets."""
    rng = np.random.default_rng(seed)
    batch = make_batch(name, 1, players, rules=rules, seed=seed, restart=False)
    batch.reset(deal=False)
    for number in range(max(2, decisions // 20)):
        if batch.over[0]:
            batch.reset(deal=False)
        before = batch.clone()
        action = None if batch.at_chance[0] else sample_actions(batch.mask, rng)
        _play(batch, action)
        for seat in (None, *rng.choice(players, 2, replace=False).tolist()):
            _check_step(before, batch, seat)
        seat = int(rng.integers(players))
        _check_secrets(before, batch, seat, action, number)


def _play(batch: Batch, action: np.ndarray | None) -> None:
    """Deal, or play an action."""
    if action is None:
        batch.deal()
    else:
        batch.apply(action)


def _seen(batch: Batch, seat: int | None) -> View:
    return batch.game.view(batch.tables[0], batch.rules, seat)


def _changed(before: Batch, after: Batch, seat: int | None) -> Change:
    return before.game.change(before.tables[0], after.tables[0], before.rules, seat)


# Views and moves


def _check_step(before: Batch, after: Batch, seat: int | None) -> None:
    old, new, change = _seen(before, seat), _seen(after, seat), _changed(before, after, seat)
    _check_view(after, new, seat)
    for call in change.calls:
        assert -1 <= call.seat < after.num_players and call.words and call.meaning, (
            f"a call is without a caller, words or meaning: {call}"
        )
    if before.tables["deals"][0] != after.tables["deals"][0]:
        old = old._replace(seats=())  # the cards of the deal before are gathered
    if _seen(after, None).zones:  # a game whose views name no zones has no moves
        _check_moves(old, new, change)


def _check_view(batch: Batch, view: View, seat: int | None) -> None:
    cards, piles = _cards(view), [pile.place for pile in view.piles]
    assert view.viewer == seat and len(view.seats) == batch.num_players, (
        f"a view for seat {seat} says that {view.viewer} looks at {len(view.seats)} seats"
    )
    assert view.title and view.question, "a view has no title or question"
    assert -1 <= view.turn < batch.num_players, f"a view says that it is seat {view.turn}'s turn"
    _check_once([*(card.place for card in cards), *piles], "place")
    shown = [*(card.face for card in cards), *(pile.top for pile in view.piles)]
    faces, pack = [face for face in shown if face is not None], batch.spec.pack
    assert set(faces) <= set(range(0, pack.size, pack.copies)), (
        f"a view shows cards that are not the first of their type: {faces}"
    )
    _check_once(faces, "card", pack.copies)
    assert all(card.place.startswith(CARD_PLACES) for card in cards), (
        f"a card lies at none of the places {CARD_PLACES}: {[card.place for card in cards]}"
    )
    if seat is None:
        hidden = [card.place for card in cards if card.face is None]
        assert not hidden, f"the open view hides the cards at {hidden}"


def _cards(view: View) -> list[Card]:
    return [card for seat in view.seats for card in (*seat.hand, *seat.played)]


def _check_once(names: list, what: str, most: int = 1) -> None:
    often = [name for name, number in Counter(names).items() if number > most]
    assert not often, f"a view shows a {what} more than {most} times: {often}"


def _check_moves(old: View, new: View, change: Change) -> None:
    """Check that moves lead from the cards that lay there to those that lie there now."""
    was, now = ({card.place: card.face for card in _cards(view)} for view in (old, new))
    sources = [move.source for move in change.moves if move.source.startswith(CARD_PLACES)]
    targets = [move.target for move in change.moves if move.target.startswith(CARD_PLACES)]
    for moved, shown, where in ((sources, was, "before"), (targets, now, "after")):
        _check_once(moved, "move")
        wrong = set(moved) - set(shown)
        assert not wrong, f"a card moves, but none lies there {where} it: {sorted(wrong)}"
    stay = set(was) - set(sources)
    assert stay == set(now) - set(targets), (
        f"cards come or go without a move: {sorted(stay ^ (set(now) - set(targets)))}"
    )
    pairs = [(place, place) for place in stay]
    pairs += [(move.source, move.target) for move in change.moves if move.source in was]
    for source, target in pairs:
        faces = {was[source], now.get(target)} - {None}
        assert len(faces) < 2, f"the card at {source} is another one when it lies at {target}"


# Secrets


def _check_secrets(
    before: Batch, after: Batch, seat: int, action: np.ndarray | None, key: int
) -> None:
    """Check that a seat sees the same where it cannot know a difference."""
    if action is None:
        return
    hidden = before.tables["phase"][0] in before.spec.secret_phases and before.seat[0] != seat
    if hidden and action[0] in before.spec.secret_actions:
        assert _seen(before, seat) == _seen(after, seat) and not any(
            _changed(before, after, seat)
        ), f"seat {seat} sees a decision that is another's secret"
        return
    other = before.clone()
    other.resample(seat, [key])
    assert _seen(before, seat) == _seen(other, seat), (
        f"the view of seat {seat} shows what it may not know"
    )
    if other.seat[0] != before.seat[0] or not other.mask[0, action[0]]:
        return
    then = other.clone()
    then.apply(action)
    if np.array_equal(then.information_state(seat), after.information_state(seat)):
        assert _seen(after, seat) == _seen(then, seat), (
            f"the view of seat {seat} shows what it may not know after {action[0]}"
        )
        assert _changed(before, after, seat) == _changed(other, then, seat), (
            f"the change tells seat {seat} what it may not know"
        )
