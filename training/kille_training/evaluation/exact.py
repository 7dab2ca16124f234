"""Exact NashConv of a policy or profile, and its largest losses."""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from kille_agents.greedy import with_action_selection
from kille_agents.identity import UNSTEADY, remarked
from kille_env.core.spec import Rules
from kille_env.errors import KilleError, PolicyError
from kille_env.play.policy import ObservationPolicy, PlayerLike, Policy, as_decider
from kille_env.registry import Table, spec
from kille_training.evaluation.duplicate import DETERMINISTIC
from kille_training.evaluation.profiles import profile_of, seated
from kille_training.evaluation.results import ExactNashConv, Loss
from kille_training.progress import Progress, ignore, part_of
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import (
    greedy_of,
    nash_conv_of,
    policy_of,
    strategies_of,
)
from kille_training.solving.size import MATCH_GAME
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.sequence_game import payoffs_of
from kille_training.solving.trees.values import NashConv, best_response, infoset_reach, losses

LEAST = 1e-9  # losses below this, in units per deal, are rounding errors


def measure_exactly(
    policies: Sequence[Policy],
    num_players: int,
    rules: Rules,
    plays: Sequence[str],
    most: int,
    progress: Progress | None = None,
) -> tuple[list[Policy], tuple[ExactNashConv, ...], tuple[Loss, ...]]:
    """Return policies to play with, NashConv by way of play, and the `most` largest losses.

    There is one policy for all seats, or one per seat. Losses are of sampled play, or of greedy
    play if that alone is measured. A single policy that needs more than an observation is replaced
    by a tabular policy of its answers, so that it is asked only once about each hand.
    """
    searches = any(not isinstance(each, ObservationPolicy) for each in policies)
    deal, asking = build_deal(num_players, rules, recall=searches), ignore
    name = _name_of(policies)
    if searches:
        asking = part_of(progress, f"asking {name}", sum(deal.information_sets))
    asked = strategies_of(policies, deal, asking)
    advance = part_of(progress, "measuring exactly", len(plays))
    rows = _rows(name, asked, deal, plays, advance)
    found: list[Policy] = list(policies)
    if searches and len(policies) == 1:
        found = [policy_of(asked, deal, name)]
    played = greedy_of(asked, deal) if tuple(plays) == ("greedy",) else asked
    return found, tuple(rows), tuple(largest_losses(played, deal, most))


def _name_of(policies: Sequence[Policy]) -> str:
    return ", ".join(policy.name for policy in policies)


def exact_rows(
    policy: Policy | Sequence[Policy],
    num_players: int,
    rules: Rules,
    plays: Sequence[str],
    deal: DealStages | None = None,
) -> list[ExactNashConv]:
    """Measure a policy, or one per seat, in each way to play; a deterministic one has one row."""
    given = policy if isinstance(policy, Sequence) else [policy]
    policies = [as_decider(each) for each in given]
    if deal is None:
        recall = any(not isinstance(each, ObservationPolicy) for each in policies)
        deal = build_deal(num_players, rules, recall=recall)
    return _rows(_name_of(policies), strategies_of(policies, deal), deal, plays)


def _rows(
    name: str,
    sampled: Sequence[np.ndarray],
    deal: DealStages,
    plays: Sequence[str],
    progress: Callable[[int], None] = ignore,
) -> list[ExactNashConv]:
    """Measure strategies of a deal; `progress` is called with 1 after each row."""
    if len(plays) > 1 and all(np.isin(part, (0.0, 1.0)).all() for part in sampled):
        plays = (DETERMINISTIC,)
    rows = []
    for play in plays:
        found = nash_conv_of(greedy_of(sampled, deal) if play == "greedy" else sampled, deal)
        rows.append(_row(name, play, found, deal.num_players, deal.rules))
        progress(1)
    return rows


