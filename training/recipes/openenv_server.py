"""OpenEnv: one seat of a table in text, served over HTTP and WebSocket.

Opponents play the other seats inside; each session has a table of its own. Measured with openenv
0.10.0 and openenv-core 0.3.0.
"""

import argparse
import uuid
from functools import partial
from typing import Any

import gymnasium
import uvicorn
from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

from kille_env.adapters.text import ask_again, decision_prompt, read_answer, rules_prompt


class KilleAction(Action):
    """An answer, as `kille_env.adapters.text.read_answer` reads it."""

    answer: str = Field(description='the number or text of a legal action, or a line "Answer: 1"')


class KilleObservation(Observation):
    """A turn of the seat; `reward` is what it has earned since its last decision."""

    prompt: str = Field(description="what the seat sees, and its legal actions")
    legal_actions: list[str] = Field(description="their texts; empty after the end")
    rules: str = Field(default="", description="how the game is played; after a reset only")


class KilleOpenEnv(Environment[KilleAction, KilleObservation, State]):
    """One seat of a table in text, with the options of Gymnasium's environment.

    An answer that names no legal action is asked for again, `tries` times in all for a decision.
    Then the match ends with `illegal_reward` for the seat.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str = "byteskille", *, tries: int = 2, **options: Any) -> None:
        """Set up the table."""
        super().__init__()
        self.env: Any = gymnasium.make(f"kille_env:kille_env/{game}-v0", **options).unwrapped
        self.batch, self.tries, self.failed = self.env.tables.batch, tries, 0
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Any:
        """Begin a match and play to the seat's first decision."""
        table, _ = self.env.table, self.env.reset(seed=seed)
        self.failed = 0
        self._state = State(episode_id=episode_id or str(uuid.uuid4()), step_count=0)
        rules = rules_prompt(table.game, table.rules, table.num_players)
        return KilleObservation(
            prompt=decision_prompt(self.batch), legal_actions=self.batch.legal_texts(), rules=rules
        )

    def step(self, action: KilleAction, timeout_s: float | None = None, **kwargs: Any) -> Any:
        """Play what the answer names, then the others up to the seat's next decision."""
        legal = self.batch.legal_texts()
        index = read_answer(action.answer, legal)
        self._state.step_count += 1
        self.failed = 0 if index is not None else self.failed + 1
        if 0 < self.failed < self.tries:
            again = ask_again(action.answer, legal)
            return KilleObservation(prompt=again, legal_actions=legal, reward=0.0)
        number = -1 if index is None else self.batch.find_action(legal[index])
        _, reward, terminated, truncated, info = self.env.step(number)
        if not terminated and not truncated:
            self.failed, legal = 0, self.batch.legal_texts()
            prompt = decision_prompt(self.batch)
            return KilleObservation(prompt=prompt, legal_actions=legal, reward=reward)
        seat = info["seat"]
        end = f"{self.batch.describe(0, seat)}\n\nYour result: {info['returns'][seat]:+g}."
        if info["illegal_action"]:
            end = "The match ends: your answer names no legal action."
        return KilleObservation(prompt=end, legal_actions=[], reward=reward, done=True)

    @property
    def state(self) -> State:
        """The episode's name and number of steps."""
        return self._state


def make_app(game: str, **options: Any) -> Any:
    """Return a FastAPI application; `uvicorn module:app` serves it."""
    make = partial(KilleOpenEnv, game, **options)
    make()  # refuses wrong options now, not in the first session
    return create_app(make, KilleAction, KilleObservation, env_name=game, max_concurrent_envs=64)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille", help="The game.")
    uvicorn.run(make_app(parser.parse_args().game), host="127.0.0.1")
