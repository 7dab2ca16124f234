"""Tables from the specs: the facts of the games' pages, and layouts for the site."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from blocks import table

import kille_env
from kille_env.core.spec import GameSpec, Part, width

DOCS = Path(__file__).parent


def facts(spec: GameSpec) -> str:
    """Return the basic facts of a game."""
    low, high = spec.reward_range(spec.resolve(episode="deal"), spec.default_players)
    rows = [
        ("seats", f"{spec.min_players} to {spec.max_players}, default {spec.default_players}"),
        ("actions", f"{spec.num_actions}, discrete, masked"),
        ("presets, the first is the default", ", ".join(f"`{preset}`" for preset in spec.presets)),
        ("pack", f"{spec.pack.size} cards, {len(spec.pack.codes)} types"),
        ("rewards", "sum to zero" if spec.zero_sum else "do not sum to zero"),
        ("reward of a single deal", f"{low:g} to {high:g} with {spec.default_players} seats"),
        ("observation of P seats", f"{_size(spec.observation, spec)} features, uint8"),
        ("version", str(spec.version)),
    ]
    return table(("fact", "value"), rows)


Layout = Callable[[int], tuple[Part, ...]]


def layout_table(layout: Layout, seats: tuple[int, int], known: Layout | None = None) -> str:
    """Return a layout with offsets and sizes as formulas in P, the number of seats."""
    few, many = layout(seats[0]), layout(seats[1])
    first = 0
    if known:
        first = len(known(seats[0]))
        assert few[:first] == known(seats[0]), "the layout does not begin with the expected parts"
    rows = []
    for a, b in zip(few[first:], many[first:], strict=True):
        offset = _formula(a.offset, b.offset, seats)
        size = _formula(a.size, b.size, seats)
        rows.append((offset, size, f"`{a.name}`", f"0–{a.high}", a.meaning))
    return table(("offset", "size", "part", "values", "meaning"), rows)


def in_full(spec: GameSpec) -> list[tuple[str, str]]:
    """Return the tables of a game's layouts with their names, for the site."""
    seats = _two(spec)
    return [
        ("Observation", layout_table(spec.observation, seats)),
        ("Information state", layout_table(spec.information_state, seats)),
        (
            "Full state, behind the observation",
            layout_table(spec.full_state, seats, spec.observation),
        ),
    ]


def _size(layout: Layout, spec: GameSpec) -> str:
    seats = _two(spec)
    return _formula(width(layout(seats[0])), width(layout(seats[1])), seats)


def _two(spec: GameSpec) -> tuple[int, int]:
    return spec.min_players, spec.min_players + 1


def _formula(few: int, many: int, seats: tuple[int, int]) -> str:
    """Return the line through two sizes as a formula, "30 + 2P"."""
    slope = (many - few) // (seats[1] - seats[0])
    start = few - slope * seats[0]
    times = f"{slope if slope != 1 else ''}P"
    if slope == 0:
        return str(start)
    return f"{start} + {times}" if start else times


BLOCKS = {
    DOCS / f"games/{name}.md": {"facts": partial(facts, kille_env.spec(name))}
    for name in kille_env.list_games()
}
