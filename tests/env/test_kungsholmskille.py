"""Kungsholmskille: the words that describe a table. Its rules: tests/rules."""

from env.trick_tables import play

THREE = "BL L1 L5 L9 KA | BP L2 L6 L10 SV | KR L3 L7 L11 HU"


def test_describe_names_own_cards_and_what_was_said():
    table = play("kungsholmskille", THREE, "0 bud, 1 knock, 2 stay, 0 stay, 0 discard BL", "L12")
    assert table.batch.describe(0, 0).splitlines() == [
        "Kungsholmskille, deal 1, dealer seat 2, pot 6 chips",
        "  seat 0 (you)  L1 L5 L9 L12 KA (discarded BL, got L12)  passed, stays, 1 new",
        "  seat 1        ? ? ? ? ?                                knocks",
        "  seat 2        ? ? ? ? ?                                stays",
        "seat 1 may exchange up to 2 cards.",
    ]
    # A person has been told of their discards when they made them.
    short = table.batch.game.describe(table.record, table.rules, 0, history=False)
    assert "  seat 0 (you)  L1 L5 L9 L12 KA  passed, stays, 1 new" in short.splitlines()
