"""A table of Knack whose cards and decisions are named, so that a test reads like the rule.

    table = play("AH 7C 8C | 6D 7D 8D", "0 knock, 1 knock", turn_up="6H")
    assert table.legal == "AH"

Hands are named by seat from seat 0. The first dealer is the last seat unless said otherwise, so
that seat 0 is forehand. A card that is played goes by its code alone, "*7C" is led face down. The
slow twin plays the same and must agree after every decision.
"""

from typing import Any

from env import trick_tables


class Table(trick_tables.Table):
    """One table: `deal` cards, `act`, look."""

    def __init__(
        self,
        players: int,
        dealer: int | None = None,
        start: dict[str, Any] | None = None,
        **rules: Any,
    ) -> None:
        super().__init__("knack", players, dealer, start, **rules)

    def deal(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, hands: str, talon: str = "6H"
    ) -> "Table":
        """Deal cards, seat 0 first ("AH 7C 8C | 6D 7D 8D"), and turn one up."""
        assert self.batch.at_chance[0], "no hand is to be dealt now"
        dealt = [cards.split() for cards in hands.split("|")]
        assert len(dealt) == self.players, f"{hands} is not for {self.players} seats"
        first = int(self.record["next_dealer"]) + 1
        clockwise = [dealt[(first + step) % self.players] for step in range(self.players)]
        deck = [card for cards in clockwise for card in cards[:2]]
        deck += [cards[2] for cards in clockwise] + talon.split()
        pack = self.spec.pack.codes_without(self.spec.left_out(self.rules))
        return self._deal(deck + [code for code in pack if code not in deck])

    def act(self, script: str) -> "Table":
        """Play decisions like "0 knock, 1 fold, 0 AH, 1 *7C"."""
        cards = [
            f"{seat} play {text}" if "*" in text else f"{seat} {text}"
            for seat, text in (
                line.strip().split(" ", 1) for line in script.split(",") if line.strip()
            )
        ]
        return super().act(", ".join(cards))

    def knock(self, *seats: int) -> "Table":
        """Let the seats knock, and everybody else who is asked fold."""
        while self.phase == "join":
            self.act(f"{self.seat} {'knock' if self.seat in seats else 'fold'}")
        return self

    @property
    def bets(self) -> list[int]:
        """The bets on the table, the smallest first; at the end those that were shared."""
        return self.result["bets"] if self.results else list(self.start.get("bets", ()))


def play(
    hands: str,
    script: str = "",
    turn_up: str = "6H",
    *,
    dealer: int | None = None,
    start: dict[str, Any] | None = None,
    **rules: Any,
) -> Table:
    """Return a table after the first deal's cards and decisions; see `Table`."""
    table = Table(hands.count("|") + 1, dealer, start, **rules)
    return table.deal(hands, turn_up).act(script)
