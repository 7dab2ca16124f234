"""The slow twin of Kungsholmskille: one match, written to be read.

This module plays the game the way people do at a table, one card and one decision at a time, with
lists, dicts and small functions. It exists to check the fast kernels and shares no code with them.
Where a comment quotes a rule in Swedish, the quote is from the Swedish text; numbers such as D-K07
name entries of the project's decision register.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

# "från lägst till högst: blaren, blompottan, kransen, 1 ... 12, värdshus, kavall, svin, husar, gök
# och kille"; "för varje kort i leken finns det en dubblett".
LILJOR = tuple(f"L{number}" for number in range(1, 13))
CODES = ("BL", "BP", "KR", *LILJOR, "VH", "KA", "SV", "HU", "GO", "KI")
RANK = {code: rank for rank, code in enumerate(CODES)}


def ranked(cards: Iterable[str]) -> list[str]:
    """Return cards from the lowest to the highest."""
    return sorted(cards, key=RANK.__getitem__)


Deck = Callable[[], Sequence[str]]
Event = tuple[Any, ...]


class Match:
    """A match of Kungsholmskille, from the first antes to the last pot.

    Args:
        num_players: 2 to 6 ("Högst sex spelare kan delta"; D-K10).
        rules: All switches.
        first_dealer: The seat that deals first.
        next_deck: Called once for each deal; gives the card codes of a whole pack in the order in
            which they leave it (one card at a time from forehand, dealer last, then the talon).
        start: `{"pot": 6, "owed": [2, 2, 2]}` for a match that is under way. What is missing has
            the value of a new match.

    Attributes:
        seat, phase: Who is to decide (None when over), and what kind of decision it is ("bud1",
            "fold", "exchange", "bud2", "play", "show"; "over").
        deals: Number of deals dealt so far, this one included.
        results: One dict for each finished deal, in the record notation.
        returns, pot: Net units by seat so far; the pot on the table.
        left_on_table: The remainder of a pot that was shared at the end.
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
        # "Före första given, sätter varje spelare en insats på två kronor i potten."
        opening = {"pot": 0, "owed": [2] * num_players, **(start or {})}
        self.num_players, self.rules, self.next_deck = num_players, rules, next_deck
        # A single deal is a match of one deal (D-K04).
        self.last_deal: int | None = 1 if rules["episode"] == "deal" else rules["deals"]
        self.over = self.truncated = False
        self.results: list[dict[str, Any]] = []
        self.returns: list[Fraction | int] = [0] * num_players
        self.pot: int = opening["pot"]
        self.owed: list[int] = list(opening["owed"])
        self.left_on_table = self.deals = 0
        self.dealer = first_dealer
        self.phase = "deal"  # never seen from outside: the cards are dealt at once
        self.seat: int | None = None
        self._deal()

    # ------------------------------------------------------------------ decisions
    def legal(self) -> list[str]:
        """Return what the seat that is asked may do."""
        if self.seat is None:
            return []
        if self.phase in ("bud1", "bud2"):  # "antingen säga 'bud' eller knacka"
            return ["bud", "knock"]
        if self.phase == "fold":
            return ["stay", "fold"] if self._may_fold(self.seat) else ["stay"]
        if self.phase == "exchange":
            return self._discards(self.hand[self.seat])
        if self.phase == "show":  # "antingen lägga upp sitt kort eller säga 'bud'"
            return ["bud", "show"]
        return [f"play {code}" for code in self._playable(self.hand[self.seat])]

    def _may_fold(self, seat: int) -> bool:
        """Tell whether a seat may fold; if not, it is still asked, and has only "stay".

        "Det finns en oskriven hederskodex att förhand inte skall lägga sig": only a code of honour,
        unless the switch makes it a rule (D-K02).
        """
        return self.rules["forehand_may_fold"] or seat != self._from_forehand()[0]

    def _discards(self, hand: list[str]) -> list[str]:
        """List the choices of an exchange: "byta upp till två kort", or "stå nöjd"."""
        texts: list[str] = []
        for number in range(self.rules["max_discards"] + 1):
            for cards in combinations(ranked(hand), number):
                text = " ".join(("discard", *cards))
                if text not in texts:  # equal cards count once
                    texts.append(text)
        return texts

    def _playable(self, hand: list[str]) -> list[str]:
        """Return the cards that may be played to the trick, each type once, lowest first."""
        cards = ranked(set(hand))
        if not self.trick:
            return cards
        # "Om spelaren på tur har ett eller flera kort av minst lika hög valör som den dittills
        # högsta ... måste hen sticka över med något av dessa kort." Any of them (D-K03).
        highest = max(RANK[code] for _, code in self.trick)
        beating = [code for code in cards if RANK[code] >= highest]
        if beating:
            return beating if self.rules["forced_beat"] == "any" else beating[:1]
        return cards[:1]  # "måste hen spela sin lägsta valör på handen"

    def play(self, action: str) -> None:
        """Carry out the decision of the seat that is asked; ValueError if it is not legal."""
        if action not in self.legal():
            raise ValueError(f"{action!r} is not legal, only {self.legal()}")
        seat = self.seat
        assert seat is not None
        self.queue.pop(0)
        if self.phase == "bud1":
            self._announce_first(seat, action)
        elif self.phase == "fold":
            self._stay_or_fold(seat, action)
        elif self.phase == "exchange":
            self._exchange(seat, action.split()[1:])
        elif self.phase == "bud2":
            self._announce_second(seat, action)
        elif self.phase == "play":
            self._play_card(seat, action.split()[1])
        else:
            self._announce_show(seat, action)
        if not self.over:
            self.seat = self.queue[0]

    # ------------------------------------------------------------------ seats
    def _clockwise(self, first: int) -> list[int]:
        """List the seats still in, clockwise from `first` (or from the next one who is in)."""
        return sorted(self.active, key=lambda seat: (seat - first) % self.num_players)

    def _from_forehand(self) -> list[int]:
        """List the seats still in, from "förhand (spelaren till vänster om givaren)".

        If it has folded "tas rollen som förhand i fortsättningen över av närmaste kvarvarande
        spelare i riktning åt vänster".
        """
        return self._clockwise(self.dealer + 1)

    def _ask(self, phase: str, seats: Sequence[int]) -> None:
        """Begin a phase in which these seats decide, one after another."""
        self.phase, self.queue = phase, list(seats)

    # ------------------------------------------------------------------ deal
    def _deal(self) -> None:
        """Collect what is owed and deal "fem kort var med början hos förhand ... ett och ett"."""
        self.chips = [0] * self.num_players
        for seat, amount in enumerate(self.owed):  # what a deal left owing is paid now (D-K01)
            self.chips[seat] -= amount
            self.returns[seat] -= amount
            self.pot += amount
        self.deals += 1
        self.talon = list(self.next_deck())
        codes = self.rules["pack"].split("+") if self.rules["pack"] else CODES
        if ranked(self.talon) != ranked([*codes, *codes]):
            raise ValueError("the deck is not a whole pack")
        self.active = set(range(self.num_players))
        self.hand: dict[int, list[str]] = {seat: [] for seat in self.active}
        for _ in range(self.rules["hand"]):
            for seat in self._from_forehand():
                self.hand[seat].append(self.talon.pop(0))
        self.trick: list[tuple[int, str]] = []
        self.tricks: list[int] = []
        self.last: list[str | None] = [None] * self.num_players
        self.shower: int | None = None
        # What is public, in order; and what only the seat itself knows of its cards.
        self.events: list[Event] = []
        self.dealt = {seat: tuple(ranked(cards)) for seat, cards in self.hand.items()}
        self.discarded: dict[int, tuple[str, ...]] = {}
        self.drawn: dict[int, tuple[str, ...]] = {}
        self._ask("bud1", self._from_forehand())  # "Förhand börjar agera"
        self.seat = self.queue[0]

    # ------------------------------------------------------------------ to play, or not
    def _announce_first(self, seat: int, action: str) -> None:
        """Announce: "Spelarna anger om de vill spela, första gången"."""
        self.events.append((action, seat))
        if action == "knock":
            # "Spelaren till vänster om den som knackade står först på tur ... fram till spelaren
            # till höger om den som begärde spel", those who had said bud too (D-K09).
            self._ask("fold", self._clockwise(seat)[1:])
        elif not self.queue:  # "Om alla spelarna säger 'bud'"
            self._bud_round([1] * self.num_players)  # "bara en krona per spelare"

    def _stay_or_fold(self, seat: int, action: str) -> None:
        """Stay, or fold: "Om spelaren på tur vill lägga sig, kastar hen in korten"."""
        self.events.append((action, seat))
        if action == "fold":
            self.active.remove(seat)
        if self.queue:
            return
        if len(self.active) == 1:
            self._walk_over()
        else:  # "Förhand agerar först"
            self._ask("exchange", self._from_forehand())

    def _exchange(self, seat: int, cards: list[str]) -> None:
        """Replace cards at once: "får lika många nya kort från talongen av givaren"."""
        for code in cards:
            self.hand[seat].remove(code)
        drawn, self.talon = self.talon[: len(cards)], self.talon[len(cards) :]
        self.hand[seat] += drawn
        self.discarded[seat], self.drawn[seat] = tuple(cards), tuple(ranked(drawn))
        self.events.append(("discard", seat, len(cards)))  # the number is public, the cards are not
        if not self.queue:  # "måste de på nytt ange om de vill spela. Förhand börjar tala"
            self._ask("bud2", self._from_forehand())

    def _announce_second(self, seat: int, action: str) -> None:
        """Announce a second time; after a knock the rest need not "göra eller säga något"."""
        self.events.append((action, seat))
        if action == "knock":
            # "Förhand spelar ut till det första sticket", whoever knocked.
            self._ask("play", self._from_forehand())
        elif not self.queue:
            self._bud_round(self._owed_by_folders())

    # ------------------------------------------------------------------ tricks
    def _play_card(self, seat: int, code: str) -> None:
        """Play a card "i en hög framför sig med bildsidan upp"."""
        self.hand[seat].remove(code)
        self.trick.append((seat, code))
        self.events.append(("play", seat, code))
        if self.queue:
            return
        # "vinns av den som spelade den högsta valören eller – om den högsta valören spelats av två
        # spelare – den som sist spelade den högsta valören".
        highest = max(RANK[code] for _, code in self.trick)
        winner = [seat for seat, code in self.trick if RANK[code] == highest][-1]
        self.tricks.append(winner)
        self.trick = []
        # "Vinnaren av ett stick spelar ut till nästa", until all have "ett kort kvar på handen";
        # then "Den spelare som vann det fjärde sticket står först på tur".
        self._ask("play" if len(self.hand[winner]) > 1 else "show", self._clockwise(winner))

    # ------------------------------------------------------------------ showing
    def _announce_show(self, seat: int, action: str) -> None:
        """Show the last card, or say bud."""
        self.events.append((action, seat))
        if action == "show":
            self._showing(seat)
        elif not self.queue:  # "Det sker ingen visning", the cards stay hidden (D-K12)
            self._bud_round(self._owed_by_folders())

    def _showing(self, shower: int) -> None:
        """Settle: "Så fort någon ... lägger upp sitt kort, lägger övriga ... också upp sina"."""
        self.shower = shower
        order = self._clockwise(self.tricks[-1])
        for seat in order:
            self.last[seat] = self.hand[seat][0]
        self.events.append(("last", *self.last))
        rank = {seat: RANK[self.hand[seat][0]] for seat in order}
        others = [seat for seat in order if seat != shower]
        lowest = min(rank[seat] for seat in others)
        # "Om den lägsta valören innehas av två spelare andra än den som först lade upp, vinner
        # den av dem ... som sitter sist räknat medsols från den som vann det fjärde sticket"
        # (D-K05).
        best_other = [seat for seat in others if rank[seat] == lowest][-1]
        pot = self.pot
        if rank[shower] < lowest:  # "har det lägsta kortet, vinner hen hela potten"
            winner = shower
        else:
            # "Om någon annan spelare har en lika låg eller lägre valör, vinner hen potten. Den ...
            # får i så fall dessutom betala vinnaren ett belopp lika stort som hela innehållet i
            # potten." The lower card wins over the equal one (D-K06).
            winner = best_other
            self._transfer(shower, -pot)
            self._transfer(winner, pot)
        self._transfer(winner, pot)
        self.pot = 0
        if len(order) == 2:
            # "spelaren som förlorade ... sätter en insats på tre kronor, och övriga spelare betalar
            # en krona var", also when only two are seated (D-K07).
            owed = [1] * self.num_players
        else:
            owed = [0] * self.num_players
        for seat in order:
            if seat != winner:  # "den vanliga insatsen på två kronor", the shower too (D-K08)
                owed[seat] += 2
        self._finish_deal("showing", winner, pot, owed)

    # ------------------------------------------------------------------ end of a deal
    def _transfer(self, seat: int, amount: int) -> None:
        """Give a seat what comes from the pot or another seat (less than zero: take it)."""
        self.chips[seat] += amount
        self.returns[seat] += amount

    def _owed_by_folders(self) -> list[int]:
        """Return what a bud round after the exchange costs.

        "Om minst en spelare lade sig före bytet, måste alla spelare som lagt sig betala en insats
        på en krona var medan övriga spelare spelar gratis. Om alla spelare fortfarande är kvar,
        måste alla spelare betala en insats på en krona var."
        """
        nobody_folded = len(self.active) == self.num_players
        return [
            1 if nobody_folded or seat not in self.active else 0 for seat in range(self.num_players)
        ]

    def _bud_round(self, owed: list[int]) -> None:
        """Break off the deal: the pot stays on the table."""
        self._finish_deal("bud_round", None, self.pot, owed)

    def _walk_over(self) -> None:
        """Pay the only one left: it "tar hela potten utan spel", a carried one too (D-K11)."""
        (winner,) = self.active
        pot = self.pot
        self._transfer(winner, pot)
        self.pot = 0
        # "behandlar man det som att given omedelbart hade följts av en budrunda"
        self._finish_deal("walk_over", winner, pot, [1] * self.num_players)

    def _finish_deal(self, kind: str, winner: int | None, pot: int, owed: list[int]) -> None:
        """Record the deal; then the match is over, or "Turen att ge går vidare medsols"."""
        next_dealer = (self.dealer + 1) % self.num_players
        self.owed = owed
        self.results.append(
            {
                "kind": kind,
                "shower": self.shower,
                "winner": winner,
                "pot": pot,
                "tricks": self.tricks,
                "last": self.last,
                "owed": list(owed),
                "chips": self.chips,
                "next_dealer": next_dealer,
            }
        )
        pot_decides = winner is not None and self.last_deal is None  # one pot is a match (D-K04)
        if pot_decides or self.deals == self.last_deal:
            self._end()
        elif self.deals >= self.rules["max_deals"]:
            self.truncated = True
            self._end()
        else:
            self.dealer = next_dealer
            self._deal()

    def _end(self) -> None:
        """End the match: a pot that is left is shared equally, and what is owed lapses (D-K01)."""
        share, self.left_on_table = divmod(self.pot, self.num_players)
        for seat in range(self.num_players):
            self.returns[seat] += share
        self.pot = 0
        self.over, self.phase, self.seat, self.queue = True, "over", None, []

    # ------------------------------------------------------------------ who knows what
    def view(self, seat: int) -> tuple[Any, ...]:
        """Return all that a seat may know: its cards and the public events of this deal in order,
        and where the match stands. Cards folded, discarded or left in a bud round stay hidden.
        """
        return (
            ("seat", seat),
            ("phase", self.phase, self.seat),
            ("deals", self.deals, self.dealer, self.truncated),
            ("pot", self.pot, self.left_on_table),
            ("dealt", *self.dealt[seat]),
            ("discarded", *self.discarded.get(seat, ())),
            ("drawn", *self.drawn.get(seat, ())),
            ("events", *self.events),
        )
