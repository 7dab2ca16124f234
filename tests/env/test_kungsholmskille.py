"""Kungsholmskille: the words that describe a table. Its rules: tests/rules."""

from env.trick_tables import play

THREE = "BL L1 L5 L9 KA | BP L2 L6 L10 SV | KR L3 L7 L11 HU"


def test_describe_names_own_cards_and_what_was_said():
    table = play("kungsholmskille", THREE, "0 bud, 1 knock, 2 stay, 0 stay, 0 discard BL", "L12")
    assert table.batch.describe(0, 0).splitlines() == [
        "Kungsholmskille, deal 1, seat 2 deals, pot 6 chips, 26 cards in the stock, "
        "1 card laid aside",
        "  seat 0 (you)  L1 L5 L9 L12 KA  passed, stays, 1 new",
        "  seat 1        ? ? ? ? ?        knocks",
        "  seat 2        ? ? ? ? ?        stays",
        "So far:",
        "  seat 0 (you) changes 1 card: mask for 12.",
        "It is seat 1's turn.",
    ]
