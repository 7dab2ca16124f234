"""OpenEnv: one seat of a table in text, served over HTTP and WebSocket.

Opponents play the other seats inside; each session has a table of its own. Measured with openenv
0.10.0 and openenv-core 0.3.0.
"""

import argparse
import uuid
from functools import partial
from typing import Any

import uvicorn
from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

from kille_env.adapters.text import TextSeat, Turn


class KilleAction(Action):
    """An answer, as `kille_env.adapters.text.read_answer` reads it."""

    answer: str = Field(description='the number or text of a legal action, or a line "Answer: 1"')


class KilleObservation(Observation):
    """A turn of the seat; `reward` is what it has earned since its last decision."""

    prompt: str = Field(description="what the seat sees, and its legal actions")
    legal_actions: list[str] = Field(description="their texts; empty after the end")
    rules: str = Field(default="", description="how the game is played; after a reset only")


class KilleOpenEnv(Environment[KilleAction, KilleObservation, State]):
    """One seat of a table in text, with the options of `TextSeat`."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str = "byteskille", **options: Any) -> None:
        """Set up the table."""
        super().__init__()
        self.seat, self._state = TextSeat(game, **options), State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Any:
        """Begin a match and play to the seat's first decision."""
        turn = self.seat.begin(seed)
        self._state = State(episode_id=episode_id or str(uuid.uuid4()), step_count=0)
        return _observation(turn, rules=self.seat.rules_prompt)

    def step(self, action: KilleAction, timeout_s: float | None = None, **kwargs: Any) -> Any:
        """Play what the answer names, then the others up to the seat's next decision."""
        turn = self.seat.answer(action.answer)
        self._state.step_count += 1
        return _observation(turn, reward=turn.reward)

    @property
    def state(self) -> State:
        """The episode's name and number of steps."""
        return self._state


def _observation(turn: Turn, **fields: Any) -> KilleObservation:
    fields |= {"prompt": turn.prompt, "legal_actions": list(turn.legal), "done": turn.done}
    return KilleObservation(**fields)


def make_app(game: str, **options: Any) -> Any:
    """Return a FastAPI application; `uvicorn module:app` serves it."""
    make = partial(KilleOpenEnv, game, **options)
    make()  # refuses wrong options now, not in the first session
    return create_app(make, KilleAction, KilleObservation, env_name=game, max_concurrent_envs=64)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille", help="The game.")
    uvicorn.run(make_app(parser.parse_args().game), host="127.0.0.1")
