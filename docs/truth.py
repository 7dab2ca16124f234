"""The tables and pictures of docs/truth.md, from truth/index.csv and docs/data/ladder.jsonl.

`python docs/truth.py` writes the ladder anew: the choices of `byteskille/solved` by card.
"""

import csv
import json
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from blocks import lines_of, table
from matplotlib.figure import Figure

from kille_agents.catalog import load_policy
from kille_env.cards.pack import KILLE_CODES, KILLE_PACK, Kind
from kille_env.files import write_whole
from kille_env.games.byteskille.rules import Event, Phase
from kille_env.registry import spec
from kille_training.labels import position_names
from kille_training.pages.page import SERIES
from kille_training.pages.plots import STYLE, as_svg
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import strategy_of
from kille_training.solving.stages import Stage
from kille_training.solving.text import choice_text
from kille_training.solving.trees.values import infoset_reach

DOCS = Path(__file__).parent
PAGE, LADDER = DOCS / "truth.md", DOCS / "data" / "ladder.jsonl"
INDEX = DOCS.parent / "truth" / "index.csv"
PRESETS, SEATS = ("svensk", "wikipedia"), (2, 3, 4)
REACHED = 1e-6  # least reach of an information set that counts


def rows() -> list[dict[str, str]]:
    """Return the lines of the index."""
    with INDEX.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def index() -> str:
    """Return a digest of the index."""
    head = ("table", "seats", "information sets", "ends", "value by seat", "NashConv",
            "uniform play", "made greedy")  # fmt: skip
    return table(
        head,
        (
            (
                f"`{row['name']}`", row["seats"], _count(row["information_sets"]),
                _count(row["ends"]), ", ".join(f"{float(v):+.4f}" for v in row["values"].split()),
                row["nash_conv"], row["uniform"], row["greedy"],
            )
            for row in rows()
        ),
    )  # fmt: skip


def beyond_two() -> str:
    """Return the measures of tables with more than two seats."""
    columns = ("runs", "apart", "agreed", "sharing", "coarse")
    head = ("table", "runs", "values apart", "two that agreed", "two that share", "coarse gap")
    return table(
        head,
        (
            (f"`{row['name']}`", *(row[column] for column in columns))
            for row in rows()
            if row["runs"] or row["agreed"]
        ),
    )


def certificates() -> str:
    """Return the certified tables."""
    head = ("table", "NashConv, exactly", "about")
    known = [(row["name"], row["certified"]) for row in rows() if row["certified"]]
    return table(
        head,
        ((f"`{name}`", f"`{exact}`", f"{float(Fraction(exact)):.3g}") for name, exact in known),
    )


def _count(number: str) -> str:
    return f"{int(number):,}" if number else ""


def ladder() -> list[dict[str, Any]]:
    """Return the stored choices by seat."""
    return lines_of(LADDER)


def first_turns(preset: str, seats: int) -> Iterator[dict[str, Any]]:
    """Yield the choices of each seat by card where every seat before has stood."""
    rules = spec("byteskille").resolve({"preset": preset, "episode": "deal"})
    policy = load_policy("byteskille/solved", "byteskille", seats, rules)
    stage = build_deal(seats, rules).first_stage
    strategy = strategy_of(policy, stage)
    chances, reach = stage.by_action(strategy), infoset_reach(stage.tree, strategy)
    for seat, name in enumerate(position_names(seats)):
        choices, lowest = _by_card(stage, chances, reach, seat)
        yield {
            "preset": preset, "seats": seats, "seat": name, "stands_from": lowest,
            "choices": choices,
        }  # fmt: skip


def _by_card(
    stage: Stage, chances: np.ndarray, reach: np.ndarray, seat: int
) -> tuple[str, int | None]:
    """Return a seat's choices by card as text, and the lowest card with which it stands."""
    choices, actions = {}, spec("byteskille").actions
    for number in np.flatnonzero((stage.seats == seat) & (reach > REACHED)):
        position = stage.positions[number]
        events = position["events"][: int(position["num_events"]), 0].tolist()
        if events == [Event.STAND] * seat and position["phase"] != Phase.GOK:
            kind, copy = divmod(int(position["hand"][seat]), 2)
            high = kind == Kind.KI and int(position["high"]) >> copy & 1
            choices[kind, high] = choice_text(chances[number], actions.__getitem__)
    runs: list[tuple[list[str], str]] = []
    for (kind, high), choice in sorted(choices.items()):
        if runs and runs[-1][1] == choice and kind != Kind.KI:
            runs[-1][0].append(KILLE_PACK.name(2 * kind))
        else:
            name = f"kille ({'high' if high else 'low'})" if kind == Kind.KI else None
            runs.append(([name or KILLE_PACK.name(2 * kind)], choice))
    texts = (f"{' to '.join(dict.fromkeys((c[0], c[-1])))}: {choice}" for c, choice in runs)
    lowest = min((kind for (kind, _), text in choices.items() if "stand" in text), default=None)
    return "; ".join(texts), None if lowest is None else int(lowest)


