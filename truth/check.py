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
from functools import reduce
from math import prod

TOKEN = re.compile(r'"[^"]*"|[{}]|[^\s{}"]+')
NUMBER = re.compile(r"-?\d{1,40}(/[1-9]\d{0,39}|(\.\d{1,30})?(e-\d{1,2})?)", re.ASCII)
FORMS = {"EFG": (4, []), "c": (4, ["0"]), "p": (5, ["0"]), "t": (4, [])}  # before braces, after
LINE, MOST = 1 << 20, 1 << 25  # a small file can unpack to more than the memory holds
LONG, PLAYERS = 1 << 13, 99  # bits of a denominator


def lines_of(path: str) -> Iterator[str]:
    """Yield the lines of a file, unpacked if its name ends with .gz."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        size = 0
        for number, line in enumerate(iter(lambda: file.readline(LINE), ""), 1):
            if (size := size + len(line)) > MOST or not line.endswith("\n"):
                raise ValueError(f"line {number} is cut off, too long or one too many")
            yield line


def parts(line: str) -> tuple[list[str], list[str]]:
    """Return the tokens before the braces and in them, of a line that is nothing else."""
    tokens = TOKEN.findall(line)
    size, after = FORMS.get("".join(tokens[:1]), (0, []))
    head, content = tokens[:size], tokens[size + 1 : -1 - len(after)]
    whole = tokens == [*head, "{", *content, "}", *after] and not {"{", "}"} & {*content}
    if not size or not whole or line.count('"') % 2 or "\\" in line:
        raise ValueError(f"not a node: {line[:80]!r}")
    return head, content


def short(number: Fraction) -> Fraction:
    """Return the number, if few bits hold it."""
    if number.denominator >> LONG:
        raise ValueError("a fraction becomes too long")
    return number


def plus(one: Fraction, other: Fraction) -> Fraction:
    """Return a sum that few bits hold."""
    return short(one + other)


def numbers(texts: list[str], line: str, total: int | None = None) -> list[Fraction]:
    """Parse exact numbers; with a total they are probabilities."""
    if not texts or not all(map(NUMBER.fullmatch, texts)):
        raise ValueError(f"expected numbers: {line[:80]!r}")
    row = list(map(Fraction, texts))
    if total is not None and (min(row) < 0 or reduce(plus, row) != total):
        raise ValueError(f"the probabilities do not add up to {total}: {line[:80]!r}")
    return row


def check(tree: str, policy: str) -> tuple[list[Fraction], list[Fraction]]:
    """Return the value of each seat by the policy, and by its best response to the others."""
    plays, sets, known = {}, {}, {}
    for line in lines_of(policy):
        seat, number, *chances = line.split()
        row = numbers(chances, line, 1)
        if plays.setdefault((int(seat) - 1, int(number)), row) is not row:
            raise ValueError(f"an information set stands twice in the policy: {line[:80]!r}")
    (kind, *_), players = parts(next(nodes := lines_of(tree), ""))
    if kind != "EFG" or not (seats := range(len(players))) or len(seats) > PLAYERS:
        raise ValueError("the tree has no header of a game, no players or too many")
    # For each pending node: its reach by chance and by each seat, each seat's last set and action.
    waiting: list = [(Fraction(1), (Fraction(1),) * len(seats), (None,) * len(seats))]
    earned, worth = [Fraction(0) for _ in seats], [defaultdict(Fraction) for _ in seats]
    for line in nodes:
        (kind, _, *rest), content = parts(line)
        same = known.setdefault((kind, *rest[:-1]), content) == content
        if not waiting or kind == "EFG" or not same:
            raise ValueError(f"one node too many, or a number with two meanings: {line[:80]!r}")
        chance, reach, last = waiting.pop()
        if kind == "c":
            shares = numbers(content[1::2], line, 1)
            waiting += [(short(chance * share), reach, last) for share in reversed(shares)]
        elif kind == "p":
            seat, number, count = int(rest[0]) - 1, int(rest[1]), len(content)
            listed = seat in seats and len(plays.get((seat, number), ())) == count
            if not listed or sets.setdefault((seat, number), last[seat]) != last[seat]:
                raise ValueError(f"other actions in the policy, or imperfect recall: {line[:80]!r}")
            for action, share in reversed(list(enumerate(plays[seat, number]))):
                after = (*last[:seat], (number, action), *last[seat + 1 :])
                reached = (*reach[:seat], short(reach[seat] * share), *reach[seat + 1 :])
                waiting.append((chance, reached, after))
        else:
            for seat, pay in zip(seats, numbers(content, line), strict=True):
                others = chance * prod(reach[:seat]) * prod(reach[seat + 1 :]) * pay
                worth[seat][last[seat]] = plus(worth[seat][last[seat]], others)
                earned[seat] = plus(earned[seat], others * reach[seat])
    if waiting or sets.keys() != plays.keys():
        raise ValueError("the tree is cut off, or the policy belongs to another tree")
    for (seat, number), before in reversed(sets.items()):  # children come first
        best = max(worth[seat][number, a] for a in range(len(plays[seat, number])))
        worth[seat][before] = plus(worth[seat][before], best)
    return earned, [worth[seat][None] for seat in seats]


if __name__ == "__main__":
    try:
        values, best = check(*sys.argv[1:])
    except Exception as error:
        sys.exit(f"not certified: {str(error) or type(error).__name__}")
    for seat, (value, most) in enumerate(zip(values, best, strict=True), 1):
        print(f"player {seat}: earns {value} = {float(value):+.9f}, could gain {most - value}")
    print(f"NashConv: {(gap := sum(best) - sum(values))} = {float(gap):.3g}")
