"""Measure entries of the leaderboard, and write docs/leaderboard.md.

    python docs/leaderboard.py                                 write the page again
    python docs/leaderboard.py runs/byteskille --name my-policy --by "My name"
    python docs/leaderboard.py --ours             add the players of the suite

All entries meet the same opponents over the same deals, so measured lines stay valid when others
are added. docs/data/leaderboard.jsonl has a line for each entry and track.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from blocks import filled, lines_of, table, write

import kille_env
import kille_training as kt
from kille_agents.population import population
from kille_agents.trained import TRAINED, trained
from kille_env.errors import ConfigError, KilleError
from kille_env.files import write_whole
from kille_env.registry import Table, list_games, spec
from kille_training.settings import versions

DOCS = Path(__file__).parent
PAGE, DATA = DOCS / "leaderboard.md", DOCS / "data" / "leaderboard.jsonl"
PLAYERS = ("uniform", "rule_of_thumb", "byteskille/solved", *TRAINED)
VERSION = 1  # version of the remaining conditions, see `conditions`
SEED, DEALS, DIGITS = 271_828, 2_000, 6
BASELINES, OURS = ("rule_of_thumb", "uniform"), "kille-env"

Line = dict[str, Any]
Score = dict[str, float]  # mean with the ends of its 95% interval: "mean", "low", "high"


@dataclass(frozen=True)
class Track:
    """A table of single deals by default rules, and opponents; none if NashConv is exact."""

    name: str
    table: Table
    against: tuple[str, ...] = ()

    def conditions(self) -> dict[str, Any]:
        """Return all conditions of a result except the entry."""
        networks = {name: fingerprint(name) for name in self.against if name in TRAINED}
        played = {"against": [*self.against], "deals": DEALS, "networks": networks, "seed": SEED}
        return {
            "game": self.table.game,
            "game_version": spec(self.table.game).version,
            "num_players": self.table.num_players,
            "rules": dict(self.table.rules.as_dict()),
            "track_version": VERSION,
            **(played if self.against else {}),
        }


def fingerprint(player: str) -> str:
    """Return a digest of a player's files; without files, its name and our version."""
    path = TRAINED.get(player) or Path(player)
    digest = hashlib.sha256()
    files = [path] if path.is_file() else sorted(path.glob("policy.*"))
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)}\n".encode() + content)
    return digest.hexdigest() if files else f"{player} of kille-env {kille_env.__version__}"


def tracks() -> dict[str, Track]:
    """Return all tracks by name, in the order of the page."""
    found = [Track(f"byteskille-nashconv-{n}", Table.of("byteskille", n)) for n in (2, 3, 4)]
    for game in list_games():
        solved = ["byteskille/solved"] if game == "byteskille" else []
        against = ("rule_of_thumb", *solved, *trained(game), *population(game, "held_out"))
        found.append(Track(game, Table.of(game, spec(game).default_players), against))
    return {track.name: track for track in found}


def read() -> list[Line]:
    """Return the lines of the data; refuse lines measured under other conditions."""
    lines, known = lines_of(DATA), {name: x.conditions() for name, x in tracks().items()}
    for line in lines:
        now = known.get(line["track"], {"rules": {}})
        # A switch added after the line has its default, which keeps the old behavior.
        if line["conditions"] | {"rules": now["rules"] | line["conditions"]["rules"]} != now:
            raise ConfigError(
                f"{DATA}: {line['name']!r} was measured on {line['track']} under other conditions; "
                "delete the line and measure it again"
            )
    return lines


def add(player: str, name: str, by: str, only: Sequence[str] = (), *, trust: bool = False) -> None:
    """Measure a player on the missing tracks that it can play."""
    lines, digest = read(), fingerprint(player)
    mine = [line for line in lines if line["name"] == name]
    if any((line["digest"], line["by"]) != (digest, by) for line in mine):
        raise ConfigError(f"{name!r} is on the leaderboard with other files; choose another --name")
    about = {"name": name, "by": by, "player": player, "digest": digest, "versions": versions()}
    for track in [tracks()[each] for each in only] or tracks().values():
        if track.name in {line["track"] for line in mine}:
            continue
        try:
            parts = measure(player, track, trust)
        except KilleError as error:
            print(f"{track.name}: left out, {error}")
            continue
        made = {"track": track.name, "conditions": track.conditions(), "parts": parts}
        lines.append({**about, **made, "score": overall(parts)})
        ordered = sorted(lines, key=lambda line: (line["track"], line["name"]))
        texts = (json.dumps(line, sort_keys=True, ensure_ascii=False) for line in ordered)
        write_whole(DATA, "".join(f"{text}\n" for text in texts).encode())
        print(f"{track.name}: {name} {lines[-1]['score']['mean']:+.4f}", flush=True)


