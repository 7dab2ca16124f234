"""Strategies as text: of a deal of any game, and of a whole pot of Byteskille.

A deal's text shows what seats do most often. In Byteskille information sets are grouped by
situation: whose turn it is and what has happened, without the cards. In a situation the strategy
depends on the seat's own card, and on whether the seat knows that another still holds a lower one,
for only the lowest card loses. That is nearly always all; the text says where a strategy depends on
more.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.cards.sets import members
from kille_env.core.spec import Rules
from kille_env.games.byteskille.rules import UNDONE, Event, Phase, price
from kille_env.registry import spec
from kille_env.words.text import counted
from kille_training.labels import position_names
from kille_training.solving.byteskille.match_solving import MatchNashConv
from kille_training.solving.byteskille.matches import Match, MatchStrategy, State
from kille_training.solving.size import OWN
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.values import NashConv, infoset_reach

SURE = 0.995
"""The probability from which an action counts as certain."""

MOST_SETS = 25
"""Information sets that are shown of each seat: those that come up most often."""

REACHED = 1e-6
"""How likely play must be to come to an information set for it to count as reached."""

FREQUENT = 1e-3
"""How likely a situation must be to be described."""

MOST_SHOWN = 20
"""States that are shown, and decisions to buy in: those that come up most often."""

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


def deal_text(strategies: Sequence[np.ndarray], deal: DealStages, measured: NashConv) -> str:
    """Returns a strategy as Markdown.

    Args:
        strategies: One [S] per stage.
        deal: The deal.
        measured: What its seats earn and could gain.
    """
    stage, again = deal.first_stage, len(deal.stages) - 1
    lines = heading(
        "a single deal",
        stage.rules,
        measured,
        " per deal: the sum of what the seats could still gain",
        "information sets of a hand" if stage.rules.game == OWN else "information sets",
        stage.information_sets,
    )
    by_hand = hand_text if stage.rules.game == OWN else _most_frequent
    lines += ["", *by_hand(strategies[0], stage)]
    if again:
        lines += [
            "",
            f"This is the first hand. Questions can be granted {again} times, and each new hand is "
            "a game of its own; policy.npz has them all.",
        ]
    return "\n".join(lines) + "\n"


def _most_frequent(strategy: np.ndarray, stage: Stage) -> list[str]:
    """Returns what seats do most often, as lines of Markdown."""
    reach, chances = infoset_reach(stage.tree, strategy), stage.by_action(strategy)
    mixes = reach[chances.max(axis=1) < SURE].sum() / reach.sum()
    lines = [
        f"{100 * mixes:.1f}% of the decisions that come up are random. For each seat, the "
        f"{MOST_SETS} situations with a choice that come up most often, and how often in a deal; "
        "policy.npz has all of them.",
    ]
    actions = spec(stage.rules.game).actions
    for seat, name in enumerate(position_names(stage.num_players)):
        mine = np.flatnonzero(stage.seats == seat)
        often = mine[np.argsort(-reach[mine].round(12), kind="stable")][:MOST_SETS]
        lines += ["", f"## {name.capitalize()}", ""]
        lines += [
            f"- {stage.describe(number)} ({100 * reach[number]:.2f}%): "
            f"**{_choice(chances[number], actions)}**"
            for number in often.tolist()
        ]
    return lines


def _choice(chances: Sequence[float] | np.ndarray, actions: Sequence[str]) -> str:
    """Returns what is done, as text."""
    best = int(np.argmax(chances))
    if chances[best] >= SURE:
        return actions[best]
    likely = [pair for pair in zip(actions, chances, strict=True) if pair[1] >= 1 - SURE]
    return " or ".join(f"{action} {100 * chance:.0f}%" for action, chance in likely)


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
        f"# {spec(rules.game).title}, {what} with {len(sets)} seats",
        "",
        f"Rules: {rules_text(rules)}.",
        "",
        f"NashConv {measured.total:.2g} units{nash_conv}, each by its best response.",
        "",
        f"| seat | earns | could gain | {known} |",
        "|---|---|---|---|",
    ]
    names = position_names(len(sets))
    gains = measured.improvement.clip(0.0)  # rounding falls below
    for row in zip(names, measured.values, gains, sets, strict=True):
        lines.append("| {} | {:+.6f} | {:.1g} | {:,} |".format(*row))
    return lines


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


# Hands of Byteskille


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


def _sets_of(strategy: np.ndarray, stage: Stage) -> list[_Seen]:
    """Returns the reached information sets."""
    weight, chances = infoset_reach(stage.tree, strategy), stage.by_action(strategy)
    found = []
    for number in np.flatnonzero(weight > REACHED):
        seat = int(stage.seats[number])
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
    choices = {_choice(one.chances, spec(OWN).actions) for one in group}
    return choices.pop() if len(choices) == 1 else ""


def _by_lowest(group: Sequence[_Seen]) -> str:
    by_lowest: dict[int, list[_Seen]] = defaultdict(list)
    for one in sorted(group, key=lambda one: _rank(one.lowest)):
        by_lowest[one.lowest].append(one)
    choices = {lowest: _same(ones) or DEPENDS for lowest, ones in by_lowest.items()}
    return _ranges(choices).replace("; ", ", ")


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


# Whole pots


def match_text(strategy: MatchStrategy, match: Match, measured: MatchNashConv) -> str:
    """Returns a strategy of a match as Markdown.

    Args:
        strategy: What all seats do in it.
        match: The match.
        measured: What its seats earn and could gain.
    """
    lines = heading(
        "a whole pot",
        match.rules,
        measured,
        f", {measured.share:.2g} of the first pot: the sum of what the seats could still gain in "
        "the match",
        "information sets",
        match.information_sets,
    )
    lines += ["", "## The states", "", *states_text(match, measured)]
    lines += ["", "## Buying in", "", *buying_text(strategy, match, measured)]
    lines += ["", "## The first hand", ""]
    lines += hand_text(strategy.hands[0], match.first_stage)
    return "\n".join(lines) + "\n"


def states_text(match: Match, measured: MatchNashConv) -> list[str]:
    """Returns the states and their values, the most frequent first, as lines of Markdown."""
    asked = np.array([bool(state.tables["redeals"][0]) for state in match.states])
    fresh = sorted(np.flatnonzero(~asked), key=lambda number: -round(measured.visits[number], 9))
    names = seat_names(match.num_players)
    lines = [
        "A state is a table at which a hand is dealt; seats are counted from the one on the "
        "dealer's left, and turn with the deal. A seat's number is what the rest of the match is "
        "worth to it, in units, without what it has paid so far. *Hands* is the expected number "
        f"in a match: {measured.hands:.2f} in all, "
        f"{measured.visits[asked].sum():.2g} of them dealt again after a question.",
        "",
        "| state | pot | bought in | " + " | ".join(names) + " | hands |",
        "|" + "---|" * (4 + len(names)),
    ]
    for number in fresh[:MOST_SHOWN]:
        state = match.states[number]
        seats = [
            f"{_standing(state, seat)} {measured.state_values[number, seat]:+.4f}"
            for seat in range(match.num_players)
        ]
        bought = sorted({int(total) for total in state.tables["entries"].sum(axis=1)})
        cells = [
            str(number),
            str(int(state.tables["pot"][0])),
            " or ".join(str(total) for total in bought),
            *seats,
            f"{measured.visits[number]:.3f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines + _left_out(fresh, asked.sum(), "of hands dealt again after a question")


def buying_text(strategy: MatchStrategy, match: Match, measured: MatchNashConv) -> list[str]:
    """Returns who buys in again, and what that is worth, as lines of Markdown."""
    if not any(len(state.after.decisions) for state in match.states):
        return ["Nobody can ever buy in."]
    rows, asked, names = [], 0, seat_names(match.num_players)
    for number, state in enumerate(match.states):
        after, buys = state.after, strategy.buys[number]
        if state.tables["redeals"][0]:
            asked += len(after.decisions)
            continue
        ends = measured.outcomes[number] * measured.visits[number]
        often = after.arrivals(ends, buys)
        worth = after.play(measured.state_values, buys)
        for table, node in zip(after.tables[0], after.decisions, strict=True):
            seat = int(after.buyer[node])
            declined, bought = worth[after.declined[node], seat], worth[after.bought[node], seat]
            cells = [
                str(number),
                names[seat],
                _names(names, int(table["in_pot"])),
                str(int(price(table, match.rules.record[0], seat))),
                f"{declined:+.4f}",
                f"{bought:+.4f}",
                _buying(float(buys[node])),
                f"{often[node]:.3f}",
            ]
            rows.append((float(often[node]), cells))
    lines = [
        "The seat that is asked knows who is in for the next hand so far. *Declining* and *buying* "
        "are what the rest of the match is worth to it then, the price paid; *times* is how often "
        "that comes up in a match.",
        "",
        "| after state | asked | in so far | price | declining | buying | does | times |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rows.sort(key=lambda row: -round(row[0], 9))
    lines += ["| " + " | ".join(cells) + " |" for _, cells in rows[:MOST_SHOWN]]
    return lines + _left_out(rows, asked, "after a hand dealt again for a question")


def _left_out(rows: Sequence[object], asked: int, what: str) -> list[str]:
    """Returns lines that say how many of some rows are not shown, and how many of another kind."""
    rarer = len(rows[MOST_SHOWN:])
    parts = [f"{rarer:,} rarer ones"] * bool(rarer) + [f"{asked:,} {what}"] * bool(asked)
    return ["", f"Left out: {' and '.join(parts)}."] if parts else []


def seat_names(players: int) -> list[str]:
    """Returns the names of seats, counted from the dealer's left whether they are in or not."""
    return [*(f"seat {number}" for number in range(1, players)), "dealer"]


def _standing(state: State, seat: int) -> str:
    """Returns whether a seat is in, as far as all tables of the state agree."""
    if seat in members(state.tables["in_pot"][0]):
        return "in"
    declined = all(seat in members(row) for row in state.tables["declined"])
    return "declined" if declined else "out"


def _names(names: Sequence[str], seats: int) -> str:
    return ", ".join(names[seat] for seat in members(seats)) or "nobody"


def _buying(buys: float) -> str:
    if buys >= SURE or buys <= 1.0 - SURE:
        return "buys" if buys >= SURE else "declines"
    return f"buys {100 * buys:.0f}%"