def _row(name: str, play: str, found: NashConv, num_players: int, rules: Rules) -> ExactNashConv:
    """Return the printable result; a stake is 1 unit unless a rule sets it."""
    by_seat = tuple(found.improvement.tolist()), tuple(found.values.tolist())
    stake = rules.number("stake") if "stake" in rules.values else 1
    table = Table.of(rules.game, num_players, rules)
    return ExactNashConv(name, play, found.total, *by_seat, stake, table)


def match_row(policy: Policy, num_players: int, rules: Rules) -> ExactNashConv:
    """Measure a policy over whole matches; see `exact_rows`."""
    if rules.game != MATCH_GAME:
        raise KilleError(
            f"whole matches have exact trees in {MATCH_GAME} only; measure single deals of "
            f"{rules.game}"
        )
    from kille_training.solving.byteskille.match_solving import match_nash_conv, match_strategy_of
    from kille_training.solving.byteskille.matches import build_match

    match = build_match(num_players, rules)
    found = match_nash_conv(match_strategy_of(cast(Policy, policy), match), match)
    return _row(policy.name, "sampled", found, num_players, rules)


def largest_losses(strategies: Sequence[np.ndarray], deal: DealStages, most: int) -> list[Loss]:
    """Return the information sets with the largest losses of a policy, largest first."""
    comes = _comes_to(strategies, deal)
    continuation, found = np.zeros(deal.num_players), list[Loss]()
    for stage, strategy, chance in reversed(list(zip(deal.stages, strategies, comes, strict=True))):
        tree, seats = stage.worth(continuation), range(deal.num_players)
        answers = [best_response(tree, strategy, seat) for seat in seats]
        lost = chance * np.sum([losses(tree, strategy, seat) for seat in seats], axis=0)
        reach = chance * infoset_reach(tree, strategy)
        best = [stage.by_action(answer.strategy).argmax(axis=1) for answer in answers]
        for number in np.argsort(-lost, kind="stable")[:most].tolist():
            if lost[number] > LEAST:
                better = int(best[tree.player[number]][number])
                measured = float(reach[number]), float(lost[number])
                found.append(_loss(stage, strategy, number, better, *measured))
        continuation = np.array([answer.value for answer in answers])
    return sorted(found, key=lambda one: -one.loss)[:most]


def _comes_to(strategies: Sequence[np.ndarray], deal: DealStages) -> list[float]:
    """Return the probability that a deal reaches each of its stages."""
    comes = [1.0]
    for stage, strategy in zip(deal.stages, strategies, strict=True):
        again = stage.again @ payoffs_of(stage.tree, strategy)
        comes.append(comes[-1] * float(again))
    return comes[:-1]


def _loss(
    stage: Stage, strategy: np.ndarray, number: int, best: int, reach: float, loss: float
) -> Loss:
    first, legal = stage.tree.first, np.flatnonzero(stage.masks[number])
    actions, chances = spec(stage.rules.game).actions, strategy[first[number] : first[number + 1]]
    plays = {actions[a]: float(c) for a, c in zip(legal, chances, strict=True)}
    seat, seen = int(stage.tree.player[number]), stage.describe(number)
    return Loss(seat, stage.granted, seen, plays, actions[best], reach, loss)


def playing_at(
    policy: PlayerLike | Sequence[PlayerLike],
    table: Table,
    play: str,
    transfer: bool,
    trust: bool,
    steady: bool = False,
) -> tuple[list[Policy], str | None]:
    """Return policies that can be measured exactly at a table, and the home of transferred ones.

    Policies that are known to be `steady` are not asked whether they answer the same twice.
    """
    asked, episode = profile_of(policy) or [policy], str(table.rules["episode"])
    _, policies, transferred = seated(
        asked, [], table.game, table.num_players, episode, table.rules, transfer, trust
    )
    for one in policies if not steady else ():
        if remarked(one, table) is not one:
            raise PolicyError(f"{one.name!r} cannot be measured exactly: {UNSTEADY}")
    playing = {id(one): with_action_selection(one, play) for one in policies}
    home = ", ".join(dict.fromkeys(transferred.values())) or None
    return [playing[id(one)] for one in policies], home
