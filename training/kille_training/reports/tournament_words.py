"""What the page of a tournament says in words: verdicts, who met whom, and what figures mean."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from kille_env.words.text import listed
from kille_training.arena.results import Standing
from kille_training.arena.settings import TournamentSettings
from kille_training.labels import plural_of, unit_of
from kille_training.reports.pages import Verdict, signed

MOST_NAMES = 3
"""Names in a verdict, at most."""

FIELD = (
    "Units depend on the field: whoever exploits weak players earns more where there are many of "
    "them. With other entrants all figures change, and so may the order."
)


def labels(names: Sequence[str], game: str) -> list[str]:
    """Returns names without the name of the game before them, as long as they stay different."""
    short = [name.removeprefix(f"{game}/") for name in names]
    return [
        label if short.count(label) == 1 else name for name, label in zip(names, short, strict=True)
    ]


def verdict(rows: Sequence[Standing], measure: str) -> Verdict:
    """Returns who is best at tables of one size, as far as the results tell.

    Args:
        rows: Its standings, best first.
        measure: What the means hold, as "units per deal".
    """
    there = [row for row in rows if row.place is not None]
    if len(there) < 2:
        return Verdict("Fewer than two entrants have played.")
    ahead = [row for row in there if row.best == 1]
    if len(ahead) == len(there):
        return Verdict(
            f"No clear winner: {listed([row.name for row in ahead])} cannot be told apart."
            if len(ahead) <= MOST_NAMES
            else f"No clear winner: none of the {len(ahead)} entrants can be told apart."
        )
    if len(ahead) > 1:
        names = [row.name for row in ahead]
        shown = listed(names) if len(names) <= MOST_NAMES else f"{len(names)} entrants"
        return Verdict(f"{shown} lead and cannot be told apart; the others earn less.")
    first = there[0]
    others = "the other one" if len(there) == 2 else f"all {len(there) - 1} others"
    mean = signed(first.mean or 0.0)
    return Verdict(f"{first.name} is best: {mean} {measure}, clearly more than {others}.", "better")


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
    order = "" if seats == 2 or copies else "The order round the table is drawn by lot. "
    return f"{who} {order}Every entrant holds every position in turn."


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


def _choice(seats: int) -> str:
    return "other entrant" if seats == 2 else f"choice of {seats - 1} others"
