"""The slow twin of Knack (trekort): one party, written to be read.

This module plays the game the way people do at a table, one card and one decision at a time, with
lists, dicts and small functions. It exists to check the fast kernels and shares no code with them.
Where a comment quotes a rule in Swedish, the quote is from the source; numbers such as D-N01 name
entries of the project's decision register.
"""

from collections.abc import Callable, Sequence
from typing import Any

# "36 kort. Valörerna från två till fem tas bort ... Rangordningen är ... ess högst och sexa lägst".
RANKS = "6789TJQKA"
SUITS = "CDHS"
PACK = [rank + suit for suit in SUITS for rank in RANKS]
TRICKS = 3


def in_order(cards: Sequence[str]) -> list[str]:
    """Sort cards by suit, clubs first, and in a suit by rank, the lowest first."""
    return sorted(cards, key=PACK.index)


def height(card: str) -> int:
    """Return how high a card is in its suit."""
    return RANKS.index(card[0])


Deck = Callable[[], Sequence[str]]
Event = tuple[Any, ...]


class Match:
    """A party of Knack, from the first deal to the sharing of the bets that are left.

    Args:
        num_players: 2 to 11 (D-N11).
        rules: All switches.
        first_dealer: The seat that deals first.
        next_deck: Called once for each deal; gives the card codes of a whole pack in the order in
            which they leave it (forehand first, two cards each, then one, then the turn-up).
        start: {"bets": [...], "remainder_to": 1} for a party that is under way, and for the seat
            that will draw what is indivisible at the end, 0 unless it is said.

    Attributes:
        seat, phase: Who is to decide (None when over), and what kind of decision it is.
        results: One dict for each finished deal, in the record notation.
        returns: Net units by seat so far.
        bets: The piles on the table, the running bet first.
        left_on_table: The rest of the final sharing that nobody got.
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
        self.num_players, self.rules, self.next_deck = num_players, rules, next_deck
        told = start or {}
        self.remainder_to: int = told.get("remainder_to", 0)
        # "När ett parti är slut": after a full round of dealing, unless agreed otherwise (D-N04)
        self.last_deal: int = rules["deals"] or num_players
        if rules["episode"] == "deal":
            self.last_deal = 1
        self.over = self.truncated = False
        self.results: list[dict[str, Any]] = []
        self.returns: list[int] = [0] * num_players
        self.bets: list[int] = sorted(told.get("bets", []))
        self.left_on_table = self.deals = 0
        self.dealer = first_dealer
        self.seat: int | None = None
        self.phase = "deal"  # never seen from outside: the first cards are dealt at once
        self._deal()

    # ------------------------------------------------------------------ decisions
    def legal(self) -> list[str]:
        """Return what the seat that is asked may do."""
        if self.seat is None:
            return []
        if self.phase == "join":
            return ["knock", "fold"]
        cards = in_order(self._may_follow() if self.trick else self._may_lead())
        star = "*" if not self.trick and self._leads_face_down() else ""
        return [f"play {star}{card}" for card in cards]

    def play(self, text: str) -> None:
        """Carry out the decision of the seat that is asked; ValueError if it is not legal."""
        if text not in self.legal():
            raise ValueError(f"{text!r} is not legal, only {self.legal()}")
        if self.phase == "join":
            self._speak(text)
        else:
            self._play_card(text.removeprefix("play "))

    # ------------------------------------------------------------------ deal and joining
    def _clockwise(self, first: int, seats: Sequence[int]) -> list[int]:
        """Sort seats clockwise, beginning at `first` or the nearest of them to its left."""
        return sorted(seats, key=lambda seat: (seat - first) % self.num_players)

    def _deal(self) -> None:
        """Deal three cards each: "först ett varv med två kort och sedan ett varv med ett kort"."""
        self.deals += 1
        deck = list(self.next_deck())
        played_with = self.rules["pack"].split("+") if self.rules["pack"] else PACK
        if in_order(deck) != in_order(played_with):
            raise ValueError("the deck is not a whole pack")
        order = self._clockwise(self.dealer + 1, range(self.num_players))
        self.hand: dict[int, list[str]] = {seat: [] for seat in order}
        for number in (2, 1):
            for seat in order:
                self.hand[seat] += [deck.pop(0) for _ in range(number)]
        self.dealt = {seat: in_order(cards) for seat, cards in self.hand.items()}
        # "Nästa kort vänds upp, och färgen anger trumf. De övriga korten ... används inte mer."
        self.turn_up = deck.pop(0)
        self.trump = self.turn_up[1]
        self.joined: list[int] = []
        self.trick: list[tuple[int, str]] = []  # who has played what to the trick on the table
        self.tricks: list[int] = []
        self.hidden: dict[int, str] = {}  # the card led face down, by its leader
        self.events: list[Event] = []  # all that is public in this deal
        # "Förhand börjar att tala och turen att tala går sedan vidare medsols."
        self.queue = order
        self.phase, self.seat = "join", order[0]

    def _speak(self, text: str) -> None:
        """Hear a player "knacka ... och därmed gå med", or fold "mörkt till givaren"."""
        seat = self.queue.pop(0)
        self.events.append((text, seat))
        if text == "knock":
            self.joined.append(seat)
        if self.queue == [self.dealer] and not self.joined:
            # "Om alla spelare före givaren lägger sig, vinner givaren utan spel": no question then.
            self._settle([self.dealer] * TRICKS)
        elif self.queue:
            self.seat = self.queue[0]
        elif len(self.joined) == 1:
            # "vinner spelaren som har knackat utan spel ... som om hen har tagit alla tre sticken"
            self._settle(self.joined * TRICKS)
        else:  # The first to lead is the one who "sitter närmast till vänster om givaren".
            self._begin_trick(self.joined[0])

    # ------------------------------------------------------------------ play
    def _begin_trick(self, leader: int) -> None:
        self.trick = []
        self.queue = self._clockwise(leader, self.joined)
        self.phase, self.seat = "play", leader

    def _own(self) -> list[str]:
        """Return the hand of the seat that is asked."""
        assert self.seat is not None
        return self.hand[self.seat]

    def _own_trumps(self) -> list[str]:
        return [card for card in self._own() if card[1] == self.trump]

    def _may_lead(self) -> list[str]:
        """Return the cards that may be led."""
        trumps, two = self._own_trumps(), len(self.joined) == 2
        forced: list[str] = []
        if not self.tricks:
            # "Om förhand har trumfesset eller om det uppvända kortet är ett ess och förhand har
            # trumfkungen, måste detta kort omedelbart spelas ut", however many have joined (D-N09)
            highest = "K" if self.turn_up[0] == "A" else "A"
            forced = [card for card in trumps if card[0] == highest]
        elif len(self.tricks) == 1 and two:
            # "en trumfknekt eller en ännu högre trumf ... måste ... spelas ut. (Om spelaren har
            # flera sådana kort, så får hen spela ut ett valfritt kort av dem.)" (D-N10)
            forced = [card for card in trumps if card[0] in "JQKA"]
        if not forced and not two and len(self.tricks) < 2:
            # With three or more: forehand "måste ... om möjligt spela ut ett annat trumfkort", and
            # "Den som spelar ut till det andra sticket måste också om möjligt spela trumf."
            forced = trumps
        return forced or self._own()

    def _leads_face_down(self) -> bool:
        """With three or more, one without trumps leads to the second trick "med baksidan upp"."""
        return len(self.joined) > 2 and len(self.tricks) == 1 and not self._own_trumps()

    def _may_follow(self) -> list[str]:
        """Return the cards that may follow: "Spelarna måste om möjligt följa färg"."""
        leader, led = self.trick[0]
        # A card led face down counts as a trump: "följa färg ... spela trumf".
        suit = self.trump if leader in self.hidden and len(self.tricks) == 1 else led[1]
        same = [card for card in self._own() if card[1] == suit]
        # Nothing is asked of one who cannot follow, unless it must play a trump (D-N02).
        trumps = self._own_trumps() if self.rules["must_trump"] else []
        return same or trumps or self._own()

    def _play_card(self, text: str) -> None:
        """Lay a card on the table; after the last player's card comes the next trick."""
        seat = self.queue.pop(0)
        card = text.removeprefix("*")
        if text != card:
            self.hidden[seat] = card
            self.events.append(("leads face down", seat))  # and it is never shown (D-N03)
        else:
            self.events.append(("play", seat, card))
        self.hand[seat].remove(card)
        self.trick.append((seat, card))
        if self.queue:
            self.seat = self.queue[0]
            return
        self.tricks.append(self._winner())
        if len(self.tricks) < TRICKS:  # "Den som vinner ett stick spelar ut till nästa."
            self._begin_trick(self.tricks[-1])
        else:
            self._settle(self.tricks)

    def _winner(self) -> int:
        """Return who takes the trick on the table."""
        leader, led = self.trick[0]
        # "Om trumf spelades till ett stick, vinner den som spelade det högsta trumfkortet. I annat
        # fall vinner den som spelade det högsta kortet i den utspelade färgen."
        trumps = {seat: height(card) for seat, card in self.trick if card[1] == self.trump}
        if leader in self.hidden and len(self.tricks) == 1:
            trumps[leader] = -1  # "rangordnas under trumfsexan"
        suited = {seat: height(card) for seat, card in self.trick if card[1] == led[1]}
        best = trumps or suited
        return max(best, key=lambda seat: best[seat])

    # ------------------------------------------------------------------ payment
    def _settle(self, tricks: list[int]) -> None:
        """Pay for the tricks and go on to the next deal, or end the party."""
        unit = self.rules["unit"]
        chips = [0] * self.num_players
        # "Den lägst värderade av dem kallas för gående bet"; it is paid out whole, to a dealer who
        # wins without play too (D-N06), and the others "ligger tills vidare kvar".
        running = self.bets.pop(0) if self.bets else 0
        for taker in tricks:
            # "betalar givaren den överenskomna summan" per trick, in every deal (D-N07),
            # whether or not it has joined; what it pays to itself changes nothing.
            chips[self.dealer] -= unit
            chips[taker] += unit + running // TRICKS  # "en tredjedel av betens värde"
        for seat in self.joined:
            if seat not in tricks:
                # "det belopp givaren betalar för tre stick plus värdet av den bet man spelade om"
                # (D-N08); several bets are kept apart
                chips[seat] -= 3 * unit + running
                self.bets.append(3 * unit + running)
        self.bets.sort()
        for seat, amount in enumerate(chips):
            self.returns[seat] += amount
        next_dealer = (self.dealer + 1) % self.num_players  # clockwise in each deal (D-N01)
        self.results.append(
            {
                "trump": self.trump,
                "turn_up": self.turn_up,
                "joined": sorted(self.joined),
                "tricks": list(tricks),
                "chips": chips,
                "bets": list(self.bets),
                "next_dealer": next_dealer,
            }
        )
        if self.deals < self.last_deal:
            self.dealer = next_dealer
            self._deal()
        else:
            self._share_bets()

    def _share_bets(self) -> None:
        """End the party: "slås kvarvarande betar ihop och ... delas lika mellan spelarna"."""
        share, rest = divmod(sum(self.bets), self.num_players)
        self.bets = []
        self.returns = [amount + share for amount in self.returns]
        # "Om det finns en odelbar rest, kan spelarna till exempel dra kort om den" (D-N05)
        if rest and self.rules["remainder"] == "draw":
            self.returns[self.remainder_to] += rest
        else:
            self.left_on_table = rest
        self.over, self.phase, self.seat = True, "over", None

    # ------------------------------------------------------------------ who knows what
    def view(self, seat: int) -> tuple[Any, ...]:
        """Return all that a seat knows of this deal, and where the party stands.

        The turn-up, what was said and the cards played are public, and that a card was led face
        down; which card it was is known to its leader only. In which order one's own cards came is
        no knowledge.
        """
        return (
            ("seat", seat),
            ("phase", self.phase, self.seat),
            ("deals", self.deals, self.dealer),
            ("bets", *self.bets),
            ("turn_up", self.turn_up),
            ("dealt", *self.dealt[seat]),
            ("face_down", self.hidden.get(seat)),
            ("events", *self.events),
        )
