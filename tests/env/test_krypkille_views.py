"""What a seat of Krypkille is given to see: every part of it, nothing hidden, and the words."""

import numpy as np
import pytest

import kille_env
from env.krypkille_tables import FOUR, end, play
from kille_env.games.krypkille import SPEC

# The parts of the observation


@pytest.mark.compiled
@pytest.mark.parametrize("num_players", [2, 4, 6])
def test_nobody_has_a_card_that_a_seat_knows_of(num_players):
    batch = kille_env.make_batch("krypkille", 64, num_players, rules="blog2010", seed=3)
    batch.reset()
    rng = np.random.default_rng(3)
    known, hold = (
        next(part.slice for part in SPEC.observation(num_players) if part.name == name)
        for name in ("known", "may_hold")
    )
    for _ in range(200):
        tables = batch.tables
        for seat in range(num_players):
            seen = batch.observe(seat)
            for other in range(1, num_players):
                held = held_types(tables["hand"][:, (seat + other) % num_players])
                assert (seen[:, known] + held <= 2).all()
                assert (seen[:, hold][:, other] >= held.sum(axis=1)).all()
        batch.step((rng.random(batch.mask.shape) * batch.mask).argmax(axis=1))


def held_types(hands):
    """How many cards of each type are in hands, [N, 21]."""
    bits = hands[:, None] >> np.arange(42, dtype=np.uint64) & np.uint64(1)
    return bits.reshape(len(hands), 21, 2).sum(axis=2).astype(np.int64)


# Words


@pytest.mark.parametrize(
    ("lasts", "more", "script", "last"),
    [
        ("L1 KI", {}, "0 declare", "seat 0 wins the match."),
        (
            *("L3 L3", {"start": {"scores": [45, 45]}}, "0 pass, 1 pass"),
            "seat 0 and seat 1 share the match.",
        ),
        (
            *("L1 L2", {"max_deals": 1}, "0 declare"),
            "The match is cut off after 1 deal: those who are in share it.",
        ),
        ("L1 L2", {"episode": "deal"}, "0 declare", "  seat 1  2  2 points  2 in all"),
    ],
)
def test_the_end_of_a_match_is_told(lasts, more, script, last):  # D-R01 D-R04
    assert end(lasts, **more).told(script)[-1] == last


def test_describe_names_own_cards_and_what_was_done():
    table = play(FOUR, "0 discard L12, 1 discard", "SV", start={"scores": [12, 1, 0, 30]})
    assert table.batch.describe(0, 0).splitlines() == [
        "Krypkille, deal 1, dealer seat 3",
        "  seat 0 (you)  12 points  L1 L5 L9 SV HU (discarded L12, got SV)  1 new",
        "  seat 1        1 point    ? ? ? ? ?                               0 new",
        "  seat 2        0 points   ? ? ? ? ?",
        "  seat 3        30 points  ? ? ? ? ?",
        "seat 2 may discard up to 3 cards.",
    ]
    # A person has been told of their discards when they made them.
    short = table.batch.game.describe(table.record, table.rules, 0, history=False)
    assert "  seat 0 (you)  12 points  L1 L5 L9 SV HU  1 new" in short.splitlines()
    text = end("L1 - L3 L4", "3 pass", start={"scores": [0, 70, 0, 0]}).batch.describe(0, 0)
    assert "  seat 1        70 points      out" in text
    assert "  seat 3        0 points   ?   0 new, passed" in text
    assert "Trick 4: " in text
    assert text.endswith("seat 0 (you) declares or passes.")
