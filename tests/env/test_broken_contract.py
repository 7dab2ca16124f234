"""Each promise of the contract that is broken is noticed: what a batch shows is bent somewhere."""

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import kille_env
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.core.spec import Part, Rules, lay_out
from kille_env.testing import contract, determinization, secrets
from kille_env.words.texts import Texts

GAME, PLAYERS = "byteskille", 3
SPEC = kille_env.spec(GAME)


def test_a_failure_names_game_rules_and_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Batch, "observe", lambda batch, seats: np.full((8, 500), 255, np.uint8))
    with pytest.raises(
        AssertionError, match=r"play: .*byteskille, 2 seats, rules .*svensk.* seed 0"
    ):
        kille_env.testing.check_game(GAME, decisions=10)


Patch = Callable[[pytest.MonkeyPatch], None]


def instead(name: str, how: Callable[..., Any], owner: type = Batch) -> Patch:
    """Return a patch that calls `how` in place of a method, with the method and its arguments."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        real = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given, **named: how(real, *given, **named))

    return patch


def bend(name: str, how: Callable[[Batch, Any, np.ndarray], None]) -> Patch:
    """Return a patch that bends the views of the method `name` of every batch."""

    def bent(real: Any, batch: Batch, seats: Any = None) -> np.ndarray:
        seats = batch.seat if seats is None else np.broadcast_to(seats, batch.num_tables)
        out = real(batch, np.maximum(seats, 0))
        how(batch, seats, out)
        return out

    return instead(name, bent)


def neighbours_card(batch: Batch, seats: Any, out: np.ndarray) -> None:
    rows = np.arange(batch.num_tables)
    out[:, 5] = batch.tables["hand"][rows, (np.asarray(seats) + 1) % batch.num_players] > 20


def no_events(batch: Batch, seats: Any, out: np.ndarray) -> None:
    parts = {part.name: part for part in SPEC.information_state(batch.num_players)}
    for name in ("events", "redeals"):
        out[:, parts[name].slice] = 0


def gok_asked(batch: Batch, seats: Any, out: np.ndarray) -> None:
    """Tell everybody that a gok holder is asked."""
    (asked,) = (part.offset for part in SPEC.observation(PLAYERS) if part.name == "asked")
    out[:, asked] |= (batch.tables["phase"] == 3).astype(np.uint8)


def pay_seat_0(real: Any, batch: Batch, actions: Any) -> None:
    real(batch, actions)
    batch.arrays.shown.reward[:, 0] += 0.5


def accept_everything(real: Any, batch: Batch, actions: Any) -> None:
    inside = np.clip(actions, 0, batch.spec.num_actions - 1)
    legal = batch.mask[np.arange(batch.num_tables), inside] != 0
    real(batch, np.where(legal, inside, batch.mask.argmax(axis=1)))


def seed_by_number(real: Any, batch: Batch, seed: Any) -> None:
    real(batch, (seed or 0) + batch.num_tables)


def forgetful_clone(real: Any, batch: Batch) -> Batch:
    twin = Batch(batch.game, batch.num_tables, batch.num_players, batch.rules, seed=3)
    twin.reset()
    return twin


def other_cards(real: Any, batch: Batch, deck: Any = None) -> None:
    real(batch, ["KI"] if deck is None else deck)


def half_a_deck(real: Any, batch: Batch, seed: Any = None, **options: Any) -> None:
    if options.get("deck"):
        options["deck"] = [*options["deck"][1:2], *options["deck"][:1], *options["deck"][2:]]
    real(batch, seed, **options)


def tell_everything(
    real: Any,
    texts: Texts,
    before: Any,
    after: Any,
    rules: Rules,
    names: Any = None,
    seat: Any = None,
) -> list[str]:
    return real(texts, before, after, rules, names)


def bent_determinizations(bent: Callable[..., np.ndarray]) -> Patch:
    """Return a patch that bends the determinizations of every batch."""

    def resample(real: Any, batch: Batch, seats: Any, keys: Any) -> np.ndarray:
        cards = bent(batch, np.broadcast_to(seats, batch.num_tables), np.array(keys), real)
        batch.place(batch.tables)
        return cards

    return instead("resample", resample)


def for_the_neighbour(batch: Batch, seats: Any, keys: Any, real: Any) -> np.ndarray:
    return real(batch, (seats + 1) % batch.num_players, keys)


def by_the_number_of_tables(batch: Batch, seats: Any, keys: Any, real: Any) -> np.ndarray:
    return real(batch, seats, np.asarray(keys, dtype=np.uint64) + np.uint64(batch.num_tables))


def by_chance(batch: Batch, seats: Any, keys: Any, real: Any) -> np.ndarray:
    return real(batch, seats, np.random.default_rng().integers(2**60, size=len(keys)))


def with_a_card_of_the_talon(batch: Batch, seats: Any, keys: Any, real: Any) -> np.ndarray:
    """The neighbour's card is another one, and the pack does not know of it."""
    cards = real(batch, seats, keys)
    rows, left = np.arange(batch.num_tables), (seats + 1) % batch.num_players
    hand = batch.tables["hand"][rows, left].astype(np.uint64)
    others = batch.tables["held"].copy()
    others[rows, left] = 0
    held = np.bitwise_or.reduce(others, axis=1)
    unknown = (batch.tables["hand"][rows, left] >= 0) & (held >> hand & np.uint64(1) == 0)
    unknown &= (batch.tables["showdown"] == 0) & (batch.tables["phase"] == 2)
    for field in ("hand", "dealt"):
        batch.arrays.tables[field][rows[unknown], left[unknown]] = batch.tables["deck"][unknown, -1]
    return cards


