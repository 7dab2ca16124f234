"""The slow twin of Krypkille (the form with a score sheet): one match, written to be read.

This module plays the game the way people do at a table, one card and one decision at a time, with
lists, dicts and small functions. It exists to check the fast kernels and shares no code with them.
Where a comment quotes a rule, the quote is from the English source; numbers such as D-R01 name
entries of the project's decision register.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

# "The cards and their denominations, in increasing rank: Blaren 0, Blompottan 0, Kransen 0, 1 ...
# 12, Värdshus 13, Kavall 14, Husu 15, Husar 16, Kuku 17, Harlekin (aka Kille) 50". "The deck has 2
# cards of each type, i.e. 42 cards." The kille's denomination is a switch.
LILJOR = tuple(f"L{number}" for number in range(1, 13))
CODES = ("BL", "BP", "KR", *LILJOR, "VH", "KA", "SV", "HU", "GO", "KI")
RANK = {code: rank for rank, code in enumerate(CODES)}
DENOMINATION = {code: max(0, rank - 2) for code, rank in RANK.items() if code != "KI"}


def in_order(cards: Sequence[str]) -> list[str]:
    """Sort cards by rank, the lowest first."""
    return sorted(cards, key=CODES.index)


Deck = Callable[[], Sequence[str]]
Event = tuple[Any, ...]


class Match:
    """A match of Krypkille, from the first deal until one player is left.

    Args:
        num_players: 2 to 6.
        rules: All switches.
        first_dealer: The seat that deals first; if it is out already, the nearest in to its left.
        next_deck: Called once for each deal; gives the card codes of a whole pack in the order in
            which they leave it (forehand first, one card at a time, then the talon).
        start: {"scores": [...]} for a match that is under way.

    Attributes:
        seat, phase: Who is to decide (None when over), and what kind of decision it is.
        results: One dict for each finished deal, in the record notation.
        returns: The share of each seat in the 1 that the winners get; single deal: minus points.
        scores: "the cumulative score of each player".
    """

    def __init__(
        self,
        num_players: int,
        rules: dict[str, Any],
        first_dealer: int,
        next_deck: Deck,
        *,
        start: dict[str, Any] | None = None,
    ) -> None:
        self.num_players, self.rules = num_players, rules
        # "The deck has 2 cards of each type": of those that are played with.
        self.codes = CODES if rules["pack"] is None else tuple(rules["pack"].split("+"))
        self.next_deck = next_deck
        self.single_deal: bool = rules["episode"] == "deal"
        self.over = self.truncated = False
        self.results: list[dict[str, Any]] = []
        self.returns: list[Fraction | int] = [0] * num_players
        self.scores: list[int] = list((start or {}).get("scores", [0] * num_players))
        self.deals = 0
        self.seat: int | None = None
        self.phase = "deal"  # never seen from outside: the first cards are dealt at once
        self.dealer = self._clockwise(first_dealer, self._still_in())[0]
        self._deal()

    # ------------------------------------------------------------------ decisions
    def legal(self) -> list[str]:
        """Return what the seat that is asked may do."""
        if self.seat is None:
            return []
        hand = in_order(self.hand[self.seat])
        if self.phase == "guess":  # "He has the choice to declare or pass."
            return ["declare", "pass"]
        if self.phase == "lead":  # "plays one of his cards"
            return [f"play {code}" for code in dict.fromkeys(hand)]
        texts = []  # "each player may discard at most 3 cards"
        for number in range(self._most_discards() + 1):
            texts += [" ".join(("discard", *cards)) for cards in combinations(hand, number)]
        return list(dict.fromkeys(texts))  # of two equal texts the first

    def _most_discards(self) -> int:
        """Return how many cards may go: not more than the talon can replace (D-R03)."""
        return min(self.rules["max_discards"], self.rules["hand"], len(self.talon))

    def play(self, text: str) -> None:
        """Carry out the decision of the seat that is asked; ValueError if it is not legal."""
        if text not in self.legal():
            raise ValueError(f"{text!r} is not legal, only {self.legal()}")
        seat = self.seat
        assert seat is not None
        verb, *cards = text.split()
        if verb == "discard":
            self._exchange(seat, cards)
        elif verb == "play":
            self._play_trick(seat, cards[0])
        elif verb == "declare":  # "He declares by showing his card. The round is then over."
            self._tell(("declare", seat, *self.hand[seat]))
            self._show(declarer=seat)
        else:  # "He passes by saying 'pass', not showing his card."
            self._tell(("pass", seat))
            self.queue.pop(0)
            if self.queue:
                self.seat = self.queue[0]
            else:  # "until one player has declared, or all players have passed"
                self._show(declarer=None)

    # ------------------------------------------------------------------ seats
    def _still_in(self) -> list[int]:
        """Who is in: "A player reaching a score of 50 or over is out"."""
        limit = self.rules["limit"]
        return [seat for seat, score in enumerate(self.scores) if score < limit]

    def _clockwise(self, first: int, seats: Sequence[int]) -> list[int]:
        """Sort seats clockwise, beginning at `first` or the nearest of them to its left."""
        return sorted(seats, key=lambda seat: (seat - first) % self.num_players)

    # ------------------------------------------------------------------ deal and discards
    def _deal(self) -> None:
        """Deal the hands: forehand first, one card in a round, the dealer last.

        "Dealer gives each player 5 cards face down", or as many as the switch `hand` says.
        """
        self.deals += 1
        self.order = self._clockwise(self.dealer + 1, self._still_in())
        self.talon = list(self.next_deck())
        if in_order(self.talon) != in_order(2 * self.codes):
            raise ValueError("the deck is not a whole pack")
        self.hand: dict[int, list[str]] = {seat: [] for seat in self.order}
        for _ in range(self.rules["hand"]):
            for seat in self.order:
                self.hand[seat].append(self.talon.pop(0))
        self.dealt = {seat: in_order(cards) for seat, cards in self.hand.items()}
        self.discarded: dict[int, list[str]] = {seat: [] for seat in self.order}
        self.drawn: dict[int, list[str]] = {seat: [] for seat in self.order}
        self.events: list[Event] = []  # all that is public in this deal
        self.tricks: list[int] = []
        self.played: list[list[str | None]] = []
        # "may discard", in turn from forehand, and each at once gets new cards (D-R02). One who
        # cannot discard any card is asked too.
        self.queue = list(self.order)
        self.phase, self.seat = "discard", self.queue[0]

    def _exchange(self, seat: int, cards: list[str]) -> None:
        """Discard cards; dealer "gives ... additional cards ... so that all ... have 5 cards"."""
        for code in cards:
            self.hand[seat].remove(code)
        self.discarded[seat] = list(cards)
        for _ in cards:
            code = self.talon.pop(0)
            self.hand[seat].append(code)
            self.drawn[seat].append(code)
        self._tell(("discard", seat, len(cards)))
        self.queue.pop(0)
        if self.queue:
            self.seat = self.queue[0]
        else:  # "The player clockwise from the dealer leads in the first round."
            self.phase, self.seat = "lead", self.order[0]

    # ------------------------------------------------------------------ rounds 1 to 4
    def _follow(self, seat: int, highest: str) -> str:
        """Return the only card that a follower may play.

        "A player checks the highest card played so far in the round. If he has an equal or higher
        card he plays the lowest of them. If he does not, he plays the lowest card of the hand."
        """
        hand = in_order(self.hand[seat])
        enough = [code for code in hand if RANK[code] >= RANK[highest]]
        return enough[0] if enough else hand[0]

    def _play_trick(self, leader: int, lead: str) -> None:
        """Play a whole round: "only the lead has a proper choice to make" (D-R06)."""
        cards: list[str | None] = [None] * self.num_players
        winner, highest = leader, lead
        for seat in self._clockwise(leader, self.order):
            code = lead if seat == leader else self._follow(seat, highest)
            self.hand[seat].remove(code)
            cards[seat] = code
            self._tell(("play", seat, code))
            # "If there are two equal highest cards then the last played highest card wins."
            if RANK[code] >= RANK[highest]:
                winner, highest = seat, code
        self.tricks.append(winner)
        self.played.append(cards)
        # "After round 4 each player has one card left and the guessing round begins."
        if len(self.hand[winner]) > 1:  # "The winner leads in the next round."
            self.phase, self.seat = "lead", winner
        else:  # "The player who won round 4 starts ... Play then continues clockwise"
            self.queue = self._clockwise(winner, self.order)
            self.phase, self.seat = "guess", winner

    # ------------------------------------------------------------------ the end of a deal
    def _denomination(self, code: str) -> int:
        return self.rules["kille_denomination"] if code == "KI" else DENOMINATION[code]

    def _points(self, declarer: int | None, last: dict[int, str]) -> dict[int, int]:
        """Return what each player is charged, by the table of outcomes (D-R01)."""
        rules = self.rules
        # "'lower' will refer to rank and not denomination"
        lowest = min(RANK[code] for code in last.values())
        holders = [seat for seat in self.order if RANK[last[seat]] == lowest]
        worth = {seat: self._denomination(code) for seat, code in last.items()}

        def charge(switch: str, seat: int) -> int:
            return worth[seat] if rules[switch] == "denomination" else 0

        if declarer is None:
            return {
                seat: rules["allpass_lowest" if seat in holders else "allpass_others"]
                for seat in self.order
            }
        others = [seat for seat in self.order if seat != declarer]
        # An equal card elsewhere makes the declarer wrong, unless switched off; then those who tie
        # with it pay like all others (D-R05).
        tie_is_fine = len(holders) == 1 or not rules["tie_beats_declarer"]
        if declarer in holders and tie_is_fine:
            points = {seat: charge("right_others", seat) for seat in others}
            points[declarer] = rules["right_declarer"]
            return points
        points = {}
        for seat in others:
            lost = charge("wrong_others", seat)
            points[seat] = rules["wrong_lowest"] if seat in holders else lost
        extra = rules["wrong_declarer_extra"]
        points[declarer] = charge("wrong_declarer_base", declarer) + extra
        return points

    def _show(self, declarer: int | None) -> None:
        """Finish the deal: "At the end of the final round all show their remaining card"."""
        last = {seat: cards[0] for seat, cards in self.hand.items()}
        points = self._points(declarer, last)
        for seat in self.order:
            self.scores[seat] += points[seat]
            self._tell(("shows", seat, last[seat]))
        still_in = self._still_in()
        winner: list[int] = []
        next_dealer = None
        if self.single_deal:
            self.returns = [-points.get(seat, 0) for seat in range(self.num_players)]
            self._end()
        elif len(still_in) < 2:
            # "The last remaining is the winner"; if nobody remains, the lowest total of those who
            # were in until now, and equal totals share (D-R04).
            best = min(self.scores[seat] for seat in self.order)
            winner = still_in or [s for s in sorted(self.order) if self.scores[s] == best]
            self._share(winner)
        elif self.deals >= self.rules["max_deals"]:  # those still in share, and nobody has won
            self.truncated = True
            self._share(still_in)
        else:  # "Deal always passes clockwise to the next player"; who is out is skipped (D-R07)
            next_dealer = self._clockwise(self.dealer + 1, still_in)[0]
        seats = range(self.num_players)
        self.results.append(
            {
                "tricks": self.tricks,
                "played": self.played,
                "declarer": declarer,
                "last": [last.get(seat) for seat in seats],
                "points": [points.get(seat) for seat in seats],
                "scores": list(self.scores),
                "out": [seat for seat in seats if seat not in still_in],
                "next_dealer": next_dealer,
                "winner": winner,
            }
        )
        if next_dealer is not None:
            self.dealer = next_dealer
            self._deal()

    def _share(self, seats: list[int]) -> None:
        """End the match: these seats share the 1 equally."""
        for seat in seats:
            self.returns[seat] = Fraction(1, len(seats))
        self._end()

    def _end(self) -> None:
        self.over, self.phase, self.seat = True, "over", None

    # ------------------------------------------------------------------ who knows what
    def _tell(self, event: Event) -> None:
        """Note what everybody sees."""
        self.events.append(event)

    def view(self, seat: int) -> tuple[Any, ...]:
        """Return all that a seat knows of this deal, and where the match stands.

        "The cards remain face up in front of the player who played them", and the number of cards
        exchanged is public; discards, the talon and the cards in hand are hidden. In which order
        one's own cards came is no knowledge.
        """
        return (
            ("seat", seat),
            ("phase", self.phase, self.seat),
            ("deals", self.deals, self.dealer, self.truncated),
            ("scores", *self.scores),
            ("dealt", *in_order(self.dealt.get(seat, []))),
            ("discarded", *in_order(self.discarded.get(seat, []))),
            ("drawn", *in_order(self.drawn.get(seat, []))),
            ("events", *self.events),
        )
