"""Recorded matches in words."""

from collections.abc import Sequence

from kille_env.records import Record, Replay
from kille_env.words.text import labels, listed, printable, signed
from kille_training.labels import unit_of


def match_lines(record: Record, game: Replay, told: list[str], number: int) -> list[str]:
    """Returns a match in words: who played, what happened, how it ended.

    Args:
        record: The match.
        game: It replayed.
        told: What `describe` says of it.
        number: Its number, for the first line.
    """
    num_players = record["num_players"]
    who = labels(record.get("names"), num_players)
    rules = f"preset {game.rules['preset']}, episode {game.rules['episode']}"
    unit = unit_of(game.rules["episode"])
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


def _stop(game: Replay, who: Sequence[str]) -> str:
    """Says where a record stops that does not go to the end of its match."""
    if game.steps and game.steps[-1].action is None:
        step = game.steps[-1]
        return f"Here the record stops: {who[step.seat]} is to decide ({listed(step.legal, 'or')})."
    return "Here the record stops."