def that_bounds_do_not_hold(batch: Batch, seats: Any, keys: Any, real: Any) -> np.ndarray:
    """All hidden cards are shuffled, also those of which something is known."""
    cards = np.tile(np.arange(42, dtype=np.int8), (batch.num_tables, 1))
    for row in range(batch.num_tables):
        table = batch.tables[row]
        seen = members(table["held"][seats[row]] | table["shown"])
        hidden = [card for card in range(42) if card not in seen]
        cards[row, hidden] = np.random.default_rng(int(keys[row])).permutation(hidden)
    batch.game.relabel(batch.arrays.tables, batch.arrays.rules, cards)
    secret = batch.tables["phase"] == 3
    batch.arrays.tables["phase"][secret & (batch.seat != seats)] = 2
    turn = batch.tables["order"][np.arange(batch.num_tables), batch.tables["turn"]]
    asked = secret & (batch.seat != seats)
    batch.arrays.tables["seat"][asked] = turn[asked]
    return cards


BROKEN: list[tuple[Callable[..., None], Patch, str]] = [
    (
        contract.check_play,
        bend("observe", lambda _batch, _seats, out: out[:, 0].fill(200)),
        "'phase' of the observation ex",
    ),
    (
        contract.check_play,
        bend("information_state", lambda _batch, _seats, out: out[:, 0].fill(200)),
        "'phase' of the information state exceeds",
    ),
    (contract.check_play, bend("legal_actions", lambda _batch, _seats, out: out.fill(1)), "mask"),
    (contract.check_play, instead("step", pay_seat_0), "sum to zero|outside"),
    (contract.check_play, instead("step", accept_everything), "was accepted"),
    (contract.check_seeds, instead("seed", seed_by_number), "another game"),
    (contract.check_copies, instead("clone", forgetful_clone), "cloned tables play on differently"),
    (contract.check_hands, instead("deal", other_cards), "stepped and applied"),
    (contract.check_packs, instead("reset", half_a_deck), "play apart"),
    *(
        (secrets.check_secrets, bend(view, neighbours_card), f"{view} tells seat")
        for view in ("observe", "legal_actions", "information_state")
    ),
    (secrets.check_secrets, bend("observe", gok_asked), "observe tells seat"),
    (secrets.check_secrets, instead("narrate", tell_everything, Texts), "words tell seat"),
    (
        secrets.check_secrets,
        bend("information_state", lambda _batch, _seats, out: out.fill(0)),
        "lacks what describe tells",
    ),
    (
        secrets.check_recall,
        bend("information_state", no_events),
        "same information state .* came up with different",
    ),
    *(
        (determinization.check_determinizations, bent_determinizations(bent), words)
        for bent, words in (
            (
                for_the_neighbour,
                "shows seat . another determinization|describe tells|is impossible|is to act",
            ),
            (by_the_number_of_tables, "a determinization depends on the other tables|same key"),
            (by_chance, "the same key gives another determinization"),
            (with_a_card_of_the_talon, "a determinization that is impossible"),
            (that_bounds_do_not_hold, "a determinization that is impossible|describe tells"),
        )
    ),
]


@cache
def holds(check: Callable[..., None], rules: Rules) -> None:
    """Run a check on the game as it is, once for all that break it."""
    check(GAME, PLAYERS, rules, 3000, 0)


@pytest.mark.compiled
@pytest.mark.parametrize(("check", "patch", "words"), BROKEN)
def test_a_broken_promise_is_noticed(
    check: Callable[..., None], patch: Patch, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = SPEC.resolve(episode="deal")
    holds(check, rules)
    patch(monkeypatch)
    with pytest.raises(AssertionError, match=words):
        for seed in range(4):  # rare moments may not come up in the first hands
            check(GAME, PLAYERS, rules, 3000, seed)


def with_layout(*parts: Part) -> Callable[[int], tuple[Part, ...]]:
    return lambda players: parts


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "byte kille"}, "letters"),
        ({"default_players": 30}, "follow one another"),
        ({"actions": ("stand", "stand")}, "different ones"),
        ({"phases": ("over", "deal", "turn")}, "begin with"),
        ({"table": np.dtype([("seat", np.int8)])}, "lacks"),
        (
            {"observation": with_layout(Part("a", 2, "x"), Part("b", 1, "y"))},
            "lies at 0, expected 2",
        ),
        ({"full_state": with_layout(Part("a", 2, "x", 300))}, "outside 1 to 255"),
        (
            {"information_state": with_layout(*lay_out(Part("a", 1, "x"), Part("a", 1, "x")))},
            "same",
        ),
        ({"reward_range": lambda rules, players: (1.0, -1.0)}, "reward_range"),
        ({"max_decisions": lambda rules, players: 0}, "max_decisions"),
    ],
)
def test_an_unsound_spec_is_noticed(change: dict[str, Any], words: str) -> None:
    contract.check_spec(SPEC)
    with pytest.raises(AssertionError, match=words):
        contract.check_spec(dataclasses.replace(SPEC, **change))
