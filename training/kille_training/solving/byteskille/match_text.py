"""A strategy of a whole pot as text: the states, what they are worth, and who buys in."""

from collections.abc import Sequence

import numpy as np

from kille_env.cards.sets import members
from kille_env.games.byteskille.rules import price
from kille_training.solving.byteskille.match_values import MatchNashConv
from kille_training.solving.byteskille.matches import Match, MatchStrategy, State
from kille_training.solving.byteskille.text import SURE, hand_text, heading

MOST_SHOWN = 20
"""States that are shown, and decisions to buy in: those that come up most often."""


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
                _choice(float(buys[node])),
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


def _choice(buys: float) -> str:
    if buys >= SURE or buys <= 1.0 - SURE:
        return "buys" if buys >= SURE else "declines"
    return f"buys {100 * buys:.0f}%"
