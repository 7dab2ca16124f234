"""What the page of a tournament says in words: verdicts, who met whom, and what figures mean."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from kille_env.words.text import listed
from kille_training.arena.results import Standing
from kille_training.arena.settings import TournamentSettings
from kille_training.labels import plural_of, unit_of
from kille_training.reports.pages import Verdict

MOST_NAMES = 6
"""Names in a sentence, at most."""

FIELD = (
    "Units depend on the field: whoever exploits weak players earns more where there are many of "
    "them. With other entrants all figures change, and so may the order."
)


def joined(names: Sequence[str]) -> str:
    """Returns names as a part of a sentence: "A, B and C", or "A, B and 7 others"."""
    shown = list(names)
    if len(shown) > MOST_NAMES:
        shown = [*shown[: MOST_NAMES - 1], f"{len(shown) - MOST_NAMES + 1} others"]
    return listed(shown)


def labels(names: Sequence[str], game: str) -> list[str]:
    """Returns names without the name of the game before them, as long as they stay different."""
    short = [name.removeprefix(f"{game}/") for name in names]
    return [
        label if short.count(label) == 1 else name for name, label in zip(names, short, strict=True)
    ]


def verdict(seats: int, rows: Sequence[Standing], measure: str) -> Verdict:
    """Returns who is best at tables of one size, as far as the results tell.

    Args:
        seats: The table size.
        rows: Its standings, best first.
        measure: What the means hold, as "units per deal".
    """
    there = [row for row in rows if row.place is not None]
    if len(there) < 2:
        return Verdict(f"{seats} seats: fewer than two entrants have played.")
    ahead = [row for row in there if row.best == 1]
    if len(ahead) == len(there):
        return Verdict(f"{seats} seats: no entrant is clearly best; {_alike(ahead, measure)}.")
    if len(ahead) > 1:
        behind = "the other" if len(there) - len(ahead) == 1 else "each of the others"
        return Verdict(
            f"{seats} seats: {_alike(ahead, measure)}; {behind} earns clearly less than at "
            "least one of them."
        )
    first = there[0]
    others = "the other one" if len(there) == 2 else f"each of the {len(there) - 1} others"
    return Verdict(
        f"{seats} seats: {first.name} is best, {_amount(first)} {measure}, clearly more than "
        f"{others}.",
        "better",
    )


def design(settings: TournamentSettings, seats: int) -> str:
    """Returns who meets whom at tables of one size, and in which order."""
    chosen, unit = settings.matchmaking, unit_of(settings.table.episode)
    copies = chosen.fill == "copies" and seats > 2
    if chosen.format == "swiss":
        who = (
            f"In each of {chosen.rounds} rounds neighbours in the standings sit together, those "
            f"first that have met least often, each for {chosen.deals:,} {plural_of(unit)}."
        )
    elif chosen.format == "random":
        who = (
            f"At every {unit} each entrant sits at up to {chosen.lineups:,} tables; who sits "
            "together is drawn anew at every one."
        )
    elif chosen.format == "gauntlet":
        company = "among copies of each other one" if copies else f"with every {_choice(seats)}"
        who = f"At every {unit} {chosen.hero} sits {company}."
    elif copies:
        who = f"At every {unit} each entrant sits among copies of each other one."
    else:
        who = f"At every {unit} every choice of {seats} different entrants sits together."
    return f"{who} {_order(settings, seats, copies)}Every entrant holds every position in turn."


def truth(settings: TournamentSettings) -> str:
    """Returns what the intervals are intervals of."""
    chosen, unit = settings.matchmaking, unit_of(settings.table.episode)
    if chosen.format == "swiss":
        return (
            f"The 95% intervals allow for other {plural_of(unit)}, and not for other pairings: "
            "these follow from the standings, so leaders met stronger company, and no interval "
            "speaks of all lineups."
        )
    hero = chosen.hero or "each entrant"
    if chosen.fill == "copies" and chosen.format != "random":
        means = f"tables of {hero} among copies of each other one, and"
    else:
        field = f"{hero} and others" if chosen.hero else "different entrants"
        means = f"all lineups of {field} of this field, all orders round the table, and"
    return (
        f"The 95% intervals are of the mean over {means} all {plural_of(unit)}: they allow for "
        "what other draws of these would have brought."
    )


def command(verb: str, folder: Path, *words: str) -> str:
    """Returns a command for a folder, named as it is."""
    return " ".join(["kille", verb, *map(quote, (str(folder), *words))])


def _alike(rows: Sequence[Standing], measure: str) -> str:
    names = joined([row.name for row in rows])
    most, least = rows[0].mean, rows[-1].mean
    return f"{names} cannot be told apart ({least:+.4f} to {most:+.4f} {measure})"


def _amount(row: Standing) -> str:
    return f"{row.mean:+.4f}" + ("" if row.half is None else f" ± {row.half:.4f}")


def _choice(seats: int) -> str:
    return "other entrant" if seats == 2 else f"choice of {seats - 1} others"


def _order(settings: TournamentSettings, seats: int, copies: bool) -> str:
    if seats == 2 or copies:
        return ""
    orders = settings.table.orders
    if orders == "all":
        return "Each lineup sits in every order round the table. "
    if orders == 1:
        return "The order round the table is drawn by lot. "
    return f"Each lineup sits in {orders} orders round the table, drawn by lot. "
