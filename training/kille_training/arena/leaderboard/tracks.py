"""Tracks of the leaderboard: what an entry is measured on, fixed for each version of a track.

A track's conditions never depend on who is on the board. So a line that was measured once stays
right when others join, and anybody can measure it again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kille_agents.population import population
from kille_agents.trained import TRAINED, trained
from kille_env.core.spec import Rules
from kille_env.registry import list_games, spec
from kille_training.arena.entrants import fingerprint
from kille_training.solving.byteskille.deals import MOST_SEATS

VERSION = 1
"""Rises when something changes that the conditions do not name; results of another version never
mix."""
SEED, DEALS = 271_828, 2_000
"""The deals of all tracks that are played."""
SOLVED = {"byteskille": ("byteskille/solved",)}
"""Solved players by game, where there are some."""


@dataclass(frozen=True)
class Track:
    """What an entry is measured on.

    Attributes:
        name: What the board calls it.
        game: The game; single deals by its default rules.
        num_players: P seats.
        against: Players in the other seats, one after another; none where NashConv is exact.
    """

    name: str
    game: str
    num_players: int
    against: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether NashConv is computed and nothing is played."""
        return not self.against

    @property
    def rules(self) -> Rules:
        """The rules."""
        return spec(self.game).resolve({}, episode="deal")

    def conditions(self) -> Mapping[str, Any]:
        """Returns everything that a result depends on except the entry, JSON values."""
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
            **({} if self.exact else played),
        }


def tracks() -> dict[str, Track]:
    """Returns all tracks by name, in the order of the page."""
    played = [
        Track(game, game, spec(game).default_players, (*_leaders(game), *_held_out(game)))
        for game in list_games()
    ]
    exact = [
        Track(f"byteskille-nashconv-{seats}", "byteskille", seats)
        for seats in range(2, MOST_SEATS + 1)
    ]
    return {track.name: track for track in (*exact, *played)}


def _leaders(game: str) -> tuple[str, ...]:
    return ("rule_of_thumb", *SOLVED.get(game, ()), *trained(game))


def _held_out(game: str) -> list[str]:
    return population(game, "held_out")
