"""Counterfactual regret minimisation: CFR, CFR+, discounted CFR and predictive CFR+.

All are one loop that differs in numbers. After each iteration a regret is multiplied by one factor
if it is positive and by another if not; the average weighs iterations by a power of their number;
and the next strategy may count the last regrets once more, as a forecast of the coming ones.

- CFR: Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with incomplete
  information", NIPS 2007.
- CFR+: Tammelin, "Solving large imperfect information games using CFR+", arXiv 1407.5042.
- Discounted CFR: Brown and Sandholm, "Solving imperfect-information games via discounted regret
  minimization", AAAI 2019.
- Predictive CFR+: Farina, Kroer and Sandholm, "Faster game solving via predictive Blackwell
  approachability", AAAI 2021.
"""

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from kille_env.core.jit import kernel
from kille_env.errors import KilleError
from kille_training.solving.trees.sequences import SequenceForm, sequence_form
from kille_training.solving.trees.solver import Solver, normalised
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import check_strategy

ALWAYS, NEVER = float("inf"), float("-inf")
"""Exponents that keep a regret as it is, and that forget it at once."""


@dataclass(frozen=True)
class Variant:
    """What makes one method of regret minimisation differ from another.

    After iteration t regrets are multiplied by t**x / (t**x + 1).

    Attributes:
        positive: x of positive regrets, `ALWAYS` keeps them.
        negative: x of negative ones, `NEVER` forgets them at once: regret matching plus.
        averaging: Iteration t counts t**averaging times in the average.
        predictive: Whether the last regrets stand for the coming ones.
    """

    positive: float
    negative: float
    averaging: float
    predictive: bool = False

    def schedule(self, done: int, count: int) -> np.ndarray:
        """Returns the two factors and the weight of the `count` iterations after `done`, [n, 3]."""
        number = np.arange(done + 1, done + count + 1, dtype=np.float64)
        return np.stack(
            [_kept(number, self.positive), _kept(number, self.negative), number**self.averaging],
            axis=1,
        )


CFR_PLAIN = Variant(ALWAYS, ALWAYS, 0.0)
CFR_PLUS = Variant(ALWAYS, NEVER, 1.0)
DISCOUNTED = Variant(1.5, 0.0, 2.0)
PREDICTIVE_PLUS = Variant(ALWAYS, NEVER, 2.0, predictive=True)

VARIANTS = {
    "cfr": CFR_PLAIN,
    "cfr+": CFR_PLUS,
    "dcfr": DISCOUNTED,
    "pcfr+": PREDICTIVE_PLUS,
}
"""The methods by the names that papers use."""


def _kept(number: np.ndarray, exponent: float) -> np.ndarray:
    """Returns number**x / (number**x + 1); its limits for infinite x, at 1 as well."""
    if np.isinf(exponent):
        return np.full(len(number), float(exponent > 0))
    return 1.0 / (1.0 + number**-exponent)


class CFR(Solver):
    """Regret minimisation with full traversals; the players update in turn.

    Each player's update sees what those before him have just changed.
    """

    def __init__(
        self, tree: FlatTree, variant: Variant = CFR_PLUS, form: SequenceForm | None = None
    ) -> None:
        """Prepares the tree.

        Args:
            tree: The game.
            variant: The method.
            form: The tree's sequence form; None builds it.
        """
        if np.isnan([variant.positive, variant.negative, variant.averaging]).any():
            raise KilleError(f"the variant has an exponent that is no number: {variant}")
        self.tree = tree
        self.variant = variant
        self.form = sequence_form(tree) if form is None else form
        slots = self.form.num_slots
        self._count = np.zeros(1, dtype=np.int64)
        self._regret = np.zeros(slots)
        self._average = np.zeros(slots)
        self._current = np.ones(slots)
        self._reach = np.ones(slots)
        self._worth = np.zeros(slots)
        self._product = np.empty(self.form.others.shape[1])
        sizes = np.diff(tree.first)
        self._current[self.form.slot] = np.repeat(1.0 / sizes, sizes)
        _spread(self.form.begin, self.form.before, self._current, self._reach)

    @property
    def iteration(self) -> int:
        """Iterations so far."""
        return int(self._count[0])

    @property
    def average(self) -> np.ndarray:
        """The average strategy, [S]; uniform where the player himself never comes."""
        return normalised(self.tree, self._average[self.form.slot])

    @property
    def current(self) -> np.ndarray:
        """The strategy of the next iteration, [S]."""
        return self._current[self.form.slot]

    def settings(self) -> dict[str, Any]:
        """The variant's numbers."""
        return asdict(self.variant)

    @classmethod
    def made_with(cls, tree: FlatTree, settings: dict[str, Any]) -> Self:
        """Makes a solver with the settings that another one had."""
        return cls(tree, Variant(**settings))

    def _iterate(self, count: int) -> None:
        form = self.form
        _iterate(
            self.variant.schedule(self.iteration, count),
            float(self.variant.predictive),
            form.sets,
            form.begin,
            form.before,
            form.rows,
            form.column,
            form.weight,
            form.columns,
            form.others,
            self._count,
            self._regret,
            self._average,
            self._current,
            self._reach,
            self._worth,
            self._product,
        )

    def _state(self) -> dict[str, np.ndarray]:
        slot = self.form.slot
        return {
            "regret": self._regret[slot],
            "average": self._average[slot],
            "current": self._current[slot],
        }

    def _restore(self, iteration: int, state: dict[str, np.ndarray]) -> None:
        check_strategy(self.tree, state["current"])
        if (state["average"] < 0.0).any():
            raise KilleError("its average has negative weights")
        slot = self.form.slot
        self._count[0] = iteration
        self._regret[slot] = state["regret"]
        self._average[slot] = state["average"]
        self._current[slot] = state["current"]
        _spread(self.form.begin, self.form.before, self._current, self._reach)


