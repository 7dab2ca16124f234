"""The slow twin of Femkortskille (Knackkille): one match, written to be read.

This module plays the game the way people do at a table, one card and one decision at a time, with
lists, dicts and small functions. It exists to check the fast kernels and shares no code with them.
The game is named in the English article, without its rules; they come from an encyclopedia, and
where that is silent from the project's defaults. Quotes are from the project's own wording of them.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

# The Kille deck from the lowest card to the highest, each card twice; "Kille highest".
LILJOR = tuple(f"L{number}" for number in range(1, 13))
CODES = ("BL", "BP", "KR", *LILJOR, "VH", "KA", "SV", "HU", "GO", "KI")
RANK = {code: rank for rank, code in enumerate(CODES)}


def ranked(cards: Iterable[str]) -> list[str]:
    """Return cards from the lowest to the highest."""
    return sorted(cards, key=RANK.__getitem__)


Deck = Callable[[], Sequence[str]]
Event = tuple[Any, ...]


class Match:
    """A match of Femkortskille, from the first antes to the last pot.

    Args:
        num_players: 2 to 8 ("5n <= 42").
        rules: All switches.
        first_dealer: The seat that deals first.
        next_deck: Called once for each deal; gives the card codes of a whole pack in the order in
            which they leave it (one card at a time from forehand, dealer last, then the talon).

    Attributes:
        seat, phase: Who is to decide (None when over), and what kind of decision it is ("speak",
            "play"; "over").
        deals: Number of deals dealt so far, this one included.
        results: One dict for each finished deal, in the record notation.
        returns, pot: Net units by seat so far; the pot on the table.
        left_on_table: The remainder of a pot that was shared at the end. Antes are equal, so it is
            always 0 here.
    """

    def __init__(
        self, num_players: int, rules: dict[str, Any], first_dealer: int, next_deck: Deck
    ) -> None:
        self.num_players, self.rules, self.next_deck = num_players, rules, next_deck
        # A single deal is a match of one deal.
        self.last_deal: int | None = 1 if rules["episode"] == "deal" else rules["deals"]
        self.over = self.truncated = False
        self.results: list[dict[str, Any]] = []
        self.returns: list[Fraction | int] = [0] * num_players
        self.pot = self.left_on_table = self.deals = 0
        self.dealer = first_dealer
        self.phase = "deal"  # never seen from outside: the cards are dealt at once
        self.seat: int | None = None
        self._deal()

    # ------------------------------------------------------------------ decisions
    def legal(self) -> list[str]:
        """Return what the seat that is asked may do."""
        if self.seat is None:
            return []
        if self.phase == "speak":
            # "CHECK (only while nobody has knocked; decides later)"
            return ["knock", "fold"] if self.knockers else ["knock", "check", "fold"]
        return [f"play {code}" for code in self._playable(self.hand[self.seat])]

    def _playable(self, hand: list[str]) -> list[str]:
        """Return the cards that may be played to the trick, each type once, lowest first."""
        cards = ranked(set(hand))
        if not self.trick:
            return cards
        # "must head if able (an equal card counts ...; any heading card)"
        highest = max(RANK[code] for _, code in self.trick)
        heading = [code for code in cards if RANK[code] >= highest]
        if heading:
            return heading
        # "otherwise any card (switch `follow: lowest`)"
        return cards if self.rules["follow"] == "any" else cards[:1]

    def play(self, action: str) -> None:
        """Carry out the decision of the seat that is asked; ValueError if it is not legal."""
        if action not in self.legal():
            raise ValueError(f"{action!r} is not legal, only {self.legal()}")
        seat = self.seat
        assert seat is not None
        self.queue.pop(0)
        if self.phase == "speak":
            self._speak(seat, action)
        else:
            self._play_card(seat, action.split()[1])
        if not self.over:
            self.seat = self.queue[0]

    # ------------------------------------------------------------------ deal
    def _clockwise(self, seats: Iterable[int], first: int) -> list[int]:
        """List seats clockwise from `first` (or from the next of them)."""
        return sorted(seats, key=lambda seat: (seat - first) % self.num_players)

    def _from_forehand(self, seats: Iterable[int]) -> list[int]:
        """List seats clockwise from the dealer's left, the dealer last."""
        return self._clockwise(seats, self.dealer + 1)

    def _move(self, seat: int, amount: int) -> None:
        """Give a seat units (less than zero: take them)."""
        self.chips[seat] += amount
        self.returns[seat] += amount

    def _deal(self) -> None:
        """Collect the antes and deal: "Everybody antes `ante` each deal; three cards each"."""
        everybody = range(self.num_players)
        self.chips = [0] * self.num_players
        for seat in everybody:
            self._move(seat, -self.rules["ante"])
            self.pot += self.rules["ante"]
        self.deals += 1
        self.talon = list(self.next_deck())
        codes = self.rules["pack"].split("+") if self.rules["pack"] else CODES
        if ranked(self.talon) != ranked([*codes, *codes]):
            raise ValueError("the deck is not a whole pack")
        order = self._from_forehand(everybody)
        self.hand: dict[int, list[str]] = {seat: [] for seat in order}
        for _ in range(self.rules["hand"]):
            for seat in order:
                self.hand[seat].append(self.talon.pop(0))
        self.knockers: set[int] = set()
        self.checkers: list[int] = []  # who has checked and not decided yet
        self.trick: list[tuple[int, str]] = []
        self.tricks: list[int] = []
        # What is public, in order; and what only the seat itself knows of its cards.
        self.events: list[Event] = []
        self.dealt = {seat: tuple(ranked(cards)) for seat, cards in self.hand.items()}
        self.drawn: dict[int, tuple[str, ...]] = {}
        self.phase, self.queue = "speak", order  # "from forehand"
        self.seat = self.queue[0]

    # ------------------------------------------------------------------ to play, or not
    def _speak(self, seat: int, action: str) -> None:
        """Knock, check or fold. Ours: everybody speaks, even if it cannot matter any more."""
        self.events.append((action, seat))
        if action == "knock":
            self.knockers.add(seat)
        elif action == "check":
            self.checkers.append(seat)
        if self.queue:
            return
        if not self.knockers:
            # "nobody has knocked when all have spoken (also if some folded): the pot stays", ours
            self._finish_deal("all_checked", None)
        elif self.checkers:
            # "Those who checked decide, in order, after the others once somebody has knocked"
            self.queue, self.checkers = self._from_forehand(self.checkers), []
        elif len(self.knockers) == 1:  # "one knocker alone takes the pot", ours
            self._finish_deal("walk_over", min(self.knockers))
        else:
            self._begin_play()

    def _begin_play(self) -> None:
        """Deal on: "Knockers get two more cards each, in order from forehand"."""
        order = self._from_forehand(self.knockers)
        for seat in order:  # each gets its two at once
            number = self.rules["draws"]
            drawn, self.talon = self.talon[:number], self.talon[number:]
            self.hand[seat] += drawn
            self.drawn[seat] = tuple(ranked(drawn))
        # "Eldest knocker leads": the first from forehand, not the first who knocked.
        self.phase, self.queue = "play", order

    # ------------------------------------------------------------------ tricks
    def _play_card(self, seat: int, code: str) -> None:
        """Play a card; all "play five tricks", and "the later equal wins"."""
        self.hand[seat].remove(code)
        self.trick.append((seat, code))
        self.events.append(("play", seat, code))
        if self.queue:
            return
        highest = max(RANK[code] for _, code in self.trick)
        winner = [seat for seat, code in self.trick if RANK[code] == highest][-1]
        self.tricks.append(winner)
        self.trick = []
        if self.hand[winner]:  # "winner leads"
            self.queue = self._clockwise(self.knockers, winner)
        else:  # "The winner of trick five wins"
            self._finish_deal("played", winner)

    # ------------------------------------------------------------------ end of a deal
    def _finish_deal(self, kind: str, winner: int | None) -> None:
        """Settle and record the deal; then the match is over, or the deal passes on."""
        pot = self.pot
        if winner is not None:
            # "every other knocker pays an amount equal to the pot, and he takes all"
            for loser in self.knockers - {winner}:
                self._move(loser, -pot)
                self._move(winner, pot)
            self._move(winner, pot)
            self.pot = 0
        next_dealer = (self.dealer + 1) % self.num_players
        self.results.append(
            {
                "kind": kind,
                "winner": winner,
                "tricks": self.tricks,
                "pot": pot,
                "chips": self.chips,
                "next_dealer": next_dealer,
            }
        )
        # "`deals: null`: the match ends when a pot is won"
        pot_decides = winner is not None and self.last_deal is None
        if pot_decides or self.deals == self.last_deal:
            self._end()
        elif self.deals >= self.rules["max_deals"]:
            self.truncated = True
            self._end()
        else:
            self.dealer = next_dealer
            self._deal()

    def _end(self) -> None:
        """End the match: a pot that is left is shared equally among all."""
        share, self.left_on_table = divmod(self.pot, self.num_players)
        for seat in range(self.num_players):
            self.returns[seat] += share
        self.pot = 0
        self.over, self.phase, self.seat, self.queue = True, "over", None, []

    # ------------------------------------------------------------------ who knows what
    def view(self, seat: int) -> tuple[Any, ...]:
        """Return all that a seat may know: its cards and the public events of this deal in order,
        and where the match stands. The cards of those who have not played them stay hidden.
        """
        return (
            ("seat", seat),
            ("phase", self.phase, self.seat),
            ("deals", self.deals, self.dealer, self.truncated),
            ("pot", self.pot, self.left_on_table),
            ("dealt", *self.dealt[seat]),
            ("drawn", *self.drawn.get(seat, ())),
            ("events", *self.events),
        )
