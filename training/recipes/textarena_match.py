"""TextArena: a match between players that read and answer in text; player p sits in seat p.

A player is told the rules, what happens as far as its seat may know it, and its legal actions. Its
answers stay with it, as they may name hidden cards. Measured with TextArena 0.7.4.
"""

import argparse
import random
from collections.abc import Callable
from typing import Any

import textarena as ta
from textarena.wrappers import LLMObservationWrapper

from kille_env import make_batch
from kille_env.adapters.text import (
    ask_again,
    decision_prompt,
    illegal_reward,
    read_answer,
    rules_prompt,
)


class KilleTextArena(ta.Env):
    """A table of a game; a second answer in a row that names no legal action ends the match."""

    def __init__(self, game: str, **options: Any) -> None:
        """Keep the game and the options of its table, `rules` and `episode`."""
        self.game, self.options = game, {**options, "restart": False}

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin a match."""
        self.batch = make_batch(self.game, 1, num_players, seed=seed, **self.options)
        rules = rules_prompt(self.game, self.batch.rules, num_players)
        # Without a seed: with one, TextArena would seed Python's global generator.
        self.state = ta.FFAMultiPlayerState(num_players, error_allowance=1)
        self.state.reset({}, lambda player_id, game_state: f"Seat {player_id}\n\n{rules}")
        self.batch.reset(deal=False)
        self._play(self.batch.deal if self.batch.at_chance[0] else None)

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play the action that the current player's answer names."""
        player, legal = int(self.batch.seat[0]), self.batch.legal_texts()
        self._tell(player, action, ta.ObservationType.PLAYER_ACTION, player)
        if (index := read_answer(action, legal)) is not None:
            self._play(lambda: self.batch.apply([self.batch.find_action(legal[index])]))
        elif self.state.set_invalid_move(reason=ask_again(action, legal)):
            rewards = dict.fromkeys(range(self.batch.num_players), 0.0)
            rewards[player] = illegal_reward(None, self.batch)
            self.state.set_game_outcome(rewards, f"Player {player} named no legal action.")
        return self.state.step(rotate_player=False)

    def _play(self, move: Callable[[], object] | None) -> None:
        """Make a move and deal until somebody acts; tell each seat as much as it may know."""
        while move is not None:
            before = self.batch.tables[0].copy()
            move()
            after, rules = self.batch.tables[0], self.batch.rules
            for seat in range(self.batch.num_players):
                if lines := self.batch.game.narrate(before, after, rules, seat=seat):
                    self._tell(seat, "\n".join(lines), ta.ObservationType.GAME_MESSAGE)
            move = self.batch.deal if self.batch.at_chance[0] else None
        if self.batch.over[0]:
            earned = self.batch.tables["reward"][0, : self.batch.num_players].round(9).tolist()
            return self.state.set_game_outcome(dict(enumerate(earned)), "The match is over.")
        player = int(self.batch.seat[0])
        self.state.manually_set_current_player_id(player)
        self._tell(player, decision_prompt(self.batch), ta.ObservationType.GAME_BOARD)

    def _tell(self, player: int, text: str, kind: Any, sender: int = ta.GAME_ID) -> None:
        self.state.add_observation(text, kind, from_id=sender, to_id=player)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille", help="The game.")
    env, done = LLMObservationWrapper(KilleTextArena(parser.parse_args().game)), False
    env.reset(num_players=3)
    while not done:
        player, prompt = env.get_observation()
        done, _ = env.step(random.choice(prompt.rpartition("actions:\n")[2].splitlines()))
    print(env.close()[0])
