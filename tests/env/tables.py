"""A table of Byteskille whose cards and decisions are named, so that a test reads like the rule.

    table = play("L5 L3 GO L9", "0 swap, 1 swap")
    assert table.hands == "L3 L5 GO L9" and table.out == {0}

Cards are named in the order of dealing, forehand first. The first dealer is the last seat unless
said otherwise, so that the first card is seat 0's. The slow twin plays the same and must agree
after every decision.
"""

from typing import Any

from env import trick_tables
from kille_env.cards.sets import members
from kille_env.games.byteskille import SPEC
from kille_env.games.byteskille.rules import Event

EVENTS = {event.value: event.name.lower() for event in Event}


def seats(bits: Any) -> set[int]:
    """Return the seats of a bit set."""
    return set(members(bits))


def code(card: Any) -> str:
    """Return the code of a card, "-" for none."""
    return SPEC.pack.code(card) if card >= 0 else "-"


class Table(trick_tables.Table):
    """One table: `deal` cards, `act`, look."""

    def __init__(self, players: int, dealer: int | None = None, **rules: Any) -> None:
        super().__init__("byteskille", players, dealer, **rules)

    def deal(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, hands: str, talon: str = ""
    ) -> "Table":
        """Deal cards, forehand first, or by seat ("1:L5 3:GO"), and the first of the talon."""
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
        return self._deal([*cards, *talon.split()])

    def all_stand(self, hands: str) -> "Table":
        """Deal a hand in which everybody stands, and no gok holder calls."""
        self.deal(hands)
        dealt = len(self.decks)
        while self.phase in ("turn", "gok") and len(self.decks) == dealt:
            self.act(f"{self.seat} {'stand' if self.phase == 'turn' else 'wait'}")
        return self

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
        return {f"{code(card)}{card % 2}" for card in members(self.record["shown"])}

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
    def ended(self) -> bool:
        """Whether the cards lie open: the hand has been decided."""
        return bool(self.record["showdown"])

    @property
    def next_dealer(self) -> int:
        """Who deals the next hand."""
        return int(self.record["next_dealer"])

    def _compare_hands(self, twin: Any) -> None:
        held = [twin.hand.get(seat) for seat in range(self.players)]
        assert " ".join(card.code if card else "-" for card in held) == self.hands
        assert sorted(card.code for card in twin.laid_aside) == sorted(self.laid_aside)
        assert twin.chopped == self.chopped


def play(
    hands: str, script: str = "", talon: str = "", *, dealer: int | None = None, **rules: Any
) -> Table:
    """Return a table after the first hand's cards and decisions; see `Table`."""
    return Table(len(hands.split()), dealer, **rules).deal(hands, talon).act(script)
