"""The slow twin of Byteskille (one-card Kille): one match, written to be read.

This module plays the game the way people do at a table, one card and one decision at a time, with
lists, dicts and small functions. It exists to check the fast kernels and shares no code with them.
Where a comment quotes a rule in Swedish or English, the quote is from the Swedish text or from the
English article; numbers such as D-E07 name entries of the project's decision register.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

# "från lägst till högst: blaren, blompottan, kransen, 1 ... 12, värdshus, kavall, svin, husar och
# gök"; the kille stands outside this order. Each card is there twice.
LILJOR = tuple(f"L{number}" for number in range(1, 13))
CODES = ("BL", "BP", "KR", *LILJOR, "VH", "KA", "SV", "HU", "GO", "KI")
RANK = {code: rank for rank, code in enumerate(CODES)}
MATADORS = ("VH", "KA", "SV", "HU", "GO")


Deck = Callable[[], Sequence[str]]
Event = tuple[Any, ...]


class Card(NamedTuple):
    """A physical card. The two copies look alike; only the pig's undo needs to tell them apart."""

    code: str
    copy: int


class Exchange(NamedTuple):
    """A successful exchange. `other` is a seat or "talon"; `high_before` the kille ranks before."""

    seat: int
    other: int | str
    gave: Card
    got: Card
    high_before: dict[Card, bool]


