"""Sample matches beside a page, which its cells link to.

DIR/records/
  17-of-2-5-0.html    the deal 17 of the entrants 2, 5 and 0, from every position, to step through
  17-of-2-5-0.jsonl   the same as game records, for kille replay
"""

from collections.abc import Iterable
from itertools import permutations
from pathlib import Path

from kille_env.records import write_records
from kille_training.arena.samples import Sample
from kille_training.reports.pages import write
from kille_training.reports.replay import Numbered, first_deals, replay_page

FOLDER = "records"
"""Where sample matches are, beside the page."""
MOST_PICTURES = 1000
"""Pictures on the page of a sample: a few seconds of drawing. Of longer matches the first deals."""


def write_samples(folder: Path, samples: Iterable[Sample]) -> int:
    """Writes sample matches below a folder; returns how many files of records there are then.

    Args:
        folder: The folder of a tournament.
        samples: The matches.
    """
    records = folder / FOLDER
    records.mkdir(exist_ok=True)
    for sample in samples:
        name = f"{sample.deal}-of-{'-'.join(map(str, sample.members))}"
        write_records(sample.records, records / f"{name}.jsonl")
        matches = [Numbered(*each) for each in enumerate(sample.records, start=1)]
        title = f"Deal {sample.deal}, from every position"
        deals = first_deals(matches, MOST_PICTURES)
        write(records / f"{name}.html", replay_page(matches, source=title, deals=deals))
    return len(list(records.glob("*.jsonl")))


def links(folder: Path, num_players: int) -> dict[tuple[int, int], str]:
    """Returns where the sample match of each two entrants is, by their numbers.

    Args:
        folder: The folder of a tournament.
        num_players: The table size.
    """
    found: dict[tuple[int, int], str] = {}
    for page in sorted((folder / FOLDER).glob("*-of-*.html")):
        members = page.stem.partition("-of-")[2].split("-")
        if len(members) == num_players and all(member.isdecimal() for member in members):
            for pair in permutations(map(int, members), 2):
                found.setdefault(pair, f"{FOLDER}/{page.name}")
    return found
