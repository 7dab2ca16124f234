"""What a tree says exactly: NashConv of a policy, and scores of lineups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

import numpy as np
from pydantic import PlainSerializer, PlainValidator

from kille_env.core.spec import Rules
from kille_env.errors import KilleError, shortened
from kille_env.play.policy import Decider, Player, Policy, has_memory, searches
from kille_env.registry import Table, spec
from kille_training.evaluation.asking import ask_everywhere
from kille_training.evaluation.duplicate import DETERMINISTIC, Play
from kille_training.labels import BEYOND_MEAN, EARNED, position_names, unit_of
from kille_training.progress import Progress, ignore, part_of
from kille_training.results import Result, TextTable
from kille_training.solving.build import OWN, build_deal, check_deal
from kille_training.solving.byteskille.deals import can_ask, check_seats
from kille_training.solving.byteskille.match_solving import match_nash_conv, match_strategy_of
from kille_training.solving.byteskille.matches import build_match
from kille_training.solving.policies import (
    Asked,
    greedy_of,
    nash_conv_of,
    strategies_of,
)
from kille_training.solving.stages import DealStages
from kille_training.solving.trees.values import expected_values

if TYPE_CHECKING:
    PlainTable = Table
else:  # `Any`, because pydantic cannot look into a table and need not
    PlainTable = Annotated[Any, PlainValidator(Table.read), PlainSerializer(Table.as_dict)]


@dataclass(frozen=True, repr=False)
class ExactNashConv(Result):
    """NashConv of a policy in all seats, in units per deal or match; `float` gives `nash_conv`.

    Attributes:
        policy: The policy that was measured.
        play: "greedy" (always the most likely action), "sampled" (an action drawn from the
            probabilities), or "deterministic" where the two are the same.
        nash_conv: The sum of `improvement`; 0 in an equilibrium.
        improvement: [P] what each seat would gain by its best response, forehand first.
        value: [P] what each seat earns; less the table's mean where rewards do not sum to zero.
        stake: Units that a seat puts in at the beginning; 1 where no rule says how many.
        table: The table.
        transferred: The table that the policy was made for, where it is another one.
    """

    policy: str
    play: Play
    nash_conv: float
    improvement: tuple[float, ...]
    value: tuple[float, ...]
    stake: int
    table: PlainTable
    transferred: str | None = None

    @property
    def stakes(self) -> float:
        """NashConv in stakes, which makes tables with other stakes comparable."""
        return self.nash_conv / self.stake

    def __float__(self) -> float:
        return self.nash_conv

    def as_dict(self) -> dict[str, Any]:
        """Return the table, the score and the results as JSON can hold them."""
        results = {name: getattr(self, name) for name in ExactNashConv.__dataclass_fields__}
        results.pop("table")
        return {
            **self.table.as_dict(),
            "score": exact_score_of(self.table.game),
            **results,
            "stakes": self.stakes,
        }

    def parts(self) -> list[str | TextTable]:
        """Returns the table, and by seat what it earns and could gain."""
        home = [f"transferred from {self.transferred}"] if self.transferred else []
        return [f"{self.policy} at {self.table}", *home, exact_table([self])]


def exact_table(rows: Sequence[ExactNashConv]) -> TextTable:
    """Returns how far a policy is from an equilibrium, each way to play in two lines."""
    cells = []
    for row in rows:
        gains = (f"{max(gain, 0.0):.5f}" for gain in row.improvement)
        cells.append((row.play, "earns", *(f"{value:+.5f}" for value in row.value), "", ""))
        cells.append(("", "could gain", *gains, f"{row.nash_conv:.5f}", f"{row.stakes:.5f}"))
    names = [f">{name}" for name in position_names(len(rows[0].value))]
    unit = unit_of(rows[0].table.rules["episode"])
    head = ["play", "each seat", *names, ">NashConv", ">in stakes"]
    score = exact_score_of(rows[0].table.game)
    beyond = "" if score == EARNED else f" {score}"
    return TextTable(f"Units per {unit}{beyond}, exactly", head, cells)


def exact_score_of(game: str) -> str:
    """Returns what a tree counts: what a seat earns, or that less what the table earns on average.

    The latter where rewards do not sum to zero: a seat of Krypkille that harms all alike gains
    nothing.
    """
    return EARNED if spec(game).zero_sum else BEYOND_MEAN


def stake_of(rules: Rules) -> int:
    """Returns the units that a seat puts in at the beginning, 1 where no rule says how many."""
    return rules.number("stake") if "stake" in rules.values else 1


def is_exact(num_players: int, rules: Rules) -> bool:
    """Returns whether there is an exact tree of a table that fits into memory; see `check_deal`."""
    try:
        check_deal(num_players, rules)
    except KilleError:
        return False
    return True


def exact_rows(
    policy: Player,
    num_players: int,
    rules: Rules,
    plays: Sequence[str],
    progress: Callable[[int], None] = ignore,
    deal: DealStages | None = None,
    asked: Sequence[np.ndarray] | None = None,
) -> list[ExactNashConv]:
    """Measures a policy in each way to play; a deterministic policy has one row.

    Args:
        policy: The policy.
        num_players: P seats.
        rules: Rules of a game.
        plays: "greedy" and "sampled", or one of them.
        progress: Called with 1 after each.
        deal: The trees of this table, if they have been built.
        asked: What the policy does there, if it has been asked (`strategies_at`).

    Raises:
        KilleError: There is no exact tree of this table; the message says why.
        PolicyError: The policy returned what is no distribution over the legal actions; the message
            describes the information set.
    """
    deal = deal or build_deal(num_players, rules)
    sampled = strategies_at(policy, deal) if asked is None else asked
    if len(plays) > 1 and all(np.isin(part, (0.0, 1.0)).all() for part in sampled):
        plays = (DETERMINISTIC,)
    table = Table.of(rules.game, num_players, rules)
    rows = []
    for play in plays:
        found = nash_conv_of(greedy_of(sampled, deal) if play == "greedy" else sampled, deal)
        improvement, values = found.improvement.tolist(), found.values.tolist()
        measured = (found.total, tuple(improvement), tuple(values), stake_of(rules))
        rows.append(ExactNashConv(policy.name, play, *measured, table))
        progress(1)
    return rows


def match_row(policy: Player, num_players: int, rules: Rules) -> ExactNashConv:
    """Measures a policy over whole matches; see `exact_rows`.

    Raises:
        KilleError: The states of the match, or the tree of a hand, are too many; or it has several
            pots.
        PolicyError: The policy remembers or looks ahead, or returned no distribution.
    """
    if rules.game != OWN:
        raise KilleError(
            f"whole matches have exact trees in {OWN} only; of {rules.game}, measure single deals"
        )
    check_seats(num_players)
    match = build_match(num_players, rules)
    found = match_nash_conv(match_strategy_of(cast(Policy, policy), match), match)
    improvement, values = tuple(found.improvement.tolist()), tuple(found.values.tolist())
    measured = (found.total, improvement, values, stake_of(rules))
    return ExactNashConv(
        policy.name, "sampled", *measured, Table.of(rules.game, num_players, rules)
    )


def can_be_asked(policy: Player, num_players: int, rules: Rules) -> bool:
    """Returns whether a player answers by what a seat sees, so that a tree can hold its answers.

    One with a memory answers by what it has seen in the hand, and where cards can be dealt again in
    a deal, by the hands before as well, which no tree knows.
    """
    if has_memory(policy):
        return rules.game == OWN and not can_ask(num_players, rules)
    return _is_keyless(policy)


def _is_keyless(policy: Player) -> bool:
    return not searches(policy) or getattr(policy, "keyless", False)


def strategies_at(
    policy: Player, deal: DealStages, progress: Callable[[int], None] = ignore
) -> tuple[np.ndarray, ...]:
    """Returns what a player does in each stage of a deal, [S] each.

    Args:
        policy: The player.
        deal: The trees.
        progress: Called with the information sets that a searcher has answered.

    Raises:
        KilleError: It is a searcher whose answers are random, or remembers earlier hands.
        PolicyError: It returned what is no distribution over the legal actions.
    """
    if not _is_keyless(policy):
        raise KilleError(
            f"{policy.name} looks ahead, and no tree can hold what a search would do everywhere; "
            "measure it with exact=False"
        )
    if searches(policy):
        return ask_everywhere(cast(Decider, policy), deal, progress)
    return strategies_of(cast(Asked, policy), deal)


def exact_scores(
    lineups: np.ndarray,
    policies: Sequence[Asked],
    deal: DealStages,
    progress: Progress | None = None,
) -> np.ndarray:
    """Returns what each member of a lineup earns per deal, mean over the rotations: no sampling.

    Args:
        lineups: [L, P] number of the policy at each place.
        policies: [E].
        deal: A single deal.
        progress: Called with how many lineups are done.

    Returns:
        [L, P] units per deal; they sum to zero.

    Raises:
        KilleError: The lineups are not numbers of the policies, one for each seat of the deal.
    """
    if (
        lineups.dtype.kind not in "iu"
        or lineups.shape != (len(lineups), deal.num_players)
        or lineups.min(initial=0) < 0
        or lineups.max(initial=0) >= len(policies)
    ):
        raise KilleError(
            f"lineups are {shortened(lineups)}, expected [L, {deal.num_players}] numbers of the "
            f"{len(policies)} policies"
        )
    asked = [strategies_of(policy, deal) for policy in policies]
    stacked = [np.stack(stage) for stage in zip(*asked, strict=True)]
    seats = lineups.shape[1]
    known: dict[tuple[int, ...], np.ndarray] = {}
    scores = np.zeros(lineups.shape)
    done = part_of(progress, f"exact expectations at {seats} seats", len(lineups))
    for row, lineup in enumerate(lineups):
        for turn in range(seats):
            seated = tuple(np.roll(lineup, turn).tolist())
            if seated not in known:
                known[seated] = _values(seated, stacked, deal)
            scores[row] += np.roll(known[seated], -turn)
        done(1)
    return scores / seats


def _values(seated: tuple[int, ...], asked: Sequence[np.ndarray], deal: DealStages) -> np.ndarray:
    """Returns what policies earn, by their numbers at the positions, forehand first, [P].

    Args:
        seated: [P] numbers of the policies.
        asked: For each stage the strategies of all policies, [E, S].
        deal: The trees.
    """
    value = np.zeros(len(seated))
    for stage, strategies in zip(reversed(deal.stages), reversed(asked), strict=True):
        owner = np.repeat(np.array(seated)[stage.tree.player], np.diff(stage.tree.first))
        strategy = strategies[owner, np.arange(len(owner))]
        value = expected_values(stage.worth(value), strategy)
    return value
