"""The strategy of a deal in words, and the map of its swaps.

Information sets are told by situations: whose turn it is and what has happened, without the cards.
In a situation the seat's own card decides, and whether it knows that somebody else still holds a
lower one, for only the lowest card loses. That is nearly always all that a strategy looks at; where
it looks at more, that is said.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kille_agents.tabular import TabularPolicy
from kille_env.cards.pack import KI, KILLE_PACK
from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.core.text import counted
from kille_env.games.byteskille.table import (
    ANSWER_DEALER,
    ANSWER_THIRD,
    EV_ANSWER,
    EV_ASK,
    EV_EXCHANGE,
    EV_HUSAR,
    EV_PASSED,
    EV_STAND,
    EV_SVIN,
    GOK,
    UNDONE,
)
from kille_env.registry import spec
from kille_training.evaluation.swap_map import SwapMap, Tally
from kille_training.labels import position_names
from kille_training.solving.byteskille.deals import DealStages, Stage
from kille_training.solving.byteskille.policies import reach, strategy_of
from kille_training.solving.trees.values import NashConv

REACHED = 1e-6
"""How often play must come to an information set for it to count as reached."""

TOLD = 1e-3
"""How often a situation must come up to be told."""

SURE = 0.995
"""From here on an action counts as certain."""

DEPENDS = "it depends on what else was seen"

LOW, HIGH = KI, KI + 1  # where killes stand among the types of cards
NOTHING, KILLE, LOWER, SAME, NONE_LOWER = range(5)
KNOWN = {
    NOTHING: "",
    KILLE: "somebody is known to hold a low kille",
    LOWER: "somebody is known to hold a lower card",
    SAME: "the lowest card known of another is as low",
    NONE_LOWER: "the cards known of others are higher",
}


@dataclass(frozen=True)
class _Seen:
    """One information set as it is told."""

    situation: str
    own: int
    known: int
    lowest: int
    weight: float
    chances: tuple[float, ...]


def swaps_of(strategy: np.ndarray, stage: Stage) -> SwapMap:
    """Returns how likely a swap is where all seats play a strategy [S], exactly."""
    weight = reach(stage.tree, strategy)
    rows = np.flatnonzero(weight > REACHED)
    tally = Tally(stage.num_players)
    chances = _chances(strategy, stage)[rows]
    tally.add(stage.observations[rows], stage.masks[rows], chances, weight[rows])
    return tally.map()


def strategy_text(table: TabularPolicy, deal: DealStages, measured: NashConv) -> str:
    """Returns a strategy as Markdown.

    Args:
        table: The strategy.
        deal: The deal.
        measured: What its seats earn and could gain.
    """
    stage = deal.stages[0]
    players = stage.num_players
    lines = [
        f"# Byteskille, a single deal with {players} seats",
        "",
        f"Rules: {rules_told(stage.rules)}.",
        "",
        f"NashConv {measured.total:.2g} units a deal: so much all seats together could still gain, "
        "each by its best response.",
        "",
        "| seat | earns | could gain | information sets of a hand |",
        "|---|---|---|---|",
    ]
    names = position_names(players)
    for name, seat, sets in zip(names, stage.order, stage.information_sets, strict=True):
        value, gain = measured.values[seat], measured.improvement[seat]
        lines.append(f"| {name} | {value:+.6f} | {gain:.1g} | {sets:,} |")
    lines += ["", *hand_text(strategy_of(table, stage), stage)]
    if len(deal.stages) > 1:
        lines += [
            "",
            f"This is the first hand. Questions can be granted {len(deal.stages) - 1} times, and "
            "each new hand is a game of its own, which policy.npz has as well.",
        ]
    return "\n".join(lines) + "\n"


def hand_text(strategy: np.ndarray, stage: Stage) -> list[str]:
    """Returns what the seats do in a hand, seat by seat, as lines of Markdown.

    Args:
        strategy: [S].
        stage: The hand.
    """
    sets = _sets_of(strategy, stage)
    lines = _how_to_read(stage, sets)
    for seat, name in zip(stage.order, position_names(stage.num_players), strict=True):
        mine = [seen for owner, seen in sets if owner == seat]
        lines += ["", f"## {name.capitalize()}", "", *situations(mine)]
    return lines


def situations(seen: Sequence[_Seen], least: float = TOLD) -> list[str]:
    """Returns what a seat does, situation by situation, the most frequent one first."""
    groups: dict[str, list[_Seen]] = defaultdict(list)
    for one in seen:
        groups[one.situation].append(one)
    weight = {name: sum(one.weight for one in group) for name, group in groups.items()}
    lines, rare = [], 0
    for name in sorted(groups, key=lambda name: (-round(weight[name], 9), name)):
        if weight[name] < least:
            rare += 1
            continue
        lines.append(f"- **{name}** ({100 * weight[name]:.1f} %)")
        lines += [f"  - {line}" for line in _choices(groups[name])]
    if rare:
        lines.append(f"- {counted(rare, 'situation', 'situations')} that come up more rarely")
    return lines


def first_turns(strategy: np.ndarray, stage: Stage) -> list[tuple[str, str, str]]:
    """Returns seat, situation and choice where every seat stood before: the strategy in short."""
    names = position_names(stage.num_players)
    sets = _sets_of(strategy, stage)
    told = []
    for place, seat in enumerate(stage.order):
        before = [f"{name} stood" for name in names[:place]]
        situation = ", ".join(before) if before else "nothing has happened"
        mine = [one for owner, one in sets if owner == seat and one.situation == situation]
        told.append((names[place], situation, " ".join(_choices(mine))))
    return told


def _how_to_read(stage: Stage, sets: Sequence[tuple[int, _Seen]]) -> list[str]:
    reached, most = len(sets), stage.tree.num_infosets
    return [
        "How to read it: under each seat stand the situations in which it decides, with how often "
        "they come up in a hand. Probabilities stand only where the strategy draws lots; even odds "
        "often mean that it makes no difference, as where somebody else is sure to lose.",
        "",
        f"Play by this strategy comes to {reached:,} of the {most:,} information sets of a hand; "
        f"the {most - reached:,} others take somebody who plays otherwise. Situations that come up "
        f"less than once in {round(1 / TOLD):,} hands are counted at the end of each seat. "
        "policy.npz has all of them.",
    ]


def rules_told(rules: Rules) -> str:
    """Returns a preset and what differs from it."""
    game = spec(rules.game)
    preset = str(rules["preset"])
    base = game.resolve(preset, episode=rules["episode"]).as_dict()
    other = [
        f"{name} {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in rules.as_dict().items()
        if base[name] != value
    ]
    return ", ".join([preset, *other])


def _chances(strategy: np.ndarray, stage: Stage) -> np.ndarray:
    """Returns how likely each action is in each information set, [I, A]."""
    chances = np.zeros(stage.masks.shape)
    chances[stage.masks != 0] = strategy
    return chances


def _sets_of(strategy: np.ndarray, stage: Stage) -> list[tuple[int, _Seen]]:
    """Returns the reached information sets with their seats."""
    weight, chances = reach(stage.tree, strategy), _chances(strategy, stage)
    found = []
    for number in np.flatnonzero(weight > REACHED):
        seat = int(stage.tree.player[number])
        position = stage.positions[number]
        own = _card(position, int(position["hand"][seat]))
        lowest = _lowest_known(position, seat, stage.num_players)
        known = NOTHING
        if lowest is not None:
            mine, theirs = _rank(own), _rank(lowest)
            known = LOWER if theirs < mine else SAME if theirs == mine else NONE_LOWER
            known = KILLE if lowest == LOW else known
        found.append(
            (
                seat,
                _Seen(
                    _situation(position, seat, stage),
                    own,
                    known,
                    -1 if lowest is None else lowest,
                    float(weight[number]),
                    tuple(chances[number].tolist()),
                ),
            )
        )
    return found


def _card(position: Any, card: int) -> int:
    """The type of a card; a high kille is one of its own."""
    kind = card >> 1
    return HIGH if kind == KI and int(position["high"]) >> (card & 1) & 1 else kind


def _rank(card: int) -> int:
    return -1 if card == LOW else card


def _lowest_known(position: Any, seat: int, num_players: int) -> int | None:
    """The lowest card that a seat knows in the hand of another one who is not chopped."""
    out = members(position["chopped"])
    cards = []
    for other in range(num_players):
        card = int(position["hand"][other])
        shown = int(position["shown"]) >> card & 1
        if other != seat and other not in out and (shown or position["known_by"][card] >> seat & 1):
            cards.append(_card(position, card))
    return min(cards, key=_rank, default=None)


def _situation(position: Any, seat: int, stage: Stage) -> str:
    """What has happened before a decision, without the cards."""
    places = position_names(stage.num_players)
    names = {other: places[place] for place, other in enumerate(stage.order)}
    actions = spec(stage.rules.game).actions
    told = []
    for event in position["events"][: int(position["num_events"])].tolist():
        kind, a, b, _, card_b, extra = event
        who = "he" if a == seat else names[a]
        if kind == EV_STAND:
            told.append(f"{who} stood")
        elif kind == EV_EXCHANGE:
            told.append(f"{who} swapped with {'him' if b == seat else names[b]}")
            told[-1] += " (undone)" if extra & UNDONE else ""
        elif kind == EV_PASSED:
            told.append(f"{who} was sent past {names[b]}'s {KILLE_PACK.name(card_b)}")
        elif kind == EV_HUSAR:
            told.append(f"{names[b]}'s husar chopped {'him' if a == seat else names[a]}")
        elif kind == EV_SVIN:
            told.append(f"{names[b]}'s svin chopped {'him' if extra == seat else names[extra]}")
        elif kind == EV_ASK:
            told.append(f"{who} asked")
        elif kind == EV_ANSWER:
            told.append(f"{who} answered {actions[b]}")
        else:
            told.append(f"{who} drew from the talon")
    phase = int(position["phase"])
    if phase == GOK:
        turn = names[int(position["order"][int(position["turn"])])]
        told.append(f"he holds the gök and {turn} is on turn")
    elif phase in (ANSWER_DEALER, ANSWER_THIRD):
        told.append("he is to answer")
    return ", ".join(told) if told else "nothing has happened"


def _choices(seen: Sequence[_Seen]) -> list[str]:
    """Returns what is done in a situation by card, a line for each thing known of the others."""
    lines = []
    for known in sorted({one.known for one in seen}):
        by_card: dict[int, list[_Seen]] = defaultdict(list)
        for one in seen:
            if one.known == known:
                by_card[one.own].append(one)
        simple, split = {}, []
        for own, group in sorted(by_card.items()):
            same = _same(group)
            if same or len({one.lowest for one in group}) == 1:
                simple[own] = same or DEPENDS
            else:
                split.append(f"{_name(own)}, by the lowest card known: {_by_lowest(group)}")
        line = "; ".join(part for part in (_ranges(simple), *split) if part)
        lines.append(f"{KNOWN[known]}: {line}" if KNOWN[known] else line)
    return lines


def _same(group: Sequence[_Seen]) -> str:
    """The choice that all share, nothing if they do not."""
    told = {_told(one.chances) for one in group}
    return told.pop() if len(told) == 1 else ""


def _by_lowest(group: Sequence[_Seen]) -> str:
    by_lowest: dict[int, list[_Seen]] = defaultdict(list)
    for one in sorted(group, key=lambda one: _rank(one.lowest)):
        by_lowest[one.lowest].append(one)
    told = {lowest: _same(ones) or DEPENDS for lowest, ones in by_lowest.items()}
    return _ranges(told).replace("; ", ", ")


def _told(chances: tuple[float, ...]) -> str:
    """A choice in words."""
    actions = spec("byteskille").actions
    likeliest = int(np.argmax(chances))
    if chances[likeliest] >= SURE:
        return actions[likeliest]
    parts = [
        f"{action} {100 * chance:.0f} %"
        for action, chance in zip(actions, chances, strict=False)
        if chance >= 1 - SURE
    ]
    return " or ".join(parts)


def _ranges(told: dict[int, str]) -> str:
    """Choices by card, neighbours that do the same as one."""
    runs: list[tuple[list[int], str]] = []
    for card, choice in told.items():
        if runs and runs[-1][1] == choice and card < LOW:
            runs[-1][0].append(card)
        else:
            runs.append(([card], choice))
    return "; ".join(f"{_span(cards)}: {choice}" for cards, choice in runs)


def _span(cards: Sequence[int]) -> str:
    if len(cards) == 1:
        return _name(cards[0])
    return f"{_name(cards[0])} to {_name(cards[-1])}"


def _name(card: int) -> str:
    if card in (LOW, HIGH):
        return f"kille ({'low' if card == LOW else 'high'})"
    return KILLE_PACK.name(2 * card)
