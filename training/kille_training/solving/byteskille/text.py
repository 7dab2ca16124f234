"""The strategy of a deal as text.

Information sets are grouped by situation: whose turn it is and what has happened, without the
cards. In a situation the strategy depends on the seat's own card, and on whether the seat knows
that another still holds a lower one, for only the lowest card loses. That is nearly always all; the
text says where a strategy depends on more.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.games.byteskille.rules import UNDONE, Event, Phase
from kille_env.registry import spec
from kille_env.words.text import counted
from kille_training.labels import position_names
from kille_training.solving.byteskille.deals import DealStages, Stage
from kille_training.solving.trees.values import NashConv, infoset_reach

REACHED = 1e-6
"""How likely play must be to come to an information set for it to count as reached."""

FREQUENT = 1e-3
"""How likely a situation must be to be described."""

SURE = 0.995
"""The probability from which an action counts as certain."""

DEPENDS = "depends on what else was seen"

LOW, HIGH = Kind.KI, Kind.KI + 1  # where killes stand among the types of cards
NOTHING, KILLE, LOWER, SAME, NONE_LOWER = range(5)
KNOWN = {
    NOTHING: "",
    KILLE: "another seat is known to hold a low kille",
    LOWER: "another seat is known to hold a lower card",
    SAME: "the lowest card known of the others is equal",
    NONE_LOWER: "the cards known of others are higher",
}


class _Seen(NamedTuple):
    """One information set as the text sees it."""

    seat: int
    situation: str
    own: int
    known: int
    lowest: int
    weight: float
    chances: tuple[float, ...]


def strategy_text(strategies: Sequence[np.ndarray], deal: DealStages, measured: NashConv) -> str:
    """Returns a strategy as Markdown.

    Args:
        strategies: One [S] per stage.
        deal: The deal.
        measured: What its seats earn and could gain.
    """
    stage = deal.first_stage
    lines = heading(
        "a single deal",
        stage.rules,
        measured,
        " per deal: the sum of what the seats could still gain",
        "information sets of a hand",
        stage.information_sets,
    )
    lines += ["", *hand_text(strategies[0], stage)]
    if len(deal.stages) > 1:
        lines += [
            "",
            f"This is the first hand. Questions can be granted {len(deal.stages) - 1} times, and "
            "each new hand is a game of its own; policy.npz has them all.",
        ]
    return "\n".join(lines) + "\n"


def heading(
    what: str, rules: Rules, measured: NashConv, nash_conv: str, known: str, sets: Sequence[int]
) -> list[str]:
    """Returns the title of a strategy and the table of its seats, as lines of Markdown.

    Args:
        what: What is played.
        rules: Its rules.
        measured: What its seats earn and could gain.
        nash_conv: What NashConv means here.
        known: The title of the last column.
        sets: [P], the information sets of each seat.
    """
    lines = [
        f"# Byteskille, {what} with {len(sets)} seats",
        "",
        f"Rules: {rules_text(rules)}.",
        "",
        f"NashConv {measured.total:.2g} units{nash_conv}, each by its best response.",
        "",
        f"| seat | earns | could gain | {known} |",
        "|---|---|---|---|",
    ]
    names = position_names(len(sets))
    for row in zip(names, measured.values, measured.improvement, sets, strict=True):
        lines.append("| {} | {:+.6f} | {:.1g} | {:,} |".format(*row))
    return lines


def hand_text(strategy: np.ndarray, stage: Stage) -> list[str]:
    """Returns what the seats do in a hand, seat by seat, as lines of Markdown.

    Args:
        strategy: [S].
        stage: The hand.
    """
    sets = _sets_of(strategy, stage)
    lines = _how_to_read(stage, sets)
    for seat, name in enumerate(position_names(stage.num_players)):
        mine = [one for one in sets if one.seat == seat]
        lines += ["", f"## {name.capitalize()}", "", *situations(mine)]
    return lines


def situations(seen: Sequence[_Seen]) -> list[str]:
    """Returns what a seat does, by situation, the most frequent first."""
    groups: dict[str, list[_Seen]] = defaultdict(list)
    for one in seen:
        groups[one.situation].append(one)
    weight = {name: sum(one.weight for one in group) for name, group in groups.items()}
    lines, rare = [], 0
    for name in sorted(groups, key=lambda name: (-round(weight[name], 9), name)):
        if weight[name] < FREQUENT:
            rare += 1
            continue
        lines.append(f"- **{name}** ({100 * weight[name]:.1f}%)")
        lines += [f"  - {line}" for line in _choices(groups[name])]
    if rare:
        lines.append(f"- {counted(rare, 'rarer situation', 'rarer situations')}")
    return lines


def first_turns(strategy: np.ndarray, stage: Stage) -> list[tuple[str, str, str]]:
    """Returns seat, situation and choice where every seat before has stood."""
    names = position_names(stage.num_players)
    sets = _sets_of(strategy, stage)
    turns = []
    for seat in range(stage.num_players):
        before = [f"{name} stood" for name in names[:seat]]
        situation = ", ".join(before) if before else "nothing has happened"
        mine = [one for one in sets if one.seat == seat and one.situation == situation]
        turns.append((names[seat], situation, " ".join(_choices(mine))))
    return turns


def _how_to_read(stage: Stage, sets: Sequence[_Seen]) -> list[str]:
    reached, most = len(sets), stage.tree.num_infosets
    return [
        "How to read it: for each seat, the situations in which it decides, with how often they "
        "come up in a hand; *you* are that seat. Probabilities are shown only where the strategy "
        "is random; equal probabilities often mean that the choice makes no difference, as when "
        "another seat is sure to lose.",
        "",
        f"Play by this strategy reaches {reached:,} of the {most:,} information sets of a hand; "
        f"the other {most - reached:,} need a seat that deviates. Situations that come up less "
        f"than once in {round(1 / FREQUENT):,} hands are only counted, at the end of each seat. "
        "policy.npz has all of them.",
    ]


def rules_text(rules: Rules) -> str:
    """Returns a preset and the switches that differ from it."""
    game = spec(rules.game)
    preset = str(rules["preset"])
    base = game.resolve(preset, episode=rules["episode"]).as_dict()
    other = [
        f"{name} {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in rules.as_dict().items()
        if base[name] != value
    ]
    return ", ".join([preset, *other])


def _sets_of(strategy: np.ndarray, stage: Stage) -> list[_Seen]:
    """Returns the reached information sets."""
    weight, chances = infoset_reach(stage.tree, strategy), stage.by_action(strategy)
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
            _Seen(
                seat,
                _situation(position, seat, stage),
                own,
                known,
                -1 if lowest is None else lowest,
                float(weight[number]),
                tuple(chances[number].tolist()),
            )
        )
    return found


def _card(position: Any, card: int) -> int:
    """Returns the type of a card; a high kille is a type of its own."""
    kind = card >> 1
    return HIGH if kind == Kind.KI and int(position["high"]) >> (card & 1) & 1 else kind


def _rank(card: int) -> int:
    return -1 if card == LOW else card


def _lowest_known(position: Any, seat: int, num_players: int) -> int | None:
    """Returns the lowest card that a seat knows of the others that are not chopped."""
    out = members(position["chopped"])
    known = members(position["shown"] | position["held"][seat])
    cards = []
    for other in range(num_players):
        card = int(position["hand"][other])
        if other != seat and other not in out and card in known:
            cards.append(_card(position, card))
    return min(cards, key=_rank, default=None)


def _situation(position: Any, seat: int, stage: Stage) -> str:
    """Returns what has happened before a decision, without the cards."""
    names = position_names(stage.num_players)
    names[seat] = "you"
    actions = spec(stage.rules.game).actions
    happened = []
    for event in position["events"][: int(position["num_events"])].tolist():
        kind, a, b, _, card_b, extra = event
        if kind == Event.STAND:
            happened.append(f"{names[a]} stood")
        elif kind == Event.EXCHANGE:
            undone = " (undone)" if extra & UNDONE else ""
            happened.append(f"{names[a]} swapped with {names[b]}{undone}")
        elif kind == Event.PASSED:
            passed = "were" if a == seat else "was"
            holder = "your" if b == seat else f"{names[b]}'s"
            happened.append(f"{names[a]} {passed} sent past {holder} {KILLE_PACK.name(card_b)}")
        elif kind in (Event.HUSAR, Event.SVIN):
            card = "husar" if kind == Event.HUSAR else "svin"
            holder = "your" if b == seat else f"{names[b]}'s"
            happened.append(f"{holder} {card} chopped {names[a if kind == Event.HUSAR else extra]}")
        elif kind == Event.ASK:
            happened.append(f"{names[a]} asked")
        elif kind == Event.ANSWER:
            happened.append(f"{names[a]} answered {actions[b]}")
        else:
            happened.append(f"{names[a]} drew from the talon")
    phase = int(position["phase"])
    if phase == Phase.GOK:
        turn = names[int(position["order"][int(position["turn"])])]
        happened.append(f"you hold the gök and {turn} is on turn")
    elif phase in (Phase.ANSWER_DEALER, Phase.ANSWER_THIRD):
        happened.append("you are to answer")
    return ", ".join(happened) if happened else "nothing has happened"


def _choices(seen: Sequence[_Seen]) -> list[str]:
    """Returns what is done in a situation by card, one line for each kind of knowledge."""
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
    """Returns the choice that all share, or nothing."""
    choices = {_choice(one.chances) for one in group}
    return choices.pop() if len(choices) == 1 else ""


def _by_lowest(group: Sequence[_Seen]) -> str:
    by_lowest: dict[int, list[_Seen]] = defaultdict(list)
    for one in sorted(group, key=lambda one: _rank(one.lowest)):
        by_lowest[one.lowest].append(one)
    choices = {lowest: _same(ones) or DEPENDS for lowest, ones in by_lowest.items()}
    return _ranges(choices).replace("; ", ", ")


def _choice(chances: tuple[float, ...]) -> str:
    """Returns a choice as text."""
    actions = spec("byteskille").actions
    best = int(np.argmax(chances))
    if chances[best] >= SURE:
        return actions[best]
    parts = [
        f"{action} {100 * chance:.0f}%"
        for action, chance in zip(actions, chances, strict=False)
        if chance >= 1 - SURE
    ]
    return " or ".join(parts)


def _ranges(choices: dict[int, str]) -> str:
    """Returns choices by card; neighbours with the same choice are one range."""
    runs: list[tuple[list[int], str]] = []
    for card, choice in choices.items():
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
