"""Verify a solved table: values and possible gains of the seats, in exact fractions.

    python check.py TREE.efg.gz POLICY.policy

It shares no code with the suite. TREE is a game in Gambit's format, compressed or not, one line
for each node in preorder, with payoffs at terminal nodes alone:

    c "" 1 "" { "0" 1/6 "1" 5/6 } 0             chance: each branch with its probability
    p "" 2 7 "information" { "a" "b" } 0        player 2 decides in its information set 7
    t "" 3 "" { 1/2 -1/2 }                      a terminal node: the payoff of each player

POLICY has a line for each information set: player, number, and the probability of each action.
"""

import gzip
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from math import prod

TOKEN = re.compile(r'"[^"]*"|[{}]|[^\s{}"]+')
NUMBER = re.compile(r"-?\d{1,40}(/[1-9]\d{0,39}|(\.\d{1,30})?(e-\d{1,2})?)", re.ASCII)
LINE, LINES = 1 << 20, 10**7  # a small file can unpack to more than the memory holds


def lines_of(path: str) -> Iterator[str]:
    """Yield the lines of a file, unpacked if its name ends with .gz."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(iter(lambda: file.readline(LINE), "")):
            if number == LINES or not line.endswith("\n"):
                raise ValueError(f"line {number + 1} is cut off, too long or one too many")
            yield line


def inside(tokens: list[str]) -> list[str]:
    """Return the tokens in braces."""
    return tokens[tokens.index("{") + 1 : tokens.index("}")]


def numbers(texts: list[str], line: str, total: int | None = None) -> list[Fraction]:
    """Parse exact numbers; with a total they are probabilities."""
    if not texts or not all(map(NUMBER.fullmatch, texts)):
        raise ValueError(f"expected numbers: {line[:80]!r}")
    row = list(map(Fraction, texts))
    if total is not None and (min(row) < 0 or sum(row) != total):
        raise ValueError(f"the probabilities do not add up to {total}: {line[:80]!r}")
    return row


def check(tree: str, policy: str) -> tuple[list[Fraction], list[Fraction]]:
    """Return the value of each seat by the policy, and by its best response to the others."""
    plays, sets = {}, {}
    for line in lines_of(policy):
        seat, number, *chances = line.split()
        row = numbers(chances, line, 1)
        if plays.setdefault((int(seat) - 1, int(number)), row) is not row:
            raise ValueError(f"an information set stands twice in the policy: {line[:80]!r}")
    seats = range(len(inside(TOKEN.findall(next(nodes := lines_of(tree), "")))))
    # For each pending node: its reach by chance and by each seat, each seat's last set and action.
    waiting: list = [(Fraction(1), (Fraction(1),) * len(seats), (None,) * len(seats))]
    earned, worth = [Fraction(0) for _ in seats], [defaultdict(Fraction) for _ in seats]
    for line in nodes:
        kind, _, *rest = tokens = TOKEN.findall(line)
        if not waiting or tokens[-1] != {"c": "0", "p": "0", "t": "}"}.get(kind):
            raise ValueError(f"not a node, or one too many: {line[:80]!r}")
        chance, reach, last = waiting.pop()
        if kind == "c":
            shares = numbers(inside(tokens)[1::2], line, 1)
            waiting += [(chance * share, reach, last) for share in reversed(shares)]
        elif kind == "p":
            seat, number, count = int(rest[0]) - 1, int(rest[1]), len(inside(tokens))
            known = seat in seats and len(plays.get((seat, number), ())) == count
            if not known or sets.setdefault((seat, number), last[seat]) != last[seat]:
                raise ValueError(f"other actions in the policy, or imperfect recall: {line[:80]!r}")
            for action, share in reversed(list(enumerate(plays[seat, number]))):
                after = (*last[:seat], (number, action), *last[seat + 1 :])
                reached = (*reach[:seat], reach[seat] * share, *reach[seat + 1 :])
                waiting.append((chance, reached, after))
        else:
            for seat, pay in zip(seats, numbers(inside(tokens), line), strict=True):
                others = chance * prod(reach[:seat]) * prod(reach[seat + 1 :]) * pay
                worth[seat][last[seat]] += others  # if the others alone may mix
                earned[seat] += others * reach[seat]
    if not seats or waiting or sets.keys() != plays.keys():
        raise ValueError("the tree is cut off, or the policy belongs to another tree")
    for (seat, number), before in reversed(sets.items()):  # children come first
        worth[seat][before] += max(worth[seat][number, a] for a in range(len(plays[seat, number])))
    return earned, [worth[seat][None] for seat in seats]


if __name__ == "__main__":
    try:
        values, best = check(*sys.argv[1:])
    except Exception as error:
        sys.exit(f"not certified: {error}")
    for seat, (value, most) in enumerate(zip(values, best, strict=True), 1):
        print(f"player {seat}: earns {value} = {float(value):+.9f}, could gain {most - value}")
    print(f"NashConv: {(gap := sum(best) - sum(values))} = {float(gap):.3g}")
