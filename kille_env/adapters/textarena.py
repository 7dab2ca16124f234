# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportUntypedBaseClass=false
"""TextArena: every seat of a table is a player that reads and answers in text.

    import textarena as ta
    import kille_env.adapters.textarena  # registers the games

    env = ta.make("kille_env/byteskille-v0", episode="deal")
    env.reset(num_players=3, seed=7)
    done = False
    while not done:
        player, observation = env.get_observation()
        done, info = env.step(agents[player](observation))
    rewards, info = env.close()

A player is a seat, player 0 in seat 0. Each is told the rules, what happens as far as its seat may
know it, and, when it is to act, what it sees and its legal actions. What others answer stays with
them, for an answer may name their cards. Rewards are units over the whole match.
"""

from collections.abc import Mapping
from typing import Any

from kille_env.adapters.options import check_reward, illegal_reward
from kille_env.adapters.registration import env_id
from kille_env.adapters.text_seat import TRIES, unreadable
from kille_env.core import arguments
from kille_env.core.spec import Rules
from kille_env.extras import needs
from kille_env.playing import DECIMALS
from kille_env.prompts import decision_prompt, read_answer, rules_prompt
from kille_env.registry import Table, make_batch, on_register

with needs("textarena"):
    import textarena as ta
    from textarena.envs.registration import register_with_versions
    from textarena.wrappers import (
        GameMessagesAndCurrentBoardObservationWrapper,
        LLMObservationWrapper,
    )


class KilleTextArena(ta.Env):
    """A table whose seats are TextArena's players.

    Attributes:
        batch: The one table.
        state: TextArena's state: observations, who is to act, rewards.
    """

    def __init__(
        self,
        game: str,
        *,
        rules: Rules | Mapping[str, Any] | str | None = None,
        episode: str | None = None,
        error_allowance: int = TRIES - 1,
        illegal_reward: float | None = None,
    ) -> None:
        """Sets up the game; `reset` seats the players.

        Args:
            game: The game.
            rules: A preset's name, a mapping of switches, or resolved rules.
            episode: "deal" or "match"; None is what `rules` say, or else "deal".
            error_allowance: Unreadable or illegal answers in a row that are told so and answered
                again; the next one ends the match.
            illegal_reward: What it then costs the player; None is one unit less than the least that
                a step can bring. The others then earn 0.

        Raises:
            UnknownGameError: No such game.
            RulesError: An option or switch that does not exist.
        """
        self.game = game
        self._table: dict[str, Any] = {"rules": rules, "episode": episode}
        self.error_allowance = arguments.whole("error_allowance", error_allowance, 0)
        self._illegal_reward = check_reward(illegal_reward)
        self.batch = make_batch(game, restart=False, **self._table)

    @property
    def table(self) -> Table:
        """The game, seats and rules that are played now."""
        return self.batch.table

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begins a match.

        Args:
            num_players: P, seats of the table.
            seed: Seed of the cards; None takes one from the operating system.

        Raises:
            RulesError: The game is not played by that many, or the seed is impossible.
        """
        self.batch = make_batch(self.game, 1, num_players, seed=seed, restart=False, **self._table)
        # Without a seed: with one, TextArena would seed Python's global generator.
        self.state = ta.FFAMultiPlayerState(num_players, error_allowance=self.error_allowance)
        rules = rules_prompt(self.game, self.batch.rules, num_players)
        self.state.reset(
            game_state={"game": self.game},
            player_prompt_function=lambda player_id, game_state: (
                f"You are Player {player_id}: you sit in seat {player_id}.\n\n{rules}"
            ),
        )
        self.batch.reset(deal=False)
        self._deal()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Plays the action that the current player's answer names.

        Args:
            action: The answer, as free text.

        Returns:
            Whether the match is over, and TextArena's information about the step.
        """
        player, legal = int(self.batch.seat[0]), self.batch.legal_texts()
        self._tell(player, action, ta.ObservationType.PLAYER_ACTION, sender=player)
        index = read_answer(action, legal, self.batch.spec.pack)
        if index is not None:
            self._apply(self.batch.find_action(legal[index]))
        elif self.state.set_invalid_move(reason=unreadable(legal)):
            rewards = dict.fromkeys(range(self.batch.num_players), 0.0)
            rewards[player] = illegal_reward(self._illegal_reward, self.batch)
            self.state.set_game_outcome(rewards, f"Player {player} named no legal action.")
        return self.state.step(rotate_player=False)

    def get_board_str(self) -> str:
        """Returns the table with all cards, for TextArena's rendering."""
        return self.batch.describe()

    def _apply(self, action: int) -> None:
        before = self.batch.tables[0].copy()
        self.batch.apply([action])
        self._narrate(before)
        self._deal()

    def _deal(self) -> None:
        """Deals until somebody is to act, who is told so, or the match is over."""
        while self.batch.at_chance[0]:
            before = self.batch.tables[0].copy()
            self.batch.deal()
            self._narrate(before)
        if self.batch.over[0]:
            earned = self.batch.tables["reward"][0, : self.batch.num_players]
            rewards = dict(enumerate(earned.round(DECIMALS).tolist()))
            self.state.set_game_outcome(rewards, "The match is over.")
            return
        player = int(self.batch.seat[0])
        self.state.manually_set_current_player_id(player)
        self._tell(player, decision_prompt(self.batch), ta.ObservationType.GAME_BOARD)

    def _narrate(self, before: Any) -> None:
        """Tells every player what has happened, as far as its seat may know it."""
        after, rules = self.batch.tables[0], self.batch.rules
        for player in range(self.batch.num_players):
            lines = self.batch.game.narrate(before, after, rules, seat=player)
            if lines:
                self._tell(player, "\n".join(lines), ta.ObservationType.GAME_MESSAGE)

    def _tell(self, player: int, text: str, kind: Any, sender: int = ta.GAME_ID) -> None:
        self.state.add_observation(text, kind, from_id=sender, to_id=player)


def _register(game: str) -> None:
    """Registers a game: with the whole history, "-train" with the current table only, "-raw"."""
    register_with_versions(
        env_id(game),
        entry_point="kille_env.adapters.textarena:KilleTextArena",
        wrappers={
            "default": [LLMObservationWrapper],
            "-train": [GameMessagesAndCurrentBoardObservationWrapper],
        },
        game=game,
    )


on_register(_register)
