"""Makes docs/leaderboard.md from docs/data/leaderboard.jsonl, and measures entries.

    python docs/leaderboard.py                                 write the page again
    python docs/leaderboard.py runs/byteskille --name my-policy --by "My name"
    python docs/leaderboard.py --best             add players of the suite and of the benchmark

Every entry meets the same opponents over the same deals, so a line that was measured once stays
right when others join. A line is a JSON object, one for each entry and track.
"""

import argparse
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import benchmark
from blocks import filled, lines_of, table, write

import kille_env
from kille_agents.greedy import PLAYS
from kille_agents.population import population
from kille_agents.trained import TRAINED, trained
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, KilleError
from kille_env.files import write_whole
from kille_env.play.policy import Player, resolve
from kille_env.registry import list_games, spec
from kille_training.evaluation.duplicate import payoff
from kille_training.evaluation.exact import exact_rows
from kille_training.learn.benchmark import TABLES, held_out_units, sampled_nash_conv
from kille_training.settings import versions
from kille_training.solving.policies import can_be_asked

DOCS = Path(__file__).parent
PAGE, DATA = DOCS / "leaderboard.md", DOCS / "data" / "leaderboard.jsonl"
PLAYERS = ("uniform", "rule_of_thumb", "byteskille/solved", *TRAINED)
VERSION = 1
"""Rises when something changes that the conditions do not name."""
SEED, DEALS, DIGITS = 271_828, 2_000, 6
DECIMALS = 4
"""Of the units and stakes that the page shows."""
SHOWN, BASELINES = 3, ("rule_of_thumb", "uniform")
"""Entries of a track that the page shows: so many first ones, and these."""
OURS = "kille-env"
"""Who made the suite's own entries; the page names other makers."""

Line = dict[str, Any]
Score = dict[str, float]
"""A mean with the ends of its 95% interval: "mean", "low", "high"."""


def fingerprint(player: str) -> str:
    """Return a digest of the files of a player; for one without files its name and our version."""
    path = TRAINED.get(player) or Path(player)
    files = [path] if path.is_file() else sorted(path.glob("policy.*"))
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)}\n".encode() + content)
    return digest.hexdigest() if files else f"{player} of kille-env {kille_env.__version__}"


@dataclass(frozen=True)
class Track:
    """What an entry is measured on: single deals of a game by its default rules."""

    name: str
    game: str
    num_players: int
    against: tuple[str, ...] = ()

    @property
    def rules(self) -> Rules:
        """The rules."""
        return spec(self.game).resolve({}, episode="deal")

    def conditions(self) -> dict[str, Any]:
        """Return everything that a result depends on except the entry, JSON values."""
        played = {
            "against": list(self.against),
            "deals": DEALS,
            "networks": {name: fingerprint(name) for name in self.against if name in TRAINED},
            "seed": SEED,
        }
        return {
            "game": self.game,
            "game_version": spec(self.game).version,
            "num_players": self.num_players,
            "rules": dict(self.rules.as_dict()),
            "track_version": VERSION,
            **(played if self.against else {}),
        }


def tracks() -> dict[str, Track]:
    """Return all tracks by name, in the order of the page."""
    exact = (Track(f"byteskille-nashconv-{seats}", "byteskille", seats) for seats in (2, 3, 4))
    return {track.name: track for track in (*exact, *map(_played_track, list_games()))}


def _played_track(game: str) -> Track:
    solved = ("byteskille/solved",) if game == "byteskille" else ()
    strongest = ("rule_of_thumb", *solved, *trained(game))
    against = (*strongest, *population(game, "held_out"))
    return Track(game, game, spec(game).default_players, against)


def read() -> list[Line]:
    """Return the lines of the data."""
    lines = lines_of(DATA)
    known = {name: track.conditions() for name, track in tracks().items()}
    for line in lines:
        now = known.get(line["track"], {"rules": {}})
        # A switch that is younger than the line has its default: play as it was before.
        if line["conditions"] | {"rules": now["rules"] | line["conditions"]["rules"]} != now:
            raise ConfigError(
                f"{DATA}: {line['name']!r} was measured on {line['track']} under other conditions; "
                "delete the line and measure it again"
            )
    return lines


def save(lines: Sequence[Line]) -> None:
    """Write the data; the same lines in any order give the same bytes."""
    ordered = sorted(lines, key=lambda line: (line["track"], line["name"]))
    texts = (json.dumps(line, sort_keys=True, ensure_ascii=False) for line in ordered)
    write_whole(DATA, "".join(f"{text}\n" for text in texts).encode())


def add(player: str, name: str, by: str, only: Sequence[str] = (), *, trust: bool = False) -> None:
    """Measure a player on the tracks that it plays and was not measured on before."""
    lines, digest = read(), fingerprint(player)
    mine = [line for line in lines if line["name"] == name]
    if any((line["digest"], line["by"]) != (digest, by) for line in mine):
        raise ConfigError(f"{name!r} is on the board with other files; choose another --name")
    about = {"name": name, "by": by, "player": player, "digest": digest, "versions": versions()}
    for track in [tracks()[each] for each in only] or tracks().values():
        if track.name in {line["track"] for line in mine}:
            continue
        try:
            parts = measure(_player(player, track, trust), track)
        except KilleError as error:
            print(f"{track.name}: left out, {error}")
            continue
        made = {"track": track.name, "conditions": track.conditions(), "parts": parts}
        lines.append({**about, **made, "score": overall(parts)})
        save(lines)  # an interrupted call loses one track at most
        print(f"{track.name}: {name} {lines[-1]['score']['mean']:+.4f}", flush=True)


