"""A table whose cards and decisions are named, so that a test of a rule reads like the rule.

    table = play("L5 L3 GO L9", "0 swap, 1 swap")
    assert table.hands == "L3 L5 GO L9" and table.out == {0}

The compiled kernel plays; the slow twin plays the same and must agree after every decision, so that
a sentence of the rules is held against both. Cards are named in the order of dealing, forehand
first. The first dealer is the last seat unless said otherwise, so that the first card is seat 0's.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

import kille_env
from kille_env.games.byteskille import SPEC
from kille_env.games.byteskille.table import Event
from reference.byteskille import Match

EVENTS = {event.value: event.name.lower() for event in Event}


class NoMoreCards(Exception):
    """The twin is to deal a hand whose cards the test has not named yet."""


def seats(bits: Any) -> set[int]:
    """Returns the seats of a bit set."""
    return {seat for seat in range(32) if int(bits) >> seat & 1}


def code(card: Any) -> str:
    """Returns the code of a card, "-" for none."""
    return SPEC.pack.code(card) if card >= 0 else "-"


class Table:
    """One table: `deal` cards, `act`, look.

    Attributes:
        record: The kernel's record of the table.
        batch: The batch of this one table.
    """

    def __init__(self, players: int, dealer: int | None = None, **rules: Any) -> None:
        self.rules = SPEC.resolve(rules)
        self.players, self.first_dealer = players, players - 1 if dealer is None else dealer
        self.batch = kille_env.make_batch(
            "byteskille", 1, players, rules=self.rules, seed=0, restart=False
        )
        self.batch.reset(dealer=self.first_dealer, deal=False)
        self.record = self.batch._tables[0]
        self.decks: list[list[str]] = []
        self.actions: list[str] = []

    def deal(self, hands: str, talon: str = "") -> "Table":
        """Deals one hand.

        Args:
            hands: The players' cards, forehand first, or by seat: "1:L5 3:GO".
            talon: The first cards of the talon.
        """
        assert self.batch.at_chance[0], "no hand is to be dealt now"
        players = set(range(self.players)) if self.record["new_pot"] else self.in_pot
        cards = hands.split()
        if ":" in hands:
            by_seat = {int(seat): card for seat, card in (card.split(":") for card in cards)}
            assert set(by_seat) == players, f"the players are {players}"
            dealer = self.record["dealer"] if self.record["redeal"] else self.next_dealer
            clockwise = ((dealer + 1 + i) % self.players for i in range(self.players))
            cards = [by_seat[seat] for seat in clockwise if seat in players]
        assert len(cards) == len(players), f"the players are {players}"
        self.decks.append([*cards, *talon.split()])
        self.batch.deal(self.decks[-1])
        self._compare()
        return self

    def act(self, script: str) -> "Table":
        """Plays decisions like "0 swap, 1 stand": the seat that is to act, and what it does."""
        for line in filter(None, (part.strip() for part in script.split(","))):
            seat, text = line.split()
            assert self.seat == int(seat), f"{line!r}, but seat {self.seat} is to act"
            self.batch.apply([SPEC.actions.index(text)])
            self.actions.append(text)
            self._compare()
        return self

    def all_stand(self, hands: str) -> "Table":
        """Deals a hand in which everybody stands, and no gok holder calls."""
        self.deal(hands)
        dealt = len(self.decks)
        while self.phase in ("turn", "gok") and len(self.decks) == dealt:
            self.act(f"{self.seat} {'stand' if self.phase == 'turn' else 'wait'}")
        return self

    @property
    def seat(self) -> int | None:
        """The seat to act, None between hands and at the end."""
        return int(self.record["seat"]) if self.record["seat"] >= 0 else None

    @property
    def phase(self) -> str:
        """What is to be decided."""
        return SPEC.phases[self.record["phase"]]

    @property
    def legal(self) -> str:
        """What the seat to act may do."""
        return " ".join(self.batch.legal_texts())

    @property
    def hands(self) -> str:
        """The cards by seat, "-" for a seat without one."""
        return " ".join(code(card) for card in self.record["hand"][: self.players])

    @property
    def open_cards(self) -> set[str]:
        """Cards that lie face up: "KI0" is the first of the two killes in the pack."""
        return {
            f"{code(card)}{card % 2}" for card in range(42) if int(self.record["shown"]) >> card & 1
        }

    @property
    def laid_aside(self) -> list[str]:
        """Cards that left the talon or a hand for good, in that order."""
        return [code(card) for card in self.record["laid_aside"][: self.record["num_laid_aside"]]]

    @property
    def events(self) -> list[str]:
        """The hand so far: kind, who, whom, their card, the other card."""
        rows = self.record["events"][: self.record["num_events"]]
        return [f"{EVENTS[row[0]]} {row[1]} {row[2]} {code(row[3])} {code(row[4])}" for row in rows]

    def has_high(self, seat: int) -> bool:
        """Whether a seat holds a kille that ranks high."""
        card = int(self.record["hand"][seat])
        return code(card) == "KI" and bool(int(self.record["high"]) >> (card % 2) & 1)

    @property
    def out(self) -> set[int]:
        """Who went out by this hand."""
        return seats(self.record["out"])

    @property
    def chopped(self) -> set[int]:
        """Who is chopped."""
        return seats(self.record["chopped"])

    @property
    def in_pot(self) -> set[int]:
        """Who is in."""
        return seats(self.record["in_pot"])

    @property
    def pot(self) -> int:
        """Units in the pot."""
        return int(self.record["pot"])

    @property
    def returns(self) -> list[float]:
        """What each seat has won or lost in the match so far."""
        return self.record["reward"][: self.players].tolist()

    @property
    def ended(self) -> bool:
        """Whether the cards lie open: the hand has been decided."""
        return bool(self.record["showdown"])

    @property
    def next_dealer(self) -> int:
        """Who deals the next hand."""
        return int(self.record["next_dealer"])

    def part(self, name: str, seat: int) -> list[int]:
        """Returns a part of a seat's observation."""
        part = next(p for p in SPEC.observation(self.players) if p.name == name)
        return self.batch.observe(seat)[0][part.slice].tolist()

    def information(self, name: str, seat: int) -> list[int]:
        """Returns a part of a seat's information state."""
        part = next(p for p in SPEC.information_state(self.players) if p.name == name)
        return self.batch.information_state(seat)[0][part.slice].tolist()

    def views(self, seat: int) -> tuple[bytes, bytes, bytes]:
        """Returns all that a seat is given to see: observation, information state and mask."""
        return (
            self.batch.observe(seat).tobytes(),
            self.batch.information_state(seat).tobytes(),
            self.batch.legal_actions(seat).tobytes(),
        )

    def _compare(self) -> None:
        """Plays the whole match again on the twin and compares where both stand."""
        twin = self._twin()
        if self.batch.at_chance[0]:
            last = twin.results[-1]
            if last["redeal"] is None:
                assert set(last["out"]) == self.out
                assert set(last["left"]) == seats(self.record["left"])
                assert last["next_dealer"] == self.next_dealer
            return
        assert twin.over == (self.phase == "over")
        assert [float(value) for value in twin.returns] == self.returns
        assert (twin.pot, twin.dealer) == (self.pot, self.record["dealer"])
        held = [twin.hand.get(seat) for seat in range(self.players)]
        assert " ".join(card.code if card else "-" for card in held) == self.hands
        assert sorted(card.code for card in twin.laid_aside) == sorted(self.laid_aside)
        assert twin.chopped == self.chopped
        if not twin.over:
            assert (twin.seat, twin.phase) == (self.seat, self.phase)
            assert " ".join(twin.legal()) == self.legal

    def _twin(self) -> Match:
        decks, twin = iter(self.decks), Match.__new__(Match)

        def next_deck() -> list[str]:
            try:
                return next(decks)
            except StopIteration:
                raise NoMoreCards from None

        try:
            twin.__init__(self.players, self.rules.as_dict(), self.first_dealer, next_deck)
            for text in self.actions:
                twin.play(text)
        except NoMoreCards:
            assert self.batch.at_chance[0], "the twin deals, the kernel does not"
        return twin


def play(
    hands: str, script: str = "", talon: str = "", *, dealer: int | None = None, **rules: Any
) -> Table:
    """Returns a table after the first hand's cards and decisions; see `Table`."""
    return Table(len(hands.split()), dealer, **rules).deal(hands, talon).act(script)


def relative(values: Iterable[int], viewer: int) -> list[int]:
    """Turns a list by seat into one that begins with the viewer and goes on clockwise."""
    return np.roll(list(values), -viewer).tolist()
