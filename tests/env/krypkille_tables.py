"""Tables of Krypkille with named cards, and deals that end with the last cards that a test needs.

table = end("L1 L4 GO KI", "0 pass, 1 declare")
assert table.result["points"] == [0, 14, 17, 50]
"""

from typing import Any

from env.trick_tables import Table
from env.trick_tables import play as play_game

FOUR = "L1 L5 L9 L12 HU | L2 L6 L10 VH GO | L3 L7 L11 KA KI | L4 L8 BL BP SV"
_RISING = ("L5", "L6", "L7", "L8", "L9", "L10", "L11", "L12", "VH", "KA", "SV", "HU")


def play(hands: str = FOUR, script: str = "", talon: str = "", **more: Any) -> Table:
    """Return a table of this game after its first deal's cards and decisions."""
    return play_game("krypkille", hands, script, talon, **more)


def end(lasts: str, script: str = "", table: Table | None = None, **more: Any) -> Table:
    """Play a deal up to its guessing round, and then what a test says.

    In every trick the cards rise, each heading the one before, so that everybody keeps the card
    that they are to have in the end. The tricks go to the players one after another, anticlockwise:
    with four players forehand begins the guessing. The last cards are lower than lilja 5 or higher
    than husar, "-" for a seat that is out.
    """
    cards = lasts.split()
    if table is None:
        table = Table("krypkille", len(cards), more.pop("dealer", None), **more)
    dealer = int(table.record["next_dealer"])
    while cards[dealer] == "-":
        dealer = (dealer + 1) % len(cards)
    clockwise = [(dealer + 1 + step) % len(cards) for step in range(len(cards))]
    order = [seat for seat in clockwise if cards[seat] != "-"]
    hands = {seat: [cards[seat]] for seat in order}
    rising = iter([code for code in _RISING for _ in "12"])
    script_so_far = [f"{seat} discard" for seat in order]
    for trick in range(4):
        for step in range(len(order)):
            seat, code = order[(step - trick) % len(order)], next(rising)
            hands[seat].append(code)
            if step == 0:
                script_so_far.append(f"{seat} {code}")
    table.deal(" | ".join(" ".join(hands.get(seat, [])) for seat in range(len(cards))))
    return table.act(", ".join(script_so_far)).act(script)