def _player(player: str, track: Track, trust: bool) -> Player:
    found = resolve(player, track.game, track.num_players, track.rules, trust=trust)
    if not track.against and not can_be_asked(found, track.num_players, track.rules):
        raise KilleError(f"{found.name} has no answer by information set, so no exact NashConv")
    return found


def measure(player: Player, track: Track) -> dict[str, Score]:
    """Return units per deal by opponent, or on an exact track NashConv in stakes by way to play."""
    if not track.against:
        rows = exact_rows(player, track.num_players, track.rules, PLAYS)
        return {row.play: _score(row.stakes, row.stakes, row.stakes) for row in rows}
    parts = {}
    for name in track.against:
        opponent = resolve(name, track.game, track.num_players, track.rules)
        found = payoff(player, opponent, track.num_players, track.rules, deals=DEALS, seed=SEED)
        parts[name] = _score(found.estimate.mean, found.estimate.low, found.estimate.high)
    return parts


def overall(parts: dict[str, Score]) -> Score:
    """Return what a track sorts by: NashConv of sampled play, or the mean over the opponents.

    All opponents meet the entry over the same deals, so their scores are correlated; the mean of
    their intervals is at least as wide as the interval of the mean, however they are.
    """
    for play in ("sampled", "deterministic"):
        if play in parts:
            return parts[play]
    return _score(*(fmean(part[end] for part in parts.values()) for end in ("mean", "low", "high")))


def _score(mean: float, low: float, high: float) -> Score:
    ends = {"mean": mean, "low": low, "high": high}
    return {end: round(value, DIGITS) + 0.0 for end, value in ends.items()}


def tracks_of(name: str) -> list[str]:
    """Return the tracks that are played at a table of the benchmark."""
    found = TABLES[name]
    return [
        track.name
        for track in tracks().values()
        if (track.game, track.num_players) == (found.game, found.num_players)
        and track.rules == found.rules
    ]


def add_best() -> None:
    """Add the suite's players, and the best seed of each method at each table with a track."""
    for name in PLAYERS:
        add(name, name, OURS)
    keys: dict[str, Callable[[Any], float]] = {
        "exact": lambda run: -sampled_nash_conv(run),
        "games": held_out_units,
    }
    for grid, key in keys.items():
        found = benchmark.results(grid)
        for at in filter(tracks_of, found.tables):
            for method in found.methods:
                if runs := found.of_method(method, at):
                    seed = max(runs, key=key)["seed"]
                    folder = Path("runs", grid, at, method, f"seed-{seed}")
                    tabular = folder / "policy.npz"
                    player = str(tabular if tabular.exists() else folder)
                    add(player, f"{method} at {at}", OURS, tracks_of(at))


def _board() -> str:
    lines = read()
    places = ("first", "second", "third")[:SHOWN]
    head = ("track", *places, *(f"`{name}`" for name in BASELINES))
    return table(head, [_standing(track, lines) for track in tracks().values()])


def _standing(track: Track, lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the row of a track: the first entries with their scores, and the baselines'."""
    sign = -1 if track.against else 1
    mine = [line for line in lines if line["track"] == track.name]
    mine.sort(key=lambda line: (sign * line["score"]["mean"], line["name"]))
    makers = {line["name"]: "" if line["by"] == OURS else f" by {line['by']}" for line in mine}
    scores = {line["name"]: _shown(line, track) for line in mine}
    first = [f"`{name}`{makers[name]} {score}" for name, score in scores.items()][:SHOWN]
    kind = "population" if track.against else "NashConv"
    title = f"{spec(track.game).title}, {track.num_players} seats, {kind}"
    blank = [""] * (SHOWN - len(first))
    return title, *first, *blank, *(scores.get(name, "") for name in BASELINES)


def _shown(line: Line, track: Track) -> str:
    """Return units per deal with their interval, or NashConv of sampled and of greedy play."""
    score = line["score"]
    if track.against:
        half = (score["high"] - score["low"]) / 2
        return f"{score['mean']:+.{DECIMALS}f} ± {half:.{DECIMALS}f}"
    greedy = line["parts"].get("greedy", score)
    return f"{score['mean']:.{DECIMALS}f} / {greedy['mean']:.{DECIMALS}f}"


BLOCKS = {PAGE: {"board": _board}}


def main() -> None:
    """Measure what is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("player", nargs="?", help="a folder, module:object or name")
    parser.add_argument("--name", help="the entry's name on the board")
    parser.add_argument("--by", help="who made it")
    parser.add_argument("--track", action="append", default=[], choices=list(tracks()))
    parser.add_argument("--trust", action="store_true", help="load files that can run code")
    parser.add_argument("--best", action="store_true", help="add the suite's own entries")
    asked = parser.parse_args()
    if asked.best:
        add_best()
    if asked.player:
        if not (asked.name and asked.by):
            parser.error("an entry needs --name and --by")
        add(asked.player, asked.name, asked.by, asked.track, trust=asked.trust)
    write({PAGE: filled(PAGE, BLOCKS[PAGE])}, check=False)


if __name__ == "__main__":
    main()