def measure(player: str, track: Track, trust: bool = False) -> dict[str, Score]:
    """Return units per deal by opponent, or NashConv in stakes by way of play on an exact track."""
    where = {"rules": track.table.rules, "episode": "deal", "trust": trust}
    at = (player, track.table.game, track.table.num_players)
    if not track.against:
        found = kt.evaluate(*at, baselines="uniform", deals=2, exact=True, **where)
        return {row.play: _score(*[row.stakes] * 3) for row in found.exact or ()}
    how = {"play": "sampled", "deals": DEALS, "seed": SEED, "exact": False}
    found = kt.evaluate(*at, baselines=list(track.against), **how, **where)
    ends = ((x.against, x.estimate) for x in found.rows)
    return {against: _score(each.mean, each.low, each.high) for against, each in ends}


def overall(parts: dict[str, Score]) -> Score:
    """Return NashConv of sampled play, or the mean over the opponents.

    Scores against the opponents are correlated over the shared deals; the mean of their intervals
    is at least as wide as the interval of the mean.
    """
    for play in ("sampled", "deterministic"):
        if play in parts:
            return parts[play]
    return _score(*(fmean(part[end] for part in parts.values()) for end in ("mean", "low", "high")))


def _score(*values: float) -> Score:
    names = ("mean", "low", "high")
    return {name: round(x, DIGITS) + 0.0 for name, x in zip(names, values, strict=True)}


def _board() -> str:
    lines = read()
    head = ("track", "first", "second", "third", *(f"`{name}`" for name in BASELINES))
    return table(head, [_standing(track, lines) for track in tracks().values()])


def _standing(track: Track, lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the row of a track: the first three entries, and the baselines' scores."""
    sign = -1 if track.against else 1
    mine = [line for line in lines if line["track"] == track.name]
    mine.sort(key=lambda line: (sign * line["score"]["mean"], line["name"]))
    makers = {line["name"]: "" if line["by"] == OURS else f" by {line['by']}" for line in mine}
    scores = {line["name"]: _shown(line, track) for line in mine}
    first = [f"`{name}`{makers[name]} {score}" for name, score in scores.items()][:3]
    kind = "population" if track.against else "NashConv"
    title = f"{spec(track.table.game).title}, {track.table.num_players} seats, {kind}"
    blank = [""] * (3 - len(first))
    return title, *first, *blank, *(scores.get(name, "") for name in BASELINES)


def _shown(line: Line, track: Track) -> str:
    score = line["score"]
    if track.against:
        return f"{score['mean']:+.4f} ± {(score['high'] - score['low']) / 2:.4f}"
    return f"{score['mean']:.4f} / {line['parts'].get('greedy', score)['mean']:.4f}"


BLOCKS = {PAGE: {"board": _board}}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("player", nargs="?", help="a folder, module:object or name")
    parser.add_argument("--name", help="the entry's name on the board")
    parser.add_argument("--by", help="its maker")
    parser.add_argument("--track", action="append", default=[], choices=list(tracks()))
    parser.add_argument("--trust", action="store_true", help="load files that can run code")
    parser.add_argument("--ours", action="store_true", help="add the players of the suite")
    options = parser.parse_args()
    for name in PLAYERS if options.ours else ():
        add(name, name, OURS)
    if options.player:
        if not (options.name and options.by):
            parser.error("an entry needs --name and --by")
        add(options.player, options.name, options.by, options.track, trust=options.trust)
    write({PAGE: filled(PAGE, BLOCKS[PAGE])}, check=False)
