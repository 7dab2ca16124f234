"""A table whose cards and decisions are named, so that a test of a rule reads like the rule.

    table = play("femkortskille", "L1 L5 L9 | L2 L6 KI", "0 knock, 1 knock, 0 L9", talon="GO HU")
    assert table.seat == 1 and table.legal == "play KI"

The compiled kernel plays; the slow twin plays the same and must agree after every decision, so that
a sentence of the rules is held against both. Hands are named by seat from seat 0. The first dealer
is the last seat unless said otherwise, so that seat 0 is forehand. A card that is played goes by
its code alone.
"""

import importlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

import kille_env
from kille_env.cards.sets import members
from kille_env.testing.determinization import Hand


class NoMoreCards(Exception):
    """The twin is to deal a hand whose cards the test has not named yet."""


class Table:
    """One table: `deal` cards, `act`, look; for the trick games, and the base of the others."""

    def __init__(
        self,
        game: str,
        players: int,
        dealer: int | None = None,
        start: dict[str, Any] | None = None,
        **rules: Any,
    ) -> None:
        self.game, self.spec = game, kille_env.spec(game)
        self.rules = self.spec.resolve({"episode": "match", **rules})
        self.start = start or {}
        self.players, self.first_dealer = players, players - 1 if dealer is None else dealer
        self.batch = kille_env.make_batch(game, 1, players, rules=self.rules, seed=0, restart=False)
        self.batch.reset(dealer=self.first_dealer, start=self.start, deal=False)
        self.record = self.batch.arrays.tables[0]
        self.decks: list[list[str]] = []
        self.actions: list[str] = []
        self.results: list[dict[str, Any]] = []

    def deal(self, hands: str, talon: str = "") -> "Table":
        """Deal cards, seat 0 first ("L1 L5 L9 | L2 L6 KI"), no card for a seat that is out."""
        assert self.batch.at_chance[0], "no hand is to be dealt now"
        dealt = [cards.split() for cards in hands.split("|")]
        assert len(dealt) == self.players, f"{hands} is not for {self.players} seats"
        dealer = int(self.record["next_dealer"])
        while not dealt[dealer]:  # who is out does not deal
            dealer = (dealer + 1) % self.players
        seats = [(dealer + 1 + step) % self.players for step in range(self.players)]
        clockwise = [dealt[seat] for seat in seats if dealt[seat]]
        deck = [card for cards in zip(*clockwise, strict=True) for card in cards] + talon.split()
        pack = Counter(self.spec.pack.codes_without(self.spec.left_out(self.rules)))
        deck += (pack - Counter(deck)).elements()
        return self._deal(deck)

    def _deal(self, deck: list[str]) -> Any:
        """Deal a hand from this pack."""
        self.decks.append(deck)
        start = self.batch.clone()
        self.batch.deal(deck)
        self.hand_so_far = Hand(start, self.batch)
        self._look()
        return self

    def act(self, script: str) -> Any:
        """Play decisions like "0 knock, 1 fold, 0 L5": the seat that is to act, what it does."""
        for line in filter(None, (part.strip() for part in script.split(","))):
            seat, text = line.split(" ", 1)
            assert self.seat == int(seat), f"{line!r}, but seat {self.seat} is to act"
            text = f"play {text}" if text in self.spec.pack.codes else text
            assert text in self.batch.legal_texts(), f"{line!r}, but legal are {self.legal}"
            action = self.batch.find_action(text)
            self.batch.apply([action])
            self.hand_so_far.add(action, self.batch)
            self.actions.append(text)
            self._look()
        return self

    def _look(self) -> None:
        """Note the result of a hand that has ended, and compare where kernel and twin stand."""
        if self.seat is None:
            self.results.append(self.batch.result())
        self._compare(self._twin())

    @property
    def seat(self) -> int | None:
        """The seat to act, None between deals and at the end."""
        return int(self.record["seat"]) if self.record["seat"] >= 0 else None

    @property
    def phase(self) -> str:
        """What is to be decided."""
        return self.spec.phases[self.record["phase"]]

    @property
    def legal(self) -> str:
        """What the seat to act may do; of cards to play only the codes."""
        return ", ".join(text.removeprefix("play ") for text in self.batch.legal_texts())

    @property
    def hands(self) -> str:
        """The cards in hands, seat 0 first, each hand from the lowest card up."""
        return " | ".join(map(self.hand, range(self.players)))

    def hand(self, seat: int) -> str:
        """The cards in a hand, from the lowest up."""
        return " ".join(map(self.spec.pack.code, members(self.record["hand"][seat])))

    @property
    def result(self) -> dict[str, Any]:
        """The result of the deal that was the last to end."""
        return self.results[-1]

    @property
    def pot(self) -> int:
        """Units in the pot."""
        return int(self.record["pot"])

    @property
    def dealer(self) -> int:
        """Who has dealt."""
        return int(self.record["dealer"])

    @property
    def returns(self) -> list[float]:
        """What each seat has won or lost in the match so far."""
        return self.record["reward"][: self.players].tolist()

    def played(self, trick: int) -> list[str]:
        """The cards of a trick by seat, "-" for none."""
        cards = self.record["played"][trick][: self.players].tolist()
        return [self.spec.pack.code(card) if card >= 0 else "-" for card in cards]

    def part(self, name: str, seat: int) -> list[int]:
        """Return a part of a seat's observation."""
        part = next(p for p in self.spec.observation(self.players) if p.name == name)
        return self.batch.observe(seat)[0][part.slice].tolist()

    def information(self, name: str, seat: int) -> list[int]:
        """Return a part of a seat's information state."""
        part = next(p for p in self.spec.information_state(self.players) if p.name == name)
        return self.batch.information_state(seat)[0][part.slice].tolist()

    def all_see(self, name: str, expected: list[int]) -> bool:
        """Whether a part by seat shows every viewer the same, counted from them."""
        for viewer in range(self.players):
            assert self.part(name, viewer) == relative(expected, viewer), viewer
        return True

    def views(self, seat: int) -> tuple[bytes | str, ...]:
        """Return all that a seat is given to see: numbers, mask and words."""
        return (
            self.batch.observe(seat).tobytes(),
            self.batch.information_state(seat).tobytes(),
            self.batch.legal_actions(seat).tobytes(),
            self.batch.describe(0, seat),
        )

    def told(
        self, script: str, seat: int | None = None, names: list[str] | None = None
    ) -> list[str]:
        """Play decisions and return the words about the last one, as a seat is told them."""
        before = self._last(script)
        return self.batch.game.narrate(before, self.record.copy(), self.rules, names, seat)

    def verdict(self, script: str, seat: int | None = None) -> str:
        """Play decisions and return how the deal ended, as "You" in a seat are told."""
        before = self._last(script)
        names = ["You" if other == seat else f"seat {other}" for other in range(self.players)]
        return self.batch.game.change(before, self.record, self.rules, seat, names).verdict

    def _last(self, script: str) -> Any:
        """Play decisions, and return the table before the last one."""
        *first, last = script.split(", ")
        self.act(", ".join(first))
        before = self.record.copy()
        self.act(last)
        return before

    def _compare(self, twin: Any) -> None:
        assert twin.results == self.results
        if self.batch.at_chance[0]:
            return
        fields = self.record.dtype.names
        assert (twin.over, twin.truncated) == (self.phase == "over", bool(self.record["truncated"]))
        assert [float(value) for value in twin.returns] == self.returns
        assert twin.dealer == self.dealer
        assert "pot" not in fields or twin.pot == self.pot
        assert "left_on_table" not in fields or twin.left_on_table == self.record["left_on_table"]
        if not twin.over:
            assert (twin.seat, twin.phase) == (self.seat, self.phase)
            assert twin.legal() == self.batch.legal_texts()
            self._compare_hands(twin)

    def _compare_hands(self, twin: Any) -> None:
        for seat, held in twin.hand.items():
            assert not held or sorted(held) == sorted(self.hand(seat).split())

    def _twin(self) -> Any:
        """Return the twin where it stands; with a deal to come, before its cards."""
        match = importlib.import_module(f"reference.{self.game}").Match
        decks, twin = iter(self.decks), match.__new__(match)
        more: dict[str, Any] = {"start": self.start} if self.start else {}

        def next_deck() -> list[str]:
            try:
                return list(next(decks))
            except StopIteration:
                raise NoMoreCards from None

        try:
            twin.__init__(self.players, self.rules.as_dict(), self.first_dealer, next_deck, **more)
            for text in self.actions:
                twin.play(text)
        except NoMoreCards:
            assert self.batch.at_chance[0], "the twin deals, the kernel does not"
        return twin