@kernel
def _spread(begin, before, current, reach):
    """Fills in how often each player alone would play each of his sequences."""
    for number in range(np.uintp(len(before))):
        above = reach[np.uintp(before[number])]
        for slot in range(np.uintp(begin[number]), np.uintp(begin[number + np.uintp(1)])):
            reach[slot] = above * current[slot]


@kernel
def _iterate(
    schedule,
    forecast,
    sets,
    begin,
    before,
    rows,
    column,
    weight,
    columns,
    others,
    count,
    regret,
    average,
    current,
    reach,
    worth,
    product,
):
    """Iterates; `worth` is zero before and after.

    Args:
        schedule: [n, 3], see `Variant.schedule`.
        forecast: How often the last regrets count once more.
        sets: See `SequenceForm`, as all up to `others`.
        begin: Where each set's slots begin.
        before: The slots that lead to the sets.
        rows: Where each slot's entries begin.
        column: The entries' columns.
        weight: The entries' payoffs times chance.
        columns: Where each player's columns begin.
        others: The slots that the columns stand for.
        count: [1], iterations so far.
        regret: [K].
        average: [K], the sum of the reach of all iterations, weighted.
        current: [K], the strategy.
        reach: [K], of the strategy, see `_spread`.
        worth: [K], room for what comes after each slot.
        product: [C], room for the others' reach of each column.
    """
    one = np.uintp(1)
    for turn in range(np.uintp(len(schedule))):
        gained, lost, share = schedule[turn, 0], schedule[turn, 1], schedule[turn, 2]
        for player in range(np.uintp(len(sets) - 1)):
            begun, ended = np.uintp(columns[player]), np.uintp(columns[player + one])
            for place in range(begun, ended):
                product[place] = reach[np.uintp(others[0, place])]
            for other in range(one, np.uintp(len(others))):
                for place in range(begun, ended):
                    product[place] *= reach[np.uintp(others[other, place])]

            low, high = np.uintp(sets[player]), np.uintp(sets[player + one])
            number = high
            while number > low:
                number -= one
                start, stop = np.uintp(begin[number]), np.uintp(begin[number + one])
                mean = 0.0
                for slot in range(start, stop):
                    total = worth[slot]
                    for entry in range(np.uintp(rows[slot]), np.uintp(rows[slot + one])):
                        total += weight[entry] * product[np.uintp(column[entry])]
                    worth[slot] = total
                    mean += current[slot] * total
                worth[np.uintp(before[number])] += mean
                positive = 0.0
                for slot in range(start, stop):
                    gain = worth[slot] - mean
                    worth[slot] = 0.0
                    whole = regret[slot] + gain
                    whole *= gained if whole > 0.0 else lost
                    regret[slot] = whole
                    wanted = max(whole + forecast * gain, 0.0)
                    current[slot] = wanted
                    positive += wanted
                if positive > 0.0:
                    for slot in range(start, stop):
                        current[slot] /= positive
                else:
                    for slot in range(start, stop):
                        current[slot] = 1.0 / (stop - start)
            worth[player] = 0.0

            for number in range(low, high):
                above = reach[np.uintp(before[number])]
                for slot in range(np.uintp(begin[number]), np.uintp(begin[number + one])):
                    average[slot] += share * reach[slot]
                    reach[slot] = above * current[slot]
        count[0] += 1
