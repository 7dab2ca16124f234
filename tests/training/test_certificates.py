"""Certified tables: files that a checker of a hundred lines reads, which shares no code with us."""

import ast
import gzip
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kille_training.solving.trees.values import nash_conv, uniform
from reference.scripts import script
from reference.small_games import coin
from reference.trees import numbered

HERE = Path(__file__).parents[2] / "docs" / "certificates"
CHECKER = HERE / "check.py"
PUBLISHED = sorted(path.stem for path in HERE.glob("*.policy"))


def check(tree: Path, policy: Path) -> tuple[list[Fraction], list[Fraction]]:
    """What the checker says of two files."""
    return script("docs/certificates/check.py").check(str(tree), str(policy))


COIN = numbered(coin().nodes)


def written(folder: Path, strategy: np.ndarray) -> tuple[Path, Path]:
    """The two files of the coin with a strategy."""
    COIN.write(folder / "coin.efg")
    COIN.write_policy(strategy, folder / "coin.policy")
    return folder / "coin.efg", folder / "coin.policy"


def test_the_checker_is_short_and_needs_python_alone() -> None:
    source = CHECKER.read_text()
    assert len(source.splitlines()) <= 100
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    assert names <= sys.stdlib_module_names


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_what_our_own_measure_finds(tmp_path: Path, seed: int) -> None:
    tree = COIN.tree.without_nodes()
    strategy = np.random.default_rng(seed).random(tree.num_sequences)
    strategy /= np.repeat(np.add.reduceat(strategy, tree.first[:-1]), np.diff(tree.first))
    values, best = check(*written(tmp_path, strategy.round(6)))
    expected = nash_conv(tree, strategy)
    assert [float(value) for value in values] == pytest.approx(expected.values, abs=1e-5)
    gains = [float(most - value) for most, value in zip(best, values, strict=True)]
    assert gains == pytest.approx(expected.improvement, abs=1e-5)


def test_its_answer_is_exact(tmp_path: Path) -> None:
    """Always going on loses the guess of heads; worked out by hand."""
    values, best = check(*written(tmp_path, np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])))
    assert values == [Fraction(5, 6) - 2, 2 - Fraction(5, 6)]
    assert best == [Fraction(5, 6) - Fraction(2, 3), values[1]]


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("coin.policy", "1 1 0.5 0.5", "1 1 0.5 0.6", "add up to 1"),
        ("coin.policy", "1 1 0.5 0.5", "1 1 1.5 -0.5", "add up to 1"),
        ("coin.policy", "1 1 0.5 0.5", "1 1 1/3 1/3 1/3", "3 probabilities in the policy"),
        ("coin.policy", "1 1 0.5 0.5\n", "1 1 0.5 0.5\n1 3 1\n", "belongs to another tree"),
        ("coin.efg", '"0" 1/3 "1" 2/3', '"0" 1/3 "1" 1/3', "add up to 1"),
        ("coin.efg", 'p "" 1 2', 'p "" 1 1', "belongs to another tree"),
    ],
)
def test_what_is_no_game_or_no_policy_is_refused(
    tmp_path: Path, file: str, old: str, new: str, told: str
) -> None:
    files = written(tmp_path, uniform(COIN.tree.without_nodes()))
    changed = tmp_path / file
    assert old in changed.read_text()
    changed.write_text(changed.read_text().replace(old, new))
    with pytest.raises(ValueError, match=told):
        check(*files)


@pytest.mark.slow
def test_the_page_says_what_the_checker_finds() -> None:
    make = script("docs/solutions.py")
    assert sorted(make.CERTIFIED) == PUBLISHED
    assert make.certificates() in (HERE.parent / "solutions.md").read_text(encoding="utf-8")


def test_a_change_of_a_published_file_is_seen(tmp_path: Path) -> None:
    """Another payoff and another choice both change what comes out."""
    tree, policy = HERE / "byteskille-wikipedia-2.efg.gz", HERE / "byteskille-wikipedia-2.policy"
    before = check(tree, policy)
    lines = gzip.decompress(tree.read_bytes()).decode().splitlines(keepends=True)
    paid = [line.replace("{ 2 -2 }", "{ 3 -2 }") for line in lines]
    assert paid != lines
    (tmp_path / "paid.efg").write_text("".join(paid))
    assert check(tmp_path / "paid.efg", policy) != before
    first, *others = policy.read_text().splitlines(keepends=True)
    seat, number, *chances = first.split()
    (tmp_path / "other.policy").write_text(
        "".join([f"{seat} {number} {' '.join(reversed(chances))}\n", *others])
    )
    values, best = check(tree, tmp_path / "other.policy")
    assert sum(best) - sum(values) > sum(before[1]) - sum(before[0])


def test_the_published_files_are_small() -> None:
    assert sum(path.stat().st_size for path in HERE.iterdir() if path.is_file()) < 1_000_000


def test_every_block_of_the_page_is_filled():
    page = (HERE.parent / "solutions.md").read_text(encoding="utf-8")
    marks = re.findall(r"<!-- begin ([\w -]+) -->", page)
    found = script("docs/solutions.py")
    assert sorted(marks) == sorted(found.BLOCKS)
    for name in ("small", "mixing", "learned"):  # the others are solved
        assert found.BLOCKS[name]() in page