def ladder_figure() -> str:
    """Plot the lowest card with which each seat stands, by number of seats."""
    names = [KILLE_PACK.name(2 * kind) for kind in range(3, 12)]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 2.8), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, preset in zip(panels, PRESETS, strict=True):
            for seats, color in zip(SEATS, SERIES, strict=False):
                steps = [
                    one["stands_from"] for one in ladder()
                    if (one["preset"], one["seats"]) == (preset, seats)
                ]  # fmt: skip
                axes.step(
                    range(1, seats + 1), steps, where="mid", marker="o", color=color,
                    label=f"{seats} seats",
                )  # fmt: skip
            axes.set_title(preset, loc="left", fontsize=9)
            axes.set_xticks(range(1, max(SEATS) + 1))
            axes.set_xlabel("seat, forehand first")
            axes.grid(axis="y")
        panels[0].set_yticks(range(3, 12), names)
        panels[0].set_ylabel("lowest card that stands")
        panels[0].legend(fontsize=8)
        return as_svg(figure)


DISCARDS = ("keeps both", "changes the lower", "changes the higher")
TURNS = {
    "forehand": (0, ""),
    "dealer, if forehand keeps": (1, "seat 0 keeps"),
    "dealer, if forehand changes": (1, "seat 0 changes"),
}
"""Panels of Krypkille's strategy: a seat, and the words of what it has seen."""


def krypkille_figure() -> str:
    """Plot what each seat changes in the smallest table of Krypkille, by its hand."""
    name = "krypkille-mini-2"
    (row,) = (row for row in rows() if row["name"] == name)
    rules = spec("krypkille").resolve(json.loads(row["rules"]))
    stage = build_deal(2, rules, nodes=True).first_stage
    policy = (INDEX.parent / name / "tree.policy").read_text(encoding="utf-8")
    strategy = np.array([float(x) for line in policy.splitlines() for x in line.split()[2:]])
    chances, columns = stage.by_action(strategy), _discards()
    may = np.flatnonzero(stage.masks[:, columns[0]])
    texts = {int(number): stage.describe(int(number)) for number in may}
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.6, 3.0), layout="constrained")
        panels = figure.subplots(1, len(TURNS), sharey=True)
        for axes, (title, (seat, seen)) in zip(panels, TURNS.items(), strict=True):
            hands = {
                _hand(texts[number], seat): chances[number, columns]
                for number in texts
                if stage.seats[number] == seat and seen in texts[number]
            }
            hands = {hand: hands[hand] for hand in sorted(hands, key=_cards)}
            left = np.zeros(len(hands))
            shares = np.array(list(hands.values())).T
            for label, share, color in zip(DISCARDS, shares, SERIES, strict=False):
                axes.barh(list(hands), share, left=left, color=color, label=label, height=0.7)
                left += share
            axes.set_title(title, loc="left", fontsize=9)
            axes.set_xticks((0, 0.5, 1), ("0", "50%", "100%"))
        panels[0].invert_yaxis()
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
        return as_svg(figure)


def _discards() -> list[int]:
    """Return the actions of keeping both cards, changing the lower one, and the higher."""
    actions = spec("krypkille").actions
    return [actions.index(name) for name in ("discard", "discard #1", "discard #2")]


def _cards(hand: str) -> list[int]:
    """Return the places of a hand's cards in the pack."""
    return [KILLE_CODES.index(code) for code in hand.split()]


def _hand(text: str, seat: int) -> str:
    """Return the two cards of a seat in a description of its table."""
    found = re.search(rf"seat {seat} \(you\) ([A-Z]\w* [A-Z]\w*) ", text)
    assert found is not None
    return found[1]


BLOCKS = {
    PAGE: {
        "index": index,
        "certificates": certificates,
        "more": beyond_two,
    }
}
FIGURES = {
    DOCS / "truth-ladder.svg": ladder_figure,
    DOCS / "truth-krypkille.svg": krypkille_figure,
}


def main() -> int:
    """Write the ladder."""
    lines = [one for preset in PRESETS for seats in SEATS for one in first_turns(preset, seats)]
    write_whole(LADDER, "".join(json.dumps(one) + "\n" for one in lines).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
