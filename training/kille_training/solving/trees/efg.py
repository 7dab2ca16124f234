"""Game trees as Gambit's `.efg` files for OpenSpiel's C++ solvers, and conversion of policies.

The format is that of Gambit's extensive games (https://gambitproject.readthedocs.io, "The
extensive game (.efg) file format"): one line for each node in preorder, as in a `FlatTree`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.errors import PolicyError
from kille_env.files import whole_file, write_whole
from kille_training.solving.trees.tree import CHANCE, TERMINAL, FlatTree
from kille_training.solving.trees.values import MILLION, in_millionths

DENOMINATOR, ROUNDING = 10**6, 2e-15
"""Maximum denominator of fractions in a file, and tolerance of a number close to one."""

SUM_TOLERANCE = 1e-6  # tolerance of the sum of a policy's probabilities at a decision


@dataclass(frozen=True, eq=False)
class EfgTree:
    """A labeled tree for OpenSpiel and Gambit."""

    tree: FlatTree
    # [S] label of each sequence's action, distinct within an information set. OpenSpiel identifies
    # actions of a player by label
    actions: Sequence[str]
    names: Sequence[str]  # [I] label of each information set
    title: str = ""

    def write(self, path: Path) -> None:
        """Write the file, atomically.

        Numbers close to a simple fraction, such as chances of cards and payoffs, are written as
        fractions, others with all digits.
        """
        with whole_file(path) as file:
            for line in self._lines():
                file.write(line.encode())

    def write_policy(self, strategy: np.ndarray, path: Path) -> None:
        """Write a strategy by information set, for truth/check.py.

        Each line is a player, an information set and the probability of each action, rounded so
        that they add up to exactly 1.
        """
        lines, first = [], self.tree.first.tolist()
        shares = (in_millionths(self.tree, strategy) / MILLION).tolist()
        for number, (seat, of_seat) in enumerate(self._numbers()):
            row = shares[first[number] : first[number + 1]]
            lines.append(" ".join([str(seat), str(of_seat), *(f"{one:g}" for one in row)]) + "\n")
        write_whole(path, "".join(lines).encode())

    def strategy_of(self, policy: Any, game: Any) -> np.ndarray:
        """Return an OpenSpiel policy as a strategy of the tree, [S]."""
        strategy = np.zeros(self.tree.num_sequences)
        for number, state in self._decisions(game):
            chances = policy.action_probabilities(state)
            row = np.array([chances.get(action, 0.0) for action in self._steps(number, state)])
            if not (row >= 0.0).all() or abs(row.sum() - 1.0) > SUM_TOLERANCE:
                raise PolicyError(
                    f"the policy returned no distribution for information set {number} "
                    f"({state.information_state_string()}): {chances}"
                )
            strategy[self.tree.first[number] : self.tree.first[number + 1]] = row / row.sum()
        return strategy

    def policy_of(self, strategy: np.ndarray, game: Any) -> dict[str, list[tuple[int, float]]]:
        """Return a strategy [S] as the argument of `pyspiel.TabularPolicy`."""
        rows = {}
        for number, state in self._decisions(game):
            chances = strategy[self.tree.first[number] : self.tree.first[number + 1]].tolist()
            steps = self._steps(number, state)
            rows[state.information_state_string()] = list(zip(steps, chances, strict=True))
        return rows

    def _labels(self, number: int) -> list[str]:
        """Return the escaped labels of the actions of an information set."""
        begin, end = self.tree.first[number : number + 2]
        return [_plain(label) for label in self.actions[begin:end]]

    @cached_property
    def _children(self) -> tuple[np.ndarray, np.ndarray]:
        """The children of each node: those of node n are `below[begin[n] : begin[n + 1]]`."""
        above = self.tree.parent[1:]
        counts = np.bincount(above, minlength=self.tree.num_nodes)
        return np.argsort(above, kind="stable") + 1, np.concatenate([[0], np.cumsum(counts)])

    def _lines(self) -> Iterator[str]:
        tree, (below, begin) = self.tree, self._children
        players = " ".join(f'"seat {seat}"' for seat in range(tree.num_players))
        yield f'EFG 2 R "{_plain(self.title)}" {{ {players} }}\n'
        heads, leaf = self._heads(), 0
        for node, number in enumerate(tree.infoset.tolist()):
            if number == TERMINAL:
                paid = " ".join(map(_number, tree.payoff[leaf].tolist()))
                leaf += 1
                yield f't "" {leaf} "" {{ {paid} }}\n'
            elif number == CHANCE:
                shares = tree.probability[below[begin[node] : begin[node + 1]]].tolist()
                texts = _chances(shares)
                steps = " ".join(f'"{place}" {share}' for place, share in enumerate(texts))
                yield f'c "" {node + 1} "" {{ {steps} }} 0\n'
            else:
                yield heads[number]

    def _heads(self) -> list[str]:
        """Return the line of each information set."""
        heads = []
        for number, (seat, of_seat) in enumerate(self._numbers()):
            actions = " ".join(f'"{label}"' for label in self._labels(number))
            name = _plain(self.names[number])
            heads.append(f'p "" {seat} {of_seat} "{name}" {{ {actions} }} 0\n')
        return heads

    def _numbers(self) -> Iterator[tuple[int, int]]:
        """Yield the player of each information set and its number for that player, from 1."""
        seen = [0] * self.tree.num_players
        for seat in self.tree.player.tolist():
            seen[seat] += 1
            yield seat + 1, seen[seat]

    def _decisions(self, game: Any) -> Iterator[tuple[int, Any]]:
        """Yield every information set with OpenSpiel's state at its first node."""
        tree, (below, begin) = self.tree, self._children
        first, wanted = tree.first_nodes(), np.zeros(tree.num_nodes, dtype=bool)
        wanted[first] = True
        for node in range(tree.num_nodes - 1, 0, -1):  # children come after their parents
            wanted[tree.parent[node]] |= wanted[node]
        waiting = [(0, game.new_initial_state())]
        while waiting:
            node, state = waiting.pop()
            number = int(tree.infoset[node])
            if number >= 0 and first[number] == node:
                yield number, state
            children = below[begin[node] : begin[node + 1]].tolist()
            for child, step in zip(children, self._steps(number, state), strict=True):
                if wanted[child]:
                    waiting.append((child, state.child(step)))

    def _steps(self, number: int, state: Any) -> list[int]:
        """Return OpenSpiel's actions at a node of an information set, in the order of the file."""
        steps = {state.action_to_string(step): step for step in state.legal_actions()}
        labels = [str(i) for i in range(len(steps))] if number == CHANCE else self._labels(number)
        seat = -1 if number == CHANCE else int(self.tree.player[number])
        if state.current_player() != seat or set(steps) != set(labels):
            raise PolicyError(
                f"the game of OpenSpiel has another tree: expected {labels} of player {seat}, "
                f"got {list(steps)} of player {int(state.current_player())}"
            )
        return [steps[label] for label in labels]


def _chances(shares: Sequence[float]) -> list[str]:
    """Return probabilities as text, as fractions if these add up to 1."""
    texts = [_number(share) for share in shares]
    exact = sum(map(Fraction, texts)) == 1
    return texts if exact else [f"{share:.17g}" for share in shares]


def _number(value: float) -> str:
    """Return a number as text, as a fraction if it is close to one."""
    near = Fraction(value).limit_denominator(DENOMINATOR)
    exact = abs(near - Fraction(value)) <= ROUNDING * max(1.0, abs(value))
    return str(near) if exact else f"{value:.17g}"


def _plain(label: str) -> str:
    """Return a label on one line without quotation marks."""
    return " ".join(label.replace('"', "'").split())
