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


Bend = Callable[[Batch, Any, np.ndarray], None]


def bend(name: str, how: Bend) -> Callable[[pytest.MonkeyPatch], None]:
    """Return what bends the views that the method `name` of every batch gives."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        real = getattr(Batch, name)

        def bent(batch: Batch, seats: Any = None) -> np.ndarray:
            seats = batch.seat if seats is None else np.broadcast_to(seats, batch.num_tables)
            out = real(batch, np.maximum(seats, 0))
            how(batch, seats, out)
            return out

        monkeypatch.setattr(Batch, name, bent)

    return patch


def neighbours_card(batch: Batch, seats: Any, out: np.ndarray) -> None:
    rows = np.arange(batch.num_tables)
    out[:, 5] = batch.tables["hand"][rows, (np.asarray(seats) + 1) % batch.num_players] > 20


def everything(batch: Batch, seats: Any, out: np.ndarray) -> None:
    out[:] = 1


def nothing(batch: Batch, seats: Any, out: np.ndarray) -> None:
    out[:] = 0


def too_much(batch: Batch, seats: Any, out: np.ndarray) -> None:
    out[:, 0] = 200


def no_events(batch: Batch, seats: Any, out: np.ndarray) -> None:
    parts = {part.name: part for part in SPEC.information_state(batch.num_players)}
    for name in ("events", "redeals"):
        out[:, parts[name].slice] = 0


def gok_asked(batch: Batch, seats: Any, out: np.ndarray) -> None:
    """Tell everybody that a gok holder is asked."""
    (asked,) = (part.offset for part in SPEC.observation(PLAYERS) if part.name == "asked")
    out[:, asked] |= (batch.tables["phase"] == 3).astype(np.uint8)


def pay_seat_0(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Batch.step

    def step(batch: Batch, actions: Any) -> None:
        real(batch, actions)
        batch.arrays.shown.reward[:, 0] += 0.5

    monkeypatch.setattr(Batch, "step", step)


def accept_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Batch.step

    def step(batch: Batch, actions: Any) -> None:
        rows = np.arange(batch.num_tables)
        inside = np.clip(actions, 0, batch.spec.num_actions - 1)
        legal = batch.mask[rows, inside] != 0
        real(batch, np.where(legal, inside, batch.mask.argmax(axis=1)))

    monkeypatch.setattr(Batch, "step", step)


def seed_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Batch.seed
    monkeypatch.setattr(
        Batch, "seed", lambda batch, seed: real(batch, (seed or 0) + batch.num_tables)
    )


def forgetful_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    def clone(batch: Batch) -> Batch:
        twin = Batch(batch.game, batch.num_tables, batch.num_players, batch.rules, seed=3)
        twin.reset()
        return twin

    monkeypatch.setattr(Batch, "clone", clone)


def other_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Batch.deal

    def deal(batch: Batch, deck: Any = None) -> None:
        real(batch, ["KI"] if deck is None else deck)

    monkeypatch.setattr(Batch, "deal", deal)


def half_a_deck(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Batch.reset

    def reset(batch: Batch, seed: Any = None, **options: Any) -> None:
        if options.get("deck"):
            options["deck"] = [*options["deck"][1:2], *options["deck"][:1], *options["deck"][2:]]
        real(batch, seed, **options)

    monkeypatch.setattr(Batch, "reset", reset)


def tell_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Texts.narrate

    def narrate(
        texts: Texts, before: Any, after: Any, rules: Rules, names: Any = None, seat: Any = None
    ) -> list[str]:
        return real(texts, before, after, rules, names)

    monkeypatch.setattr(Texts, "narrate", narrate)


def bent_determinizations(bend: Callable[..., np.ndarray]) -> Callable[[pytest.MonkeyPatch], None]:
    """Return what bends the determinizations that every batch draws."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        real = Batch.resample

        def resample(batch: Batch, seats: Any, keys: Any) -> np.ndarray:
            cards = bend(batch, np.broadcast_to(seats, batch.num_tables), np.array(keys), real)
            batch.place(batch.tables)
            return cards

        monkeypatch.setattr(Batch, "resample", resample)

    return patch


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


BROKEN: dict[Callable[..., None], dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]]] = {
    contract.check_play: {
        "an observation out of bounds": (
            bend("observe", too_much),
            "'phase' of the observation ex",
        ),
        "an information state out of bounds": (
            bend("information_state", too_much),
            "'phase' of the information state exceeds",
        ),
        "masks of those who do not act": (bend("legal_actions", everything), "mask"),
        "money from nowhere": (pay_seat_0, "sum to zero|outside"),
        "illegal actions": (accept_everything, "was accepted"),
    },
    contract.check_seeds: {"seeds by the number of tables": (seed_by_number, "another game")},
    contract.check_copies: {"clones": (forgetful_clone, "cloned tables play on differently")},
    contract.check_hands: {"dealing by hand": (other_cards, "stepped and applied")},
    contract.check_packs: {"given packs": (half_a_deck, "play apart")},
    secrets.check_secrets: {
        "secrets in the observation": (bend("observe", neighbours_card), "observe tells seat"),
        "secrets in the mask": (bend("legal_actions", neighbours_card), "legal_actions tells seat"),
        "secrets in the information state": (
            bend("information_state", neighbours_card),
            "information_state tells seat",
        ),
        "the question whether to call": (bend("observe", gok_asked), "observe tells seat"),
        "secrets in what is told": (tell_everything, "words tell seat"),
        "an information state that says nothing": (
            bend("information_state", nothing),
            "lacks what describe tells",
        ),
    },
    secrets.check_recall: {
        "forgotten events": (
            bend("information_state", no_events),
            "same information state .* came up with different",
        )
    },
    determinization.check_determinizations: {
        "determinizations for another seat": (
            bent_determinizations(for_the_neighbour),
            "shows seat . another determinization|describe tells|is impossible|is to act",
        ),
        "determinizations by the number of tables": (
            bent_determinizations(by_the_number_of_tables),
            "a determinization depends on the other tables|same key",
        ),
        "determinizations by chance": (
            bent_determinizations(by_chance),
            "the same key gives another determinization",
        ),
        "determinizations that no pack deals": (
            bent_determinizations(with_a_card_of_the_talon),
            "a determinization that is impossible",
        ),
        "determinizations that the rules forbid": (
            bent_determinizations(that_bounds_do_not_hold),
            "a determinization that is impossible|describe tells",
        ),
    },
}


@cache
def holds(check: Callable[..., None], rules: Rules) -> None:
    """Run a check on the game as it is, once for all that break it."""
    check(GAME, PLAYERS, rules, 3000, 0)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("check", "patch", "words"),
    [
        pytest.param(check, *broken, id=what)
        for check, promises in BROKEN.items()
        for what, broken in promises.items()
    ],
)
def test_a_broken_promise_is_noticed(
    check: Callable[..., None],
    patch: Callable[[pytest.MonkeyPatch], None],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
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
