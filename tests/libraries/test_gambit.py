# pyright: reportMissingImports=false
"""Gambit reads the trees of the truth set, and finds the values and gains that are certified."""

import gzip
import io
from fractions import Fraction

import pytest

from reference.scripts import ROOT, script

pygambit = pytest.importorskip("pygambit", reason="pip install pygambit")


@pytest.mark.parametrize(
    "name",
    [
        *("kuhn-2", "kuhn-3", "leduc-2", "byteskille-unasked-2", "byteskille-wikipedia-2"),
        *("knack-mini-2", "femkortskille-mini-2", "kungsholmskille-mini-2", "krypkille-mini-2"),
    ],
)
def test_gambit_finds_what_the_checker_finds_in_fractions(name: str) -> None:
    tree, policy = (ROOT / "truth" / name / f"tree.{end}" for end in ("efg.gz", "policy"))
    values, best = script("truth/check.py").check(str(tree), str(policy))
    game = pygambit.read_efg(io.StringIO(gzip.decompress(tree.read_bytes()).decode()))
    rows: dict[int, list[list[str]]] = {}
    for line in policy.read_text().splitlines():
        seat, _, *chances = line.split()
        rows.setdefault(int(seat), []).append(chances)
    play = game.mixed_behavior_profile(data=[rows[seat] for seat in sorted(rows)], rational=True)
    assert [Fraction(value) for value in dict(play.payoffs).values()] == values
    gains = [most - value for most, value in zip(best, values, strict=True)]
    assert Fraction(play.max_regret()) == max(gains)
