"""`kille replay`: describe recorded matches, check them, or show them on a page."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kille_env.errors import RecordError
from kille_env.extras import needs
from kille_env.files import write_whole
from kille_env.words.text import counted, labels, listed, printable, signed
from kille_training.cli import command
from kille_training.labels import episode_noun

if TYPE_CHECKING:
    from kille_env.records import Record, Replay


@click.command(epilog="Example: kille replay matches.jsonl --html matches.html")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Only verify the results; exit 1 if anything differs.")
@click.option("--match", "number", type=click.IntRange(min=1), help="Only this line of the file.")
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page to step through, one file for every browser.",
)
@click.option(
    "--policies",
    metavar="NAME,NAME",
    help="Policies whose probabilities the page shows at each decision.  [default: rule_of_thumb, "
    "and byteskille/solved if the table is solved]",
)
@command.trust_option
@command.json_option
def replay(
    file: Path,
    check: bool,
    number: int | None,
    page: Path | None,
    policies: str | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Replay the matches of FILE as text, or on a page to step through.

    A file with an invalid or illegal record is refused as a whole. The page is self-contained; it
    shows all cards and, if the deal is solved, the value of each choice.
    """
    numbered = _numbered(file, number)
    if page:
        if check:
            raise click.UsageError("use either --check or --html")
        made = _page(file, numbered, policies, trust)
        write_whole(page, made)
        size, matches = len(made), len(numbered)
        found = {"file": str(file), "page": str(page), "bytes": size, "matches": matches}
        command.report(found, [f"The page is in {page}"], as_json)
        return
    if policies is not None or trust:
        raise click.UsageError("--policies and --trust need --html")
    _tell(file, numbered, check, as_json)


def _numbered(file: Path, number: int | None) -> "list[tuple[int, Record]]":
    """Return the records with their line numbers, all or one."""
    from kille_env.records import read_records

    records = read_records(file)
    if not records:
        raise RecordError(f"{file} holds no record")
    if number is not None and number > len(records):
        raise RecordError(f"--match is {number}, but {file} has {len(records)} lines")
    numbered = list(enumerate(records, start=1))
    return numbered if number is None else numbered[number - 1 : number]


# On a page


def _page(
    file: Path,
    numbered: "list[tuple[int, Record]]",
    policies: str | None,
    trust: bool,
) -> bytes:
    with needs("measure"):
        from kille_training.evaluation.replay import ComparedPolicies, Numbered, replay_page

    names = None if policies is None else command.names(policies)
    return replay_page(
        [Numbered(line, record) for line, record in numbered],
        source=printable(file.name),
        compared=ComparedPolicies(names, trust),
    )


# As text


def _tell(file: Path, numbered: "list[tuple[int, Record]]", check: bool, as_json: bool) -> None:
    from kille_env.records import describe
    from kille_env.records import replay as play_again

    games: list[tuple[int, Replay]] = []
    lines: list[str] = []
    for line, record in command.progress(numbered, "replaying", len(numbered)):
        if check or as_json:
            games.append((line, play_again(record)))
        else:
            game, told = describe(record)
            games.append((line, game))
            lines += _match_lines(record, game, told, line)
    differences = [
        f"line {line}, {difference}" for line, game in games for difference in game.differences
    ]
    if check:
        lines = differences or [
            f"{counted(len(games), 'match', 'matches')} replayed, nothing differs"
        ]
    matches = [_for_programs(line, game) for line, game in games]
    result = {"file": str(file), "differences": len(differences), "matches": matches}
    command.report(result, lines, as_json)
    if check and differences:
        raise click.exceptions.Exit(1)


def _match_lines(record: "Record", game: "Replay", told: list[str], number: int) -> list[str]:
    """Return a match as text: its seats, the lines of `describe`, and its end."""
    num_players = record["num_players"]
    who = labels(record.get("names"), num_players)
    rules = f"preset {game.rules['preset']}, episode {game.rules['episode']}"
    unit = episode_noun(game.rules["episode"])
    lines = [f"{unit.capitalize()} {number}: {record['game']}, {num_players} players, {rules}"]
    if record.get("names"):
        lines.append(f"Seats: {', '.join(f'{seat} {name}' for seat, name in enumerate(who))}")
    for text in told:
        if text.startswith("Deal "):
            lines.append("")
        lines.append(text)
    lines.append("")
    if game.returns is None:
        lines.append(_stop(game, who))
    else:
        money = [f"{name} {signed(units)}" for name, units in zip(who, game.returns, strict=True)]
        lines.append(f"End of the {unit}: {', '.join(money)}.")
    lines += [f"The record differs: {difference}" for difference in game.differences]
    return [printable(line) for line in (*lines, "")]


def _stop(game: "Replay", who: Sequence[str]) -> str:
    """Return a sentence about the end of a record that stops within its match."""
    if game.steps and game.steps[-1].action is None:
        step = game.steps[-1]
        return f"Here the record stops: {who[step.seat]} is to decide ({listed(step.legal, 'or')})."
    return "Here the record stops."


def _for_programs(line: int, game: "Replay") -> dict[str, Any]:
    return {
        "line": line,
        "deals": len(game.results),
        "decisions": sum(step.action is not None for step in game.steps),
        "finished": game.returns is not None,
        "results": game.results,
        "returns": game.returns,
        "truncated": game.truncated,
        "differences": [asdict(difference) for difference in game.differences],
    }
