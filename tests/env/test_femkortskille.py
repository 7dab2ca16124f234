"""Femkortskille beside its rows in tests/rules: buttons, rewards, the table in words."""

from env.trick_tables import play as play_game
from kille_env.games.femkortskille import SPEC

FOUR = "L1 L5 L9 | L2 L6 L10 | L3 L7 L11 | L4 L8 L12"
TWO = "L1 L5 L9 | L2 L6 L10"


def play(hands=FOUR, script="", talon="", **more):
    """A table of this game after its first deal's cards and decisions."""
    return play_game("femkortskille", hands, script, talon, **more)


def play_lowest(table):
    """Play the rest of a deal; everybody plays the lowest card that they may."""
    while table.seat is not None:
        table.act(f"{table.seat} {table.legal.split(', ')[0]}")
    return table


# Knock, fold or check


def test_the_last_one_to_wait_is_told_that_the_pot_stays():
    table = play(FOUR, "0 check, 1 check")
    for said in ("Wait", "Wait: nobody knocks, the pot stays"):
        batch = table.batch
        assert batch.game.choice(batch.tables[0], batch.rules, 1, []) == said
        table.act(f"{table.seat} check")
    assert table.result["kind"] == "all_checked"


# The match


def test_announced_rewards_are_met_at_their_ends():
    table = play(TWO, "0 knock, 1 knock", "L3 L4 L11 L12", episode="deal", ante=3)
    play_lowest(table)
    low, high = SPEC.reward_range(table.rules, 2)
    assert sorted(table.result["chips"]) == [-9, 9]
    assert (low, high) == (-9, 12)  # an earlier step may have paid the winner's ante


# Words


def test_describe_names_own_cards_and_what_was_said():
    text = play(FOUR, "0 check, 1 knock", ante=2).batch.describe(0, 1)
    assert text.splitlines() == [
        "Femkortskille, deal 1, seat 3 deals, pot 8 chips, 30 cards in the stock",
        "  seat 0        ? ? ?      waits",
        "  seat 1 (you)  L2 L6 L10  knocks",
        "  seat 2        ? ? ?",
        "  seat 3        ? ? ?",
        "It is seat 2's turn.",
    ]