def play(
    game: str,
    hands: str,
    script: str = "",
    talon: str = "",
    *,
    dealer: int | None = None,
    start: dict[str, Any] | None = None,
    **rules: Any,
) -> Table:
    """Return a table after the first deal's cards and decisions; see `Table`."""
    table = Table(game, hands.count("|") + 1, dealer, start, **rules)
    return table.deal(hands, talon).act(script)


def differ(one: Table, other: Table) -> set[int]:
    """Return the seats that see a difference between two tables; all of it must be recalled."""
    seats = {seat for seat in range(one.players) if one.views(seat) != other.views(seat)}
    for seat in seats:
        states = [table.batch.information_state(seat).tobytes() for table in (one, other)]
        assert states[0] != states[1], f"the information state of seat {seat} lacks the difference"
    return seats


def relative(values: Iterable[int], viewer: int) -> list[int]:
    """Turn a list by seat into one that begins with the viewer and go on clockwise."""
    return np.roll(list(values), -viewer).tolist()


def of(*members: int, players: int = 4) -> list[int]:
    """Return a part by seat with 1 for the members."""
    return [int(seat in members) for seat in range(players)]


def number(bits: Iterable[int]) -> int:
    """Return the number that bits stand for, lowest first."""
    return sum(bit << place for place, bit in enumerate(bits))
