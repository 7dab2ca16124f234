"""Verify a solved table: values and possible gains of the seats, in exact fractions.

    python check.py TREE.efg.gz POLICY.policy

It needs only Python, and shares no code with the suite that wrote the files. TREE is an extensive
game in Gambit's format, one line for each node in preorder, compressed or not:

    c "" 1 "" { "0" 1/6 "1" 5/6 } 0             chance: each branch with its probability
    p "" 2 7 "information" { "a" "b" } 0        player 2 decides in its information set 7
    t "" 3 "" { 1/2 -1/2 }                      a terminal node: the payoff of each player

POLICY has a line for each information set: player, number, and the probability of each action, as
a fraction or a decimal. A best response is found in sequence form, so no floating point is used.
"""

import gzip
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import Any

TOKEN = re.compile(r'"[^"]*"|[{}]|[^\s{}"]+')


def lines_of(path: str) -> Iterator[str]:
    """Yield the lines of a file, unpacked if its name ends with .gz."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        yield from file


def inside(tokens: list[str]) -> list[str]:
    """Return the tokens in braces."""
    return tokens[tokens.index("{") + 1 : tokens.index("}")]


def distribution(texts: list[str], line: str) -> list[Fraction]:
    """Parse exact probabilities, which must add up to 1."""
    row = [Fraction(text) for text in texts]
    if not row or min(row) < 0 or sum(row) != 1:
        raise ValueError(f"the probabilities do not add up to 1: {line}")
    return row


def check(tree: str, policy: str) -> tuple[list[Fraction], list[Fraction]]:
    """Return the value of each seat by the policy, and by its best response to the others."""
    plays = {}
    for line in lines_of(policy):
        seat, number, *chances = line.split()
        plays[int(seat) - 1, int(number)] = distribution(chances, line)
    nodes = lines_of(tree)
    seats = range(len(inside(TOKEN.findall(next(nodes)))))
    # For each pending node: its reach by chance and by each seat, and each seat's last sequence,
    # an information set with an action.
    waiting: list[Any] = [(Fraction(1), (Fraction(1),) * len(seats), (None,) * len(seats))]
    earned = [Fraction(0) for _ in seats]
    worth = [defaultdict(Fraction) for _ in seats]  # by own sequence, if only the others may mix
    sets = {}
    for line in nodes:
        kind, _, *rest = tokens = TOKEN.findall(line)
        chance, reach, last = waiting.pop()
        if kind == "c":
            shares = distribution(inside(tokens)[1::2], line)
            waiting += [(chance * share, reach, last) for share in reversed(shares)]
        elif kind == "p":
            seat, number, count = int(rest[0]) - 1, int(rest[1]), len(inside(tokens))
            row = plays[seat, number]
            if sets.setdefault((seat, number), (last[seat], count)) != (last[seat], count):
                raise ValueError(f"imperfect recall, or other actions: {line}")
            if len(row) != count:
                raise ValueError(f"{len(row)} probabilities in the policy: {line}")
            for action in reversed(range(count)):
                reached = (*reach[:seat], reach[seat] * row[action], *reach[seat + 1 :])
                after = (*last[:seat], (number, action), *last[seat + 1 :])
                waiting.append((chance, reached, after))
        else:
            for seat, pay in zip(seats, map(Fraction, inside(tokens)), strict=True):
                others = chance * prod(reach[:seat]) * prod(reach[seat + 1 :]) * pay
                worth[seat][last[seat]] += others
                earned[seat] += others * reach[seat]
    if waiting or sets.keys() != plays.keys():
        raise ValueError("the tree is cut off, or the policy belongs to another tree")
    for (seat, number), (before, count) in reversed(sets.items()):  # children come first
        worth[seat][before] += max(worth[seat][number, action] for action in range(count))
    return earned, [worth[seat][None] for seat in seats]


if __name__ == "__main__":
    values, best = check(*sys.argv[1:])
    for seat, (value, most) in enumerate(zip(values, best, strict=True), 1):
        print(f"player {seat}: earns {value} = {float(value):+.9f}, could gain {most - value}")
    nash_conv = sum(best) - sum(values)
    print(f"NashConv: {nash_conv} = {float(nash_conv):.3g}")
