# pyright: reportMissingImports=false, reportUntypedBaseClass=false
"""OpenEnv: one seat of a table as an environment that a server offers over HTTP and WebSocket.

    from kille_env.adapters.openenv import make_app

    app = make_app("byteskille", num_players=3, episode="deal")  # uvicorn module:app

    environment = KilleOpenEnv("byteskille", num_players=3)      # or without a server
    observation = environment.reset(seed=7)
    observation = environment.step(KilleAction(answer="Answer: 1"))

The other seats are played inside, by `opponents`. Measured with openenv 0.10.
"""

import uuid
from functools import partial
from typing import Any, Unpack

from kille_env.adapters.options import SeatOptions
from kille_env.adapters.registration import env_id
from kille_env.adapters.text_seat import TRIES, TextSeat, Turn
from kille_env.extras import needs
from kille_env.registry import Table

with needs("openenv"):
    from openenv.core.env_server import create_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
    from pydantic import Field


class KilleAction(Action):
    """An answer in free text, as `kille_env.prompts.read_answer` reads it."""

    answer: str = Field(description="the number or the text of a legal action, in free text")


class KilleObservation(Observation):
    """What the seat is told; `reward` is what it has earned since its last decision."""

    prompt: str = Field(description="what the seat sees, and its legal actions, numbered from 1")
    legal_actions: list[str] = Field(description="their texts; empty after the end")
    rules: str = Field(default="", description="how the game is played; after a reset only")


class KilleState(State):
    """What anybody may know of the episode."""

    game: str = Field(description="the game")
    num_players: int = Field(description="seats of the table")
    seat: int = Field(description="the seat of this episode")
    earned: float = Field(description="units that it has earned so far")
    forfeited: bool = Field(description="whether unreadable answers have ended the episode")


class KilleOpenEnv(Environment[KilleAction, KilleObservation, KilleState]):
    """One seat of a table, in text."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        game: str = "byteskille",
        num_players: int | None = None,
        *,
        tries: int = TRIES,
        **options: Unpack[SeatOptions],
    ) -> None:
        """Sets up the table.

        Args:
            game: The game.
            num_players: P, seats of the table; None is the game's default.
            tries: See `kille_env.adapters.text_seat`, which says what an unreadable answer costs.
            **options: See `SeatOptions`; `illegal` is always "lose".

        Raises:
            KilleError: An option that does not exist or does not fit.
        """
        super().__init__()
        self.game = game
        self._seat = TextSeat(game, num_players, tries=tries, **options)
        self._episode, self._steps = "", 0

    @property
    def table(self) -> Table:
        """The game, seats and rules that are played now."""
        return self._seat.table

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> KilleObservation:
        """Begins a match and plays to the seat's first decision.

        Args:
            seed: Seed of this and the following matches; None goes on to the next one.
            episode_id: What to call the episode; None is a new name.
            **kwargs: What others want to say to a reset; not used.
        """
        turn = self._seat.begin(seed)
        self._episode, self._steps = episode_id or str(uuid.uuid4()), 0
        return _observation(turn, rules=self._seat.rules_prompt, reward=None)

    def step(
        self, action: KilleAction, timeout_s: float | None = None, **kwargs: Any
    ) -> KilleObservation:
        """Plays what the answer names, then the others up to the seat's next decision.

        Args:
            action: The answer.
            timeout_s: Not used: a step takes microseconds, but for opponents that take longer.
            **kwargs: What others want to say to a step; not used.

        Raises:
            KilleError: The episode is over, or none has begun.
        """
        turn = self._seat.answer(action.answer)
        self._steps += 1
        return _observation(turn, reward=turn.reward)

    @property
    def state(self) -> KilleState:
        """What anybody may know of the episode."""
        tables = self._seat.tables
        return KilleState(
            episode_id=self._episode or None,
            step_count=self._steps,
            game=self.game,
            num_players=tables.num_players,
            seat=int(tables.own[0]),
            earned=float(tables.earned[0]),
            forfeited=self._seat.forfeited,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Returns what a server says of the environment."""
        return EnvironmentMetadata(
            name=env_id(self.game),
            description=f"{self._seat.tables.batch.spec.title}: one seat, in text",
            version=str(self._seat.tables.batch.spec.version),
        )


def _observation(turn: Turn, reward: float | None, rules: str = "") -> KilleObservation:
    return KilleObservation(
        prompt=turn.prompt,
        legal_actions=list(turn.legal),
        rules=rules,
        reward=reward,
        done=turn.done,
    )


def make_app(
    game: str = "byteskille",
    num_players: int | None = None,
    *,
    max_concurrent_envs: int = 64,
    tries: int = TRIES,
    **options: Unpack[SeatOptions],
) -> Any:
    """Returns a FastAPI application that serves the environment.

    Args:
        game: The game.
        num_players: P, seats of the table; None is the game's default.
        max_concurrent_envs: Sessions at the same time; each has a table of its own.
        tries: See `KilleOpenEnv`.
        **options: See `KilleOpenEnv`.

    Raises:
        KilleError: An option that does not exist or does not fit.
    """
    factory = partial(KilleOpenEnv, game, num_players, tries=tries, **options)
    factory()  # refuses wrong options now, not in the first session
    return create_app(
        factory,
        KilleAction,
        KilleObservation,
        env_name=f"kille_env_{game}",
        max_concurrent_envs=max_concurrent_envs,
    )