class Match:
    """A match of Byteskille, from the first ante to the last pot.

    Args:
        num_players: 2 to 20 (D-E18).
        rules: All switches.
        first_dealer: The seat that deals first.
        next_deck: Called once for each hand dealt, re-dealt ones too; gives card codes in the order
            in which they leave the pack (forehand first, dealer last, then the talon).

    Attributes:
        seat, phase: Who is to decide (None when over), and what kind of decision it is.
        results: One dict for each finished deal, in the record notation.
        returns, left_on_table: Net units by seat so far; the remainder of a split pot.
    """

    def __init__(
        self, num_players: int, rules: dict[str, Any], first_dealer: int, next_deck: Deck
    ) -> None:
        self.num_players, self.rules, self.next_deck = num_players, rules, next_deck
        self.single_deal: bool = rules["episode"] == "deal"
        self.over = self.truncated = False
        self.results: list[dict[str, Any]] = []
        self.returns: list[Fraction | int] = [0] * num_players
        self.pot = self.left_on_table = self.deals = 0
        self.pots_left: int = rules["pots"]
        self.dealer = first_dealer
        self.phase = "deal"  # never seen from outside: a hand is to be dealt at once
        self.seat: int | None = None
        self._new_pot()
        while self.phase == "deal":
            self._deal_hand()

    # ------------------------------------------------------------------ decisions
    def legal(self) -> list[str]:
        """Return what the seat that is asked may do."""
        if self.phase == "turn":
            return self._turn_actions()
        if self.phase == "answer_dealer" and len(self.order) == 3:
            # "'Omöjligt!' eller 'Det beror på!'"; by the English article also yes (D-E11)
            return ["yes", "no", "defer"] if self.rules["fraga3_dealer_accept"] else ["no", "defer"]
        if self.phase in ("answer_dealer", "answer_third"):
            return ["yes", "no"]  # "'Accepteras!' eller 'Omöjligt!'"
        return {"gok": ["call", "wait"], "buyin": ["buy", "decline"]}.get(self.phase, [])

    def _turn_actions(self) -> list[str]:
        """Return the choices on turn: "antingen stå nöjd eller kräva att få byta kort"."""
        actions = ["stand", "swap"]
        if self.hand[self._on_turn()].code == "GO" and self.rules["gok_call"] != "off":
            actions.append("call")
        # "När bara tre eller två spelare är kvar ... förhand har rätt att föreslå omgiv", once in
        # each hand, before saying anything else; not beyond the cap (D-E11, D-E24).
        may_ask = self.rules["fraga"] == "forced" and self.granted < self.rules["max_redeals"]
        if may_ask and len(self.order) <= 3 and self.turn == 0 and not self.asked:
            actions.append("ask")
        return actions

    def play(self, action: str) -> None:
        """Carry out the decision of the seat that is asked; ValueError if it is not legal."""
        if action not in self.legal():
            raise ValueError(f"{action!r} is not legal, only {self.legal()}")
        seat = self.seat
        assert seat is not None
        if action != "wait":  # being asked to call stays invisible, so waiting does too
            self._tell((action, seat))
        if action == "stand":
            self._begin_turn(self.turn + 1)
        elif action == "swap":
            self._swap()
        elif action == "call":  # "lägga upp kortet på bordet och kommendera ... på rygg"
            self.reveals.append([seat, "GO"])
            self._showdown()
        elif action == "wait":
            self.holders.pop(0)
            self._ask_next_holder()
        elif action == "ask":
            self.asked = True
            self.phase, self.seat = "answer_dealer", self.dealer
        elif action == "defer":  # "går frågan vidare till den tredje spelaren"
            self.phase, self.seat = "answer_third", self.order[1]
        elif action == "yes":
            self.granted += 1
            self._redeal("question")
        elif action == "no":  # "fortsätter man spela med de kort man har"
            self.phase, self.seat = "turn", self._on_turn()
        else:
            self._answer_buyin(action)
        while self.phase == "deal":
            self._deal_hand()

    # ------------------------------------------------------------------ pot and deal
    def _new_pot(self) -> None:
        """Start a pot: "Alla spelarna blir åter aktiva och satsar den överenskomna insatsen"."""
        self.in_pot = list(range(self.num_players))
        self.fresh_pot = True  # the ante of the pot is still to be paid
        self.reentries = [0] * self.num_players
        self.first_buyers: set[int] = set()
        self.declined: set[int] = set()
        self.first_over = self.second_over = False  # the occasions of `svensk` and `wiki2`
        self.prices: dict[int, int] = {}  # of the open occasion, in the order of the decisions
        self.queue: list[int] = []  # seats that still have to say whether they buy
        self.redealt = False
        self.ante_in_price: set[int] = set()  # re-entered at a price that includes the next ante

    def _pay(self, seat: int, amount: int) -> None:
        self.returns[seat] -= amount
        self.pot += amount

    def _antes(self) -> None:
        """Collect "innan första givningen" or "before each deal" (D-E01)."""
        for seat in self.in_pot:
            # D-E16: the price of a re-entry may include the ante of the next deal.
            each_deal = self.rules["ante"] == "deal" and seat not in self.ante_in_price
            if self.fresh_pot or each_deal:
                self._pay(seat, self.rules["stake"])
        self.fresh_pot = False
        self.ante_in_price = set()

    def _clockwise(self, seats: Sequence[int] | set[int]) -> list[int]:
        """Sort seats clockwise from the dealer's left, the dealer last."""
        return sorted(seats, key=lambda seat: (seat - self.dealer - 1) % self.num_players)

    def _deal_hand(self) -> None:
        """Deal "ett kort med baksidan upp till varje spelare ... med början hos förhand"."""
        if not self.redealt:  # ours: a re-dealt hand belongs to the same deal, so no second ante
            self.granted = 0  # questions granted in this deal
            if not self.single_deal:
                self._antes()
        self.redealt = False
        self.deals += 1
        self.order = self._clockwise(self.in_pot)
        self.talon: list[Card] = []
        for code in self.next_deck():
            card = Card(code, sum(other.code == code for other in self.talon))
            if code not in RANK or card.copy > 1:
                raise ValueError(f"card {code!r} is unknown or comes a third time")
            self.talon.append(card)
        if len(self.talon) < len(self.order):
            raise ValueError("the deck is too short for the deal")
        self.hand = {seat: self.talon.pop(0) for seat in self.order}
        self.dealt_to = {card: seat for seat, card in self.hand.items()}
        # "om en kille erhållits på givarhanden ... räknas den som det lägsta kortet"; in the
        # English article the highest (D-E02). Later events change these.
        dealt_high = self.rules["dealt_kille"] == "high"
        self.high = {Card("KI", copy): dealt_high for copy in (0, 1)}
        self.laid_aside: list[Card] = []
        self.log: list[Exchange] = []
        self.asked = False
        self.turns: list[int] = []
        self.reveals: list[list[int | str]] = []
        self.undone = 0
        self.chopped: set[int] = set()
        self.lost_at_once: set[int] = set()
        self.low_kille: set[int] = set()
        self.out: set[int] = set()
        self.left = list(self.in_pot)
        self.final: list[str | None] = [None] * self.num_players
        # What each seat has seen in this hand; a seat that takes no part sees what is public.
        self.seen: list[list[Event]] = [[] for _ in range(self.num_players)]
        self._tell(("dealt",), {seat: ("dealt", card.code) for seat, card in self.hand.items()})
        # The two-player rules of the English article (D-E15).
        self.wiki_two = self.rules["two_player"] == "wiki" and len(self.order) == 2
        if self.wiki_two:
            codes = [card.code for card in self.hand.values()]
            if "KI" in codes:  # first: "re-dealt if one of them has received the Harlequin"
                return self._redeal("kille")
            if "GO" in codes:  # "an immediate showdown if one of them has received the Cuckoo"
                return self._showdown()
        self._begin_turn(0)

    def _redeal(self, reason: str) -> None:
        """The same dealer "samlar ... ihop korten, blandar och ger på nytt"; nobody sees them."""
        self._tell(("redeal", reason))
        self._record(redeal=reason, next_dealer=self.dealer, winner=None)
        self.redealt = True
        self.phase = "deal"
        self._check_cap()

    # ------------------------------------------------------------------ turns
    def _on_turn(self) -> int:
        return self.order[self.turn]

    def _begin_turn(self, index: int) -> None:
        """Pass the turn; after the dealer comes the showdown."""
        if index >= len(self.order) or self.lost_at_once:
            return self._showdown()
        self.turn = index
        # "En spelare som sitter med kuku har rätt att närsomhelst lägga upp kortet" (D-E10). Each
        # other holder is asked once in each turn, clockwise from the left of the player on turn.
        # Ours: one who has been chopped, or whose turn is over, is asked like any other. (Every
        # gök in a hand is hidden, since showing one ends the round.)
        others = self.order[index + 1 :] + self.order[:index]
        self.holders = []
        if self.rules["gok_call"] == "any_time":
            self.holders = [seat for seat in others if self.hand[seat].code == "GO"]
        self._ask_next_holder()

    def _ask_next_holder(self) -> None:
        """Ask the next holder of a gök to call or wait; after the last, the player on turn."""
        if self.holders:
            self.phase, self.seat = "gok", self.holders[0]
        else:
            self.phase, self.seat = "turn", self._on_turn()
            self.turns.append(self._on_turn())

    def _swap(self) -> None:
        """The player on turn demands an exchange; the cards to its left decide what happens."""
        seat = self._on_turn()
        for index in range(self.turn + 1, len(self.order)):
            other = self.order[index]
            code = self.hand[other].code
            if code in MATADORS:  # a matador must be laid face up
                self.reveals.append([other, code])
                self._tell(("shows", other, code))
            if code in ("VH", "KA"):
                continue  # "måste då gå vidare medsols och försöka byta med spelaren närmast"
            if code == "GO":  # "Kuku står, ingen byta får!"
                self._showdown()
            elif code in ("HU", "SV"):
                self._chop(seat, code)
                # the turn passes "till vänster om husaren", or "den ... som utdelade hugget"
                self._begin_turn(index + 1)
            else:
                self._exchange(seat, other)
                self._begin_turn(index)  # "till den spelare som tvingades byta bort sitt kort"
            return
        # The dealer "måste ... gå i lek", and so must one who was passed on by the dealer too.
        self._go_to_talon(seat)

    def _exchange(self, seat: int, other: int) -> None:
        """Two players exchange: "Alla kort utom killar byts mörkt"."""
        gave, got = self.hand[seat], self.hand[other]
        self._note(Exchange(seat, other, gave, got, dict(self.high)))
        self.hand[seat], self.hand[other] = got, gave
        killes = [card for card in (gave, got) if card.code == "KI"]
        for card in killes:
            # Killemöte: "räknas båda killar som de högsta korten" (English article: low); "i byte
            # med annat kort än kille ... det lägsta", also a met kille that moves on.
            self.high[card] = len(killes) == 2 and self.rules["meeting"] == "high"

    def _note(self, exchange: Exchange) -> None:
        """Log an exchange. All see who exchanged, and killes; the two see both cards."""
        self.log.append(exchange)
        seat, other, *cards, _ = exchange
        full = ("exchange", seat, other, *(c.code for c in cards))
        public = ("exchange", seat, other, *(c.code if c.code == "KI" else None for c in cards))
        self._tell(public, {seat: full, other: full})

    def _go_to_talon(self, seat: int) -> None:
        """Exchange with the talon: "samma effekt som om det suttit på en vanlig spelares hand"."""
        while True:
            if not self.talon:
                raise ValueError("the deck has no card left to draw")
            drawn = self.talon.pop(0)
            code = drawn.code
            if code in (*MATADORS, "KI"):
                self.reveals.append(["talon", code])
                self._tell(("draws", seat, code))
            if code in ("VH", "KA"):
                self.laid_aside.append(drawn)
                # "dra nästa kort", or by the English article "it is not exchanged" (D-E12)
                if self.rules["stock_redraw"]:
                    continue
            elif code in MATADORS:
                self.laid_aside.append(drawn)
                if code == "GO":
                    return self._showdown()
                self._chop(seat, code)
            else:
                self._take_from_talon(seat, drawn)
            break
        # The dealer whose inn or cavalier sent somebody here has had its turn, unless the switch
        # gives it back, whatever was drawn but a gök (D-E04).
        dealer_acts = self.rules["dealer_after_inn"] and seat != self.dealer
        self._begin_turn(len(self.order) - (1 if dealer_acts else 0))

    def _take_from_talon(self, seat: int, drawn: Card) -> None:
        """Take a drawn card and lay the old one aside, killes open, other cards face down."""
        old = self.hand[seat]
        self._note(Exchange(seat, "talon", old, drawn, dict(self.high)))
        self.hand[seat] = drawn
        self.laid_aside.append(old)
        if drawn.code == "KI":  # "räknas som det högsta kortet"
            self.high[drawn] = True

    # ------------------------------------------------------------------ hussar and pig
    def _chop(self, seat: int, code: str) -> None:
        """A hussar or a pig, in a hand or from the talon, chops."""
        victim = seat  # "Den som försökte byta är därmed utslagen", at the showdown (D-E23)
        if self.wiki_two:  # "has immediately lost": the exchanger, nothing undone, deal over
            self.lost_at_once = {seat}
        elif code == "SV":
            victim = self._pig(seat)
        assert victim not in self.chopped, "nobody can be chopped twice"
        self.chopped.add(victim)
        self._tell(("chopped", victim))

    def _pig(self, seat: int) -> int:
        """Undo exchanges "i omvänd ordning" and return who was dealt the chopped card."""
        card = self.hand[seat]
        to_undo = list(self.log)
        if self.rules["pig_scope"] == "card":  # "byten som gjorts med det huggna kortet" (D-E06)
            to_undo = [exchange for exchange in self.log if card in (exchange.gave, exchange.got)]
        # They are always the last ones, so undoing them cannot tangle with other exchanges.
        # A kille that has moved stays face up.
        assert to_undo == self.log[len(self.log) - len(to_undo) :]
        for exchange in reversed(to_undo):
            seat, other, gave, got, high_before = exchange
            assert self.hand[seat] == got
            self.hand[seat] = gave
            if isinstance(other, str):  # the talon
                self.laid_aside.remove(gave)
                self.laid_aside.append(got)
            else:
                assert self.hand[other] == gave
                self.hand[other] = got
            if self.rules["undo_restores"]:  # annulled with all its effects (D-E07)
                self.high = high_before
            self.log.remove(exchange)
            self._tell(("undone", seat, other))
        self.undone += len(to_undo)
        assert self.hand[self.dealt_to[card]] == card
        return self.dealt_to[card]

    # ------------------------------------------------------------------ showdown
    def _who_goes_out(self) -> set[int]:
        """Apply "Upp till bevis"."""
        if self.lost_at_once:
            return self.lost_at_once
        players = set(self.order)
        # "Den spelare som – bortsett från huggna spelare och spelare med låga killar – har det
        # lägsta kortet är utslagen. Om två kort med samma valör är lägst, slås båda ... ut."
        compared = players - self.low_kille
        if self.rules["lowest_excludes_chopped"]:  # D-E08
            compared -= self.chopped
        ranks = {seat: RANK[self.hand[seat].code] for seat in compared}
        if self.rules["high_kille"] == "equal_gok":  # "likvärdigt med kuku" (D-E03)
            ranks = {seat: min(rank, RANK["GO"]) for seat, rank in ranks.items()}
        lowest = {seat for seat in compared if ranks[seat] == min(ranks.values())}
        marked = self.chopped | self.low_kille
        if marked | lowest != players:
            return marked | lowest
        # "Om minst en spelare har eliminerats genom hugg, bortser man ... från lägsta kort. Om
        # detta inte bryter dödläget ... är ingen spelare utslagen."
        return marked if self.chopped and marked != players else set()

    def _showdown(self) -> None:
        """All cards are laid face up, and those who go out leave the pot."""
        for seat, card in self.hand.items():
            self.final[seat] = card.code
            if card.code == "KI" and not self.high[card]:
                self.low_kille.add(seat)
        self._tell(("showdown", *self.final))
        self.out = self._who_goes_out()
        self.left = [seat for seat in self.in_pot if seat not in self.out]
        self.in_pot = list(self.left)
        self.prices = self._buyin_prices()
        self.queue = list(self.prices)
        self._next_buyer()

    # ------------------------------------------------------------------ buying in
    def _buyin_prices(self) -> dict[int, int]:
        """Who may buy in now and for how much, clockwise from the dealer's left (D-E20)."""
        rules, kind, left = self.rules, self.rules["reentry"], len(self.left)
        if self.single_deal or kind == "none":
            return {}
        if left == 1 and not (kind == "wiki3" and rules["reentry_one_left"]):  # D-E16
            return {}
        stake, half_pot = rules["stake"], (self.pot + 1) // 2  # D-E19: an odd half is rounded up
        everybody_out = self._clockwise(set(range(self.num_players)) - set(self.left))
        bought_before = [seat for seat in everybody_out if self.reentries[seat] > 0]
        if kind == "wiki3":
            # "only three times: the first time for a single stake, the second time for half the
            # pot, and the last time for a full pot", and right after being knocked out
            by_count = (stake, half_pot, self.pot)
            may_buy = [seat for seat in self._clockwise(self.out) if self.reentries[seat] < 3]
            return {seat: by_count[self.reentries[seat]] for seat in may_buy}
        if kind == "wiki2":
            # "for a double stake ... in the deal after the first one in which only three players
            # were left"; those for "half the pot or ... a full pot" with two left
            if left == 3 and not self.first_over:
                self.first_over = True
                return {seat: 2 * stake for seat in everybody_out}
            if left == 2 and not self.second_over:
                self.second_over = True
                price = half_pot if rules["wiki2_second"] == "half" else self.pot
                return {seat: price for seat in bought_before}
            return {}
        # "första gången spelarantalet sjunker till tre eller två ... för dubbla ... insatsen"
        if self.out and left <= 3 and not self.first_over:
            self.first_over = True
            return {seat: 2 * stake for seat in everybody_out}
        # "Om någon ... gör ett första återinköp, ges en andra chans ... nästa gång spelarantalet
        # sjunkit till två. Priset ... halva potten", but not for one who "avstår ... vid det
        # första tillfället". One who went out later may, unless switched off (D-E13).
        if self.out and left == 2 and any(self.reentries) and not self.second_over:
            self.second_over = True
            willing = [seat for seat in everybody_out if seat not in self.declined]
            may_buy = willing if rules["second_includes_new"] else bought_before
            return dict.fromkeys(may_buy, half_pot)
        return {}

    def _next_buyer(self) -> None:
        if self.queue:
            self.phase, self.seat = "buyin", self.queue[0]
        else:
            self._finish_deal()

    def _answer_buyin(self, action: str) -> None:
        seat = self.queue.pop(0)
        if action == "buy":
            self._pay(seat, self.prices[seat])
            self.reentries[seat] += 1
            if self.first_over and not self.second_over:
                self.first_buyers.add(seat)
            self.in_pot = sorted([*self.in_pot, seat])
            if not self.rules["reentry_plus_ante"]:
                self.ante_in_price.add(seat)
        else:
            self.declined.add(seat)
        self._next_buyer()

    # ------------------------------------------------------------------ end of a deal
    def _finish_deal(self) -> None:
        """Record the deal, pay a pot that is won, and pass the deal on."""
        self.prices = {}
        # "vidare medsols till närmaste icke utslagna spelare", counted after (or before) the
        # buying in (D-E14)
        still_in = self.in_pot if self.rules["next_dealer"] == "after" else self.left
        next_dealer = self._clockwise(still_in)[0]
        winner = None
        if len(self.in_pot) == 1 and not self.single_deal:
            winner = self.in_pot[0]  # "När bara en spelare återstår, har hen vunnit hela potten."
            # "Turen att ge går vidare medsols", and everybody is in again
            next_dealer = (self.dealer + 1) % self.num_players
        self._record(redeal=None, next_dealer=next_dealer, winner=winner)
        if self.single_deal:  # who goes out pays the stake, those who stay share it equally
            share = Fraction(self.rules["stake"] * len(self.out), len(self.left))
            for seat in self.order:
                self.returns[seat] += share if seat in self.left else -self.rules["stake"]
            return self._end()
        if winner is not None:
            self.returns[winner] += self.pot
            self.pot, self.pots_left = 0, self.pots_left - 1
            if self.pots_left == 0:
                return self._end()
        self.phase = "deal"
        self._check_cap()  # between two pots there is nothing to share, and no antes are paid
        if not self.over:
            self.dealer = next_dealer
            if winner is not None:
                self._new_pot()

    def _record(self, redeal: str | None, next_dealer: int, winner: int | None) -> None:
        """Add the deal to `results`, with the keys of the record notation."""
        result: dict[str, Any] = {"redeal": redeal, "next_dealer": next_dealer, "winner": winner}
        for key in ("turns", "reveals", "undone", "left", "final", "pot"):
            result[key] = getattr(self, key)
        for key in ("chopped", "low_kille", "out"):
            result[key] = sorted(getattr(self, key))
        self.results.append(result)

    def _check_cap(self) -> None:
        """Truncate an unfinished match at `max_deals` (D-E26), sharing the pot equally."""
        if self.deals >= self.rules["max_deals"]:
            self.truncated = True
            share, self.left_on_table = divmod(self.pot, len(self.in_pot))
            for seat in self.in_pot:
                self.returns[seat] += share
            self.pot = 0
            self._end()

    def _end(self) -> None:
        self.over, self.phase, self.seat = True, "over", None

    # ------------------------------------------------------------------ who knows what
    def _tell(self, event: Event, fuller: dict[Any, Event] | None = None) -> None:
        """Let every seat see an event; those in `fuller` see more of it."""
        for seat in range(self.num_players):
            self.seen[seat].append((fuller or {}).get(seat, event))

    def view(self, seat: int) -> tuple[Any, ...]:
        """Return all that a seat may know: what it saw in this hand, and where the match stands.

        Nothing shows that a gök holder is, was or will be asked, except to the holder while it is
        asked: all others, the player on turn too, already see that player's turn.
        """
        phase, actor = self.phase, self.seat
        actions = self.legal() if seat == self.seat else []
        if self.phase == "gok":
            phase, actor = "turn", self._on_turn()
            if seat == actor:
                actions = self._turn_actions()
        return (
            ("seat", seat, *actions),
            ("phase", phase, actor),
            ("pot", self.pot, self.left_on_table, self.pots_left),
            ("deals", self.deals, self.granted, self.dealer, self.truncated),
            ("in_pot", *self.in_pot),
            ("reentries", *self.reentries),
            ("bought_first", *sorted(self.first_buyers)),
            ("declined", *sorted(self.declined)),
            ("occasions_over", self.first_over, self.second_over),
            ("prices", *self.prices.items()),
            ("seen", *self.seen[seat]),
        )
