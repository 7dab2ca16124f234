"""How far a player is from an equilibrium, exactly: NashConv of single deals of Byteskille."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kille_agents.greedy import Greedy
from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.policy import Policy, Searcher
from kille_training.solving.byteskille.deals import MOST_STAGES, build_deal, most_granted
from kille_training.solving.byteskille.policies import nash_conv

MOST_SEATS = 4
"""Tables up to which the tree fits into the memory of an ordinary computer."""


@dataclass(frozen=True)
class ExactRow:
    """NashConv of a player who sits in all seats, in units a deal.

    Attributes:
        policy: Who was measured.
        play: "argmax" (always the likeliest action) or "sampled" (as the probabilities say).
        nash_conv: The sum of `improvement`; 0 in an equilibrium.
        improvement: [P] what each seat would gain by its best response, forehand first.
        value: [P] what each seat earns.
    """

    policy: str
    play: str
    nash_conv: float
    improvement: tuple[float, ...]
    value: tuple[float, ...]


def why_not(game: str, num_players: int, rules: Rules) -> str:
    """Returns in words why there is no exact NashConv of a table; empty if there is."""
    if game != "byteskille":
        return f"there is no exact tree of {game}, only of byteskille"
    if rules["episode"] != "deal":
        return "exact NashConv is one of single deals; measure with --episode deal"
    if num_players > MOST_SEATS:
        return f"the tree of a deal with {num_players} seats does not fit, only up to {MOST_SEATS}"
    asks = num_players <= 3 and rules["fraga"] != "off"
    if asks and most_granted(rules) >= MOST_STAGES:
        return (
            f"max_redeals and max_deals allow {most_granted(rules)} granted questions in a deal; "
            f"exact NashConv takes fewer than {MOST_STAGES}"
        )
    return ""


def exact_rows(
    policy: Policy,
    game: str,
    num_players: int,
    rules: Rules,
    plays: Sequence[str],
    progress: Callable[[int], None] | None = None,
) -> list[ExactRow]:
    """Measures a player in each way to play.

    Args:
        policy: The player.
        game: The game.
        num_players: P seats.
        rules: Its rules.
        plays: "argmax" and "sampled", or one of them.
        progress: Is called with 1 after each.

    Raises:
        KilleError: There is no exact tree of this table; the message says why.
        PolicyError: The player says what is no distribution over the legal actions; the message
            tells the information set.
    """
    if wrong := why_not(game, num_players, rules):
        raise KilleError(wrong)
    if isinstance(policy, Searcher):
        raise KilleError(
            f"{policy.name} looks ahead, and there is no exact NashConv of who does; "
            "measure with --no-exact"
        )
    deal = build_deal(num_players, rules)
    rows = []
    for play in plays:
        found = nash_conv(Greedy(policy) if play == "argmax" else policy, deal)
        improvement, values = found.improvement.tolist(), found.values.tolist()
        rows.append(ExactRow(policy.name, play, found.total, tuple(improvement), tuple(values)))
        if progress is not None:
            progress(1)
    return rows


def exact_as_dicts(rows: Sequence[ExactRow]) -> list[dict[str, Any]]:
    """Returns rows as JSON can hold them."""
    return [asdict(row) for row in rows]


def exact_from_dicts(rows: Sequence[dict[str, Any]]) -> list[ExactRow]:
    """Returns rows that `exact_as_dicts` has taken apart."""
    return [
        ExactRow(
            row["policy"],
            row["play"],
            row["nash_conv"],
            tuple(row["improvement"]),
            tuple(row["value"]),
        )
        for row in rows
    ]
